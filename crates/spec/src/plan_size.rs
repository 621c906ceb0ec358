//! How much a text asks for at most.

use crate::job::Job;

/// More phases or jobs than this are a mistake.
pub(crate) const MAX: usize = 4096;
/// Streams of all phases; more would take minutes to plan.
const MAX_STREAMS: u64 = 1 << 16;
/// Files that all jobs make.
const MAX_FILES: u64 = 1 << 20;

/// How much the jobs of a text are so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlanSize {
    streams: u64,
    files: u64,
}

impl PlanSize {
    /// Counts another job. What there is too much of, before anything is made of it: the key, and what to say.
    pub fn add(&mut self, job: &Job) -> Result<(), (&'static str, String)> {
        self.streams = self.streams.saturating_add(u64::from(job.copies));
        self.files = self.files.saturating_add(job.own_files());
        let counted = [
            ("jobs", u64::from(job.copies), MAX as u64, "jobs of one kind"),
            ("jobs", self.streams, MAX_STREAMS, "jobs in all phases together"),
            ("own-files", self.files, MAX_FILES, "files of all jobs together"),
        ];
        match counted.into_iter().find(|(_, count, most, _)| count > most) {
            Some((key, count, most, what)) => Err((key, format!("{count} {what}; {most} are possible"))),
            None => Ok(()),
        }
    }
}
