//! Why a target cannot be used, and what to do about it.

use model::{Failure, FailureKind, FileKind, PhasePlan};
use std::io;
use std::path::Path;

/// What was being done when a system call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Looking at the path.
    Look,
    /// Creating the temporary file.
    Create,
    OpenRead,
    /// Opening for writing.
    OpenWrite,
}

/// The failure for an error of `attempt` on `path`.
pub fn refusal(attempt: Attempt, path: &Path, error: &io::Error) -> Failure {
    use Attempt::{Create, OpenWrite};
    let name = sys::error_name(error);
    let (what, remedy) = match (name.as_str(), attempt) {
        // The directory is open already: it is the file system that has no place for a file (proc, sysfs).
        ("ENOENT" | "EOPNOTSUPP", Create) => {
            ("this file system takes no new files", "choose a directory on the storage that is to be checked")
        }
        ("ENOENT", _) => (
            "no such file or directory",
            "check the spelling; a target is never created: make the directory first, or attach the device",
        ),
        ("ENOTDIR", _) => ("a component of the path is not a directory", "check the spelling of the path"),
        ("ELOOP", _) => ("too many symbolic links", "name the target itself"),
        ("EACCES" | "EPERM", Create) => (
            "no permission to create a file in this directory",
            "choose a directory that you may write to, or run as its owner or as root",
        ),
        ("EACCES" | "EPERM", OpenWrite) => ("no permission to write", sys::permission_remedy()),
        ("EACCES" | "EPERM", _) => ("no permission to read", sys::permission_remedy()),
        ("EROFS", Create) => (
            "the file system is mounted read-only",
            "name a large file on it: files are checked by reading only; or remount: mount -o remount,rw MOUNTPOINT \
             (look into the kernel log first: file systems become read-only after errors)",
        ),
        ("EROFS", _) => ("read-only", "check it by reading only, or switch the write protection off"),
        ("ENOSPC", _) => (
            "no space left on the file system",
            "free some space; the check needs at least 64 MiB beyond what it keeps free",
        ),
        ("EDQUOT", _) => ("your disk quota is used up", "free some space, or run as another user"),
        ("EBUSY", _) => (
            "the device is in use: mounted, claimed or open",
            "unmount it or stop its user (lsblk, ls /sys/class/block/NAME/holders, fuser -v), then try again",
        ),
        ("ENOMEDIUM", _) => ("no medium in the drive", "insert the card or disk"),
        ("ENXIO" | "ENODEV", _) => {
            ("there is no device behind this name", "attach the device, or remove the stale node")
        }
        ("EIO" | "EREMOTEIO" | "ETIMEDOUT", _) => (
            "the storage failed",
            "look into the kernel log (dmesg) for the cause; of a soft mount: its server did not answer in time",
        ),
        ("ESTALE", _) => (
            "the server has another file or directory in its place by now",
            "enter the directory anew; if that does not help, umount and mount again (what was exported has changed)",
        ),
        // Descriptors of this process are good: SMB has this of a file that could not be opened again after its session broke, and EAGAIN until the
        // session is there again (k:fs/smb/client/smb2pdu.c smb2_reconnect). open(2) has EAGAIN of leases.
        ("EBADF", _) => (
            "the connection to the server was broken, and the open file with it",
            "look whether the server runs, and into the kernel log (dmesg); then try again",
        ),
        ("EAGAIN", _) => (
            "the connection to the server was broken, or another program has a lease on the file",
            "look into the kernel log (dmesg) and /proc/locks; then try again",
        ),
        (
            "ENOTCONN" | "EHOSTDOWN" | "EHOSTUNREACH" | "ECONNREFUSED" | "ECONNABORTED" | "ECONNRESET" | "ESHUTDOWN",
            _,
        ) => (
            "the server, or the process of the file system, does not answer",
            "look whether it runs, and into the kernel log (dmesg); then umount and mount again",
        ),
        ("EMFILE" | "ENFILE", _) => ("too many open files", "raise the limit: ulimit -n 1024"),
        ("ETXTBSY", _) => ("a program that is running", "choose another file"),
        _ => {
            let message = format!("{}: {error} ({name})", path.display());
            return Failure::environment(message);
        }
    };
    let kind = match name.as_str() {
        "EBUSY" | "ETXTBSY" => FailureKind::Refused,
        "EIO" | "EREMOTEIO" | "ETIMEDOUT" | "ENOTCONN" | "EHOSTDOWN" | "ESTALE" | "EBADF" => FailureKind::Device,
        _ => FailureKind::Environment,
    };
    Failure::new(kind, format!("{}: {what} ({name})", path.display())).remedy(remedy)
}

/// A kind of file that cannot be measured.
pub(crate) fn wrong_kind(path: &Path, what: &str) -> Failure {
    Failure::refused(format!("{}: {what}, which cannot be measured", path.display()))
        .remedy("name a directory, a regular file or a block device")
}

/// Another user holds the lock.
pub(crate) fn locked(path: &Path) -> Failure {
    let message = format!("{}: in use by another check, or locked by another program", path.display());
    Failure::refused(message).remedy("wait for it to end (lslocks shows who holds the lock)")
}

/// The interface to the device failed: no memory, no thread, no ring.
pub(crate) fn refusal_of_device(phase: &str, error: &crate::DeviceError) -> Failure {
    let failure = Failure::environment(format!("{phase}: {error}"));
    Failure { remedy: error.remedy().map(str::to_owned), ..failure }
}

/// Links that a file system does not make.
pub(super) fn no_links(phase: &PhasePlan, path: &Path, kind: FileKind, e: &io::Error) -> Failure {
    let what = if kind == FileKind::HardLink { "hard links" } else { "symbolic links" };
    let message =
        format!("{}: {}: this file system makes no {what} ({})", phase.name, path.display(), sys::error_name(e));
    Failure::environment(message)
        .remedy("name a directory on another file system (of operations on files: or leave file-kind out)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_does_is_said_and_not_laid_on_a_device() {
        for (errno, kind, words, remedy) in [
            (
                116,
                FailureKind::Device,
                "the server has another file or directory in its place by now (ESTALE)",
                "enter the directory anew",
            ),
            (107, FailureKind::Device, "does not answer (ENOTCONN)", "umount and mount again"),
            (9, FailureKind::Device, "was broken, and the open file with it (EBADF)", "whether the server runs"),
            (112, FailureKind::Device, "does not answer (EHOSTDOWN)", "umount and mount again"),
            (5, FailureKind::Device, "the storage failed (EIO)", "of a soft mount: its server did not answer in time"),
            (122, FailureKind::Environment, "your disk quota is used up (EDQUOT)", "free some space"),
            (30, FailureKind::Environment, "read-only (EROFS)", "check it by reading only"),
        ] {
            let failure = refusal(Attempt::OpenRead, Path::new("/mnt/x"), &io::Error::from_raw_os_error(errno));
            assert_eq!(failure.kind, kind, "{failure:?}");
            assert!(failure.message.contains(words), "{failure:?}");
            assert!(failure.remedy.as_deref().is_some_and(|r| r.contains(remedy)), "{failure:?}");
        }
    }
}
