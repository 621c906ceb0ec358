//! What comes of a search and its confirmation.

use super::Prepared;
use super::candidates::values;
use super::confirm::Confirmed;
use super::known;
use super::trial::Trial;
use super::walk::Walk;
use judge::search::{Change, Search, Tried};
use model::{Failure, NotTried, TuneTried, Tuning};

/// Searches, and proves what was found.
///
/// # Errors
/// A number cannot be had at all, or it was interrupted; the settings are as they were, or the failure says what
/// is not.
pub(super) fn search(prepared: &Prepared<'_>, trial: &Trial<'_>) -> Result<Tuning, Failure> {
    let mut walk = Walk::new(prepared, trial);
    let search = walk.searched()?;
    let confirmed = walk.confirmed(&search)?;
    let first = walk.first().clone();
    let line = |winner| known::line(winner, &first.metric, first.machine.as_deref(), &prepared.stack);
    walk.state.known = confirmed.winner.as_ref().map(line);
    walk.end()?;
    Ok(walk.result(&search, confirmed))
}

/// Standard errors from the middle of a 95 % interval to its end.
const INTERVAL: f64 = 1.96;

/// An end of the interval of what was tried.
fn end(tried: &Tried, errors: f64) -> Option<f64> {
    Some(tried.ratio? * (errors * tried.error?).exp())
}

impl Walk<'_> {
    fn result(&self, search: &Search, confirmed: Confirmed) -> Tuning {
        let Prepared { asked, candidates, id, target, .. } = self.prepared;
        let first = self.first();
        let mut rejected = confirmed.rejected.into_iter();
        let tried = search.tried().into_iter().map(|tried| TuneTried {
            settings: values(candidates, &tried.cell),
            ratio: tried.ratio,
            low: end(&tried, -INTERVAL),
            high: end(&tried, INTERVAL),
            measurements: tried.times,
        });
        let described = candidates.iter().enumerate().map(|(candidate, of)| {
            let tries = |alternative: &usize| search.tries(Change { candidate, alternative: *alternative });
            let mut described = of.described();
            let values: Vec<String> = (0..of.values.len()).filter(tries).map(|n| of.values[n].clone()).collect();
            described.not_tried = described.not_tried.or_else(|| values.is_empty().then_some(NotTried::NoTime));
            described.values = values;
            described
        });
        Tuning {
            id: id.clone(),
            target: target.clone(),
            asked: asked.objective.asked.clone(),
            metric: first.metric.clone(),
            unit: first.unit,
            better: Some(first.better),
            seed: asked.seed,
            margin_percent: asked.margin_percent,
            candidates: described.collect(),
            suggested: first.suggested.clone(),
            cells: search.cells(),
            noise_percent: search.noise().map(|noise| noise * 100.0),
            tried: tried.collect(),
            measurements: self.measurements.clone(),
            winner: confirmed.winner,
            rejected: rejected.next(),
            rejected_next: rejected.next(),
            bytes_written: self.state.bytes_written,
            duration_ns: self.spent(),
            tags: self.trial.execution.archive.map(|_| confirmed.tags).unwrap_or_default(),
        }
    }
}
