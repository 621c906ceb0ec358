//! A soak: known data are written in passes, read back past the caches, and what is wrong with them is classified; it goes
//! on after a crash, and then looks first at what was promised before.
//!
//! A pass is made of laps, stretches of the target one after the other. Each lap is written, flushed, and read back; at the
//! end of a pass all of it is read once more. What the state promises is one version a lap and the lap in flight, so that
//! it has constant size: it is durable before a lap begins and after its flush.

mod capacity;
mod plan;
mod state;

pub use capacity::{CapacityProbe, capacity, probe_bytes};
pub use state::{DIRECTORY, Place, SoakState};

use crate::{Interrupts, Opened};
use engine::Control;
use model::{DataFault, DataFinding, Evidence, Failure, FailureKind, PhaseRecord, StopCause};
use plan::{Work, phase};
use std::time::{Duration, Instant};
use workload::{Cut, Known};

/// Findings that are kept one by one.
const MOST_FINDINGS: usize = 256;

/// When a soak has done enough.
#[derive(Clone, Copy, Debug)]
pub struct Enough {
    /// Passes, whole ones.
    pub passes: Option<u32>,
    /// Time, all sessions together; it ends with the lap in which that is over.
    pub time: Option<Duration>,
    /// Whether it ends with the first lap that found something.
    pub at_finding: bool,
}

/// What happens while it runs.
#[derive(Clone, Copy, Debug)]
pub enum SoakEvent<'a> {
    /// What was written before the crash is looked at.
    LooksBack,
    /// A lap of a pass has been written and read back.
    Lap(&'a SoakState),
    /// A whole pass has been read once more.
    Pass(&'a SoakState),
    /// This was found.
    Found(&'a DataFinding),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoakEnd {
    /// It has done what was asked.
    Done,
    /// A signal ended it; it can go on.
    Interrupted,
    /// Something was found, and it was to end then.
    Found,
}

/// With what it is carried out.
pub struct Soaking<'a> {
    /// Ends phases, and sees them.
    pub control: &'a Control,
    /// Whether the end was asked for.
    pub interrupts: &'a Interrupts,
    /// Makes the state durable.
    pub keep: &'a dyn Fn(&SoakState) -> Result<(), Failure>,
    /// Hears what happens.
    pub tell: &'a dyn Fn(SoakEvent<'_>),
}

impl Soaking<'_> {
    /// Goes on from the state until it is enough.
    ///
    /// # Errors
    /// Where the target cannot be worked on any more; the state stays, and goes on when it can.
    pub fn run(&self, opened: &mut Opened, state: &mut SoakState, enough: Enough) -> Result<SoakEnd, Failure> {
        let before = Duration::from_nanos(state.elapsed_ns);
        let started = Instant::now();
        let elapsed = || before + started.elapsed();
        let tell = |state: &mut SoakState, event: fn(&SoakState) -> SoakEvent<'_>| {
            state.elapsed_ns = u64::try_from(elapsed().as_nanos()).unwrap_or(u64::MAX);
            (self.tell)(event(state));
        };
        self.look_back(opened, state)?;
        loop {
            if self.interrupts.end() || self.control.stopped() {
                return Ok(SoakEnd::Interrupted);
            }
            let over = enough.time.is_some_and(|time| elapsed() >= time);
            if over || enough.passes.is_some_and(|passes| state.passes >= passes) {
                return Ok(SoakEnd::Done);
            }
            let found = state.found();
            let writes = state.lap < state.laps.len();
            let whole = if writes { self.lap(opened, state)? } else { self.pass(opened, state)? };
            if whole {
                tell(state, if writes { |s| SoakEvent::Lap(s) } else { |s| SoakEvent::Pass(s) });
            }
            (self.keep)(state)?;
            if !whole {
                return Ok(SoakEnd::Interrupted);
            }
            if enough.at_finding && state.found() > found {
                return Ok(SoakEnd::Found);
            }
        }
    }

    /// After a crash: what must be there is there, and nothing else.
    fn look_back(&self, opened: &mut Opened, state: &mut SoakState) -> Result<(), Failure> {
        let boot = opened.environment.boot_id.clone();
        let same_boot = boot.is_some() && boot == state.boot_id;
        let fresh = state.phases == 0;
        let cut = match (state.ended_well, same_boot) {
            (true, _) => Cut::None,
            (false, true) => Cut::Killed,
            (false, false) => Cut::Power,
        };
        opened.rig.recall(&state.known(cut))?;
        // The state has to be there before the first byte.
        (state.boot_id, state.ended_well) = (boot, false);
        state.sessions += 1;
        (self.keep)(state)?;
        if fresh || !state.laps.iter().any(|version| *version > 0) {
            return Ok(());
        }
        (self.tell)(SoakEvent::LooksBack);
        let work = Work { reads: true, region: state.written(), ..Work::of(state) };
        let record = self.carry_out(opened, state, &work)?;
        self.heard(state, &record);
        // What was in flight has been looked at, and owes nothing more.
        if let Some(flight) = &mut state.flight {
            flight.looked_at = true;
        }
        (self.keep)(state)
    }

    /// Writes a lap, flushes it and reads it back; whether it was whole.
    fn lap(&self, opened: &mut Opened, state: &mut SoakState) -> Result<bool, Failure> {
        let lap = state.begin_lap();
        (self.keep)(state)?;
        let work = Work { reads: false, region: state.region_of(lap), ..Work::of(state) };
        let record = self.carry_out(opened, state, &work)?;
        opened.rig.settle()?;
        state.bytes_written += record.bytes;
        self.heard(state, &record);
        if matches!(record.stop, StopCause::Interrupted) || self.control.stopped() {
            return Ok(false);
        }
        if record.stop == StopCause::Failed {
            let errors: Vec<&str> = record.errors.keys().map(String::as_str).collect();
            let what = format!("{}: the target failed ({})", state.target, errors.join(", "));
            return Err(Failure::new(FailureKind::Device, what)
                .remedy(format!("narrows soak --resume {}   goes on when it is there again", state.id)));
        }
        state.end_lap();
        Ok(true)
    }

    /// Reads all of it once more; whether it was whole.
    fn pass(&self, opened: &mut Opened, state: &mut SoakState) -> Result<bool, Failure> {
        let work = Work { reads: true, region: 0..state.region_bytes, ..Work::of(state) };
        let record = self.carry_out(opened, state, &work)?;
        self.heard(state, &record);
        if self.control.stopped() {
            return Ok(false);
        }
        state.end_pass();
        Ok(true)
    }

    fn carry_out(&self, opened: &mut Opened, state: &mut SoakState, work: &Work) -> Result<PhaseRecord, Failure> {
        let phase = phase(opened, work, state.seed ^ state.phases)?;
        state.phases += 1;
        opened.rig.run(&phase, self.control)
    }

    /// Takes over what a phase verified and found.
    fn heard(&self, state: &mut SoakState, record: &PhaseRecord) {
        for (name, count) in &record.errors {
            *state.errors.entry(name.clone()).or_default() += count;
        }
        let Some(verify) = &record.verify else { return };
        state.bytes_verified += verify.bytes_verified;
        if let Some(why) = verify.in_memory_only() {
            state.in_memory = Some(why.to_string());
        }
        state.findings_dropped += verify.findings_dropped;
        for finding in &verify.findings {
            let mut finding = finding.clone();
            finding.evidence.push(Evidence::fact("pass", state.pass, "soak"));
            finding.evidence.push(Evidence::fact("session", state.sessions, "soak"));
            (self.tell)(SoakEvent::Found(&finding));
            if state.findings.len() < MOST_FINDINGS {
                state.findings.push(finding);
            } else {
                state.findings_dropped += 1;
            }
        }
        if verify.tester_faults > 0 {
            state.tester_fault |= verify.findings.iter().any(|f| f.class == DataFault::TesterFault);
        }
    }
}

/// What is known of the data that a state tells of.
impl SoakState {
    fn known(&self, cut: Cut) -> Known {
        let stretch = |(lap, version): (usize, &u32)| {
            let bytes = self.region_of(lap);
            match &self.flight {
                // Of a first version anything may be there; of one that was looked at, what was found.
                Some(f) if f.lap == lap && (*version == 0 || f.looked_at) => (bytes, 0, f.newest),
                Some(f) if f.lap == lap => (bytes, *version, f.newest),
                _ => (bytes, *version, *version),
            }
        };
        Known {
            run_id: self.run_id,
            secret: self.secret,
            unit_bytes: self.unit_bytes,
            stretches: self.laps.iter().enumerate().map(stretch).collect(),
            streams: self.phases,
            cut,
        }
    }
}
