//! What a run has to show beside a check: tables found by the shape of its phases, and what has to be said with them.

mod form;
mod grid;
mod imported;
mod numbers;
mod packages;
mod remarks;
mod tables;

pub use remarks::data_finding_text;

pub(crate) use form::{Form, forms};
pub(crate) use grid::{Grid, GridCell, grid_answer};
pub(crate) use imported::{is_detail, reports_table};
pub(crate) use numbers::Numbers;
pub(crate) use packages::{is_known as packages_are_known, packages_sentence, paused_sentence};
pub(crate) use remarks::{percent, remarks};
pub(crate) use tables::{replays_answer, table_of};
