//! A file that streams verify, and that a test damages behind the program's back.

use crate::phases::{self, MIB};
use engine::FileRig;
use model::{
    Access, BlockPlan, EngineKind, IoPath, Operation, Order, PhaseKind, PhasePlan, PhaseRecord, StopRule, StreamPlan,
    Verify, VerifyKind, VerifyRecord,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub const BLOCK: u64 = 4096;
pub const SECTOR: usize = 512;
pub const REGION: u64 = MIB;

pub const fn verify(read_back: bool) -> Option<Verify> {
    Some(Verify { kind: VerifyKind::Stamp, read_back, stop_at_first: false })
}

/// A file of zeros that is overwritten, in a directory of its own, and the rig over it.
pub struct Bench {
    pub path: PathBuf,
    pub rig: FileRig,
    pub directory: tempfile::TempDir,
}

pub fn bench_in(parent: &Path, bytes: u64) -> Bench {
    let directory = tempfile::tempdir_in(parent).or_else(|_| tempfile::tempdir()).unwrap();
    let path = directory.path().join("image");
    let file = File::create(&path).unwrap();
    (0..bytes / MIB).for_each(|i| file.write_all_at(&vec![0; MIB as usize], i * MIB).unwrap());
    file.sync_all().unwrap();
    let rig = phases::open(&path, true, phases::options(phases::filesystem_of(directory.path()))).unwrap();
    Bench { path, rig, directory }
}

pub fn bench() -> Bench {
    bench_in(Path::new(env!("CARGO_MANIFEST_DIR")), 4 * MIB)
}

pub fn phase(streams: Vec<StreamPlan>) -> PhasePlan {
    PhasePlan {
        name: "verified".into(),
        kind: PhaseKind::Measure,
        engine: EngineKind::IoUring,
        access: Access::Direct,
        streams,
        time_limit_ns: 60_000_000_000,
        stop: StopRule::RegionOnce,
        ..PhasePlan::default()
    }
    .alike()
}

pub fn write() -> StreamPlan {
    StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            order: Order::Random,
            block_size_bytes: BLOCK,
            region_bytes: REGION,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: 8, ..IoPath::default() },
        seed: 7,
        verify: verify(false),
        ..StreamPlan::default()
    }
}

pub fn read() -> StreamPlan {
    StreamPlan {
        kind: BlockPlan { operation: Operation::Read, ..write().blocks().unwrap().block.clone() }.into(),
        ..write()
    }
}

impl Bench {
    pub fn run(&mut self, phase: &PhasePlan) -> PhaseRecord {
        let errors = model::Plan { phases: vec![phase.clone()], interval_ns: 1, ..model::Plan::default() };
        assert_eq!(errors.check(512, None), [], "the plan of a test can be");
        phases::run(&mut self.rig, phase)
    }

    pub fn one(&mut self, stream: StreamPlan) -> VerifyRecord {
        self.run(&phase(vec![stream])).verify.expect("the stream verifies")
    }

    /// The file, by another descriptor, past whatever this program's own holds.
    pub fn behind(&self) -> File {
        File::options().read(true).write(true).open(&self.path).unwrap()
    }

    pub fn block(&self, number: u64) -> Vec<u8> {
        let mut block = vec![0; BLOCK as usize];
        self.behind().read_exact_at(&mut block, number * BLOCK).unwrap();
        block
    }

    /// Puts bytes there as if the medium did: they are on it, and in no cache.
    pub fn damage(&self, offset: u64, bytes: &[u8]) {
        let file = self.behind();
        file.write_all_at(bytes, offset).unwrap();
        file.sync_all().unwrap();
    }

    /// Two versions of everything are written, `harm` is done, everything is read: what is found.
    pub fn harmed(&mut self, harm: impl FnOnce(&Self, Vec<u8>)) -> VerifyRecord {
        let clean = self.one(write());
        assert!(clean.is_clean(), "{clean:?}");
        let before: Vec<u8> = (0..REGION / BLOCK).flat_map(|n| self.block(n)).collect();
        let clean = self.one(StreamPlan { seed: 8, ..write() });
        assert!(clean.is_clean(), "{clean:?}");
        harm(self, before);
        self.one(StreamPlan {
            kind: BlockPlan { order: Order::Sequential, ..read().blocks().unwrap().block.clone() }.into(),
            ..read()
        })
    }
}
