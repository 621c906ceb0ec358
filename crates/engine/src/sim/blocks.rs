//! Where a simulated file system has its blocks, and how what changed reaches the device: as ext4 does by default, with a journal of
//! metadata, data before the metadata that lead to them (data=ordered), room that is taken when data are written, and a flusher that
//! writes what is old (Documentation/filesystems/ext4, fs/jbd2/commit.c, mm/page-writeback.c).
//!
//! What waits for the device is sorted by its place and put together where it adjoins, as I/O schedulers do.

use super::machine::{Lane, Machine};
use model::{NS_PER_S, Ns};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A block of the file system.
pub(super) const BLOCK: u64 = 4096;
/// Blocks of data that one block of a bitmap tells of.
const GROUP: u64 = 128 << 20;
/// Inodes in a block of 4 KiB, of 256 bytes, and those that one block of a bitmap tells of.
const INODES_OF_A_BLOCK: u64 = 16;
const INODES_OF_A_GROUP: u64 = 8192;
/// Where what describes the file system lies: descriptions of groups, bitmaps of room and of inodes, and the inodes themselves.
const GROUPS: u64 = BLOCK;
const ROOM: u64 = 16 * BLOCK;
const INODE_BITMAPS: u64 = 1 << 20;
const INODES: u64 = 8 << 20;
/// What is no longer is a large file.
const SMALL_BYTES: u64 = 64 << 10;
/// Large files start at multiples of their length, as a power of two up to this.
const MAX_ALIGNED: u64 = 1 << 20;
/// The flusher looks so often (dirty_writeback_centisecs), and writes what is so old (dirty_expire_centisecs).
const FLUSHER_NS: Ns = 5 * NS_PER_S;
const OLD_NS: Ns = 30 * NS_PER_S;
/// A transaction is committed after so long at the latest (commit=).
const COMMIT_NS: Ns = 5 * NS_PER_S;
/// The largest command that writes what waits.
const MAX_BYTES: u64 = 512 << 10;

/// Blocks, the journal, and what waits to be written.
#[derive(Debug)]
pub(super) struct Blocks {
    capacity: u64,
    /// Where the next data of small files lie, and of large ones.
    next: u64,
    next_large: u64,
    /// Where the next blocks of directories lie: not between the files.
    next_names: u64,
    /// Where data may lie.
    data_start: u64,
    journal: (u64, u64),
    journal_next: u64,
    /// Blocks of metadata that the running transaction changed, and since when it runs.
    running: HashSet<u64>,
    since: Ns,
    /// Number of the running transaction.
    pub transaction: u64,
    /// Blocks of metadata that are in the journal and not yet at their places, with when they were committed.
    committed: BTreeMap<u64, Ns>,
    /// What waits for the device: places and lengths.
    waiting: BTreeMap<u64, u64>,
    /// Where the last command ended.
    head: u64,
    next_flush: Ns,
    /// Blocks of metadata that were read or made.
    known: BTreeSet<u64>,
    /// Bytes that were written.
    pub written: u64,
}

impl Blocks {
    pub fn new(capacity: u64) -> Self {
        // As mke2fs does: 1/64 of a small file system, in its middle.
        let length = (capacity / 64).clamp(4 << 20, 1 << 30) / BLOCK * BLOCK;
        let start = capacity / 2 / GROUP * GROUP;
        let data_start = capacity / 32 / BLOCK * BLOCK;
        Self {
            capacity,
            next: data_start,
            next_large: start + length,
            next_names: data_start / 2,
            data_start,
            journal: (start, start + length),
            journal_next: start,
            running: HashSet::new(),
            since: 0,
            transaction: 1,
            committed: BTreeMap::new(),
            waiting: BTreeMap::new(),
            head: 0,
            next_flush: FLUSHER_NS,
            known: BTreeSet::new(),
            written: 0,
        }
    }

    /// Room for so many bytes, and that its bitmap changed. Small files lie one behind the other, and large ones among their like
    /// (fs/ext4/mballoc.c: locality groups serve up to 64 KiB).
    pub fn take(&mut self, bytes: u64, now: Ns) -> u64 {
        let bytes = bytes.next_multiple_of(BLOCK);
        let (next, start, end) = match bytes > SMALL_BYTES {
            true => (&mut self.next_large, self.journal.1, self.capacity),
            false => (&mut self.next, self.data_start, self.journal.0),
        };
        if bytes > SMALL_BYTES {
            // A chunk of the buddy allocator, whose rest is given back.
            *next = next.next_multiple_of(bytes.next_power_of_two().min(MAX_ALIGNED));
        }
        if *next + bytes > end {
            *next = start;
        }
        let at = *next;
        *next += bytes;
        self.room_changed(at, now);
        at
    }

    /// A block for names; once there is no room for them apart, among the data.
    pub fn take_for_names(&mut self, now: Ns) -> u64 {
        if self.next_names + BLOCK > self.data_start {
            return self.take(BLOCK, now);
        }
        let at = self.next_names;
        self.next_names += BLOCK;
        self.room_changed(at, now);
        at
    }

    /// The bitmap of a place, and the description of its group.
    pub fn room_changed(&mut self, place: u64, now: Ns) {
        self.change(ROOM + place / GROUP * BLOCK, now);
        self.change(GROUPS, now);
    }

    pub fn inode_block(number: u32) -> u64 {
        INODES + u64::from(number) / INODES_OF_A_BLOCK * BLOCK
    }

    /// An inode is taken or given back.
    pub fn inode_taken(&mut self, number: u32, now: Ns) {
        self.change(INODE_BITMAPS + u64::from(number) / INODES_OF_A_GROUP * BLOCK, now);
        self.change(GROUPS, now);
        self.change(Self::inode_block(number), now);
    }

    /// A block of metadata changes.
    pub fn change(&mut self, block: u64, now: Ns) {
        if self.running.is_empty() {
            self.since = now;
        }
        self.running.insert(block);
        self.known.insert(block);
    }

    /// A block of metadata is needed; returns when it is there.
    pub fn need(&mut self, m: &mut Machine, block: u64, at: Ns) -> Ns {
        if self.known.insert(block) { m.internal(Lane::Worker, false, block, BLOCK, at) } else { at }
    }

    /// It was there when the machine started, and nobody has read it.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// So many bytes from a place on wait for the device.
    pub fn queue(&mut self, place: u64, bytes: u64) {
        if bytes > 0 {
            let waiting = self.waiting.entry(place).or_default();
            *waiting = bytes.max(*waiting);
        }
    }

    /// The next command: from where the last one ended on, with what adjoins.
    fn next_command(&mut self) -> Option<(u64, u64)> {
        let from = self.waiting.range(self.head..).next().or_else(|| self.waiting.iter().next());
        let (start, mut length) = from.map(|(place, bytes)| (*place, *bytes))?;
        self.waiting.remove(&start);
        while length < MAX_BYTES
            && let Some(bytes) = self.waiting.remove(&(start + length))
        {
            length += bytes;
        }
        self.head = start + length;
        Some((start, length))
    }

    fn write(&mut self, m: &mut Machine, lane: Lane, place: u64, bytes: u64, at: Ns) -> Ns {
        self.written += bytes;
        m.internal(lane, true, place, bytes, at)
    }

    /// What the machine did by itself until now: the flusher, and what waited for the device.
    pub fn until(&mut self, m: &mut Machine, now: Ns) {
        while self.next_flush <= now {
            let at = self.next_flush;
            self.next_flush += FLUSHER_NS;
            self.drain(m, at);
            let old = self.committed.iter().filter(|(_, since)| **since + OLD_NS <= at);
            let places: Vec<u64> = old.map(|(place, _)| *place).collect();
            for place in places {
                self.committed.remove(&place);
                self.queue(place, BLOCK);
            }
            if !self.running.is_empty() && self.since + COMMIT_NS <= at {
                self.commit(m, at);
            }
        }
        self.drain(m, now);
    }

    /// The device takes what waits for as long as it is idle before `now`.
    fn drain(&mut self, m: &mut Machine, now: Ns) {
        while m.disk.end <= now || m.model.host.queue_depth > 1 {
            let Some((place, bytes)) = self.next_command() else { break };
            let at = m.disk.end.min(now);
            self.write(m, Lane::Writeback, place, bytes, at.max(m.now.min(now)));
        }
    }

    /// All that waits is written; returns when it is.
    pub fn write_out(&mut self, m: &mut Machine, at: Ns) -> Ns {
        while let Some((place, bytes)) = self.next_command() {
            self.write(m, Lane::Worker, place, bytes, at);
        }
        m.disk.end.max(at)
    }

    /// The running transaction is committed; returns when it lasts.
    pub fn commit(&mut self, m: &mut Machine, at: Ns) -> Ns {
        if self.running.is_empty() {
            return m.flush(at);
        }
        let ordered = self.write_out(m, at);
        let bytes = (self.running.len() as u64 + 1) * BLOCK;
        if self.journal_next + bytes + BLOCK > self.journal.1 {
            // Room for it is there once what the oldest say is at its place.
            self.journal_next = self.journal.0;
            std::mem::take(&mut self.committed).into_keys().for_each(|place| self.queue(place, BLOCK));
        }
        let described = self.write(m, Lane::Worker, self.journal_next, bytes, ordered);
        let flushed = m.flush(described);
        self.journal_next += bytes;
        let done = self.write(m, Lane::Worker, self.journal_next, BLOCK, flushed);
        self.journal_next += BLOCK;
        for place in self.running.drain() {
            self.committed.entry(place).or_insert(at);
        }
        self.transaction += 1;
        m.flush(done)
    }
}
