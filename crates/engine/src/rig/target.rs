//! What can be a target, how an admitted one is taken over, and how large it may become.

use super::device_reads::DeviceReads;
use super::refusal::{Attempt, locked, refusal, wrong_kind};
use model::{Environment, Failure, LayerKind, Target, TargetKind};
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::{KeptName, Locked, TemporaryKind};

/// A mebibyte: sizes are whole ones.
pub(crate) const MIB: u64 = 1 << 20;
/// The least that a file system keeps free.
const MIN_FREE: u64 = 256 * MIB;
/// The smallest file or device that is worth reading.
const MIN_BYTES: u64 = MIB;

/// A target that is open already. What may be done to it was decided about its descriptor, so the rig never goes by its
/// name.
#[derive(Debug)]
pub struct FileTarget {
    /// What messages call it.
    pub path: PathBuf,
    /// A directory (O_PATH is enough), or a regular file or block device that is open for reading, and for writing where
    /// [`Self::writable`].
    pub file: File,
    /// Descriptors that hold exclusive claims (O_EXCL) on what is written to, kept as long as the rig.
    pub claims: Vec<File>,
    /// Which of them it is, by [`classify`].
    pub kind: TargetKind,
    /// Whether it may be written to. Directories always: their temporary file is ours. For a file this overwrites its
    /// content.
    pub writable: bool,
}

/// What the rig is told of the machine, since it looks at nothing but its target.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// Type of the file system below a directory or file.
    pub filesystem: Option<String>,
    pub mount_options: Vec<String>,
    /// `uname -r`.
    pub kernel: Option<String>,
    /// Files behind the loop devices below the target, whose cached pages must go for a cold read.
    pub backing_files: Vec<PathBuf>,
    /// MemAvailable, which bounds files on tmpfs.
    pub memory_available_bytes: Option<u64>,
    /// Length of the intervals of the series.
    pub interval_ns: u64,
    /// Size of each of the memory copy's buffers.
    pub copy_bytes: u64,
    /// Why io_uring must not be used, although the kernel may have it.
    pub without_io_uring: Option<String>,
    /// Whether a loop device below the target has a file behind it that is none of `backing_files`, so that its cached pages
    /// stay.
    pub hidden_backing: bool,
    /// Whether another rank of this group holds the lock, for all of them.
    pub locked_by_group: bool,
    /// What the lowest layers count of their reads, which shows whether verified data came from there.
    pub device_reads: Option<DeviceReads>,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            filesystem: None,
            mount_options: Vec::new(),
            kernel: None,
            backing_files: Vec::new(),
            memory_available_bytes: None,
            interval_ns: 100_000_000,
            copy_bytes: 64 << 20,
            without_io_uring: None,
            hidden_backing: false,
            locked_by_group: false,
            device_reads: None,
        }
    }
}

impl FileOptions {
    /// From what was found out about target and machine.
    pub fn of(target: &Target, environment: &Environment) -> Self {
        let mount = target.stack.mount.as_ref();
        let backing = |layer: &model::Layer| {
            let gone = layer.bool("backing_file_deleted") == Some(true);
            layer.text("backing_file").filter(|_| !gone).map(PathBuf::from)
        };
        let loops: Vec<Option<PathBuf>> = target.stack.all(LayerKind::Loop).map(backing).collect();
        Self {
            filesystem: mount.map(|m| m.fstype.clone()),
            mount_options: mount.map(|m| m.options.clone()).unwrap_or_default(),
            kernel: environment.kernel.clone(),
            hidden_backing: loops.iter().any(Option::is_none),
            backing_files: loops.into_iter().flatten().collect(),
            ..Self::default()
        }
    }
}

/// What an open descriptor is, O_PATH included: directory, file or block device. `path` is what messages call it.
///
/// # Errors
/// A kind of file that cannot be measured.
pub fn classify(file: &File, path: &Path) -> Result<TargetKind, Failure> {
    let kind = file.metadata().map_err(|e| refusal(Attempt::Look, path, &e))?.file_type();
    let what = match kind {
        _ if kind.is_dir() => return Ok(TargetKind::Directory),
        _ if kind.is_file() => return Ok(TargetKind::File),
        _ if kind.is_block_device() => return Ok(TargetKind::BlockDevice),
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ if kind.is_char_device() => "a character device",
        _ => "a special file",
    };
    Err(wrong_kind(path, what))
}

/// A target that is locked.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The file: buffered, for reading, and for writing where allowed.
    pub file: File,
    /// Removes the name of a temporary file that must have one, after the file is closed.
    pub _name: Option<KeptName>,
    /// Holds the lock, where that is another file (the directory).
    pub _lock: Option<File>,
    /// Size of a file or device; `None` for a temporary file.
    pub size: Option<u64>,
    /// What a directory's file may grow to.
    pub max_bytes: u64,
    /// Remarks for the run: no lock, no O_TMPFILE.
    pub remarks: Vec<String>,
}

/// Locks it. For a directory the temporary file is made.
pub(crate) fn open(target: &FileTarget, options: &FileOptions) -> Result<Opened, Failure> {
    let found = classify(&target.file, &target.path)?;
    if found != target.kind {
        let message = format!("{}: expected {:?}, found {found:?}", target.path.display(), target.kind);
        return Err(Failure::internal(message));
    }
    match found {
        TargetKind::Directory => open_directory(target, options),
        TargetKind::File => open_file(target, options),
        _ => open_device(target, options),
    }
}

fn open_directory(target: &FileTarget, options: &FileOptions) -> Result<Opened, Failure> {
    let path = &target.path;
    // A directory that may be written to but not listed cannot be opened, hence not locked.
    let (lock, mut remarks) = match sys::open_directory_of(&target.file) {
        Ok(directory) => {
            let remarks = take_lock(&directory, target, options, Duration::ZERO)?;
            (Some(directory), remarks)
        }
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            let remark = "the directory cannot be opened for reading, so it is not locked against a second check";
            (None, vec![remark.into()])
        }
        Err(e) => return Err(refusal(Attempt::OpenRead, path, &e)),
    };
    let (file, temporary) = sys::create_temporary(&target.file).map_err(|e| refusal(Attempt::Create, path, &e))?;
    let name = match temporary {
        TemporaryKind::Unnamed => None,
        TemporaryKind::Unlinked => {
            remarks.push("the file system has no O_TMPFILE; the temporary file was unlinked at once".into());
            None
        }
        TemporaryKind::Named(name) => {
            remarks.push(
                "the file system gives no second handle to a file without a name; the temporary file is removed at the end".into(),
            );
            Some(name)
        }
    };
    let max_bytes = room(&file, path, options)?;
    Ok(Opened { file, _name: name, _lock: lock, size: None, max_bytes, remarks })
}

/// File systems that live in memory: tmpfs, ramfs (k:include/uapi/linux/magic.h).
pub(super) fn in_memory(magic: u32) -> bool {
    matches!(magic, 0x0102_1994 | 0x8584_58f6)
}

/// What stays free of a file system: a twentieth, and 256 MiB or, where less than twice that is there, half of it.
fn kept_free(total_bytes: u64, available_bytes: u64) -> u64 {
    (total_bytes / 20).max(MIN_FREE.min(available_bytes / 2))
}

/// What files in memory may take of it: half, as tmpfs itself does by default; the rest is for everybody else, us included.
fn share_of_memory(available_bytes: Option<u64>) -> u64 {
    available_bytes.map_or(MIN_FREE, |m| m / 2)
}

/// What a file system has for a file of ours: all but what always stays free.
pub fn usable_bytes(space: &sys::Space, memory_available_bytes: Option<u64>) -> u64 {
    // Some FUSE servers and ramfs report no size at all.
    let unsized_fs = space.total_bytes == 0;
    let free = if unsized_fs {
        u64::MAX
    } else {
        space.available_bytes.saturating_sub(kept_free(space.total_bytes, u64::MAX))
    };
    if in_memory(space.magic) { free.min(share_of_memory(memory_available_bytes)) } else { free }
}

/// How large the temporary file may become.
fn room(file: &File, path: &Path, options: &FileOptions) -> Result<u64, Failure> {
    let space = sys::space_of(file).map_err(|e| refusal(Attempt::Look, path, &e))?;
    let keep = kept_free(space.total_bytes, space.available_bytes);
    // Some FUSE servers and ramfs report no size at all.
    let mut max = if space.total_bytes == 0 { u64::MAX } else { space.available_bytes.saturating_sub(keep) };
    let mut bound = format!("{} MiB are available, {} MiB are kept free", space.available_bytes / MIB, keep / MIB);
    if in_memory(space.magic) {
        let half = share_of_memory(options.memory_available_bytes);
        if half < max {
            max = half;
            bound = format!("the file system lies in memory, of which half ({} MiB) may be used", half / MIB);
        }
    }
    // FAT knows no larger file (k:fs/fat/inode.c, s_maxbytes).
    if space.magic == 0x4d44 {
        max = max.min(u64::from(u32::MAX));
    }
    if let Some(limit) = sys::file_size_limit().filter(|limit| *limit < max) {
        max = limit;
        bound = format!("the limit of file size (ulimit -f) is {} KiB; raise it: ulimit -f unlimited", limit / 1024);
    }
    let max = max / MIB * MIB;
    if max == 0 {
        let message = format!("{}: not enough room: {bound}", path.display());
        return Err(Failure::environment(message).remedy(format!(
            "free some space (5 % of the file system and {} MiB, of a small one half of what is free, always stay free), \
             or name another directory",
            MIN_FREE / MIB
        )));
    }
    Ok(max)
}

/// A second descriptor of the same opening.
fn taken_over(target: &FileTarget) -> Result<File, Failure> {
    target.file.try_clone().map_err(|e| refusal(Attempt::OpenRead, &target.path, &e))
}

fn open_file(target: &FileTarget, options: &FileOptions) -> Result<Opened, Failure> {
    let path = &target.path;
    let file = taken_over(target)?;
    let meta = file.metadata().map_err(|e| refusal(Attempt::Look, path, &e))?;
    let remarks = take_lock(&file, target, options, Duration::ZERO)?;
    let size = meta.len();
    if size < MIN_BYTES {
        let message =
            format!("{}: {size} bytes are too few to measure (at least {} MiB)", path.display(), MIN_BYTES / MIB);
        return Err(Failure::refused(message)
            .remedy("name its directory instead: a temporary file of sufficient size is used and removed"));
    }
    // Overwriting a sparse file allocates: what it may take is bounded as for a temporary file.
    let mut max_bytes = size / MIB * MIB;
    if target.writable {
        let holes = sys::written(&file, 0, size).map_or(0, |w| w.hole_bytes);
        // What is reserved and not written counts as holes, too, and takes no more room.
        if holes > 0 && meta.blocks().saturating_mul(512) < size {
            max_bytes = max_bytes.min(room(&file, path, options)?);
        }
    }
    Ok(Opened { file, _name: None, _lock: None, size: Some(size), max_bytes, remarks })
}

fn open_device(target: &FileTarget, options: &FileOptions) -> Result<Opened, Failure> {
    let path = &target.path;
    let file = taken_over(target)?;
    // udev holds a shared lock while it probes a device, which takes moments.
    let remarks = take_lock(&file, target, options, Duration::from_secs(1))?;
    let size = sys::device_size(&file).map_err(|e| refusal(Attempt::Look, path, &e))?;
    if target.writable && sys::device_read_only(&file).unwrap_or(false) {
        let message = format!("{}: the device is read-only", path.display());
        return Err(
            Failure::environment(message).remedy("slide the card's write protection off, or: blockdev --setrw DEVICE")
        );
    }
    if size < MIN_BYTES {
        let message = format!("{}: the device has {size} bytes: no medium, or too small to measure", path.display());
        return Err(Failure::environment(message).remedy("insert the card or disk"));
    }
    Ok(Opened { file, _name: None, _lock: None, size: Some(size), max_bytes: size / MIB * MIB, remarks })
}

/// Locks it; remarks on that.
fn take_lock(
    file: &File,
    target: &FileTarget,
    options: &FileOptions,
    patience: Duration,
) -> Result<Vec<String>, Failure> {
    if options.locked_by_group {
        return Ok(Vec::new());
    }
    let path = &target.path;
    match sys::lock_exclusively(file, patience).map_err(|e| refusal(Attempt::Look, path, &e))? {
        Locked::Held => Ok(Vec::new()),
        Locked::Busy => Err(locked(path)),
        Locked::Unsupported => {
            Ok(vec!["the file system has no locks: a second check of this target would not be noticed".into()])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_system_is_used_by_half_and_a_full_one_not_at_all() {
        let offers = |total: u64, free: u64| free.saturating_sub(kept_free(total * MIB, free * MIB) / MIB);
        assert_eq!((offers(64, 60), offers(280, 250)), (30, 125));
        assert_eq!(offers(32_000, 20_000), 20_000 - 32_000 / 20);
        assert_eq!(offers(4_000, 3_000), 3_000 - 256);
        assert_eq!(offers(100_000, 400), 0);
    }
}
