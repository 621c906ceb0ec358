//! SHA256SUMS, in the form that `sha256sum -c` reads: what a bundle consisted of when it was finished.

use crate::bundle_files::SUMS;
use crate::storage::{open_regular, read_limited};
use crate::{ArchiveError, Result};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

const SUMS_LIMIT_BYTES: u64 = 16 << 20;
/// `raw/` and one directory below it.
const DEPTH_LIMIT: usize = 4;

/// What [`crate::Archive::verify`] found. Names are relative to the bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// How many files are as they were.
    pub intact: usize,
    /// Files whose content is not what it was.
    pub altered: Vec<String>,
    /// Files that are gone; SHA256SUMS itself if there is none.
    pub missing: Vec<String>,
    /// Files that were not there when the bundle was finished.
    pub extra: Vec<String>,
    /// Files that could not be read, with the reason.
    pub unreadable: Vec<(String, String)>,
}

impl Verification {
    /// Whether the bundle is exactly what it was when it was finished.
    pub fn is_clean(&self) -> bool {
        self.altered.is_empty() && self.missing.is_empty() && self.extra.is_empty() && self.unreadable.is_empty()
    }
}

impl std::fmt::Display for Verification {
    /// One line: `5 files intact; altered: latency.csv; missing: system.csv`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} intact", self.intact, if self.intact == 1 { "file" } else { "files" })?;
        for (what, names) in [("altered", &self.altered), ("missing", &self.missing), ("extra", &self.extra)] {
            if !names.is_empty() {
                write!(f, "; {what}: {}", names.join(", "))?;
            }
        }
        self.unreadable.iter().try_for_each(|(name, reason)| write!(f, "; unreadable: {name} ({reason})"))
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of a file, read in pieces; `None` if it is not there.
fn sum(path: &Path) -> Result<Option<String>> {
    let Some((mut file, _)) = open_regular(path)? else { return Ok(None) };
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).map_err(ArchiveError::io("read", path))? {
            0 => return Ok(Some(hex(&hasher.finalize()))),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// Names of all files in a bundle, relative, without SHA256SUMS and what only a partial bundle has.
fn files(directory: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    walk(directory, "", DEPTH_LIMIT, &mut names)?;
    names.retain(|n| n != SUMS && !crate::bundle_files::is_transient(n));
    names.sort();
    Ok(names)
}

fn walk(directory: &Path, prefix: &str, depth: usize, names: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(directory).map_err(ArchiveError::io("list", directory))? {
        let entry = entry.map_err(ArchiveError::io("list", directory))?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().map_err(ArchiveError::io("stat", entry.path()))?;
        if kind.is_dir() && depth > 0 {
            walk(&entry.path(), &format!("{name}/"), depth - 1, names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}

fn line(sum: &str, name: &str) -> String {
    format!("{sum}  {name}\n")
}

/// The text of SHA256SUMS for a bundle as it lies there.
pub(crate) fn text(directory: &Path) -> Result<String> {
    let mut text = String::new();
    for name in files(directory)? {
        if let Some(sum) = sum(&directory.join(&name))? {
            text.push_str(&line(&sum, &name));
        }
    }
    Ok(text)
}

fn parse(path: &Path, content: &[u8]) -> Result<BTreeMap<String, String>> {
    let text = String::from_utf8_lossy(content);
    let mut sums = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let wrong = |reason: &str| ArchiveError::corrupt(path, Some(i as u64 + 1), reason);
        let (sum, name) = line.split_once("  ").ok_or_else(|| wrong("it is not '<sha256>  <name>'"))?;
        if sum.len() != 64 || !sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(wrong("it does not begin with 64 hexadecimal digits in lower case"));
        }
        // A name from a stranger must not lead out of the bundle.
        if name.is_empty() || name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(wrong("the name leads out of the bundle"));
        }
        sums.insert(name.to_owned(), sum.to_owned());
    }
    // Another form of the same sums (their order, line ends, a line twice) is a file that somebody changed.
    let written: String = sums.iter().map(|(name, sum)| line(sum, name)).collect();
    if written.as_bytes() != content {
        return Err(ArchiveError::corrupt(path, None, "it is not in the form in which it was written"));
    }
    Ok(sums)
}

/// Names of the files that SHA256SUMS has.
pub(crate) fn names(directory: &Path) -> Result<BTreeSet<String>> {
    let path = directory.join(SUMS);
    let content = read_limited(&path, SUMS_LIMIT_BYTES)?.unwrap_or_default();
    Ok(parse(&path, &content)?.into_keys().collect())
}

/// Compares a bundle with its SHA256SUMS.
pub(crate) fn verify(directory: &Path) -> Result<Verification> {
    let mut found = Verification::default();
    let path = directory.join(SUMS);
    let mut sums = match read_limited(&path, SUMS_LIMIT_BYTES)? {
        Some(content) => parse(&path, &content)?,
        None => {
            found.missing.push(SUMS.to_owned());
            return Ok(found);
        }
    };
    for name in files(directory)? {
        let Some(expected) = sums.remove(&name) else {
            found.extra.push(name);
            continue;
        };
        match sum(&directory.join(&name)) {
            Ok(Some(sum)) if sum == expected => found.intact += 1,
            Ok(Some(_)) => found.altered.push(name),
            Ok(None) => found.missing.push(name),
            Err(e) => found.unreadable.push((name, e.to_string())),
        }
    }
    found.missing.extend(sums.into_keys());
    Ok(found)
}
