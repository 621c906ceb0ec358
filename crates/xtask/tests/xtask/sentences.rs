//! Facts stay facts: no crate takes apart, or looks for a word in, a text that another crate of ours worded. What is to be known is
//! asked of a variant, a code or a key ([`model::Reason`], [`model::MetricKey`]); who needs more of a fact gives it data.

use std::fs;
use std::path::{Path, PathBuf};

/// Fields and calls that hold sentences of ours.
const SENTENCES: [&str; 15] = [
    "basis",
    "because",
    "decided_by",
    "fix",
    "missing",
    "note",
    "notes",
    "reason",
    "remark",
    "remarks",
    "skip",
    "source",
    "statement",
    "text()",
    "what",
];
/// What takes a text apart. `contains` with a text or a letter: of a list it is another thing.
const TAKES_APART: [&str; 11] = [
    ".contains(\"",
    ".contains('",
    ".ends_with(",
    ".rsplit_once(",
    ".split(",
    ".split_once(",
    ".split_whitespace(",
    ".starts_with(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".trim_start_matches(",
];

/// Crates and folders that read what others wrote: other tools, the kernel, the distribution, a person.
const READS_OTHERS: [&str; 6] =
    ["exchange/src/import/", "observe/src/", "sys/src/", "lab/src/", "settings/src/", "spec/src/"];

/// Those that are left, and why.
const LEFT: [(&str, &str); 6] = [
    ("diagnose/src/causes/mod.rs", "the phase that the source of evidence of its own crate begins with"),
    ("diagnose/src/limit.rs", "the phase in an id that its own crate put into evidence"),
    ("model/src/job_options.rs", "a remark of an imported run, put together in the same file"),
    ("model/src/plan/purpose.rs", "notes of a plan, as bundles have them, put together in the same file"),
    ("report/src/brief.rs", "the article before a statement, for want of room"),
    ("report/src/evidence.rs", "the unit of evidence is in its name, as documents have it"),
];

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// What a method is called on: names, dots and calls without arguments before it.
fn receiver(before: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || "_.()?".contains(c);
    before.rfind(|c| !is_part(c)).map_or(before, |at| &before[at + 1..])
}

/// Whether a line takes a sentence of ours apart.
fn takes_apart(line: &str) -> bool {
    TAKES_APART.iter().any(|method| {
        line.match_indices(method).any(|(at, _)| {
            let on = receiver(&line[..at]);
            on.split('.').any(|part| SENTENCES.contains(&part.trim_matches(['(', '?'])))
        })
    })
}

#[test]
fn what_takes_a_sentence_apart_is_found() {
    for line in [
        "LimitLayer::Device if !cause.statement.contains(\"one command\") => None,",
        "phase.reasons.iter().any(|r| r.text().starts_with(\"throttled\"))",
        "let rest = self.plan.skip.as_deref()?.strip_prefix(\"budget: \")?;",
    ] {
        assert!(takes_apart(line), "{line}");
    }
    for line in ["if !reasons.contains(&reason) {", "reasons.iter().any(|r| r.is(\"throttled\"))", "line.split(',')"] {
        assert!(!takes_apart(line), "{line}");
    }
}

#[test]
fn no_crate_takes_apart_what_another_worded() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    let mut all = Vec::new();
    files(crates, &mut all);
    let mut found = Vec::new();
    for path in all {
        let name = path.strip_prefix(crates).expect("below crates/").display().to_string();
        let is_code = name.contains("/src/") && !name.ends_with("tests.rs");
        if !is_code || name.starts_with("xtask/") || READS_OTHERS.iter().any(|part| name.starts_with(part)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            if !line.trim_start().starts_with("//") && takes_apart(line) {
                found.push((name.clone(), number + 1, line.trim().to_owned()));
            }
        }
    }
    let new: Vec<_> = found.iter().filter(|(name, ..)| LEFT.iter().all(|(left, _)| left != name)).collect();
    for (left, why) in LEFT {
        assert!(found.iter().any(|(name, ..)| name == left), "{left} takes none apart any more ({why}): strike it off");
    }
    assert!(new.is_empty(), "a fact is asked of a variant, a code or a key, and not of its words: {new:#?}");
}
