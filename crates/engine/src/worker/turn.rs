//! One turn of the loop: refill, submit, reap, account.

use super::depth_search::{DepthSearch, Step};
use super::floor::Floor;
use super::limits::{CLOSING_PATIENCE, HOPELESS_FAILURES, RETRY_LIMIT_NS, UNTIMED_OPERATIONS, few};
use super::waking::Waking;
use super::{Data, LoopSettings, Part, Steadiness};
use crate::control::Recent;
use crate::recorder::{Flight, Recorder, Tally};
use crate::{Completion, Control, Device, DeviceError};
use model::{Direction, Ns, PhaseRecord, StopCause};
use std::collections::VecDeque;
use sys::errno::{EAGAIN, EINTR, ENODEV, ENOMEDIUM, ENXIO, ETIME, ETIMEDOUT};
use workload::{Next, OpResult, Request, Source};

/// Why nothing more was refilled, where the source has more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refilled {
    /// The batch or the room is full.
    Full,
    /// The source waits for a completion, or for nothing any more.
    Blocked,
    /// The source has nothing before this moment.
    Until(Ns),
    /// The same, and the time is spent computing.
    Spin(Ns),
}

/// A worker's loop.
pub(super) struct Turns<'a, D: Device, S, C> {
    device: &'a mut D,
    source: &'a mut S,
    data: &'a mut C,
    settings: &'a LoopSettings,
    part: &'a Part<'a>,
    control: &'a Control,
    recorder: Recorder,
    steadiness: Steadiness,
    waking: Waking,
    /// Operations in flight, by their buffer.
    flights: Vec<Flight<D::Op>>,
    /// Buffers that are not in flight. Taken from the end, so that few are used again and again; from the front where the data
    /// of each are to be old when they are written again.
    free: VecDeque<u32>,
    batch: Vec<D::Op>,
    done: Vec<Completion>,
    /// Operations that are handed over once more.
    again: Vec<D::Op>,
    /// Operations that the next submission has at most, and the most that one had.
    at_once: usize,
    most_at_once: usize,
    started: Ns,
    deadline: Ns,
    stop: Option<StopCause>,
    drain_until: Ns,
    now: Ns,
    /// Whether `now` is the present, but for the handling of the operations in `done`.
    fresh: bool,
    failures_in_a_row: u32,
    nothing_in_a_row: u32,
    floor: Option<Floor>,
    /// An operation that took longer ends the stream.
    latency_limit: Ns,
    search: Option<DepthSearch>,
    /// Whether anything looks at single latencies.
    watches: bool,
    /// Buffers that the depth of the search leaves free.
    held_back: usize,
    /// What the crew knows of.
    told: Tally,
    /// What this worker adds to the figures of the last interval.
    recent: Recent,
    /// The end of the interval for which progress was last shown.
    shown: Ns,
}

impl<'a, D: Device, S: Source<Op = D::Op>, C: Data<D::Op>> Turns<'a, D, S, C> {
    /// Takes all memory, then waits for the others of the crew.
    pub fn begin(
        device: &'a mut D,
        source: &'a mut S,
        data: &'a mut C,
        settings: &'a LoopSettings,
        part: &'a Part<'a>,
        control: &'a Control,
    ) -> Self {
        let depth = settings.depth.max(1);
        let places = (depth + settings.spare_buffers) as usize;
        let flights = vec![Flight::default(); places];
        let free = (0..places as u32).rev().collect();
        let (batch, again) = (Vec::with_capacity(places), Vec::with_capacity(places));
        let done = Vec::with_capacity(places);
        control.progress.begin();
        let started = part.crew.start(|| device.now());
        let recorder = Recorder::new(started, settings.time_limit_ns, settings.interval_ns, &settings.warmup)
            .telling_apart(&part.directions, part.closes_rounds, part.pause_ns)
            .handing_on(control.series.join());
        let begins = started.saturating_add(part.start_delay_ns);
        let interval_ns = settings.interval_ns;
        let search = part.limits.latency_target.map(|t| DepthSearch::new(t, depth, interval_ns, begins));
        Self {
            steadiness: Steadiness::new(&settings.stop, &recorder),
            shown: recorder.interval_end(),
            recorder,
            waking: Waking::default(),
            flights,
            free,
            batch,
            done,
            again,
            at_once: settings.batch_submit.map_or(few(depth as usize), |n| n.max(1) as usize),
            most_at_once: 0,
            started,
            deadline: started.saturating_add(settings.time_limit_ns),
            // Where one of the others could not start, the phase is not what was planned.
            stop: part.crew.ended(),
            drain_until: Ns::MAX,
            now: started,
            fresh: false,
            failures_in_a_row: 0,
            nothing_in_a_row: 0,
            floor: part.limits.least_rate.map(|rate| Floor::new(rate, begins)),
            latency_limit: part.limits.max_latency_ns.unwrap_or(Ns::MAX),
            watches: part.limits.max_latency_ns.is_some() || search.is_some(),
            held_back: places - search.as_ref().map_or(depth, DepthSearch::depth) as usize,
            search,
            told: Tally::default(),
            recent: Recent::default(),
            device,
            source,
            data,
            settings,
            part,
            control,
        }
    }

    /// One turn; whether there is another.
    #[inline]
    pub fn turn(&mut self) -> Result<bool, DeviceError> {
        if self.stop.is_none() {
            if self.now >= self.deadline {
                self.stop = Some(StopCause::TimeUsed);
            } else if self.control.stopped() {
                self.stop = Some(StopCause::Interrupted);
            }
        }
        let refilled = self.refill();
        self.submit()?;
        if self.stop.is_some() && !self.drain()? {
            return Ok(false);
        }
        self.reap(refilled)?;
        self.account();
        Ok(self.end_of_interval())
    }

    #[inline]
    fn places(&self) -> usize {
        self.flights.len()
    }

    #[inline]
    fn in_flight(&self) -> usize {
        self.places() - self.free.len()
    }

    /// How many more may be in flight.
    #[inline]
    fn room(&self) -> usize {
        self.free.len().saturating_sub(self.held_back)
    }

    /// Asks the source for as much as may be handed over at once.
    #[inline]
    fn refill(&mut self) -> Refilled {
        self.batch.clear();
        if self.stop.is_some() {
            return Refilled::Blocked;
        }
        while self.batch.len() < self.at_once
            && self.room() > 0
            && let Some(&buffer) = if self.settings.spare_buffers > 0 { self.free.front() } else { self.free.back() }
        {
            match self.source.next(self.now) {
                Next::Op(mut op) => {
                    if self.settings.spare_buffers > 0 {
                        self.free.pop_front()
                    } else {
                        self.free.pop_back()
                    };
                    op.set_buffer(buffer);
                    if op.sends_data() && self.data.makes() {
                        self.data.make(&op, &mut self.device.buffer(buffer)[..op.len() as usize]);
                    } else if C::LOOKS {
                        self.data.handed(&op);
                    }
                    self.batch.push(op);
                }
                Next::WaitUntil(moment) => return Refilled::Until(moment.min(self.deadline)),
                Next::SpinUntil(moment) => return Refilled::Spin(moment.min(self.deadline)),
                Next::WaitForCompletion if !self.batch.is_empty() || self.in_flight() > 0 => return Refilled::Blocked,
                // With nothing in flight there is nothing to wait for: the source is at its end.
                Next::WaitForCompletion | Next::Done => {
                    self.stop = Some(StopCause::RegionDone);
                    return Refilled::Blocked;
                }
            }
        }
        Refilled::Full
    }

    /// Hands the batch over, and what is to be handed over once more.
    #[inline]
    fn submit(&mut self) -> Result<(), DeviceError> {
        if !self.batch.is_empty() {
            let few = self.done.len() + self.batch.len() <= UNTIMED_OPERATIONS;
            let untimed = self.fresh && few && !C::LOOKS && !self.data.makes();
            let handed = if untimed { self.now } else { self.device.now() };
            if self.in_flight() == self.batch.len() {
                self.recorder.resumed(handed);
            }
            for op in &self.batch {
                self.flights[op.buffer() as usize] = Flight::new(*op, handed);
            }
            self.most_at_once = self.most_at_once.max(self.batch.len());
            self.device.submit(&self.batch)?;
        }
        if !self.again.is_empty() {
            self.device.submit(&self.again)?;
            self.again.clear();
        }
        Ok(())
    }

    /// The end has begun: once nothing is in flight, what closes the stream is handed over. Whether there is something to
    /// wait for.
    #[cold]
    fn drain(&mut self) -> Result<bool, DeviceError> {
        if self.in_flight() == 0 {
            // What was written is made durable where the plan says so, whatever ended the stream but a failure.
            let closes = !matches!(self.stop, Some(StopCause::Failed | StopCause::Interrupted));
            let closing = if closes { self.source.closing() } else { None };
            let Some((mut op, buffer)) = closing.zip(self.free.pop_back()) else { return Ok(false) };
            op.set_buffer(buffer);
            if C::LOOKS {
                self.data.handed(&op);
            }
            let handed = self.device.now();
            self.recorder.resumed(handed);
            self.flights[buffer as usize] = Flight::new(op, handed);
            self.device.submit(&[op])?;
            self.drain_until = handed.saturating_add(self.settings.drain_limit_ns.saturating_mul(CLOSING_PATIENCE));
        }
        if self.drain_until == Ns::MAX {
            self.drain_until = self.device.now().saturating_add(self.settings.drain_limit_ns);
        }
        Ok(true)
    }

    /// Takes what has completed, after waiting for it where nothing else is to be done.
    #[inline]
    fn reap(&mut self, refilled: Refilled) -> Result<(), DeviceError> {
        let in_flight = self.in_flight();
        // Room that the source could still fill is filled before anything is waited for.
        let mut min = match refilled {
            Refilled::Full if self.room() > 0 => 0,
            _ => (self.settings.batch_complete.max(1) as usize).min(in_flight).max(1),
        };
        let limit = if self.stop.is_some() { self.drain_until } else { self.deadline };
        let mut until = limit.min(self.recorder.interval_end());
        let mut slept_until = None;
        let mut spins = matches!(refilled, Refilled::Spin(_));
        if let Refilled::Until(wake) | Refilled::Spin(wake) = refilled
            && wake < self.deadline
            && wake <= until
        {
            let sleep = if spins { Some(wake) } else { self.waking.sleep_until(self.now, wake) };
            match sleep {
                Some(early) => until = early,
                None if in_flight == 0 => (until, spins) = (wake, true),
                None => (until, min) = (wake, 0),
            }
            slept_until = (!spins && min > 0).then_some(until);
        }
        self.done.clear();
        if spins && in_flight == 0 {
            self.device.spin_until(until);
        } else {
            self.device.reap(min, until, &mut self.done)?;
        }
        (self.now, self.fresh) = match self.done.last() {
            Some(last) => (last.at_ns, D::STAMPED_ON_RETURN),
            None => (self.device.now(), true),
        };
        if let Some(until) = slept_until
            && self.done.is_empty()
            && self.now >= until
        {
            self.waking.woke(until, self.now);
        }
        self.adapt();
        Ok(())
    }

    /// What comes back from the call that handed it over needs no queue kept full: the fewer calls, the better. What comes
    /// later is handed over in few operations a call.
    #[inline]
    fn adapt(&mut self) {
        if self.settings.batch_submit.is_none() && !self.batch.is_empty() {
            let at_once = self.done.len() >= self.batch.len() && self.free.len() + self.done.len() == self.places();
            self.at_once = if at_once { self.places() } else { few(self.places() - self.held_back) };
        }
    }

    /// Records what has completed, and tells those who are concerned.
    #[inline]
    fn account(&mut self) {
        let done = std::mem::take(&mut self.done);
        for completion in &done {
            let flight = self.flights[completion.buffer as usize];
            match completion.result {
                Ok(bytes) => self.succeeded(&flight, completion, bytes),
                Err(errno) if self.failed(&flight, completion.at_ns, errno) => {}
                Err(_) => {
                    self.again.push(flight.op);
                    continue;
                }
            }
            self.free.push_back(completion.buffer);
            let outcome = OpResult { at_ns: completion.at_ns, result: completion.result };
            if flight.op.direction() != Direction::Read || (C::LOOKS && completion.result.is_err()) {
                self.data.ended(&flight.op, outcome);
            }
            self.source.completed(&flight.op, outcome);
        }
        self.done = done;
    }

    #[inline]
    fn succeeded(&mut self, flight: &Flight<D::Op>, completion: &Completion, bytes: u32) {
        self.recorder.succeeded(flight, completion.at_ns, bytes);
        let direction = flight.op.direction();
        if direction == Direction::Sync {
            return;
        }
        self.failures_in_a_row = 0;
        if self.watches {
            self.watch(flight, completion.at_ns);
        }
        if bytes == 0 && flight.op.len() > 0 {
            // The end of a file or device that has become shorter, or of one that is gone.
            self.nothing_in_a_row = self.nothing_in_a_row.saturating_add(1);
            if self.stop.is_none() && self.nothing_in_a_row >= HOPELESS_FAILURES {
                self.stop = Some(StopCause::Failed);
            }
        } else {
            self.nothing_in_a_row = 0;
        }
        if C::LOOKS && direction == Direction::Read {
            let seen = bytes.min(flight.op.len()) as usize;
            if !self.data.look(&flight.op, &self.device.buffer(completion.buffer)[..seen]) && self.stop.is_none() {
                self.stop = Some(StopCause::Failed);
                self.part.crew.end(StopCause::Failed);
            }
        }
    }

    /// A latency that something looks at.
    #[inline(never)]
    fn watch(&mut self, flight: &Flight<D::Op>, at: Ns) {
        let latency = at.saturating_sub(flight.start_ns);
        if let Some(search) = &mut self.search {
            search.saw(flight.handed_ns, latency);
        }
        if latency > self.latency_limit && self.stop.is_none() {
            self.end_with(ETIMEDOUT);
        }
    }

    /// The stream does not keep to what its plan demands.
    #[cold]
    fn end_with(&mut self, errno: i32) {
        self.recorder.failed(self.now, self.now, errno);
        self.stop = Some(StopCause::Failed);
    }

    /// Whether the failure counts; else the operation is handed over once more.
    #[cold]
    fn failed(&mut self, flight: &Flight<D::Op>, at: Ns, errno: i32) -> bool {
        if errno == EAGAIN && self.part.would_block_is_an_answer {
            self.recorder.failed(at, flight.handed_ns, errno);
            return true;
        }
        let lasts = at.saturating_sub(flight.handed_ns) >= RETRY_LIMIT_NS;
        if matches!(errno, EINTR | EAGAIN) && self.stop.is_none() && !lasts {
            return false;
        }
        self.recorder.failed(at, flight.handed_ns, errno);
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        let gone = matches!(errno, ENXIO | ENODEV | ENOMEDIUM);
        let sync = flight.op.direction() == Direction::Sync;
        // A failed sync while draining means that what was written may not be there.
        if self.settings.stop_on_error && (self.stop.is_none() || sync) {
            self.stop = Some(StopCause::Failed);
            self.part.crew.end(StopCause::Failed);
        } else if self.stop.is_none() && (gone || self.failures_in_a_row >= HOPELESS_FAILURES) {
            // The others may have files that answer: they find out for themselves.
            self.stop = Some(StopCause::Failed);
        }
        true
    }

    /// Ends the intervals that are over, and shows what they had. Whether there is another turn.
    #[inline]
    fn end_of_interval(&mut self) -> bool {
        self.recorder.roll(self.now);
        if self.recorder.interval_end() != self.shown {
            self.show();
        }
        if self.stop.is_some() && self.now >= self.drain_until {
            // The device does not answer. What is out stays out; the device keeps its buffers.
            for _ in self.free.len()..self.places() {
                self.recorder.failed(self.now, self.now, ETIMEDOUT);
            }
            return false;
        }
        true
    }

    #[cold]
    fn show(&mut self) {
        self.shown = self.recorder.interval_end();
        self.fresh = false;
        let own = self.recorder.tally();
        let more = own.since(self.told);
        let all = self.part.crew.advance(self.now, self.started, more);
        let elapsed = self.now.saturating_sub(self.started);
        self.control.progress.advance(all.operations, all.bytes, elapsed);
        let latest = Recent {
            operations: more.operations,
            latency_sum_ns: more.latency_sum_ns,
            in_flight: self.in_flight() as u64,
        };
        self.control.progress.replace(self.recent, latest);
        (self.told, self.recent) = (own, latest);
        if self.stop.is_none() {
            self.stop = self.steadiness.ends(&self.recorder, elapsed);
        }
        if self.stop.is_none() && self.floor.as_mut().is_some_and(|floor| floor.is_below(self.now, own)) {
            self.end_with(ETIME);
        }
        if self.stop.is_none() && self.search.as_ref().is_some_and(|search| search.is_over(self.now)) {
            self.search_on();
        }
        self.stop = self.stop.or_else(|| self.part.crew.ended_for(self.part.limits.exit_group));
    }

    /// A window of the search for a depth is over: the next one's depth.
    fn search_on(&mut self) {
        let Some(search) = &mut self.search else { return };
        // What is in flight longer than it may take is late already, whenever it comes.
        let flies = |(buffer, _): &(usize, &Flight<D::Op>)| !self.free.contains(&(*buffer as u32));
        let overdue =
            |(_, flight): &(usize, &Flight<D::Op>)| search.is_overdue(flight.handed_ns, flight.start_ns, self.now);
        let overdue = self.flights.iter().enumerate().filter(flies).filter(overdue).count() as u64;
        match search.judge(self.now, overdue) {
            Step::Next => {}
            Step::Counts => self.recorder.restart(),
            Step::Ends => self.stop = Some(StopCause::DepthFound),
        }
        self.held_back = self.flights.len() - search.depth() as usize;
    }

    /// The record, but for the CPU that was used.
    pub fn finish(self) -> PhaseRecord {
        self.control.progress.replace(self.recent, Recent::default());
        let (settings, places) = (self.settings, self.settings.depth.max(1));
        let mut record = self.recorder.finish(self.now, self.stop.unwrap_or(StopCause::TimeUsed));
        record.engine.batch_submit = settings.batch_submit.unwrap_or(self.most_at_once as u32).clamp(1, places);
        record.engine.batch_complete = settings.batch_complete.clamp(1, places);
        let search = self.search.map(DepthSearch::into_record);
        if search.as_ref().is_some_and(|search| search.depth > Some(0)) {
            record.warmup.rule.push_str("; then until the depth was found");
        }
        record.streams.iter_mut().for_each(|own| own.depth_search.clone_from(&search));
        record
    }
}
