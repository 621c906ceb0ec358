//! What an experiment came to: its runs by arm, compared; the noise of a calibration; tags.

use super::declared::{asked, compared, same_arm};
use super::noise;
use super::state::{State, tag_of};
use archive::Archive;
use judge::{Asked, Noise};
use model::{CompactSort as _, Comparison, Failure, Metric, Reason, Run};
use spec::Experiment;
use std::collections::BTreeMap;

/// What was measured, and what is said of it.
pub struct ExperimentResult {
    /// Runs of each arm, in the order of the pairs.
    pub arms: Vec<Vec<Run>>,
    /// Each other arm against the first.
    pub comparisons: Vec<Comparison>,
    /// Where there is one arm: what its runs say together.
    pub repeated: Vec<Metric>,
    /// Of a calibration: the noise of this rig by metric, now kept in the archive.
    pub noise: BTreeMap<String, Noise>,
}

impl ExperimentResult {
    /// Of an execution of which all runs are made; `strict` where runs that something slowed do not count.
    ///
    /// # Errors
    /// A run cannot be read, or the noise cannot be kept.
    pub fn of(experiment: &Experiment, state: &State, archive: &Archive, strict: bool) -> Result<Self, Failure> {
        let arms = runs_by_arm(experiment, state, archive)?;
        let first = arms.first().map(Vec::as_slice).unwrap_or_default();
        let pairs_of_arms = experiment.arms.iter().skip(1).zip(arms.iter().skip(1));
        let mut comparisons: Vec<Comparison> = pairs_of_arms
            .map(|(arm, runs)| {
                let same_arm = experiment.arms.first().is_some_and(|a| same_arm(a, arm));
                let compared = experiment.arms.first().map_or_else(Vec::new, |a| compared(a, arm));
                judge::compare(first, runs, &Asked { same_arm, compared, strict, ..asked(experiment) })
            })
            .collect();
        if comparisons.len() > 1 {
            let reason = Reason::of(
                "several-arms",
                format!(
                    "{} arms are compared with the first; alpha {} is shared among them",
                    comparisons.len(),
                    experiment.alpha
                ),
            );
            comparisons.iter_mut().for_each(|c| c.reasons.push(reason.clone()));
        }
        let noise = match (state.calibrate, first.first(), comparisons.first()) {
            (true, Some(run), Some(comparison)) => noise::keep(archive, &state.id, run, comparison)?,
            _ => BTreeMap::new(),
        };
        let repeated = if arms.len() == 1 { judge::repeated(&arms[0]) } else { Vec::new() };
        Ok(Self { repeated, arms, comparisons, noise })
    }
}

/// Gives the arms' tags to the runs of this execution, and takes them from those of earlier ones: a tag that held both
/// would mix two experiments. Runs that are only repeated join those that already have their tag.
pub(super) fn tag(archive: &Archive, state: &State, more: &[String]) -> Result<(), Failure> {
    let mut cleared: Vec<String> = Vec::new();
    for step in &state.steps {
        let Some(run) = &step.run_id else { continue };
        let tag = tag_of(&state.name, &step.arm_name, state.arms());
        if state.arms() > 1 && !cleared.contains(&tag) {
            archive.tag_remove(&tag, None)?;
            cleared.push(tag.clone());
        }
        archive.tag_add(&tag, run)?;
        more.iter().try_for_each(|t| archive.tag_add(t, run))?;
    }
    Ok(())
}

/// Runs by arm, in the order of the pairs.
fn runs_by_arm(experiment: &Experiment, state: &State, archive: &Archive) -> Result<Vec<Vec<Run>>, Failure> {
    let mut steps: Vec<_> = state.steps.iter().collect();
    steps.compact_sort_by_key(|s| s.pair);
    (0..experiment.arms.len())
        .map(|arm| {
            let ids = steps.iter().filter(|s| s.arm == arm).filter_map(|s| s.run_id.as_deref());
            ids.map(|id| archive.load(id).map_err(Failure::from)).collect()
        })
        .collect()
}
