//! The text of the workload that an experiment names.

use crate::run::text;
use conduct::{Language, Source};
use model::Failure;
use spec::{Arm, Experiment, Workload, WorkloadSource};
use std::path::Path;

/// The text of the workload: built-in, a file beside the experiment, or inline.
pub fn workload_source(experiment: &Experiment, source: &Source) -> Result<Source, Failure> {
    match &experiment.workload {
        WorkloadSource::Inline(text) => Ok(Source {
            name: format!("{} [workload]", source.name),
            text: text.clone(),
            language: Language::Toml,
            directory: source.directory.clone(),
        }),
        WorkloadSource::Named(name) => {
            let beside = source.directory.join(name);
            let is_built_in = spec::workload_text(name).is_some();
            let chosen =
                if !is_built_in && beside.is_file() { beside.as_os_str() } else { Path::new(name).as_os_str() };
            let found = text::source(chosen)?;
            if spec::is_experiment(&found.text) {
                return Err(Failure::usage(format!("{}: the workload {name} is an experiment itself", source.name))
                    .remedy("narrows workloads   lists what is built in"));
            }
            Ok(found)
        }
    }
}

/// The workload of an arm: keys of the experiment, then of the arm, then of the command line.
pub fn workload(
    experiment: &Experiment,
    arm: &Arm,
    source: &Source,
    more: &[(String, String)],
) -> Result<Workload, Failure> {
    let set: Vec<(String, String)> = experiment.set.iter().chain(&arm.set).chain(more).cloned().collect();
    text::workload(source, &set, false).map_err(|failure| {
        let remedy = failure.remedy.clone();
        let failure = Failure::new(failure.kind, format!("arm '{}': {}", arm.name, failure.message));
        remedy.map_or(failure.clone(), |r| failure.remedy(r))
    })
}
