//! What lies below one disk, as its bus fills it in.

use super::ancestor::Ancestor;
use model::{Fact, Layer};

/// Everything that the walk found below one disk, in order.
#[derive(Debug, Default)]
pub(super) struct LayersBelow {
    pub link: Option<Layer>,
    /// The directory of the controller; it is read once however many disks it has.
    pub controller: Option<Ancestor>,
    /// What only the bus knows of its controller.
    pub controller_facts: Vec<(&'static str, Fact)>,
    pub missing: Vec<String>,
    /// Directory of the SCSI host of a SATA link, where its power management is set.
    pub sata_host: Option<String>,
    /// Modules whose parameters concern the link.
    pub modules: &'static [&'static str],
}
