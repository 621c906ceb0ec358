//! Each reason that something is concluded from, with its code, its data, and the text that documents and bundles have of it.
//! The words are here and nowhere else, because a bundle holds them and must be readable without this program.

use crate::RateChange;
use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident $code:literal { $($field:ident: $type:ty),* } $text:expr;)+) => {
        /// Why a number does not stand, or what has to be known of it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(remote = "Self", tag = "code", content = "data")]
        pub enum Reason {
            $($(#[$doc])* #[serde(rename = $code)] $name { $($field: $type),* },)+
            /// Its words are all there is.
            #[serde(skip)]
            Other {
                /// Stable, one word; `None` of a reason that another tool gave in its own words.
                code: Option<String>,
                /// What people are shown.
                text: String,
            },
        }

        impl Reason {
            /// Stable, one word, for programs.
            pub fn code(&self) -> Option<&str> {
                match self {
                    $(Self::$name { .. } => Some($code),)+
                    Self::Other { code, .. } => code.as_deref(),
                }
            }

            /// What people are shown.
            pub fn text(&self) -> String {
                match self {
                    $(Self::$name { $($field),* } => $text,)+
                    Self::Other { text, .. } => text.clone(),
                }
            }
        }
    };
}

reasons! {
    /// Operations failed.
    Errors "errors" { errors: String } format!("operations failed: {errors}");
    /// Places that did not hold what was written.
    DataMismatch "data-mismatch" { places: u64, by_name: String } match places {
        1 => format!("1 place is not what was written ({by_name})"),
        _ => format!("{places} places are not what was written ({by_name})"),
    };
    /// Data that nobody can have written yet: nothing that this program found can be trusted.
    TesterFault "tester-fault" { places: u64 } format!(
        "data newer than any that were issued in {places} places: this program is wrong, and nothing is known of the \
         target; please report it"
    );
    /// Operations that moved fewer bytes than asked.
    ShortTransfers "short-transfers" { operations: u64 } format!("{operations} operations moved fewer bytes than asked");
    /// The phase was interrupted.
    Interrupted "interrupted" {} "the phase was interrupted before its end".into();
    /// This process was stopped (SIGSTOP, Ctrl-Z) and continued: its own pause is in every number.
    ProcessStopped "process-stopped" {}
        "this program was stopped (SIGSTOP or Ctrl-Z) for a part of the phase; repeat the check".into();
    /// The record lacks what a finished phase has.
    Truncated "truncated" { what: String } format!("the record is not whole: {what}");
    /// Too few operations or too short after the warm-up cut. `least_seconds` where the time is what is short, `by_bytes` where
    /// it ended with what it may write.
    TooLittleData "too-little-data" {
        operations: u64, seconds: Option<f64>, least_seconds: Option<f64>, by_bytes: bool
    } too_little(*operations, *seconds, *least_seconds, *by_bytes);
    /// What was read was not real data.
    DataNotReal "data-not-real" { basis: String } format!("what was read was not real data: {basis}");
    /// O_DIRECT was served through the page cache.
    DirectFallback "direct-fallback" { basis: String } format!("O_DIRECT was served through the page cache: {basis}");
    /// A cold read is not proven cold.
    ColdUnproven "cold-unproven" { because: String } format!("nothing proves that the data came from the device: {because}");
    /// Faster than a layer of the path can carry.
    AboveLineRate "above-line-rate" { bytes_per_s: f64, ceiling_bytes_per_s: f64, layer: String }
        format!("{} is more than {layer} can carry ({})", mb(*bytes_per_s), mb(*ceiling_bytes_per_s));
    /// A buffered rate that memory cannot give.
    AboveMemory "above-memory" { bytes_per_s: f64, memory_bytes_per_s: f64, tolerance: f64 } format!(
        "{} is more than {tolerance} times the memory copy of this run ({})", mb(*bytes_per_s), mb(*memory_bytes_per_s)
    );
    /// This program itself was the limit.
    GeneratorLimit "generator-limit" { user_percent: f64 }
        format!("this program itself was the limit: {user_percent:.0} % of a core in user mode");
    /// Fewer operations in flight than planned.
    DepthNotReached "depth-not-reached" { mean: f64, planned: u32 }
        format!("{mean:.1} operations were in flight on average instead of {planned}");
    /// Heat or power slowed the machine.
    Throttled "throttled" { evidence: String } format!("heat or power slowed the machine: {evidence}");
    /// The hypervisor took the CPU.
    Steal "steal" { percent: f64 } format!("the hypervisor took up to {percent:.0} % of a CPU's time");
    /// The clock was set, or the machine slept.
    ClockStep "clock-step" { step_ns: u64 } format!(
        "the wall clock moved {:.3} s against the monotonic clock: it was set, or the machine slept", *step_ns as f64 / 1e9
    );
    /// Another program used the device, with the least share of it that it took. Processes are named where they moved enough
    /// by their own account; `accounts_seen` says whether there were any to look at.
    ForeignTraffic "foreign-traffic" {
        percent: f64, bytes_per_s: f64, seen: ForeignSeen, processes: Vec<String>, accounts_seen: bool
    } foreign(*percent, *bytes_per_s, *seen, processes, *accounts_seen);
    /// The ranks of a group were not active together for long enough.
    NotTogether "not-together" { overlap_percent: f64, rank: u32 } format!(
        "the ranks were active together for {overlap_percent:.0} % of the phase, and {:.0} % is the least; rank {rank} was active for \
         the shortest time", crate::GroupPhase::LEAST_OVERLAP_PERCENT
    );
    /// A file that was only read was written to by others: its size before and after.
    ChangedByOthers "changed-by-others" { was_bytes: u64, is_bytes: u64 } match was_bytes == is_bytes {
        true => "others wrote to the file meanwhile: what was read may have come from them, and not from where the file lies".into(),
        false => format!("others changed the file meanwhile, from {was_bytes} to {is_bytes} bytes: its end may have been reached sooner"),
    };
    /// O_DIRECT was asked and may not have been granted.
    DirectUnproven "direct-unproven" { basis: String } format!("O_DIRECT was asked and not refused: {basis}");
    /// There is no device below.
    NoDevice "no-device" { basis: String } format!("from the page cache: {basis}");
    /// A loop device below may have taken or given the data from memory.
    LoopCache "loop-cache" { basis: String } format!("a loop device may have answered from memory: {basis}");
    /// Nothing shows that data were read.
    DataUnproven "data-unproven" { basis: String } basis.clone();
    /// The cache of ZFS served reads: the share of the blocks that were asked for, and how large it may become.
    ServedByArc "served-by-arc" { percent: f64, limit_bytes: Option<u64> } served_by_arc(*percent, *limit_bytes);
    /// The file system sends no flushes: what was synced may lie in the device's cache.
    NoFlushes "no-flushes" {} "the file system is mounted without barriers: no flush reaches the device, and what was synced can be lost with \
        the power".into();
    /// A share of the bytes of buffered reads that the device did not deliver.
    PageCache "page-cache" { percent: f64 } format!("{percent:.0} % of the bytes read came from memory");
    /// There is no storage.
    OwnOverhead "own-overhead" {} "there is no storage behind null:, this is our own overhead".into();
    /// Heat or power was reported, and did not slow this phase as far as can be seen; with the share of a core that it used,
    /// where it is for that.
    ThrottlingSeen "throttling-seen" { evidence: String, core_percent: Option<f64> } match core_percent {
        Some(percent) => format!("{evidence}, while this phase used {percent:.0} % of a core"),
        None => evidence.clone(),
    };
    /// Other programs had the processors.
    CpuWait "cpu-wait" { percent: f64 }
        format!("the workers waited for a CPU {percent:.0} % of the time: the machine was busy");
    /// All of it was done in little time.
    ShortPhase "short-phase" { seconds: f64 }
        format!("all of it took {seconds:.3} s; caches and bursts weigh more than in a longer run");
    /// Operations failed beside others, as was allowed.
    Partial "partial" { failed: u64, operations: u64, errors: String }
        format!("{failed} of {operations} operations failed ({errors})");
    /// Steady state was reached.
    SteadyWindow "steady-window" { rounds: u64, window_rounds: u64 } format!(
        "steady after {rounds} rounds; rates are those of the last {window_rounds}, latencies those of all after the warm-up"
    );
    /// Steady state was not reached in so many rounds, and by how much the rate moved and drifted over the last of them; without
    /// rounds by the series.
    NotSteady "not-steady" {
        rounds: Option<u64>, window_rounds: u64, range_percent: Option<f64>, slope_percent: Option<f64>
    } match (rounds, range_percent, slope_percent) {
        (None, ..) => "the rate moved by more than 20 %, or drifted by more than 10 %, over five rounds (SNIA PTS)".into(),
        (Some(rounds), Some(range), Some(slope)) => format!(
            "steady state was not reached in {rounds} rounds: over the last {window_rounds} the rate moved by {range:.0} % and \
             drifted by {slope:.0} %; the numbers are of the whole phase"
        ),
        (Some(rounds), ..) => format!(
            "steady state was not reached: {rounds} rounds were done, {window_rounds} are compared; the numbers are of the \
             whole phase"
        ),
    };
    /// The rate left where it was for good.
    RateChanged "rate-changed" { change: RateChange } format!(
        "after {:.1} s ({}) from {} to {}",
        change.at_ns as f64 / 1e9,
        amount(change.bytes_before as f64),
        mb(change.before_bytes_per_s),
        mb(change.after_bytes_per_s)
    );
    /// Others used the device for a part of the time, which does not count.
    SlicesLeftOut "slices-left-out" { out_ns: u64, all_ns: u64, others_bytes: u64 } format!(
        "{:.1} s of {:.1} s, in which other programs used the device ({:.1} MB), are left out of the rate; latencies are of all \
         of it",
        *out_ns as f64 / 1e9,
        *all_ns as f64 / 1e9,
        *others_bytes as f64 / 1e6
    );
    /// Operations came later than their recorded moments.
    Lateness "lateness" { mean_ns: f64, max_ns: u64, over_1_ms: u64, operations: u64 } format!(
        "operations were handed over {:.1} us after their recorded moment on average, {:.1} ms at most; {over_1_ms} of \
         {operations} more than 1 ms",
        mean_ns / 1e3,
        *max_ns as f64 / 1e6
    );
    /// A paced job fell behind.
    PaceMissed "pace-missed" { job: String, paces: Vec<MissedPace> } pace_missed(job, paces);
    /// Blocks of which the verification says nothing, and why.
    Unverified "unverified" { blocks: Vec<String> } match blocks.as_slice() {
        [] => "no block was read whose content is known".into(),
        some => format!("undecided blocks: {}", some.join(", ")),
    };
    /// What was read back was still in memory.
    VerifiedInMemory "verified-in-memory" { because: String } format!("verified in memory only: {because}");
    /// A number of a run was refused, and why; in so many of all runs, where there are several.
    Refused "refused" { because: Box<Reason>, runs: u64, of_runs: u64 } in_runs(because, *runs, *of_runs);
    /// The same of one that was skipped.
    Skipped "skipped" { because: Box<Reason>, runs: u64, of_runs: u64 } in_runs(because, *runs, *of_runs);
    /// The same of one that has no meaning there.
    NotApplicable "not-applicable" { because: Box<Reason>, runs: u64, of_runs: u64 } in_runs(because, *runs, *of_runs);
    /// The same of one that is not a number.
    NotFinite "not-finite" { because: Box<Reason>, runs: u64, of_runs: u64 } in_runs(because, *runs, *of_runs);
    /// No operation counts.
    NoData "no-data" {} "no operation completed after the warm-up cut".into();
    /// A percentile needs more operations.
    TooFewOperations "too-few-operations" { operations: u64, least: u64 }
        format!("{operations} operations, this percentile needs {least}");
    /// Operations that began and ended at one reading of the clock.
    ClockTooCoarse "clock-too-coarse" { percent: f64 } format!(
        "{percent:.0} % of the operations began and ended at one reading of the clock; its steps are longer than they are"
    );
}

/// O_DIRECT does not help before OpenZFS 2.3: it is taken and served from the cache.
fn served_by_arc(percent: f64, limit_bytes: Option<u64>) -> String {
    let larger = match limit_bytes {
        Some(limit) => format!("or read a file of twice the cache's limit ({})", amount(2.0 * limit as f64)),
        None => "or read a file of twice the cache's limit (arcstats c_max)".to_owned(),
    };
    format!(
        "{percent:.0} % of the reads came from the cache of ZFS (ARC), not from the pool; for cold reads: zfs set primarycache=metadata on the \
         dataset meanwhile, zpool export and import, {larger}"
    )
}

/// Where others' traffic was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignSeen {
    WrittenWhileReading,
    ReadBeside,
    QuietWindows,
}

/// A rate that a job was to have one way, per second, and the one it had.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissedPace {
    pub done: f64,
    pub asked: f64,
    /// In bytes; else operations.
    pub in_bytes: bool,
}

fn mb(bytes_per_s: f64) -> String {
    format!("{:.1} MB/s", bytes_per_s / 1e6)
}

fn amount(bytes: f64) -> String {
    if bytes >= 1e9 { format!("{:.1} GB", bytes / 1e9) } else { format!("{:.1} MB", bytes / 1e6) }
}

fn too_little(operations: u64, seconds: Option<f64>, least_seconds: Option<f64>, by_bytes: bool) -> String {
    let what = match (seconds, least_seconds) {
        (None, _) => return format!("{operations} operations after the warm-up cut are too few"),
        (Some(s), Some(least)) => format!("{s:.2} s after the warm-up cut are too short, {least} s is the least"),
        (Some(s), None) => format!("{operations} operations in {s:.2} s after the warm-up cut are too few"),
    };
    let remedy = if by_bytes {
        "it ended with what it may write: let it write more (--max-write)"
    } else {
        "give it more time (check: --budget, run: --set time=...)"
    };
    format!("{what}; {remedy}")
}

fn foreign(percent: f64, bytes_per_s: f64, seen: ForeignSeen, processes: &[String], accounts_seen: bool) -> String {
    let rate = if bytes_per_s < 1e5 { format!("{:.0} kB/s", bytes_per_s / 1e3) } else { mb(bytes_per_s) };
    let seen = match seen {
        ForeignSeen::WrittenWhileReading => "written while we only read",
        ForeignSeen::ReadBeside => "read beside us",
        ForeignSeen::QuietWindows => "in the quiet windows",
    };
    let who = match (processes, accounts_seen) {
        ([], false) => String::new(),
        ([], true) => {
            ", by no process that this user may look at: a journal, writeback, or others' programs (root sees whose)"
                .to_owned()
        }
        (names, _) => format!(", mostly {}", names.join(" and ")),
    };
    format!("another program used the disk, {rate} {seen}{who}: at least {percent:.0} % of what the disk did")
}

fn in_runs(because: &Reason, runs: u64, of_runs: u64) -> String {
    if of_runs == 0 { because.to_string() } else { format!("{because} (in {runs} of {of_runs} runs)") }
}

fn pace_missed(job: &str, paces: &[MissedPace]) -> String {
    let unit = |p: &MissedPace| if p.in_bytes { "bytes a second" } else { "operations a second" };
    let each: Vec<String> =
        paces.iter().map(|p| format!("{:.0} instead of {:.0} {}", p.done, p.asked, unit(p))).collect();
    let job = if job.is_empty() { String::new() } else { format!("{job}: ") };
    format!("{job}{}; latencies count from the intended start", each.join(", "))
}
