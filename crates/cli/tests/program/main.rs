//! The program as a user meets it: every test runs the binary.

mod archive;
mod bad_input;
mod contract;
mod endings;
mod export;
mod inspect;
mod program;
mod run;
mod simulated;
mod targets;
mod watch;
mod why;
mod workloads;
