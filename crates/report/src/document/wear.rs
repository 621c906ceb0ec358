//! `narrows/wear/1`.

use model::{ProcessIo, WearOfDisk};
use serde::Serialize;

/// What `narrows runs wear --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "schema", rename = "narrows/wear/1")]
pub struct WearDocument {
    /// How long each lasts, in sentences; null where no disk is known.
    pub answer: Option<String>,
    /// What is between the place that was asked about and the disks below it, of which alone there is wear: `loop0`; null where a disk
    /// was named, or none.
    pub below: Option<WearPlace>,
    /// Whether it was root who asked: others see neither what most disks tell nor all processes.
    pub as_root: bool,
    /// By their serial numbers.
    pub disks: Vec<WearOfDisk>,
    /// Who wrote most of what this machine's processes wrote to all disks, each since it began: those that may be seen and still run.
    pub writers: Vec<WearWriter>,
}

/// A place that is not itself a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WearPlace {
    /// As it was asked about.
    pub place: String,
    /// The devices between it and the disks, from the top.
    pub devices: Vec<String>,
    /// The disks that carry it.
    pub disks: Vec<String>,
}

impl WearPlace {
    /// Whose wear it is: `/mnt lies on loop0 and that on vda: what follows is of vda, with all else that is on it.`
    pub(crate) fn sentence(&self) -> String {
        let disks: Vec<&str> = self.disks.iter().map(String::as_str).collect();
        let disks = crate::text::and_list(&disks);
        let between: Vec<String> = self.devices.iter().map(|device| format!("{device} on ")).collect();
        format!(
            "{} lies on {}{disks}; a disk wears as a whole, so this is of {disks} and all that is on it.",
            self.place,
            between.concat()
        )
    }
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
        Self { answer, below: None, as_root, disks, writers }
    }

    /// Of a place that is not itself a disk.
    pub fn of_place(self, below: Option<WearPlace>) -> Self {
        let said = below.iter().map(WearPlace::sentence).chain(self.answer);
        let answer = Some(said.collect::<Vec<_>>().join(" ")).filter(|said| !said.is_empty());
        Self { answer, below, ..self }
    }
}
