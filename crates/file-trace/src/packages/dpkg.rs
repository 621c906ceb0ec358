//! What apt and dpkg do to files while they install and remove packages.
//!
//! The order of calls, the lengths of writes and what is synced are those of dpkg 1.21.22, recorded by strace while it installed,
//! configured and removed packages in a root of its own (`dpkg --root`), without scripts of packages. Names that dpkg tries in vain are
//! looked up, as it does. `tests/root/packages.sh` compares with a dpkg that is recorded there and then.

mod installing;

use super::tree::{BASE, LANGUAGES, language, name_of};
use crate::recording::calls::{CallTime, OpenFile, Recording};
use model::{CallFlag, CallKind, FileTrace, Ns};
use std::collections::HashMap;

/// dpkg gathers what changed in so many files before it writes its whole list anew (MAXUPDATES in its lib/dpkg/dbmodify.c).
const MAX_UPDATES: usize = 250;
/// What such a file is filled with before, so that there is room for what is to be said.
const PADDING: [u64; 2] = [4096, 512];
/// Pieces in which its whole list is written.
const STATUS_PIECE: u64 = 8192;
/// What is said of a package in dpkg's list, and of a change in its log.
const PARAGRAPH: u64 = 950;
const LOGGED: u64 = 80;
/// Packages that are there before, and bytes of the list of files of each.
const BASE_PACKAGES: usize = 290;
const BASE_LIST: u64 = 4000;
const NEW: u16 = CallFlag::WRITE | CallFlag::CREATE | CallFlag::EXCLUSIVE;
const ANEW: u16 = CallFlag::WRITE | CallFlag::CREATE | CallFlag::TRUNCATE;
const DIRECTORY: u16 = CallFlag::READ | CallFlag::DIRECTORY;

/// Files that dpkg keeps its knowledge in.
#[derive(Clone, Copy, Debug, Default)]
struct Database {
    top: u32,
    info: u32,
    updates: u32,
    triggers: u32,
    gathering: u32,
    unpacked: u32,
    archives: u32,
    log: u32,
}

/// A dpkg that is at work.
struct Running {
    gathering: OpenFile,
    log: OpenFile,
    updates: usize,
}

/// Builds the calls.
pub(super) struct Dpkg {
    recording: Recording,
    now: Ns,
    /// Whether what is unpacked is made to last before it gets its name; with force-unsafe-io it is not.
    syncs: bool,
    at: Database,
    /// How many packages have each directory.
    owners: HashMap<u32, usize>,
    installed: usize,
    logged: u64,
}

impl Dpkg {
    pub fn new(syncs: bool) -> Self {
        let mut new = Self {
            recording: Recording::new(),
            now: 0,
            syncs,
            at: Database::default(),
            owners: HashMap::new(),
            installed: 0,
            logged: 0,
        };
        let top = new.path("var/lib/dpkg");
        new.at = Database {
            top,
            info: new.below(top, "info"),
            updates: new.path("var/lib/dpkg/updates"),
            triggers: new.path("var/lib/dpkg/triggers"),
            gathering: new.path("var/lib/dpkg/updates/tmp.i"),
            unpacked: new.below(top, "tmp.ci"),
            archives: new.path("var/cache/apt/archives"),
            log: new.path("var/log/dpkg.log"),
        };
        // What a system has.
        for path in BASE {
            let path = new.path(path);
            new.recording.there_before(path, None);
        }
        for number in 0..LANGUAGES {
            let path = new.path(&format!("{}/LC_MESSAGES", language(number)));
            new.recording.there_before(path, None);
        }
        for number in 0..BASE_PACKAGES {
            let list = new.below(new.at.info, &format!("system-package-{number:03}.list"));
            new.recording.there_before(list, Some(BASE_LIST));
        }
        let status = new.below(top, "status");
        new.recording.there_before(status, Some(new.status_bytes()));
        for directory in [new.at.updates, new.at.triggers, new.at.archives] {
            new.recording.there_before(directory, None);
        }
        new
    }

    /// The calls so far, and what is there at most; those that come are counted from 0 again.
    pub fn take(&mut self) -> (FileTrace, [u64; 2]) {
        self.now = 0;
        self.recording.take()
    }

    fn path(&mut self, path: &str) -> u32 {
        self.recording.path(path.split('/'))
    }

    fn below(&mut self, above: u32, name: &str) -> u32 {
        self.recording.path_below(above, name)
    }

    fn when(&self) -> CallTime {
        CallTime { thread: 0, start_ns: self.now, end_ns: self.now }
    }

    fn think(&mut self, ns: Ns) {
        self.now += ns;
    }

    fn status_bytes(&self) -> u64 {
        (BASE_PACKAGES + self.installed) as u64 * PARAGRAPH
    }

    fn look(&mut self, path: u32, is_there: bool) {
        self.recording.look(self.when(), path, is_there);
    }

    fn open(&mut self, path: u32, flags: u16) -> OpenFile {
        self.recording.open(self.when(), path, flags)
    }

    fn on(&mut self, opened: &OpenFile, kind: CallKind, flags: u16) {
        self.recording.by_handle(self.when(), kind, opened, 0, 0, flags);
    }

    fn close(&mut self, opened: &OpenFile) {
        self.on(opened, CallKind::Close, 0);
    }

    fn set(&mut self, kind: CallKind, path: u32) {
        self.recording.set(self.when(), kind, path);
    }

    /// Bytes from a place on, in pieces.
    fn transfer(&mut self, writes: bool, opened: &OpenFile, from: u64, bytes: u64, piece: u64) {
        for at in (from..from + bytes).step_by(piece as usize) {
            let length = piece.min(from + bytes - at);
            self.recording.transfer(self.when(), writes, opened, at, length);
        }
    }

    fn rename(&mut self, from: u32, to: u32) {
        self.recording.rename(self.when(), from, to);
    }

    fn unlink(&mut self, path: u32) {
        self.recording.remove(self.when(), path, false);
    }

    fn sync_directory(&mut self, path: u32) {
        let opened = self.open(path, DIRECTORY);
        self.on(&opened, CallKind::Fsync, 0);
        self.close(&opened);
    }

    fn list(&mut self, path: u32) {
        let opened = self.open(path, DIRECTORY);
        self.recording.list(self.when(), path);
        self.close(&opened);
    }

    /// All of a file that is there.
    fn read(&mut self, path: u32, bytes: u64, piece: u64) {
        let opened = self.open(path, CallFlag::READ);
        self.transfer(false, &opened, 0, bytes, piece);
        self.close(&opened);
    }

    /// A file under a name for a while, made to last, and then under its own.
    fn replace(&mut self, directory: u32, name: &str, bytes: u64, piece: u64) {
        let new = self.below(directory, &format!("{name}-new"));
        let own = self.below(directory, name);
        let opened = self.open(new, ANEW);
        self.set(CallKind::Chmod, new);
        self.transfer(true, &opened, 0, bytes, piece);
        self.on(&opened, CallKind::Fsync, 0);
        self.close(&opened);
        if name == "status" {
            let old = self.below(directory, "status-old");
            match self.recording.is_there(old) {
                true => self.unlink(old),
                false => self.look(old, false),
            }
            self.recording.link(self.when(), own, old);
        }
        self.rename(new, own);
        self.sync_directory(directory);
    }

    /// dpkg starts: it reads what it knows, and writes it anew.
    fn start(&mut self) -> Running {
        for name in ["lock-frontend", "lock"] {
            let lock = self.below(self.at.top, name);
            let opened = self.open(lock, ANEW);
            self.close(&opened);
        }
        let status = self.below(self.at.top, "status");
        self.read(status, self.status_bytes(), self.status_bytes());
        self.list(self.at.updates);
        let log = self.open(self.at.log, CallFlag::WRITE | CallFlag::CREATE);
        let running = Running { gathering: self.gathering(), log, updates: 0 };
        self.replace(self.at.top, "status", self.status_bytes(), STATUS_PIECE);
        self.logged += 1;
        self.sync_directory(self.at.updates);
        let waiting = self.below(self.at.triggers, "Unincorp.new");
        let opened = self.open(waiting, ANEW);
        self.close(&opened);
        let own = self.below(self.at.triggers, "Unincorp");
        self.rename(waiting, own);
        self.sync_directory(self.at.triggers);
        running
    }

    /// Which files each package has that is there.
    fn read_lists(&mut self, installed: &[(usize, u64)]) {
        for number in 0..BASE_PACKAGES {
            let list = self.below(self.at.info, &format!("system-package-{number:03}.list"));
            self.read(list, BASE_LIST, BASE_LIST);
        }
        for (index, bytes) in installed {
            let list = self.below(self.at.info, &format!("{}.list", name_of(*index)));
            self.read(list, *bytes, *bytes);
        }
    }

    fn gathering(&mut self) -> OpenFile {
        let opened = self.open(self.at.gathering, ANEW);
        self.transfer(true, &opened, 0, PADDING[0], PADDING[0]);
        self.transfer(true, &opened, PADDING[0], PADDING[1], PADDING[1]);
        opened
    }

    /// The whole list anew, and what was gathered beside it is no longer needed.
    fn checkpoint(&mut self, running: &mut Running) {
        self.replace(self.at.top, "status", self.status_bytes(), STATUS_PIECE);
        for number in 0..std::mem::take(&mut running.updates) {
            let update = self.below(self.at.updates, &format!("{number:04}"));
            self.unlink(update);
        }
        self.sync_directory(self.at.updates);
    }

    fn end(&mut self, mut running: Running) {
        self.checkpoint(&mut running);
        self.close(&running.gathering);
        self.unlink(self.at.gathering);
        self.close(&running.log);
    }

    /// A package changes its state: what is said of it is made to last.
    fn note(&mut self, running: &mut Running, bytes: u64) {
        let gathering = running.gathering;
        self.transfer(true, &gathering, 0, bytes, bytes);
        self.recording.by_handle(self.when(), CallKind::Truncate, &gathering, bytes, 0, 0);
        self.on(&gathering, CallKind::Fsync, 0);
        self.close(&gathering);
        let update = self.below(self.at.updates, &format!("{:04}", running.updates));
        self.rename(self.at.gathering, update);
        self.sync_directory(self.at.updates);
        running.updates += 1;
        let log = running.log;
        self.transfer(true, &log, self.logged * LOGGED, LOGGED, LOGGED);
        self.logged += 1;
        if running.updates > MAX_UPDATES {
            self.checkpoint(running);
        }
        running.gathering = self.gathering();
    }
}
