//! How far a soak came and what it promised: one version a lap, and the lap in flight.

use crate::clock::WallClock;
use archive::Archive;
use model::{DataFinding, Failure, FailureKind, Target};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Where the states are, below the archive.
pub const DIRECTORY: &str = "soaks";

/// Laps of a pass at most.
const MOST_LAPS: u64 = 128;
/// The least that a lap has, unless the target has less.
const LEAST_LAP: u64 = 16 << 20;
/// The largest region whose places of 64 KiB fit into memory beside all else: 8 bytes each.
const FINE_REGION: u64 = 256 << 30;

/// What a target is: it must be the same when it goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// `file` or `block-device`.
    pub kind: String,
    /// Its length.
    pub bytes: Option<u64>,
    /// Of a file: `st_dev` and `st_ino`.
    pub file: Option<(u64, u64)>,
    /// Of a device: what it says that it is, its serial number or its name.
    pub device: Option<String>,
}

/// A lap that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flight {
    /// Which.
    pub lap: usize,
    /// The newest version that may be there.
    pub newest: u32,
    /// Whether it was looked at after a crash.
    pub looked_at: bool,
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
    pub place: Place,
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
    /// The version that each lap holds, 0 for none.
    pub laps: Vec<u32>,
    /// The lap that was begun and is not known to be durable.
    pub flight: Option<Flight>,
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
    /// Whether the last session came to its own end, with nothing in flight.
    pub ended_well: bool,
    /// The boot of the machine in which it last ran.
    pub boot_id: Option<String>,
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
    /// Nothing is left to do.
    pub finished: bool,
}

impl SoakState {
    const SCHEMA: &'static str = "narrows/soak-state/1";

    /// Of a target of so many bytes, with numbers drawn at random: of the id, the run, its secret and its seed.
    pub fn new(target: &str, path: PathBuf, place: Place, region_bytes: u64, random: [u64; 5]) -> Self {
        let clock = WallClock::start();
        let [number, run_id, first, second, seed] = random;
        let region_bytes = region_bytes >> 20 << 20;
        let lap_bytes = region_bytes.div_ceil(MOST_LAPS).max(LEAST_LAP).next_multiple_of(1 << 20);
        Self {
            schema: Self::SCHEMA.to_owned(),
            id: format!("{}-{:04x}", clock.compact(), number & 0xffff),
            started: clock.started(),
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
            laps: vec![0; usize::try_from(region_bytes.div_ceil(lap_bytes)).unwrap_or(0)],
            flight: None,
            pass: 1,
            lap: 0,
            passes: 0,
            phases: 0,
            sessions: 0,
            ended_well: true,
            boot_id: None,
            elapsed_ns: 0,
            bytes_written: 0,
            bytes_verified: 0,
            findings: Vec::new(),
            findings_dropped: 0,
            tester_fault: false,
            errors: BTreeMap::new(),
            in_memory: None,
            finished: false,
        }
    }

    /// What a target is to a soak, with its file's `st_dev` and `st_ino`.
    pub fn place(target: &Target, file: Option<(u64, u64)>, device: Option<String>) -> Place {
        let kind = if file.is_some() { "file" } else { "block-device" };
        Place { kind: kind.to_owned(), bytes: target.size_bytes, file, device }
    }

    /// Bytes of a lap.
    pub fn region_of(&self, lap: usize) -> Range<u64> {
        let start = lap as u64 * self.lap_bytes;
        start..start.saturating_add(self.lap_bytes).min(self.region_bytes)
    }

    /// From the start to the end of the last lap of which something is known.
    pub fn written(&self) -> Range<u64> {
        let last = self.laps.iter().rposition(|version| *version > 0);
        0..last.map_or(0, |lap| self.region_of(lap).end)
    }

    /// Findings so far.
    pub fn found(&self) -> u64 {
        self.findings.len() as u64 + self.findings_dropped
    }

    /// Whether nothing was wrong.
    pub fn is_clean(&self) -> bool {
        self.found() == 0 && self.errors.is_empty()
    }

    pub(super) fn begin_lap(&mut self) -> usize {
        let lap = self.lap;
        let newest = match self.flight {
            Some(before) if before.lap == lap => before.newest + 1,
            _ => self.laps[lap] + 1,
        };
        self.flight = Some(Flight { lap, newest, looked_at: false });
        lap
    }

    pub(super) fn end_lap(&mut self) {
        if let Some(flight) = self.flight.take() {
            self.laps[flight.lap] = flight.newest;
        }
        self.lap += 1;
    }

    pub(super) fn end_pass(&mut self) {
        self.passes = self.pass;
        (self.pass, self.lap) = (self.pass + 1, 0);
    }

    /// Writes it; durable when this returns.
    ///
    /// # Errors
    /// Whatever keeps the archive from it.
    pub fn save(&self, archive: &Archive) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| Failure::new(FailureKind::Internal, format!("soak {}: {e}", self.id)))?;
        // The first line makes sure that the rest is whole.
        Ok(archive.write_beside(&path(&self.id), format!("{}\n{text}\n", checksum(&text)).as_bytes())?)
    }

    /// The state of this id.
    ///
    /// # Errors
    /// There is none, or it is damaged, or of another version: nothing is guessed.
    pub fn load(archive: &Archive, id: &str) -> Result<Self, Failure> {
        let plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let text = if plain { archive.read_beside(&path(id))? } else { None };
        let Some(text) = text else {
            return Err(Failure::new(FailureKind::Usage, format!("there is no soak '{id}' in this archive"))
                .remedy("narrows soak --resume   goes on with the last one"));
        };
        let refused = |what: &str| {
            Failure::new(FailureKind::Environment, format!("{}: {what}", archive.beside(&path(id)).display()))
                .remedy("what it promised is not known: start the soak anew")
        };
        let (sum, text) = text.split_once('\n').unwrap_or_default();
        if sum != checksum(text.trim_end()) {
            return Err(refused("damaged: its checksum does not fit"));
        }
        let state: Self = serde_json::from_str(text).map_err(|e| refused(&format!("another form ({e})")))?;
        if state.schema != Self::SCHEMA || state.id != id || !state.is_sound() {
            return Err(refused("not a state of this program"));
        }
        Ok(state)
    }

    fn is_sound(&self) -> bool {
        let laps = self.laps.len() as u64;
        self.lap_bytes > 0
            && self.unit_bytes >= 512
            && self.region_bytes.div_ceil(self.lap_bytes) == laps
            && laps > 0
            && self.lap as u64 <= laps
            && self.flight.is_none_or(|f| (f.lap as u64) < laps)
    }

    /// The soak that was started last and is not finished.
    ///
    /// # Errors
    /// There is none.
    pub fn last(archive: &Archive) -> Result<Self, Failure> {
        let directory = archive.beside(DIRECTORY);
        let names =
            std::fs::read_dir(directory).into_iter().flatten().filter_map(|e| e.ok()?.file_name().into_string().ok());
        let mut ids: Vec<String> = names.filter_map(|n| n.strip_suffix(".json").map(str::to_owned)).collect();
        ids.sort_unstable();
        let open = ids.iter().rev().find_map(|id| Self::load(archive, id).ok().filter(|s| !s.finished));
        open.ok_or_else(|| {
            Failure::new(FailureKind::Usage, "there is no soak that could go on")
                .remedy("narrows soak TARGET   starts one")
        })
    }
}

fn path(id: &str) -> String {
    format!("{DIRECTORY}/{id}.json")
}

fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}
