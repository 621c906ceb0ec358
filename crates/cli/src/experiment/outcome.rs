//! The answer of an experiment: page, text and document.

use crate::args::FailOn;
use crate::args::RunArgs;
use crate::output::Output;
use crate::output_file;
use crate::report_page;
use archive::Archive;
use experiments::experiment::{ExperimentResult, State, tag_of};
use judge::Noise;
use model::{Comparison, Failure, FailureKind, Verdict};
use report::Repeated;
use report::document::{CompareDocument, ExperimentDocument, ExperimentStep, ExperimentSummary, NoiseEntry};
use report::{Compare, Side};
use spec::Experiment;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Writes the page, prints, and gives the exit code.
pub fn show(
    experiment: &Experiment,
    state: &State,
    archive: &Archive,
    args: &RunArgs,
    output: &Output,
    clean: bool,
) -> Result<ExitCode, Failure> {
    let outcome = ExperimentResult::of(experiment, state, archive, args.strict)?;
    let ExperimentResult { arms, comparisons, noise, .. } = &outcome;
    let Some((first, others)) = arms.split_first() else {
        return Err(Failure::internal("an experiment without arms"));
    };
    if others.is_empty() {
        let tag = tag_of(&state.name, "", 1);
        if output.is_json() {
            document(experiment, state, &outcome, &[], args, output, None);
        } else {
            let target = first.first().map_or("", |run| run.target.name.as_str());
            let view = Repeated { tag: &tag, runs: first.len(), target, metrics: &outcome.repeated };
            output.part(&report::repeated(&view));
        }
        return Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
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
        document(experiment, state, &outcome, &views, args, output, page.is_ok().then_some(shown.as_str()));
    } else {
        let tags: Vec<String> = (0..arms.len()).map(|i| tag_of(&state.name, name(i), arms.len())).collect();
        let runs = format!(
            "{}Runs:  narrows runs show {}\nAgain: narrows compare {}\n",
            noise_text(noise, comparisons),
            state.id_of_last(),
            tags.join(" ")
        );
        // On a terminal the answer is last, as everywhere.
        if output.is_terminal() {
            output.text(&runs);
        }
        for (view, tag) in views.iter().zip(&tags[1..]) {
            let again = format!("narrows compare {} {tag} --details", tags[0]);
            output.part(&report::compare(view, output.is_markdown()).all_of_it(again));
        }
        if let [_, _, ..] = views[..] {
            output.part(&report::comparisons(&views));
        }
        if !output.is_terminal() {
            output.text(&format!("\n{runs}"));
        }
    }
    page?;
    let worse = comparisons.iter().flat_map(|c| &c.metrics).any(|m| m.primary && m.verdict == Verdict::Worse);
    let open = comparisons.iter().any(|c| c.overall == Verdict::Unclear);
    Ok(match open || comparisons.iter().all(|c| c.overall == Verdict::Invalid) {
        _ if !clean || (worse && args.fail_on == Some(FailOn::Worse)) => ExitCode::from(1),
        true => ExitCode::from(FailureKind::Invalid.exit_code()),
        false => ExitCode::SUCCESS,
    })
}

fn document(
    experiment: &Experiment,
    state: &State,
    outcome: &ExperimentResult,
    views: &[Compare<'_>],
    args: &RunArgs,
    output: &Output,
    page: Option<&str>,
) {
    let last_id = state.id_of_last();
    let Some(last) = outcome.arms.iter().flatten().find(|r| r.id == last_id) else { return };
    let mut tags = args.marks.tags.clone();
    tags.extend(last.experiment.as_ref().map(|p| tag_of(&state.name, &p.arm, state.arms())));
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
        repeated: &outcome.repeated,
        noise: outcome
            .noise
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
