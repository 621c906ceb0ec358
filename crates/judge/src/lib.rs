//! From what was recorded to what may be believed: metrics, validity, ratings.
//!
//! Invariants:
//! - A number that a rule of [`validity`] speaks against never becomes a value: it moves to `rejected_value`, with the
//!   reason. Where all that speaks against it can only have made it worse, it is a bound ([`model::Bound`]).
//! - A reason begins with a stable code and a colon (`cold-unproven: ...`), so that scripts need not read sentences.
//! - The list of metric ids follows from the plan alone; what is missing is there, with status and reason.
//! - Every threshold is a named constant that says why; `docs/judging.md` lists them.
//!
//! Deliberately absent: I/O, clocks, formatting of numbers for people beyond the reasons, attribution of limits.

mod changes;
mod checkpoint;
mod compare;
mod context;
mod drain;
mod figures;
mod filled;
mod fit;
#[cfg(test)]
mod fixture;
mod foreign;
pub mod group;
mod history;
mod job_metrics;
mod judged;
mod knee;
mod layer_costs;
mod metrics;
mod noise;
mod phase;
mod quantity;
mod rank;
mod rate;
mod rating;
mod repeated;
mod reports;

mod bounded;
mod need;
mod scale;
mod scope;
pub mod search;
mod site;
pub mod sizing;
mod sustained;
mod together;
pub mod validity;
mod wear;

pub use compare::{Asked, DEFAULT_ALPHA, compare, environment_differences, least_pairs, margin_percent};
pub use context::Context;
pub use filled::filled;
pub use fit::{deciding_phases, fit, summary, use_named, uses};
pub use foreign::{foreign_classes, foreign_fit};
pub use history::{HistoryAsked, HistoryRuns, asked_metrics, change_differences, event_id, history_key};
pub use judged::judged;
pub use knee::depth_curves;
pub use layer_costs::{dearest, layer_cost, level_figures};
pub use metrics::metric_ids;
pub use noise::{Noise, noise};
pub use phase::{JudgedPhase, judge_phase};
pub use rank::{
    MIN_TARGETS, RankAsked, RankError, TargetRuns, by_use, is_duration_of_work, is_same_target, matches_pattern, rank,
    targets,
};
pub use rating::{class_names, phases_of_class, rated_classes, ratings};
pub use repeated::repeated;
pub use reports::over_reports;
pub use scale::scale_curves;
pub use site::site;
pub use together::add_what_lacks;
pub use wear::{DiskSeen, disks_used_percent, emmc_used_percent, wear_medium, wear_of_disk};
