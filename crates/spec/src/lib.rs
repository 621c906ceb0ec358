//! Text and what is known of the target become a plan with nothing left to decide.
//!
//! Built-in workloads are TOML files in `workloads/`, simulated devices are TOML files in `sims/`; both are data that a
//! person can read and print. Everything here is pure: the same inputs give the same plan.
//!
//! Deliberately absent: the file system (includes and files arrive as text), clocks, anything that measures.

mod check;
mod ladder;
mod share;
mod sim;
mod sim_key;
mod text;

pub use check::{CheckInputs, Readiness, check, check_budget};
pub use ladder::{LADDER_BYTES, SizeInputs, choose_size};
pub use share::{LEAST_SHARE_NS, fit_to_remaining};
pub use sim::{SimSpecError, parse_sim, sim_keys, sim_models};
pub use sim_key::SimKey;
pub use text::SpecError;
