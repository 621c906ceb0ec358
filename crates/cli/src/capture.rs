//! `narrows inspect --capture`: the tree that an inspection read, as one file to send.

use crate::output_file::OutputFile;
use model::Failure;
use observe::{CaptureOptions, CapturedFile, Locator, Root};
use report::document::CaptureEntry;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// The directory in which everything lies.
pub const TOP: &str = "narrows-capture";

/// Writes the capture of these places (of all disks without any) to a file that is not there yet, or to stdout for `-`.
///
/// # Errors
/// The file is there already, or cannot be written; what was begun is removed then.
pub fn write(root: &Root, places: &[Locator], options: &CaptureOptions, path: &Path) -> Result<CaptureEntry, Failure> {
    if is_stdout(path) && io::stdout().is_terminal() {
        return Err(Failure::usage("a capture is an archive; a terminal cannot show it")
            .remedy("--capture FILE.tar, or redirect stdout"));
    }
    // Whatever is wrong with the file is known before the machine is read.
    let file = if is_stdout(path) { None } else { Some(OutputFile::create(path)?) };
    let mut entries = 0;
    let counted = observe::capture(root, places, options).inspect(|_: &CapturedFile| entries += 1);
    let bytes = match file {
        Some(mut file) => {
            let bytes = archive(counted, &mut file).map_err(|e| cannot(path, &e))?;
            file.finish()?;
            bytes
        }
        None => archive(counted, io::stdout().lock()).map_err(|e| cannot(path, &e))?,
    };
    let path = path.display().to_string();
    Ok(CaptureEntry { path, entries, bytes, keeps_serials: options.keep_serials })
}

/// Whether the archive goes to stdout.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

fn archive(entries: impl Iterator<Item = CapturedFile>, sink: impl Write) -> io::Result<u64> {
    let mut sink = Counted { sink: BufWriter::new(sink), bytes: 0 };
    observe::write_tar(TOP, entries, &mut sink)?;
    sink.flush()?;
    Ok(sink.bytes)
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
    Failure::environment(format!("cannot write the capture {}: {error}", path.display()))
        .remedy("name a file in a directory that you may write to")
}
