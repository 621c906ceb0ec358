//! When a number is not shown: the rules, their codes and thresholds.
//!
//! A rule fires on evidence, never on its absence, with two exceptions that the definition of the phase asks for: a
//! cold read must be proven cold, and a record must be whole. A machine without counters (containers, virtual disks),
//! without frequencies or temperatures simply switches the rules off that need them.

mod ceiling;
mod device;
mod foreign;
mod generator;
mod machine;
mod others;
mod pacing;
mod record;
pub(crate) mod slices;
mod steadiness;
mod verified;

use crate::Context;
use crate::rate::CountedRate;
use model::{EngineKind, PhasePlan, PhaseRecord, TargetKind};
use std::fmt;

pub use ceiling::{LINE_RATE_TOLERANCE, MEMORY_TOLERANCE};
pub use device::{COLD_BYTES_TOLERANCE, DIRECT_BYTES_RATIO, RESIDENT_TOLERANCE_PAGES, RESIDENT_TOLERANCE_RATIO};
pub use generator::{GENERATOR_USER_LIMIT, LEAST_DEPTH_RATIO};
pub use machine::{CLOCK_STEP_LEAST_NS, CLOCK_STEP_LIMIT, CPU_MATTERS, FREQUENCY_DROP_LIMIT, STEAL_LIMIT};
pub use others::{FOREIGN_LIMIT, LONE_BURST_OPERATIONS};
pub use pacing::PACE_TOLERANCE;
pub(crate) use record::failed_operations;
pub use record::{LEAST_OPERATIONS, LEAST_SECONDS};
pub(crate) use steadiness::steady;

/// Why a measured number is not shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Operations failed.
    Errors {
        /// The errors by name, with their counts: `EIO 3`.
        errors: String,
    },
    /// Data that were read are not those that were written.
    DataMismatch {
        /// How many places.
        places: u64,
        /// By name: `lost 2, torn 1`.
        by_name: String,
    },
    /// The verification found data newer than any that were issued: this program is wrong.
    TesterFault {
        /// How many places.
        places: u64,
    },
    /// Operations moved less than asked.
    ShortTransfers {
        /// How many.
        operations: u64,
    },
    /// Ended by the user or cut off.
    Interrupted,
    /// This process was stopped and continued, so that its clock ran while it asked for nothing.
    ProcessStopped,
    /// Parts of the record are missing.
    Truncated { what: &'static str },
    /// Too few operations or too little time to say anything.
    TooLittleData {
        /// Operations after the warm-up cut.
        operations: u64,
        /// Time after the warm-up cut.
        seconds: f64,
        /// Whether it ended with the bytes that it may write, and not with its time.
        by_bytes: bool,
    },
    /// Reads were of holes, unwritten extents or constant content.
    DataNotReal {
        /// What was found.
        basis: String,
    },
    /// A direct phase went through the page cache.
    DirectFallback {
        /// How that is known.
        basis: String,
    },
    /// A cold read is not proven to have come from the device.
    ColdUnproven {
        /// What is missing in the proof.
        because: String,
    },
    /// Faster than the link can be.
    AboveLineRate {
        /// The rate, bytes per second.
        rate: f64,
        /// The line rate, bytes per second.
        ceiling: f64,
        layer: String,
    },
    /// Faster than memory can be.
    AboveMemory {
        /// The rate, bytes per second.
        rate: f64,
        /// The memory copy of the same run, bytes per second.
        memory: f64,
    },
    /// Our own loop was the limit.
    GeneratorLimit {
        /// User CPU of the busiest possible worker, percent.
        user_percent: f64,
    },
    /// The depth that the phase is named after was not reached.
    DepthNotReached {
        /// Mean depth.
        mean: f64,
        /// Planned depth.
        planned: u32,
    },
    /// Heat or power slowed the machine.
    Throttled {
        /// What says so.
        evidence: String,
    },
    /// The hypervisor took CPU away.
    Steal {
        /// Largest share of one CPU's time, percent.
        percent: f64,
    },
    /// The wall clock was stepped, or the machine slept.
    ClockStep {
        /// By how much, nanoseconds.
        step_ns: u64,
    },
    /// Others used the device.
    ForeignTraffic {
        /// Their share of the traffic, percent.
        percent: f64,
        /// What they moved, bytes per second.
        bytes_per_s: f64,
        /// How it was seen.
        seen: &'static str,
        /// Who it was, as far as that can be told.
        who: Option<String>,
    },
}

impl Refusal {
    /// Whether it can only have lowered a rate or raised a latency, so that the number is a bound of the true one.
    pub fn only_worsens(&self) -> bool {
        matches!(self, Self::Throttled { .. } | Self::Steal { .. } | Self::ForeignTraffic { .. })
    }

    /// The code: stable, for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Errors { .. } => "errors",
            Self::DataMismatch { .. } => "data-mismatch",
            Self::TesterFault { .. } => "tester-fault",
            Self::ShortTransfers { .. } => "short-transfers",
            Self::Interrupted => "interrupted",
            Self::ProcessStopped => "process-stopped",
            Self::Truncated { .. } => "truncated",
            Self::TooLittleData { .. } => "too-little-data",
            Self::DataNotReal { .. } => "data-not-real",
            Self::DirectFallback { .. } => "direct-fallback",
            Self::ColdUnproven { .. } => "cold-unproven",
            Self::AboveLineRate { .. } => "above-line-rate",
            Self::AboveMemory { .. } => "above-memory",
            Self::GeneratorLimit { .. } => "generator-limit",
            Self::DepthNotReached { .. } => "depth-not-reached",
            Self::Throttled { .. } => "throttled",
            Self::Steal { .. } => "steal",
            Self::ClockStep { .. } => "clock-step",
            Self::ForeignTraffic { .. } => "foreign-traffic",
        }
    }
}

fn mb(bytes_per_s: f64) -> String {
    format!("{:.1} MB/s", bytes_per_s / 1e6)
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code())?;
        match self {
            Self::Errors { errors } => write!(f, "operations failed: {errors}"),
            Self::DataMismatch { places: 1, by_name } => write!(f, "1 place is not what was written ({by_name})"),
            Self::DataMismatch { places, by_name } => {
                write!(f, "{places} places are not what was written ({by_name})")
            }
            Self::TesterFault { places } => write!(
                f,
                "data newer than any that were issued in {places} places: this program is wrong, and nothing is known of \
                 the target; please report it"
            ),
            Self::ShortTransfers { operations } => write!(f, "{operations} operations moved fewer bytes than asked"),
            Self::Interrupted => write!(f, "the phase was interrupted before its end"),
            Self::ProcessStopped => {
                write!(f, "this program was stopped (SIGSTOP or Ctrl-Z) for a part of the phase; repeat the check")
            }
            Self::Truncated { what } => write!(f, "the record is not whole: {what}"),
            Self::TooLittleData { operations, seconds, by_bytes } => {
                if *operations >= LEAST_OPERATIONS && !by_bytes {
                    write!(f, "{seconds:.2} s after the warm-up cut are too short, {LEAST_SECONDS} s is the least")?;
                } else {
                    write!(f, "{operations} operations in {seconds:.2} s after the warm-up cut are too few")?;
                }
                f.write_str(if *by_bytes {
                    "; it ended with what it may write: let it write more (--max-write)"
                } else {
                    "; give it more time (check: --budget, run: --set time=...)"
                })
            }
            Self::DataNotReal { basis } => write!(f, "what was read was not real data: {basis}"),
            Self::DirectFallback { basis } => write!(f, "O_DIRECT was served through the page cache: {basis}"),
            Self::ColdUnproven { because } => {
                write!(f, "nothing proves that the data came from the device: {because}")
            }
            Self::AboveLineRate { rate, ceiling, layer } => {
                write!(f, "{} is more than {layer} can carry ({})", mb(*rate), mb(*ceiling))
            }
            Self::AboveMemory { rate, memory } => write!(
                f,
                "{} is more than {MEMORY_TOLERANCE} times the memory copy of this run ({})",
                mb(*rate),
                mb(*memory)
            ),
            Self::GeneratorLimit { user_percent } => {
                write!(f, "this program itself was the limit: {user_percent:.0} % of a core in user mode")
            }
            Self::DepthNotReached { mean, planned } => {
                write!(f, "{mean:.1} operations were in flight on average instead of {planned}")
            }
            Self::Throttled { evidence } => write!(f, "heat or power slowed the machine: {evidence}"),
            Self::Steal { percent } => write!(f, "the hypervisor took up to {percent:.0} % of a CPU's time"),
            Self::ClockStep { step_ns } => write!(
                f,
                "the wall clock moved {:.3} s against the monotonic clock: it was set, or the machine slept",
                *step_ns as f64 / 1e9
            ),
            Self::ForeignTraffic { percent, bytes_per_s, seen, who } => {
                let rate = if *bytes_per_s < 1e5 { format!("{:.0} kB/s", bytes_per_s / 1e3) } else { mb(*bytes_per_s) };
                write!(f, "another program used the disk, {rate} {seen}")?;
                who.iter().try_for_each(|who| write!(f, ", {who}"))?;
                write!(f, ": at least {percent:.0} % of what the disk did")
            }
        }
    }
}

/// What does not make a number untrue, but belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Stable, for scripts.
    pub code: &'static str,
    pub sentence: String,
}

impl Remark {
    pub(crate) fn new(code: &'static str, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into() }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.sentence)
    }
}

/// What the rules say of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Validity {
    pub refusals: Vec<Refusal>,
    pub remarks: Vec<Remark>,
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub plan: &'a PhasePlan,
    pub record: &'a PhaseRecord,
    pub rate: Option<&'a CountedRate>,
    pub context: &'a Context<'a>,
}

impl Case<'_> {
    fn reads_only(&self) -> bool {
        !self.plan.streams.is_empty() && !self.plan.is_write()
    }

    /// Threads of ours that did the work.
    fn workers(&self) -> u32 {
        self.record.engine_threads(self.plan)
    }

    /// CPU of our workers over the phase, in cores.
    fn cores(&self, ns: u64) -> f64 {
        match self.record.duration_ns() {
            0 => 0.0,
            time => ns as f64 / time as f64,
        }
    }
}

/// All rules on one phase.
pub(crate) fn judge_validity(case: Case<'_>) -> Validity {
    let Case { plan, record, context, .. } = case;
    let mut out = Validity::default();
    verified::right(case, &mut out);
    record::whole(case, &mut out);
    machine::undisturbed(case, &mut out);
    // `null:` and the memory copy have no storage that could be cold, direct, foreign or linked; of operations that move no
    // data nobody knows how many bytes are theirs.
    let storage = context.target != TargetKind::Null && record.engine.kind != EngineKind::Null && !plan.copies_memory();
    if storage && plan.moves_data() {
        device::real(case, &mut out);
        ceiling::possible(case, &mut out);
        generator::not_the_limit(case, &mut out);
        foreign::alone(case, &mut out);
    } else if !storage && !plan.copies_memory() {
        out.remarks.push(Remark::new("own-overhead", "there is no storage behind null:, this is our own overhead"));
    }
    steadiness::told(case, &mut out);
    pacing::kept(case, &mut out);
    out
}
