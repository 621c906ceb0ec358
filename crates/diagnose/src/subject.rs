//! What conditions are asked about.

use crate::kernel_log;
use crate::machine;
use crate::stack_view::{self, DiskPath, Missing};
use model::{Environment, PhaseRecord, PhaseRun, Run, Stack, SystemSample, TargetKind, Work};

/// The facts of a storage path and of its machine, and what was measured on it, where something was. A value that would
/// have been measured is `None` where nothing was.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The storage path.
    pub stack: &'a Stack,
    /// The machine.
    pub environment: &'a Environment,
    /// What the kernel said, where it could be read.
    kernel_log: Option<&'a [String]>,
    /// What was measured.
    pub run: Option<&'a Run>,
}

impl<'a> Subject<'a> {
    /// A run, with the path that it was made on.
    pub fn of_run(run: &'a Run) -> Self {
        Self {
            stack: &run.target.stack,
            environment: &run.environment,
            kernel_log: run.kernel_log.as_deref(),
            run: Some(run),
        }
    }

    /// A path on which nothing was measured.
    pub fn of_stack(stack: &'a Stack, environment: &'a Environment, kernel_log: Option<&'a [String]>) -> Self {
        Self { stack, environment, kernel_log, run: None }
    }

    /// Its disks, each with its own path down.
    pub fn disks(&self) -> Vec<DiskPath<'a>> {
        stack_view::disks(self.stack)
    }

    /// Whether a hypervisor made the disk, or may have.
    pub fn is_virtual_disk(&self) -> bool {
        stack_view::is_virtual_disk(self.stack, self.environment)
    }

    /// How many processors are online.
    pub fn processors(&self) -> Result<u32, Missing> {
        stack_view::processors(self.stack, self.environment)
    }

    /// Whether there is no storage at all.
    pub fn is_null(&self) -> bool {
        self.run.is_some_and(|run| run.target.kind == TargetKind::Null)
    }

    /// Samples of the machine during the run.
    pub fn samples(&self) -> &'a [SystemSample] {
        self.run.map(|run| run.samples.as_slice()).unwrap_or_default()
    }

    /// Samples that belong to a phase of the run.
    pub fn samples_of(&self, phase: &PhaseRun) -> &'a [SystemSample] {
        self.run.map(|run| run.samples_of(phase)).unwrap_or_default()
    }

    /// What is seen of the run; `None` where there is none.
    pub fn measured<T>(&self, of: impl FnOnce(&'a Run) -> Option<T>) -> Option<T> {
        of(self.run?)
    }

    /// Phases that touched the target, whether they stand or not.
    pub fn executed(&self) -> impl Iterator<Item = (&'a PhaseRun, &'a PhaseRecord)> + use<'a> {
        self.run.into_iter().flat_map(machine::executed)
    }

    /// The value of a metric that stands.
    pub fn value(&self, id: &str) -> Option<f64> {
        machine::value(self.run?, id)
    }

    /// A quantity of the phase that does this work, where it stands.
    pub fn value_of_work(&self, work: Work, quantity: &str) -> Option<f64> {
        machine::value_of_work(self.run?, work, quantity)
    }

    /// Throughput of the phase that does this work.
    pub fn rate(&self, work: Work) -> Option<f64> {
        machine::rate(self.run?, work)
    }

    /// As [`Self::rate`], where direct I/O did not fall back to the page cache.
    pub fn direct_rate(&self, work: Work) -> Option<f64> {
        machine::direct_rate(self.run?, work)
    }

    /// The id of a quantity of the phase that does this work; that of the check where none does.
    pub fn metric_id_of_work(&self, work: Work, quantity: &str) -> String {
        self.run.map_or_else(|| format!("{}.{quantity}", work.name()), |run| run.metric_id_of_work(work, quantity))
    }

    /// As [`Self::metric_id_of_work`], of the throughput.
    pub fn rate_id(&self, work: Work) -> String {
        self.metric_id_of_work(work, "throughput_bytes_per_s")
    }

    /// Lines of the kernel's log, see [`kernel_log::lines`].
    pub fn log_lines(&self, needles: &[&str], of: &[&str]) -> Option<Vec<&'a str>> {
        kernel_log::lines(self.stack, self.kernel_log, needles, of)
    }
}
