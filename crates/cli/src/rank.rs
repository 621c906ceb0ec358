//! `narrows rank SOURCE...`: many targets side by side, and which metric predicts another.

use crate::args::{GlobalArgs, RankArgs};
use crate::output::Output;
use crate::redaction::OnPage;
use crate::run_source::{Part, RunSource, Wants};
use crate::{archives, import, output_file};
use judge::{RankAsked, RankError};
use model::{Better, Failure, FailureKind, Ranking, Reason};
use report::Rank;
use report::document::RankDocument;
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

/// Metrics that are named where one is not known; the rest are counted.
const NAMED_METRICS: usize = 5;

/// Executes the command.
pub fn command(args: &RankArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if !args.predictors.is_empty() && args.predict.is_none() {
        return Err(Failure::usage("--predictors says what may predict, and nothing is to be predicted")
            .remedy("--predict METRIC"));
    }
    args.output.as_deref().map_or(Ok(()), output_file::check)?;
    let asked = asked(args)?;
    let archive = archives::open(global)?;
    let (mut runs, mut remarks, mut known) = (Vec::new(), Vec::new(), HashSet::new());
    for source in &args.sources {
        let source = RunSource::load(&archive, source, Part::Ranked, Wants::NumbersAndInstallation)?;
        remarks.extend(source.taken.map(|taken| Reason::of("taken", taken)));
        remarks.extend(source.not_understood.into_iter().map(|r| Reason::of("not-understood", r)));
        remarks.extend(source.unreadable.into_iter().map(|r| Reason::of("unreadable", r)));
        runs.extend(source.runs.into_iter().filter(|run| known.insert(run.id.clone())));
    }
    let on_page = OnPage::of(&runs, args.identify)?;
    let targets = judge::targets(runs);
    let mut ranking = judge::rank(&targets, &asked).map_err(|e| failure(e, args))?;
    ranking.reasons.splice(0..0, remarks);
    let page = args.output.as_deref().map(|p| std::path::absolute(p).unwrap_or_else(|_| p.to_owned()));
    let shown = page.as_ref().map(|p| p.display().to_string());
    let rank = Rank {
        ranking: &ranking,
        predicted: args.predict.as_deref(),
        chosen: !args.metrics.is_empty(),
        page: shown.as_deref(),
    };
    if let Some(page) = &page {
        let shown = Rank { ranking: &on_page.ranking(&ranking)?, page: None, ..rank };
        let html = report::rank_page(&on_page.text(&title(args)), env!("CARGO_PKG_VERSION"), &shown);
        output_file::write(page, html.as_bytes())?;
    }
    output.answer(&RankDocument::new(&rank), || report::rank(&rank));
    Ok(exit_code(args, &ranking))
}

/// 4 where something was to be predicted and nothing can, and where it is not known of any target whether it is good for what was asked.
fn exit_code(args: &RankArgs, ranking: &Ranking) -> ExitCode {
    let unpredicted = args.predict.is_some() && ranking.prediction.iter().all(|p| p.tau.is_none());
    let is_known = |of: &model::RankedUse| of.targets.iter().any(|t| t.fit.met.is_some());
    let unanswered = unpredicted || !args.made_for.is_empty() && !ranking.uses.iter().any(is_known);
    if unanswered { ExitCode::from(FailureKind::Invalid.exit_code()) } else { ExitCode::SUCCESS }
}

fn title(args: &RankArgs) -> String {
    let names: Vec<String> = args
        .sources
        .iter()
        .map(|s| Path::new(s).file_name().unwrap_or(s.as_os_str()).to_string_lossy().into_owned())
        .collect();
    match names.as_slice() {
        [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", names.len() - 3),
        few => few.join(", "),
    }
}

fn asked(args: &RankArgs) -> Result<RankAsked, Failure> {
    let mut asked = RankAsked {
        metrics: args.metrics.clone(),
        predicted: args.predict.clone(),
        predictors: args.predictors.clone(),
        strict: args.strict,
        uses: args.made_for.iter().map(|name| import::used(name)).collect::<Result<_, Failure>>()?,
        ..RankAsked::default()
    };
    for text in &args.better {
        let (pattern, better) = import::direction(text)?;
        match better {
            Better::Higher => asked.higher.push(pattern),
            Better::Lower => asked.lower.push(pattern),
        }
    }
    Ok(asked)
}

fn failure(error: RankError, args: &RankArgs) -> Failure {
    match error {
        RankError::OneTarget(name) => {
            let name = name.map_or_else(String::new, |n| format!(": {n}"));
            Failure::usage(format!("ranking needs at least two targets, and there is one{name}"))
                .remedy("runs belong together by the name of their target: narrows runs lists them; add another SOURCE")
        }
        RankError::NothingMeasured => {
            let what = if args.sources.len() == 1 { "the source holds" } else { "the sources hold" };
            Failure::invalid(format!("{what} no valid metric"))
                .remedy("narrows runs show RUN says why its numbers were refused")
        }
        RankError::UnknownMetric { asked, there_are } => {
            let nearest = spec::nearest(&asked, there_are.iter().map(String::as_str));
            let nearest = nearest.map_or_else(String::new, |name| format!("did you mean {name}? "));
            let named = there_are.iter().take(NAMED_METRICS).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = there_are.len().saturating_sub(NAMED_METRICS);
            let more =
                if more > 0 { format!(" and {more} more (--json without --metric lists them)") } else { String::new() };
            Failure::usage(format!("no target has a metric '{asked}'"))
                .remedy(format!("{nearest}There are {named}{more}"))
        }
    }
}
