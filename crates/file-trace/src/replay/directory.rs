//! What a recording finds in the directory of the run, and what it left there.

use super::MadeData;
use model::FileTrace;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::sync::Arc;
use sys::OpenAs;
use sys::errno::ENAMETOOLONG;
use workload::{PathText, TraceNames};

fn is_there(errno: i32) -> bool {
    error(errno).kind() == io::ErrorKind::AlreadyExists
}

fn error(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

/// The path, where there is one.
fn known(path: Option<&CStr>) -> io::Result<&CStr> {
    path.ok_or_else(|| error(ENAMETOOLONG))
}

/// Whether a recording of this set was made here.
pub fn has(directory: &File, set: u32) -> bool {
    let names = TraceNames::of(FileTrace::top().into(), set);
    names.path(0, &mut PathText::default()).is_some_and(|top| sys::stat_entry(directory, top).is_ok())
}

/// Makes what a recording finds there, with data of some making, as far as it is not there; what was written is on the device, and no
/// more in memory. Bytes that were written.
///
/// # Errors
/// Those of making, writing and syncing files.
pub fn make_before(directory: &File, trace: &Arc<FileTrace>, set: u32, data: &mut MadeData<'_>) -> io::Result<u64> {
    let names = TraceNames::of(trace.clone(), set);
    let mut text = PathText::default();
    let make = |path: &CStr| match sys::make_directory(directory, path) {
        Err(errno) if !is_there(errno) => Err(error(errno)),
        _ => Ok(()),
    };
    make(known(names.path(0, &mut text))?)?;
    let mut written = 0;
    for before in &trace.before {
        let path = known(names.path(before.path, &mut text))?;
        let Some(bytes) = before.bytes else {
            make(path)?;
            continue;
        };
        let new = OpenAs { write: true, create: true, exclusive: true, ..OpenAs::default() };
        let file = match sys::open_as(directory, path, new) {
            Err(errno) if is_there(errno) => continue,
            opened => opened.map_err(error)?,
        };
        let mut done = 0;
        while done < bytes {
            let length = (bytes - done).min(data.piece.len() as u64) as usize;
            let piece = &mut data.piece[..length];
            (data.stamp)(piece, done);
            done += match sys::write_at(&file, piece, done).map_err(error)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => written as u64,
            };
        }
        written += done;
    }
    sys::sync_file_system(directory)?;
    for before in &trace.before {
        let Some(bytes) = before.bytes else { continue };
        let path = known(names.path(before.path, &mut text))?;
        let file = File::from(sys::open_as(directory, path, OpenAs::default()).map_err(error)?);
        sys::drop_cached(&file, 0, bytes)?;
    }
    Ok(written)
}
