//! Pure, seeded sources of the next operation.
//!
//! A [`Source`] is asked for operations by the engine's loop and hears of their completions, so that replay with
//! dependencies, soak and a recorder fit the same loop as sequential and random streams. Seed in, operations out: the
//! same seed and the same completions give the same operations.
//!
//! Deliberately absent: system calls, clocks (the time is a parameter), data content, histograms.

mod op;
mod permutation;
mod stream;

pub use op::{BlockOp, Next, OpKind, Outcome, Source};
pub use permutation::Permutation;
pub use stream::Stream;
