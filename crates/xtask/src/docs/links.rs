//! The links of the documents: each leads to a file of this tree and, where it names a heading, to a heading there. And the summary of the book, in
//! which each page is.

use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The contents of the book, from the root.
pub const SUMMARY: &str = "docs/SUMMARY.md";

/// The lines of a document outside fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of the links of a document, in their order.
pub fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in prose(text) {
        // What is between ticks is code.
        for part in line.split('`').step_by(2).flat_map(|part| part.split("](").skip(1)) {
            found.extend(part.split_once(')').map(|(target, _)| target));
        }
        // A link whose text has ticks in it: [`x`](y).
        for part in line.split("`](").skip(1) {
            found.extend(part.split_once(')').map(|(target, _)| target).filter(|target| !found.contains(target)));
        }
    }
    found
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

/// A path without `.` and `..`.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// The file and the heading that a link of a document means; none for another site.
pub fn target(document: &Path, link: &str) -> Option<(PathBuf, Option<String>)> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading.to_owned())));
    let directory = document.parent().unwrap_or(Path::new(""));
    let file = if file.is_empty() { document.to_owned() } else { clean(&directory.join(file)) };
    Some((file, heading))
}

/// How many links there are.
///
/// # Errors
/// One leads nowhere.
pub fn check(root: &Path, documents: &[PathBuf]) -> anyhow::Result<usize> {
    let mut count = 0;
    let mut wrong = Vec::new();
    for document in documents {
        let text = fs::read_to_string(root.join(document)).with_context(|| document.display().to_string())?;
        for link in links(&text) {
            let Some((file, heading)) = target(document, link) else { continue };
            count += 1;
            let path = root.join(&file);
            let leads = match heading {
                _ if !path.exists() => false,
                None => true,
                Some(heading) => {
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    prose(&text).any(|line| line.starts_with('#') && anchor(line) == heading)
                }
            };
            if !leads {
                wrong.push(format!("{}: {link}", document.display()));
            }
        }
    }
    ensure!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
    Ok(count)
}

/// How many pages the summary has; those of single findings are below their index.
///
/// # Errors
/// A document is not in it, or it names what is none.
pub fn check_summary(root: &Path, documents: &[PathBuf]) -> anyhow::Result<usize> {
    let text = fs::read_to_string(root.join(SUMMARY)).context(SUMMARY)?;
    let listed: Vec<PathBuf> =
        links(&text).iter().filter_map(|link| target(Path::new(SUMMARY), link)).map(|(file, _)| file).collect();
    let once: BTreeSet<&PathBuf> = listed.iter().collect();
    ensure!(once.len() == listed.len(), "{SUMMARY} names a page twice");
    let is_page = |document: &&PathBuf| {
        let is_finding = document.parent() == Some(Path::new(super::findings::FINDINGS));
        *document != Path::new(SUMMARY) && (!is_finding || document.ends_with("README.md"))
    };
    let pages: BTreeSet<&PathBuf> = documents.iter().filter(is_page).collect();
    let missing: Vec<_> = pages.difference(&once).map(|p| p.display().to_string()).collect();
    ensure!(missing.is_empty(), "{SUMMARY} lacks {}", missing.join(", "));
    let unknown: Vec<_> = once.difference(&pages).map(|p| p.display().to_string()).collect();
    ensure!(unknown.is_empty(), "{SUMMARY} names what is no document: {}", unknown.join(", "));
    Ok(listed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "a [b](c.md) and `[x](y)` [`d`](e.md#f)\n```\n[g](h)\n```\n![i](j.png), [k](https://l)";
        assert_eq!(links(text), ["c.md", "e.md#f", "j.png", "https://l"]);
    }

    #[test]
    fn targets_are_paths_from_the_root() {
        let of = |link: &str| target(Path::new("docs/guide/a.md"), link);
        assert_eq!(of("../b.md#c-d"), Some((PathBuf::from("docs/b.md"), Some("c-d".into()))));
        assert_eq!(of("#c"), Some((PathBuf::from("docs/guide/a.md"), Some("c".into()))));
        assert_eq!(of("https://example.org"), None);
        assert_eq!(anchor("## What a command's `output` costs, 1"), "what-a-commands-output-costs-1");
    }

    #[test]
    fn a_link_that_leads_nowhere_and_a_page_that_is_nowhere_are_found() {
        let root = tempfile::tempdir().unwrap();
        let docs = root.path().join("docs");
        fs::create_dir(&docs).unwrap();
        fs::write(docs.join("a.md"), "# One\n[x](b.md#two) [y](#one)\n").unwrap();
        fs::write(docs.join("b.md"), "## Two\n").unwrap();
        fs::write(docs.join("SUMMARY.md"), "[a](a.md)\n").unwrap();
        let documents = ["docs/a.md", "docs/b.md", "docs/SUMMARY.md"].map(PathBuf::from);
        assert_eq!(check(root.path(), &documents).unwrap(), 3);
        let error = check_summary(root.path(), &documents).unwrap_err().to_string();
        assert!(error.contains("lacks docs/b.md"), "{error}");
        fs::write(docs.join("SUMMARY.md"), "[a](a.md) [b](b.md)\n").unwrap();
        assert_eq!(check_summary(root.path(), &documents).unwrap(), 2);
        fs::write(docs.join("b.md"), "## Three\n[n](none.md)\n").unwrap();
        let error = check(root.path(), &documents).unwrap_err().to_string();
        assert!(error.contains("docs/a.md: b.md#two") && error.contains("docs/b.md: none.md"), "{error}");
    }
}
