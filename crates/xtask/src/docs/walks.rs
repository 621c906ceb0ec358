//! The walks of CONTRIBUTING.md beside the commits that they name: each file that a walk lists is one that its commit changed.

use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// Where a file of a commit lies today, where it has been moved: old and new beginnings of paths.
const MOVED: &[(&str, &str)] = &[
    ("crates/cli/src/tune.rs", "crates/cli/src/settings.rs"),
    ("crates/report/src/tune.rs", "crates/report/src/settings.rs"),
    ("crates/report/src/document/tune.rs", "crates/report/src/document/settings.rs"),
];

/// A walk: its heading, the commits that it names, the files that it lists.
struct Walk<'a> {
    name: &'a str,
    commits: Vec<&'a str>,
    files: Vec<&'a str>,
}

fn walks(text: &str) -> Vec<Walk<'_>> {
    let Some((_, walks)) = text.split_once("## Seven walks") else { return Vec::new() };
    walks.split("\n### ").skip(1).filter_map(walk).collect()
}

fn walk(section: &str) -> Option<Walk<'_>> {
    let (heading, body) = section.split_once('\n')?;
    let is_commit = |word: &&str| word.len() == 7 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let listed = body.lines().filter_map(|l| l.strip_prefix("- `")).filter_map(|l| l.split('`').next());
    let commits = body.split('`').filter(is_commit).collect();
    Some(Walk { name: heading.split(':').next()?, commits, files: listed.collect() })
}

fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<Option<String>> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().context("cannot start git")?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// What was compared, or why it could not be.
///
/// # Errors
/// A walk lists a file that none of its commits changed, or names no commit.
pub fn check(root: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(root.join("CONTRIBUTING.md"))?;
    let walks = walks(&text);
    ensure!(!walks.is_empty(), "CONTRIBUTING.md has no walks");
    let mut commits = 0;
    for walk in &walks {
        ensure!(!walk.commits.is_empty(), "CONTRIBUTING.md, {}: it names no commit", walk.name);
        let mut changed = Vec::new();
        for commit in &walk.commits {
            let Some(names) = git(root, &["show", "--name-only", "--format=", commit])? else {
                return Ok(format!("SKIPPED: the walks beside their commits: {commit} is not in this clone"));
            };
            changed.extend(names.lines().map(str::to_owned));
            commits += 1;
        }
        for file in &walk.files {
            let old = MOVED.iter().find_map(|(old, new)| file.strip_prefix(new).map(|rest| format!("{old}{rest}")));
            let is_changed = |name: &str| changed.iter().any(|c| c == name);
            ensure!(
                is_changed(file) || old.as_deref().is_some_and(is_changed),
                "CONTRIBUTING.md, {}: none of {:?} changed {file}",
                walk.name,
                walk.commits
            );
        }
    }
    Ok(format!("{} walks agree with {commits} commits", walks.len()))
}
