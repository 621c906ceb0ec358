//! The few things that the archive does to a file system, each durable when it returns unless its comment says otherwise.
//!
//! Every primitive step passes [`Storage::step`], so that the crash tests can stop at each one and undo what had not
//! been synced (`crash_tests.rs` lists what is injected).

use crate::folder::{self, parent_of};
use crate::lock::{self, LockAttempt};
use crate::{ArchiveError, Result, temporary};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, linkat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Content is read and written in pieces of this size.
const PIECE_BYTES: usize = 256 << 10;
/// How an untrusted file is opened: a symbolic link or a FIFO must neither lead outside nor hang.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// What is known of a file of lines.
pub(crate) struct LineFile {
    pub length_bytes: u64,
    pub last_line_whole: bool,
}

/// Durable changes to the archive's file system, none of them outside it.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    /// The archive: what leads there may be a link, what lies in it may not.
    root: PathBuf,
    #[cfg(test)]
    pub(crate) fault: Option<std::sync::Arc<std::sync::Mutex<crate::crash_tests::Fault>>>,
}

/// One primitive step, for the fault injection.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), allow(dead_code, reason = "only the crash tests look at the paths"))]
pub(crate) enum Step<'a> {
    CreateDir(&'a Path),
    Write(&'a Path, &'a [u8], u64),
    SyncFile(&'a Path),
    Rename(&'a Path, &'a Path),
    Link(&'a Path),
    SyncDir(&'a Path),
    Remove(&'a Path),
}

impl Storage {
    #[cfg(test)]
    fn step(&self, step: Step<'_>) -> io::Result<()> {
        self.fault.as_ref().map_or(Ok(()), |f| f.lock().expect("no test panics in a step").step(step))
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the tests' version does something")]
    fn step(&self, _: Step<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Changes to the archive in `root`, which need not exist yet.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            #[cfg(test)]
            fault: None,
        }
    }

    /// Whether there is a directory, and not a link to one.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] where something else is there, or on the way.
    pub fn is_directory(&self, path: &Path) -> Result<bool> {
        match folder::open(&self.root, path) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(e) => Err(ArchiveError::io("open the directory", path)(e.into())),
        }
    }

    /// Names in a directory that are text, in order; none if it does not exist.
    pub fn names(&self, path: &Path) -> Result<Vec<String>> {
        let listed = folder::open(&self.root, path).and_then(|directory| folder::names(&directory));
        let mut names: Vec<String> = match listed {
            Ok(names) => names.into_iter().filter_map(|n| n.into_string().ok()).collect(),
            Err(Errno::NOENT) => Vec::new(),
            Err(e) => return Err(ArchiveError::io("list", path)(e.into())),
        };
        names.sort();
        Ok(names)
    }

    /// Creates a directory and whatever is missing above it.
    pub fn create_dirs(&self, path: &Path) -> Result<()> {
        if self.is_directory(path)? {
            return Ok(());
        }
        if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            self.create_dirs(parent)?;
        }
        match self.step(Step::CreateDir(path)).and_then(|()| Ok(folder::create(&self.root, path)?)) {
            // Another process was faster.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && self.is_directory(path)? => Ok(()),
            Err(e) => Err(ArchiveError::io("create the directory", path)(e)),
            Ok(()) => self.sync_dir(parent_of(path)),
        }
    }

    /// Creates a directory that must not exist.
    pub fn create_dir(&self, path: &Path) -> Result<()> {
        self.step(Step::CreateDir(path))
            .and_then(|()| Ok(folder::create(&self.root, path)?))
            .map_err(ArchiveError::io("create the directory", path))?;
        self.sync_dir(parent_of(path))
    }

    /// Gives a file new content; a reader, and a crash, see the old or the new one. Whatever has the name now (a link, a
    /// second name of another file) loses it and is not written.
    pub fn replace(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.replace_from(path, &mut &*content)
    }

    /// The same, of content that is read while it is written.
    pub fn replace_from(&self, path: &Path, content: &mut dyn Read) -> Result<()> {
        self.replace_unsynced(path, content)?;
        self.sync_dir(parent_of(path))
    }

    /// The same, durable only after [`Storage::sync_dir`] of the directory: a crash before that leaves the old content.
    pub fn replace_unsynced(&self, path: &Path, content: &mut dyn Read) -> Result<()> {
        let temporary = temporary::name_for(path);
        let replaced = self.create_file(&temporary, content).and_then(|written| {
            self.rename(&temporary, path)?;
            // Until here its lock said that somebody writes it.
            drop(written);
            Ok(())
        });
        if replaced.is_err() {
            // The first error is the one that tells.
            let _ = self.remove_file(&temporary);
        }
        replaced
    }

    /// Gives a file of the archive that is never written to again a second name, so that its content takes its place once; a
    /// copy where that fails.
    pub fn link(&self, from: &Path, to: &Path) -> Result<()> {
        let attempt = || -> io::Result<()> {
            self.step(Step::Link(to))?;
            let ((old_directory, old), (directory, new)) =
                (folder::entry(&self.root, from)?, folder::entry(&self.root, to)?);
            Ok(linkat(&old_directory, old, &directory, new, AtFlags::empty())?)
        };
        if attempt().is_ok() {
            return self.sync_dir(parent_of(to));
        }
        let opened = folder::entry(&self.root, from)
            .and_then(|(directory, name)| openat(&directory, name, READING, Mode::empty()));
        let mut file = File::from(opened.map_err(|e| ArchiveError::io("open", from)(e.into()))?);
        self.replace_from(to, &mut file)
    }

    /// Writes and syncs a file that must not exist; it is locked as long as the value lives.
    fn create_file(&self, path: &Path, content: &mut dyn Read) -> Result<File> {
        let create = || -> io::Result<File> {
            let (directory, name) = folder::entry(&self.root, path)?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file: File = loop {
                let new = openat(&directory, name, flags, Mode::RUSR | Mode::WUSR)?.into();
                if lock::claim(&new)? {
                    break new;
                }
            };
            folder::adopt(&file, folder::file_mode(&directory)?);
            Ok(file)
        };
        let mut attempt = || -> io::Result<File> {
            let mut piece = vec![0; PIECE_BYTES];
            let length = fill(content, &mut piece)?;
            self.step(Step::Write(path, &piece[..length], 0))?;
            let mut file = create()?;
            file.write_all(&piece[..length])?;
            let mut last = length;
            let mut offset = length as u64;
            while last == piece.len() {
                last = fill(content, &mut piece)?;
                self.step(Step::Write(path, &piece[..last], offset))?;
                file.write_all(&piece[..last])?;
                offset += last as u64;
            }
            self.step(Step::SyncFile(path))?;
            file.sync_all()?;
            Ok(file)
        };
        attempt().map_err(ArchiveError::io("write", path))
    }

    /// Adds to a file of which the first `length_bytes` are good; what stands behind them (a failed attempt) goes. Only a
    /// regular file with this one name is written: any other may be somebody else's. The name of a new file is not durable yet.
    pub fn append(&self, path: &Path, length_bytes: u64, content: &[u8]) -> Result<()> {
        let attempt = || -> io::Result<()> {
            self.step(Step::Write(path, content, length_bytes))?;
            let (directory, name) = folder::entry(&self.root, path)?;
            let is_own = |stat: &rustix::fs::Stat| {
                FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1
            };
            let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let mut file: File = match folder::stat(&directory, name)? {
                Some(stat) if !is_own(&stat) => return Err(io::Error::other("it is not a file of its own")),
                Some(_) => openat(&directory, name, flags, Mode::empty())?.into(),
                None => {
                    let flags = flags | OFlags::CREATE | OFlags::EXCL;
                    let new = openat(&directory, name, flags, Mode::RUSR | Mode::WUSR)?;
                    folder::adopt(&new, folder::file_mode(&directory)?);
                    new.into()
                }
            };
            if !is_own(&rustix::fs::fstat(&file)?) {
                return Err(io::Error::other("it is not a file of its own"));
            }
            file.set_len(length_bytes)?;
            io::Seek::seek(&mut file, io::SeekFrom::Start(length_bytes))?;
            file.write_all(content)?;
            self.step(Step::SyncFile(path))?;
            file.sync_all()
        };
        attempt().map_err(ArchiveError::io("write", path))
    }

    /// Opens a file to be locked, and creates it where it is missing.
    pub fn open_lock(&self, path: &Path) -> Result<File> {
        let attempt = || -> io::Result<File> {
            let (directory, name) = folder::entry(&self.root, path)?;
            let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            match openat(&directory, name, flags | OFlags::CREATE | OFlags::EXCL, Mode::RUSR | Mode::WUSR) {
                Ok(new) => {
                    folder::adopt(&new, folder::file_mode(&directory)?);
                    return Ok(new.into());
                }
                Err(Errno::EXIST) => {}
                Err(e) => return Err(e.into()),
            }
            match folder::kind(&directory, name)? {
                Some(FileType::RegularFile) | None => Ok(openat(&directory, name, flags, Mode::empty())?.into()),
                Some(FileType::Symlink) => Err(Errno::LOOP.into()),
                Some(_) => Err(io::Error::other("it is not a regular file")),
            }
        };
        attempt().map_err(ArchiveError::io("open the lock", path))
    }

    /// Reads a whole regular file of the archive of at most `limit_bytes`; `None` if it is not there.
    pub fn read_limited(&self, path: &Path, limit_bytes: u64) -> Result<Option<Vec<u8>>> {
        let opened = folder::entry(&self.root, path)
            .and_then(|(directory, name)| openat(&directory, name, READING, Mode::empty()));
        match opened {
            Ok(file) => read_open(path, file.into(), limit_bytes).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(ArchiveError::io("open", path)(e.into())),
        }
    }

    /// How long a file of lines is, and whether its last line is whole; empty if it is not there.
    pub fn line_file(&self, path: &Path) -> Result<LineFile> {
        let read = || -> io::Result<LineFile> {
            let (directory, name) = folder::entry(&self.root, path)?;
            let file: File = match openat(&directory, name, READING, Mode::empty()) {
                Ok(file) => file.into(),
                Err(Errno::NOENT) => return Ok(LineFile { length_bytes: 0, last_line_whole: true }),
                Err(e) => return Err(e.into()),
            };
            let length_bytes = file.metadata()?.len();
            let mut last = *b"\n";
            if length_bytes > 0 {
                std::os::unix::fs::FileExt::read_exact_at(&file, &mut last, length_bytes - 1)?;
            }
            Ok(LineFile { length_bytes, last_line_whole: last == *b"\n" })
        };
        read().map_err(ArchiveError::io("read", path))
    }

    /// Whether two names lead to one directory.
    pub fn is_same_directory(&self, own: &Path, other: &Path) -> bool {
        let own = folder::open(&self.root, own).and_then(rustix::fs::fstat);
        own.is_ok_and(|own| {
            rustix::fs::stat(other).is_ok_and(|other| (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino))
        })
    }

    /// Renames; durable only after [`Storage::sync_dir`] of the directory.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let attempt = || -> io::Result<()> {
            self.step(Step::Rename(from, to))?;
            let ((old_directory, old), (directory, new)) =
                (folder::entry(&self.root, from)?, folder::entry(&self.root, to)?);
            Ok(renameat(&old_directory, old, &directory, new)?)
        };
        attempt().map_err(ArchiveError::io("rename", from))
    }

    /// Makes creations, renames and removals in a directory durable.
    pub fn sync_dir(&self, path: &Path) -> Result<()> {
        let sync = || {
            let directory = folder::open(&self.root, path)?;
            let readable =
                openat(&directory, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            File::from(readable).sync_all()
        };
        match self.step(Step::SyncDir(path)).and_then(|()| sync()) {
            // Some network and FUSE file systems have no fsync for directories; their renames are what they are.
            Err(e) if matches!(Errno::from_io_error(&e), Some(Errno::INVAL | Errno::NOTSUP)) => Ok(()),
            other => other.map_err(ArchiveError::io("sync the directory", path)),
        }
    }

    /// Removes a file, or the link that stands for one; one that is not there is fine. Durable with the next sync of its directory.
    pub fn remove_file(&self, path: &Path) -> Result<()> {
        let remove = || -> io::Result<()> {
            let (directory, name) = folder::entry(&self.root, path)?;
            Ok(unlinkat(&directory, name, AtFlags::empty())?)
        };
        match self.step(Step::Remove(path)).and_then(|()| remove()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(ArchiveError::io("remove", path)),
        }
    }

    /// Removes a file that nobody has locked, if it is regular. Returns whether it is gone; durable with the next sync of its directory.
    pub fn remove_abandoned(&self, path: &Path) -> Result<bool> {
        let attempt = || -> io::Result<bool> {
            let (directory, name) = folder::entry(&self.root, path)?;
            if folder::kind(&directory, name)? != Some(FileType::RegularFile) {
                return Ok(false);
            }
            let file = openat(&directory, name, READING, Mode::empty())?;
            let LockAttempt::Held(held) = lock::attempt(path, file.into()).map_err(io::Error::other)? else {
                return Ok(false);
            };
            // Its writer may have given it its name, and another one this name, while nobody looked.
            let mine = held.stat()?;
            let there = folder::stat(&directory, name)?;
            if there.is_none_or(|there| (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino)) {
                return Ok(false);
            }
            self.step(Step::Remove(path))?;
            unlinkat(&directory, name, AtFlags::empty())?;
            Ok(true)
        };
        attempt().map_err(ArchiveError::io("remove", path))
    }

    /// Removes a directory and all in it, without following symbolic links. Durable with the next sync of the one that it is in.
    pub fn remove_tree(&self, path: &Path) -> Result<()> {
        let remove = || -> io::Result<()> {
            let (directory, name) = folder::entry(&self.root, path)?;
            Ok(folder::remove_tree(&directory, name)?)
        };
        match self.step(Step::Remove(path)).and_then(|()| remove()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(ArchiveError::io("remove", path)),
        }
    }
}

/// Reads until the piece is full or the content ends; how much it holds.
fn fill(content: &mut dyn Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < piece.len() {
        match content.read(&mut piece[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(length)
}

/// Opens a regular file of a bundle for reading, and nothing else; the bundle's directory is no link either. `None` if it is
/// not there.
pub(crate) fn open_regular(path: &Path) -> Result<Option<(File, u64)>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = path.file_name().unwrap_or_default();
    let opened = rustix::fs::open(parent_of(path), flags, Mode::empty())
        .and_then(|directory| openat(&directory, name, READING, Mode::empty()));
    match opened {
        Ok(file) => checked(path, file.into()).map(Some),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(ArchiveError::io("open", path)(e.into())),
    }
}

/// The file and its size, if it is a regular one.
fn checked(path: &Path, file: File) -> Result<(File, u64)> {
    let metadata = file.metadata().map_err(ArchiveError::io("stat", path))?;
    if !metadata.is_file() {
        return Err(ArchiveError::corrupt(path, None, "it is not a regular file"));
    }
    Ok((file, metadata.len()))
}

fn read_open(path: &Path, file: File, limit_bytes: u64) -> Result<Vec<u8>> {
    let (file, size_bytes) = checked(path, file)?;
    if size_bytes > limit_bytes {
        return Err(ArchiveError::TooLarge { path: path.to_owned(), size_bytes, limit_bytes });
    }
    let mut content = Vec::new();
    // It may grow while it is read.
    file.take(limit_bytes).read_to_end(&mut content).map_err(ArchiveError::io("read", path))?;
    Ok(content)
}

/// Reads a whole regular file of a bundle of at most `limit_bytes`; `None` if it is not there.
pub(crate) fn read_limited(path: &Path, limit_bytes: u64) -> Result<Option<Vec<u8>>> {
    match open_regular(path)? {
        Some((file, _)) => read_open(path, file, limit_bytes).map(Some),
        None => Ok(None),
    }
}
