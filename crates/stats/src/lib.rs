//! Pure statistics: values and a seed in, a value out.
//!
//! Invariants:
//! - Nothing here knows what the numbers mean; units are the caller's.
//! - Too few or degenerate values give `None`, never a made-up number; nothing panics on NaN or infinity.
//! - What is random takes a seed and gives the same answer for it on every machine.
//!
//! Deliberately absent: I/O, clocks, names of storage things, thresholds that are policy (they are parameters).

mod batch;
mod moments;
mod student;

pub use batch::{BatchInterval, batch_interval};
pub use moments::{mean, variance, weighted_mean};
pub use student::{MeanInterval, mean_interval, t_quantile};
