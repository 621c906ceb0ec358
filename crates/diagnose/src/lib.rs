//! Evidence to causes, the limit, and findings.
//!
//! [`causes()`] ranks what may hold a run back, [`limit()`] is its head (unknown, if all there is are remarks), [`headline()`] what
//! is told of a run and the uses that it was asked for, and what to try ([`Headline::next_step`]). [`findings`] evaluates the
//! catalogue (one text per finding in `findings/*.toml`, its condition beside it in Rust); [`unknown`] lists what could not be decided, which fact is missing
//! and how to get it, [`findings_of_stack`] does both for an inventory on which nothing was measured; [`page`] is what
//! `explain` prints, and [`near_ids()`] what it suggests where there is none.
//!
//! Invariants:
//! - A refused metric is not evidence: values come only from metrics that stand, series only from phases that stand.
//!   Refused phases serve for one thing: the events (throttling, steal, foreign traffic, writes so slow that too few completed)
//!   for which they were refused.
//! - A condition has three values: holds, does not hold, unknown for want of a named fact. Unknown never counts as no.
//! - Nothing is `high` that was not seen directly. A cause is at most `probable`: only a controlled comparison of the fix
//!   proves it. The one exception is the `null:` target, where the generator is all there is.
//! - A predicted gain is the next ceiling over the current value, both named; never a figure that others saw elsewhere.
//!
//! Deliberately absent: I/O, clocks, layout of tables and cards, statistics beyond a mean of a few windows (room `stats`),
//! verdicts between runs (room `judge`), and any way to change a setting.

mod catalogue;
mod causes;
mod conclusions;
mod conditions;
mod copies;
mod elsewhere;
mod guard;
mod inventory;
mod kernel_log;
mod limit;
mod link_modes;
mod machine;
mod missing;
mod near_ids;
mod phase_limits;
mod phrase;
mod rows;
mod series;
mod stack_view;
mod subject;
mod suggested;

pub use catalogue::{catalogue, page};
pub use causes::{Cause, Trial, causes};
pub use conclusions::{conclusions, conclusions_without};
pub use copies::copy_report;
pub use inventory::{Assessment, findings, findings_of_stack, unknown};
pub use limit::{Headline, Question, headline, limit};
pub use model::NextStep;
pub use near_ids::near_ids;
pub use phase_limits::{PhaseLimit, limits_of_phases};
pub use rows::limits;
pub use suggested::suggested_settings;
