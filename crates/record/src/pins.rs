//! What a recording that wraps does not overwrite: pinned and let go by whoever reads it, also while it is recorded to.
//!
//! Pins are in the superblock, which the recorder itself writes only when it begins. So whoever changes them needs no word with
//! it: it looks at the superblock a few times a second. Two who change them at once are kept apart by a lock of POSIX, because
//! the other kind of lock is the recorder's. Nothing but a superblock that was read and found whole is ever written over.

use crate::read::find_recording;
use crate::superblocks::{cannot, failed, lock_superblocks, refused, superblock_of, write_superblocks};
use conduct::admission::{Consent, admit};
use model::Failure;
use observe::Root;
use recorder::{Container, Pins, SharedPins, Superblock, WhenFull};
use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};
use sys::{Locked, SymlinkPolicy};

/// How often a recorder looks.
const LOOK: Duration = Duration::from_millis(250);
/// By then it has looked, and what it begins from then on respects the pins.
const HEARD: Duration = Duration::from_millis(1000);
/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pinned {
    /// Segments that were overwritten before the recorder heard of their pins.
    pub too_late: u64,
}

/// A recorder's ear for pins.
pub(crate) struct PinWatch {
    /// Through the page cache, where those who pin write.
    file: Option<File>,
    uuid: [u8; 16],
    pins: SharedPins,
    looked: Cell<Instant>,
}

impl PinWatch {
    /// To the container in `file`, for a writer that has `pins`.
    pub fn new(file: &File, uuid: [u8; 16], when_full: WhenFull, pins: SharedPins) -> Self {
        let own = if when_full == WhenFull::Wrap { sys::reopen(file, false, false).ok() } else { None };
        Self { file: own, uuid, pins, looked: Cell::new(Instant::now()) }
    }

    /// Looks, if it is time.
    pub fn look(&self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.looked.get().elapsed() >= LOOK) {
            self.looked.set(Instant::now());
            // One that is just being written is whole the next time.
            if let Some(superblock) = superblock_of(file, &self.uuid) {
                self.pins.set(superblock.pins);
            }
        }
    }
}

/// Pins the segments that hold frames of this time (by their arrival, nanoseconds since 1970), or lets them be overwritten again.
///
/// # Errors
/// There is no such recording, it does not wrap, it may not be written to, or so much cannot be kept.
pub fn pin(name: &OsStr, time_ns: &Range<u64>, keep: bool) -> Result<Pinned, Failure> {
    let path = find_recording(name)?;
    let admitted = admit(&Root::new("/"), &path, SymlinkPolicy::Follow, Consent::default())?;
    let path = admitted.target.path;
    let file = sys::reopen(&admitted.target.file, true, false).map_err(|e| cannot(&path, &e))?;
    let _alone = lock_superblocks(&file, &path)?;
    let container = Container::open(&file).map_err(|e| failed(&path, &e))?;
    if container.geometry().when_full != WhenFull::Wrap {
        return Err(refused(&path, "this recording is never overwritten: it stops when it is full"));
    }
    if !container.damage.is_empty() {
        // What stands in the place of one may be somebody else's by now.
        return Err(refused(&path, "a superblock of it is damaged").remedy("narrows record recover makes it anew"));
    }
    if !keep && *time_ns == (0..u64::MAX) {
        // Also pins of segments that are gone.
        write(&file, &container.superblock, Pins::default(), &path)?;
        return Ok(Pinned::default());
    }
    let spans = container.spans().map_err(|e| failed(&path, &e))?;
    let meant = spans.iter().filter(|span| span.from_ns < time_ns.end && span.to_ns >= time_ns.start);
    let meant: Vec<Range<u64>> = meant.map(|span| span.segment..span.segment + 1).collect();
    if meant.is_empty() {
        return Err(Failure::usage(format!("{}: it has no frames of that time", path.display()))
            .remedy("narrows record list says from when to when it has some"));
    }
    let before = &container.superblock.pins;
    let pins = if keep { before.with(&meant) } else { before.without(&meant) };
    let pins = pins.ok_or_else(|| {
        refused(&path, &format!("more than {} separate stretches cannot be pinned", recorder::MAX_PINS))
            .remedy("pin one that joins them, or let one go: narrows record unpin")
    })?;
    if keep {
        leaves_room(&container, &pins, &path)?;
    }
    write(&file, &container.superblock, pins, &path)?;
    let recording = matches!(sys::lock_exclusively(&file, Duration::ZERO), Ok(Locked::Busy));
    if !(keep && recording) {
        return Ok(Pinned::default());
    }
    std::thread::sleep(HEARD);
    let after = Container::open(&file).map_err(|e| failed(&path, &e))?;
    let there = |number| after.segments().iter().any(|segment| segment.header.segment == number);
    let gone: Vec<Range<u64>> = meant.into_iter().filter(|range| !there(range.start)).collect();
    let kept = after.superblock.pins.without(&gone);
    if let Some(kept) = kept.filter(|_| !gone.is_empty()) {
        write(&file, &after.superblock, kept, &path)?;
    }
    Ok(Pinned { too_late: gone.len() as u64 })
}

fn write(file: &File, superblock: &Superblock, pins: Pins, path: &Path) -> Result<(), Failure> {
    let changed = Superblock { generation: superblock.generation + 1, pins, ..superblock.clone() };
    write_superblocks(file, &changed).map_err(|e| cannot(path, &e))
}

/// What is not pinned must hold what a recorder has on its way.
fn leaves_room(container: &Container<&File>, pins: &Pins, path: &Path) -> Result<(), Failure> {
    let geometry = container.geometry();
    let on_its_way = container.segments().last().map_or(0, |newest| u64::from(newest.header.reach));
    let most = geometry.segments.saturating_sub(on_its_way + 1);
    if pins.segments() <= most {
        return Ok(());
    }
    let what = format!(
        "{} of its {} segments would be pinned; {most} can be, because recording goes on in the others",
        pins.segments(),
        geometry.segments
    );
    Err(refused(path, &what).remedy("pin less, or let something go where something is pinned: narrows record unpin"))
}
