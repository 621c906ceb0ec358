//! With what a soak is carried out, and its course: laps, passes, what is found, and how it ends.

use crate::concurrent_reads::ConcurrentReads;
use crate::machine::Machine;
use crate::plan::{Work, phase};
use crate::scrub::{self, Scrubs};
use crate::{SoakState, StopCriteria};
use archive::Archive;
use conduct::{Interrupts, Opened};
use engine::Control;
use model::{DataFinding, Direction, Evidence, Failure, PhaseRecord, StopCause, TargetKind};
use std::ops::Range;
use std::time::Instant;

/// Passes after which a fault that has not come is not waited for: each kind of pass twice.
const MOST_FAULT_PASSES: u32 = 8;

/// What happens while it runs.
#[derive(Clone, Copy, Debug)]
pub enum SoakEvent<'a> {
    /// What was written before the crash is looked at.
    ReadsBack,
    /// A lap of a pass has been written and read back.
    Lap(&'a SoakState),
    /// A whole pass has been read once more.
    Pass(&'a SoakState),
    /// The kernel warned of something.
    Kernel(&'a SoakState),
    /// The file system checks all that it holds.
    Scrubs,
    Found(&'a DataFinding),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoakEnd {
    /// It has done what was asked.
    Done,
    /// A signal ended it; it can go on.
    Interrupted,
    /// Something was wrong, and it was to end then.
    Found,
}

model::names! { SoakEnd { Done = "done", Interrupted = "interrupted", Found = "found" } }

/// Keeps a state; it is durable when this returns.
pub type SaveState<'a> = dyn Fn(&SoakState) -> Result<(), Failure> + 'a;

/// With what it is carried out.
pub struct SoakContext<'a> {
    /// Ends phases, and sees them.
    pub control: &'a Control,
    /// Whether the end was asked for.
    pub interrupts: &'a Interrupts,
    /// Where the state is kept, and the bytes of what is wrong.
    pub archive: &'a Archive,
    /// Keeps it elsewhere, too.
    pub witness: Option<&'a SaveState<'a>>,
    /// Whether the file system is to check all that it holds at the end, where it can.
    pub scrubs: bool,
    /// Hears what happens.
    pub tell: &'a dyn Fn(SoakEvent<'_>),
}

impl SoakContext<'_> {
    /// Goes on from the state until it is enough.
    ///
    /// # Errors
    /// Where the target cannot be worked on any more; the state stays, and goes on when it can.
    pub fn run(&self, opened: &mut Opened, state: &mut SoakState) -> Result<SoakEnd, Failure> {
        let (before, started) = (state.elapsed_ns, Instant::now());
        // A simulated device has a time of its own.
        let simulated = opened.target.kind == TargetKind::Sim;
        let repeats = state.repeats;
        if repeats {
            match self.repeat(opened, state)? {
                Some(again) => *state = again,
                None => return Ok(SoakEnd::Interrupted),
            }
        }
        let before = if repeats { 0 } else { before };
        let elapsed = |state: &SoakState| {
            let here = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
            before.saturating_add(if simulated { state.device_ns } else { here })
        };
        let mut machine = Machine::listen(opened, state);
        let mut wrong = state.wrong();
        let mut whole = self.read_back(opened, state)?;
        let ended = loop {
            if state.enough.at_finding && state.wrong() > wrong {
                break SoakEnd::Found;
            }
            wrong = state.wrong();
            if !whole || self.interrupts.end() || self.control.stopped() {
                break SoakEnd::Interrupted;
            }
            let StopCriteria { passes, time_ns, with_faults, .. } = state.enough;
            let goes_on = with_faults && state.passes < MOST_FAULT_PASSES && !opened.rig.pending_faults().is_empty();
            if time_ns.is_some_and(|ns| elapsed(state) >= ns) || passes.is_some_and(|n| state.passes >= n) && !goes_on {
                break SoakEnd::Done;
            }
            let writes = state.lap < state.laps.len();
            let done = if writes { self.lap(opened, state) } else { self.pass(opened, state) };
            state.elapsed_ns = elapsed(state);
            if machine.poll_kernel_log(state) > 0 {
                (self.tell)(SoakEvent::Kernel(state));
            }
            whole = done?;
            if !writes {
                machine.count(state);
            }
            if whole {
                (self.tell)(if writes { SoakEvent::Lap(state) } else { SoakEvent::Pass(state) });
            }
            self.keep(state)?;
        };
        let wanted = self.scrubs && ended != SoakEnd::Interrupted;
        if let Some(can) = wanted.then(|| Scrubs::at(&state.path)).flatten() {
            (self.tell)(SoakEvent::Scrubs);
            state.scrub = Some(scrub::scrub(&can, self.control));
        }
        machine.count(state);
        machine.poll_kernel_log(state);
        // Nothing is in flight, and what was written is flushed. After an error that is not known.
        state.running = false;
        Ok(ended)
    }

    /// What is promised counts once it is durable wherever it is to be kept.
    fn keep(&self, state: &SoakState) -> Result<(), Failure> {
        if state.repeats {
            return Ok(());
        }
        state.save(self.archive)?;
        self.witness.map_or(Ok(()), |keep| keep(state))
    }

    /// What earlier sessions promised must be there, and nothing else; whether all of it was looked at.
    pub(crate) fn read_back(&self, opened: &mut Opened, state: &mut SoakState) -> Result<bool, Failure> {
        let mut begun = state.clone();
        begun.begin_session(opened.environment.boot_id.clone());
        opened.rig.remember_known(&begun.known())?;
        *state = begun;
        // The state has to be there before the first byte.
        self.keep(state)?;
        if !state.written().is_empty() {
            (self.tell)(SoakEvent::ReadsBack);
            if !self.reads(opened, state, state.written())? {
                return Ok(false);
            }
        }
        state.mark_read_back();
        self.keep(state)?;
        Ok(true)
    }

    /// Writes a lap, flushes it and reads it back; whether it was whole.
    pub(crate) fn lap(&self, opened: &mut Opened, state: &mut SoakState) -> Result<bool, Failure> {
        let lap = state.begin_lap();
        self.keep(state)?;
        let work = Work { reads: false, region: state.region_of(lap), ..Work::of(state) };
        let record = self.with_concurrent_reads(opened, state, &work)?;
        let written = bytes_written(&record);
        state.bytes_written += written;
        // An error of the flush is among them: it is an operation of the phase. One of a flush after it says that something is
        // gone, and not what.
        let settled = opened.rig.flush().is_ok();
        if !settled {
            *state.errors.entry("fsync".to_owned()).or_default() += 1;
        }
        let failed = !settled || record.stop == StopCause::Failed || !record.errors.is_empty();
        // One that was only broken off stays in flight: each of its sectors holds the version before or the new one.
        if failed {
            state.mark_contents_unknown(lap);
        }
        let whole = self.is_whole(state, &record, written)?;
        if whole {
            state.times.lap(&record);
            state.end_lap(!failed && written == work.bytes_written());
        }
        Ok(whole)
    }

    /// Carries out writes, beside reads where they were asked for.
    fn with_concurrent_reads(
        &self,
        opened: &mut Opened,
        state: &mut SoakState,
        work: &Work,
    ) -> Result<PhaseRecord, Failure> {
        if !state.busy {
            return self.carry_out(opened, state, work);
        }
        let busy = ConcurrentReads::open(&state.path, opened.object).map_err(|why| {
            let what = format!("{}: --busy: cannot be read past the page cache: {why}", state.path.display());
            Failure::environment(what)
        })?;
        let (region, seed) = (0..state.region_bytes, state.seed ^ state.phases);
        let (record, bytes) = busy.run_with_reads(region, seed, || self.carry_out(opened, state, work));
        state.bytes_read_beside += bytes;
        record
    }

    /// Reads all of it once more; whether it was whole.
    pub(crate) fn pass(&self, opened: &mut Opened, state: &mut SoakState) -> Result<bool, Failure> {
        let whole = self.reads(opened, state, 0..state.region_bytes)?;
        if whole {
            state.end_pass();
        }
        Ok(whole)
    }

    /// Reads and looks at a part of the target; whether at all of it.
    fn reads(&self, opened: &mut Opened, state: &mut SoakState, region: Range<u64>) -> Result<bool, Failure> {
        let work = Work { reads: true, region, ..Work::of(state) };
        let record = self.carry_out(opened, state, &work)?;
        self.is_whole(state, &record, record.bytes)
    }

    /// Carries a phase out, and takes over what it found.
    fn carry_out(&self, opened: &mut Opened, state: &mut SoakState, work: &Work) -> Result<PhaseRecord, Failure> {
        let phase = phase(opened, work, state.seed ^ state.phases)?;
        state.phases += 1;
        let record = opened.rig.run(&phase, self.control)?;
        state.device_ns = state.device_ns.max(record.ended_ns);
        self.take_over(state, &record);
        Ok(record)
    }

    /// Whether a phase did all that it was to do; an error where the target answers no more, or where of all that was tried nothing
    /// succeeded: it is gone, or read-only.
    fn is_whole(&self, state: &SoakState, record: &PhaseRecord, bytes_done: u64) -> Result<bool, Failure> {
        if record.stop == StopCause::Failed || bytes_done == 0 && !record.errors.is_empty() {
            let errors: Vec<&str> = record.errors.keys().map(String::as_str).collect();
            let what = format!("{}: the target failed ({})", state.target, errors.join(", "));
            return Err(Failure::device(what)
                .remedy(format!("narrows soak --resume {} continues when it is there again", state.id)));
        }
        Ok(record.stop != StopCause::Interrupted && !self.control.stopped())
    }

    /// Takes over what a phase verified and found.
    fn take_over(&self, state: &mut SoakState, record: &PhaseRecord) {
        for (name, count) in &record.errors {
            *state.errors.entry(name.clone()).or_default() += count;
        }
        let Some(verify) = &record.verify else { return };
        state.bytes_verified += verify.bytes_verified;
        if let Some(why) = verify.in_memory_only() {
            state.in_memory = Some(why.to_string());
        }
        state.findings_dropped += verify.findings_dropped;
        state.tester_fault |= verify.tester_faults > 0;
        let new = verify.findings.iter().filter(|finding| state.is_new(finding)).cloned().collect();
        for mut finding in joined(new) {
            finding.evidence.push(Evidence::fact("pass", state.pass, "soak"));
            finding.evidence.push(Evidence::fact("session", state.sessions, "soak"));
            // That they cannot be kept is no reason to find nothing more.
            if let Ok(Some(path)) = state.keep_bytes(self.archive, &finding) {
                finding.evidence.push(Evidence::fact("bytes kept in", path.to_string_lossy(), "soak"));
            }
            finding.bytes = None;
            (self.tell)(SoakEvent::Found(&finding));
            state.keep(finding);
        }
    }
}

/// What happened to places one behind the other in the same way is one finding; its evidence is that of the first.
fn joined(findings: Vec<DataFinding>) -> Vec<DataFinding> {
    let mut all: Vec<DataFinding> = Vec::new();
    for finding in findings {
        let what = |f: &DataFinding| (f.class, f.expected_generation, f.found_generation);
        match all.last_mut() {
            Some(last) if last.lba + last.sectors == finding.lba && what(last) == what(&finding) => {
                last.sectors += finding.sectors;
            }
            _ => all.push(finding),
        }
    }
    all
}

/// What a phase of writes wrote: without what it trimmed.
fn bytes_written(record: &PhaseRecord) -> u64 {
    let mut directions = record.streams.iter().flat_map(|s| &s.directions).peekable();
    match directions.peek() {
        None => record.bytes,
        Some(_) => directions.filter(|d| d.direction == Direction::Write).map(|d| d.bytes).sum(),
    }
}
