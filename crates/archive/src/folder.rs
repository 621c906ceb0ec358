//! Ways into the archive. The archive itself is where its user says, links included; what lies below it may have come from
//! somebody else, so it is reached directory by directory, by descriptors, and no symbolic link on the way is followed.
//! Whatever a bundle is made of, nothing outside the archive is written or removed.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

type IoResult<T> = rustix::io::Result<T>;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
/// Directories of one's own (XDG Base Directory Specification 0.8).
const PRIVATE: u32 = 0o700;
/// Bundles are two directories deep; more is none of ours, and would take a descriptor each.
const DEPTH_LIMIT: usize = 32;

/// A directory, reached without following links below `root`.
pub(crate) fn open(root: &Path, path: &Path) -> IoResult<OwnedFd> {
    let Ok(below) = path.strip_prefix(root) else {
        return openat(CWD, path, OFlags::PATH | DIRECTORY, Mode::empty());
    };
    let mut here = openat(CWD, root, OFlags::PATH | DIRECTORY, Mode::empty())?;
    for part in below.components() {
        let Component::Normal(name) = part else { return Err(Errno::INVAL) };
        here = step(&here, name)?;
    }
    Ok(here)
}

/// The directory that an entry lies in, and its name there.
pub(crate) fn entry<'p>(root: &Path, path: &'p Path) -> IoResult<(OwnedFd, &'p OsStr)> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    Ok((open(root, parent_of(path))?, name))
}

/// A directory in a directory, and no link to one.
fn step(directory: &OwnedFd, name: &OsStr) -> IoResult<OwnedFd> {
    match openat(directory, name, OFlags::PATH | OFlags::NOFOLLOW | DIRECTORY, Mode::empty()) {
        // What O_DIRECTORY says of a link; the reason is the link.
        Err(Errno::NOTDIR) if kind(directory, name)? == Some(FileType::Symlink) => Err(Errno::LOOP),
        other => other,
    }
}

/// What an entry is itself, links not followed; `None` where there is none.
pub(crate) fn stat(directory: &OwnedFd, name: &OsStr) -> IoResult<Option<Stat>> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(e),
    }
}

/// As [`stat`]: its kind alone.
pub(crate) fn kind(directory: &OwnedFd, name: &OsStr) -> IoResult<Option<FileType>> {
    Ok(stat(directory, name)?.map(|s| FileType::from_raw_mode(s.st_mode)))
}

/// The mode of a directory, as far as it concerns what is created in it.
fn mode_of(directory: &OwnedFd) -> IoResult<u32> {
    Ok(fstat(directory)?.st_mode & 0o2777)
}

/// The mode of a file in this directory: who may read the directory may read it, who may write there may write it.
pub(crate) fn file_mode(directory: &OwnedFd) -> IoResult<Mode> {
    Ok(Mode::from_raw_mode(mode_of(directory)? & 0o666 | 0o600))
}

/// Gives a new file the mode of its directory, whatever the process's mask says. File systems without modes have none.
pub(crate) fn adopt(file: &impl std::os::fd::AsFd, mode: Mode) {
    if fstat(file).is_ok_and(|stat| stat.st_mode & 0o7777 != mode.as_raw_mode()) {
        let _ = fchmod(file, mode);
    }
}

/// Creates a directory, like the one that it lies in if that is below `root`, else its owner's alone.
pub(crate) fn create(root: &Path, path: &Path) -> IoResult<()> {
    let (parent, name) = entry(root, path)?;
    let mode = if path != root && path.starts_with(root) { mode_of(&parent)? | PRIVATE } else { PRIVATE };
    mkdirat(&parent, name, Mode::from_raw_mode(PRIVATE))?;
    if mode != PRIVATE {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | DIRECTORY;
        adopt(&openat(&parent, name, flags, Mode::empty())?, Mode::from_raw_mode(mode));
    }
    Ok(())
}

/// Names in a directory, in no order.
pub(crate) fn names(directory: &OwnedFd) -> IoResult<Vec<OsString>> {
    let listed = openat(directory, ".", OFlags::RDONLY | DIRECTORY, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::new(listed)? {
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Removes an entry and all below it. A link is removed, not what it leads to; other file systems are not entered.
pub(crate) fn remove_tree(directory: &OwnedFd, name: &OsStr) -> IoResult<()> {
    remove_below(directory, name, fstat(directory)?.st_dev, DEPTH_LIMIT)
}

fn remove_below(directory: &OwnedFd, name: &OsStr, device: u64, depth: usize) -> IoResult<()> {
    match stat(directory, name)? {
        None => Err(Errno::NOENT),
        Some(s) if FileType::from_raw_mode(s.st_mode) != FileType::Directory => {
            unlinkat(directory, name, AtFlags::empty())
        }
        Some(_) if depth == 0 => Err(Errno::NAMETOOLONG),
        Some(s) if s.st_dev != device => Err(Errno::XDEV),
        Some(_) => {
            let inner = step(directory, name)?;
            for entry in names(&inner)? {
                remove_below(&inner, &entry, device, depth - 1)?;
            }
            unlinkat(directory, name, AtFlags::REMOVEDIR)
        }
    }
}

/// The directory that an entry lies in.
pub(crate) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
