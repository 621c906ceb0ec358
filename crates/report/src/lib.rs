//! Shows what the other rooms found: the card on the terminal, JSON documents, Markdown, the self-contained page.
//!
//! What a result says is described once, as parts without layout (`presentation`); terminal, Markdown and page draw the same
//! parts. A check or a run starts from one borrowed value, [`Check`]: the run and what diagnosis and judge concluded from it. From it
//! come [`card()`] (80 columns, pasteable), [`markdown()`], [`document::CheckDocument`] (`narrows/check/1`) and [`page()`].
//! A run that is no check-up is shown by the shape of its phases, never by its workload's name: a grid, a depth curve, pairs
//! of reading and writing, percentiles, or a row a phase.
//!
//! Invariants:
//! - A number stands bare only if its status is `measured`; one that is not trusted stands in brackets with a mark and its
//!   reason, and nothing is made of it.
//! - A number never shows more digits than its interval carries ([`quantity`]).
//! - Text from outside (target and model names, kernel log, reasons) is escaped for the place it lands in: control and
//!   bidirectional characters on terminals, mark-up in pages, pipes and back-ticks in Markdown.
//! - The page loads nothing: its Content-Security-Policy forbids every fetch and names each inlined block by its hash.
//! - Times arrive as text. This room has no clock and no calendar.
//!
//! Deliberately absent: results. Nothing here computes a metric, a verdict, a rating or a confidence; rates drawn in
//! plots are bytes over time of consecutive samples, intervals or rounds.

mod answer;
mod brief;
mod check;
mod compare;
mod copy;
mod describe;
mod differences;
pub mod document;
mod evidence;
mod executions;
mod fact;
mod fill;
mod finding_page;
mod frames;
mod group_answer;
mod grouped;
mod headline;
mod history;
mod import;
mod inspect;
mod inspect_list;
mod layers;
mod life;
mod lines;
mod listing;
mod measured;
mod page;
mod plain_card;
mod plan;
mod presentation;
pub mod quantity;
mod rank;
mod ranks;
mod rate;
mod record;
mod repeated;
mod responsive;
mod run;
mod scale;
mod settings;
mod side_by_side;
mod simulated;
mod site;
mod soak;
mod spark;
mod storage;
mod style;
pub mod text;
mod tune;
mod verdict;
mod watch;
mod watch_csv;
mod watch_live;
mod wear;
mod why;

pub use answer::is_answered;
pub use brief::brief;
pub use check::Check;
pub use compare::{Compare, Side, compare, comparisons};
pub use copy::copy;
pub use describe::{card, describe, markdown};
pub use executions::executions;
pub use finding_page::{finding_markdown, findings_index};
pub use frames::{frames, frames_plan};
pub use history::{History, acknowledged, history};
pub use import::import;
pub use inspect::{Inspection, inspection};
pub use inspect_list::disks;
pub use layers::{layers, layers_plan};
pub use lines::closing;
pub use listing::{actions, explain, explain_list, explain_use, runs, workloads};
pub use measured::imported as imported_answer;
pub use model::{NextStep, WatchTick};
pub use page::{
    chart, compare_page, framed, frames_page, history_page, layers_page, page, rank_page, runs_page, site_pages,
    text_of, tune_page,
};
pub use plan::{plan, time_at_most, time_without_limit};
pub use presentation::{Presentation, verbatim};
pub use rank::{Rank, rank};
pub use rate::rate;
pub use record::{record, record_plan, recording};
pub use repeated::{Repeated, repeated};
pub use run::data_finding_text;
pub use settings::settings_list;
pub use side_by_side::side_by_side;
pub use simulated::simulated;
pub use site::site;
pub use soak::soak;
pub use storage::{identity, link_name, link_text, storage_line};
pub use style::{Paint, Style};
pub use tune::{tune_plan, tune_verification, tuning};
pub use watch::{WatchedLayer, watch_block, watch_header, watch_interval, watch_layers_line};
pub use watch_csv::{CsvOrigin, WatchCsv, watch_csv_header, watch_csv_rows};
pub use watch_live::{LiveTitle, live_screen};
pub use wear::wear;
pub use why::{Why, why};
