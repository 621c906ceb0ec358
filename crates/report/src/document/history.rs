//! `narrows/history/1`: series and the events at which they changed.

use crate::history::answer;
use model::{History, HistoryEvent};
use serde::Serialize;

/// What `narrows history --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/history/1")]
pub struct HistoryDocument<'a> {
    /// Series, events, and what has to be known of the runs.
    #[serde(flatten)]
    pub history: &'a History,
    /// The answer in a sentence.
    pub answer: String,
    /// Whether no event for the worse is left that nobody acknowledged.
    pub met: bool,
    /// The page; null where none was written.
    pub report: Option<&'a str>,
}

impl<'a> HistoryDocument<'a> {
    pub fn new(view: &crate::History<'a>) -> Self {
        let history = view.history;
        Self { history, answer: answer(history), met: history.open().next().is_none(), report: view.page }
    }
}

/// What `narrows history ack --json` prints: the event as it is now.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/history-ack/1")]
pub struct HistoryAckDocument<'a> {
    pub event: &'a HistoryEvent,
}

impl<'a> HistoryAckDocument<'a> {
    pub fn new(event: &'a HistoryEvent) -> Self {
        Self { event }
    }
}
