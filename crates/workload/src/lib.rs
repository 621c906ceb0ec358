//! Pure, seeded sources of the next operation.
//!
//! A [`Source`] is asked for operations by the engine's loop and hears of their completions, so that replay with
//! dependencies, soak and a recorder fit the same loop as sequential and random streams. Seed in, operations out: the
//! same seed and the same completions give the same operations.
//!
//! [`Stream`] gives plain sequential and random streams at the least cost, [`Pattern`] any stream that a plan can say;
//! [`is_plain`] tells which serves.
//!
//! Deliberately absent: system calls, clocks (the time is a parameter), data content, histograms.

mod file_space;
mod op;
mod pace;
mod pattern;
#[cfg(test)]
mod pattern_tests;
mod permutation;
mod places;
mod popularity;
mod random;
mod sizes;
mod stream;

pub use file_space::FileSpace;
pub use op::{BlockOp, Next, OpKind, Outcome, Source};
pub use pattern::{Pattern, is_plain};
pub use permutation::Permutation;
pub use stream::Stream;
