//! From the TARGET of the command line to an open one. What will be lost is said before it is written to.

use crate::args::Permissions;
pub use conduct::Opened;
use conduct::admission::{Consent, Loss, Object};
use engine::Control;
use model::Failure;
use std::ffi::OsStr;
use std::io::Write;
use sys::Links;

/// What a command wants of its target.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// `TARGET` of the command line, or the name that a run has of it.
    pub name: &'a OsStr,
    /// Whether the name may be a symbolic link.
    pub links: Links,
    /// What the user allows to be lost.
    pub permissions: &'a Permissions,
    /// It must be this one, which was looked at before.
    pub only: Option<Object>,
    /// Length of the intervals of the series.
    pub interval_ns: u64,
    /// Whether a short write tells how fast it is, before the plan is made.
    pub probe: bool,
}

/// Opens what `TARGET` names.
pub fn open(wanted: &Wanted<'_>, control: &Control) -> Result<Opened, Failure> {
    let Permissions { overwrite, destroy, read_registers } = wanted.permissions;
    let wanted = conduct::Wanted {
        name: wanted.name,
        links: wanted.links,
        consent: Consent { overwrite: *overwrite, destroy: destroy.as_deref(), only: wanted.only },
        registers: *read_registers,
        interval_ns: wanted.interval_ns,
        probe: wanted.probe,
    };
    conduct::open(&wanted, control, &mut say_what_will_be_lost)
}

fn say_what_will_be_lost(loss: &Loss) {
    let mut lost: Vec<String> = loss.partitions.iter().map(|p| format!("partition {p}")).collect();
    lost.extend(loss.content.iter().cloned());
    let model = loss.model.as_deref().map(|m| format!(" ({m})")).unwrap_or_default();
    let said = format!("{}{model} will be overwritten; on it: {}", loss.path.display(), lost.join(", "));
    // Models and names are what devices say of themselves.
    let _ = writeln!(std::io::stderr().lock(), "narrows: {}", report::text::plain(&said, false));
}
