//! Several checks as one answer.

use crate::execution::Finished;
use crate::output::Output;
use crate::report_page::started;
use judge::TargetRuns;
use report::Check;
use report::document::ChecksDocument;

/// Several targets side by side, or the document with all of them.
pub fn show(finished: &[Finished], not_checked: &[String], output: &Output) {
    let named = |f: &Finished| TargetRuns { name: f.run.target.name.clone(), runs: vec![f.run.clone()] };
    let uses = judge::by_use(&finished.iter().map(named).collect::<Vec<_>>());
    let starts: Vec<String> = finished.iter().map(|f| started(&f.run)).collect();
    let pages: Vec<Option<String>> =
        finished.iter().map(|f| f.page.as_ref().ok().map(|p| p.display().to_string())).collect();
    let parts = finished.iter().zip(&starts).zip(&pages);
    let checks: Vec<Check<'_>> = parts
        .map(|((f, started), page)| Check { page: page.as_deref(), ..Check::of(&f.run, &f.conclusions, started) })
        .collect();
    output.answer(&ChecksDocument::new(&checks, &uses, not_checked), || {
        report::side_by_side(&checks, &uses, not_checked).all_of_it("narrows runs show ID, of each run".to_owned())
    });
}
