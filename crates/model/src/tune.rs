//! A search for settings: what was asked, what could be set, what was tried, what was shown, and how it is kept.

use crate::{Better, Unit};
use serde::Serialize;

/// What another value of a setting can cost beside speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingRisk {
    /// Nothing is lost, and little is taken.
    #[default]
    Harmless,
    /// Takes memory from others.
    CostsMemory,
    /// The machine takes more power.
    CostsPower,
    /// More of what was written is lost on a power cut.
    LosesData,
    /// A wrong value can hang the machine.
    CanHang,
}

/// Why a setting is not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason", content = "detail")]
pub enum NotTried {
    /// It cannot be written; why.
    Fixed(String),
    /// No other value is known to be worth a try.
    NoOtherValue,
    /// Others were named.
    NotNamed,
    /// It can lose data, and nobody allowed that.
    Unsafe,
    /// It is a register of a device, and nobody allowed that.
    Register,
    /// Only reads through the page cache feel it, and the workload has none.
    OnlyBufferedReads,
    /// Only writes through the page cache feel it, and the workload has none.
    OnlyBufferedWrites,
    /// It acts where memory is short, which the workload does not cause.
    OnlyUnderMemoryPressure,
    /// It acts when the device or its driver is started the next time.
    OnlyFromNextStart,
    /// What is measured would no longer be counted.
    NeededByMeasurement,
    /// It is set together with another one, which is tried.
    MovesWith(&'static str),
    /// The time holds no more.
    NoTime,
}

/// A setting of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TuneCandidate {
    pub name: &'static str,
    /// Its first file.
    pub path: String,
    /// How many files it has here.
    pub files: usize,
    /// What that file holds.
    pub now: String,
    /// Other values that are tried; of one that is not tried none.
    pub values: Vec<String>,
    pub risk: SettingRisk,
    /// What it decides.
    pub about: &'static str,
    /// Why no value of it is tried; `null` where one is.
    pub not_tried: Option<NotTried>,
}

/// A setting that a combination changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TuneSetting {
    pub name: &'static str,
    pub path: String,
    pub from: String,
    pub to: String,
}

/// A setting with a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TuneValue {
    pub name: &'static str,
    pub value: String,
}

/// A combination that the search compared with the present values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneTried {
    pub settings: Vec<TuneValue>,
    /// How many times as good it looked, on the mean of its measurements; `null` where it could not be set.
    pub ratio: Option<f64>,
    /// Ends of a 95 % interval by the noise; of many that were looked at, so that it proves nothing.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub measurements: usize,
}

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TuneStep {
    /// Each change alone.
    Singles,
    /// All that is left at once.
    Screen,
    /// The best against one another.
    Halving,
    /// Whether one change of a pair is enough.
    Reduction,
}

/// One measurement of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneMeasurement {
    pub step: TuneStep,
    /// What was set; nothing: the present values.
    pub settings: Vec<TuneValue>,
    /// The metric; `null` where it could not be set, or is not valid.
    pub value: Option<f64>,
}

/// A gain that the confirmation shows, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TuneGain {
    /// How many times as good: above 1 is a gain, of rates and of latencies alike.
    pub ratio: f64,
    /// Ends of its 95 % interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub p: f64,
    pub pairs: usize,
}

/// Another metric beside the gain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneGuard {
    /// Its id.
    pub metric: String,
    /// How many times as good it is with the winner.
    pub ratio: f64,
    /// Lower end of the one-sided 95 % interval.
    pub low: Option<f64>,
    pub margin_percent: f64,
    pub pairs: usize,
    /// Whether these settings can reach it: not read-ahead what does not pass the page cache.
    pub in_reach: bool,
    /// Whether it is shown to be no more than the margin worse; out of reach, whether it is not shown to be more than that worse.
    pub passes: bool,
}

/// How a setting is kept over a reboot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeepLine {
    /// udev, sysctl, tmpfiles, modprobe, kernel command line, tuned or systemd.
    pub mechanism: &'static str,
    /// Where the text goes.
    pub file: String,
    pub text: String,
    /// Commands that take it back.
    pub undo: String,
    /// What to know of it.
    pub note: Option<String>,
}

/// A combination with what its confirmation shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneProof {
    pub settings: Vec<TuneSetting>,
    pub gain: TuneGain,
    /// The metric on both sides of each pair, the present values first.
    pub pairs: Vec<(f64, f64)>,
    pub guards: Vec<TuneGuard>,
    pub keep: Vec<KeepLine>,
}

/// Why the combination that the search left is no winner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotKept {
    /// Its gain is not shown, or too small to be worth a setting.
    NoGain,
    /// Another metric is not shown to be as good as before.
    Guard,
}

/// The combination that the search left, where it is no winner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneRejected {
    pub why: NotKept,
    #[serde(flatten)]
    pub proof: TuneProof,
}

/// What a search will do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunePlan {
    pub target: String,
    /// What is to become better, as it was asked for.
    #[serde(rename = "for")]
    pub asked: String,
    /// `null`: the rate of the workload's first phase.
    pub metric: Option<String>,
    pub candidates: Vec<TuneCandidate>,
    /// Measurements of the search at most.
    pub cells: usize,
    /// How many values are tried alone.
    pub changes: usize,
    /// Whether combinations of all of them are.
    pub screened: bool,
    /// Pairs of the confirmation.
    pub pairs: u32,
    /// What must not become worse: rows of the check.
    pub guards: Vec<String>,
    pub budget_ns: u64,
    /// `null` where only its time bounds what it writes.
    pub bytes_at_most: Option<u64>,
    /// With this noise of a measurement, in percent, this gain is proven in 80 of 100 cases, in percent.
    pub provable: Vec<(f64, Option<f64>)>,
}

/// A search that came to its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuning {
    /// Names the search: its runs, its journal.
    pub id: String,
    pub target: String,
    /// What was to become better, as it was asked for.
    #[serde(rename = "for")]
    pub asked: String,
    pub metric: String,
    pub unit: Unit,
    pub better: Option<Better>,
    pub seed: u64,
    /// The least gain that is worth a setting.
    pub margin_percent: f64,
    pub candidates: Vec<TuneCandidate>,
    /// Settings that findings and causes of the first measurement name: they are tried first.
    pub suggested: Vec<String>,
    /// Measurements of the search, without the confirmation.
    pub cells: usize,
    /// Standard deviation of one of them.
    pub noise_percent: Option<f64>,
    /// The best first.
    pub tried: Vec<TuneTried>,
    /// All of them in their order.
    pub measurements: Vec<TuneMeasurement>,
    pub winner: Option<TuneProof>,
    /// What looked best in the search and is not confirmed.
    pub rejected: Option<TuneRejected>,
    /// The same of what looked second best, where there was time for it.
    pub rejected_next: Option<TuneRejected>,
    /// Bytes that all measurements wrote to the target.
    pub bytes_written: u64,
    pub duration_ns: u64,
    /// Tags of the confirmation's runs in the archive.
    pub tags: Vec<String>,
}
