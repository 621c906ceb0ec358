//! The one way by which a target is opened, decided about and made writable, for all commands.
//!
//! 1. The name is opened once, as a handle (O_PATH). Links are followed only here, and not at all where the name was
//!    confirmed before.
//! 2. What it is, and who uses it, is asked of the handle: device number and inode, never the name.
//! 3. A device that is to be written to is claimed (O_EXCL) before anything is decided, so that what was decided stays so.
//! 4. Descriptors for reading and writing are had from the handle. [`FileTarget`] carries them; the rig knows no other way.
//!
//! Reading needs no permission beyond the kernel's. Writing needs the user's word (`--overwrite`, `--destroy`), and that
//! nobody uses the bytes, by whichever way; where that cannot be found out the answer is no, with the reason.

mod content;
mod device;
mod file;
mod signatures;

pub(crate) use device::quoted;
use engine::{Attempt, FileTarget, refusal};
use model::{DeviceId, Failure, TargetKind};
use observe::{Locator, Root, Use};
use spec::Readiness;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::{DescriptorName, FileFacts, OpenMode, SymlinkPolicy};

/// How long somebody may still be there.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the kernel may still be busy with what a process left that is gone: a ring ends its operations, and gives its files
/// back, after the process has ended (k:io_uring/io_uring.c, io_ring_exit_work).
const PATIENCE_WITH_THE_DEAD: Duration = Duration::from_secs(20);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// What a target is to the kernel: `st_dev`, `st_ino` and `st_rdev`. Told apart from another that has its name by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    special: u64,
    born_ns: Option<u64>,
}

impl FileIdentity {
    /// Of an open file.
    pub fn of(metadata: &std::fs::Metadata) -> Self {
        let born = metadata.created().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        let born_ns = born.and_then(|since| u64::try_from(since.as_nanos()).ok());
        Self { device: metadata.dev(), inode: metadata.ino(), special: metadata.rdev(), born_ns }
    }

    /// When it was made, nanoseconds since 1970 (`stx_btime` of statx(2)), where the file system keeps that.
    pub fn born_ns(&self) -> Option<u64> {
        self.born_ns
    }

    /// `st_dev` and `st_ino`.
    pub fn file(&self) -> (u64, u64) {
        (self.device, self.inode)
    }
}

/// What the user allows to be lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Consent<'a> {
    /// The content of a regular file.
    pub overwrite: bool,
    /// The content of the block device with this identity.
    pub destroy: Option<&'a str>,
    /// Nothing but what this object holds: it was looked at before, and nobody is asked again.
    pub only: Option<FileIdentity>,
}

/// What will be lost by writing to a device, for the person who allowed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The device, as the kernel has its name.
    pub path: PathBuf,
    /// What the device says that it is.
    pub model: Option<String>,
    /// Partitions on it, by kernel name.
    pub partitions: Vec<String>,
    /// What is known of its content.
    pub content: Vec<String>,
}

/// A target that may be used, open.
#[derive(Debug)]
pub struct Admitted {
    /// Its descriptors, for the rig.
    pub target: FileTarget,
    pub object: FileIdentity,
    /// What may be done to it.
    pub readiness: Readiness,
    /// Block device: its own number. Else that of the file system.
    pub device: DeviceId,
    /// What statx says of it; `None` before Linux 4.11.
    pub facts: Option<FileFacts>,
    /// What will be lost, where a device is to be written to.
    pub loss: Option<Loss>,
}

impl Admitted {
    /// Where it is, for whoever looks at what it lies on.
    pub fn locator(&self) -> Locator {
        if self.target.kind == TargetKind::BlockDevice {
            return Locator::Device(self.device);
        }
        Locator::Path {
            path: self.target.path.to_string_lossy().into_owned(),
            device: Some(self.device),
            mount_id: self.facts.and_then(|f| f.mount_id),
            block_size_bytes: self.facts.map(|f| u64::from(f.block_size_bytes)),
        }
    }
}

/// A target that is held and not yet decided about.
struct HeldTarget<'a> {
    root: &'a Root,
    /// As the kernel has its name, for messages.
    path: PathBuf,
    /// O_PATH.
    handle: File,
}

/// Opens the target, decides about it, and makes it writable where `consent` and its use allow that.
///
/// # Errors
/// No such target, no permission, not a kind of file that can be measured; in use, not the one that was confirmed, or
/// not known well enough to be sure (refused).
pub fn admit(root: &Root, name: &Path, links: SymlinkPolicy, consent: Consent<'_>) -> Result<Admitted, Failure> {
    let handle = sys::open_handle(name, links).map_err(|e| cannot_look(name, links, &e))?;
    let kind = engine::classify(&handle, name)?;
    let metadata = handle.metadata().map_err(|e| refusal(Attempt::Look, name, &e))?;
    if kind == TargetKind::Directory && metadata.nlink() == 0 {
        return Err(deleted(name));
    }
    let object = FileIdentity::of(&metadata);
    if consent.only.is_some_and(|only| only != object) {
        let message = format!("{}: something else is in the place of what was looked at before", name.display());
        return Err(Failure::refused(message).remedy("name the target anew"));
    }
    let path = path_of(&handle, name)?;
    let device = device::number(&metadata, kind);
    let held = HeldTarget { root, path, handle };
    let (file, readiness, claims, loss) = match kind {
        TargetKind::BlockDevice => device::admit(&held, device, &consent)?,
        _ if consent.destroy.is_some() => {
            let message = format!("--destroy is for block devices; {} is none", held.path.display());
            return Err(Failure::usage(message).remedy("for a regular file: --overwrite"));
        }
        TargetKind::File => file::admit(&held, consent.overwrite)?,
        _ if consent.overwrite => {
            return Err(Failure::usage("--overwrite is for regular files; a directory's temporary file is always new"));
        }
        _ => {
            let directory = held.handle.try_clone().map_err(|e| refusal(Attempt::Look, &held.path, &e))?;
            (directory, Readiness::Writable, Vec::new(), None)
        }
    };
    let facts = sys::file_facts(&held.handle).ok();
    let writable = readiness == Readiness::Writable;
    let target = FileTarget { path: held.path, file, claims, kind, writable };
    Ok(Admitted { target, object, readiness, device, facts, loss })
}

/// A descriptor that was decided about, what may be done with it, the claims that keep others away, and what is lost.
type Decided = (File, Readiness, Vec<File>, Option<Loss>);

impl HeldTarget<'_> {
    /// For reading only. Without /proc the name serves once more, if it still stands for the same object.
    fn open_for_reading(&self) -> Result<File, Failure> {
        let file = sys::open_through(&self.handle, OpenMode::Read).or_else(|e| {
            if e.kind() != io::ErrorKind::NotFound {
                return Err(e);
            }
            sys::open_named(&self.handle, &self.path, OpenMode::Read)
        });
        file.map_err(|e| refusal(Attempt::OpenRead, &self.path, &e))
    }

    /// For reading and writing: only by way of the handle.
    fn open_for_writing(&self) -> Result<File, Failure> {
        sys::open_through(&self.handle, OpenMode::ReadWrite).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => self.use_unknown("/proc is not mounted", "mount -t proc proc /proc"),
            _ => refusal(Attempt::OpenWrite, &self.path, &e),
        })
    }

    /// It is in use: who uses it is named.
    fn in_use(&self, reasons: &[impl ToString]) -> Failure {
        let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        Failure::refused(format!("{} is in use: {}", self.path.display(), reasons.join("; ")))
            .remedy("unmount it and stop what holds it, or only read it")
    }

    /// The kernel does not grant an exclusive claim, and nothing tells who has one.
    fn claimed(&self, what: &str) -> Failure {
        self.in_use(&[format!(
            "the kernel refuses an exclusive claim on {what} (EBUSY): mounted or held where it is not seen"
        )])
    }

    /// Whether it is in use cannot be found out.
    fn use_unknown(&self, why: &str, remedy: &str) -> Failure {
        let message = format!("{}: it cannot be excluded that it is in use: {why}", self.path.display());
        Failure::refused(message).remedy(remedy)
    }
}

/// Why not, and whether that may pass: udev and others have a device or file open for moments when it appears or changes.
struct Refusal {
    failure: Failure,
    /// How long it is worth to wait for that.
    patience: Duration,
}

impl Refusal {
    fn permanent(failure: Failure) -> Self {
        Self { failure, patience: Duration::ZERO }
    }

    fn now(failure: Failure) -> Self {
        Self { failure, patience: PATIENCE }
    }

    /// In use. Who only reads may be done in a moment; a lock of a process that is gone ends with what it left.
    fn in_use(held: &HeldTarget<'_>, uses: &[Use]) -> Self {
        let patience = |u: &Use| match u {
            Use::Open { writing: false, mapped: false, .. } => PATIENCE,
            Use::Locked { by: Some((pid, _)), .. } if held.root.text(&format!("/proc/{pid}/comm")).is_none() => {
                PATIENCE_WITH_THE_DEAD
            }
            _ => Duration::ZERO,
        };
        Self { failure: held.in_use(uses), patience: uses.iter().map(patience).min().unwrap_or_default() }
    }
}

/// Asks again for a while where the reason may pass.
fn with_retries<T>(mut attempt: impl FnMut() -> Result<T, Refusal>) -> Result<T, Failure> {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(no) if start.elapsed() < no.patience => std::thread::sleep(PAUSE),
            result => return result.map_err(|no| no.failure),
        }
    }
}

fn cannot_look(name: &Path, links: SymlinkPolicy, error: &io::Error) -> Failure {
    if links == SymlinkPolicy::Refuse && error.raw_os_error().map(sys::errno_name).as_deref() == Some("ELOOP") {
        let message = format!("{}: a symbolic link is in the place of what was confirmed", name.display());
        return Failure::refused(message).remedy("name the target anew");
    }
    refusal(Attempt::Look, name, error)
}

/// The kernel's name for what was opened; where it has none any more, what it was called.
fn path_of(handle: &File, name: &Path) -> Result<PathBuf, Failure> {
    match sys::name_of(handle) {
        DescriptorName::Is(path) => Ok(path),
        DescriptorName::Gone => Ok(name.to_owned()),
        DescriptorName::NotTold => name.canonicalize().map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => deleted(name),
            _ => refusal(Attempt::Look, name, &e),
        }),
    }
}

/// It could be opened a moment ago: a current directory that was deleted, or a race.
fn deleted(name: &Path) -> Failure {
    Failure::environment(format!("{}: it was deleted", name.display())).remedy("change to a directory that exists")
}
