//! `narrows/wear/1`.

use model::WearOfDisk;
use serde::Serialize;

/// What `narrows runs wear --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WearDocument {
    /// `narrows/wear/1`.
    pub schema: &'static str,
    /// By their serial numbers.
    pub disks: Vec<WearOfDisk>,
}

impl WearDocument {
    /// Of these disks.
    pub fn new(disks: Vec<WearOfDisk>) -> Self {
        Self { schema: "narrows/wear/1", disks }
    }
}
