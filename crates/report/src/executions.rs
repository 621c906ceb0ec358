//! `narrows experiment list`.

use crate::document::ExecutionsDocument;
use crate::listing::actions;
use crate::presentation::Presentation;

/// Each execution, the last one at the end.
pub fn executions(document: &ExecutionsDocument<'_>) -> Presentation {
    if document.experiments.is_empty() {
        return actions(&[("No experiment was run here.".to_owned(), String::new())]);
    }
    let lines = document.experiments.iter().map(|e| {
        let target = e.target.map_or_else(String::new, |target| format!(", on {target}"));
        let state = match e.complete {
            true => format!("complete: {} runs{target}", e.runs),
            false => format!("{} of {} runs{target}; experiment run --resume {}", e.made, e.runs, e.id),
        };
        (e.id.to_owned(), state)
    });
    actions(&lines.collect::<Vec<_>>())
}
