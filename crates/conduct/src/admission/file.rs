//! Whether a regular file may be overwritten: never one that somebody else has open, locks, or stands on.

use super::{Decided, HeldTarget, Refusal, with_retries};
use engine::{Attempt, refusal};
use model::{DeviceId, Failure, Reason};
use observe::file_use;
use spec::Readiness;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use sys::SoleOpening;

/// What lets everything be looked at.
const LOOK_REMEDY: &str = "run it as root, where all processes are seen, or name a directory: a temporary file of its own \
     is always free";

/// Reads are always allowed; the content is kept unless the user gave it up.
pub(super) fn admit(held: &HeldTarget<'_>, overwrite: bool) -> Result<Decided, Failure> {
    if !overwrite {
        let why = Reason::of("read-only", "the content of a regular file is kept unless --overwrite is given");
        return Ok((held.open_for_reading()?, Readiness::ReadOnly(why), Vec::new(), None));
    }
    Ok((with_retries(|| unused(held))?, Readiness::Writable, Vec::new(), None))
}

/// Opens it for writing, if nobody else has it open, locks it, or stands on it.
fn unused(held: &HeldTarget<'_>) -> Result<File, Refusal> {
    let metadata = held.handle.metadata().map_err(|e| Refusal::permanent(refusal(Attempt::Look, &held.path, &e)))?;
    let (major, minor) = sys::device_number(metadata.dev());
    if sys::file_facts(&held.handle).is_ok_and(|facts| facts.protected == Some(true)) {
        let message = format!("{}: the file is immutable or append-only", held.path.display());
        return Err(Refusal::permanent(Failure::refused(message).remedy("chattr -i -a FILE, or another file")));
    }
    let used = file_use(held.root, DeviceId { major, minor }, metadata.ino(), &held.path.to_string_lossy());
    if !used.uses.is_empty() {
        return Err(Refusal::in_use(held, &used.uses));
    }
    let file = held.open_for_writing().map_err(Refusal::permanent)?;
    no_lock(held, &file).map_err(Refusal::permanent)?;
    // The kernel's own answer goes before what could be seen: it knows of all namespaces and users.
    match sys::sole_opening(&file) {
        Ok(SoleOpening::Yes) => Ok(file),
        Ok(SoleOpening::No) => {
            Err(Refusal::now(held.in_use(&["somebody who is not seen has it open (the kernel grants no write lease)"])))
        }
        _ => match used.doubts() {
            doubts if doubts.is_empty() => Ok(file),
            doubts => Err(Refusal::permanent(held.use_unknown(&doubts.join("; "), LOOK_REMEDY))),
        },
    }
}

/// Locks of records, which a lock of ours on the whole file (flock) would not meet.
fn no_lock(held: &HeldTarget<'_>, file: &File) -> Result<(), Failure> {
    match sys::record_lock(file) {
        Ok(Some(holder)) => {
            let who = holder.process.map_or_else(|| "somebody".to_owned(), |pid| format!("process {pid}"));
            Err(held.in_use(&[format!("{who} holds a lock on it")]))
        }
        Ok(None) => Ok(()),
        Err(e) => Err(held.use_unknown(&format!("its locks cannot be asked ({e})"), LOOK_REMEDY)),
    }
}
