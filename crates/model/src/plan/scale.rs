//! The same phases by 1, 2, 4, ... ranks of a group.

use super::{PhaseKind, PhasePlan, Plan};

impl Plan {
    /// Each phase that measures the target once for each number of ranks, all phases by one rank first; what is laid out, and what
    /// comes before the first that measures, is done once by all.
    pub fn by_numbers_of_ranks(&mut self, ranks: u32) {
        let measures = |p: &PhasePlan| p.measures_target() && p.kind != PhaseKind::Layout;
        let (measured, mut phases): (Vec<_>, Vec<_>) = std::mem::take(&mut self.phases).into_iter().partition(measures);
        for number in numbers_of_ranks(ranks) {
            let named =
                |p: &PhasePlan| PhasePlan { name: format!("{}-by-{number}", p.name), ranks: Some(number), ..p.clone() };
            phases.extend(measured.iter().map(named));
        }
        self.phases = phases;
    }
}

/// 1, 2, 4, ... and all of them.
fn numbers_of_ranks(ranks: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(1u32), |n| n.checked_mul(2)).take_while(|n| *n < ranks);
    doubled.chain([ranks]).collect()
}

impl PhasePlan {
    /// What it is called without the number of ranks that take part, where that differs from phase to phase.
    pub fn scaled_name(&self) -> Option<&str> {
        self.name.strip_suffix(&format!("-by-{}", self.ranks?))
    }

    /// Whether this rank waits while others do it.
    pub fn leaves_out(&self, rank: u32) -> bool {
        self.ranks.is_some_and(|ranks| rank >= ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamPlan;

    #[test]
    fn phases_are_done_by_one_two_four_and_all_ranks() {
        assert_eq!(numbers_of_ranks(1), [1]);
        assert_eq!(numbers_of_ranks(2), [1, 2]);
        assert_eq!(numbers_of_ranks(6), [1, 2, 4, 6]);
        assert_eq!(numbers_of_ranks(8), [1, 2, 4, 8]);
        let phase = |name: &str, kind| PhasePlan {
            name: name.into(),
            kind,
            streams: vec![StreamPlan::default()],
            ..PhasePlan::default()
        };
        let phases =
            vec![phase("layout", PhaseKind::Layout), phase("a", PhaseKind::Measure), phase("b", PhaseKind::Measure)];
        let mut plan = Plan { phases, ..Plan::default() };
        plan.by_numbers_of_ranks(3);
        let names: Vec<&str> = plan.phases.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["layout", "a-by-1", "b-by-1", "a-by-2", "b-by-2", "a-by-3", "b-by-3"]);
        assert_eq!((plan.phases[3].scaled_name(), plan.phases[0].scaled_name()), (Some("a"), None));
        let waits: Vec<bool> = (0..3).map(|rank| plan.phases[3].leaves_out(rank)).collect();
        assert_eq!(waits, [false, false, true]);
    }
}
