//! What a phase has brought so far, kept while it still runs: a phase may take hours, and the program may be killed in it.
//!
//! It stands behind what the tables have of phases that are done. When the phase is done, the tables get it as it came out
//! in the end, by replacing them, so that at no moment there is less than there was.

use super::{Partial, Table};
use crate::bundle_files::{SERIES, SYSTEM};
use crate::system::Layout;
use crate::{Result, series};
use model::{Interval, SystemSample};

/// What the tables have of the phase that runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grown {
    series_bytes: u64,
    system_bytes: u64,
    samples: usize,
}

impl Partial {
    /// Makes durable what the phase of this name has brought since this was last called for it: its intervals since then, and
    /// all samples of the run, those `before` the phase and those `during` it. Returns the bytes that this wrote. After an
    /// error the next call, or [`Partial::phase_done`], makes up for it, but for these intervals.
    ///
    /// # Errors
    /// [`crate::ArchiveError::Io`].
    pub fn phase_grows(
        &mut self,
        phase: &str,
        intervals: &[Interval],
        before: &[SystemSample],
        during: &[SystemSample],
    ) -> Result<u64> {
        let storage = self.archive.storage.clone();
        let mut grown = self.grown.unwrap_or_default();
        // From here on the tables are not as phases that are done left them.
        self.grown = Some(grown);
        self.keep = true;
        let lines = series::phase_lines(phase, intervals);
        let mut written = 0;
        if !lines.is_empty() {
            storage.append(
                &self.directory.join(SERIES),
                self.series.length_bytes + grown.series_bytes,
                lines.as_bytes(),
            )?;
            grown.series_bytes += lines.len() as u64;
            written += lines.len() as u64;
            self.grown = Some(grown);
        }
        let stored = self.system.items + grown.samples;
        let new = [before.get(stored..), during.get(stored.saturating_sub(before.len())..)];
        let new = new.map(Option::unwrap_or_default);
        let path = self.directory.join(SYSTEM);
        // The samples of a long phase are thinned while it runs (model::SampleSeries): then there are fewer than before.
        let thinned = stored > before.len() + during.len();
        if self.system.length_bytes > 0 && !thinned && new.iter().all(|samples| self.layout.fits_all(samples)) {
            let lines = new.map(|samples| self.layout.lines(samples)).concat();
            storage.append(&path, self.system.length_bytes + grown.system_bytes, lines.as_bytes())?;
            grown.system_bytes += lines.len() as u64;
            written += lines.len() as u64;
        } else {
            // There are fewer, or a CPU, a disk or a sensor came that has no column yet: the file begins anew.
            let all = [before, during].concat();
            self.layout = Layout::of(&all);
            let (done, running) = all.split_at(self.system.items.min(all.len()));
            let (done, running) = (self.layout.header() + &self.layout.lines(done), self.layout.lines(running));
            self.system = Table { length_bytes: done.len() as u64, ..self.system };
            grown.system_bytes = running.len() as u64;
            let text = done + &running;
            storage.replace(&path, text.as_bytes())?;
            written += text.len() as u64;
        }
        grown.samples = (before.len() + during.len()).saturating_sub(self.system.items);
        self.grown = Some(grown);
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use crate::generated_runs::{measured_run, so_far};
    use crate::{Archive, Recovered};
    use model::{Interval, PhaseStatus, RunState};

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
        partial.phase_grows(&next.plan.name, &all[..1], &one.samples, &later[..later.len().min(1)]).unwrap();
        let written = partial.phase_grows(&next.plan.name, &all[1..half], &one.samples, later).unwrap();
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
        assert!(phase.reasons[0].starts_with("truncated: "), "{:?}", phase.reasons);
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
                // More than comes out in the end, as it is thinned there.
                let all = &phase.record.as_ref().unwrap().intervals;
                let during = &so_far(&run, done).samples[before.samples.len()..];
                for piece in [all, all, all] {
                    partial.phase_grows(&phase.plan.name, piece, &before.samples, during).unwrap();
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

    #[test]
    fn samples_that_were_thinned_replace_those_that_stood_there() {
        let directory = tempfile::tempdir().unwrap();
        let archive = Archive::open(directory.path());
        let run = measured_run(48, 2);
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        let one = so_far(&run, 1);
        partial.phase_done(&one).unwrap();
        let name = &run.phases[1].plan.name;
        let during = &run.samples[one.samples.len()..];
        assert!(during.len() > 2, "samples to thin");
        let thinned: Vec<_> = during.iter().step_by(2).cloned().collect();
        partial.phase_grows(name, &[], &one.samples, during).unwrap();
        partial.phase_grows(name, &[], &one.samples, &thinned).unwrap();
        drop(partial);
        archive.recover().unwrap();
        assert_eq!(archive.load(&run.id).unwrap().samples, [one.samples.as_slice(), &thinned].concat());
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
        partial.phase_grows(&second.plan.name, intervals, &one.samples, &[]).unwrap();
        partial.phase_done(&one).unwrap();
        assert_eq!(crate::load_bundle(partial.directory()).unwrap(), one);
    }
}
