//! `narrows explain ID`: the page of a finding.

use crate::args::ExplainArgs;
use crate::output::Output;
use model::Failure;
use report::document::{ExplainDocument, ExplainListDocument, ExplainUseDocument};
use std::process::ExitCode;

/// Prints one page, or the list of all.
pub fn command(args: &ExplainArgs, output: &Output) -> Result<ExitCode, Failure> {
    let Some(id) = &args.id else {
        let pages = diagnose::catalogue();
        output.answer(&ExplainListDocument::new(pages.iter().map(|p| (p.id.as_str(), p.title.as_str()))), || {
            report::explain_list(pages)
        });
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(used) = id.strip_prefix("for-").and_then(|name| judge::use_named(name).ok()) {
        output.answer(&ExplainUseDocument::new(&used), || report::explain_use(&used));
        return Ok(ExitCode::SUCCESS);
    }
    let page = diagnose::page(id).ok_or_else(|| unknown(id))?;
    output.answer(&ExplainDocument::new(page), || report::explain(page));
    Ok(ExitCode::SUCCESS)
}

fn unknown(id: &str) -> Failure {
    let near = diagnose::near_ids(id);
    let remedy = match near.as_slice() {
        [] => "narrows explain   lists them".to_owned(),
        near => format!("near it: {}; narrows explain   lists all", near.join(", ")),
    };
    Failure::usage(format!("no finding is called '{id}'")).remedy(remedy)
}
