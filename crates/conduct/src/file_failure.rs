//! What is said where a file that is ours cannot be made, made longer, or written to.

use model::Failure;
use std::io;
use std::path::Path;

/// What happened to what, and what can be done about it.
pub fn cannot(path: &Path, e: &io::Error) -> Failure {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let (what, remedy) = match e.kind() {
        ReadOnlyFilesystem => (
            "the file system is mounted read-only",
            "name another directory; or mount -o remount,rw MOUNTPOINT (dmesg first: file systems become read-only after errors)",
        ),
        StorageFull => ("no space is left on the file system", "free some space, or less: --size SIZE"),
        QuotaExceeded => ("the disk quota is used up", "free some space, or less: --size SIZE"),
        PermissionDenied => ("no permission", "a directory that you may write to; or as its owner, or as root"),
        _ => return Failure::environment(format!("{}: {e}", path.display())),
    };
    Failure::environment(format!("{}: {what}", path.display())).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_meet_has_a_remedy_and_no_number() {
        use rustix::io::Errno;
        for errno in [Errno::ROFS, Errno::NOSPC, Errno::DQUOT, Errno::ACCESS] {
            let failure = cannot(Path::new("/mnt/card"), &errno.into());
            assert!(failure.remedy.is_some() && !failure.message.contains("os error"), "{failure:?}");
        }
        assert_eq!(cannot(Path::new("/x"), &io::Error::other("odd")).message, "/x: odd");
    }
}
