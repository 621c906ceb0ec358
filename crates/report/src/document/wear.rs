//! `narrows/wear/1`.

use model::{ProcessIo, WearOfDisk};
use serde::Serialize;

/// What `narrows runs wear --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WearDocument {
    /// `narrows/wear/1`.
    pub schema: &'static str,
    /// By their serial numbers.
    pub disks: Vec<WearOfDisk>,
    /// Who wrote most of what this machine's processes wrote to all disks, each since it began: those that may be seen and still run.
    pub writers: Vec<WearWriter>,
}

/// A process that writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WearWriter {
    pub pid: u32,
    /// Its name, as the kernel has it.
    pub name: String,
    /// What it caused to be written since it began.
    pub written_bytes: u64,
}

impl WearDocument {
    /// Of these disks and processes.
    pub fn new(disks: Vec<WearOfDisk>, writers: Vec<ProcessIo>) -> Self {
        let writer = |p: ProcessIo| WearWriter { pid: p.pid, name: p.name, written_bytes: p.write_bytes };
        Self { schema: "narrows/wear/1", disks, writers: writers.into_iter().map(writer).collect() }
    }
}
