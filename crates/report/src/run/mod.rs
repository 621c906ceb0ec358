//! What a run has to show beside a check: tables found by the shape of its phases, and what has to be said with them.
//!
//! Text, Markdown and page show the same [`Table`]s; only the page draws more.

mod card;
mod form;
mod grid;
mod markdown;
mod remarks;

pub use remarks::data_finding_text;
mod table;
mod tables;

pub(crate) use card::{table_of, validity_words};
pub(crate) use form::{Form, forms};
pub(crate) use grid::{Grid, GridCell};
pub(crate) use markdown::numbers as markdown_numbers;
pub(crate) use remarks::{Weight, percent, remarks};
pub(crate) use table::{Cell, Table, fits, render};
pub(crate) use tables::{
    Numbers, bursts_table, depth_table, grid_table, pairs_table, replays_table, rows_table, waits_table,
};
