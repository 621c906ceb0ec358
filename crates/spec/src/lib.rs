//! Text and what is known of the target become a plan with nothing left to decide.
//!
//! Built-in workloads are TOML files in `workloads/`, simulated devices are TOML files in `sims/`; both are data that a
//! person can read and print. Everything here is pure: the same inputs give the same plan.
//!
//! Workloads come in two languages, TOML ([`parse_workload`]) and fio's job files ([`parse_fio`]); both become a [`Workload`],
//! and [`Workload::plan`] is the one place where what a text leaves open is decided. The check-up is one of them, whose
//! phases share a budget of time. docs/design/workloads.md describes the languages.
//!
//! Deliberately absent: the file system (includes and files arrive as text), clocks, anything that measures.

mod blktrace;
mod boot;
mod budget;
mod builtin;
mod experiment;
mod extent;
mod fio;
mod frames;
mod job;
mod job_key;
mod keys;
mod ladder;
mod layers;
mod nearest_key;
mod notes;
mod packages;
mod plan_size;
mod replay;
mod resolve;
mod run_inputs;
mod share;
mod sim;
mod sim_effect;
mod sim_help;
mod sim_key;
mod sim_memory_bus;
mod study;
mod text_error;
mod text_inputs;
mod toml_values;
mod top_key;
mod trace;
mod values;
mod workload;

pub use blktrace::{blktrace_text, is_blktrace};
pub use builtin::{built_in, nearest_workload, studies, workload_text, workloads};
pub use experiment::{Arm, Condition, Experiment, Setting, Term, WorkloadSource, is_experiment, parse_experiment};
pub use fio::{fio_names, fio_options, our_key, parse_fio};
pub use frames::{is_frames, parse_frames};
pub use job::Workload;
pub use job_key::job_keys;
pub use keys::{Key, nearest};
pub use layers::{LevelWork, is_layers, level_workload, parse_layers};
pub use replay::replay_workload;
pub use resolve::{EARLY_HALF_WIDTH, ResolveError};
pub use run_inputs::{PlainCalls, Probe, Readiness, RunInputs};
pub use share::MIN_SHARE_NS;
pub use sim::{SimSpecError, parse_sim, sim_models};
pub use sim_help::{SimHelp, sim_help};
pub use sim_key::sim_keys;
pub use sim_memory_bus::{parse_sim_bus, sim_bus_keys};
pub use text_error::{TextError, TextErrorKind, TextPosition};
pub use text_inputs::{TextInputs, TextMachine};
pub use top_key::top_keys;
pub use trace::{is_trace, parse_trace};
pub use values::cpus as parse_cpus;
pub use workload::parse_workload;
