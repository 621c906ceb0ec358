//! A file system on the simulated device, for calls that are made again: names, and where data lie.

use super::blocks::{BLOCK, Blocks};
use super::machine::{Lane, Machine};
use model::{CallFlag, CallKind, FileCall, FileTrace, NO_NUMBER, Ns};
use std::collections::HashMap;
use sys::errno::{EBADF, EEXIST, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY};

/// Names that a block of a directory holds, about.
const NAMES_OF_A_BLOCK: u64 = 80;
/// What is read at once of a file that is read from its start.
const READ_AHEAD: u64 = 128 << 10;
const TOP: u32 = 0;
/// Bits of sync_file_range(2).
const WRITE_OUT: u16 = 2;

/// What an inode is.
#[derive(Debug)]
enum Kind {
    /// Names and their inodes, and how many were ever made.
    Directory(HashMap<u32, u32>, u64),
    File,
    Link,
}

#[derive(Debug)]
struct Inode {
    kind: Kind,
    /// Names that lead to it, and descriptors.
    held: u32,
    bytes: u64,
    /// Where its bytes lie, one piece behind the other: places and lengths.
    pieces: Vec<(u64, u64)>,
    /// Bytes that are in memory only: first and length.
    dirty: Vec<(u64, u64)>,
    /// How far it is in memory, from its start on.
    cached: u64,
    /// The transaction that it was changed in last.
    changed: u64,
}

impl Inode {
    fn new(kind: Kind) -> Self {
        Self { kind, held: 1, bytes: 0, pieces: Vec::new(), dirty: Vec::new(), cached: 0, changed: 0 }
    }

    fn room(&self) -> u64 {
        self.pieces.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// The file system.
#[derive(Debug)]
pub(super) struct SimFiles {
    inodes: Vec<Inode>,
    /// Those that are open, by the number of their open.
    open: HashMap<u32, u32>,
    pub blocks: Blocks,
}

impl SimFiles {
    pub fn new(capacity: u64) -> Self {
        let top = Inode::new(Kind::Directory(HashMap::new(), 0));
        Self { inodes: vec![top], open: HashMap::new(), blocks: Blocks::new(capacity) }
    }

    /// What is there before the calls of a trace, written and not in memory.
    pub fn make_before(&mut self, m: &mut Machine, trace: &FileTrace) {
        self.open.clear();
        for before in &trace.before {
            let kind = match before.bytes {
                None => Kind::Directory(HashMap::new(), 0),
                Some(_) => Kind::File,
            };
            if self.find(trace, before.path).is_ok() {
                continue;
            }
            let Ok(number) = self.add(trace, before.path, kind, 0) else { continue };
            if let Some(bytes) = before.bytes {
                self.grow(number, bytes, 0);
                self.inodes[number as usize].bytes = bytes;
            }
        }
        if !trace.before.is_empty() {
            self.blocks.commit(m, m.now);
            self.blocks.forget();
        }
    }

    /// All that is in memory only is made to last; returns when it does.
    pub fn sync(&mut self, m: &mut Machine, at: Ns) -> Ns {
        (0..self.inodes.len() as u32).for_each(|number| _ = self.write_dirty(number, at));
        self.blocks.commit(m, at)
    }

    /// Nothing is in memory but what is not yet on the device.
    pub fn drop_caches(&mut self) {
        self.blocks.forget();
        self.inodes.iter_mut().for_each(|inode| inode.cached = 0);
    }

    fn names(&self, directory: u32) -> Result<&HashMap<u32, u32>, i32> {
        match &self.inodes[directory as usize].kind {
            Kind::Directory(names, _) => Ok(names),
            Kind::File | Kind::Link => Err(ENOTDIR),
        }
    }

    /// The inode of a path.
    fn find(&self, trace: &FileTrace, path: u32) -> Result<u32, i32> {
        if path == TOP {
            return Ok(TOP);
        }
        let node = trace.paths[path as usize];
        let above = self.find(trace, node.parent)?;
        self.names(above)?.get(&node.name).copied().ok_or(ENOENT)
    }

    /// The directory that a path lies in, and its name there.
    fn place(&self, trace: &FileTrace, path: u32) -> Result<(u32, u32), i32> {
        let node = trace.paths[path as usize];
        Ok((self.find(trace, node.parent)?, node.name))
    }

    fn changed(&mut self, number: u32, now: Ns) {
        self.blocks.change(Blocks::inode_block(number), now);
        self.inodes[number as usize].changed = self.blocks.transaction;
    }

    /// A directory gets or loses a name.
    fn names_changed(&mut self, directory: u32, adds: bool, now: Ns) {
        let Kind::Directory(_, made) = &mut self.inodes[directory as usize].kind else { return };
        *made += u64::from(adds);
        let bytes = (*made / NAMES_OF_A_BLOCK + 1) * BLOCK;
        self.grow(directory, bytes, now);
        if let Some((place, length)) = self.inodes[directory as usize].pieces.last().copied() {
            self.blocks.change(place + length - BLOCK, now);
        }
        self.changed(directory, now);
    }

    fn add(&mut self, trace: &FileTrace, path: u32, kind: Kind, now: Ns) -> Result<u32, i32> {
        let (above, name) = self.place(trace, path)?;
        if self.names(above)?.contains_key(&name) {
            return Err(EEXIST);
        }
        let number = self.inodes.len() as u32;
        self.inodes.push(Inode::new(kind));
        self.blocks.inode_taken(number, now);
        self.changed(number, now);
        self.name(above, name, number, now);
        Ok(number)
    }

    fn name(&mut self, directory: u32, name: u32, number: u32, now: Ns) {
        if let Kind::Directory(names, _) = &mut self.inodes[directory as usize].kind {
            names.insert(name, number);
        }
        self.names_changed(directory, true, now);
    }

    /// A name is no more.
    fn unname(&mut self, directory: u32, name: u32, now: Ns) {
        let Kind::Directory(names, _) = &mut self.inodes[directory as usize].kind else { return };
        let Some(number) = names.remove(&name) else { return };
        self.names_changed(directory, false, now);
        self.let_go(number, now);
    }

    fn let_go(&mut self, number: u32, now: Ns) {
        let inode = &mut self.inodes[number as usize];
        inode.held = inode.held.saturating_sub(1);
        if inode.held > 0 {
            return self.changed(number, now);
        }
        inode.dirty.clear();
        for (place, _) in std::mem::take(&mut inode.pieces) {
            self.blocks.room_changed(place, now);
        }
        self.blocks.inode_taken(number, now);
    }

    /// Room for so many bytes of a file.
    fn grow(&mut self, number: u32, bytes: u64, now: Ns) {
        let room = self.inodes[number as usize].room();
        if bytes <= room {
            return;
        }
        let mut lacks = (bytes - room).next_multiple_of(BLOCK);
        let place = match self.inodes[number as usize].kind {
            Kind::Directory(..) => {
                lacks = BLOCK;
                self.blocks.take_for_names(now)
            }
            Kind::File | Kind::Link => self.blocks.take(lacks, now),
        };
        let pieces = &mut self.inodes[number as usize].pieces;
        match pieces.last_mut().filter(|(start, length)| start + length == place) {
            Some((_, length)) => *length += lacks,
            None => pieces.push((place, lacks)),
        }
        self.changed(number, now);
    }

    /// Places of the device that hold bytes of a file.
    fn places(&self, number: u32, from: u64, bytes: u64) -> Vec<(u64, u64)> {
        let (mut at, mut found) = (0, Vec::new());
        for (place, length) in &self.inodes[number as usize].pieces {
            let (start, end) = (from.max(at), (from + bytes).min(at + length));
            if start < end {
                let first = (place + start - at) / BLOCK * BLOCK;
                found.push((first, (place + end - at).next_multiple_of(BLOCK) - first));
            }
            at += length;
        }
        found
    }

    /// What is in memory only goes to the device, which is not waited for.
    fn write_dirty(&mut self, number: u32, now: Ns) -> bool {
        let dirty = std::mem::take(&mut self.inodes[number as usize].dirty);
        for (from, bytes) in &dirty {
            self.grow(number, from + bytes, now);
            self.places(number, *from, *bytes).into_iter().for_each(|(place, bytes)| self.blocks.queue(place, bytes));
        }
        !dirty.is_empty()
    }

    fn fsync(&mut self, m: &mut Machine, number: u32, at: Ns) -> Ns {
        self.write_dirty(number, at);
        let written = self.blocks.write_out(m, at);
        if self.inodes[number as usize].changed == self.blocks.transaction {
            return self.blocks.commit(m, written);
        }
        m.flush(written)
    }

    fn read(&mut self, m: &mut Machine, number: u32, from: u64, bytes: u64, at: Ns) -> (u64, Ns) {
        let inode = &mut self.inodes[number as usize];
        let length = bytes.min(inode.bytes.saturating_sub(from));
        let end = from + length;
        if end <= inode.cached || length == 0 {
            return (length, at);
        }
        let from = if from <= inode.cached + READ_AHEAD {
            let start = inode.cached;
            inode.cached = end.max(start + READ_AHEAD).min(inode.bytes.next_multiple_of(BLOCK));
            start
        } else {
            from
        };
        let until = self.inodes[number as usize].cached.max(end);
        let places = self.places(number, from, until - from);
        let read = |at, (place, bytes)| m.internal(Lane::Worker, false, place, bytes, at);
        (length, places.into_iter().fold(at, read))
    }

    fn opened(&mut self, m: &mut Machine, trace: &FileTrace, call: &FileCall, at: Ns) -> Result<Ns, i32> {
        let has = |flag: u16| call.flags & flag != 0;
        let number = match self.find(trace, call.path) {
            Ok(_) if has(CallFlag::EXCLUSIVE) => return Err(EEXIST),
            Ok(number) => number,
            Err(ENOENT) if has(CallFlag::CREATE) => self.add(trace, call.path, Kind::File, at)?,
            Err(errno) => return Err(errno),
        };
        let end = self.blocks.need(m, Blocks::inode_block(number), at);
        if has(CallFlag::TRUNCATE) {
            self.set_length(number, 0, at);
        }
        self.inodes[number as usize].held += 1;
        self.open.insert(call.handle, number);
        Ok(end)
    }

    fn set_length(&mut self, number: u32, bytes: u64, now: Ns) {
        let inode = &mut self.inodes[number as usize];
        inode.dirty.retain(|(from, _)| *from < bytes);
        inode.dirty.iter_mut().for_each(|(from, length)| *length = (*length).min(bytes - *from));
        (inode.bytes, inode.cached) = (bytes, inode.cached.min(bytes));
        let mut kept = 0;
        let mut freed = Vec::new();
        inode.pieces.retain(|(place, length)| {
            let keeps = kept < bytes;
            kept += length;
            if !keeps {
                freed.push(*place);
            }
            keeps
        });
        freed.into_iter().for_each(|place| self.blocks.room_changed(place, now));
        self.changed(number, now);
    }

    fn write(&mut self, number: u32, from: u64, bytes: u64, now: Ns) {
        let inode = &mut self.inodes[number as usize];
        match inode.dirty.last_mut().filter(|(start, length)| start + length == from) {
            Some((_, length)) => *length += bytes,
            None => inode.dirty.push((from, bytes)),
        }
        if from <= inode.cached {
            inode.cached = inode.cached.max(from + bytes);
        }
        inode.bytes = inode.bytes.max(from + bytes);
        self.changed(number, now);
    }

    fn renamed(&mut self, trace: &FileTrace, call: &FileCall, now: Ns) -> Result<(), i32> {
        let number = self.find(trace, call.path)?;
        let (from, to) = (self.place(trace, call.path)?, self.place(trace, call.second)?);
        self.unname(to.0, to.1, now);
        self.name(to.0, to.1, number, now);
        self.inodes[number as usize].held += 1;
        self.unname(from.0, from.1, now);
        Ok(())
    }

    fn removed(&mut self, trace: &FileTrace, call: &FileCall, now: Ns) -> Result<(), i32> {
        let number = self.find(trace, call.path)?;
        let is_directory = matches!(self.inodes[number as usize].kind, Kind::Directory(..));
        match (call.kind == CallKind::Rmdir, is_directory) {
            (true, false) => return Err(ENOTDIR),
            (false, true) => return Err(EISDIR),
            (true, true) if !self.names(number)?.is_empty() => return Err(ENOTEMPTY),
            _ => {}
        }
        let (directory, name) = self.place(trace, call.path)?;
        self.unname(directory, name, now);
        Ok(())
    }

    fn handle(&self, call: &FileCall) -> Result<u32, i32> {
        self.open.get(&call.handle).copied().ok_or(EBADF)
    }

    /// A call that is made at `at`: when the device has done what it waits for, and the bytes that it moved.
    pub fn call(&mut self, m: &mut Machine, trace: &FileTrace, call: &FileCall, at: Ns) -> Result<(u32, Ns), i32> {
        self.blocks.until(m, at);
        let mut end = at;
        match call.kind {
            CallKind::Open => end = self.opened(m, trace, call, at)?,
            CallKind::Close => {
                let number = self.open.remove(&call.handle).ok_or(EBADF)?;
                let inode = &mut self.inodes[number as usize];
                if inode.held > 1 {
                    inode.held -= 1;
                } else {
                    self.let_go(number, at);
                }
            }
            CallKind::Read => {
                let (bytes, end) = self.read(m, self.handle(call)?, call.offset, call.bytes, at);
                return Ok((bytes as u32, end));
            }
            CallKind::Write => {
                self.write(self.handle(call)?, call.offset, call.bytes, at);
                return Ok((call.bytes as u32, at));
            }
            CallKind::Fsync | CallKind::Fdatasync => end = self.fsync(m, self.handle(call)?, at),
            CallKind::SyncRange => {
                let writes = call.flags & WRITE_OUT != 0 && self.write_dirty(self.handle(call)?, at);
                match call.flags & !WRITE_OUT {
                    0 if writes => self.blocks.until(m, at),
                    0 => {}
                    _ => end = self.blocks.write_out(m, at),
                }
            }
            CallKind::SyncFs => end = self.sync(m, at),
            CallKind::Truncate if call.handle == NO_NUMBER => {
                let number = self.find(trace, call.path)?;
                self.set_length(number, call.offset, at);
            }
            CallKind::Truncate => self.set_length(self.handle(call)?, call.offset, at),
            CallKind::Allocate => self.grow(self.handle(call)?, call.offset + call.bytes, at),
            CallKind::Stat | CallKind::List => {
                let number = self.find(trace, call.path)?;
                end = self.blocks.need(m, Blocks::inode_block(number), at);
            }
            CallKind::Rename => self.renamed(trace, call, at)?,
            CallKind::Link => {
                let number = self.find(trace, call.path)?;
                let (directory, name) = self.place(trace, call.second)?;
                self.inodes[number as usize].held += 1;
                self.changed(number, at);
                self.name(directory, name, number, at);
            }
            CallKind::Symlink => _ = self.add(trace, call.path, Kind::Link, at)?,
            CallKind::Mkdir => _ = self.add(trace, call.path, Kind::Directory(HashMap::new(), 0), at)?,
            CallKind::Unlink | CallKind::Rmdir => self.removed(trace, call, at)?,
            CallKind::Chmod | CallKind::Chown | CallKind::Utimes => {
                let number = self.find(trace, call.path)?;
                self.changed(number, at);
            }
        }
        Ok((0, end))
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
