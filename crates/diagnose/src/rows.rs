//! What limits each row of the card: one statement a kind of work, where the whole run has one limit.
//!
//! A row has what was seen of its own phase: a cause of the run that rests on that phase, else the rule for its kind of
//! work. Numbers that do not stand have none.

use crate::causes::{self, Cause, CauseKind, CauseNature, SLOW_WRITE_RATIO, between_gaps, rows as of_causes};
use crate::conditions::queue::virtio_single_queue;
use crate::elsewhere::{self, Elsewhere, THE_DEVICE};
use crate::subject::Subject;
use crate::{machine, phrase, stack_view};
use model::{
    Confidence, Direction, Evidence, LimitLayer, PhaseRecord, PhaseRun, PhaseStatus, RowLimit, Run, Step, TargetKind,
    Work,
};

/// A path that reaches this share of another is limited as that one is.
const AS_FAST: f64 = 0.8;
/// Requests in flight for this share of the time: one command after the other, and nothing between them.
const WAITING_FOR_DEVICE: f64 = 0.7;
/// Depth that brings this share of proportionality has not met another limit yet.
const STILL_SCALING: f64 = 0.8;
/// What comes on top of a plain write is most of a synchronous one.
const MOSTLY: f64 = 0.5;

/// What is said of a row: a cause, of which only what a row has room for is told.
fn answer(layer: LimitLayer, confidence: Confidence, statement: impl Into<String>) -> Cause {
    Cause::new(layer, CauseNature::Path, statement).with_confidence(confidence)
}

/// What has no device below it is never called one.
fn of_storage(mut cause: Cause, run: &Run) -> Cause {
    let names_it = |e: &Elsewhere| !e.has_disk || cause.statement.contains(THE_DEVICE);
    if let Some(it) = elsewhere::of(&run.target.stack).filter(|e| cause.layer == LimitLayer::Device && names_it(e)) {
        cause.is_elsewhere(&it);
    }
    cause
}

/// One row: its phase, and what is asked of it.
#[derive(Clone, Copy)]
struct Row<'a> {
    run: &'a Run,
    work: Work,
    phase: &'a PhaseRun,
    record: &'a PhaseRecord,
    causes: &'a [Cause],
}

/// What limits each kind of work that the run has a phase for, in the order of the check.
pub fn limits(run: &Run) -> Vec<RowLimit> {
    limits_of(run, &causes::causes(run))
}

/// The same where the causes are known.
pub(crate) fn limits_of(run: &Run, causes: &[Cause]) -> Vec<RowLimit> {
    let works = Work::ALL.iter().copied().filter(|w| *w != Work::MemoryCopy);
    works
        .filter_map(|work| {
            let phase = run.phase_of_work(work)?;
            let said = match &phase.record {
                Some(record) if phase.status == PhaseStatus::Measured => {
                    Row { run, work, phase, record, causes }.answer()
                }
                _ => unmeasured(phase),
            };
            let model::Cause { layer, statement, confidence, evidence, next_step, .. } = of_storage(said, run).into();
            Some(RowLimit { phase: phase.plan.name.clone(), layer, statement, confidence, evidence, next_step })
        })
        .collect()
}

fn unmeasured(phase: &PhaseRun) -> Cause {
    let code = phase.reasons.first().and_then(model::Reason::code);
    let (word, why) = match phase.status {
        PhaseStatus::Refused => ("its number is refused", code),
        PhaseStatus::NotApplicable => ("it has no meaning here", None),
        _ => ("it was not measured", code),
    };
    let why = why.map(|w| format!(": {w}")).unwrap_or_default();
    let name = &phase.plan.name;
    answer(LimitLayer::Unknown, Confidence::Low, format!("not known, {word}{why}"))
        .with_evidence([Evidence::absence(format!("a valid number of {}", Work::words_of(name)), name.as_str())])
}

impl Row<'_> {
    fn answer(&self) -> Cause {
        let of_work = || match self.work {
            Work::SequentialRead | Work::SequentialWrite => self.sequential(),
            Work::SequentialReadPages => self.small_pages(),
            Work::BufferedRead | Work::BufferedWrite => self.buffered(),
            Work::RandomRead | Work::RandomWrite => self.one_command(),
            Work::QueuedRead | Work::QueuedWrite => self.queued(),
            Work::DurableWrite | Work::LogAppend => self.durable(),
            Work::Responsive | Work::ResponsiveLoaded => self.small_operations(),
            Work::MemoryCopy => answer(LimitLayer::Memory, Confidence::High, "memory"),
        };
        self.whatever_is_asked().unwrap_or_else(of_work)
    }

    fn name(&self) -> &str {
        &self.phase.plan.name
    }

    fn value(&self, work: Work, quantity: &str) -> Option<f64> {
        machine::value_of_work(self.run, work, quantity)
    }

    fn own(&self, quantity: &str) -> Option<f64> {
        self.value(self.work, quantity)
    }

    fn measured(&self, what: &str, value: f64, work: Work, quantity: &str) -> Evidence {
        Evidence::measured(what, value, self.run.metric_id_of_work(work, quantity))
    }

    /// What holds any kind of work: this program, heat, a cap, a full processor, memory, a device that stands still.
    fn whatever_is_asked(&self) -> Option<Cause> {
        if self.run.target.kind == TargetKind::Null {
            return Some(answer(LimitLayer::Generator, Confidence::High, "this program itself"));
        }
        let sure = |c: &&Cause| c.confidence >= Confidence::Probable && !c.is_remark() && c.is_based_on(self.name());
        let words = |cause: &'_ Cause| -> Option<String> {
            let words = match cause.layer {
                _ if cause.kind == CauseKind::Elsewhere => return Some(cause.in_short().to_owned()),
                LimitLayer::Generator => "this program itself",
                LimitLayer::ThermalPower => "heat or power",
                LimitLayer::Throttle if cause.kind == CauseKind::BurstCredit => "a burst credit that ran out",
                LimitLayer::Throttle => "a cap set from outside",
                LimitLayer::Memory if cause.kind == CauseKind::MemoryLimit => "the memory limit of the control group",
                LimitLayer::Memory => "memory",
                LimitLayer::Cpu => "a full processor",
                LimitLayer::BlockLayer if cause.kind == CauseKind::Split => "requests are split (max_sectors_kb)",
                LimitLayer::Stacking if cause.kind == CauseKind::Encryption => "encryption on a full processor",
                LimitLayer::Stacking if cause.kind == CauseKind::SlowMember => "the slow member of the array",
                LimitLayer::Stacking => "what is stacked on the disk",
                LimitLayer::Filesystem if cause.kind == CauseKind::SyncMount => "the mount waits for each write",
                LimitLayer::Filesystem => "the file system in user mode",
                _ => return None,
            };
            Some(words.to_owned())
        };
        let cause = self.causes.iter().filter(sure).find_map(|c| Some((c, words(c)?)));
        if let Some((cause, words)) = cause {
            return Some(cause.clone().saying(words));
        }
        between_gaps(self.run, self.phase, self.record).filter(|c| !c.is_remark())
    }

    fn sequential(&self) -> Cause {
        if self.work == Work::SequentialWrite
            && let Some(cause) = of_causes::write_cache(self.run).filter(|c| c.confidence >= Confidence::Probable)
        {
            return cause.saying("its write cache ran out: this is the rate after it");
        }
        let Some(rate) = self.own("throughput_bytes_per_s") else { return self.device(None) };
        let other = if self.work == Work::SequentialWrite { Work::SequentialRead } else { Work::SequentialWrite };
        let direct = self.measured("direct rate, bytes per second", rate, self.work, "throughput_bytes_per_s");
        of_causes::link(self.run, (rate, direct), machine::direct_rate(self.run, other))
            .unwrap_or_else(|| self.device(Some(rate)))
    }

    /// What remains for a path that is busy all the time and fills no link.
    fn device(&self, rate: Option<f64>) -> Cause {
        let stack = &self.run.target.stack;
        let busy = machine::disk_busy(self.run, self.phase);
        let virtual_disk = stack_view::is_virtual_disk(stack, &self.run.environment);
        let statement = if virtual_disk { "the virtual disk, or what is behind it" } else { THE_DEVICE };
        let known = of_causes::link_is_known(self.run) && busy.is_none_or(|b| b >= WAITING_FOR_DEVICE);
        let sure = if known && !virtual_disk { Confidence::Probable } else { Confidence::Low };
        let busy = match busy {
            Some(b) => {
                Evidence::measured("share of time with requests in flight", b, format!("{} diskstats", self.name()))
            }
            None => Evidence::absence("counters of the disk", format!("{} diskstats", self.name())),
        };
        let rate = rate.map(|r| self.measured("rate, bytes per second", r, self.work, "throughput_bytes_per_s"));
        answer(LimitLayer::Device, sure, statement).with_evidence(rate).with_evidence([busy])
    }

    fn small_pages(&self) -> Cause {
        let rate = self.own("throughput_bytes_per_s");
        match rate.zip(self.value(Work::SequentialRead, "throughput_bytes_per_s")) {
            Some((pages, huge)) if pages < huge * AS_FAST => {
                answer(LimitLayer::BlockLayer, Confidence::Probable, "requests of small pages are split").with_evidence(
                    [
                        self.measured("rate, bytes per second", pages, self.work, "throughput_bytes_per_s"),
                        self.measured(
                            "rate of huge pages, bytes per second",
                            huge,
                            Work::SequentialRead,
                            "throughput_bytes_per_s",
                        ),
                    ],
                )
            }
            _ => self.as_row(Work::SequentialRead),
        }
    }

    fn buffered(&self) -> Cause {
        let (cause, direct) = match self.work {
            Work::BufferedWrite => (of_causes::buffered_writes(self.run), Work::SequentialWrite),
            _ => (of_causes::buffered_reads(self.run), Work::SequentialRead),
        };
        match cause {
            Some(cause) => {
                let words = if cause.layer == LimitLayer::Filesystem {
                    "the file system in user mode"
                } else if cause.kind == CauseKind::ReadAhead {
                    "read-ahead of the kernel"
                } else if cause.confidence >= Confidence::Probable {
                    "copying in the kernel (page cache)"
                } else {
                    "the page cache: slower than direct, no CPU is saturated"
                };
                cause.saying(words)
            }
            None => self.as_row(direct),
        }
    }

    /// As another row, which it keeps up with.
    fn as_row(&self, work: Work) -> Cause {
        let other = self.run.phase_of_work(work).filter(|p| p.status == PhaseStatus::Measured);
        match other.and_then(|phase| Some((phase, phase.record.as_ref()?))) {
            Some((phase, record)) => Row { work, phase, record, ..*self }.answer(),
            None => self.device(self.own("throughput_bytes_per_s")),
        }
    }

    fn one_command(&self) -> Cause {
        let Some(ns) = self.own("latency_ns_mean") else { return self.device(None) };
        let latency = self.measured("mean latency", ns, self.work, "latency_ns_mean");
        if self.work == Work::RandomWrite
            && let Some(read) =
                self.value(Work::RandomRead, "latency_ns_mean").filter(|read| ns >= read * SLOW_WRITE_RATIO)
        {
            let statement = format!("each small write takes {}, {} a read", phrase::time(ns), phrase::times(ns / read));
            let read_ns = read;
            let read = self.measured("mean latency of a read", read, Work::RandomRead, "latency_ns_mean");
            return answer(LimitLayer::Device, Confidence::Probable, statement)
                .with_evidence([latency, read])
                .step(Step::BatchSmallWrites, Some(ns / read_ns));
        }
        let busy = machine::disk_busy(self.run, self.phase);
        let (layer, statement) = match busy {
            Some(b) if b < WAITING_FOR_DEVICE => (
                LimitLayer::Cpu,
                format!("latency, {} of each {} in software", phrase::percent(1.0 - b), phrase::time(ns)),
            ),
            _ => (LimitLayer::Device, format!("latency of one command, {}", phrase::time(ns))),
        };
        let busy = busy.map(|b| {
            let source = format!("{} diskstats", self.name());
            Evidence::measured("share of time with requests in flight", b, source)
        });
        answer(layer, Confidence::Probable, statement).with_evidence([latency]).with_evidence(busy)
    }

    fn queued(&self) -> Cause {
        let direction = if self.work == Work::QueuedRead { Direction::Read } else { Direction::Write };
        let serial = self.causes.iter().find(|c| {
            matches!(c.layer, LimitLayer::Controller | LimitLayer::Driver | LimitLayer::Link | LimitLayer::Device)
                && c.is_based_on(self.name())
                && of_causes::is_of_depth(c)
        });
        if let Some(cause) = serial {
            return cause.clone().saying(cause.in_short());
        }
        let Some(scaling) = of_causes::scaling(self.run, direction) else {
            return self.device(self.own("throughput_bytes_per_s"));
        };
        let gains = format!("depth {:.0} gives {} depth 1", scaling.depth, phrase::times(scaling.ratio));
        if scaling.ratio >= scaling.depth * STILL_SCALING {
            let statement = format!("latency of one command: {gains}, more would give more");
            return answer(LimitLayer::Device, Confidence::Low, statement).with_evidence(scaling.evidence);
        }
        if let Ok(case) = virtio_single_queue(&Subject::of_run(self.run)) {
            let statement = format!("one virtio queue, or the disk behind it ({gains})");
            return answer(LimitLayer::BlockLayer, Confidence::Low, statement)
                .with_evidence(scaling.evidence)
                .with_evidence(case.evidence)
                .step(Step::QueueForEachProcessor, None);
        }
        let device = self.device(None);
        let statement = format!("{} ({gains})", device.statement);
        device.saying(statement).with_evidence(scaling.evidence)
    }

    fn small_operations(&self) -> Cause {
        let loaded = self.work == Work::ResponsiveLoaded;
        match self.causes.iter().find(|c| loaded && c.kind == CauseKind::BesideWriter && c.is_based_on(self.name())) {
            Some(cause) => cause.clone().saying(cause.in_short()),
            None => self.device(None),
        }
    }

    fn durable(&self) -> Cause {
        let Some(ns) = self.own("latency_ns_mean") else { return self.device(None) };
        let latency = self.measured("mean latency", ns, self.work, "latency_ns_mean");
        let plain = self.value(Work::RandomWrite, "latency_ns_mean");
        let read = self.value(Work::RandomRead, "latency_ns_mean");
        if plain.zip(read).is_some_and(|(plain, read)| plain >= read * SLOW_WRITE_RATIO && plain / ns >= MOSTLY) {
            return self.as_row(Work::RandomWrite);
        }
        match plain.filter(|plain| 1.0 - plain / ns >= MOSTLY) {
            Some(plain) => answer(
                LimitLayer::Device,
                Confidence::Probable,
                format!("the flush after each write: {} of {}", phrase::time(ns - plain), phrase::time(ns)),
            )
            .with_evidence([
                latency,
                self.measured("mean latency without a flush", plain, Work::RandomWrite, "latency_ns_mean"),
            ])
            .step(Step::FewerSyncs, Some(ns / plain))
            .based_on("a cache that survives a power cut answers a flush at once"),
            None => answer(
                LimitLayer::Device,
                if plain.is_some() { Confidence::Probable } else { Confidence::Low },
                format!("latency of one write and its flush, {}", phrase::time(ns)),
            )
            .with_evidence([latency]),
        }
    }
}
