//! What the loop of one stream has to know of its plan.

use model::{Direction, ErrorPolicy, Limits, Ns, Operation, PhasePlan, StopRule, StreamPlan, Sync, Warmup};

/// How a stream is run: everything that a plan says of it and its loop has to know, and how it is batched.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamConfig {
    /// Operations in flight at most; the device has at least as many buffers.
    pub depth: u32,
    /// Buffers beyond the depth. With any, each is used in its turn, so that the data of few small ones are old when they are
    /// written again.
    pub spare_buffers: u32,
    /// Operations submitted in one call at most; `None`: as few as keep the device busy, and as many as there is room for
    /// where it completes them within the call.
    pub batch_submit: Option<u32>,
    /// Completions that a full queue waits for in one call.
    pub batch_complete: u32,
    /// How long the stream may run, as its plan says.
    pub time_limit_ns: Ns,
    /// When it may end before.
    pub stop: StopRule,
    /// Which part of the beginning does not count.
    pub warmup: Warmup,
    /// Length of the intervals of the series.
    pub interval_ns: Ns,
    /// Seed of the data written; `None` where nothing is written, or the caller made the data.
    pub content_seed: Option<u64>,
    /// Whether the first failed operation ends the phase.
    pub stop_on_error: bool,
    /// How long operations in flight are waited for at the end.
    pub drain_limit_ns: Ns,
    /// Directions that are reported one by one; none: all is one.
    pub directions: Vec<Direction>,
    /// Whether syncs close rounds; else they are operations of their own.
    pub closes_rounds: bool,
    /// So long without operations in flight ends a burst of writes.
    pub pause_ns: Ns,
    /// What ends it, and what ends with it.
    pub limits: Limits,
    /// From when on it does something, after the phase's start.
    pub start_delay_ns: Ns,
    /// Whether EAGAIN is an answer (RWF_NOWAIT): counted, neither repeated nor the end of the phase.
    pub would_block_is_an_answer: bool,
}

impl Default for StreamConfig {
    /// One operation at a time, of one kind, without an end of its own: each completion is waited for alone, the first error ends the
    /// phase, and a device may take a minute to answer at the end.
    fn default() -> Self {
        Self {
            depth: 1,
            spare_buffers: 0,
            batch_submit: None,
            batch_complete: 1,
            time_limit_ns: Ns::MAX / 2,
            stop: StopRule::Time,
            warmup: Warmup::default(),
            interval_ns: 100_000_000,
            content_seed: None,
            stop_on_error: true,
            drain_limit_ns: 60_000_000_000,
            directions: Vec::new(),
            closes_rounds: true,
            pause_ns: Ns::MAX,
            limits: Limits::default(),
            start_delay_ns: 0,
            would_block_is_an_answer: false,
        }
    }
}

impl StreamConfig {
    /// As planned, and else as by default.
    pub fn of(phase: &PhasePlan, stream: &StreamPlan, interval_ns: Ns) -> Self {
        let sends = stream.blocks().is_some_and(|s| s.block.operation == Operation::Write) && stream.moves_data();
        let think = stream.timing.think.filter(|t| t.after_operations > 1);
        Self {
            depth: stream.path.queue_depth,
            batch_submit: stream.path.batch_submit,
            batch_complete: stream.path.batch_complete.unwrap_or(1),
            time_limit_ns: phase.time_limit_ns,
            stop: phase.stop,
            warmup: phase.warmup,
            interval_ns,
            content_seed: sends.then_some(stream.seed),
            stop_on_error: stream.on_error == ErrorPolicy::Stop,
            directions: Some(stream.directions()).filter(|d| d.len() > 1).unwrap_or_default(),
            closes_rounds: matches!(stream.durability.sync, Sync::FsyncPerRound | Sync::FsyncAtEnd),
            // The sleep may end a little early.
            pause_ns: think.map_or(Ns::MAX, |t| (t.pause_ns / 2).max(1)),
            limits: stream.limits,
            start_delay_ns: stream.timing.start_delay_ns,
            would_block_is_an_answer: stream.path.rw_flags.nowait,
            ..Self::default()
        }
    }

    /// The same for several streams at once, each of which keeps to what it says by itself.
    #[must_use]
    pub(crate) fn of_several(self) -> Self {
        Self {
            batch_complete: 1,
            directions: Vec::new(),
            closes_rounds: true,
            pause_ns: Ns::MAX,
            limits: Limits::default(),
            start_delay_ns: 0,
            would_block_is_an_answer: false,
            ..self
        }
    }
}
