//! `narrows/wear/1`.

use model::{ProcessIo, WearOfDisk};
use serde::Serialize;

/// What `narrows runs wear --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WearDocument {
    /// `narrows/wear/1`.
    pub schema: &'static str,
    /// How long each lasts, in sentences; null where no disk is known.
    pub answer: Option<String>,
    /// Whether it was root who asked: others see neither what most disks tell nor all processes.
    pub as_root: bool,
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
    pub fn new(disks: Vec<WearOfDisk>, writers: Vec<ProcessIo>, as_root: bool) -> Self {
        let writer = |p: ProcessIo| WearWriter { pid: p.pid, name: p.name, written_bytes: p.write_bytes };
        let writers = writers.into_iter().map(writer).collect();
        let answers: Vec<String> = disks.iter().map(|disk| crate::life::answer(disk, as_root)).collect();
        let answer = Some(answers.join(" ")).filter(|said| !said.is_empty());
        Self { schema: "narrows/wear/1", answer, as_root, disks, writers }
    }
}
