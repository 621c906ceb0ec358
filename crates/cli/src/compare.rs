//! `narrows compare A B`: did it help, did it hurt anything?

use crate::args::{CompareArgs, FailOn, GlobalArgs};
use crate::output::Output;
use crate::run_source::{Part, RunSource, Wants};
use crate::{archives, output_file, report_page};
use archive::Archive;
use experiments::experiment;
use judge::Asked;
use model::{Basis, Comparison, Failure, FailureKind, Reason, Run, Verdict};
use report::document::CompareDocument;
use report::{Compare, Side};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::process::ExitCode;

mod until_sure;

/// What `git bisect run` takes for "cannot be told"; any other code from 1 to 127 is bad to it (git-bisect(1)).
pub const CANNOT_TELL: u8 = 125;

/// The words of 'WORKLOAD TARGET'.
pub fn text_and_target(asked: &OsStr) -> (String, Option<String>) {
    let asked = asked.to_string_lossy();
    match asked.trim().split_once(char::is_whitespace) {
        Some((name, target)) => (name.to_owned(), Some(target.trim().to_owned())),
        None => (asked.trim().to_owned(), None),
    }
}

/// Executes the command.
pub fn command(args: &CompareArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let given = margins(&args.margins)?;
    if let Some(alpha) = args.alpha.filter(|a| !(*a > 0.0 && *a < 0.5)) {
        return Err(Failure::usage(format!("--alpha {alpha}: an error rate is above 0 and below 0.5")));
    }
    if let Some(times) = args.repeat {
        let margins = given.0.map(|p| (None, p)).into_iter().chain(given.1.into_iter().map(|(id, p)| (Some(id), p)));
        return crate::experiment::quick_compare(args, times, margins.collect(), global, output);
    }
    let Some(b) = &args.b else {
        return Err(Failure::usage("compare needs two sides, A and B"));
    };
    args.output.as_deref().map_or(Ok(()), output_file::check)?;
    if args.a == "-" && b == "-" {
        return Err(Failure::usage("stdin can be read once only"));
    }
    let archive = archives::open(global)?;
    // A page shows series and distributions; all else is said from the metrics.
    let part = if args.output.is_some() { Part::Whole } else { Part::Compared };
    let a = RunSource::load(&archive, &args.a, part, Wants::Numbers)?;
    if let Some(most) = args.until_sure {
        return made_until_sure(args, (b, most), given, (a, &archive), global, output);
    }
    let b = RunSource::load(&archive, b, part, Wants::Numbers)?;
    distinct(&a, &b)?;
    let declared = experiment::declared(&archive, &a.runs, &b.runs);
    let given_margins: Vec<String> = given.1.keys().cloned().collect();
    let asked = asked(args, given, declared.as_ref().map(|d| &d.asked), &archive, &a.runs, &b.runs);
    missing_metric(args, &given_margins, &a.runs, &b.runs)?;
    let mut comparison = judge::compare(&a.runs, &b.runs, &asked);
    same_work(args, &comparison)?;
    let unreadable = [&a, &b].into_iter().flat_map(|side| side.not_understood.iter().chain(&side.unreadable));
    let taken = [&a, &b].into_iter().filter_map(|side| side.taken.clone());
    comparison.reasons.extend(taken.map(|taken| Reason::of("taken", taken)));
    comparison.reasons.extend(unreadable.map(|u| Reason::of("unreadable", u.to_string())));
    if declared.is_some() && (args.alpha.is_some() || !args.margins.is_empty() || !args.primary.is_empty()) {
        comparison.reasons.push(Reason::of(
            "changed-afterwards",
            "the experiment fixed its questions before the data; what was asked now differs",
        ));
    }
    let page = args.output.as_deref().map(|p| std::path::absolute(p).unwrap_or_else(|_| p.to_owned()));
    let shown = page.as_ref().map(|p| p.display().to_string());
    let view = Compare {
        comparison: &comparison,
        a: Side { name: &a.name, runs: &a.runs },
        b: Side { name: &b.name, runs: &b.runs },
        question: declared.as_ref().map_or("", |d| d.question.as_str()),
        page: shown.as_deref(),
    };
    if let Some(page) = &page {
        let html = report_page::comparisons(&format!("{} → {}", a.name, b.name), &[view], args.identify)?;
        output_file::write(page, html.as_bytes())?;
    }
    output.answer(&CompareDocument::new(&view), || report::compare(&view, output.is_markdown()));
    Ok(if args.bisect { bisect_code(&comparison) } else { exit_code(&comparison, args.fail_on) })
}

/// Compares side A with runs that are made for it.
fn made_until_sure(
    args: &CompareArgs,
    (b, most): (&OsStr, u32),
    given: Margins,
    (a, archive): (RunSource, &Archive),
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let look = |runs: &[Run], share: f64| {
        let given = (given.0, given.1.clone());
        let mut asked = asked(args, given, None, archive, &a.runs, runs);
        asked.alpha = Some(asked.alpha.unwrap_or(judge::DEFAULT_ALPHA) / share);
        missing_metric(args, &[], &a.runs, runs)?;
        Ok(judge::compare(&a.runs, runs, &asked))
    };
    let made = until_sure::make(args, b, most, global, output, &look)?;
    let name = b.to_string_lossy();
    let view = Compare {
        comparison: &made.comparison,
        a: Side { name: &a.name, runs: &a.runs },
        b: Side { name: &name, runs: &made.runs },
        question: "",
        page: None,
    };
    output.answer(&CompareDocument::new(&view), || report::compare(&view, output.is_markdown()));
    Ok(match made.interrupted {
        Some(code) => ExitCode::from(code),
        None if args.bisect => bisect_code(&made.comparison),
        None => exit_code(&made.comparison, args.fail_on),
    })
}

/// For `git bisect run`: 1 if a primary metric is worse, 0 if each is the same or better, else 125.
fn bisect_code(comparison: &Comparison) -> ExitCode {
    let worse = comparison.metrics.iter().any(|m| m.primary && m.verdict == Verdict::Worse);
    match () {
        () if worse => ExitCode::from(1),
        () if until_sure::is_sure(comparison) => ExitCode::SUCCESS,
        () => ExitCode::from(CANNOT_TELL),
    }
}

/// A script that asks for a verdict gets none of two different jobs, unless other work is what an experiment compares.
fn same_work(args: &CompareArgs, comparison: &Comparison) -> Result<(), Failure> {
    let options = comparison.other_work().filter(|_| args.fail_on.is_some() && !args.anyway);
    let Some(options) = options else { return Ok(()) };
    let message = format!("--fail-on: the two sides did not do the same work: {}", options.text());
    Err(Failure::refused(message).remedy("compare results of the same job, or add --anyway"))
}

/// 1 if a primary metric is worse and that was the question; 4 if nothing could be compared or it cannot be told, for a script also if
/// not all of A is there. One run of a side never tells, and who looks at two numbers has them.
fn exit_code(comparison: &Comparison, fail_on: Option<FailOn>) -> ExitCode {
    let worse = comparison.metrics.iter().any(|m| m.primary && m.verdict == Verdict::Worse);
    let is_single = comparison.metrics.first().is_some_and(|m| m.basis == Basis::Single);
    let in_part = fail_on.is_some() && comparison.reasons.iter().any(|r| r.is("not-in-b"));
    match comparison.overall {
        _ if worse && fail_on == Some(FailOn::Worse) => ExitCode::from(1),
        _ if in_part => ExitCode::from(FailureKind::Invalid.exit_code()),
        Verdict::Invalid => ExitCode::from(FailureKind::Invalid.exit_code()),
        Verdict::Unclear if fail_on.is_some() || !is_single => ExitCode::from(FailureKind::Invalid.exit_code()),
        _ => ExitCode::SUCCESS,
    }
}

/// A run compared with itself says nothing.
fn distinct(a: &RunSource, b: &RunSource) -> Result<(), Failure> {
    let others: HashSet<&str> = b.runs.iter().map(|r| r.id.as_str()).filter(|id| !id.is_empty()).collect();
    let shared: Vec<&str> = a.runs.iter().map(|r| r.id.as_str()).filter(|id| others.contains(id)).collect();
    match shared.first() {
        None => Ok(()),
        Some(id) if a.runs.len() == 1 && b.runs.len() == 1 => {
            Err(Failure::usage(format!("'{}' and '{}' are the same run, {id}", a.name, b.name))
                .remedy("name two runs: narrows runs lists them"))
        }
        Some(id) => {
            let others = if shared.len() > 1 { format!(" and {} others", shared.len() - 1) } else { String::new() };
            Err(Failure::usage(format!("'{}' and '{}' both hold {id}{others}", a.name, b.name))
                .remedy("narrows runs tag RUN TAG --delete   takes a run out of one of them"))
        }
    }
}

/// Margins of all metrics, and of single ones, per cent.
type Margins = (Option<f64>, BTreeMap<String, f64>);

fn margins(given: &[String]) -> Result<Margins, Failure> {
    let mut out = Margins::default();
    for text in given {
        let (metric, number) = match text.rsplit_once('=') {
            Some((metric, number)) => (Some(metric.trim()), number),
            None => (None, text.as_str()),
        };
        let percent: f64 =
            number.trim().trim_end_matches('%').trim().parse().ok().filter(|p| *p > 0.0 && *p < 1000.0).ok_or_else(
                || {
                    Failure::usage(format!("--margin {text}: a margin is a percentage above 0"))
                        .remedy("--margin 3, or --margin seq-read.throughput_bytes_per_s=3")
                },
            )?;
        match metric {
            Some("") => {
                return Err(Failure::usage(format!("--margin {text}: which metric?")));
            }
            Some(metric) => drop(out.1.insert(metric.to_owned(), percent)),
            None => out.0 = Some(percent),
        }
    }
    Ok(out)
}

/// A metric that is asked by name and that no run has is a slip of the keyboard.
fn missing_metric(args: &CompareArgs, margins: &[String], a: &[Run], b: &[Run]) -> Result<(), Failure> {
    let has = |runs: &[Run], id: &str| runs.iter().any(|r| r.metric(id).is_some());
    let named = args.primary.iter().map(|id| ("--primary", id)).chain(margins.iter().map(|id| ("--margin", id)));
    let missing = named.into_iter().find(|(_, id)| !has(a, id) || !has(b, id));
    missing.map_or(Ok(()), |(option, id)| {
        let ids: Vec<&str> = a.first().into_iter().flat_map(Run::metrics).map(|m| m.id.as_str()).collect();
        let shown = ids.iter().take(12).copied().collect::<Vec<_>>().join(", ");
        Err(Failure::usage(format!("{option} {id}: not both sides have this metric"))
            .remedy(format!("A has {shown}{}", if ids.len() > 12 { ", ..." } else { "" })))
    })
}

/// Options go before what an experiment declared, and that before the defaults.
fn asked(
    args: &CompareArgs,
    (all, each): Margins,
    declared: Option<&Asked>,
    archive: &Archive,
    a: &[Run],
    b: &[Run],
) -> Asked {
    let mut asked = declared.cloned().unwrap_or_default();
    asked.alpha = args.alpha.or(asked.alpha);
    asked.strict = args.strict;
    if all.is_some() {
        asked.margin_percent = all;
        asked.margins.clear();
    }
    asked.margins.extend(each);
    if !args.primary.is_empty() {
        asked.primary.clone_from(&args.primary);
    }
    asked.noise_floor = experiment::noise_floor_of(archive, a, b);
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_of_all_or_of_one_metric() {
        let read = |texts: &[&str]| margins(&texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        let (all, each) = read(&["3", "a.iops=2.5 %"]).unwrap();
        assert_eq!((all, each["a.iops"]), (Some(3.0), 2.5));
        for bad in ["", "x", "-1", "0", "=3", "a=", "nan", "inf"] {
            assert!(read(&[bad]).is_err(), "{bad}");
        }
    }
}
