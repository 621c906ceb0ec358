//! Where the state of a soak is kept: a file of its own, replaced as a whole, with a checksum; beside it the bytes of what was
//! found wrong.

use crate::SoakState;
use archive::Archive;
use model::{DataFinding, Failure};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Where the states are, below the archive.
pub const DIRECTORY: &str = "soaks";

impl SoakState {
    /// Keeps the bytes of a finding beside the state, as they were read and as they were written: two files.
    ///
    /// # Errors
    /// Whatever keeps the archive from it.
    pub(crate) fn keep_bytes(&self, archive: &Archive, finding: &DataFinding) -> Result<Option<PathBuf>, Failure> {
        let Some(bytes) = &finding.bytes else { return Ok(None) };
        let version = finding.expected_generation.unwrap_or_default();
        let name = format!("{DIRECTORY}/{}/{}-{}-{version}", self.id, finding.lba, finding.class);
        archive.write_side_file(&format!("{name}.received"), &bytes.received)?;
        if let Some(expected) = &bytes.expected {
            archive.write_side_file(&format!("{name}.expected"), expected)?;
        }
        Ok(Some(archive.side_path(&format!("{name}.received"))))
    }

    /// Writes it; durable when this returns.
    ///
    /// # Errors
    /// Whatever keeps the archive from it.
    pub fn save(&self, archive: &Archive) -> Result<(), Failure> {
        Ok(archive.write_side_file(&path(&self.id), self.kept_as(serde_json::to_string_pretty(self))?.as_bytes())?)
    }

    /// As two lines: its checksum, and itself. [`SoakState::parse`] reads them.
    ///
    /// # Errors
    /// None that is expected.
    pub fn two_lines(&self) -> Result<String, Failure> {
        self.kept_as(serde_json::to_string(self))
    }

    /// The first line makes sure that the rest is whole.
    fn kept_as(&self, text: serde_json::Result<String>) -> Result<String, Failure> {
        let text = text.map_err(|e| Failure::internal(format!("soak {}: {e}", self.id)))?;
        Ok(format!("{}\n{text}\n", checksum(&text)))
    }

    /// The state of this id.
    ///
    /// # Errors
    /// There is none, or it is damaged, or of another version: nothing is guessed.
    pub fn load(archive: &Archive, id: &str) -> Result<Self, Failure> {
        let plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let text = if plain { archive.read_side_file(&path(id))? } else { None };
        let Some(text) = text else {
            return Err(Failure::usage(format!("there is no soak '{id}' in this archive"))
                .remedy("narrows soak --resume continues the last one"));
        };
        Self::parse(id, &text, &archive.side_path(&path(id)).to_string_lossy())
    }

    /// The state of this id, whose text was kept at `whence`.
    ///
    /// # Errors
    /// It is damaged, or of another version: nothing is guessed.
    pub fn parse(id: &str, text: &str, whence: &str) -> Result<Self, Failure> {
        let refused = |what: &str| {
            Failure::environment(format!("{whence}: {what}"))
                .remedy("what it promised is not known: start the soak anew")
        };
        let (sum, text) = text.split_once('\n').unwrap_or_default();
        if sum != checksum(text.trim_end()) {
            return Err(refused("damaged: its checksum does not fit"));
        }
        let state: Self =
            serde_json::from_slice(text.as_bytes()).map_err(|e| refused(&format!("another form ({e})")))?;
        if state.id != id || !state.is_sound() {
            return Err(refused("not a state of this program"));
        }
        Ok(state)
    }

    /// All that can be read, the oldest first.
    pub fn all(archive: &Archive) -> impl DoubleEndedIterator<Item = Self> {
        let names = archive.list_side_files(DIRECTORY).unwrap_or_default();
        names.into_iter().filter_map(move |name| Self::load(archive, name.strip_suffix(".json")?).ok())
    }

    /// The soak that was started last and is not finished.
    ///
    /// # Errors
    /// There is none.
    pub fn last(archive: &Archive) -> Result<Self, Failure> {
        let open = Self::all(archive).rev().find(|state| !state.finished);
        open.ok_or_else(|| {
            Failure::usage("there is no soak that could be resumed").remedy("narrows soak TARGET   starts one")
        })
    }
}

fn path(id: &str) -> String {
    format!("{DIRECTORY}/{id}.json")
}

fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}
