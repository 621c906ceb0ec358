//! The file of another tool, read once into memory and, where it is kept, copied from where it lies.
//!
//! What is read is handed over and decoded in place; the copy in the bundle is read again, piece by piece, and must be the
//! same bytes. What cannot be read twice (a pipe) is written to an unnamed temporary file while it is read.

use crate::reading::{self, Pipes, Reading};
use exchange::{IMPORT_LIMIT_BYTES, ImportError};
use model::Failure;
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// Read at once.
const PIECE_BYTES: usize = 1 << 20;

/// Room beyond the end, so that what finds the end does not make room for as much again.
const SLACK_BYTES: usize = 64 << 10;

/// A file that was read.
pub struct Input {
    /// As the user wrote it.
    pub name: String,
    /// Its last part, or `stdin`.
    pub base: String,
    /// To read it again; `None` where nothing is kept of it.
    original: Option<Original>,
}

/// What was read, where it lies.
struct Original {
    file: File,
    length_bytes: u64,
    hash: u64,
}

/// Whether what is read will be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It will be copied into a bundle.
    Keep,
    /// It is read and forgotten.
    Look,
}

/// Reads a file of any kind that ends, up to the limit (`-` is stdin): its bytes, and what is needed to read it again.
pub fn read(file: &OsStr, purpose: Purpose) -> Result<(Input, Vec<u8>), Failure> {
    let path = Path::new(file);
    let (name, base, mut opened, again) = if file == "-" {
        let opened = reading::stdin("what a tool printed").map_err(|e| unreadable(path, &e))?;
        // Whoever started the program may have read the beginning of it.
        ("stdin".to_owned(), "stdin".to_owned(), opened, None)
    } else {
        let name = path.display().to_string();
        let base = path.file_name().map_or_else(|| name.clone(), |n| n.to_string_lossy().into_owned());
        let opened = open(path)?;
        let again = opened.again().map_err(|e| unreadable(path, &e))?;
        (name, base, opened, again)
    };
    let spooled = if again.is_some() { Purpose::Look } else { purpose };
    let expected_bytes = opened.size_bytes();
    let (bytes, hash, spool) = slurp(&mut opened, expected_bytes, spooled).map_err(|e| unreadable(path, &e))?;
    let original = again.or(spool).filter(|_| purpose == Purpose::Keep).map(|file| Original {
        file,
        length_bytes: bytes.len() as u64,
        hash,
    });
    checked(Input { name, base, original }, bytes)
}

fn checked(input: Input, bytes: Vec<u8>) -> Result<(Input, Vec<u8>), Failure> {
    if bytes.len() as u64 > IMPORT_LIMIT_BYTES {
        return Err(too_large(&input.name, None));
    }
    Ok((input, bytes))
}

/// The bytes, up to one beyond the limit, and their hash; and a temporary file with them, where they are to be kept.
fn slurp(from: &mut dyn Read, expected_bytes: u64, purpose: Purpose) -> io::Result<(Vec<u8>, u64, Option<File>)> {
    let mut spool = match purpose {
        Purpose::Keep => Some(sys::create_temporary(&File::open(std::env::temp_dir())?)?.0),
        Purpose::Look => None,
    };
    // Of a file that has a length little more than that is taken; of a pipe as it grows.
    let mut bytes = Vec::new();
    bytes.reserve_exact(expected_bytes.min(IMPORT_LIMIT_BYTES) as usize + SLACK_BYTES);
    let mut hasher = DefaultHasher::new();
    while bytes.len() as u64 <= IMPORT_LIMIT_BYTES {
        let start = bytes.len();
        let room = IMPORT_LIMIT_BYTES + 1 - start as u64;
        if Read::take(&mut *from, room.min(PIECE_BYTES as u64)).read_to_end(&mut bytes)? == 0 {
            break;
        }
        hasher.write(&bytes[start..]);
        if let Some(spool) = &mut spool {
            spool.write_all(&bytes[start..])?;
        }
    }
    // What was reserved in advance for more is given back.
    bytes.shrink_to_fit();
    Ok((bytes, hasher.finish(), spool))
}

impl Input {
    /// Hands over what was read, from where it lies.
    ///
    /// # Errors
    /// Those of `keep`; `environment` where the file changed since it was read.
    pub fn copy<T>(&mut self, keep: impl FnOnce(&mut dyn Read) -> Result<T, Failure>) -> Result<T, Failure> {
        let changed = || {
            Failure::environment(format!("{} changed while it was imported", self.name))
                .remedy("import a copy of it, or wait until the tool that writes it has ended")
        };
        let Some(original) = &mut self.original else { return Err(changed()) };
        original.file.rewind().map_err(|e| unreadable(Path::new(&self.name), &e))?;
        let mut again = Hashed { from: (&mut original.file).take(original.length_bytes), hasher: DefaultHasher::new() };
        let kept = keep(&mut again)?;
        if again.from.limit() == 0 && again.hasher.finish() == original.hash { Ok(kept) } else { Err(changed()) }
    }
}

struct Hashed<R> {
    from: R,
    hasher: DefaultHasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(into)?;
        self.hasher.write(&into[..length]);
        Ok(length)
    }
}

fn open(path: &Path) -> Result<Reading, Failure> {
    let opened = reading::file(path, Pipes::Taken, "what a tool printed").map_err(|error| {
        if error.kind() != io::ErrorKind::InvalidInput {
            return unreadable(path, &error);
        }
        let remedy = match path.is_dir() {
            true => format!("narrows import {}/*", path.display()),
            false => "give the file with the output of the tool, or - for stdin".to_owned(),
        };
        Failure::usage(format!("cannot read {}: {error}", path.display())).remedy(remedy)
    })?;
    if opened.size_bytes() > IMPORT_LIMIT_BYTES {
        return Err(too_large(&path.display().to_string(), Some(opened.size_bytes())));
    }
    Ok(opened)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot read {}: {error}", path.display());
    Failure::environment(message).remedy("give a file that exists and may be read, or - for stdin")
}

/// The file holds more than is read.
pub fn too_large(name: &str, size_bytes: Option<u64>) -> Failure {
    let size = size_bytes.map_or_else(|| "more".to_owned(), report::quantity::size);
    let limit = report::quantity::binary_size(IMPORT_LIMIT_BYTES);
    Failure::refused(format!("{name} is too large to be a tool's output: {size}, at most {limit} is read"))
        .remedy("cut out the part that holds the result, or split it into parts")
}

/// Refusals that concern the size of a file are of the whole command; what is no text is said of the file.
pub fn is_too_much(error: &ImportError) -> bool {
    matches!(error, ImportError::TooLarge { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_is_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        std::fs::write(&path, "first").unwrap();
        let drain = |input: &mut Input| {
            input.copy(|again| {
                let mut copy = Vec::new();
                again.read_to_end(&mut copy).map_err(|e| unreadable(Path::new("f"), &e))?;
                Ok(copy)
            })
        };
        let (mut input, bytes) = read(path.as_os_str(), Purpose::Keep).unwrap();
        assert_eq!((bytes.as_slice(), drain(&mut input).unwrap().as_slice()), (&b"first"[..], &b"first"[..]));
        // What is written behind it later is not of it; what it held is.
        std::fs::write(&path, "first and more").unwrap();
        assert_eq!(drain(&mut input).unwrap(), b"first");
        std::fs::write(&path, "other").unwrap();
        assert!(drain(&mut input).unwrap_err().message.contains("changed"));
        std::fs::write(&path, "").unwrap();
        assert!(drain(&mut input).is_err());
        let (mut looked_at, _) = read(path.as_os_str(), Purpose::Look).unwrap();
        assert!(drain(&mut looked_at).is_err());
    }
}
