//! The sample outputs of README.md and docs/: each `$ narrows ...` of a simulated device, or of a file that this tree has, is carried out, and what
//! stands below it must be what the program prints, byte for byte but for the moment and the name of a run. A line `...` stands for any lines.

use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where outputs of other tools lie that samples name.
const FOREIGN: &str = "crates/exchange/tests/exchange/studies";

/// A command and what a document says that it prints.
#[derive(Debug, PartialEq, Eq)]
struct Sample {
    command: String,
    output: Vec<String>,
}

/// The samples of a document: of each fenced block that begins with a command. Commands of one block follow one another.
fn samples(text: &str) -> Vec<Vec<Sample>> {
    let mut blocks = Vec::new();
    let mut block: Option<Vec<Sample>> = None;
    for line in text.lines() {
        if line.starts_with("```") {
            match block.take() {
                Some(samples) if !samples.is_empty() => blocks.push(samples),
                Some(_) => {}
                None => block = Some(Vec::new()),
            }
        } else if let Some(samples) = &mut block {
            match (line.strip_prefix("$ "), samples.last_mut()) {
                (Some(command), _) => samples.push(Sample { command: command.to_owned(), output: Vec::new() }),
                (None, Some(sample)) => sample.output.push(line.trim_end().to_owned()),
                (None, None) => {}
            }
        }
    }
    blocks
}

/// Whether the output is the same everywhere: of simulated devices, or of files of this tree.
fn is_the_same_everywhere(command: &str, foreign: &Path) -> bool {
    let words: Vec<&str> = command.split([' ', '\'']).collect();
    let is_known = |word: &&str| word.starts_with("sim:") || (word.contains('.') && foreign.join(word).is_file());
    words.first() == Some(&"narrows") && words.iter().any(is_known)
}

/// A line without the moment at which a run began and without its name, which no two runs share.
fn without_moments(line: &str) -> String {
    let is_moment = |word: &str| {
        let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        matches!(shape.as_str(), "0000-00-00" | "00:00")
    };
    let mut out = String::new();
    for (i, word) in line.split(' ').enumerate() {
        if i > 0 {
            out.push(' ');
        }
        match run_id(word) {
            Some((start, end)) => out.push_str(&format!("{}RUN{}", &word[..start], &word[end..])),
            None => out.push_str(if is_moment(word) { "MOMENT" } else { word }),
        }
    }
    out.trim_end().to_owned()
}

/// Where in a word the id of a run stands: `20261124T063118Z-481b8d3c`.
fn run_id(word: &str) -> Option<(usize, usize)> {
    let shape: Vec<u8> = word.bytes().map(|b| if b.is_ascii_hexdigit() { b'0' } else { b }).collect();
    let at = shape.windows(25).position(|w| w == b"00000000T000000Z-00000000")?;
    Some((at, at + 25))
}

/// Whether the lines are what was printed; `...` stands for any number of lines.
fn agrees(expected: &[String], printed: &[String]) -> bool {
    let Some(gap) = expected.iter().position(|line| line.trim() == "...") else { return expected == printed };
    let head = &expected[..gap];
    let rest = &expected[gap + 1..];
    printed.starts_with(head) && (head.len()..=printed.len()).any(|at| agrees(rest, &printed[at..]))
}

/// The program that cargo left beside this one.
fn program() -> anyhow::Result<PathBuf> {
    let directory = std::env::current_exe()?.parent().map(Path::to_owned).context("a program lies in a directory")?;
    let program = std::env::var_os("NARROWS").map_or_else(|| directory.join("narrows"), PathBuf::from);
    ensure!(program.is_file(), "{} is not built: cargo build", program.display());
    Ok(program)
}

/// Carries the samples of all documents out; how many there were.
///
/// # Errors
/// What a document says differs from what the program prints.
pub fn check(root: &Path, documents: &[PathBuf]) -> anyhow::Result<usize> {
    let program = program()?;
    let foreign = root.join(FOREIGN);
    let mut count = 0;
    for document in documents {
        let text = fs::read_to_string(root.join(document))?;
        for block in samples(&text) {
            if !block.iter().all(|sample| is_the_same_everywhere(&sample.command, &foreign)) {
                continue;
            }
            let home = std::env::temp_dir().join(format!("narrows-samples-{}-{count}", std::process::id()));
            fs::create_dir_all(&home)?;
            for sample in &block {
                let printed = printed(sample, &program, &home, &foreign)?;
                let expected: Vec<String> = sample.output.iter().map(|line| without_moments(line)).collect();
                ensure!(
                    agrees(&expected, &printed),
                    "{}: `{}` prints something else:\n{}",
                    document.display(),
                    sample.command,
                    printed.join("\n")
                );
                count += 1;
            }
            fs::remove_dir_all(&home)?;
        }
    }
    ensure!(count > 0, "no sample was found in {} documents", documents.len());
    Ok(count)
}

/// What a command prints, in a home of its own.
fn printed(sample: &Sample, program: &Path, home: &Path, foreign: &Path) -> anyhow::Result<Vec<String>> {
    let path = std::env::var("PATH").unwrap_or_default();
    let directory = program.parent().unwrap_or(Path::new("."));
    let output = Command::new("sh")
        .args(["-c", &sample.command])
        .current_dir(foreign)
        .env("PATH", format!("{}:{path}", directory.display()))
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .env_remove("XDG_DATA_HOME")
        .env_remove("NARROWS_ARCHIVE")
        .output()
        .with_context(|| format!("cannot start `{}`", sample.command))?;
    let printed = String::from_utf8_lossy(&output.stdout).replace(&*home.to_string_lossy(), "~");
    Ok(printed.lines().map(without_moments).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn commands_and_their_outputs_are_found() {
        let text = "a\n```\n$ narrows x sim:a\none\n$ narrows y\ntwo\nthree\n```\n```\nno sample\n```\n";
        let found = samples(text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0][0], Sample { command: "narrows x sim:a".into(), output: vec!["one".into()] });
        assert_eq!(found[0][1].output, ["two", "three"]);
    }

    #[test]
    fn dots_stand_for_any_lines_and_nothing_else_may_differ() {
        assert!(agrees(&lines("a\n...\nc"), &lines("a\nb\nb\nc")));
        assert!(agrees(&lines("...\nc\n..."), &lines("c\nd")));
        assert!(!agrees(&lines("a\n...\nc"), &lines("a\nb")));
        assert!(!agrees(&lines("a"), &lines("a\nb")));
    }

    #[test]
    fn the_moment_and_the_name_of_a_run_do_not_count() {
        let line = "Run   20261124T063118Z-481b8d3c at 2026-11-24 06:31 UTC of 12:3";
        assert_eq!(without_moments(line), "Run   RUN at MOMENT MOMENT UTC of 12:3");
        assert_eq!(without_moments("~/x/20261124T063118Z-481b8d3c.html"), "~/x/RUN.html");
    }
}
