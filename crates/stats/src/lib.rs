//! Pure statistics: values and a seed in, a value out.
//!
//! Invariants:
//! - Nothing here knows what the numbers mean; units are the caller's.
//! - Too few or degenerate values give `None`, never a made-up number; nothing panics on NaN or infinity.
//! - What is random takes a seed and gives the same answer for it on every machine.
//!
//! Deliberately absent: I/O, clocks, names of storage things, thresholds that are policy (they are parameters).

mod autocorrelation;
mod batch;
mod change;
mod counts;
mod kendall;
mod knee;
mod levels;
mod line;
mod mean_changes;
mod moments;
mod multiple;
mod pairwise;
mod rank_sum;
mod ranks;
mod ridge;
mod robust;
mod signed_rank;
#[cfg(test)]
mod simulation;
mod steady;
mod steps;
mod student;
mod tied_orders;

pub use autocorrelation::{autocorrelated_interval, effective_sample_size, lag1};
pub use batch::{BatchInterval, batch_interval};
pub use change::{Change, change_point};
pub use counts::poisson_lower;
pub use kendall::{Kendall, kendall, kendall_interval, tau_b};
pub use knee::{KneeAt, knee};
pub use levels::{LevelChange, LevelRule, level_changes};
pub use line::{Line, SizeFit, correlation, least_squares, rank_correlation, size_fit, theil_sen, theil_sen_interval};
pub use mean_changes::{LEAST_VALUES, MOST_VALUES, MeanChange, limit, mean_changes, null_limit};
pub use moments::{mean, variance, weighted_mean};
pub use multiple::{benjamini_hochberg, holm};
pub use rank_sum::{Shift, shift};
pub use ridge::ridge;
pub use robust::{median, median_absolute_deviation};
pub use signed_rank::{HodgesLehmann, SignedRank, hodges_lehmann, signed_rank};
pub use steady::{
    STEADY_RANGE_RATIO, STEADY_ROUNDS, STEADY_SLOPE_RATIO, Steadiness, series_steadiness, steadiness, window_steadiness,
};
pub use steps::{StepFit, step_fit};
pub use student::{MeanInterval, mean_interval, normal_quantile, t_quantile};
