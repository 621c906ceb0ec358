//! The text of `narrows experiment list`.

use crate::Style;
use crate::document::ExecutionsDocument;
use crate::listing::action_text;

/// A line for each execution, the last one at the end.
pub fn executions_text(document: &ExecutionsDocument<'_>, style: &Style) -> String {
    if document.experiments.is_empty() {
        return "No experiment was run here.\n".to_owned();
    }
    let lines = document.experiments.iter().map(|e| {
        let target = e.target.map_or_else(String::new, |target| format!(", on {target}"));
        let state = match e.complete {
            true => format!("complete: {} runs{target}", e.runs),
            false => format!("{} of {} runs{target}; experiment run --resume {}", e.made, e.runs, e.id),
        };
        (e.id.to_owned(), state)
    });
    action_text(&lines.collect::<Vec<_>>(), style)
}
