//! `narrows workloads`: what is built in.

use crate::args::{WorkloadsArgs, WorkloadsCommand};
use crate::output::Output;
use model::Failure;
use report::document::{WorkloadDocument, WorkloadsDocument};
use std::process::ExitCode;

/// Prints the list, or the text of one.
pub fn command(args: &WorkloadsArgs, output: &Output) -> Result<ExitCode, Failure> {
    if let Some(name) = &args.name {
        let known = spec::workload_text(name).is_some();
        return Err(match known {
            true => Failure::usage(format!("'{name}' is a workload, and no command of workloads"))
                .remedy(format!("narrows workloads show {name}   its text; narrows run {name} TARGET   runs it")),
            false => unknown(name),
        });
    }
    match &args.command {
        None | Some(WorkloadsCommand::List) => {
            let all = spec::workloads();
            let phases = || all.iter().map(|w| (w.name.as_str(), w.title.as_str(), w.answers.as_str()));
            let lines = || phases().chain(spec::studies().map(|[name, title, answers]| (name, title, answers)));
            output.answer(&WorkloadsDocument::new(lines()), || report::workloads(lines()));
        }
        Some(WorkloadsCommand::Show { name }) => {
            let text = spec::workload_text(name).ok_or_else(|| unknown(name))?;
            output.answer_text(&WorkloadDocument::new(name, text), |_| text);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str) -> Failure {
    let nearest = spec::nearest_workload(name).map(|n| format!(" (did you mean '{n}'?)")).unwrap_or_default();
    Failure::usage(format!("no workload is called '{name}'{nearest}")).remedy("narrows workloads   lists them")
}
