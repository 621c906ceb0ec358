//! What comes of a search and its confirmation.

use super::Prepared;
use super::candidates::named;
use super::confirm::Confirmed;
use super::trial::Trial;
use super::walk::Walk;
use judge::search::{Change, Search};
use model::{Failure, NotTried, TuneTried, TuneValue, Tuning};

/// Searches, and proves what was found.
///
/// # Errors
/// A number cannot be had at all, or it was interrupted; the settings are as they were, or the failure says what
/// is not.
pub(super) fn search(prepared: &Prepared<'_>, trial: &Trial<'_>) -> Result<Tuning, Failure> {
    let mut walk = Walk::new(prepared, trial);
    let search = walk.searched()?;
    let confirmed = walk.confirmed(&search)?;
    walk.end()?;
    Ok(walk.result(&search, confirmed))
}

impl Walk<'_> {
    fn result(&self, search: &Search, confirmed: Confirmed) -> Tuning {
        let Prepared { asked, candidates, id, target, .. } = self.prepared;
        let first = self.first();
        let mut rejected = confirmed.rejected.into_iter();
        let tried = search.tried().into_iter().map(|tried| TuneTried {
            settings: named(candidates, &tried.cell)
                .into_iter()
                .map(|(name, value)| TuneValue { name, value })
                .collect(),
            ratio: tried.ratio,
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
            winner: confirmed.winner,
            rejected: rejected.next(),
            rejected_next: rejected.next(),
            bytes_written: self.state.bytes_written,
            duration_ns: self.spent(),
            tags: self.trial.execution.archive.map(|_| confirmed.tags).unwrap_or_default(),
        }
    }
}
