//! Why a target cannot be used, and what to do about it.

use model::{Failure, FailureKind};
use std::io;
use std::path::Path;

/// What was being done when a system call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Looking at the path.
    Look,
    /// Creating the temporary file.
    Create,
    /// Opening for reading.
    OpenRead,
    /// Opening for writing.
    OpenWrite,
}

/// The errno's name, else the error in words.
pub(crate) fn errno_text(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), sys::errno_name)
}

/// The failure for an error of `attempt` on `path`.
pub fn refusal(attempt: Attempt, path: &Path, error: &io::Error) -> Failure {
    let name = errno_text(error);
    let p = path.display();
    let environment = |message: String| Failure::new(FailureKind::Environment, message);
    match (name.as_str(), attempt) {
        // The directory is open already: it is the file system that has no place for a file (proc, sysfs).
        ("ENOENT" | "EOPNOTSUPP", Attempt::Create) => {
            environment(format!("{p}: this file system takes no new files ({name})"))
                .remedy("choose a directory on the storage that is to be checked")
        }
        ("ENOENT", _) => environment(format!("{p}: no such file or directory (ENOENT)"))
            .remedy("check the spelling; a target is never created: make the directory first, or attach the device"),
        ("ENOTDIR", _) => environment(format!("{p}: a component of the path is not a directory (ENOTDIR)"))
            .remedy("check the spelling of the path"),
        ("ELOOP", _) => environment(format!("{p}: too many symbolic links (ELOOP)")).remedy("name the target itself"),
        ("EACCES" | "EPERM", Attempt::Create) => {
            environment(format!("{p}: no permission to create a file in this directory ({name})"))
                .remedy("choose a directory that you may write to, or run as its owner or as root")
        }
        ("EACCES" | "EPERM", Attempt::OpenWrite) => {
            environment(format!("{p}: no permission to write ({name})")).remedy("run as its owner or as root")
        }
        ("EACCES" | "EPERM", _) => {
            environment(format!("{p}: no permission to read ({name})")).remedy("run as its owner or as root")
        }
        ("EROFS", Attempt::Create) => environment(format!("{p}: the file system is mounted read-only (EROFS)")).remedy(
            "name a large file on it: files are checked by reading only; or remount: mount -o remount,rw MOUNTPOINT \
             (look into the kernel log first: file systems become read-only after errors)",
        ),
        ("EROFS", _) => environment(format!("{p}: read-only (EROFS)"))
            .remedy("check it by reading only, or switch the write protection off"),
        ("ENOSPC", _) => environment(format!("{p}: no space left on the file system (ENOSPC)"))
            .remedy("free some space; the check needs at least 64 MiB beyond what it keeps free"),
        ("EDQUOT", _) => environment(format!("{p}: your disk quota is used up (EDQUOT)"))
            .remedy("free some space, or run as another user"),
        ("EBUSY", _) => {
            Failure::new(FailureKind::Refused, format!("{p}: the device is in use: mounted, claimed or open (EBUSY)"))
                .remedy(
                    "unmount it or stop its user (lsblk, ls /sys/class/block/NAME/holders, fuser -v), then try again",
                )
        }
        ("ENOMEDIUM", _) => {
            environment(format!("{p}: no medium in the drive (ENOMEDIUM)")).remedy("insert the card or disk")
        }
        ("ENXIO" | "ENODEV", _) => environment(format!("{p}: there is no device behind this name ({name})"))
            .remedy("attach the device, or remove the stale node"),
        ("EIO" | "EREMOTEIO" | "ETIMEDOUT", _) => {
            Failure::new(FailureKind::Device, format!("{p}: the device failed ({name})"))
                .remedy("look into the kernel log (dmesg) for the cause")
        }
        ("EMFILE" | "ENFILE", _) => {
            environment(format!("{p}: too many open files ({name})")).remedy("raise the limit: ulimit -n 1024")
        }
        ("ETXTBSY", _) => Failure::new(FailureKind::Refused, format!("{p}: a program that is running (ETXTBSY)"))
            .remedy("choose another file"),
        _ => environment(format!("{p}: {error} ({name})")),
    }
}

/// A kind of file that cannot be measured.
pub(crate) fn wrong_kind(path: &Path, what: &str) -> Failure {
    Failure::new(FailureKind::Refused, format!("{}: {what}, which cannot be measured", path.display()))
        .remedy("name a directory, a regular file or a block device")
}

/// Another user holds the lock.
pub(crate) fn locked(path: &Path) -> Failure {
    Failure::new(
        FailureKind::Refused,
        format!("{}: in use by another check, or locked by another program", path.display()),
    )
    .remedy("wait for it to end (lslocks shows who holds the lock)")
}

/// The interface to the device failed: no memory, no thread, no ring.
pub(crate) fn refusal_of_device(phase: &str, error: &crate::DeviceError) -> Failure {
    let failure = Failure::new(FailureKind::Environment, format!("{phase}: {error}"));
    match error.remedy() {
        Some(remedy) => failure.remedy(remedy),
        None => failure,
    }
}
