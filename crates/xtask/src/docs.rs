//! `cargo xtask docs`: man pages and completions, generated from the one table of commands and options, and the pages
//! of findings, generated from the catalogue.

mod findings;
pub mod links;
mod samples;
mod walks;

use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Options of `cargo xtask docs`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Change nothing; fail if a generated file is not up to date
    #[arg(long)]
    check: bool,
}

const MAN: &str = "docs/man";
const COMPLETIONS: &str = "docs/completions";
/// The shells that a package has scripts for, under the names by which they find them.
const SCRIPTS: [(&str, &str); 3] = [("bash", "narrows.bash"), ("zsh", "_narrows"), ("fish", "narrows.fish")];

/// One page for the program and one for each command, commands of commands included.
fn pages(command: &clap::Command, pages: &mut BTreeMap<PathBuf, Vec<u8>>) -> anyhow::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut page = Vec::new();
    // No date: the same source gives the same page on every day.
    clap_mangen::Man::new(command.clone())
        .title(&name)
        .source(format!("narrows {}", env!("CARGO_PKG_VERSION")))
        .manual("User Commands")
        .render(&mut page)
        .with_context(|| format!("the page of {name}"))?;
    pages.insert(Path::new(MAN).join(format!("{name}.1")), page);
    for inner in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        self::pages(inner, pages)?;
    }
    Ok(())
}

/// All generated files with their content.
fn generate() -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut command = cli::command();
    // Gives every command its full name, `narrows-check`.
    command.build();
    let mut files = BTreeMap::new();
    pages(&command, &mut files)?;
    for (shell, name) in SCRIPTS {
        files.insert(Path::new(COMPLETIONS).join(name), cli::completion_script(shell, "narrows")?.into_bytes());
    }
    findings::pages(&mut files);
    Ok(files)
}

/// What lies in the directories of generated files.
fn present(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for directory in [MAN, COMPLETIONS, findings::FINDINGS] {
        if !root.join(directory).is_dir() {
            continue;
        }
        for entry in fs::read_dir(root.join(directory)).with_context(|| format!("could not list {directory}"))? {
            found.push(Path::new(directory).join(entry?.file_name()));
        }
    }
    Ok(found)
}

/// README.md, CONTRIBUTING.md and what lies below docs/, paths from the root.
pub fn documents(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::from("README.md"), PathBuf::from("CONTRIBUTING.md")];
    let mut open = vec![PathBuf::from("docs")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(root.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes the files, or checks them and what documents say of the program.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = crate::workspace_root();
    let files = generate()?;
    let surplus = present(&root)?.into_iter().filter(|f| !files.contains_key(f));
    if arguments.check {
        let differ = files.iter().filter(|(f, content)| fs::read(root.join(f)).ok().as_ref() != Some(*content));
        let stale: Vec<String> =
            differ.map(|(f, _)| f.display().to_string()).chain(surplus.map(|f| f.display().to_string())).collect();
        if !stale.is_empty() {
            bail!("not up to date: {}\nrun: cargo xtask docs", stale.join(", "));
        }
        println!("{} generated files are up to date", files.len());
        println!("{} sample outputs are what the program prints", samples::check(&root, &documents(&root)?)?);
        let documents = documents(&root)?;
        println!("{} links lead somewhere", links::check(&root, &documents)?);
        println!("{} pages are in the summary", links::check_summary(&root, &documents)?);
        println!("{}", walks::check(&root)?);
        return Ok(());
    }
    for file in surplus {
        fs::remove_file(root.join(&file)).with_context(|| format!("could not remove {}", file.display()))?;
    }
    for (file, content) in &files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap_or(&root))?;
        fs::write(&path, content).with_context(|| format!("could not write {}", file.display()))?;
    }
    println!("{} files in {MAN}, {COMPLETIONS} and {}", files.len(), findings::FINDINGS);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound_and_every_option_is_explained() {
        let mut command = cli::command();
        command.build();
        command.clone().debug_assert();
        fn each(command: &clap::Command, silent: &mut Vec<String>) {
            if command.get_about().is_none() {
                silent.push(command.get_name().to_owned());
            }
            for argument in command.get_arguments().filter(|a| !a.is_hide_set()) {
                if argument.get_help().is_none_or(|h| h.to_string().is_empty()) {
                    silent.push(format!("{} {}", command.get_name(), argument.get_id()));
                }
            }
            command.get_subcommands().for_each(|c| each(c, silent));
        }
        let mut silent = Vec::new();
        each(&command, &mut silent);
        assert!(silent.is_empty(), "without help: {silent:?}");
    }

    #[test]
    fn every_command_has_a_page_and_the_scripts_ask_the_program() {
        let files = generate().expect("generated files");
        for (shell, name) in SCRIPTS {
            let script = String::from_utf8_lossy(&files[&Path::new(COMPLETIONS).join(name)]).into_owned();
            assert!(script.replace('"', "").contains(&format!("COMPLETE={shell} ")), "{script}");
        }
        assert!(files.contains_key(Path::new("docs/man/narrows.1")));
        for command in cli::command().get_subcommands().filter(|c| !c.is_hide_set()) {
            let name = command.get_name();
            let page = &files[&Path::new(MAN).join(format!("narrows-{name}.1"))];
            assert!(String::from_utf8_lossy(page).contains(".TH"), "{name}");
        }
    }
}
