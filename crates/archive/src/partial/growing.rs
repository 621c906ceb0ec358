//! What a phase has brought so far, kept while it still runs: a phase may take weeks, and the program may be killed in it.
//!
//! When the phase is done its rows stand, if they amount to what was recorded of it; else what was recorded takes their place,
//! so that at no moment there is less than there was.

use super::Partial;
use crate::Result;
use crate::bundle_files::{SERIES, SYSTEM};
use crate::table::PendingRows;
use model::{Interval, SystemSample};

impl Partial {
    /// Makes durable what the phase of this name has brought since this was last called for it; the samples of the run `before`
    /// it stand before it. Returns the bytes that this wrote. After an error [`Partial::phase_done`] makes up for it.
    ///
    /// # Errors
    /// [`crate::ArchiveError::Io`].
    pub fn phase_grows(
        &mut self,
        phase: &str,
        before: &[SystemSample],
        intervals: &[Interval],
        samples: &[SystemSample],
    ) -> Result<u64> {
        self.keep = true;
        let (series, system) = (self.directory.join(SERIES), self.directory.join(SYSTEM));
        // Of a phase that came to nothing.
        if self.series.grows() && !self.series.grows_by(phase) {
            self.series.forget(&self.archive.storage, &series)?;
        }
        if self.system.grows() && !self.system.grows_by(phase) {
            self.system.forget(&self.archive.storage, &system)?;
        }
        let first = before.get(self.stored.samples..).unwrap_or_default();
        let mut written = self.fit(first)? + self.fit(samples)?;
        let storage = &self.archive.storage;
        if !self.system.grows() {
            written += self.system.append(storage, &system, &[PendingRows { phase: "", items: first, ended: true }])?;
            self.stored.samples = before.len();
        }
        written += self.series.append(storage, &series, &[PendingRows { phase, items: intervals, ended: false }])?;
        written += self.system.append(storage, &system, &[PendingRows { phase, items: samples, ended: false }])?;
        if self.series.take_replaced() | self.system.take_replaced() {
            storage.sync_dir(&self.directory)?;
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Archive, Recovered};
    use model::{Interval, PhaseStatus, RunState, SystemSample};
    use test_runs::drawn::{measured_run, so_far};

    /// The phase after the first of three is cut off half-way; the archive, its series so far, and its name.
    fn cut_off(archive: &Archive) -> (model::Run, Vec<Interval>) {
        let run = measured_run(45, 3);
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        let one = so_far(&run, 1);
        partial.phase_done(&one).unwrap();
        let next = &run.phases[1];
        let all = &next.record.as_ref().unwrap().intervals;
        let half = all.len() / 2;
        assert!(half > 1, "a series to cut");
        let later = &run.samples[one.samples.len()..];
        let (first, rest) = later.split_at(later.len().min(1));
        partial.phase_grows(&next.plan.name, &one.samples, &all[..1], first).unwrap();
        let written = partial.phase_grows(&next.plan.name, &one.samples, &all[1..half], rest).unwrap();
        assert!(written > 0);
        (run.clone(), all[..half].to_vec())
    }

    #[test]
    fn a_kill_in_a_phase_keeps_its_series_and_samples() {
        let directory = tempfile::tempdir().unwrap();
        let archive = Archive::open(directory.path());
        let (run, intervals) = cut_off(&archive);
        let outcomes = archive.recover().unwrap();
        assert!(matches!(outcomes[0].outcome, Recovered::Truncated { .. }), "{outcomes:?}");
        let loaded = archive.load(&run.id).unwrap();
        assert_eq!((loaded.state, loaded.phases.len()), (RunState::Truncated, 2));
        assert_eq!(loaded.phases[0], run.phases[0]);
        let phase = &loaded.phases[1];
        assert_eq!((phase.status, &phase.plan.name), (PhaseStatus::Refused, &run.phases[1].plan.name));
        assert!(phase.reasons[0].is("truncated"), "{:?}", phase.reasons);
        assert_eq!(phase.record.as_ref().unwrap().intervals, intervals);
        assert_eq!(loaded.samples, run.samples);
        assert!(archive.verify(&run.id).unwrap().is_clean());
    }

    #[test]
    fn what_grew_is_replaced_by_what_came_out() {
        for finished in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let archive = Archive::open(directory.path());
            let run = measured_run(46, 2);
            let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
            for done in 1..=run.phases.len() {
                let before = so_far(&run, done - 1);
                let phase = &run.phases[done - 1];
                // Not what comes out in the end.
                let all = &phase.record.as_ref().unwrap().intervals;
                let during = &so_far(&run, done).samples[before.samples.len()..];
                let (first, rest) = during.split_at(during.len() / 2);
                for (piece, samples) in [(all, first), (all, rest), (all, &[])] {
                    partial.phase_grows(&phase.plan.name, &before.samples, piece, samples).unwrap();
                }
                partial.phase_done(&so_far(&run, done)).unwrap();
                assert_eq!(crate::load_bundle(partial.directory()).unwrap(), so_far(&run, done));
            }
            if finished {
                partial.finish(&run).unwrap();
                assert_eq!(archive.load(&run.id).unwrap(), run);
            }
        }
    }

    /// What a long phase brings is more than what it holds in memory: that is judged, and the other stays in the archive.
    #[test]
    fn what_amounts_to_the_same_stays_as_fine_as_it_came() {
        let directory = tempfile::tempdir().unwrap();
        let archive = Archive::open(directory.path());
        let mut run = measured_run(48, 2);
        let fine: Vec<Interval> = (0..100)
            .map(|i| Interval { start_ns: i, length_ns: 1, operations: 2, bytes: i, ..Interval::default() })
            .collect();
        let samples: Vec<_> = run.samples.iter().cycle().take(50).cloned().collect();
        let samples: Vec<_> = samples.into_iter().zip(1000..).map(|(s, at_ns)| SystemSample { at_ns, ..s }).collect();
        let mut coarse = fine.clone();
        Interval::halve(&mut coarse);
        run.phases[1].record.as_mut().unwrap().intervals = coarse;
        let one = so_far(&run, 1);
        // One of a quiet window before the phase, and one of that after it.
        let at = |at_ns| SystemSample { at_ns, ..SystemSample::default() };
        let before: &[SystemSample] = &[one.samples.as_slice(), &[at(500)]].concat();
        run.samples = [before, &samples[..1], &samples[49..], &[at(2000)]].concat();
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        partial.phase_done(&one).unwrap();
        for (intervals, samples) in fine.chunks(10).zip(samples.chunks(5)) {
            partial.phase_grows(&run.phases[1].plan.name, before, intervals, samples).unwrap();
        }
        partial.phase_done(&run).unwrap();
        partial.finish(&run).unwrap();
        let loaded = archive.load(&run.id).unwrap();
        assert_eq!(loaded.phases[0], run.phases[0]);
        assert_eq!(loaded.phases[1].record.as_ref().unwrap().intervals, fine);
        assert_eq!(loaded.samples, [before, &samples, &[at(2000)]].concat());
        assert!(archive.verify(&run.id).unwrap().is_clean());
    }

    #[test]
    fn a_phase_that_came_to_nothing_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let archive = Archive::open(directory.path());
        let run = measured_run(47, 2);
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        let one = so_far(&run, 1);
        partial.phase_done(&one).unwrap();
        let second = &run.phases[1];
        let intervals = &second.record.as_ref().unwrap().intervals;
        partial.phase_grows(&second.plan.name, &one.samples, intervals, &[]).unwrap();
        partial.phase_done(&one).unwrap();
        assert_eq!(crate::load_bundle(partial.directory()).unwrap(), one);
    }
}
