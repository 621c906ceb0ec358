//! tags.toml: names that people gave to runs. A tag may name several runs: all repetitions of one arm, for example.
//!
//! ```toml
//! [tags]
//! before = ["20261120T213000Z-7f3a9c21"]
//! ```

use crate::directory::Archive;
use crate::{ArchiveError, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

const LIMIT_BYTES: u64 = 64 << 20;

type Tags = BTreeMap<String, BTreeSet<String>>;

#[derive(Debug, Default, Serialize, Deserialize)]
struct File {
    #[serde(default)]
    tags: Tags,
}

fn path(archive: &Archive) -> PathBuf {
    archive.directory().join("tags.toml")
}

/// Whether a text can be a tag: it must not be mistaken for an id, a path or `latest`.
pub fn check(tag: &str) -> Result<()> {
    let wrong = |reason| Err(ArchiveError::BadTag { tag: tag.to_owned(), reason });
    if !tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return wrong("it does not begin with a letter");
    }
    if tag.len() > 64 {
        return wrong("it is longer than 64 characters");
    }
    if !tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return wrong("it has other characters than letters, digits, '-', '_' and '.'");
    }
    if tag == "latest" {
        return wrong("'latest' always is the newest run");
    }
    if tag.len() == 8 && tag.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return wrong("it looks like the end of a run's id");
    }
    Ok(())
}

/// All tags; none if there is no file.
pub(crate) fn read(archive: &Archive) -> Result<Tags> {
    let path = path(archive);
    let Some(content) = archive.storage.read_limited(&path, LIMIT_BYTES)? else { return Ok(Tags::new()) };
    let text = std::str::from_utf8(&content).map_err(|_| ArchiveError::corrupt(&path, None, "it is not UTF-8"))?;
    let file: File = toml::from_str(text).map_err(|e| {
        let line = e.span().and_then(|s| text.get(..s.start)).map(|before| before.matches('\n').count() as u64 + 1);
        ArchiveError::corrupt(&path, line, e.message().to_owned())
    })?;
    Ok(file.tags)
}

/// Changes the tags under the archive's lock; a reader sees the old or the new ones. Tags without runs go.
pub(crate) fn change(archive: &Archive, change: impl FnOnce(&mut Tags)) -> Result<()> {
    let _lock = archive.lock()?;
    let before = read(archive)?;
    let mut tags = before.clone();
    change(&mut tags);
    tags.retain(|_, ids| !ids.is_empty());
    if tags == before {
        return Ok(());
    }
    let path = path(archive);
    let text = toml::to_string(&File { tags })
        .map_err(|e| ArchiveError::corrupt(&path, None, format!("it could not be written: {e}")))?;
    archive.storage.replace(&path, text.as_bytes())
}
