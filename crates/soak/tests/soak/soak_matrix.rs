//! The acceptance matrix through the whole of a soak: plans, laps, the engine's loop, the state in the archive, on a simulated
//! device that does wrong. Each class of damage gives that class and no other, in each kind of pass, direct and through the page
//! cache, and after a crash; no damage gives no finding.
//!
//! 160 seeds for each class, spread over the modes; with NARROWS_TEST_SEEDS=125, as `.ci/run all` has it, a thousand.

use archive::Archive;
use conduct::{Interrupts, NullListener, Opened, Wanted};
use engine::{Control, SimData, SimRig};
use model::random::mix;
use model::{DataFault, DataFinding};
use soak::{SoakContext, SoakEnd, SoakEvent, SoakState, TargetIdentity, WriteEnd};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::PathBuf;
use workload::Armed;

/// Bytes that are told apart, of a lap, and laps.
const UNIT: u64 = 4096;
const LAP: u64 = 64 * UNIT;
const LAPS: u64 = 2;

/// How the fault is met.
#[derive(Clone, Copy, Debug)]
struct Mode {
    /// 1 to 4, as the passes of a soak take turns; 4 overwrites at random, with flushes between.
    pass: u32,
    buffered: bool,
}

const MODES: [Mode; 8] = {
    let mut modes = [Mode { pass: 0, buffered: false }; 8];
    let mut i = 0;
    while i < 8 {
        modes[i] = Mode { pass: i as u32 / 2 + 1, buffered: i % 2 == 1 };
        i += 1;
    }
    modes
};

impl Mode {
    /// Writes of a pass of this kind.
    fn writes(self) -> u64 {
        let lap = match self.pass {
            1 | 3 => 4,
            2 => LAP / UNIT,
            _ => 3 * LAP / UNIT,
        };
        LAPS * lap
    }
}

/// What a session of a soak goes on with: the archive has its state.
struct Desk {
    opened: Opened,
    data: SimData,
    archive: Archive,
    _directory: tempfile::TempDir,
    state: SoakState,
    found: RefCell<Vec<DataFinding>>,
}

impl Desk {
    fn new(seed: u64, mode: Mode) -> Self {
        let wanted = Wanted::new(OsStr::new("sim:nvme"), 1_000_000_000);
        let mut opened = conduct::open(&wanted, &Control::default(), &NullListener).unwrap();
        let rig = SimRig::new(spec::parse_sim("nvme").unwrap(), 1_000_000_000);
        let data = rig.data();
        opened.rig = Box::new(rig);
        opened.environment.boot_id = Some("one".into());
        // Its files are synced: in memory that takes no time.
        let shared = PathBuf::from("/dev/shm");
        let directory = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap();
        let archive = Archive::open(directory.path());
        let random = [mix(seed), mix(seed ^ 1), mix(seed ^ 2), mix(seed ^ 3)];
        let (id, path) = (SoakState::new_id(seed), PathBuf::from("sim:nvme"));
        let place = TargetIdentity::of(&opened, None);
        let mut state = SoakState::new(id, "sim:nvme", path, place, 1 << 20, random);
        (state.unit_bytes, state.lap_bytes, state.region_bytes) = (UNIT, LAP, LAP * LAPS);
        state.laps = vec![Default::default(); LAPS as usize];
        // An older version of everything is there when its turn comes.
        (state.pass, state.passes) = (mode.pass + 3, mode.pass + 2);
        (state.buffered, state.trims) = (mode.buffered, seed.is_multiple_of(2));
        Self { opened, data, archive, _directory: directory, state, found: RefCell::default() }
    }

    /// Until so many passes are done.
    fn soak(&mut self, passes: u32, on: &dyn Fn(&SoakEvent<'_>)) -> SoakEnd {
        let control = Control::default();
        self.state.enough.passes = Some(passes);
        let tell = |event: SoakEvent<'_>| {
            if let SoakEvent::Found(finding) = event {
                self.found.borrow_mut().push(finding.clone());
            }
            on(&event);
        };
        let (interrupts, archive) = (Interrupts::default(), &self.archive);
        let soaking = SoakContext {
            control: &control,
            interrupts: &interrupts,
            archive,
            witness: None,
            scrubs: false,
            tell: &tell,
        };
        soaking.run(&mut self.opened, &mut self.state).unwrap()
    }

    /// One pass of the kind before, and one in which the fault is met.
    fn two_passes(&mut self) -> SoakEnd {
        let first = self.state.pass;
        self.soak(first, &|_| ());
        self.data.with(|medium| medium.count_from_here());
        self.soak(first + 1, &|_| ())
    }

    fn classes(&self) -> Vec<DataFault> {
        self.found.borrow().iter().map(|finding| finding.class).collect()
    }
}

fn chosen(seed: u64, n: u64, of: u64) -> u64 {
    mix(seed ^ n << 56) % of.max(1)
}

/// The fault of one operation.
fn meets(class: DataFault, seed: u64, mode: Mode) {
    let mut desk = Desk::new(seed, mode);
    // There is no older version of what was trimmed before it was written.
    desk.state.trims &= class != DataFault::StaleRead;
    let first = desk.state.pass;
    desk.soak(first, &|_| ());
    // What is overwritten again before anybody looks is no damage, and where two writes of a place are in flight together
    // either may be there: of a place that is overwritten again and again the last writes of the lap count.
    let lap = mode.writes() / LAPS;
    let at = match (class, mode.pass) {
        // The first read is of what was written before.
        (DataFault::TransientPathError | DataFault::StaleRead | DataFault::MisdirectedRead, _) => {
            2 + chosen(seed, 1, 2)
        }
        (DataFault::LateError, 4) => chosen(seed, 1, LAPS) * lap / 32 + lap.div_ceil(32),
        (DataFault::LateError, _) => 1 + chosen(seed, 1, LAPS),
        (_, 4) => chosen(seed, 1, LAPS) * lap + lap - chosen(seed, 2, 16),
        // One that goes astray from one lap to another is a loss, until the other is read at the end of the pass.
        (DataFault::MisdirectedWrite, _) => chosen(seed, 1, LAPS) * lap + 2 + chosen(seed, 2, lap - 1),
        _ => 1 + chosen(seed, 1, mode.writes()),
    };
    desk.data.with(|medium| {
        medium.count_from_here();
        medium.armed = Some(Armed { class, at, seed });
    });
    desk.soak(first + 1, &|_| ());
    let (armed, done) = desk.data.with(|medium| (medium.armed, medium.done));
    let found = desk.found.borrow();
    let told = || format!("{class} {mode:?} seed {seed}, at {at}, done {done:?}: {found:#?}");
    assert!(armed.is_none(), "not done: {}", told());
    let (start, sectors) = done.unwrap();
    if class == DataFault::LateError {
        // What is overwritten later is there again.
        let healed = mode.pass == 4 && found.is_empty();
        assert!((healed || !found.is_empty()) && found.iter().all(|f| f.class == class), "{}", told());
        assert_eq!(desk.state.errors.values().sum::<u64>(), 1, "{}", told());
        return;
    }
    let told_all: u64 = found.iter().map(|f| f.sectors).sum();
    let inside = |f: &DataFinding| f.lba >= start && f.lba + f.sectors <= start + sectors;
    assert!(found.iter().all(|f| f.class == class && inside(f)) && told_all == sectors, "{}", told());
    assert!(!desk.state.is_clean());
}

/// Nothing is wrong, with a crash in between and without.
fn is_clean(seed: u64, mode: Mode) {
    let mut desk = Desk::new(seed, mode);
    desk.two_passes();
    assert!(desk.state.is_clean() && desk.classes().is_empty(), "{mode:?} seed {seed}: {:?}", desk.classes());
    let _ = dies(&mut desk, seed, mode);
    assert_eq!(desk.classes(), [], "{mode:?} seed {seed}: a crash");
    assert!(desk.state.is_clean());
}

/// The machine is gone with some write of a further pass, and the soak goes on with what the archive has. What is in flight and
/// not flushed is there or not, sector by sector. Gives which lap it was.
fn dies(desk: &mut Desk, seed: u64, mode: Mode) -> usize {
    let power = chosen(seed, 3, 2) == 0;
    desk.data.with(|medium| {
        medium.count_from_here();
        let four: u64 = (1..=4).map(|pass| Mode { pass, ..mode }.writes()).sum();
        medium.dies_at = Some(1 + chosen(seed, 4, four - 1));
    });
    let saved = RefCell::new(None);
    let (passes, id) = (desk.state.passes, desk.state.id.clone());
    let archive = desk.archive.clone();
    let data = desk.data.clone();
    let before = desk.found.borrow().len();
    desk.soak(passes + 4, &|event| {
        // What the archive has at the first word after its death was saved before it.
        if matches!(event, SoakEvent::Lap(_) | SoakEvent::Found(_) | SoakEvent::Pass(_))
            && saved.borrow().is_none()
            && data.with(|medium| medium.is_dead())
        {
            *saved.borrow_mut() = Some(SoakState::load(&archive, &id).unwrap());
        }
    });
    // What was told after its death never happened.
    desk.found.borrow_mut().truncate(before);
    desk.state = saved.into_inner().unwrap_or_else(|| panic!("{mode:?} seed {seed}: it did not die"));
    let lap = desk.state.flight.map_or(desk.state.lap, |flight| flight.lap);
    let mut coin = mix(seed ^ 5);
    desk.data.with(|medium| {
        medium.cut(1, || {
            coin = mix(coin);
            // A process that is killed takes nothing with it that was acknowledged.
            !power || coin.is_multiple_of(2)
        });
    });
    desk.opened.environment.boot_id = Some(if power { "two" } else { "one" }.into());
    let passes = desk.state.passes;
    desk.soak(passes + 2, &|_| ());
    assert_eq!(desk.state.unseen, WriteEnd::Well);
    lap
}

/// The faults that come with an operation.
const BY_OPERATION: [DataFault; 9] = [
    DataFault::BitRot,
    DataFault::Corrupt,
    DataFault::TransientPathError,
    DataFault::TornWrite,
    DataFault::LostWrite,
    DataFault::StaleRead,
    DataFault::MisdirectedWrite,
    DataFault::MisdirectedRead,
    DataFault::ForeignData,
];

/// A device that says that it flushed, and did not: what was promised is gone after the power was cut.
fn lies(seed: u64, mode: Mode) {
    let mut desk = Desk::new(seed, mode);
    let first = desk.state.pass;
    desk.soak(first, &|_| ());
    let (block, laps) = (if mode.pass % 2 == 1 { LAP / 4 } else { UNIT }, desk.state.laps.len() as u64);
    let lba = chosen(seed, 6, laps * LAP / block) * block / 512;
    desk.data.with(|medium| medium.never_durable.insert(lba));
    // The pass is whole, and the power is cut at once.
    desk.soak(first + 1, &|_| ());
    assert_eq!(desk.classes(), [], "{mode:?} seed {seed}");
    desk.state.running = true;
    desk.data.with(|medium| medium.cut(1, || true));
    desk.opened.environment.boot_id = Some("two".into());
    let done = desk.state.passes;
    desk.soak(done, &|_| ());
    let found = desk.found.borrow();
    let told = || format!("{mode:?} seed {seed}, lba {lba}: {found:#?}");
    // Later laps were flushed after it, and are there.
    let all = |class: DataFault| found.iter().all(|f| f.class == class);
    assert!(all(DataFault::LostOnPowerCut) || all(DataFault::ReorderedAcrossFlush), "{}", told());
    assert!(found.iter().all(|f| f.lba >= lba && f.lba + f.sectors <= lba + block / 512), "{}", told());
    assert!(!found.is_empty(), "{}", told());
}

/// Less is there than the device says.
fn is_smaller(seed: u64, mode: Mode) {
    for class in [DataFault::WrapAround, DataFault::LimboCapacity] {
        let mut desk = Desk::new(seed, mode);
        // Below a MiB a constant shift is no wrap-around.
        let real = 4096 + 128 * chosen(seed, 7, 16);
        desk.data.with(|medium| match class {
            DataFault::WrapAround => medium.wraps_at = Some(real),
            _ => medium.limbo_from = Some(real),
        });
        let state = &mut desk.state;
        (state.unit_bytes, state.region_bytes, state.laps) = (64 << 10, 4 << 20, vec![Default::default()]);
        state.lap_bytes = state.region_bytes;
        let pass = desk.state.pass;
        desk.soak(pass, &|_| ());
        let found = desk.found.borrow();
        let told = || format!("{class} {mode:?} seed {seed}: {found:#?}");
        assert!(found.len() == 1 && found[0].class == class && found[0].lba == real, "{}", told());
    }
}

fn all_of(pass: u32, seeds_of: impl Fn(usize) -> std::ops::Range<u64>) {
    for (i, mode) in MODES.into_iter().enumerate().filter(|(_, mode)| mode.pass == pass) {
        let each = |meets: &dyn Fn(u64)| seeds_of(i).for_each(meets);
        each(&|seed| is_clean(seed, mode));
        each(&|seed| lies(seed, mode));
        for class in BY_OPERATION.into_iter().chain([DataFault::LateError]) {
            each(&|seed| meets(class, seed, mode));
        }
        for seed in seeds_of(i).step_by(25) {
            is_smaller(seed, mode);
        }
    }
}

/// Seeds of a mode, which no other mode has: 20, or as many as NARROWS_TEST_SEEDS says.
fn some(mode: usize) -> std::ops::Range<u64> {
    let each = std::env::var("NARROWS_TEST_SEEDS").map_or(20, |n| n.parse().expect("NARROWS_TEST_SEEDS is a number"));
    mode as u64 * each..(mode as u64 + 1) * each
}

#[test]
fn each_class_is_met_in_passes_in_order() {
    all_of(1, some);
}

#[test]
fn each_class_is_met_in_passes_at_random() {
    all_of(2, some);
}

#[test]
fn each_class_is_met_in_passes_of_one_by_one() {
    all_of(3, some);
}

#[test]
fn each_class_is_met_in_passes_that_overwrite_and_flush() {
    all_of(4, some);
}
