//! Where a recording goes: a container that is there, or one that is made; decided about the open descriptor.

use crate::room::{Growing, give_back, no_room, put_footer_back};
use crate::superblocks::{cannot, failed, lock_superblocks, refused, superblock_of, write_superblocks};
use crate::{RecordEvent, Recording};
use conduct::admission::{Admitted, Consent, FileIdentity, admit};
use conduct::free_bytes;
use conduct::random_u64;
use model::{Failure, TargetKind};
use observe::{Locator, Root};
use recorder::{Container, ContainerError, Damage, Geometry, Identity, Pins, ReadError, Superblock, WhenFull};
use spec::Readiness;
use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use sys::{Locked, SymlinkPolicy};

/// Names of files that recordings are made in, where only a directory was named.
pub const RECORDING_SUFFIX: &str = "nrec";
/// Who says how much may have all that is free but one part in so many.
const FREE_PART: u64 = 20;

/// A target that may be recorded to, open.
pub(crate) struct RecordingTarget {
    pub path: PathBuf,
    pub file: File,
    pub geometry: Geometry,
    pub locator: Locator,
    /// What is there already.
    before: Option<Before>,
    /// Whether room that is not used is given back at the end.
    pub gives_back: bool,
    /// Made for this recording, with its `st_dev` and `st_ino`: gone with this unless it is kept.
    made: Option<(u64, u64)>,
    kept: Cell<bool>,
    /// Keeps others away from a device.
    _claims: Vec<File>,
}

/// A file that was made: where, and its `st_dev` and `st_ino`.
type Made = (PathBuf, (u64, u64));

struct Before {
    superblock: Superblock,
    next_segment: u64,
    next_batch: u64,
}

/// What this opening of the container goes on from.
pub(crate) struct Continuation {
    pub identity: Identity,
    /// What is not overwritten.
    pub pins: Pins,
    pub next_segment: u64,
    pub next_batch: u64,
    /// Where more room comes from, of a container that grows.
    pub growing: Option<Arc<Growing>>,
}

/// Why there is no room for a recording, and what gives it some.
fn does_not_fit(file: &File, path: &Path, why: ContainerError, grows: bool) -> Failure {
    match why {
        ContainerError::TooSmall { needed, .. } if grows => no_room(file, path, needed),
        ContainerError::TooSmall { bytes, needed } => {
            let [bytes, megabytes] = [model::bytes_text(bytes), needed.div_ceil(1_000_000).to_string()];
            Failure::usage(format!("{}: {bytes} are too few for a recording of such frames", path.display()))
                .remedy(format!("--size {megabytes}MB or more; a smaller --segment, frames or --max-frame"))
        }
        other => Failure::usage(format!("{}: {other}", path.display()))
            .remedy("--size SIZE; a smaller --segment or --max-frame"),
    }
}

impl RecordingTarget {
    /// Opens, and makes where nothing is; nothing is written that was there.
    pub fn open(recording: &Recording<'_>, tell: &dyn Fn(RecordEvent<'_>)) -> Result<Self, Failure> {
        let given = Path::new(recording.target);
        let made = make(given)?;
        let path = made.as_ref().map_or(given, |(path, _)| path.as_path());
        let opened = Self::open_existing(path, made.as_ref().map(|(_, file)| *file), recording, tell);
        opened.inspect_err(|_| {
            if let Some((path, _)) = &made {
                // It was made a moment ago, and nothing is in it.
                let _ = std::fs::remove_file(path);
            }
        })
    }

    fn open_existing(
        path: &Path,
        made: Option<(u64, u64)>,
        recording: &Recording<'_>,
        tell: &dyn Fn(RecordEvent<'_>),
    ) -> Result<Self, Failure> {
        // A file is opened for writing in any case; whether it is written to is decided by what it holds.
        let consent =
            Consent { overwrite: recording.consent.destroy.is_none() && !is_device(path), ..recording.consent };
        let links = if made.is_some() { SymlinkPolicy::Refuse } else { SymlinkPolicy::Follow };
        let admitted = admit(&Root::new("/"), path, links, consent)?;
        let locator = admitted.locator();
        let Admitted { target, object, readiness, loss, .. } = admitted;
        if let Readiness::ReadOnly(why) = &readiness {
            return Err(
                refused(path, &why.to_string()).remedy("a block device: --destroy SERIAL; narrows inspect shows it")
            );
        }
        if made.is_some_and(|made| made != FileIdentity::file(&object)) {
            return Err(refused(path, "another file is there now"));
        }
        let file = target.file;
        match sys::lock_exclusively(&file, Duration::from_millis(200)).map_err(|e| cannot(path, &e))? {
            Locked::Busy => return Err(refused(path, "another program works on it (a lock is held)")),
            Locked::Held | Locked::Unsupported => {}
        }
        let is_device = target.kind == TargetKind::BlockDevice;
        let length = recorder::Store::length(&file).map_err(|e| cannot(path, &e))?;
        let found = held(&file, path).or_else(|e| if recording.anew { Ok(None) } else { Err(e) })?;
        // Of a file that was made for what is given up the length says nothing.
        let given_up = found.as_ref().filter(|_| recording.anew).map(|found| found.superblock.clone());
        let before = found.filter(|_| !recording.anew).map(|found| goes_on(&found, path, recording)).transpose()?;
        if before.is_none() {
            let free = is_device || made.is_some() || length == 0;
            if !(free || given_up.is_some() || recording.consent.overwrite) {
                return Err(refused(path, "it holds other data than a recording")
                    .remedy("--overwrite, if its content may be lost; or a directory, or a name that is free"));
            }
            loss.iter().for_each(|loss| tell(RecordEvent::WillBeLost(loss)));
        }
        let logical = sys::logical_block_size(&file).map_or(512, u64::from);
        let (geometry, gives_back) = match &before {
            Some(before) => (before.superblock.geometry, before.superblock.gives_back),
            None => {
                let anew = given_up.filter(|old| old.gives_back && !is_device);
                let own = !is_device && (length == 0 || anew.is_some());
                let size =
                    recording.size.or(anew.map(|old| old.geometry).filter(|g| !g.grows()).map(|g| g.container_bytes));
                let when_full = recording.when_full.unwrap_or_default();
                let grows = own && size.is_none() && when_full == WhenFull::Stop && !recording.keep_size;
                let length = match own {
                    true if grows => free_bytes(&file).map_err(|e| cannot(path, &e))?,
                    true => lengthen(&file, path, size)?,
                    false => length,
                };
                let size = size.unwrap_or(length).min(length);
                let fits = Geometry::fit(size, logical, recording.largest_frame, recording.segment, when_full);
                let fits = fits.map_err(|e| does_not_fit(&file, path, e, grows))?;
                (if grows { fits.growing() } else { fits }, own && !recording.keep_size && !recording.temporary)
            }
        };
        let largest = recording.largest_generated_frame();
        if largest > geometry.largest_frame() {
            return Err(Failure::usage(format!(
                "{}: it takes frames of at most {} bytes, and those that are generated have up to {largest}",
                path.display(),
                geometry.largest_frame()
            ))
            .remedy("a larger --max-frame and --size for a new recording, or smaller frames"));
        }
        let kept = Cell::new(false);
        let path = target.path;
        Ok(Self { path, file, geometry, locator, before, gives_back, made, kept, _claims: target.claims })
    }

    /// Writes the superblocks of this opening, durably, and from then on past the page cache where that can be.
    pub fn begin(&self) -> Result<Continuation, Failure> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let created_ns = u64::try_from(since_1970.as_nanos()).unwrap_or(0);
        let _alone = lock_superblocks(&self.file, &self.path)?;
        let (superblock, next_segment, next_batch) = match &self.before {
            Some(before) => {
                let mut superblock = before.superblock.clone();
                // Somebody may have pinned something since it was opened.
                if let Some(now) = superblock_of(&self.file, &superblock.identity.uuid) {
                    (superblock.pins, superblock.generation) = (now.pins, superblock.generation.max(now.generation));
                }
                superblock.identity.epoch += 1;
                superblock.generation += 1;
                (superblock, before.next_segment, before.next_batch)
            }
            None => {
                let mut uuid = [0; 16];
                uuid[..8].copy_from_slice(&random_u64()?.to_le_bytes());
                uuid[8..].copy_from_slice(&random_u64()?.to_le_bytes());
                let identity = Identity { uuid, epoch: 1 };
                (
                    Superblock {
                        identity,
                        generation: 1,
                        geometry: self.geometry,
                        created_ns,
                        pins: Pins::default(),
                        gives_back: self.gives_back,
                    },
                    0,
                    0,
                )
            }
        };
        let growing = self.room(&superblock, next_segment)?;
        write_superblocks(&self.file, &superblock).map_err(|e| cannot(&self.path, &e))?;
        // Where the file system has no direct I/O the page cache serves; flushes are as they are.
        let _ = sys::set_direct(&self.file, true);
        let Superblock { identity, pins, .. } = superblock;
        Ok(Continuation { identity, pins, next_segment, next_batch, growing })
    }

    /// Takes the room that it begins with: of a container that grows a first piece, of another one that was cut off all of it.
    fn room(&self, superblock: &Superblock, next_segment: u64) -> Result<Option<Arc<Growing>>, Failure> {
        if !superblock.gives_back {
            return Ok(None);
        }
        put_footer_back(&self.file, &self.path)?;
        if self.geometry.grows() {
            return Growing::begin(&self.file, &self.path, superblock, next_segment).map(Arc::new).map(Some);
        }
        let length = recorder::Store::length(&self.file).map_err(|e| cannot(&self.path, &e))?;
        if length < self.geometry.container_bytes {
            sys::reserve_durably(&self.file, self.geometry.container_bytes).map_err(|e| {
                let room = model::bytes_text(self.geometry.container_bytes - length);
                cannot(&self.path, &e).remedy(format!("{room} more are to be free; or --new --size SIZE, with less"))
            })?;
        }
        Ok(None)
    }

    /// What it has room for from this segment on: of one that grows as far as that is known now.
    pub fn room_bytes(&self, next_segment: u64) -> u64 {
        match self.geometry.when_full {
            _ if self.geometry.grows() => free_bytes(&self.file).unwrap_or(0),
            WhenFull::Wrap => self.geometry.segments * self.geometry.segment_bytes,
            WhenFull::Stop => self.geometry.segments.saturating_sub(next_segment) * self.geometry.segment_bytes,
        }
    }

    /// What must not be overwritten of what is there already.
    pub fn pins(&self) -> Pins {
        self.before.as_ref().map(|before| before.superblock.pins.clone()).unwrap_or_default()
    }

    /// A file that was made stays.
    pub fn keep(&self) {
        self.kept.set(true);
    }
}

impl Drop for RecordingTarget {
    /// A file that was made, and into which nothing came, is not left behind, whatever went wrong.
    fn drop(&mut self) {
        let same = |made: (u64, u64)| self.path.symlink_metadata().is_ok_and(|m| (m.dev(), m.ino()) == made);
        if !self.kept.get() && self.made.is_some_and(same) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Opens a device that may be written to, past no cache, and keeps others away until the second is dropped.
///
/// # Errors
/// It may not be written to.
pub(crate) fn open_device(
    name: &OsStr,
    consent: Consent<'_>,
    lost: &dyn Fn(&conduct::admission::Loss),
) -> Result<(File, Vec<File>), Failure> {
    let path = Path::new(name);
    let Admitted { target, readiness, loss, .. } = admit(&Root::new("/"), path, SymlinkPolicy::Follow, consent)?;
    if let Readiness::ReadOnly(why) = &readiness {
        return Err(
            refused(path, &why.to_string()).remedy("a block device: --destroy SERIAL; narrows inspect shows it")
        );
    }
    if let Locked::Busy =
        sys::lock_exclusively(&target.file, Duration::from_millis(200)).map_err(|e| cannot(path, &e))?
    {
        return Err(refused(path, "another program works on it (a lock is held)"));
    }
    loss.iter().for_each(lost);
    let _ = sys::set_direct(&target.file, false);
    Ok((target.file, target.claims))
}

/// How much could be recorded: of a directory, or a name that is free, what is free but for a part; else how long it is.
///
/// # Errors
/// It is not there, or cannot be asked.
pub fn room_bytes(name: &OsStr) -> Result<u64, Failure> {
    if let Some(name) = name.to_str().filter(|name| name.starts_with("sim:")) {
        let model = spec::parse_sim(name).map_err(|e| {
            Failure::usage(e.to_string()).remedy("sim:help   lists devices and parameters, with their defaults")
        })?;
        return Ok(engine::SimRig::new(model, 1_000_000_000).max_bytes());
    }
    let there = Path::new(name);
    let look = |e| engine::refusal(engine::Attempt::Look, there, &e);
    let handle = sys::open_handle(there, SymlinkPolicy::Follow).map_err(look)?;
    if there.is_dir() {
        let directory = sys::open_directory(there).map_err(|e| cannot(there, &e))?;
        return free_bytes(&directory).map_err(|e| cannot(there, &e));
    }
    let file = sys::open_through(&handle, sys::OpenMode::Read).map_err(|e| cannot(there, &e))?;
    recorder::Store::length(&file).map_err(|e| cannot(there, &e))
}

/// Writes superblocks anew from what else is known of the recording, where one is damaged, and gives back room that it does not
/// use; whether one was, and how much.
///
/// # Errors
/// The target may not be written to, or holds no recording.
pub fn repair_recording(name: &OsStr, consent: Consent<'_>) -> Result<(bool, u64), Failure> {
    let path = Path::new(name);
    let consent = Consent { overwrite: consent.destroy.is_none() && !is_device(path), ..consent };
    let admitted = admit(&Root::new("/"), path, SymlinkPolicy::Follow, consent)?;
    if let Readiness::ReadOnly(why) = &admitted.readiness {
        return Err(refused(path, &why.to_string()).remedy("a block device: --destroy SERIAL"));
    }
    let file = admitted.target.file;
    let container = Container::open(file.try_clone().map_err(|e| cannot(path, &e))?).map_err(|e| failed(path, &e))?;
    let damaged = !container.damage.is_empty();
    if damaged {
        let superblock = Superblock { generation: container.superblock.generation + 1, ..container.superblock.clone() };
        write_superblocks(&file, &superblock).map_err(|e| cannot(path, &e))?;
    }
    // Of one that is being recorded the room is in use.
    let free = sys::lock_exclusively(&file, Duration::from_millis(200)).is_ok_and(|locked| locked != Locked::Busy);
    let given_back = if free { give_back(&file, path)? } else { 0 };
    Ok((damaged, given_back))
}

/// What a recording goes on from, if it can.
fn goes_on(container: &Container<File>, path: &Path, recording: &Recording<'_>) -> Result<Before, Failure> {
    let geometry = container.geometry();
    let other = recording.when_full.is_some_and(|wanted| wanted != geometry.when_full)
        || recording.segment.is_some_and(|bytes| bytes != geometry.segment_bytes);
    let full = |next: u64| geometry.when_full == WhenFull::Stop && next >= geometry.segments;
    if other {
        let what = "the recording that is there was made with another --when-full or --segment";
        return Err(refused(path, what).remedy("leave that out; or --new gives up what was recorded"));
    }
    let (next_segment, next_batch) = container.next_numbers().map_err(|e| failed(path, &e))?;
    if geometry.when_full == WhenFull::Wrap && container.damage.contains(&Damage::BothSuperblocks) {
        return Err(refused(path, "both of its superblocks are damaged: what must not be overwritten is not known")
            .remedy("narrows record recover makes them anew, without pins"));
    }
    if full(next_segment) {
        return Err(refused(path, "the recording that is there is full")
            .remedy("another target; or --new gives up what was recorded"));
    }
    Ok(Before { superblock: container.superblock.clone(), next_segment, next_batch })
}

fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|m| m.file_type().is_block_device())
}

/// The recording that a file or device holds; `None` where it holds none, an error where it cannot be gone on with.
fn held(file: &File, path: &Path) -> Result<Option<Container<File>>, Failure> {
    match Container::open(file.try_clone().map_err(|e| cannot(path, &e))?) {
        Ok(container) => Ok(Some(container)),
        Err(ReadError::Container(ContainerError::None)) => Ok(None),
        Err(e) => Err(failed(path, &e).remedy("--new gives up what was recorded")),
    }
}

/// Makes a file where a directory was named, or a name that is free; its path, `st_dev` and `st_ino`.
fn make(given: &Path) -> Result<Option<Made>, Failure> {
    let path = if given.is_dir() {
        let directory = given.canonicalize().map_err(|e| cannot(given, &e))?;
        directory.join(format!("narrows-{:08x}.{RECORDING_SUFFIX}", random_u64()? as u32))
    } else if given.symlink_metadata().is_ok() {
        return Ok(None);
    } else {
        let parent = given.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let parent = parent.canonicalize().map_err(|e| cannot(parent, &e))?;
        // A device node that is missing must never become a file.
        let Some(name) = given.file_name().filter(|_| !parent.starts_with("/dev") || parent.starts_with("/dev/shm"))
        else {
            return Err(Failure::environment(format!("{}: there is no such device", given.display())));
        };
        parent.join(name)
    };
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
    let file = file.map_err(|e| cannot(&path, &e))?;
    // Its blocks are reserved once it is opened, admitted and locked.
    let metadata = file.metadata().map_err(|e| cannot(&path, &e)).inspect_err(|_| {
        let _ = std::fs::remove_file(&path);
    })?;
    Ok(Some((path, (metadata.dev(), metadata.ino()))))
}

/// Reserves the blocks of an empty file: as much as was asked for, else all that is free but for a part.
fn lengthen(file: &File, path: &Path, size: Option<u64>) -> Result<u64, Failure> {
    let space = sys::space_of(file).map_err(|e| cannot(path, &e))?;
    let free = space.available_bytes;
    let bytes = size.map_or_else(|| free_bytes(file), Ok).map_err(|e| cannot(path, &e))?;
    if bytes == 0 {
        let free = model::bytes_text(free);
        let what =
            format!("{}: {free} are free, all of which must stay so: there is no room for a recording", path.display());
        return Err(Failure::environment(what)
            .remedy("a place with more room (5 % of a file system, at least 256 MiB, always stay free), or --size SIZE of what it has"));
    }
    if bytes > free - free / FREE_PART {
        let [free, asked] = [free, bytes].map(model::bytes_text);
        let what = format!("{}: {free} are free, of which a part stays so, and {asked} are asked for", path.display());
        return Err(Failure::environment(what).remedy("--size SIZE, with less than that"));
    }
    sys::reserve_durably(file, bytes).map_err(|e| cannot(path, &e))?;
    Ok(bytes)
}
