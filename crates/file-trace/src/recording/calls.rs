//! What calls on files add up to: what was there before them, what is there at most, and the calls themselves.

use super::order::in_start_order;
use hashbrown::HashTable;
use model::{Before, CallFlag, CallKind, FileCall, FileTrace, MAX_CALL_BYTES, NO_NUMBER, Ns, PathNode};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

/// Calls at most: four to eight bytes of memory each.
pub(crate) const MAX_CALLS: usize = 4 << 20;
/// Directories above a path at most; those that are made are removed again level by level.
pub(crate) const MAX_LEVELS: usize = 30;
/// What a small file or a directory takes at least.
const UNIT_BYTES: u64 = 4096;

/// When a call was made, and by whom.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallTime {
    pub thread: u16,
    pub start_ns: Ns,
    pub end_ns: Ns,
}

/// What stands under a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PathState {
    #[default]
    Unknown,
    Nothing,
    Directory,
    Link,
    /// A file, by its number.
    File(u32),
}

/// A file, under whatever name.
#[derive(Clone, Copy, Debug)]
struct Content {
    bytes: u64,
    names: u32,
    /// Its place among what was there before, or [`NO_NUMBER`].
    before: u32,
}

/// A file that is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenFile {
    pub handle: u32,
    pub path: u32,
    file: Option<u32>,
}

/// Numbers of things that are kept elsewhere, in the order in which they came.
#[derive(Debug, Default)]
struct Numbers {
    table: HashTable<u32>,
    state: RandomState,
}

impl Numbers {
    /// The number of one; of a new one the next. `known` says which one has a number.
    fn of<K: Hash + Eq>(&mut self, key: K, known: impl Fn(u32) -> K) -> u32 {
        let next = self.table.len() as u32;
        let state = &self.state;
        let is_it = |number: &u32| known(*number) == key;
        *self.table.entry(state.hash_one(&key), is_it, |number| state.hash_one(known(*number))).or_insert(next).get()
    }
}

/// Builds a trace.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    trace: FileTrace,
    names: Numbers,
    /// The names, one behind the other, and where each ends.
    text: String,
    ends: Vec<u32>,
    paths: Numbers,
    there: Vec<PathState>,
    /// Whether anything lies below.
    has_below: Vec<bool>,
    files: Vec<Content>,
    before: HashMap<u32, usize>,
    /// Directories that have been renamed: where they were before.
    moved: HashMap<u32, u32>,
    /// When the last call of each thread ended.
    ended: Vec<Option<Ns>>,
    /// Entries and bytes now, and at most.
    now: [u64; 2],
    most: [u64; 2],
}

impl Recording {
    pub fn new() -> Self {
        let mut new = Self::default();
        new.path_below(0, "");
        new.there[0] = PathState::Directory;
        new
    }

    /// The number of a name below a path.
    pub fn path_below(&mut self, parent: u32, name: &str) -> u32 {
        let (text, ends) = (&self.text, &self.ends);
        let known = |number: u32| {
            let start = number.checked_sub(1).map_or(0, |before| ends[before as usize]);
            &text[start as usize..ends[number as usize] as usize]
        };
        let number = self.names.of(name, known);
        if number as usize == self.ends.len() {
            self.text.push_str(name);
            self.ends.push(self.text.len() as u32);
            self.trace.names.push(name.len().min(255) as u8);
        }
        self.node(PathNode { parent, name: number })
    }

    /// The number of a path.
    fn node(&mut self, node: PathNode) -> u32 {
        let paths = &self.trace.paths;
        let number = self.paths.of(node, |number| paths[number as usize]);
        if number as usize == paths.len() {
            self.add_path(node);
        }
        number
    }

    fn add_path(&mut self, node: PathNode) {
        self.trace.paths.push(node);
        self.there.push(PathState::Unknown);
        self.has_below.push(false);
        self.has_below[node.parent as usize] = true;
    }

    /// The number of a path, by its names.
    pub fn path<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> u32 {
        names.into_iter().fold(0, |above, name| self.path_below(above, name))
    }

    pub fn is_full(&self) -> bool {
        self.trace.calls.len() >= MAX_CALLS
    }

    pub fn calls(&self) -> usize {
        self.trace.calls.len()
    }

    fn push(&mut self, when: CallTime, call: FileCall) {
        let thread = usize::from(when.thread);
        if self.ended.len() <= thread {
            self.ended.resize(thread + 1, None);
        }
        // Of the first call of a thread nothing is known that it waited for.
        let pause_ns = self.ended[thread].map_or(0, |ended| when.start_ns.saturating_sub(ended));
        self.ended[thread] = Some(when.end_ns.max(when.start_ns));
        self.trace.calls.push(FileCall { thread: when.thread, at_ns: when.start_ns, pause_ns, ..call });
    }

    fn named(&mut self, when: CallTime, kind: CallKind, path: u32, second: u32, flags: u16) {
        let call = FileCall { kind, path, second, flags, handle: NO_NUMBER, ..FileCall::default() };
        self.push(when, call);
    }

    fn add(&mut self, entries: i64, bytes: i64) {
        for (now, (more, most)) in self.now.iter_mut().zip([entries, bytes].into_iter().zip(&mut self.most)) {
            *now = now.saturating_add_signed(more);
            *most = (*most).max(*now);
        }
    }

    fn new_file(&mut self, bytes: u64, before: u32) -> u32 {
        self.files.push(Content { bytes, names: 1, before });
        self.add(1, bytes.next_multiple_of(UNIT_BYTES) as i64);
        self.files.len() as u32 - 1
    }

    fn grown(&mut self, file: u32, bytes: u64) {
        let content = &mut self.files[file as usize];
        let old = content.bytes.next_multiple_of(UNIT_BYTES);
        content.bytes = bytes;
        let new = bytes.next_multiple_of(UNIT_BYTES);
        let is_there = content.names > 0;
        if is_there {
            self.add(0, new as i64 - old as i64);
        }
    }

    /// Where a path that nothing is known of was before its directories were renamed.
    fn origin(&mut self, path: u32) -> u32 {
        let mut names = Vec::new();
        let mut above = path;
        while above != 0 {
            if let Some(from) = self.moved.get(&above).copied() {
                let mut path = self.origin(from);
                for name in names.into_iter().rev() {
                    path = self.node(PathNode { parent: path, name });
                }
                return path;
            }
            let node = self.trace.paths[above as usize];
            names.push(node.name);
            above = node.parent;
        }
        path
    }

    /// It was there before, as a directory or a file, if nothing else is known of it.
    fn note_existing(&mut self, path: u32, is_directory: bool) {
        let parent = self.trace.paths[path as usize].parent;
        if path != 0 {
            self.note_existing(parent, true);
        }
        match self.there[path as usize] {
            PathState::Unknown => {
                let origin = self.origin(path);
                let place = *self.before.entry(origin).or_insert(self.trace.before.len());
                if place == self.trace.before.len() {
                    let bytes = (!is_directory).then_some(0);
                    self.trace.before.push(Before { path: origin, bytes });
                }
                self.there[path as usize] = if is_directory {
                    self.add(1, UNIT_BYTES as i64);
                    PathState::Directory
                } else {
                    PathState::File(self.new_file(0, place as u32))
                };
            }
            // What was opened as if it were a file.
            PathState::File(file) if is_directory => {
                let place = self.files[file as usize].before as usize;
                if let Some(before) = self.trace.before.get_mut(place) {
                    before.bytes = None;
                    self.there[path as usize] = PathState::Directory;
                }
            }
            _ => {}
        }
    }

    /// Something is about to be made there.
    fn note_created(&mut self, path: u32, what: PathState) {
        let parent = self.trace.paths[path as usize].parent;
        self.note_existing(parent, true);
        self.note_removed(path);
        self.there[path as usize] = what;
    }

    /// The name is no more.
    fn note_removed(&mut self, path: u32) {
        match std::mem::replace(&mut self.there[path as usize], PathState::Nothing) {
            PathState::File(file) => {
                let content = &mut self.files[file as usize];
                content.names = content.names.saturating_sub(1);
                if content.names == 0 {
                    let bytes = content.bytes.next_multiple_of(UNIT_BYTES);
                    self.add(-1, -(bytes as i64));
                }
            }
            PathState::Directory => self.add(-1, -(UNIT_BYTES as i64)),
            PathState::Link => self.add(-1, 0),
            PathState::Unknown | PathState::Nothing => {}
        }
    }

    pub fn open(&mut self, when: CallTime, path: u32, flags: u16) -> OpenFile {
        let has = |flag: u16| flags & flag != 0;
        let new = has(CallFlag::CREATE)
            && (has(CallFlag::EXCLUSIVE)
                || match self.there[path as usize] {
                    PathState::Unknown => has(CallFlag::TRUNCATE),
                    PathState::Nothing => true,
                    _ => false,
                });
        if new {
            self.note_created(path, PathState::Nothing);
            self.there[path as usize] = PathState::File(self.new_file(0, NO_NUMBER));
        } else {
            self.note_existing(path, has(CallFlag::DIRECTORY));
        }
        let file = if let PathState::File(file) = self.there[path as usize] { Some(file) } else { None };
        if let Some(file) = file.filter(|_| has(CallFlag::TRUNCATE)) {
            self.grown(file, 0);
        }
        let handle = self.trace.handles;
        self.trace.handles += 1;
        let call = FileCall { kind: CallKind::Open, path, handle, flags, second: NO_NUMBER, ..FileCall::default() };
        self.push(when, call);
        OpenFile { handle, path, file }
    }

    /// A call by a descriptor that moves no data.
    pub fn by_handle(
        &mut self,
        when: CallTime,
        kind: CallKind,
        opened: &OpenFile,
        offset: u64,
        bytes: u64,
        flags: u16,
    ) {
        let &OpenFile { handle, path, .. } = opened;
        match (kind, opened.file) {
            (CallKind::Truncate, Some(file)) => self.grown(file, offset),
            (CallKind::Allocate, Some(file)) => {
                let end = offset.saturating_add(bytes).max(self.files[file as usize].bytes);
                self.grown(file, end);
            }
            _ => {}
        }
        self.push(
            when,
            FileCall { kind, path, handle, offset, bytes, flags, second: NO_NUMBER, ..FileCall::default() },
        );
    }

    /// A read or a write, in pieces where it is long.
    pub fn transfer(&mut self, when: CallTime, writes: bool, opened: &OpenFile, offset: u64, bytes: u64) {
        let end = offset.saturating_add(bytes);
        if let Some(file) = opened.file {
            let content = self.files[file as usize];
            if end > content.bytes {
                if let Some(before) = self.trace.before.get_mut(content.before as usize).filter(|_| !writes) {
                    before.bytes = Some(end.max(before.bytes.unwrap_or(0)));
                }
                self.grown(file, end);
            }
        }
        let kind = if writes { CallKind::Write } else { CallKind::Read };
        let mut at = offset;
        while at < end && !self.is_full() {
            let bytes = (end - at).min(MAX_CALL_BYTES);
            let &OpenFile { handle, path, .. } = opened;
            let call = FileCall { kind, path, handle, offset: at, bytes, second: NO_NUMBER, ..FileCall::default() };
            self.push(when, call);
            at += bytes;
        }
    }

    /// How long a file is that is open.
    pub fn length(&self, opened: &OpenFile) -> u64 {
        opened.file.map_or(0, |file| self.files[file as usize].bytes)
    }

    /// A name is looked up, of a file or directory that is there, or of none.
    pub fn look(&mut self, when: CallTime, path: u32, is_there: bool) {
        if is_there && self.there[path as usize] == PathState::Unknown {
            self.note_existing(path, false);
        }
        let flags = if is_there { 0 } else { CallFlag::MAY_FAIL };
        self.named(when, CallKind::Stat, path, NO_NUMBER, flags);
    }

    /// All names of a directory are read.
    pub fn list(&mut self, when: CallTime, path: u32) {
        self.note_existing(path, true);
        self.named(when, CallKind::List, path, NO_NUMBER, 0);
    }

    /// Attributes are set.
    pub fn set(&mut self, when: CallTime, kind: CallKind, path: u32) {
        self.note_existing(path, false);
        match self.there[path as usize] {
            // Where it leads nothing is.
            PathState::Link if kind == CallKind::Chmod => {}
            PathState::Directory => self.named(when, kind, path, NO_NUMBER, CallFlag::DIRECTORY),
            _ => self.named(when, kind, path, NO_NUMBER, 0),
        }
    }

    pub fn truncate(&mut self, when: CallTime, path: u32, bytes: u64) {
        self.note_existing(path, false);
        if let PathState::File(file) = self.there[path as usize] {
            self.grown(file, bytes);
        }
        let call = FileCall {
            kind: CallKind::Truncate,
            path,
            handle: NO_NUMBER,
            second: NO_NUMBER,
            offset: bytes,
            ..FileCall::default()
        };
        self.push(when, call);
    }

    pub fn mkdir(&mut self, when: CallTime, path: u32) {
        self.note_created(path, PathState::Directory);
        self.add(1, UNIT_BYTES as i64);
        self.named(when, CallKind::Mkdir, path, NO_NUMBER, 0);
    }

    pub fn remove(&mut self, when: CallTime, path: u32, is_directory: bool) {
        self.note_existing(path, is_directory);
        self.note_removed(path);
        let kind = if is_directory { CallKind::Rmdir } else { CallKind::Unlink };
        self.named(when, kind, path, NO_NUMBER, 0);
    }

    pub fn symlink(&mut self, when: CallTime, path: u32) {
        self.note_created(path, PathState::Link);
        self.add(1, 0);
        self.named(when, CallKind::Symlink, path, NO_NUMBER, 0);
    }

    pub fn link(&mut self, when: CallTime, from: u32, to: u32) {
        self.note_existing(from, false);
        let what = self.there[from as usize];
        self.note_created(to, what);
        match what {
            PathState::File(file) => self.files[file as usize].names += 1,
            _ => self.add(1, 0),
        }
        self.named(when, CallKind::Link, from, to, 0);
    }

    pub fn rename(&mut self, when: CallTime, from: u32, to: u32) {
        self.note_existing(from, false);
        let what = self.there[from as usize];
        if from != to {
            // A directory that is replaced is empty, a file is let go.
            self.note_created(to, PathState::Nothing);
            self.there[to as usize] = what;
            self.there[from as usize] = PathState::Nothing;
            if what == PathState::Directory {
                self.move_below(from, to);
                self.moved.insert(to, from);
            }
        }
        self.named(when, CallKind::Rename, from, to, 0);
    }

    /// What is known of what lies below a directory that is renamed.
    fn move_below(&mut self, from: u32, to: u32) {
        if !self.has_below[from as usize] {
            return;
        }
        // Paths come behind those above them: one pass finds all.
        let mut at: HashMap<u32, u32> = HashMap::from([(from, to)]);
        for path in from as usize + 1..self.trace.paths.len() {
            let node = self.trace.paths[path];
            let Some(parent) = at.get(&node.parent).copied() else { continue };
            let new = self.node(PathNode { parent, name: node.name });
            at.insert(path as u32, new);
            let known = self.there[path];
            if known != PathState::Unknown {
                self.there[new as usize] = known;
                self.there[path] = PathState::Nothing;
            }
        }
    }

    /// A directory, or a file of so many bytes, is there before the first call.
    pub fn there_before(&mut self, path: u32, bytes: Option<u64>) {
        self.note_existing(path, bytes.is_none());
        if let (PathState::File(file), Some(bytes)) = (self.there[path as usize], bytes) {
            if let Some(before) = self.trace.before.get_mut(self.files[file as usize].before as usize) {
                before.bytes = Some(bytes);
            }
            self.grown(file, bytes);
        }
    }

    /// Whether something is known to be there.
    pub fn is_there(&self, path: u32) -> bool {
        !matches!(self.there[path as usize], PathState::Unknown | PathState::Nothing)
    }

    /// The calls so far as a trace, from the first one on, with its threads numbered from 0; and what is there at most. Those that come
    /// after them are another one, which finds what this one leaves.
    pub fn take(&mut self) -> (FileTrace, [u64; 2]) {
        self.files.iter_mut().for_each(|file| file.before = NO_NUMBER);
        self.before.clear();
        self.ended.clear();
        let trace =
            FileTrace { paths: self.trace.paths.clone(), names: self.trace.names.clone(), ..FileTrace::default() };
        (in_start_order(std::mem::replace(&mut self.trace, trace)), std::mem::replace(&mut self.most, self.now))
    }

    /// The trace, and what is there at most.
    pub fn done(self) -> (FileTrace, [u64; 2]) {
        (in_start_order(self.trace), self.most)
    }
}
