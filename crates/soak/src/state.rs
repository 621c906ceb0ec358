//! How far a soak came and what it promised: one version a lap, and the lap in flight.

use crate::growth::Times;
use conduct::Opened;
use conduct::WallClock;
use model::{DataFault, DataFinding, Fact, Scrub, TargetKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use workload::{Interruption, KnownData};

/// Findings that are kept one by one.
const MOST_FINDINGS: usize = 256;
/// Laps of a pass at most.
const MOST_LAPS: u64 = 128;
/// The least that a lap has, unless the target has less.
const LEAST_LAP: u64 = 16 << 20;
/// The largest region whose places of 64 KiB fit into memory beside all else: 8 bytes each.
const FINE_REGION: u64 = 256 << 30;

/// What a target is: it must be the same when it goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetIdentity {
    /// `file` or `block-device`.
    pub kind: String,
    /// Its length.
    pub bytes: Option<u64>,
    /// Of a file: `st_dev` and `st_ino`.
    pub file: Option<(u64, u64)>,
    /// Of a file: when it was made, where that is known.
    #[serde(default)]
    pub born_ns: Option<u64>,
    /// Of a device: what it says that it is, its serial number or its name.
    pub device: Option<String>,
}

impl TargetIdentity {
    /// Of an open target; a device is what it was confirmed to be.
    pub fn of(opened: &Opened, confirmed: Option<&str>) -> Self {
        let object = opened.object.filter(|_| opened.target.kind == TargetKind::File);
        let kind = if object.is_some() { "file" } else { "block-device" };
        let (file, device) = (object.map(|o| o.file()), confirmed.map(str::to_owned));
        let born_ns = object.and_then(|o| o.born_ns());
        Self { kind: kind.to_owned(), bytes: opened.target.size_bytes, file, born_ns, device }
    }

    /// Whether what stands there now is still this. Numbers of devices change with a reboot, and when a disk is plugged in
    /// again: a file is known by its inode and the moment at which it was made, and where the file system keeps no such
    /// moment, by its inode if it has a `name_of_its_own`.
    pub fn is_still(&self, now: &Self, name_of_its_own: bool) -> bool {
        let inode = |place: &Self| place.file.map(|(_, inode)| inode);
        let file = match (self.born_ns, now.born_ns) {
            (None, None) if !name_of_its_own => self.file == now.file,
            (then, here) => then == here && inode(self) == inode(now),
        };
        file && (&self.kind, self.bytes, &self.device) == (&now.kind, now.bytes, &now.device)
    }
}

/// What a lap holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LapVersions {
    /// The newest version; 0 for none.
    pub version: u32,
    /// The oldest version that may be there: the newest itself where all of it was written and flushed without an error, 0 where
    /// anything may.
    pub oldest: u32,
}

/// How the writing of what has not been looked at since came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteEnd {
    /// All that was issued had ended.
    Well,
    /// The process was gone, in the same boot.
    Killed,
    /// The machine was gone.
    Power,
}

impl WriteEnd {
    fn cut(self) -> Interruption {
        match self {
            Self::Well => Interruption::None,
            Self::Killed => Interruption::Killed,
            Self::Power => Interruption::Power,
        }
    }
}

/// What was asked of a soak; each session may ask otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopCriteria {
    /// Passes, whole ones.
    pub passes: Option<u32>,
    /// Time, all sessions together; it ends with the lap in which that is over.
    pub time_ns: Option<u64>,
    /// Whether it ends with the first lap in which something was wrong.
    pub at_finding: bool,
    /// Whether passes go on, up to a bound, until each fault that a simulated device was given has come.
    #[serde(default)]
    pub with_faults: bool,
}

/// Which kinds of pass take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    All,
    /// Those that write each place once.
    Sweep,
    /// The one that overwrites places again and again, with flushes between.
    Churn,
}

/// A lap that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LapInProgress {
    pub lap: usize,
    /// The newest version that may be there.
    pub newest: u32,
    /// Whether it was looked at after a crash.
    pub looked_at: bool,
    /// Whether places of it may have been trimmed and not written since.
    pub trims: bool,
}

/// What every fourth pass does with each of its laps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Churn {
    /// How often each place is overwritten.
    pub times: u32,
    /// Whether it is trimmed before each time.
    pub trims: bool,
    /// Writes from one flush to the next.
    pub writes_a_flush: u32,
}

impl Churn {
    /// Of the pass that runs.
    pub(crate) fn of(state: &SoakState) -> Option<Self> {
        (state.kind() == 0).then_some(Self { times: 3, trims: state.trims, writes_a_flush: 32 })
    }
}

/// All that a soak has to know to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoakState {
    schema: String,
    /// The moment it was started, and a number.
    pub id: String,
    /// When it was started, RFC 3339.
    pub started: String,
    /// As the user named it.
    pub target: String,
    /// What is written to: the target, or a file of its own in it.
    pub path: PathBuf,
    /// Whether that file was made for it, and is removed in the end.
    pub own_file: bool,
    /// What it is, and must be when it goes on.
    pub place: TargetIdentity,
    /// Names its data: those of another soak are foreign.
    pub run_id: u64,
    /// From which its data are made; never on the target.
    pub secret: [u64; 2],
    /// Of the order of its writes.
    pub seed: u64,
    /// Places that are told apart.
    pub unit_bytes: u64,
    /// How much of the target is written, from its start, and how much in a lap.
    pub region_bytes: u64,
    /// Bytes of a lap; the last one may have fewer.
    pub lap_bytes: u64,
    /// Whether it writes through the page cache.
    pub buffered: bool,
    /// Of its writes, where that is limited.
    pub rate_bytes_per_s: Option<u64>,
    /// Which passes take turns.
    #[serde(default)]
    pub mode: Mode,
    /// Whether the device can be told that places are not needed.
    pub trims: bool,
    /// Whether places are read beside the writes.
    pub busy: bool,
    /// What was read beside them, in all, and not looked at.
    pub bytes_read_beside: u64,
    /// When it has done enough.
    pub enough: StopCriteria,
    /// What each lap holds.
    pub laps: Vec<LapVersions>,
    /// The lap that was begun and is not known to be durable.
    pub flight: Option<LapInProgress>,
    /// The pass that runs, from 1 on.
    pub pass: u32,
    /// The lap that comes next.
    pub lap: usize,
    /// Passes that are done.
    pub passes: u32,
    /// Phases that were begun.
    pub phases: u64,
    /// How often it was started or went on.
    pub sessions: u32,
    /// Whether a session runs, or ended without a word.
    pub running: bool,
    /// How what was written ended, as far as it was not looked at since.
    pub unseen: WriteEnd,
    /// The boot of the machine in which it last ran.
    pub boot_id: Option<String>,
    /// Until the last phase of this session ended, by the device's clock.
    #[serde(skip)]
    pub device_ns: u64,
    /// Time of all sessions.
    pub elapsed_ns: u64,
    /// What was written, in all.
    pub bytes_written: u64,
    /// What was read and looked at, in all.
    pub bytes_verified: u64,
    /// What was wrong, as many as are kept.
    pub findings: Vec<DataFinding>,
    /// Findings beyond those.
    pub findings_dropped: u64,
    /// Whether one of them accuses this program.
    pub tester_fault: bool,
    /// Failed operations, by the name of the error.
    pub errors: BTreeMap<String, u64>,
    /// Why what was verified says nothing of the device, where that is so.
    pub in_memory: Option<String>,
    /// What the machine counts of errors and wear, by layer: before, and last.
    #[serde(default)]
    pub counters: BTreeMap<String, (Fact, Fact)>,
    /// Serial numbers of the layers that have one.
    #[serde(default)]
    pub serials: BTreeMap<String, String>,
    /// Warnings of the kernel since it was started, the newest.
    #[serde(default)]
    pub kernel_warnings: Vec<String>,
    /// What the file system found when it read all that it holds.
    #[serde(default)]
    pub scrub: Option<Scrub>,
    /// How long writes took, from pass to pass.
    #[serde(default)]
    pub times: Times,
    /// Nothing is left to do.
    pub finished: bool,
    /// It is to repeat what it did before, on a simulated device that is new: nothing of that is kept until it is there again.
    #[serde(skip)]
    pub repeats: bool,
}

impl SoakState {
    const SCHEMA: &'static str = "narrows/soak-state/3";

    /// A name for a soak that starts now, with a number drawn at random.
    pub fn new_id(random: u64) -> String {
        format!("{}-{:04x}", WallClock::start().compact(), random & 0xffff)
    }

    /// Of a target of so many bytes, with numbers drawn at random: of the run, its secret and its seed.
    pub fn new(
        id: String,
        target: &str,
        path: PathBuf,
        place: TargetIdentity,
        region_bytes: u64,
        random: [u64; 4],
    ) -> Self {
        let [run_id, first, second, seed] = random;
        let region_bytes = region_bytes >> 20 << 20;
        let lap_bytes = region_bytes.div_ceil(MOST_LAPS).max(LEAST_LAP).next_multiple_of(1 << 20);
        Self {
            schema: Self::SCHEMA.to_owned(),
            id,
            started: WallClock::start().started(),
            target: target.to_owned(),
            path,
            own_file: false,
            place,
            run_id,
            secret: [first, second],
            seed,
            unit_bytes: if region_bytes <= FINE_REGION { 64 << 10 } else { 1 << 20 },
            region_bytes,
            lap_bytes,
            buffered: false,
            rate_bytes_per_s: None,
            mode: Mode::All,
            trims: false,
            busy: false,
            bytes_read_beside: 0,
            enough: StopCriteria::default(),
            laps: vec![LapVersions::default(); usize::try_from(region_bytes.div_ceil(lap_bytes)).unwrap_or(0)],
            flight: None,
            pass: 1,
            lap: 0,
            passes: 0,
            phases: 0,
            sessions: 0,
            running: false,
            unseen: WriteEnd::Well,
            boot_id: None,
            device_ns: 0,
            elapsed_ns: 0,
            bytes_written: 0,
            bytes_verified: 0,
            findings: Vec::new(),
            findings_dropped: 0,
            tester_fault: false,
            errors: BTreeMap::new(),
            in_memory: None,
            counters: BTreeMap::new(),
            serials: BTreeMap::new(),
            kernel_warnings: Vec::new(),
            scrub: None,
            times: Times::default(),
            finished: false,
            repeats: false,
        }
    }

    /// The kind of the pass that runs: 1 to 3 write each place once, 0 overwrites again and again.
    pub(crate) fn kind(&self) -> u32 {
        match self.mode {
            Mode::All => self.pass % 4,
            Mode::Sweep => (self.pass - 1) % 3 + 1,
            Mode::Churn => 0,
        }
    }

    /// Bytes of a lap.
    pub fn region_of(&self, lap: usize) -> Range<u64> {
        let start = lap as u64 * self.lap_bytes;
        start..start.saturating_add(self.lap_bytes).min(self.region_bytes)
    }

    /// From the start to the end of the last lap of which something is known.
    pub fn written(&self) -> Range<u64> {
        let last = self.laps.iter().rposition(|lap| lap.version > 0);
        0..last.map_or(0, |lap| self.region_of(lap).end)
    }

    /// Findings so far.
    pub fn found(&self) -> u64 {
        self.findings.len() as u64 + self.findings_dropped
    }

    /// Findings and failed operations so far.
    pub(crate) fn wrong(&self) -> u64 {
        self.found() + self.errors.values().sum::<u64>()
    }

    /// Whether nothing was wrong.
    pub fn is_clean(&self) -> bool {
        let scrubbed = self.scrub.as_ref().is_none_or(Scrub::is_clean);
        self.found() == 0 && self.errors.is_empty() && !self.tester_fault && scrubbed
    }

    /// The name of a file that was made for the soak of this id: no other is ever taken for one.
    pub fn own_file_name(id: &str) -> String {
        format!("narrows-soak-{id}.data")
    }

    /// A session begins, in this boot of the machine. What the last one left is as it ended, until it has been looked at.
    pub(crate) fn begin_session(&mut self, boot_id: Option<String>) {
        if self.running {
            let same_boot = boot_id.is_some() && boot_id == self.boot_id;
            self.unseen = self.unseen.max(if same_boot { WriteEnd::Killed } else { WriteEnd::Power });
        }
        (self.boot_id, self.running) = (boot_id, true);
        self.sessions += 1;
    }

    /// All that was written has been looked at: what was in flight owes nothing more.
    pub(crate) fn mark_read_back(&mut self) {
        self.unseen = WriteEnd::Well;
        if let Some(flight) = &mut self.flight {
            flight.looked_at = true;
        }
    }

    /// What is known of its data.
    pub(crate) fn known(&self) -> KnownData {
        let stretch = |(at, lap): (usize, &LapVersions)| {
            let (low, high) = match &self.flight {
                Some(f) if f.lap == at => (if f.looked_at || f.trims { 0 } else { lap.oldest }, f.newest),
                _ => (lap.oldest, lap.version),
            };
            (self.region_of(at), low, high)
        };
        KnownData {
            run_id: self.run_id,
            secret: self.secret,
            unit_bytes: self.unit_bytes,
            stretches: self.laps.iter().enumerate().map(stretch).collect(),
            streams: self.phases,
            cut: self.unseen.cut(),
        }
    }

    /// Whether a finding was not told before: a session does not know what earlier ones told.
    pub(crate) fn is_new(&self, finding: &DataFinding) -> bool {
        // What is not there is called by when it was lost, which a session after a kill or a power cut sees otherwise.
        let class = |f: &DataFinding| match f.class {
            DataFault::LostOnPowerCut | DataFault::ReorderedAcrossFlush => DataFault::LostWrite,
            class => class,
        };
        let same = |f: &DataFinding| {
            (class(f), f.expected_generation) == (class(finding), finding.expected_generation)
                && f.lba <= finding.lba
                && finding.lba + finding.sectors <= f.lba + f.sectors
        };
        // Of a device that keeps nothing from some place on, what is lost beyond it is no finding of its own.
        let beyond = |f: &DataFinding| {
            f.class == DataFault::LimboCapacity
                && f.lba <= finding.lba
                && finding.class == DataFault::LostWrite
                && finding.found_generation.is_none()
        };
        !self.findings.iter().any(|f| same(f) || beyond(f))
    }

    pub(crate) fn keep(&mut self, finding: DataFinding) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        } else {
            self.findings_dropped += 1;
        }
    }

    pub(crate) fn begin_lap(&mut self) -> usize {
        let lap = self.lap;
        let before = match self.flight {
            Some(before) if before.lap == lap => before.newest,
            _ => self.laps[lap].version,
        };
        let churn = Churn::of(self);
        let newest = before + churn.map_or(1, |churn| churn.times);
        self.flight =
            Some(LapInProgress { lap, newest, looked_at: false, trims: churn.is_some_and(|churn| churn.trims) });
        lap
    }

    /// Writes to it failed: whatever it held may be gone.
    pub(crate) fn mark_contents_unknown(&mut self, lap: usize) {
        self.laps[lap].oldest = 0;
    }

    /// It was written; `promised`: and flushed, without an error.
    pub(crate) fn end_lap(&mut self, promised: bool) {
        if let Some(LapInProgress { lap, newest, .. }) = self.flight.take() {
            // The last two writes of a place that is overwritten again and again may have been in flight together: then either is
            // right.
            let in_doubt = u32::from(Churn::of(self).is_some());
            let oldest = if promised { newest.saturating_sub(in_doubt).max(1) } else { 0 };
            self.laps[lap] = LapVersions { version: newest, oldest };
        }
        self.lap += 1;
    }

    pub(crate) fn end_pass(&mut self) {
        self.times.pass(self.pass);
        self.passes = self.pass;
        (self.pass, self.lap) = (self.pass + 1, 0);
    }

    /// Whether it can be what this program wrote.
    pub(crate) fn is_sound(&self) -> bool {
        let laps = self.laps.len() as u64;
        // What says that it owns a file is believed of one with its name only.
        let named = self.path.file_name() == Some(Self::own_file_name(&self.id).as_ref());
        self.schema == Self::SCHEMA
            && (named || !self.own_file)
            && self.lap_bytes > 0
            && self.unit_bytes >= 512
            && self.region_bytes.div_ceil(self.lap_bytes) == laps
            && laps > 0
            && self.lap as u64 <= laps
            && self.pass > 0
            && self.flight.is_none_or(|f| (f.lap as u64) < laps)
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
