//! From the TARGET of the command line to what is wanted of it.

use crate::args::Permissions;
use conduct::Wanted;
use conduct::admission::Consent;
use experiments::experiment::Allowed;
use std::ffi::OsStr;

impl Permissions {
    /// What may be lost of a target.
    pub fn consent(&self) -> Consent<'_> {
        Consent { overwrite: self.overwrite, destroy: self.destroy.as_deref(), only: None }
    }

    /// A target of which that may be lost.
    pub fn wanted<'a>(&'a self, name: &'a OsStr, interval_ns: u64) -> Wanted<'a> {
        Wanted { consent: self.consent(), registers: self.read_registers, ..Wanted::new(name, interval_ns) }
    }

    /// The same for all arms of an experiment.
    pub fn allowed(&self) -> Allowed<'_> {
        let Self { overwrite, destroy, read_registers } = self;
        Allowed { overwrite: *overwrite, destroy: destroy.as_deref(), registers: *read_registers }
    }
}
