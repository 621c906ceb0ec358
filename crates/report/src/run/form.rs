//! In which form the phases of a run are shown: decided by their shape, never by the workload's name.

use super::grid::{Grid, grid};
use super::imported;
use model::{DepthCurve, PhaseRun, PhaseStatus, Run, Work};

/// More curves are a grid.
const MOST_CURVES: usize = 4;

/// Phases that are shown together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form<'a> {
    /// They differ only in depth.
    Depth(&'a DepthCurve, Vec<usize>),
    /// They form a grid.
    Grid(Grid, Vec<usize>),
    /// Each reading phase has its writing counterpart: (read, write).
    Pairs(Vec<(usize, usize)>),
    /// They ask for less than the target gives: what matters is how long each operation takes.
    Waits(Vec<usize>),
    /// One phase by its bursts, a row each; the phase has a row in another form too.
    Bursts(usize),
    /// They make calls on files again, and have a row in another form too: how long all of them took.
    Replays(Vec<usize>),
    /// What another tool printed, test by test, or device by device.
    Imported(Vec<usize>),
    /// Of the same what has no column, each number by itself.
    Others(Vec<usize>),
    /// One row each.
    Rows(Vec<usize>),
}

impl Form<'_> {
    /// The places of its phases in [`Run::phases`].
    #[cfg(test)]
    fn places(&self) -> Vec<usize> {
        match self {
            Self::Depth(_, p) | Self::Grid(_, p) => p.clone(),
            Self::Waits(p) | Self::Replays(p) | Self::Imported(p) | Self::Others(p) | Self::Rows(p) => p.clone(),
            Self::Bursts(place) => vec![*place],
            Self::Pairs(pairs) => pairs.iter().flat_map(|(a, b)| [*a, *b]).collect(),
        }
    }
}

fn pairs(run: &Run, places: &[usize]) -> Option<Vec<(usize, usize)>> {
    let shapes: Vec<_> = places.iter().map(|i| Some((*i, run.phases[*i].plan.shape()?))).collect::<Option<_>>()?;
    let mut out = Vec::new();
    for (place, shape) in shapes.iter().filter(|(i, _)| !run.phases[*i].plan.is_write()) {
        let mut others = shapes.iter().filter(|(_, s)| shape.reads_what_it_writes(s));
        let (other, None) = (others.next()?, others.next()) else { return None };
        out.push((*place, other.0));
    }
    (out.len() >= 2 && out.len() * 2 == places.len()).then_some(out)
}

fn held_back(phase: &PhaseRun) -> bool {
    // Of a phase without streams nothing is asked; a writer beside small operations is what they wait for.
    Work::of(&phase.plan) == Some(Work::ResponsiveLoaded)
        || !phase.plan.streams.is_empty()
            && phase
                .plan
                .streams
                .iter()
                .all(|s| s.timing.pacing.is_some_and(|p| p.read.or(p.write).or(p.trim).is_some()))
}

/// All phases of a run but memory copies and what was not needed, each in exactly one form.
pub(crate) fn forms<'a>(run: &Run, curves: &'a [DepthCurve]) -> Vec<Form<'a>> {
    let shown = |p: &PhaseRun| !run.is_reference(&p.plan);
    let mut rest: Vec<usize> = (0..run.phases.len()).filter(|i| shown(&run.phases[*i])).collect();
    // What another tool measured has no plan.
    if !rest.is_empty() && rest.iter().all(|i| run.phases[*i].plan.streams.is_empty()) {
        let [columns, others] = imported::kinds(run, &rest);
        let forms = [columns.then(|| Form::Imported(rest.clone())), others.then(|| Form::Others(rest.clone()))];
        return forms.into_iter().flatten().collect();
    }
    let measures = |i: &usize| run.phases[*i].plan.measures_target();
    let mut out = Vec::new();
    if curves.len() <= MOST_CURVES {
        for curve in curves {
            let places: Vec<usize> = curve
                .phases
                .iter()
                .filter_map(|name| run.phases.iter().position(|p| p.plan.name == *name))
                .filter(|i| rest.contains(i))
                .collect();
            if places.len() == curve.phases.len() {
                rest.retain(|i| !places.contains(i));
                out.push(Form::Depth(curve, places));
            }
        }
    }
    let measured: Vec<usize> = rest.iter().copied().filter(measures).collect();
    let form = if let Some(grid) = grid(run, &measured) {
        Some(Form::Grid(grid, measured.clone()))
    } else if let Some(pairs) = pairs(run, &measured) {
        Some(Form::Pairs(pairs))
    } else if !measured.is_empty() && measured.iter().all(|i| held_back(&run.phases[*i])) {
        Some(Form::Waits(measured.clone()))
    } else {
        None
    };
    if form.is_some() {
        rest.retain(|i| !measured.contains(i));
    }
    // Where the results have a form of their own, a preparation that went well needs no row.
    let troubled = |i: &usize| measures(i) || run.phases[*i].status == PhaseStatus::Refused;
    if !out.is_empty() || form.is_some() {
        rest.retain(troubled);
    }
    out.extend(form);
    let replays: Vec<usize> = rest.iter().copied().filter(|i| run.phases[*i].plan.is_replay()).collect();
    if !replays.is_empty() {
        out.push(Form::Replays(replays));
    }
    rest.retain(|i| !run.phases[*i].plan.runs_dpkg());
    if !rest.is_empty() {
        out.push(Form::Rows(rest));
    }
    let bursts = |p: &&PhaseRun| p.plan.has_bursts() && p.record.as_ref().is_some_and(|r| r.rounds.len() > 1);
    out.extend((0..run.phases.len()).filter(|i| bursts(&&run.phases[*i])).map(Form::Bursts));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Access, Operation, Order, Pacing, PhasePlan, Rate, StreamPlan, Timing};

    fn run(streams: Vec<(&str, StreamPlan)>) -> Run {
        let plan = |(name, s)| test_runs::plan(name, Access::Direct, vec![s]);
        let phase = |plan| PhaseRun { record: None, ..test_runs::measured(plan, Default::default(), vec![]) };
        test_runs::run(streams.into_iter().map(plan).map(phase).collect())
    }

    fn of(operation: Operation, order: Order, block: u64, depth: u32) -> StreamPlan {
        test_runs::stream(operation, order, block, depth)
    }

    #[test]
    fn a_sweep_of_sizes_and_operations_is_a_grid() {
        use Operation::{Read, Write};
        let mut streams = Vec::new();
        for (name, operation, order) in [
            ("write", Write, Order::Sequential),
            ("random-read", Read, Order::Random),
            ("backward", Read, Order::Reverse),
        ] {
            for block in [4096u64, 65_536, 1 << 20] {
                streams.push((format!("{name}-{block}"), of(operation, order, block, 1)));
            }
        }
        let run = run(streams.iter().map(|(n, s)| (n.as_str(), s.clone())).collect());
        let forms = forms(&run, &[]);
        let [Form::Grid(grid, _)] = &forms[..] else { panic!("{forms:?}") };
        assert_eq!(grid.columns, ["4 KiB", "64 KiB", "1 MiB"]);
        assert_eq!(grid.rows.iter().map(|r| r.0.as_str()).collect::<Vec<_>>(), ["write", "random read", "backward"]);
        assert_eq!(grid.rows[1].1[2].as_ref().map(|c| c.phase), Some(5));
    }

    #[test]
    fn rows_of_a_grid_that_several_numbers_of_ranks_did_say_which() {
        let streams = [1u32, 2, 4].iter().flat_map(|ranks| {
            let stream =
                |jobs: u64| (format!("read-{jobs}-by-{ranks}"), of(Operation::Read, Order::Random, 4096 * jobs, 1));
            [1u64, 2, 4].map(stream)
        });
        let streams: Vec<_> = streams.collect();
        let mut run = run(streams.iter().map(|(n, s)| (n.as_str(), s.clone())).collect());
        for phase in &mut run.phases {
            phase.plan.ranks = phase.plan.name.rsplit('-').next().and_then(|ranks| ranks.parse().ok());
        }
        let forms = forms(&run, &[]);
        let [Form::Grid(grid, _)] = &forms[..] else { panic!("{forms:?}") };
        let labels: Vec<&str> = grid.rows.iter().map(|r| r.0.as_str()).collect();
        assert_eq!(labels, ["read, 1 rank", "read, 2 ranks", "read, 4 ranks"]);
    }

    #[test]
    fn readers_with_their_writers_are_pairs() {
        use Operation::{Read, Write};
        let four = [(1u64 << 20, 8, Order::Sequential), (4096, 1, Order::Random)];
        let names = ["a", "b", "c", "d"];
        let streams: Vec<_> = [Read, Write]
            .into_iter()
            .flat_map(|o| four.map(|(block, depth, order)| of(o, order, block, depth)))
            .zip(names)
            .map(|(s, n)| (n, s))
            .collect();
        let run = run(streams);
        assert_eq!(forms(&run, &[]), [Form::Pairs(vec![(0, 2), (1, 3)])]);
    }

    #[test]
    fn paced_phases_show_how_long_operations_take_and_others_are_rows() {
        let pacing = Some(Pacing { read: Some(Rate::OperationsPerS(10)), ..Pacing::default() });
        let paced = StreamPlan {
            timing: Timing { pacing, ..of(Operation::Read, Order::Random, 4096, 1).timing },
            ..of(Operation::Read, Order::Random, 4096, 1)
        };
        let one = run(vec![("r", paced.clone())]);
        assert_eq!(forms(&one, &[]), [Form::Waits(vec![0])]);
        let mixed = run(vec![("r", paced), ("s", of(Operation::Read, Order::Random, 4096, 1))]);
        assert_eq!(forms(&mixed, &[]), [Form::Rows(vec![0, 1])]);
    }

    #[test]
    fn every_phase_has_exactly_one_form() {
        let streams: Vec<_> = [1, 2, 4]
            .map(|d| (["q1", "q2", "", "q4"][d as usize - 1], of(Operation::Read, Order::Random, 4096, d)))
            .into();
        let mut run = run(streams);
        run.phases.push(PhaseRun {
            plan: PhasePlan {
                name: "w".into(),
                streams: vec![of(Operation::Write, Order::Random, 4096, 1)],
                ..PhasePlan::default()
            },
            ..run.phases[0].clone()
        });
        let curve = DepthCurve {
            phases: ["q1", "q2", "q4"].map(String::from).into(),
            depths: vec![1, 2, 4],
            knee: model::Knee::NotReached { depth: 4 },
            least_gain_percent: 10.0,
        };
        let curves = [curve];
        let forms = forms(&run, &curves);
        let mut all: Vec<usize> = forms.iter().flat_map(Form::places).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
        assert!(matches!(forms[0], Form::Depth(..)) && matches!(forms[1], Form::Rows(_)));
    }
}
