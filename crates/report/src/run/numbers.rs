//! Numbers of a run as cells of tables.

use crate::headline::{Notes, doubt_of, status_word};
use crate::presentation::Cell;
use crate::quantity;
use model::{Metric, MetricStatus, PhaseRun, PhaseStatus};

/// The notes that cells point to, and what the table that is being filled has to say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    pub notes: Notes,
    pub(super) unsteady: bool,
}

impl Numbers {
    /// A metric, or why there is none; nothing where the phase has no such metric.
    pub(super) fn cell(&mut self, metric: Option<&Metric>) -> Cell {
        let Some(m) = metric else { return Cell::Empty };
        match (quantity::metric(m), m.status) {
            (Some(shown), _) if let Some(doubt) = doubt_of(m) => {
                Cell::Doubted { shown, note: self.notes.add_reasons(std::slice::from_ref(doubt)) }
            }
            (Some(shown), _) => Cell::Value { shown, p99: None, unsteady: false },
            (None, MetricStatus::Refused) => {
                let note = self.notes.add_reasons(&m.reasons);
                match quantity::rejected(m) {
                    Some(shown) => Cell::Doubted { shown, note },
                    None => Cell::Without { word: status_word(m.status), code: None, note, bad: true },
                }
            }
            // Too few operations for a percentile and the like: the table says it once.
            (None, _) => Cell::Text("-".into()),
        }
    }

    /// What was not steady is marked, and the mark explained.
    pub(super) fn marked(&mut self, mut cell: Cell, phase: &PhaseRun) -> Cell {
        if let Cell::Value { unsteady, .. } = &mut cell {
            *unsteady = phase.steady == Some(false);
            self.unsteady |= *unsteady;
        }
        cell
    }

    /// The reason for a phase without numbers.
    pub(super) fn without(&mut self, phase: &PhaseRun) -> Cell {
        let word = match phase.status {
            PhaseStatus::Measured => "measured",
            PhaseStatus::Refused => "refused",
            PhaseStatus::Skipped => "skipped",
            PhaseStatus::NotApplicable => "n/a",
        };
        let bad = phase.status == PhaseStatus::Refused;
        Cell::Without { word, code: None, note: self.notes.add_reasons(&phase.reasons), bad }
    }

    pub(super) fn footer(&mut self) -> Vec<String> {
        let said = std::mem::take(&mut self.unsteady);
        said.then(|| "~ not steady: the rate was not the same all the time".to_owned()).into_iter().collect()
    }
}

/// The metric of one quantity and scope: `""` the whole phase, `db.read` a direction of a job.
pub(super) fn metric_of<'a>(phase: &'a PhaseRun, scope: &str, quantity: &str) -> Option<&'a Metric> {
    phase.metrics.iter().find(|m| split(phase, m) == Some((scope, quantity)))
}

/// A metric's id without its phase: scope and quantity.
pub(super) fn split<'a>(phase: &PhaseRun, metric: &'a Metric) -> Option<(&'a str, &'a str)> {
    metric.key_in(phase).map(|key| (key.part(), key.quantity))
}
