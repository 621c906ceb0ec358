//! The JSON contracts. Other people's scripts rely on these keys: more may be added, none renamed or removed.
//!
//! Its first key is `schema`: a tag, of which the type's name in serde is the value. Absent knowledge is `null`, never 0 and never a missing
//! key. `tests/report/documents.rs` redeclares every document with unknown fields denied.

mod action;
mod answered;
mod capture;
mod check;
mod compare;
mod completions;
mod copy;
mod error;
mod executions;
mod explain;
mod fill;
mod frames;
mod history;
mod import;
mod inspect;
mod layers;
mod plan;
mod rank;
mod rate;
mod record;
mod run;
mod runs;
mod settings;
mod simulated;
mod site;
mod soak;
mod trace;
mod tune;
mod watch;
mod wear;
mod why;
mod workloads;

pub use action::{ActionDocument, ActionResult, PageDocument};
pub use answered::{Answered, Answers};
pub use capture::CaptureEntry;
pub use check::{CheckDocument, ChecksDocument, PhaseSummary};
pub use compare::{CompareDocument, CompareSide, ExperimentDocument, ExperimentStep, ExperimentSummary, NoiseEntry};
pub use completions::CompletionsDocument;
pub use copy::{CopyDocument, CopyEntry, CopyFinding};
pub use error::ErrorDocument;
pub use executions::{ExecutionEntry, ExecutionsDocument};
pub use explain::{ExplainDocument, ExplainListDocument, ExplainListEntry, ExplainUseDocument};
pub use fill::FillDocument;
pub use frames::{FramesDocument, FramesPlanDocument};
pub use history::{HistoryAckDocument, HistoryDocument};
pub use import::{ImportDocument, ImportMetric, ImportOriginal, ImportRest, ImportRun};
pub use inspect::{InspectCeiling, InspectDocument, InspectLayer, UnknownFact};
pub use layers::{LayersDocument, LayersPlanDocument};
pub use plan::PlanDocument;
pub use rank::RankDocument;
pub use rate::{RateCapacity, RateDocument};
pub use record::{
    RecordDeferred, RecordDocument, RecordLimit, RecordPlanDocument, RecordStream, RecordedStream, RecordingChecked,
    RecordingDocument, RecordingExported, RecordingGap, RecordingPinned,
};
pub use run::{RunDocument, RunPhase, RunVerify};
pub use runs::{RunEntry, RunsDocument};
pub use settings::{ListedSetting, ListedValue, SettingsListDocument};
pub use simulated::{SimulatedDocument, SimulatedFault};
pub use site::SiteDocument;
pub use soak::{CounterChange, SoakDocument};
pub use trace::TraceDocument;
pub use tune::{TuneDocument, TunePlanDocument, TuneVerifyDocument};
pub use watch::{WatchDocument, WatchLayer, WatchPressure, WatchTemperature};
pub use wear::{WearDocument, WearPlace, WearWriter};
pub use why::{WhyCause, WhyDocument};
pub use workloads::{WorkloadDocument, WorkloadEntry, WorkloadsDocument};

use serde::Serialize;

/// The document as indented JSON with a newline at its end: what `--json` prints, and nothing else.
///
/// # Errors
/// None of these documents can fail; another type may.
pub fn to_json(document: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = model::sanitize_json(serde_json::to_string_pretty(document)?);
    text.push('\n');
    Ok(text)
}

/// Nanoseconds as seconds, for `_s` keys.
fn seconds(ns: u64) -> f64 {
    ns as f64 / model::NS_PER_S as f64
}

#[cfg(test)]
mod tests {
    use super::to_json;

    #[test]
    fn what_could_act_on_a_terminal_is_escaped_in_a_document_too() {
        let names = ["a\u{7f}b", "\u{9b}31m", "\u{202e}abc", "\u{e0001}", "\x1b[2J", "größer 盤"];
        let json = to_json(&names).unwrap();
        assert!(!json.contains(|c| c != '\n' && model::is_control(c)), "{json:?}");
        assert!(json.contains("größer 盤"), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), names);
    }
}
