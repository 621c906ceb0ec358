//! The program as a user meets it: every test runs the binary.

mod archive;
mod bad_input;
mod compare;
mod contract;
mod endings;
mod experiment;
mod export;
mod few_threads;
mod foreign_text;
mod import;
mod inspect;
mod old_bundle;
mod other_names;
mod outputs;
mod pages;
mod program;
mod rank;
mod run;
mod simulated;
mod targets;
mod texts;
mod verified;
mod watch;
mod why;
mod workloads;
