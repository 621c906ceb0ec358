//! `narrows inspect --capture`: the tree that an inspection read, as one file to send.

use model::{Failure, FailureKind};
use observe::{CaptureOptions, CapturedFile, Place, Root};
use report::document::CaptureEntry;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The directory in which everything lies.
pub const TOP: &str = "narrows-capture";

/// Writes the capture of these places (of all disks without any) to a file that is not there yet, or to stdout for `-`.
///
/// # Errors
/// The file is there already, or cannot be written; what was begun is removed then.
pub fn write(root: &Root, places: &[Place], options: &CaptureOptions, path: &Path) -> Result<CaptureEntry, Failure> {
    if is_stdout(path) && io::stdout().is_terminal() {
        return Err(Failure::new(FailureKind::Usage, "a capture is an archive; a terminal cannot show it")
            .remedy("--capture FILE.tar, or redirect stdout"));
    }
    // Whatever is wrong with the file is known before the machine is read.
    let file = match is_stdout(path) {
        true => None,
        // Even with hashed serial numbers it is its owner's to give away.
        false => {
            Some(OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|e| cannot(path, &e))?)
        }
    };
    let mut entries = 0;
    let counted = observe::capture(root, places, options).inspect(|_: &CapturedFile| entries += 1);
    let written = match file {
        Some(file) => archive(counted, file, true),
        None => archive(counted, io::stdout().lock(), false),
    };
    match written {
        Ok(bytes) => {
            let path = path.display().to_string();
            Ok(CaptureEntry { path, entries, bytes, keeps_serials: options.keep_serials })
        }
        Err(error) => {
            if !is_stdout(path) {
                let _ = std::fs::remove_file(path);
            }
            Err(cannot(path, &error))
        }
    }
}

/// Whether the archive goes to stdout.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

fn archive<W: Write + Finish>(entries: impl Iterator<Item = CapturedFile>, sink: W, sync: bool) -> io::Result<u64> {
    let mut sink = Counted { sink: BufWriter::new(sink), bytes: 0 };
    observe::write_tar(TOP, entries, &mut sink)?;
    sink.flush()?;
    if sync {
        sink.sink.get_ref().finish()?;
    }
    Ok(sink.bytes)
}

/// The last step of writing.
trait Finish {
    fn finish(&self) -> io::Result<()>;
}

impl Finish for std::fs::File {
    fn finish(&self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Finish for io::StdoutLock<'_> {
    fn finish(&self) -> io::Result<()> {
        Ok(())
    }
}

struct Counted<W> {
    sink: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::new(FailureKind::Refused, format!("{shown} is there already, and is not overwritten"))
                .remedy("name a file that is not there")
        }
        _ => Failure::new(FailureKind::Environment, format!("cannot write the capture {shown}: {error}"))
            .remedy("name a file in a directory that you may write to"),
    }
}
