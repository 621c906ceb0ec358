//! What a TARGET means to `inspect` and `watch`: a place of this machine or of a captured tree. Nothing is opened.

use model::{DeviceId, Failure};
use observe::{Locator, Root};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The place that `target` means under this root: any path, a device node, or a device's kernel name (`sda`). On the
/// running machine a file of that name comes first.
///
/// # Errors
/// Nothing is called so, we may not look, or it is a kind of file that lies on no storage.
pub fn place(root: &Root, target: &OsStr) -> Result<Locator, Failure> {
    if !root.is_live() {
        return in_tree(root, target);
    }
    let path = Path::new(target);
    match path.metadata() {
        Ok(metadata) => existing(root, path, &metadata),
        Err(error) => match target.to_str().filter(|t| !t.contains('/')).map(|t| observe::locate(root, t)) {
            Some(Ok(place)) => Ok(place),
            _ => Err(cannot_look(path, &error)),
        },
    }
}

fn in_tree(root: &Root, target: &OsStr) -> Result<Locator, Failure> {
    let Some(name) = target.to_str() else {
        let message = format!("{}: names in a captured tree are text", Path::new(target).display());
        return Err(Failure::usage(message));
    };
    observe::locate(root, name).map_err(|e| Failure::usage(e.to_string()).remedy("without TARGET all disks are listed"))
}

fn existing(root: &Root, path: &Path, metadata: &Metadata) -> Result<Locator, Failure> {
    let kind = metadata.file_type();
    if kind.is_block_device() {
        return Ok(Locator::Device(device(metadata.rdev())));
    }
    if kind.is_dir() || kind.is_file() {
        let canonical = path.canonicalize().map_err(|e| cannot_look(path, &e))?;
        return Ok(Locator::Path {
            mount_id: mount_id(&canonical),
            path: canonical.to_string_lossy().into_owned(),
            device: Some(device(metadata.dev())),
            block_size_bytes: Some(metadata.blksize()),
        });
    }
    if kind.is_char_device() {
        let canonical = path.canonicalize().map_err(|e| cannot_look(path, &e))?;
        // Flash memory: /dev/mtd0 is a character device.
        if let Some(Ok(place @ Locator::DeviceName(_))) = canonical.to_str().map(|p| observe::locate(root, p)) {
            return Ok(place);
        }
    }
    let what = match kind {
        k if k.is_fifo() => "a FIFO",
        k if k.is_socket() => "a socket",
        k if k.is_char_device() => "a character device",
        _ => "a special file",
    };
    Err(Failure::usage(format!("{} is {what}, which lies on no storage", path.display()))
        .remedy("name a directory, a file, a block device, or a device's kernel name such as sda"))
}

/// A simulated or imagined target, which is no place.
pub fn is_no_place(target: &OsStr) -> bool {
    target.to_str().is_some_and(|t| t == "null:" || t.starts_with("sim:"))
}

fn mount_id(path: &Path) -> Option<u64> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let seen = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (seen.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(seen.stx_mnt_id)
}

fn device(number: u64) -> DeviceId {
    DeviceId { major: rustix::fs::major(number), minor: rustix::fs::minor(number) }
}

fn cannot_look(path: &Path, error: &std::io::Error) -> Failure {
    let shown = path.display();
    match error.kind() {
        ErrorKind::NotFound => Failure::usage(format!("{shown}: there is no such file or device"))
            .remedy("check the spelling; narrows inspect   lists all disks, and without a target all are taken"),
        ErrorKind::PermissionDenied => {
            Failure::environment(format!("{shown}: permission denied")).remedy("run as root")
        }
        _ => Failure::environment(format!("{shown}: {error}")),
    }
}
