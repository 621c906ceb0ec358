//! The structure of the tree, and what is true over all trees of machines.

mod circles;
mod fact_names;
mod findings_over_trees;
mod rooms;
mod sentences;
mod studies_over_trees;
mod walks;

#[allow(dead_code, reason = "another crate's tests use the rest of it")]
#[path = "../../../diagnose/tests/diagnose/run_builder/mod.rs"]
mod run_builder;
#[allow(dead_code, reason = "another crate's tests use the rest of it")]
#[path = "../../../observe/tests/observe/tree/mod.rs"]
mod tree;
