//! `narrows history`: since when is something slower, and what changed then?

use crate::args::{GlobalArgs, HistoryArgs, HistoryCommand};
use crate::output::Output;
use crate::redaction::OnPage;
use crate::{archives, output_file, runs};
use archive::Archive;
use conclusions::history::{HistoryWanted, Told, acknowledge, history};
use conduct::WallClock;
use judge::HistoryAsked;
use model::Failure;
use report::History;
use report::document::{HistoryAckDocument, HistoryDocument};
use std::path::Path;
use std::process::ExitCode;

/// Executes the command.
pub fn command(args: &HistoryArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let archive = archives::open(global)?;
    if let Some(HistoryCommand::Ack { event, why }) = &args.command {
        // An event of any metric, which may have been seen with --metric alone.
        let usual = history(&archive, &HistoryWanted::default())?.history;
        let found = |h: &model::History| h.events.iter().any(|e| e.id.starts_with(event.as_str()));
        let told = if found(&usual) { usual } else { history(&archive, &of_all_metrics())?.history };
        let event = acknowledge(&archive, &told, event, why, WallClock::now())?;
        output.answer(&HistoryAckDocument::new(&event), || report::acknowledged(&event));
        return Ok(ExitCode::SUCCESS);
    }
    args.report.as_deref().map_or(Ok(()), output_file::check)?;
    let told = history(&archive, &wanted(args)?)?;
    for run in &told.history.unreadable {
        output.warning(&format!("not read: {run}"));
    }
    let page = args.report.as_deref().map(|p| std::path::absolute(p).unwrap_or_else(|_| p.to_owned()));
    if let Some(page) = &page {
        write(&archive, &told, args, page)?;
    }
    let shown = page.as_ref().map(|p| p.display().to_string());
    let of = args.of.as_deref().unwrap_or_default();
    let view = History { history: &told.history, of, page: shown.as_deref() };
    output.answer(&HistoryDocument::new(&view), || report::history(&view));
    Ok(if told.history.open().next().is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn of_all_metrics() -> HistoryWanted {
    let asked = HistoryAsked { metrics: vec!["*".to_owned()], ..HistoryAsked::default() };
    HistoryWanted { asked, ..HistoryWanted::default() }
}

fn wanted(args: &HistoryArgs) -> Result<HistoryWanted, Failure> {
    let since = args.since.as_deref().map(str::trim);
    let latest = since.and_then(|text| text.parse::<usize>().ok());
    if latest == Some(0) {
        return Err(Failure::usage("--since 0 leaves no run to look at").remedy("--since 60, or --since 90d"));
    }
    let since_s = since.filter(|_| latest.is_none()).map(|age| runs::ago("--since", age)).transpose()?;
    let asked = HistoryAsked { metrics: args.metrics.clone(), latest };
    Ok(HistoryWanted { of: args.of.clone(), since_s, asked })
}

/// Writes the page; a run leads to its page in the archive, where it has one.
fn write(archive: &Archive, told: &Told, args: &HistoryArgs, page: &Path) -> Result<(), Failure> {
    let on_page = OnPage::of(&told.named, args.identify)?;
    let shown = on_page.history(&told.history);
    let of = on_page.text(args.of.as_deref().unwrap_or_default());
    let reports = archive.reports_dir();
    let beside = page.parent().map(|folder| relative(folder, &reports));
    let link = |run: &str| {
        let there = beside.as_ref().filter(|_| archive.report_path(run).is_file())?;
        Some(format!("{there}{run}.html"))
    };
    let view = History { history: &shown, of: &of, page: None };
    output_file::write(page, report::history_page(&view, env!("CARGO_PKG_VERSION"), &link).as_bytes())
}

/// The way from one directory to another, which ends in a slash: a page that is moved with its archive keeps its links, and names no
/// directory above both.
fn relative(from: &Path, to: &Path) -> String {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "../".to_owned());
    let down = to.components().skip(shared).map(|part| {
        let bytes = part.as_os_str().as_encoded_bytes().iter();
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-._~".contains(b);
        let name: String =
            bytes.map(|b| if plain(b) { char::from(*b).to_string() } else { format!("%{b:02X}") }).collect();
        name + "/"
    });
    up.chain(down).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_leads_to_pages_beside_it_or_elsewhere() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b", "/a/b/reports"), "reports/");
        assert_eq!(way("/home/me/web", "/home/me/my runs/reports"), "../my%20runs/reports/");
        assert_eq!(way("/a", "/a"), "");
    }
}
