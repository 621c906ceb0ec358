//! A target that was written once from its start to its end, as text.

use crate::lines::Lines;
use crate::quantity;
use crate::run::data_finding_text;
use crate::text::{pad, plain};
use crate::{Paint, Style, identity, storage_line};
use model::{DataFault, DataFinding, Filled, Run, VerifyRecord};

/// Findings that are shown one by one.
const MOST_SHOWN: usize = 6;
/// Columns of the bars.
const BAR: usize = 30;
/// A rate after the rest is the first one again where it reaches so much of it.
const BACK: f64 = 0.9;

/// A target that was filled, as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct FillView<'a> {
    pub run: &'a Run,
    /// While all of it was written.
    pub filled: Option<&'a Filled>,
    /// After the rest.
    pub rested: Option<&'a Filled>,
    pub page: Option<&'a str>,
}

/// Where the rate falls, how much went at the first rate, and whether that came back: in a sentence.
fn sentence(view: &FillView<'_>) -> Option<String> {
    let filled = view.filled?;
    let all = quantity::size(filled.bytes);
    let Some(cliff) = filled.cliff else {
        return Some(format!("{all} written at one rate, {}.", quantity::rate(filled.bytes_per_s)));
    };
    let mut text = format!(
        "{} for the first {}, then {} to the end of {all}",
        quantity::rate(cliff.before_bytes_per_s),
        quantity::size(cliff.bytes),
        quantity::rate(cliff.after_bytes_per_s)
    );
    if let Some(rested) = view.rested {
        let rest = quantity::duration(view.run.plan.quiet_ns.saturating_mul(2));
        let first = rested.cliff.map_or(rested.bytes_per_s, |c| c.before_bytes_per_s);
        let for_bytes = rested.cliff.map_or_else(String::new, |c| format!(" for {}", quantity::size(c.bytes)));
        let again = if first >= BACK * cliff.before_bytes_per_s { "again " } else { "" };
        text.push_str(&format!("; after {rest} of rest {again}{}{for_bytes}", quantity::rate(first)));
    }
    Some(text + ".")
}

/// Whether what was written came back, and how large the device really is.
fn came_back(verify: &VerifyRecord) -> Vec<(String, Paint)> {
    let read = quantity::size(verify.bytes_verified);
    if verify.mismatched() == 0 && verify.findings.is_empty() {
        return vec![(format!("{read} read back: nothing is wrong."), Paint::Accent)];
    }
    let real = |f: &&DataFinding| matches!(f.class, DataFault::WrapAround | DataFault::LimboCapacity);
    let mut all = match verify.findings.iter().find(real) {
        Some(f) => vec![(format!("FAKE: only {} are there.", quantity::size(f.lba * 512)), Paint::Bad)],
        None => {
            let count = verify.mismatched();
            let places = if count == 1 { "place" } else { "places" };
            vec![(format!("DATA ARE WRONG at {} {places} of {read}.", quantity::count(count)), Paint::Bad)]
        }
    };
    all.extend(verify.findings.iter().take(MOST_SHOWN).map(|f| (format!("- {}", data_finding_text(f)), Paint::Bad)));
    all
}

/// The sentence, the rate by how much was written, and what must be said with it.
pub fn fill_text(view: &FillView<'_>, style: &Style) -> String {
    let run = view.run;
    let mut out = Lines::new(style);
    out.title(&format!("narrows fill {}", identity(run)), "");
    out.wrapped("", &storage_line(run), None);
    out.line("");
    match sentence(view) {
        Some(sentence) => out.wrapped("  ", &sentence, Some(Paint::Accent)),
        None => out.wrapped("  ", "No rate stands: see the page, or narrows runs show latest.", Some(Paint::Warn)),
    }
    let parts = view.filled.map(|f| f.parts.as_slice()).unwrap_or_default();
    let most = parts.iter().map(|p| p.bytes_per_s).fold(0.0, f64::max);
    if most > 0.0 {
        out.line("");
        let heading = format!("  {}  {:>10}  {:>12}", pad("written", 12), "rate", "least second");
        out.line(&style.paint(Paint::Dim, &heading));
    }
    for part in parts.iter().filter(|_| most > 0.0) {
        let cells = ((part.bytes_per_s / most * BAR as f64).round() as usize).clamp(1, BAR);
        let bar = if style.ascii { "#".repeat(cells) } else { "█".repeat(cells) };
        let [rate, least] = [part.bytes_per_s, part.least_bytes_per_s].map(quantity::rate);
        let to = format!("to {}", quantity::size(part.end_bytes));
        out.line(format!("  {}  {rate:>10}  {least:>12}  {bar}", pad(&to, 12)).trim_end());
    }
    out.line("");
    // Of all of it; what was written after the rest lies over its start.
    if let Some(verify) = run.phases.iter().find_map(|p| p.record.as_ref()?.verify.as_ref()) {
        for (text, paint) in came_back(verify) {
            out.wrapped("  ", &text, Some(paint));
        }
    }
    for phase in &run.phases {
        for reason in &phase.reasons {
            let text = format!("{}: {}", phase.plan.name, model::Reason::of(reason).sentence);
            out.wrapped("  * ", &text, Some(Paint::Dim));
        }
    }
    out.line(&format!("  Run   {}", plain(&run.id, style.ascii)));
    if let Some(page) = view.page {
        out.line(&format!("  Page  {}", plain(page, style.ascii)));
    }
    out.out
}
