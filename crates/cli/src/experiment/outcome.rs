//! The answer of an experiment: tags, comparisons, noise, page and document.

use super::declared::{asked, same_arm};
use super::noise;
use super::state::{State, tag_of};
use crate::args::RunArgs;
use crate::output::Output;
use crate::output_file;
use crate::report_page;
use archive::Archive;
use judge::{Asked, Noise};
use model::{Comparison, Failure, FailureKind, Run, Verdict};
use report::document::{CompareDocument, ExperimentDocument, ExperimentStep, ExperimentSummary, NoiseEntry};
use report::{Compare, Side};
use spec::Experiment;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Gives the arms' tags to the runs of this execution, and takes them from those of earlier ones: a tag that held both
/// would mix two experiments.
pub fn tag(archive: &Archive, state: &State, more: &[String]) -> Result<(), Failure> {
    let mut cleared: Vec<String> = Vec::new();
    for step in &state.steps {
        let Some(run) = &step.run_id else { continue };
        let tag = tag_of(&state.name, &step.arm_name);
        if !cleared.contains(&tag) {
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
    steps.sort_by_key(|s| s.pair);
    (0..experiment.arms.len())
        .map(|arm| {
            let ids = steps.iter().filter(|s| s.arm == arm).filter_map(|s| s.run_id.as_deref());
            ids.map(|id| archive.load(id).map_err(Failure::from)).collect()
        })
        .collect()
}

/// Compares, writes the page, prints, and gives the exit code.
pub fn show(
    experiment: &Experiment,
    state: &State,
    archive: &Archive,
    args: &RunArgs,
    output: &Output,
    clean: bool,
) -> Result<ExitCode, Failure> {
    let arms = runs_by_arm(experiment, state, archive)?;
    let Some((first, others)) = arms.split_first() else {
        return Err(Failure::new(FailureKind::Internal, "an experiment without arms"));
    };
    let arm_of = |i: usize| experiment.arms.get(i);
    let mut comparisons: Vec<Comparison> = others
        .iter()
        .enumerate()
        .map(|(i, b)| {
            let same_arm = arm_of(0).zip(arm_of(i + 1)).is_some_and(|(a, b)| same_arm(a, b));
            judge::compare(first, b, &Asked { same_arm, ..asked(experiment) })
        })
        .collect();
    if comparisons.len() > 1 {
        let reason = format!(
            "several-arms: {} arms are compared with the first; alpha {} is shared among them",
            comparisons.len(),
            experiment.alpha
        );
        comparisons.iter_mut().for_each(|c| c.reasons.push(reason.clone()));
    }
    let floor = match (state.calibrate, first.first(), comparisons.first()) {
        (true, Some(run), Some(comparison)) => noise::keep(archive, &state.id, run, comparison)?,
        _ => BTreeMap::new(),
    };
    let path = match &args.report {
        Some(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        None => archive.report_path(&state.id),
    };
    let shown = path.display().to_string();
    let name = |i: usize| experiment.arms.get(i).map_or("", |a| a.name.as_str());
    let views: Vec<Compare<'_>> = comparisons
        .iter()
        .zip(others)
        .enumerate()
        .map(|(i, (comparison, runs))| Compare {
            comparison,
            a: Side { name: name(0), runs: first },
            b: Side { name: name(i + 1), runs },
            question: &experiment.question,
            page: Some(&shown),
        })
        .collect();
    let page = report_page::comparisons(&experiment.name, &views, args.identify).and_then(|html| match &args.report {
        Some(path) => output_file::write(path, html.as_bytes()),
        None => Ok(archive.write_report(&state.id, &html).map(drop)?),
    });
    if output.is_json() {
        document(experiment, state, &arms, &views, &floor, args, output, page.is_ok().then_some(shown.as_str()));
    } else {
        views.iter().for_each(|v| output.text(&format!("{}\n", report::compare_text(v, output.style()))));
        output.text(&noise_text(&floor, &comparisons));
        let tags: Vec<String> = (0..arms.len()).map(|i| tag_of(&state.name, name(i))).collect();
        output.text(&format!(
            "Runs: narrows runs show {}; again: narrows compare {}\n",
            state.id_of_last(),
            tags.join(" ")
        ));
    }
    page?;
    Ok(match comparisons.iter().all(|c| c.overall == Verdict::Invalid) {
        _ if !clean => ExitCode::from(1),
        true => ExitCode::from(FailureKind::Invalid.exit_code()),
        false => ExitCode::SUCCESS,
    })
}

#[expect(clippy::too_many_arguments, reason = "each is one part of the document")]
fn document(
    experiment: &Experiment,
    state: &State,
    arms: &[Vec<Run>],
    views: &[Compare<'_>],
    floor: &BTreeMap<String, Noise>,
    args: &RunArgs,
    output: &Output,
    page: Option<&str>,
) {
    let last_id = state.id_of_last();
    let Some(last) = arms.iter().flatten().find(|r| r.id == last_id) else { return };
    let mut tags = args.tags.clone();
    tags.extend(last.experiment.as_ref().map(|p| tag_of(&state.name, &p.arm)));
    let summary = ExperimentSummary {
        id: &state.id,
        name: &state.name,
        question: &experiment.question,
        seed: state.seed,
        order: state
            .steps
            .iter()
            .map(|s| ExperimentStep { pair: s.pair, arm: &s.arm_name, run_id: s.run_id.as_deref() })
            .collect(),
        complete: state.is_complete(),
        noise: floor
            .iter()
            .map(|(id, n)| NoiseEntry {
                id,
                paired_percent: n.paired * 100.0,
                single_percent: n.single * 100.0,
                pairs: n.pairs,
            })
            .collect(),
    };
    let comparisons = views.iter().map(CompareDocument::new).collect();
    output.document(&ExperimentDocument::new(last, &tags, summary, comparisons, page));
}

/// What a calibration found of the metrics that are asked.
fn noise_text(floor: &BTreeMap<String, Noise>, comparisons: &[Comparison]) -> String {
    if floor.is_empty() {
        return String::new();
    }
    let mut out = "Noise of this rig, kept in the archive:\n".to_owned();
    let asked = comparisons.iter().flat_map(|c| &c.metrics).filter(|m| m.primary);
    for (metric, noise) in asked.filter_map(|m| Some((m, floor.get(&m.id)?))) {
        out.push_str(&format!(
            "  {}: {:.2} % over {} pairs; single runs {:.1} %\n",
            metric.id,
            noise.paired * 100.0,
            noise.pairs,
            noise.single * 100.0
        ));
    }
    out.push('\n');
    out
}
