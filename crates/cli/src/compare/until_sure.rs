//! `compare A 'WORKLOAD TARGET' --until-sure N`: runs of side B are made until the verdict is clear, N at most.
//!
//! Who looks again and again finds a difference by chance at last. So it is fixed beforehand after how many runs is looked, and the error
//! rate is shared among the looks (Bonferroni).

use super::text_and_target;
use crate::args::{CompareArgs, GlobalArgs, RunArgs};
use crate::execution::{Asked, Execution};
use crate::output::Output;
use crate::run::text;
use crate::signals::SecondSignal;
use conduct::destination::destination;
use conduct::{Budget, Source, Wanted, plan, random_u64};
use model::{Comparison, Failure, Run, RunState, Verdict};
use spec::Workload;
use std::ffi::OsStr;

/// Compares side A with runs of B, at an error rate that is so many times smaller.
pub type Look<'a> = &'a dyn Fn(&[Run], f64) -> Result<Comparison, Failure>;

/// Runs before the first look: fewer separate nothing.
const FIRST_LOOK: u32 = 4;

/// What was made, and what the last look said.
pub struct Made {
    pub runs: Vec<Run>,
    pub comparison: Comparison,
    /// The exit code of a run that was interrupted.
    pub interrupted: Option<u8>,
}

/// After how many runs is looked: each time half as many more.
fn looks(most: u32) -> Vec<u32> {
    let more = |n: &u32| Some(n + n.div_ceil(2)).filter(|n| *n < most);
    std::iter::successors(Some(FIRST_LOOK.min(most)), more).chain(Some(most).filter(|n| *n > FIRST_LOOK)).collect()
}

/// Whether each question has its answer, or one of them is bad.
pub fn is_sure(comparison: &Comparison) -> bool {
    let mut primary = comparison.metrics.iter().filter(|m| m.primary).map(|m| m.verdict).peekable();
    let has_any = primary.peek().is_some();
    let all: Vec<Verdict> = primary.collect();
    let clear = |v: &Verdict| matches!(v, Verdict::Better | Verdict::Same);
    has_any && (all.contains(&Verdict::Worse) || all.iter().all(clear))
}

/// Makes the runs, and looks at them from time to time.
pub fn make(
    args: &CompareArgs,
    b: &OsStr,
    most: u32,
    global: &GlobalArgs,
    output: &Output,
    look: Look<'_>,
) -> Result<Made, Failure> {
    let (name, target) = text_and_target(b);
    let source = text::source(OsStr::new(&name)).map_err(|failure| match &target {
        Some(_) => failure,
        None => {
            failure.remedy("--until-sure makes the runs of side B, 'WORKLOAD TARGET'; without it two tags are compared")
        }
    })?;
    if spec::is_experiment(&source.text) || spec::is_frames(&source.text) || spec::is_layers(&source.text) {
        return Err(Failure::usage(format!("{name} is no workload of one run, of which more could be made"))
            .remedy("narrows compare A 'mix /mnt/data' --until-sure 20"));
    }
    let set = text::settings(&RunArgs { set: args.set.clone(), ..RunArgs::default() }, source.language)?;
    let workload = text::workload(&source, &set, false)?;
    let execution = Execution::prepare(global, Asked::default(), SecondSignal::Ends, output)?;
    let looks = looks(most);
    let share = looks.len() as f64;
    let mut seed = args.seed.map_or_else(random_u64, Ok)?;
    let mut runs: Vec<Run> = Vec::new();
    for at in looks {
        while runs.len() < at as usize {
            let (run, interrupted) = one(&execution, &source, &workload, target.as_deref(), seed, args)?;
            seed = seed.wrapping_add(1);
            runs.push(run);
            if interrupted.is_some() {
                return Ok(Made { comparison: look(&runs, share)?, runs, interrupted });
            }
        }
        let comparison = look(&runs, share)?;
        if is_sure(&comparison) || at == most {
            return Ok(Made { runs, comparison, interrupted: None });
        }
    }
    Err(Failure::internal("no look was the last one"))
}

/// One run, kept in the archive with its page; with the exit code of the signal that ended it.
fn one(
    execution: &Execution<'_>,
    source: &Source,
    workload: &Workload,
    target: Option<&str>,
    seed: u64,
    args: &CompareArgs,
) -> Result<(Run, Option<u8>), Failure> {
    let place = destination(target.map(OsStr::new), workload)?;
    workload.check_budget().map_err(|e| plan::failure(&e))?;
    let mut opened = execution.open(&Wanted {
        region: workload.copies_region(),
        ..args.permissions.wanted(&place.name, workload.interval_ns)
    })?;
    opened.remarks.extend(place.remark);
    let planned = plan::plan_within(workload, &opened, seed, None)?;
    let budget = if workload.has_budget() { Budget::Kept } else { Budget::Foreseen };
    let executed = execution.measure("run", planned, budget, None, &mut opened)?;
    let finished = execution.finish(executed);
    finished.kept.map_err(|f| f.remedy(format!("a run of {} could not be kept", source.name)))?;
    let interrupted =
        (finished.run.state == RunState::Interrupted).then(|| execution.signals().exit_code().unwrap_or(130));
    Ok((finished.run, interrupted))
}

#[cfg(test)]
mod tests {
    use super::looks;

    #[test]
    fn looks_are_few_and_the_last_is_at_the_end() {
        assert_eq!(looks(1), [1]);
        assert_eq!(looks(4), [4]);
        assert_eq!(looks(5), [4, 5]);
        assert_eq!(looks(20), [4, 6, 9, 14, 20]);
        assert_eq!(looks(1000).len(), 15);
    }
}
