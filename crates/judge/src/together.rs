//! What checks of one target showed together: a later one of a part does not take away what an earlier one measured.

use model::{PhaseRun, Run, Work};

/// Whether a phase has a number of its target that is valid, or a bound.
fn has_numbers(phase: &PhaseRun) -> bool {
    phase.metrics.iter().any(|m| m.failure().is_none() && (m.value.is_some() || m.bounded().is_some()))
}

fn work_of(run: &Run, phase: &PhaseRun) -> Option<Work> {
    Work::of(&phase.plan).filter(|_| phase.plan.measures_target() && !run.is_reference(&phase.plan))
}

/// Adds to a run the phases of an earlier one of the same target that do what none of its own did with a valid number; in words what
/// was added. A phase is taken whole, so that no number comes from two runs.
pub fn add_what_lacks(run: &mut Run, earlier: Run) -> Vec<&'static str> {
    if run.target.kind != earlier.target.kind || run.target.stack.fstype() != earlier.target.stack.fstype() {
        return Vec::new();
    }
    let mut added = Vec::new();
    let works: Vec<Option<Work>> = earlier.phases.iter().map(|phase| work_of(&earlier, phase)).collect();
    for (phase, work) in earlier.phases.into_iter().zip(works) {
        let Some(work) = work.filter(|_| has_numbers(&phase)) else { continue };
        let own = run.phases.iter().position(|own| work_of(run, own) == Some(work));
        match own {
            Some(at) if has_numbers(&run.phases[at]) => continue,
            Some(at) => run.phases[at] = phase,
            // Another phase of this name does other work: its metrics would have the same ids.
            None if run.phases.iter().any(|own| own.plan.name == phase.plan.name) => continue,
            None => run.phases.push(phase),
        }
        added.push(work.words());
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_runs::built::{Builder, Phase, healthy, random, sata};

    fn of(phases: Vec<Phase>) -> Run {
        let mut run = Builder::new(sata()).phases(phases).build();
        let refused = |p: &&mut PhaseRun| {
            p.plan.name == "rand-write-qd1" && p.metrics.iter().any(|m| m.value.is_some_and(|v| v < 2.0))
        };
        for phase in run.phases.iter_mut().filter(refused).collect::<Vec<_>>() {
            phase.metrics.iter_mut().for_each(|m| m.refuse(&[model::Reason::of("direct-unproven", "fuse")]));
        }
        run
    }

    #[test]
    fn what_a_later_check_of_a_part_lacks_comes_from_an_earlier_one() {
        let earlier = of(healthy(100.0));
        let mut later = of(vec![random("rand-read-qd1", 77.0), random("rand-write-qd1", 1.0)]);
        let added = add_what_lacks(&mut later, earlier.clone());
        let iops = |work: Work| later.metric_of_work(work, "iops").and_then(|m| m.value).map(f64::round);
        assert_eq!(iops(Work::RandomRead), Some(77.0), "what the later one has stays");
        let of_earlier = earlier.metric_of_work(Work::RandomWrite, "iops").and_then(|m| m.value).map(f64::round);
        assert_eq!(iops(Work::RandomWrite), of_earlier, "what it refused has the number of the earlier one");
        assert!(
            added.contains(&Work::SequentialWrite.words()) && !added.contains(&Work::RandomRead.words()),
            "{added:?}"
        );
        assert_eq!(later.phases.iter().filter(|p| p.plan.copies_memory()).count(), 0, "of the target only");
        let mut elsewhere = of(vec![random("rand-read-qd1", 77.0)]);
        elsewhere.target.kind = model::TargetKind::File;
        assert!(add_what_lacks(&mut elsewhere, earlier).is_empty(), "a file on it is another target");
    }
}
