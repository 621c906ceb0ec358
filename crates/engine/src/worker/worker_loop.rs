//! The worker's loop: refill from the source, submit, reap, account; step after step until the stream ends.

use super::depth_search::{DepthSearch, Step};
use super::limits::{
    CLOSING_DRAIN_FACTOR, FailureAction, MAX_CONSECUTIVE_FAILURES, MAX_UNTIMED_OPERATIONS, RETRY_LIMIT_NS, small_batch,
};
use super::min_rate::MinRate;
use super::wake_latency::WakeLatency;
use super::{DataSource, PhaseShared, Steadiness};
use crate::control::Recent;
use crate::recorder::{InFlightOp, Recorder, Tally};
use crate::{Completion, Control, Device, DeviceError, StreamConfig};
use model::{Direction, Ns, PhaseRecord, StopCause};
use std::collections::VecDeque;
use sys::errno::{EAGAIN, EINTR, ENODEV, ENOMEDIUM, ENXIO, ETIME, ETIMEDOUT};
use workload::{Next, OpResult, Request};

/// Why nothing more was refilled, where the source has more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RefillEnd {
    /// The batch or the room is full.
    Full,
    /// The source waits for a completion, or for nothing any more.
    Blocked,
    /// The source has nothing before this moment.
    Until(Ns),
    /// The same, and the time is spent computing.
    Spin(Ns),
}

/// The state of a worker's loop.
pub(super) struct WorkerLoop<'a, D: Device, S> {
    device: &'a mut D,
    source: S,
    settings: &'a StreamConfig,
    barrier: &'a PhaseShared,
    control: &'a Control,
    recorder: Recorder,
    steadiness: Steadiness,
    wake_latency: WakeLatency,
    /// Operations in flight, by their buffer.
    inflight: Vec<InFlightOp<D::Op>>,
    /// Buffers that are not in flight. Taken from the end, so that few are used again and again; from the front where the data
    /// of each are to be old when they are written again.
    free: VecDeque<u32>,
    batch: Vec<D::Op>,
    done: Vec<Completion>,
    /// Operations that are handed over once more.
    resubmit: Vec<D::Op>,
    /// Operations that the next submission has at most, and the most that one had.
    at_once: usize,
    most_at_once: usize,
    started: Ns,
    deadline: Ns,
    stop: Option<StopCause>,
    drain_until: Ns,
    now: Ns,
    /// Whether `now` is the present, but for the handling of the operations in `done`.
    now_is_current: bool,
    consecutive_failures: u32,
    consecutive_empty: u32,
    min_rate: Option<MinRate>,
    /// An operation that took longer ends the stream.
    latency_limit: Ns,
    search: Option<DepthSearch>,
    /// Whether anything looks at single latencies.
    checks_latency: bool,
    /// Buffers that the depth of the search leaves free.
    reserved: usize,
    /// What the barrier's totals have of this worker already.
    reported: Tally,
    /// What this worker adds to the figures of the last interval.
    recent: Recent,
    /// The end of the interval for which progress was last shown.
    shown: Ns,
}

impl<'a, D: Device, S: DataSource<Op = D::Op>> WorkerLoop<'a, D, S> {
    /// Takes all memory, then waits at the barrier for the other workers.
    pub fn new(
        device: &'a mut D,
        source: S,
        settings: &'a StreamConfig,
        barrier: &'a PhaseShared,
        control: &'a Control,
    ) -> Self {
        let depth = settings.depth.max(1);
        let slots = (depth + settings.spare_buffers) as usize;
        let inflight = vec![InFlightOp::default(); slots];
        let free = (0..slots as u32).rev().collect();
        let (batch, resubmit) = (Vec::with_capacity(slots), Vec::with_capacity(slots));
        let done = Vec::with_capacity(slots);
        control.progress.begin();
        let started = barrier.start(|| device.now());
        let recorder = Recorder::of(started, settings).with_feed(control.series.join());
        let begins = started.saturating_add(settings.start_delay_ns);
        let interval_ns = settings.interval_ns;
        let search = settings.limits.latency_target.map(|t| DepthSearch::new(t, depth, interval_ns, begins));
        Self {
            steadiness: Steadiness::new(&settings.stop, &recorder),
            shown: recorder.interval_end(),
            recorder,
            wake_latency: WakeLatency::default(),
            inflight,
            free,
            batch,
            done,
            resubmit,
            at_once: settings.batch_submit.map_or(small_batch(depth as usize), |n| n.max(1) as usize),
            most_at_once: 0,
            started,
            deadline: started.saturating_add(settings.time_limit_ns),
            // Where one of the others could not start, the phase is not what was planned.
            stop: barrier.end_cause(),
            drain_until: Ns::MAX,
            now: started,
            now_is_current: false,
            consecutive_failures: 0,
            consecutive_empty: 0,
            min_rate: settings.limits.least_rate.map(|rate| MinRate::new(rate, begins)),
            latency_limit: settings.limits.max_latency_ns.unwrap_or(Ns::MAX),
            checks_latency: settings.limits.max_latency_ns.is_some() || search.is_some(),
            reserved: slots - search.as_ref().map_or(depth, DepthSearch::depth) as usize,
            search,
            reported: Tally::default(),
            recent: Recent::default(),
            device,
            source,
            settings,
            barrier,
            control,
        }
    }

    /// One step; whether there is another.
    #[inline]
    pub fn step(&mut self) -> Result<bool, DeviceError> {
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
    fn slots(&self) -> usize {
        self.inflight.len()
    }

    #[inline]
    fn in_flight(&self) -> usize {
        self.slots() - self.free.len()
    }

    /// How many more may be in flight.
    #[inline]
    fn room(&self) -> usize {
        self.free.len().saturating_sub(self.reserved)
    }

    /// Asks the source for as much as may be handed over at once.
    #[inline]
    fn refill(&mut self) -> RefillEnd {
        self.batch.clear();
        if self.stop.is_some() {
            return RefillEnd::Blocked;
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
                    if op.sends_data() && self.source.generates() {
                        self.source.prepare(&op, self.device);
                    } else if S::VERIFIES {
                        self.source.on_submit(&op);
                    }
                    self.batch.push(op);
                }
                Next::WaitUntil(moment) => return RefillEnd::Until(moment.min(self.deadline)),
                Next::SpinUntil(moment) => return RefillEnd::Spin(moment.min(self.deadline)),
                Next::WaitForCompletion if !self.batch.is_empty() || self.in_flight() > 0 => return RefillEnd::Blocked,
                // With nothing in flight there is nothing to wait for: the source is at its end.
                Next::WaitForCompletion | Next::Done => {
                    self.stop = Some(StopCause::RegionDone);
                    return RefillEnd::Blocked;
                }
            }
        }
        RefillEnd::Full
    }

    /// Hands the batch over, and what is to be handed over once more.
    #[inline]
    fn submit(&mut self) -> Result<(), DeviceError> {
        if !self.batch.is_empty() {
            let few = self.done.len() + self.batch.len() <= MAX_UNTIMED_OPERATIONS;
            let untimed = self.now_is_current && few && !S::VERIFIES && !self.source.generates();
            let handed = if untimed { self.now } else { self.device.now() };
            if self.in_flight() == self.batch.len() {
                self.recorder.end_idle(handed);
            }
            for op in &self.batch {
                self.inflight[op.buffer() as usize] = InFlightOp::new(*op, handed);
            }
            self.most_at_once = self.most_at_once.max(self.batch.len());
            self.device.submit(&self.batch)?;
        }
        if !self.resubmit.is_empty() {
            self.device.submit(&self.resubmit)?;
            self.resubmit.clear();
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
            let closing = if closes { self.source.closing_op() } else { None };
            let Some((mut op, buffer)) = closing.zip(self.free.pop_back()) else { return Ok(false) };
            op.set_buffer(buffer);
            if S::VERIFIES {
                self.source.on_submit(&op);
            }
            let handed = self.device.now();
            self.recorder.end_idle(handed);
            self.inflight[buffer as usize] = InFlightOp::new(op, handed);
            self.device.submit(&[op])?;
            self.drain_until = handed.saturating_add(self.settings.drain_limit_ns.saturating_mul(CLOSING_DRAIN_FACTOR));
        }
        if self.drain_until == Ns::MAX {
            self.drain_until = self.device.now().saturating_add(self.settings.drain_limit_ns);
        }
        Ok(true)
    }

    /// Takes what has completed, after waiting for it where nothing else is to be done.
    #[inline]
    fn reap(&mut self, refilled: RefillEnd) -> Result<(), DeviceError> {
        let in_flight = self.in_flight();
        // Room that the source could still fill is filled before anything is waited for.
        let mut min = match refilled {
            RefillEnd::Full if self.room() > 0 => 0,
            _ => (self.settings.batch_complete.max(1) as usize).min(in_flight).max(1),
        };
        let limit = if self.stop.is_some() { self.drain_until } else { self.deadline };
        let mut until = limit.min(self.recorder.interval_end());
        let mut slept_until = None;
        let mut spins = matches!(refilled, RefillEnd::Spin(_));
        if let RefillEnd::Until(wake) | RefillEnd::Spin(wake) = refilled
            && wake < self.deadline
            && wake <= until
        {
            let sleep = if spins { Some(wake) } else { self.wake_latency.sleep_until(self.now, wake) };
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
        (self.now, self.now_is_current) = match self.done.last() {
            Some(last) => (last.at_ns, D::STAMPED_ON_RETURN),
            None => (self.device.now(), true),
        };
        if let Some(until) = slept_until
            && self.done.is_empty()
            && self.now >= until
        {
            self.wake_latency.record_wake(until, self.now);
        }
        self.adapt();
        Ok(())
    }

    /// What comes back from the call that handed it over needs no queue kept full: the fewer calls, the better. What comes
    /// later is handed over in few operations a call.
    #[inline]
    fn adapt(&mut self) {
        if self.settings.batch_submit.is_none() && !self.batch.is_empty() {
            let at_once = self.done.len() >= self.batch.len() && self.free.len() + self.done.len() == self.slots();
            self.at_once = if at_once { self.slots() } else { small_batch(self.slots() - self.reserved) };
        }
    }

    /// Records what has completed, and tells those who are concerned.
    #[inline]
    fn account(&mut self) {
        let done = std::mem::take(&mut self.done);
        for completion in &done {
            let flight = self.inflight[completion.buffer as usize];
            match completion.result {
                Ok(bytes) => self.on_success(&flight, completion, bytes),
                Err(errno) => match self.on_failure(&flight, completion.at_ns, errno) {
                    FailureAction::Counted => {}
                    FailureAction::Resubmit => {
                        self.resubmit.push(flight.op);
                        continue;
                    }
                },
            }
            self.free.push_back(completion.buffer);
            let outcome = OpResult { at_ns: completion.at_ns, result: completion.result };
            self.source.on_completion(&flight.op, outcome);
        }
        self.done = done;
    }

    #[inline]
    fn on_success(&mut self, flight: &InFlightOp<D::Op>, completion: &Completion, bytes: u32) {
        self.recorder.record_success(flight, completion.at_ns, bytes);
        let direction = flight.op.direction();
        if direction == Direction::Sync {
            return;
        }
        self.consecutive_failures = 0;
        if self.checks_latency {
            self.check_latency(flight, completion.at_ns);
        }
        if bytes == 0 && flight.op.len() > 0 {
            // The end of a file or device that has become shorter, or of one that is gone.
            self.consecutive_empty = self.consecutive_empty.saturating_add(1);
            if self.stop.is_none() && self.consecutive_empty >= MAX_CONSECUTIVE_FAILURES {
                self.stop = Some(StopCause::Failed);
            }
        } else {
            self.consecutive_empty = 0;
        }
        if S::VERIFIES && direction == Direction::Read {
            let seen = bytes.min(flight.op.len()) as usize;
            let data = &self.device.buffer(completion.buffer)[..seen];
            if !self.source.verify_read(&flight.op, data) && self.stop.is_none() {
                self.stop = Some(StopCause::Failed);
                self.barrier.end(StopCause::Failed);
            }
        }
    }

    /// A latency that something looks at.
    #[inline(never)]
    fn check_latency(&mut self, flight: &InFlightOp<D::Op>, at: Ns) {
        let latency = at.saturating_sub(flight.start_ns);
        if let Some(search) = &mut self.search {
            search.on_completion(flight.handed_ns, latency);
        }
        if latency > self.latency_limit && self.stop.is_none() {
            self.fail_stream(ETIMEDOUT);
        }
    }

    /// The stream does not keep to what its plan demands.
    #[cold]
    fn fail_stream(&mut self, errno: i32) {
        self.recorder.record_failure(self.now, self.now, errno);
        self.stop = Some(StopCause::Failed);
    }

    /// Counts a failure, unless the operation is to be submitted again.
    #[cold]
    fn on_failure(&mut self, flight: &InFlightOp<D::Op>, at: Ns, errno: i32) -> FailureAction {
        if errno == EAGAIN && self.settings.would_block_is_an_answer {
            self.recorder.record_failure(at, flight.handed_ns, errno);
            return FailureAction::Counted;
        }
        let lasts = at.saturating_sub(flight.handed_ns) >= RETRY_LIMIT_NS;
        if matches!(errno, EINTR | EAGAIN) && self.stop.is_none() && !lasts {
            return FailureAction::Resubmit;
        }
        self.recorder.record_failure(at, flight.handed_ns, errno);
        self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        let gone = matches!(errno, ENXIO | ENODEV | ENOMEDIUM);
        let sync = flight.op.direction() == Direction::Sync;
        // A failed sync while draining means that what was written may not be there.
        if self.settings.stop_on_error && (self.stop.is_none() || sync) {
            self.stop = Some(StopCause::Failed);
            self.barrier.end(StopCause::Failed);
        } else if self.stop.is_none() && (gone || self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES) {
            // The others may have files that answer: they find out for themselves.
            self.stop = Some(StopCause::Failed);
        }
        FailureAction::Counted
    }

    /// Ends the intervals that are over, and shows what they had. Whether there is another turn.
    #[inline]
    fn end_of_interval(&mut self) -> bool {
        self.recorder.roll(self.now);
        if self.recorder.interval_end() != self.shown {
            self.publish_progress();
        }
        if self.stop.is_some() && self.now >= self.drain_until {
            // The device does not answer. What is out stays out; the device keeps its buffers.
            for _ in self.free.len()..self.slots() {
                self.recorder.record_failure(self.now, self.now, ETIMEDOUT);
            }
            return false;
        }
        true
    }

    #[cold]
    fn publish_progress(&mut self) {
        self.shown = self.recorder.interval_end();
        self.now_is_current = false;
        let own = self.recorder.tally();
        let more = own.since(self.reported);
        let all = self.barrier.advance(self.now, self.started, more);
        let elapsed = self.now.saturating_sub(self.started);
        self.control.progress.advance(all.operations, all.bytes, elapsed);
        let latest = Recent {
            operations: more.operations,
            latency_sum_ns: more.latency_sum_ns,
            in_flight: self.in_flight() as u64,
        };
        self.control.progress.replace(self.recent, latest);
        (self.reported, self.recent) = (own, latest);
        if self.stop.is_none() {
            self.stop = self.steadiness.ends(&self.recorder, elapsed);
        }
        if self.stop.is_none() && self.min_rate.as_mut().is_some_and(|min_rate| min_rate.is_below(self.now, own)) {
            self.fail_stream(ETIME);
        }
        if self.stop.is_none() && self.search.as_ref().is_some_and(|search| search.is_over(self.now)) {
            self.next_search_window();
        }
        self.stop = self.stop.or_else(|| self.barrier.ended_for(self.settings.limits.exit_group));
    }

    /// A window of the search for a depth is over: the next one's depth.
    fn next_search_window(&mut self) {
        let Some(search) = &mut self.search else { return };
        // What is in flight longer than it may take is late already, whenever it comes.
        let flies = |(buffer, _): &(usize, &InFlightOp<D::Op>)| !self.free.contains(&(*buffer as u32));
        let overdue =
            |(_, flight): &(usize, &InFlightOp<D::Op>)| search.is_overdue(flight.handed_ns, flight.start_ns, self.now);
        let overdue = self.inflight.iter().enumerate().filter(flies).filter(overdue).count() as u64;
        match search.judge(self.now, overdue) {
            Step::Next => {}
            Step::Counts => self.recorder.restart(),
            Step::Ends => self.stop = Some(StopCause::DepthFound),
        }
        self.reserved = self.inflight.len() - search.depth() as usize;
    }

    /// The record, but for the CPU that was used.
    pub fn finish(self) -> PhaseRecord {
        self.control.progress.replace(self.recent, Recent::default());
        let settings = self.settings;
        let slots = self.settings.depth.max(1);
        let mut record = self.recorder.finish(self.now, self.stop.unwrap_or(StopCause::TimeUsed));
        record.engine.batch_submit = settings.batch_submit.unwrap_or(self.most_at_once as u32).clamp(1, slots);
        record.engine.batch_complete = settings.batch_complete.clamp(1, slots);
        let search = self.search.map(DepthSearch::into_record);
        if search.as_ref().is_some_and(|search| search.depth > Some(0)) {
            record.warmup.rule.push_str("; then until the depth was found");
        }
        record.streams.iter_mut().for_each(|own| own.depth_search.clone_from(&search));
        record
    }
}
