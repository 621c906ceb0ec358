//! `narrows site DIR... -o OUT`: archives of many machines as pages.

use crate::args::{GlobalArgs, SiteArgs};
use crate::output::Output;
use crate::{archives, output_file};
use conclusions::site::read_site;
use model::Failure;
use report::document::SiteDocument;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// Says that a directory is a site, and which files of it are ours.
const MARKER: &str = "narrows-site.json";
/// GitHub Pages publishes what is there as it is where this is.
const NO_JEKYLL: &str = ".nojekyll";
/// A marker is never longer.
const MOST_MARKER_BYTES: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct Marker {
    schema: String,
    pages: BTreeSet<String>,
}

/// Executes the command.
pub fn command(args: &SiteArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let out = std::path::absolute(&args.output).unwrap_or_else(|_| args.output.clone());
    let before = before(&out)?;
    let archive = archives::open(global)?;
    let read = read_site(&archive, &args.directories, &out, args.identify)?;
    let (fresh, duplicates) = (read.read, read.duplicates);
    let site = judge::site(read.runs, read.problems);
    let mut written = Written { out: &out, pages: BTreeSet::new(), changed: 0 };
    let title = args.title.as_deref().unwrap_or("Storage");
    report::site_pages(&site, title, env!("CARGO_PKG_VERSION"), |path, html| written.page(path, html.as_bytes()))?;
    written.page(NO_JEKYLL, b"")?;
    let removed = before.difference(&written.pages).filter(|page| remove(&out, page)).count();
    let (pages, changed) = (written.pages.len(), written.changed);
    let marker = Marker { schema: "narrows/site/1".to_owned(), pages: written.pages.clone() };
    let text = serde_json::to_string_pretty(&marker).map_err(|e| Failure::internal(e.to_string()))?;
    written.page(MARKER, (text + "\n").as_bytes())?;
    let document = SiteDocument {
        runs: site.runs.len(),
        read: fresh,
        duplicates,
        problems: &site.problems,
        machines: site.runs.iter().map(|r| r.machine.as_str()).collect::<BTreeSet<_>>().len(),
        devices: site.runs.iter().filter_map(|r| r.device.as_deref()).collect::<BTreeSet<_>>().len(),
        events: site.history.events.len(),
        pages,
        written: changed,
        removed,
        site: out.join("index.html").display().to_string(),
    };
    output.answer(&document, || report::site(&document));
    Ok(ExitCode::SUCCESS)
}

/// The pages of a site that is there; none of a directory that is new or empty.
fn before(out: &Path) -> Result<BTreeSet<String>, Failure> {
    let marker = out.join(MARKER);
    let small = marker.symlink_metadata().is_ok_and(|m| m.is_file() && m.len() <= MOST_MARKER_BYTES);
    let text = if small { fs::read_to_string(&marker).ok() } else { None };
    if let Some(marker) = text.and_then(|text| serde_json::from_str::<Marker>(&text).ok()) {
        return Ok(marker.pages);
    }
    match fs::read_dir(out).map(Iterator::count) {
        Ok(entries) if entries > 0 => {
            Err(Failure::refused(format!("{} holds other files, and is no site of narrows", out.display()))
                .remedy("-o DIR names a directory that is new or empty"))
        }
        Ok(_) => Ok(BTreeSet::new()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(e) => Err(Failure::environment(format!("{} cannot be read: {e}", out.display()))),
    }
}

/// Removes a page that is no longer one. The marker may say anything: only what is a page of ours by its name goes.
fn remove(out: &Path, page: &str) -> bool {
    let path = Path::new(page);
    let plain = path.components().all(|c| matches!(c, Component::Normal(_))) && path.components().count() <= 2;
    let is_page = plain && path.extension().is_some_and(|e| e == "html");
    is_page && out.join(path).symlink_metadata().is_ok_and(|m| m.is_file()) && fs::remove_file(out.join(path)).is_ok()
}

/// What was written.
struct Written<'a> {
    out: &'a Path,
    pages: BTreeSet<String>,
    changed: usize,
}

impl Written<'_> {
    /// Writes a page, unless it is there already as it is.
    fn page(&mut self, path: &str, content: &[u8]) -> Result<(), Failure> {
        let file = self.out.join(path);
        if path != MARKER {
            self.pages.insert(path.to_owned());
        }
        let there = file.symlink_metadata().ok();
        let same = there.as_ref().is_some_and(|m| m.is_file() && m.len() == content.len() as u64);
        if same && fs::read(&file).is_ok_and(|known| known == content) {
            return Ok(());
        }
        if there.as_ref().is_some_and(fs::Metadata::is_symlink) {
            return Err(Failure::refused(format!("{} is a link, and would be written through", file.display()))
                .remedy("remove it"));
        }
        make_directory(file.parent().unwrap_or(self.out))?;
        output_file::publish(&file, content)?;
        self.changed += 1;
        Ok(())
    }
}

fn make_directory(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok_and(|m| m.is_symlink()) {
        return Err(Failure::refused(format!("{} is a link, and would be written through", path.display())));
    }
    fs::create_dir_all(PathBuf::from(path)).map_err(|e| {
        Failure::environment(format!("cannot create the directory {}: {e}", path.display())).remedy("-o DIR elsewhere")
    })
}
