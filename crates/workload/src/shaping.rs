//! What holds a stream back or ends it: rates, pauses, a late start, limits.

use crate::Next;
use crate::flow::FlowShare;
use crate::pace::Pace;
use crate::random::{PACE, Random};
use model::{Limits, Ns, Operation, StreamPlan, ThinkTime, Timing};

/// The parts of a plan that say when an operation starts, and after what none does.
#[derive(Debug)]
pub(crate) struct Shaping {
    /// Of reads, and of the others.
    pace: [Option<Pace>; 2],
    /// The direction that was drawn and has not gone yet.
    pub side: Option<usize>,
    bytes_left: u64,
    operations_left: u64,
    think: Option<Think>,
    start_delay: Ns,
    time_limit: Ns,
    start: Option<Ns>,
    gap: Random,
    /// Its share of what streams do together.
    pub flow: Option<FlowShare>,
}

#[derive(Clone, Copy, Debug)]
struct Think {
    time: ThinkTime,
    left: u32,
    /// The last completion.
    last_completion: Ns,
    until: Option<Ns>,
}

impl Shaping {
    /// `None` where nothing holds the stream back and only its phase ends it.
    pub fn of(plan: &StreamPlan, operation: Operation) -> Option<Box<Self>> {
        // Other streams end with this one: nothing that it does itself.
        let Limits { time_limit_ns, total_bytes, total_operations, .. } = plan.limits;
        let limited = time_limit_ns.is_some() || total_bytes.is_some() || total_operations.is_some();
        if plan.timing == Timing::default() && !limited {
            return None;
        }
        let pace = |operation| {
            let pacing = plan.timing.pacing?;
            let rate = match operation {
                Operation::Read => pacing.read,
                Operation::Write | Operation::WriteZeroes => pacing.write,
                Operation::Trim => pacing.trim,
            };
            Some(Pace::new(rate?, pacing.arrivals))
        };
        let think = plan.timing.think.filter(|t| t.pause_ns > 0);
        Some(Box::new(Self {
            pace: [pace(Operation::Read), pace(operation)],
            side: None,
            bytes_left: total_bytes.unwrap_or(u64::MAX),
            operations_left: total_operations.unwrap_or(u64::MAX),
            think: think.map(|time| Think {
                time,
                left: time.after_operations.max(1),
                last_completion: 0,
                until: None,
            }),
            start_delay: plan.timing.start_delay_ns,
            time_limit: time_limit_ns.unwrap_or(Ns::MAX),
            start: None,
            gap: Random::new(plan.seed, PACE),
            flow: None,
        }))
    }

    /// When the first operation may start; the clocks start with the first call.
    pub fn start(&mut self, now: Ns) -> Ns {
        *self.start.get_or_insert_with(|| {
            let start = now.saturating_add(self.start_delay);
            self.pace.iter_mut().flatten().for_each(|p| p.begin(start));
            start
        })
    }

    /// When nothing starts any more.
    pub fn end(&self) -> Ns {
        self.start.map_or(Ns::MAX, |start| start.saturating_add(self.time_limit))
    }

    /// Whether an amount is used up, of which the smallest operation takes `least` bytes.
    pub fn is_exhausted(&self, least: u64) -> bool {
        self.operations_left == 0 || self.bytes_left < least
    }

    /// An operation of `len` bytes within what is left, in pieces of `least`.
    pub fn cut(&self, len: u32, least: u64) -> u32 {
        if u64::from(len) > self.bytes_left { (self.bytes_left / least * least) as u32 } else { len }
    }

    /// What a pause has to say, if one is due.
    pub fn pause<Op>(&mut self, now: Ns, in_flight: u32) -> Option<Next<Op>> {
        let think = self.think.as_mut().filter(|t| t.left == 0)?;
        if in_flight > 0 {
            // It begins when what is in flight has completed.
            return Some(Next::WaitForCompletion);
        }
        let until = *think.until.get_or_insert(think.last_completion.saturating_add(think.time.pause_ns));
        let spun = think.last_completion.saturating_add(think.time.spin_ns).min(until);
        if now < spun {
            return Some(Next::SpinUntil(spun));
        }
        if now < until {
            return Some(Next::WaitUntil(until));
        }
        think.until = None;
        think.left = think.time.after_operations.max(1);
        None
    }

    /// When the next operation of a side is due.
    pub fn due(&self, side: usize) -> Ns {
        self.pace[side].as_ref().map_or(0, |pace| pace.due)
    }

    /// Why there is no operation now, of a stream of one direction with nothing in flight.
    pub fn is_held_back<Op>(&mut self, now: Ns) -> Option<Next<Op>> {
        let (start, end) = (self.start(now), self.end());
        if now < start {
            return Some(Next::WaitUntil(start));
        }
        if now >= end || self.is_exhausted(0) {
            return Some(Next::Done);
        }
        let due = self.due(0);
        self.pause(now, 0).or_else(|| (due > now).then(|| Next::WaitUntil(due.min(end))))
    }

    /// An operation was given out; the moment at which it should start, where its side is paced.
    pub fn record(&mut self, side: usize, len: u32) -> Option<Ns> {
        let intended = self.pace[side].as_mut().map(|pace| {
            let due = pace.due;
            pace.record(len, &mut self.gap);
            due
        });
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(len));
        self.operations_left -= 1;
        if let Some(think) = &mut self.think {
            think.left -= 1;
        }
        if let Some(flow) = &mut self.flow {
            flow.record();
        }
        intended
    }

    /// An operation has completed.
    pub fn on_completion(&mut self, at: Ns) {
        if let Some(think) = &mut self.think {
            think.last_completion = think.last_completion.max(at);
        }
    }
}
