//! A setting of the path to a target that may be tried: files with a name together, bits of a register, an option of a mount.

use model::{NotTried, SettingRisk, TuneCandidate};
use observe::registers::KnownRegister;
use settings::{Felt, MountOption, Tunable, TunableState, set_with};

/// What is set.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Files that have a name together.
    Files(&'static Tunable, Vec<TunableState>),
    /// Bits of a register.
    Register(KnownRegister),
    /// An option of the mount at this place, and what is in force of it.
    Mount(&'static MountOption, String, String),
}

/// A setting of the path.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub(super) what: What,
    /// Values that are tried.
    pub values: Vec<String>,
    /// Why none is.
    pub not_tried: Option<NotTried>,
}

impl Candidate {
    /// Smaller is tried first: what the page cache's share of the workload feels, then the disk's own, then the machine's.
    pub(super) fn rank(&self) -> u8 {
        let of_disk = ["/sys/block/", "/sys/class/scsi", "/sys/fs/"];
        match (&self.not_tried, &self.what) {
            (Some(_), _) => 3,
            (None, What::Register(_)) => 0,
            (None, What::Files(tunable, _)) if matches!(tunable.felt, Felt::BufferedReads | Felt::BufferedWrites) => 0,
            (None, What::Files(tunable, _)) if of_disk.iter().any(|start| tunable.pattern.starts_with(start)) => 1,
            (None, What::Files(..) | What::Mount(..)) => 2,
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match &self.what {
            What::Files(tunable, _) => tunable.name,
            What::Register(known) => known.register.id,
            What::Mount(option, ..) => option.name,
        }
    }

    pub(super) fn files(&self) -> &[TunableState] {
        if let What::Files(_, files) = &self.what { files } else { &[] }
    }

    /// What it can cost.
    pub(super) fn risk(&self) -> SettingRisk {
        match &self.what {
            What::Files(tunable, _) => tunable.risk,
            What::Register(_) => SettingRisk::CanHang,
            What::Mount(option, ..) => option.risk,
        }
    }

    /// Whether it acts on what passes the page cache in these ways (reads, writes).
    pub(super) fn reaches(&self, [reads, writes]: [bool; 2]) -> bool {
        match &self.what {
            What::Files(Tunable { felt: Felt::BufferedReads, .. }, _) => reads,
            What::Files(Tunable { felt: Felt::BufferedWrites, .. }, _) => writes,
            _ => true,
        }
    }

    /// Where it is, and what that holds.
    pub(super) fn places(&self) -> Vec<(String, String)> {
        match &self.what {
            What::Files(_, files) => files.iter().map(|file| (file.path.to_string(), file.now.clone())).collect(),
            What::Register(known) => {
                let now = known.value.map(|value| hexadecimal(value & known.register.mask));
                vec![(register_path(known), now.unwrap_or_default())]
            }
            What::Mount(_, mount_point, now) => vec![(mount_point.clone(), now.clone())],
        }
    }

    /// As an arm has it, with what moves with it.
    pub(super) fn set(&self, alternative: usize) -> Vec<(&'static str, String)> {
        let Some(value) = self.values.get(alternative) else { return Vec::new() };
        match &self.what {
            What::Files(tunable, _) => set_with(tunable.name, value),
            What::Register(_) | What::Mount(..) => vec![(self.name(), value.clone())],
        }
    }

    /// Where it is, what that holds, and the values.
    pub(super) fn held(&self) -> Vec<(String, String, Vec<String>)> {
        self.places().into_iter().map(|(path, now)| (path, now, self.values.clone())).collect()
    }

    /// For the document.
    pub fn described(&self) -> TuneCandidate {
        let places = self.places();
        let (path, now) = places.first().cloned().unwrap_or_default();
        let (risk, about) = match &self.what {
            What::Files(tunable, _) => (self.risk(), tunable.about),
            What::Register(known) => (self.risk(), known.register.meaning),
            What::Mount(option, ..) => (self.risk(), option.about),
        };
        let (values, not_tried) = (self.values.clone(), self.not_tried.clone());
        TuneCandidate { name: self.name(), path, files: places.len(), now, values, risk, about, not_tried }
    }
}

/// As the lines that keep a winner say it.
fn register_path(known: &KnownRegister) -> String {
    format!("{} of {}, offset {:#x}", known.register.id, known.controller, known.register.offset)
}

pub(super) fn hexadecimal(value: u32) -> String {
    format!("{value:#x}")
}
