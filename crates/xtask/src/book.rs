//! `cargo xtask book`: the documents as an mdBook. Its source is a copy of the documents with what they link to, so that every link holds; mdbook
//! renders it where it is installed. Nothing is downloaded.

use crate::docs::{documents, links};
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `cargo xtask book`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Where the book goes
    #[arg(long, short, value_name = "DIR", default_value = "target/book")]
    output: PathBuf,
}

const BOOK: &str = "[book]
title = \"narrows\"
language = \"en\"
src = \"src\"

[output.html]
no-section-label = true
";

/// Writes the book.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = lab::workspace_root();
    let output = std::path::absolute(root.join(&arguments.output))?;
    let pages = write(&root, &output)?;
    println!("{pages} pages in {}", output.join("src").display());
    let is_there = Command::new("mdbook").arg("--version").output().is_ok_and(|found| found.status.success());
    if !is_there {
        println!("SKIPPED: mdbook is not installed (cargo install mdbook); then: mdbook build {}", output.display());
        return Ok(());
    }
    let status = Command::new("mdbook").arg("build").arg(&output).status().context("cannot start mdbook")?;
    ensure!(status.success(), "mdbook ended with {status}");
    Ok(())
}

/// Writes book.toml and its source; how many pages there are.
fn write(root: &Path, output: &Path) -> anyhow::Result<usize> {
    let documents = documents(root)?;
    links::check(root, &documents)?;
    links::check_summary(root, &documents)?;
    let source = output.join("src");
    if source.is_dir() {
        fs::remove_dir_all(&source)?;
    }
    fs::create_dir_all(&source)?;
    fs::write(output.join("book.toml"), BOOK)?;
    let mut pages = 0;
    for document in &documents {
        let text = fs::read_to_string(root.join(document))?;
        if document == Path::new(links::SUMMARY) {
            fs::write(source.join("SUMMARY.md"), in_book(&summary(&text, &documents)))?;
            continue;
        }
        copy(root, &source, document)?;
        pages += 1;
        for (file, _) in links::links(&text).iter().filter_map(|link| links::target(document, link)) {
            if root.join(&file).is_file() {
                copy(root, &source, &file)?;
            }
        }
    }
    Ok(pages)
}

fn copy(root: &Path, source: &Path, file: &Path) -> anyhow::Result<()> {
    let to = source.join(in_book(&file.to_string_lossy()));
    fs::create_dir_all(to.parent().context("a file lies in a directory")?)?;
    if file.extension().is_some_and(|extension| extension == "md") {
        fs::write(to, in_book(&fs::read_to_string(root.join(file))?))?;
    } else {
        fs::copy(root.join(file), &to).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

/// A path or text with README.md, in links, under the name by which mdBook renders it: a link to README.md leads to README.html, which is not there.
fn in_book(text: &str) -> String {
    let whole = text.strip_suffix("README.md").map(|directory| format!("{directory}index.md"));
    whole.unwrap_or_else(|| text.replace("README.md)", "index.md)").replace("README.md#", "index.md#"))
}

/// The summary as it is from the source's root, with each finding below their index.
fn summary(text: &str, documents: &[PathBuf]) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (before, link) = line.split_once("](").unwrap_or((line, ""));
        let file = link.split_once(')').and_then(|(link, _)| links::target(Path::new(links::SUMMARY), link));
        let Some((file, _)) = file else {
            out.push_str(&format!("{line}\n"));
            continue;
        };
        out.push_str(&format!("{before}]({})\n", file.display()));
        if file.ends_with("findings/README.md") {
            let is_one = |d: &&PathBuf| d.parent() == file.parent() && **d != file;
            for finding in documents.iter().filter(is_one) {
                let name = finding.file_stem().unwrap_or_default().to_string_lossy();
                out.push_str(&format!("    - [{name}]({})\n", finding.display()));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_has_every_page_and_its_links_lead_somewhere_in_it() {
        let output = tempfile::tempdir().unwrap();
        let root = lab::workspace_root();
        let pages = write(&root, output.path()).unwrap();
        let source = output.path().join("src");
        let summary = fs::read_to_string(source.join("SUMMARY.md")).unwrap();
        let listed = links::links(&summary);
        assert_eq!(listed.len(), pages, "each page is listed once");
        for page in listed {
            let text = fs::read_to_string(source.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
            for (file, _) in links::links(&text).iter().filter_map(|link| links::target(Path::new(page), link)) {
                assert!(source.join(&file).exists() || root.join(&file).is_dir(), "{page}: {}", file.display());
                assert!(!file.ends_with("README.md"), "{page}: mdBook renders no README.html");
            }
        }
    }
}
