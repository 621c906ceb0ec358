//! What a run has to show beside a check: tables found by the shape of its phases, and what has to be said with them.

mod form;
mod grid;
mod packages;
mod remarks;
mod tables;

pub use remarks::data_finding_text;

pub(crate) use form::{Form, forms};
pub(crate) use grid::{Grid, GridCell};
pub(crate) use packages::{packages_sentence, paused_sentence};
pub(crate) use remarks::{percent, remarks};
pub(crate) use tables::{Numbers, table_of};
