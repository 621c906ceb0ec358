//! `narrows explain ID`: the page of a finding.

use crate::args::ExplainArgs;
use crate::output::Output;
use model::{Failure, FailureKind};
use report::document::{ExplainDocument, ExplainListDocument, ExplainUseDocument};
use std::process::ExitCode;

/// Prints one page, or the list of all.
pub fn command(args: &ExplainArgs, output: &Output) -> Result<ExitCode, Failure> {
    let Some(id) = &args.id else {
        let pages = diagnose::catalogue();
        if output.is_json() {
            output.document(&ExplainListDocument::new(pages.iter().map(|p| (p.id.as_str(), p.title.as_str()))));
        } else {
            output.text(&report::explain_list(pages, output.style()));
        }
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(used) = id.strip_prefix("for-").and_then(|name| judge::use_named(name).ok()) {
        if output.is_json() {
            output.document(&ExplainUseDocument::new(&used));
        } else {
            output.text(&report::explain_use(&used, output.style()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let page = diagnose::page(id).ok_or_else(|| unknown(id))?;
    if output.is_json() {
        output.document(&ExplainDocument::new(page));
    } else {
        output.text(&report::explain_text(page, output.style()));
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown(id: &str) -> Failure {
    let near = diagnose::near_ids(id);
    let remedy = match near.as_slice() {
        [] => "narrows explain   lists them".to_owned(),
        near => format!("near it: {}; narrows explain   lists all", near.join(", ")),
    };
    Failure::new(FailureKind::Usage, format!("no finding is called '{id}'")).remedy(remedy)
}
