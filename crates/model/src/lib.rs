//! The values that the program is about, and nothing that could obtain or show them.
//!
//! A *workload* drives a *target* along a *path* while an *observer* watches; the result is a *run*. This crate holds
//! those nouns: [`Plan`], [`Run`], [`SystemSample`] and the rates derived from a sample and the one before it,
//! [`Histogram`], [`Environment`], [`Stack`], [`Metric`], [`Finding`], [`Limit`], and the units they carry.
//!
//! Invariants:
//! - Absent knowledge is `None` (JSON `null`), never zero.
//! - Every number carries its unit in its name or in a `unit` field.
//! - Times inside a run are nanoseconds since the run's start, as the clock of the device gave them ([`Ns`]).
//!
//! Deliberately absent: file system access, devices, clocks, system calls, statistics, formatting for people.

#[macro_use]
mod named;

mod answer;
mod camera_streams;
mod capacity;
mod compact_sort;
mod comparison;
mod conclusions;
mod copy_report;
mod cut_off;
mod data_fault;
mod depth_curve;
mod disk_summary;
mod environment;
mod evidence;
mod experiment_place;
pub mod facts;
mod failure;
mod filled;
mod finding_text;
mod fit;
mod foreign_work;
mod frame_way;
mod group;
mod headlines;
mod histogram;
mod history;
mod interval_series;
pub mod job_options;
mod job_record;
mod json_name;
mod layer;
mod layer_costs;
mod layers;
mod metric;
mod metric_key;
mod path_counters;
mod plan;
mod proof;
pub mod random;
mod ranking;
mod rate_change;
mod rates;
pub mod reason;
mod record;
mod responsiveness;
mod run;
mod run_capacity;
mod run_memory;
mod sample;
mod sample_columns;
mod sample_series;
mod sanitize;
mod scale;
mod sim;
mod sim_help;
mod sim_memory_bus;
mod site;
mod soaked;
mod stack;
mod step;
mod stop_cause;
mod stream_record;
mod target;
mod tune;
mod tune_verify;
mod units;
mod validity;
mod verdict;
mod verify_record;
mod verify_source;
pub mod watched;
mod wear;
mod worker_usage;

pub use answer::Answer;
pub use camera_streams::{CAMERA_STREAMS, CameraStreams};
pub use capacity::{Capacity, CapacityKind};
pub use compact_sort::CompactSort;
pub use comparison::{
    Attribution, Basis, Compared, Comparison, Counts, Drift, EnvironmentDifference, Question, Verdict,
};
pub use conclusions::{Conclusions, Judged};
pub use copy_report::{AccessCost, CallCost, CopyReport, CopyRow};
pub use data_fault::{DataFault, DataFinding, Mismatch, WrongBytes};
pub use depth_curve::{DepthCurve, Knee};
pub use disk_summary::DiskSummary;
pub use environment::{CpuModel, Environment};
pub use evidence::{Evidence, EvidenceKind, four_figures};
pub use experiment_place::ExperimentPlace;
pub use failure::{Failure, FailureKind};
pub use filled::{Cliff, Filled, FilledPart};
pub use finding_text::{CatalogueStatus, FindingText};
pub use fit::{Fit, Need, NeedFit, RowLimit, UseText};
pub use foreign_work::ForeignWork;
pub use frame_way::{FrameWay, FramesCompared, FramesLeftOut, FramesLoad, FramesStudy, FramesTried, FramesWay};
pub use group::{
    Active, GroupAnswer, GroupPhase, GroupPlace, RankLimit, RankOutcome, RankShare, ServerCalls, SlowerCalls, Together,
};
pub use histogram::{Bucket, Histogram};
pub use history::{
    Acknowledgement, ChangeDirection, ChangedMetric, History, HistoryEvent, HistoryKey, HistoryPoint, HistorySeries,
};
pub use interval_series::{IntervalSeries, Joined, JoinedSeries};
pub use json_name::json_name;
pub use layer::{DeviceId, Fact, Layer, LayerKind};
pub use layer_costs::{
    Estimate, LayerCost, LayersStudy, LevelAccess, LevelFigures, LevelLeftOut, LevelRound, MeasuredLevel,
};
pub use layers::{BRANCH_DEPTH, Layers};
pub use metric::{Better, Bound, IntervalKind, Metric, MetricStatus, Unit};
pub use metric_key::{MetricKey, metric_id};
pub use path_counters::{PathCounter, path_counter, path_counter_value};
pub use plan::{
    Access, Arrivals, Before, BlockPlan, BlockShare, BlockSize, BlockSizes, BlockStream, BufferPages, Buffers,
    CallCursor, CallFlag, CallKind, Content, CopyMethod, CopyPlan, Durability, EngineKind, ErrorPolicy, FileCall,
    FileKind, FileOperation, FileOrder, FileTrace, FilesPlan, FillPattern, Flow, Flush, IoClass, IoPath, IoPriority,
    JobOptions, LatencyTarget, Limits, MAX_CALL_BYTES, MadePackage, MadePackages, MemoryNeed, Mix, NO_NUMBER, Numa,
    NumaMemory, NumaNodes, OpenSync, Operation, Order, Pacing, PackageCalls, PackageEntry, PackageModel, PackagePart,
    PackageSet, PackedCalls, PathNode, PhaseKind, PhasePlan, PhaseShape, Plan, PlanError, PlannedJob, PriorityShare,
    Purpose, Rate, RealPackages, ReplayPlan, RwFlags, SharedFileTrace, SteadyState, StopRule, StreamKind, StreamPlan,
    Sync, TargetSize, ThinkTime, Timing, Trace, TraceKind, TraceOp, TraceOps, UnknownVerify, Verify, VerifyKind,
    Warmup, Work, Zone, gcd,
};
pub use proof::{ColdProof, DataProof, DirectProof};
pub use ranking::{Prediction, RankedMetric, RankedTarget, RankedUse, Ranking, UseFit};
pub use rate_change::RateChange;
pub use rates::{
    Activity, CpuActivity, CpuShare, DiskActivity, DiskRate, NfsActivity, PathActivity, PressureActivity,
    RequestActivity, activity, activity_since_boot, cpu_share, cpu_share_total, disk_rate, quiet_window, traffic,
};
pub use reason::{ForeignSeen, MissedPace, Reason};
pub use record::{EngineRecord, Interval, Lateness, PhaseRecord, QuietWindow, Round, WarmupCut};
pub use responsiveness::{Responsiveness, SmallOperations};
pub use run::{PhaseRun, PhaseStatus, Run, RunState, Session};
pub use sample::{
    CpuTicks, DiskCounters, MemorySample, NfsCounters, Pressure, ProcessIo, SystemSample, Temperature, ThrottleState,
};
pub use sample_columns::{Column, DISK_COLUMNS, MACHINE_COLUMNS, NFS_COLUMNS, TICK_COLUMNS};
pub use sample_series::SampleSeries;
pub use sanitize::{csv_text, is_control, push_escaped, sanitize, sanitize_json};
pub use scale::{ScaleCurve, ScaleKnee, ScalePoint};
pub use sim::{
    CPU_QUOTA_PERIOD_NS, SimBus, SimCap, SimCurve, SimFaults, SimHost, SimLink, SimMedia, SimModel, SimPoint,
    SimStalls, SimThrottle, SimWriteCache,
};
pub use sim_help::{SimDevice, SimParameter};
pub use sim_memory_bus::SimMemoryBus;
pub use site::{Site, SiteFinding, SiteFit, SiteMetric, SiteProblem, SiteRank, SiteRanking, SiteRun};
pub use soaked::{Amplification, Growth, Scrub};
pub use stack::{Mount, Stack};
pub use step::{NextStep, Step};
pub use stop_cause::StopCause;
pub use stream_record::{
    DepthSearch, DepthStep, Direction, DirectionSummary, SteadyRecord, SteadyRound, StreamSummary,
};
pub use target::{Target, TargetKind};
pub use tune::{
    KeepLine, NotKept, NotTried, SettingRisk, TuneCandidate, TuneGain, TuneGuard, TuneMeasurement, TunePlan, TuneProof,
    TuneRejected, TuneSetting, TuneStep, TuneTried, TuneValue, Tuning,
};
pub use tune_verify::{KeptSetting, KeptTrial, SetBy, TuneVerification};
pub use units::{
    Bytes, ParseUnitError, bytes_text, decimal_bytes_text, distinct_bytes_text, exact_bytes_text, parse_bytes,
    parse_duration_ns, parse_speed_milli,
};
pub use validity::RunValidity;
pub use verdict::{
    Cause, ClassNeed, Confidence, Confirmation, Finding, Gain, Limit, LimitLayer, RatedClass, Rating, Undecided,
};
pub use verify_record::{ReadBack, Unverified, VerifyRecord};
pub use verify_source::{FromDevice, FromMemory, VerifyReads, VerifySource};
pub use watched::WatchTick;
pub use wear::{WearMedium, WearOfDisk, WearReading, WritingRate, WritingSeen};
pub use worker_usage::WorkerUsage;

/// Nanoseconds: a duration, or a moment counted from the start of the run.
pub type Ns = u64;

/// Nanoseconds in one second.
pub const NS_PER_S: u64 = 1_000_000_000;
