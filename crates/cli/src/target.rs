//! From the TARGET of the command line to what is wanted of it.

use crate::args::Permissions;
use conduct::admission::Consent;
use conduct::experiment::Allowed;

impl Permissions {
    /// What may be lost of a target.
    pub fn consent(&self) -> Consent<'_> {
        Consent { overwrite: self.overwrite, destroy: self.destroy.as_deref(), only: None }
    }

    /// The same for all arms of an experiment.
    pub fn allowed(&self) -> Allowed<'_> {
        let Self { overwrite, destroy, read_registers } = self;
        Allowed { overwrite: *overwrite, destroy: destroy.as_deref(), registers: *read_registers }
    }
}
