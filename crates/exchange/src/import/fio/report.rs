//! One report of fio, whatever its form, and the run that it becomes.

use super::job::{FioJob, of_completion_latency};
use crate::import::{Found, ImportedRun, Names};
use model::{MetricStatus, Reason, RunState};
use std::collections::BTreeSet;

/// Jobs whose options are told one by one.
const TOLD_LIMIT: usize = 32;

/// Jobs that are read of a file; with all their figures they are more than is kept.
pub(super) const MAX_JOBS: usize = 2048;
/// Remarks of a report; what a tool says again and again is said.
const MAX_REMARKS: usize = 256;

/// When a report was printed, by a clock of its own machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Printed {
    pub at_ns: f64,
    /// The steps of that clock.
    pub step_ns: f64,
}

/// What one execution of fio reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub format: &'static str,
    pub version: Option<String>,
    pub first_line: usize,
    pub last_line: usize,
    /// RFC 3339 in UTC.
    pub started: Option<String>,
    /// When it ended, in the time of its machine.
    pub local_time: Option<String>,
    /// When it was printed, and how coarsely that is told.
    pub printed: Option<Printed>,
    /// What was measured on.
    pub target: Option<String>,
    /// The line before the report that says what it is, where there is one.
    pub title: Option<String>,
    pub jobs: Vec<FioJob>,
    /// It was ended by a signal.
    pub interrupted: bool,
    /// The output ends within the report.
    pub truncated: bool,
    pub remarks: Vec<String>,
    /// Lines from which on its earlier states were printed.
    pub states: Vec<usize>,
}

impl Report {
    pub fn new(format: &'static str, first_line: usize, last_line: usize) -> Self {
        Self { format, first_line, last_line, ..Self::default() }
    }

    /// Adds a remark, while there are few.
    pub fn remark(&mut self, text: String) {
        if self.remarks.len() < MAX_REMARKS {
            self.remarks.push(text);
        }
    }

    /// The other one was an earlier state of it.
    pub fn absorb_earlier(&mut self, state: Self) {
        self.states.push(state.first_line);
        self.states.extend(state.states);
    }

    /// Whether anything was measured.
    pub fn has_result(&self) -> bool {
        self.jobs.iter().any(|j| j.directions.iter().any(|d| d.is_used()))
    }

    /// The run; jobs of one name are numbered, jobs of several hosts carry the host's name.
    pub fn into_run(self, found: &Found) -> ImportedRun {
        let name = self.target.clone().or_else(|| self.title.clone()).unwrap_or_else(|| found.file.to_owned());
        let mut run = ImportedRun::new(self.format, name, self.first_line);
        let hosts: BTreeSet<&str> = self.jobs.iter().filter_map(|j| j.host.as_deref()).collect();
        if let (1, Some(host)) = (hosts.len(), hosts.first()) {
            run.environment.hostname = Some((*host).to_owned());
        }
        let mut names = Names::default();
        let mut named_twice = false;
        for (number, job) in self.jobs.iter().enumerate() {
            let full = match &job.host {
                Some(host) if hosts.len() > 1 => format!("{host}:{}", job.name),
                _ if job.name.is_empty() => format!("job{}", number + 1),
                _ => job.name.clone(),
            };
            let name = names.unique(&full);
            named_twice |= name != full;
            let mut metrics = job.metrics(&name);
            if let Some(error) = &job.error {
                metrics
                    .iter_mut()
                    .for_each(|m| m.metric.reasons.push(Reason::of("failed", format!("the job ended with {error}"))));
            }
            run.push(name.clone(), metrics);
            if let Some(error) = &job.error {
                run.remark(format!("job '{name}' ended with {error}"));
                run.state = RunState::Failed;
            }
            if let Some(options) = job.options.as_ref().filter(|_| number < TOLD_LIMIT) {
                run.remark(model::job_options::remark(&job.name, options));
                run.options.push((name.clone(), options.clone()));
            }
        }
        if named_twice {
            run.remark(
                "jobs of one name were reported one by one and are numbered; none of them is the whole".to_owned(),
            );
        }
        if run.metrics().any(|m| m.metric.reasons.iter().any(|r| *r == of_completion_latency())) {
            run.remark("percentiles are of completion latencies, as fio printed them".to_owned());
        }
        if run.metrics().any(|m| m.metric.status == MetricStatus::Refused) {
            run.remark("latencies that cannot be were refused; with a part of them disabled, some versions print the time since boot");
        }
        if let Some(time) = &self.local_time {
            run.remark(format!("ended {time} in the time of its machine"));
        }
        self.remarks.iter().for_each(|r| run.remark(r.clone()));
        let longest = self.jobs.iter().flat_map(|j| &j.directions).filter_map(|d| d.runtime_ns).fold(0.0, f64::max);
        run.duration_ns = (longest > 0.0 && longest < 1e18).then_some(longest as u64);
        run.source_version = self.version;
        run.started = self.started;
        run.target = self.target;
        run.state = match run.state {
            RunState::Complete if self.interrupted => RunState::Interrupted,
            RunState::Complete if self.truncated => RunState::Truncated,
            other => other,
        };
        run
    }
}
