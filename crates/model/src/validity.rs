//! Whether a run as a whole may be used.

use crate::{PhaseStatus, Run, RunState, StopCause};

named! {
    /// Whether a run as a whole may be used. What is skipped for a stated reason does not speak against it.
    #[derive(PartialOrd, Ord)]
    pub enum RunValidity {
        /// Everything that was to be measured stands.
        Valid = "valid",
        /// Not all of it is there (measurements were refused, operations failed and the streams went on as asked, it was
        /// interrupted, it was cut off), but what is there is right.
        Partial = "partial",
        /// No measurement stands, data came back wrong, or the target or the program failed.
        Invalid = "invalid",
    }
}

impl Run {
    /// Whether the run as a whole may be used: the worst of its phases, and of how it ended.
    pub fn validity(&self) -> RunValidity {
        let of_state = match self.state {
            RunState::Complete => RunValidity::Valid,
            RunState::Interrupted | RunState::Truncated => RunValidity::Partial,
            RunState::Failed => RunValidity::Invalid,
        };
        let all = self.phases.iter().map(crate::PhaseRun::validity).fold(of_state, RunValidity::max);
        let stands = |p: &crate::PhaseRun| p.plan.measures_target() && p.status == PhaseStatus::Measured;
        let broken = self.state == RunState::Failed || self.phases.iter().any(crate::PhaseRun::is_broken);
        // What was refused is not shown; what stands beside it does.
        if all == RunValidity::Invalid && !broken && self.phases.iter().any(stands) {
            return RunValidity::Partial;
        }
        all
    }
}

impl crate::PhaseRun {
    /// Whether it failed, or data came back wrong: wrong data are wrong in any phase, and a fault of the tester says that
    /// nothing it found can be trusted.
    fn is_broken(&self) -> bool {
        let broken =
            |r: &crate::PhaseRecord| r.stop == StopCause::Failed || r.verify.as_ref().is_some_and(|v| !v.is_clean());
        self.record.as_ref().is_some_and(broken)
    }

    /// What the phase means for its run. Phases that only prepare are no measurement: that their numbers are refused does
    /// not matter, that they failed does.
    pub fn validity(&self) -> RunValidity {
        let Some(record) = &self.record else { return RunValidity::Valid };
        let refused = self.plan.measures_target() && self.status == PhaseStatus::Refused;
        if self.is_broken() {
            RunValidity::Invalid
        } else if record.stop == StopCause::Interrupted {
            // Refused because it was cut short; nothing of it is shown, so nothing wrong is.
            RunValidity::Partial
        } else if refused && self.metrics.iter().any(|m| m.bounded().is_some()) {
            // Something slowed it: its numbers are right as bounds.
            RunValidity::Partial
        } else if refused {
            RunValidity::Invalid
        } else if !record.errors.is_empty() {
            RunValidity::Partial
        } else {
            RunValidity::Valid
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PhasePlan, PhaseRun};

    fn phase(kind: crate::PhaseKind, status: PhaseStatus, stop: StopCause, errors: u64) -> PhaseRun {
        let mut record = crate::record::tests::empty();
        record.stop = stop;
        if errors > 0 {
            record.errors.insert("EIO".into(), errors);
        }
        let plan = PhasePlan { kind, ..PhasePlan::default() };
        PhaseRun { status, ..PhaseRun::measured(plan, Vec::new(), Some(record)) }
    }

    fn run(state: RunState, phases: Vec<PhaseRun>) -> Run {
        let target = crate::Target::named("", crate::TargetKind::Sim);
        Run { state, phases, ..Run::blank("run", target, crate::Environment::default()) }
    }

    #[test]
    fn the_worst_decides() {
        use crate::PhaseKind::{Layout, Measure};
        use PhaseStatus::{Measured, Refused};
        use RunValidity::{Invalid, Partial, Valid};
        let good = || phase(Measure, Measured, StopCause::TimeUsed, 0);
        let cases = [
            (vec![good()], Valid),
            (vec![good(), phase(Measure, Measured, StopCause::TimeUsed, 3)], Partial),
            (vec![good(), phase(Measure, Refused, StopCause::Interrupted, 0)], Partial),
            (vec![phase(Measure, Refused, StopCause::Failed, 1), good()], Invalid),
            (vec![good(), phase(Measure, Refused, StopCause::TimeUsed, 0)], Partial),
            (vec![phase(Measure, Refused, StopCause::TimeUsed, 0)], Invalid),
            (vec![phase(Layout, Refused, StopCause::RegionDone, 0), good()], Valid),
            (vec![phase(Layout, Refused, StopCause::Failed, 1), good()], Invalid),
        ];
        for (phases, want) in cases {
            assert_eq!(run(RunState::Complete, phases).validity(), want);
        }
        let mut wrong = phase(Layout, Measured, StopCause::RegionDone, 0);
        wrong.record.as_mut().unwrap().verify = Some(crate::VerifyRecord { tester_faults: 1, ..Default::default() });
        assert_eq!(run(RunState::Complete, vec![good(), wrong]).validity(), Invalid);
        let mut skipped = good();
        (skipped.status, skipped.record) = (PhaseStatus::Skipped, None);
        assert_eq!(run(RunState::Complete, vec![good(), skipped]).validity(), Valid);
        for (state, want) in
            [(RunState::Interrupted, Partial), (RunState::Truncated, Partial), (RunState::Failed, Invalid)]
        {
            assert_eq!(run(state, vec![good()]).validity(), want);
        }
    }

    #[test]
    fn names_are_those_of_the_json() {
        for validity in [RunValidity::Valid, RunValidity::Partial, RunValidity::Invalid] {
            assert_eq!(serde_json::to_value(validity).unwrap(), validity.name());
        }
    }
}
