//! The words of the field, in what users read: messages, help, documents, findings, workloads. What the table has on its left must not occur.

use crate::imports::root;
use std::path::{Path, PathBuf};

/// A word or phrase that is not used, and what is. A phrase matches at the beginning of a word; one that ends with `|` also at its end.
const INSTEAD: &[(&str, &str)] = &[
    ("per cent", "percent"),
    ("mend|", "fix"),
    ("mends|", "fixes"),
    ("mended|", "fixed, repaired"),
    ("mending|", "fixing"),
    ("gone on with", "resumed"),
    ("goes on with", "continues"),
    ("go on with", "resume, continue"),
    ("put back", "restored"),
    ("puts back", "restores"),
    ("by lot|", "at random, randomised"),
    ("told apart", "separated, per direction"),
    ("stands|", "is valid, is"),
    ("stood|", "was"),
    ("that stand|", "valid"),
    ("stand still", "pause"),
    ("laid out", "prefilled"),
    ("lays out", "prefills"),
    ("lay out", "prefill"),
    ("is no number", "is not a number"),
    ("is no name", "is not the name"),
    ("no processor is full", "no CPU is saturated"),
    ("a share of a processor grows", "CPU % scales with load"),
    ("stranger", "untrusted input"),
    ("colour the rest", "skew the rest"),
    ("small writes together", "batch small writes"),
    ("that it is not well", "predicts failure (SMART)"),
    ("one behind the other", "back to back"),
    ("on their way", "in flight, buffered"),
    ("on its way", "in flight, buffered"),
    ("film|", "video"),
    ("narrow place", "bottleneck"),
    ("hint only", "low confidence"),
    ("seen directly", "measured directly"),
    ("foreign traffic", "other I/O on this disk"),
    ("too little data", "test too short"),
    ("crew|", "phase barrier"),
    ("flights|", "in-flight operations"),
    ("worst|", "max"),
    ("heard|", "received"),
    ("says nothing", "say what is not known"),
    ("said nothing", "say what was not known"),
    ("made up", "generated"),
    ("made-up", "generated"),
    ("written down", "recorded"),
    ("write down", "record"),
    ("writes down", "records"),
    ("to do it again", "replay"),
    ("rooms|", "crates"),
    ("went through the page cache", "was served from the page cache"),
];

/// The text in lower case, each run of white space one space; the signs of a comment or of emphasis between two words are no words.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().filter(|w| !matches!(*w, "#" | "//" | "///" | "//!" | "\\"));
    let words: Vec<String> = words.map(|w| w.replace(['*', '_'], "").to_lowercase()).collect();
    words.join(" ")
}

/// The phrases of the table that a text has, each with the words around it.
fn found(text: &str) -> Vec<String> {
    let text = plain(text);
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
    let mut found = Vec::new();
    for (phrase, instead) in INSTEAD {
        let bare = phrase.trim_end_matches('|');
        for (at, _) in text.match_indices(bare) {
            let (before, after) = (&text[..at], &text[at + bare.len()..]);
            let is_whole = bare.len() == phrase.len() || !is_letter(after.chars().next());
            // "There is no number in it" is the field's, too.
            let is_there = bare.starts_with("is no") && before.ends_with("there ");
            if !is_letter(before.chars().next_back()) && is_whole && !is_there {
                let start = before.char_indices().rev().nth(40).map_or(0, |(i, _)| i);
                let end = after.char_indices().nth(20).map_or(after.len(), |(i, _)| i);
                found.push(format!("'{bare}' ({instead}): ...{}{bare}{}...", &before[start..], &after[..end]));
            }
        }
    }
    found
}

/// The string literals of a Rust file before its tests, with what continues a line taken out.
fn literals(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut found = Vec::new();
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'\'' if bytes.get(at + 1) == Some(&b'\\') => at += 2 + text[at + 2..].find('\'').unwrap_or(0),
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at += 2,
            b'"' => {
                let hashes = bytes[..at].iter().rev().take_while(|b| **b == b'#').count();
                let is_raw = at > hashes && bytes[at - hashes - 1] == b'r';
                let end = if is_raw {
                    text[at + 1..].find(&format!("\"{}", "#".repeat(hashes))).map_or(text.len(), |i| at + 1 + i)
                } else {
                    let mut end = at + 1;
                    while end < bytes.len() && bytes[end] != b'"' {
                        end += if bytes[end] == b'\\' { 2 } else { 1 };
                    }
                    end
                };
                let literal = &text[at + 1..end.min(text.len())];
                found.push(literal.replace("\\n", " ").replace("\\\n", " "));
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// All files below a directory that end so.
fn files(directory: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("history") {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}

fn help(command: &clap::Command, texts: &mut Vec<(String, String)>) {
    texts.push((format!("--help of {}", command.get_name()), command.clone().render_long_help().to_string()));
    command.get_subcommands().for_each(|inner| help(inner, texts));
}

#[test]
fn what_users_read_has_the_words_of_the_field() {
    let root = root();
    let mut texts = Vec::new();
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            files(&source, "rs", &mut sources);
        }
    }
    for file in sources.iter().filter(|f| !f.to_string_lossy().ends_with("_tests.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        texts.extend(literals(&text).into_iter().filter(|l| l.contains(' ')).map(|l| (file.display().to_string(), l)));
    }
    let mut documents = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    files(&root.join("docs"), "md", &mut documents);
    for directory in ["crates/diagnose/findings", "crates/spec/workloads", "crates/spec/sims", "experiments"] {
        files(&root.join(directory), "toml", &mut documents);
    }
    texts.extend(documents.iter().map(|f| (f.display().to_string(), std::fs::read_to_string(f).unwrap())));
    let mut command = cli::command();
    command.build();
    help(&command, &mut texts);
    assert!(sources.len() > 500 && documents.len() > 100 && texts.len() > 3000, "{} texts were found", texts.len());
    let wrong: Vec<String> = texts
        .iter()
        // Here is the table itself.
        .filter(|(name, _)| !name.ends_with("glossary.md"))
        .flat_map(|(name, text)| found(text).into_iter().map(move |what| format!("{name}: {what}")))
        .collect();
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_phrase_is_found_across_lines_and_not_within_words() {
    assert_eq!(found("ten per\n/// cent of it").len(), 1);
    assert_eq!(found("recommended, understands, standard").len(), 0);
    assert_eq!(found("It stands.").len(), 1);
    assert_eq!(found("no place; *told* apart").len(), 1);
    let text = "let a = \"one \\\n    two\"; // \"three\"\nlet b = r#\"fo\"ur\"#; let c = '\"'; let d = \"five\";";
    let literals: Vec<String> = literals(text).iter().map(|l| plain(l)).collect();
    assert_eq!(literals, ["one two", "fo\"ur", "five"]);
}

#[test]
fn the_readme_is_a_screen_or_three_and_the_figures_are_two() {
    let root = root();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.lines().count() <= 150, "{} lines", readme.lines().count());
    // A line that is a table or a link cannot be broken.
    let wide = readme.lines().filter(|l| l.chars().count() > 100 && !l.contains("](") && !l.starts_with('|'));
    assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new());
    for command in ["cargo run --release -- check .", "cargo test --workspace"] {
        assert!(readme.lines().any(|l| l.starts_with(command)), "{command}");
    }
    let figures = std::fs::read_to_string(root.join("docs/performance.md")).unwrap();
    assert!(figures.lines().count() <= 100, "{} lines", figures.lines().count());
}
