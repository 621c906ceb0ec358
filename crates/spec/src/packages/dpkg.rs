//! What apt and dpkg do to files while they install and remove packages.
//!
//! The order of calls, the lengths of writes and what is synced are those of dpkg 1.21.22, recorded by strace while it installed,
//! configured and removed packages in a root of its own (`dpkg --root`), without scripts of packages. Names that dpkg tries in vain are
//! looked up, as it does. `tests/root/packages.sh` compares with a dpkg that is recorded there and then.

use super::set::Package;
use super::think;
use super::tree::{BASE, LANGUAGES, PackageEntry, entries, language, name_of};
use crate::file_trace::recording::{Opened, Recording, When};
use model::{CallFlag, CallKind, FileTrace, Ns};
use std::collections::HashMap;

/// dpkg gathers what changed in so many files before it writes its whole list anew (MAXUPDATES in its lib/dpkg/dbmodify.c).
const MOST_UPDATES: usize = 250;
/// What such a file is filled with before, so that there is room for what is to be said.
const PADDING: [u64; 2] = [4096, 512];
/// Pieces in which files of packages and archives, dpkg's whole list, a package's own files, lists of files and downloads are moved.
const DATA_PIECE: u64 = 32_768;
const STATUS_PIECE: u64 = 8192;
const CONTROL_PIECE: u64 = 8192;
const LIST_PIECE: u64 = 4096;
const DOWNLOAD_PIECE: u64 = 65_536;
/// What is said of a package in dpkg's list, and of a change in its log.
const PARAGRAPH: u64 = 950;
const LOGGED: u64 = 80;
/// Packages that are there before, and bytes of the list of files of each.
const BASE_PACKAGES: usize = 290;
const BASE_LIST: u64 = 4000;
/// Bits of sync_file_range(2).
const WAIT_BEFORE: u16 = 1;
const WRITE_OUT: u16 = 2;
const NEW: u16 = CallFlag::WRITE | CallFlag::CREATE | CallFlag::EXCLUSIVE;
const ANEW: u16 = CallFlag::WRITE | CallFlag::CREATE | CallFlag::TRUNCATE;
const DIRECTORY: u16 = CallFlag::READ | CallFlag::DIRECTORY;

/// What a package's own files are called; the first one is not kept.
const CONTROL: [&str; 5] = ["control", "md5sums", "triggers", "shlibs", "symbols"];

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
    gathering: Opened,
    log: Opened,
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

    /// The calls so far, and what is there at most.
    pub fn take(&mut self) -> (FileTrace, [u64; 2]) {
        self.recording.take()
    }

    fn path(&mut self, path: &str) -> u32 {
        self.recording.path(path.split('/'))
    }

    fn below(&mut self, above: u32, name: &str) -> u32 {
        self.recording.path_below(above, name)
    }

    fn when(&self) -> When {
        When { thread: 0, start_ns: self.now, end_ns: self.now }
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

    fn open(&mut self, path: u32, flags: u16) -> Opened {
        self.recording.open(self.when(), path, flags)
    }

    fn on(&mut self, opened: &Opened, kind: CallKind, flags: u16) {
        self.recording.by_handle(self.when(), kind, opened, 0, 0, flags);
    }

    fn close(&mut self, opened: &Opened) {
        self.on(opened, CallKind::Close, 0);
    }

    fn set(&mut self, kind: CallKind, path: u32) {
        self.recording.set(self.when(), kind, path);
    }

    /// Bytes from a place on, in pieces.
    fn transfer(&mut self, writes: bool, opened: &Opened, from: u64, bytes: u64, piece: u64) {
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
        let (new, own) = (self.below(directory, &format!("{name}-new")), self.below(directory, name));
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

    fn gathering(&mut self) -> Opened {
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
        if running.updates > MOST_UPDATES {
            self.checkpoint(running);
        }
        running.gathering = self.gathering();
    }

    /// Archives come from the network, one after the other.
    pub fn download(&mut self, packages: &[(usize, &Package)]) {
        let partial = self.below(self.at.archives, "partial");
        self.recording.there_before(partial, None);
        for (index, package) in packages {
            let name = format!("{}.deb", name_of(*index));
            let (part, whole) = (self.below(partial, &name), self.below(self.at.archives, &name));
            let opened = self.open(part, ANEW);
            for at in (0..package.archive).step_by(DOWNLOAD_PIECE as usize) {
                let length = DOWNLOAD_PIECE.min(package.archive - at);
                self.think(length * think::DOWNLOAD_NS_PER_KIB >> 10);
                self.transfer(true, &opened, at, length, length);
            }
            self.close(&opened);
            self.set(CallKind::Utimes, part);
            self.rename(part, whole);
        }
    }

    /// apt hands packages to dpkg: all are unpacked, then all are configured.
    pub fn install(&mut self, packages: &[(usize, &Package)], there: &[(usize, u64)]) {
        let mut running = self.start();
        self.read_lists(there);
        for (index, package) in packages {
            self.unpack(&mut running, *index, package);
        }
        self.installed += packages.len();
        self.end(running);
        let mut running = self.start();
        for (index, _) in packages {
            self.think(think::CONFIGURE_NS);
            let name = name_of(*index);
            for ending in ["postinst", "triggers"] {
                let path = self.below(self.at.info, &format!("{name}.{ending}"));
                self.look(path, false);
            }
            (0..3).for_each(|_| self.note(&mut running, PARAGRAPH - 200));
        }
        self.end(running);
    }

    fn unpack(&mut self, running: &mut Running, index: usize, package: &Package) {
        self.think(think::UNPACK_NS);
        let name = name_of(index);
        let archive = self.below(self.at.archives, &format!("{name}.deb"));
        self.look(archive, true);
        let parts = self.below(self.at.top, "reassemble.deb");
        self.look(parts, false);
        self.look(self.at.unpacked, false);
        self.header(archive, &[8, 60], 0);
        self.own_files(archive, package);
        self.note(running, 154);
        let before = self.below(self.at.unpacked, "preinst");
        self.look(before, false);
        let list = entries(package, index);
        self.header(archive, &[8, 60, 4, 60, 60], package.archive);
        let links = self.unpack_entries(&list);
        self.name_them(&list, &links);
        let listed = list.iter().map(|(path, _)| path.len() as u64 + 2).sum();
        self.replace(self.at.info, &format!("{name}.list"), listed, LIST_PIECE);
        self.keep_own_files(&name, package);
        self.note(running, PARAGRAPH - 125);
        for (path, _) in &list {
            let old = self.path(&format!("{path}.dpkg-tmp"));
            self.look(old, false);
        }
        self.note(running, PARAGRAPH - 132);
        let control = self.below(self.at.unpacked, CONTROL[0]);
        self.list(self.at.unpacked);
        self.unlink(control);
        self.recording.remove(self.when(), self.at.unpacked, true);
    }

    /// What stands at the beginning of an archive, in small reads, and then the rest of so many bytes.
    fn header(&mut self, archive: u32, reads: &[u64], bytes: u64) {
        let opened = self.open(archive, CallFlag::READ);
        let mut at = 0;
        for length in reads {
            self.transfer(false, &opened, at, *length, *length);
            at += length;
        }
        self.transfer(false, &opened, at, bytes.saturating_sub(at), DATA_PIECE);
        self.close(&opened);
    }

    /// A package's own files, unpacked beside dpkg's and made to last.
    fn own_files(&mut self, archive: u32, package: &Package) {
        // Compressed as they are.
        let all = package.control.iter().sum::<u64>() / 4;
        self.header(archive, &[8, 60, 4, 60], all.min(package.archive));
        let unpacked = self.at.unpacked;
        self.recording.mkdir(self.when(), unpacked);
        let paths: Vec<u32> =
            CONTROL.iter().zip(&package.control).map(|(name, _)| self.below(unpacked, name)).collect();
        for (path, bytes) in paths.iter().zip(&package.control) {
            let opened = self.open(*path, NEW);
            self.transfer(true, &opened, 0, *bytes, CONTROL_PIECE);
            for kind in [CallKind::Utimes, CallKind::Chown, CallKind::Chmod] {
                self.set(kind, *path);
            }
            self.close(&opened);
        }
        self.set(CallKind::Utimes, unpacked);
        self.set(CallKind::Chown, unpacked);
        self.list(unpacked);
        for path in &paths {
            let opened = self.open(*path, CallFlag::WRITE);
            self.on(&opened, CallKind::Fsync, 0);
            self.close(&opened);
        }
        self.sync_directory(unpacked);
        self.read(paths[0], package.control[0], package.control[0]);
        for name in ["triggers", "conffiles"] {
            let path = self.below(unpacked, &format!("no-{name}"));
            self.look(path, false);
        }
    }

    /// They get their names among all others', but for the first one.
    fn keep_own_files(&mut self, name: &str, package: &Package) {
        self.list(self.at.info);
        self.list(self.at.unpacked);
        for control in CONTROL.iter().take(package.control.len()).skip(1) {
            let from = self.below(self.at.unpacked, control);
            let to = self.below(self.at.info, &format!("{name}.{control}"));
            self.rename(from, to);
        }
        self.sync_directory(self.at.info);
        let sums = self.below(self.at.info, &format!("{name}.md5sums"));
        self.look(sums, true);
    }

    /// Directories are there at once; files and links lie under names for a while.
    fn unpack_entries(&mut self, list: &[(String, PackageEntry)]) -> Vec<u32> {
        let mut new_paths = Vec::with_capacity(list.len());
        for (path, what) in list {
            let own = self.path(path);
            let [new, old] = ["dpkg-new", "dpkg-tmp"].map(|ending| self.path(&format!("{path}.{ending}")));
            new_paths.push(new);
            if *what == PackageEntry::Directory {
                let owners = self.owners.entry(own).or_insert_with(|| usize::from(self.recording.is_there(own)));
                *owners += 1;
                if *owners > 1 {
                    (0..2).for_each(|_| self.look(own, true));
                    continue;
                }
                [own, old, own, new, old].into_iter().for_each(|path| self.look(path, false));
                self.recording.mkdir(self.when(), new);
                [CallKind::Chown, CallKind::Chmod, CallKind::Utimes].into_iter().for_each(|kind| self.set(kind, new));
                self.rename(new, own);
                continue;
            }
            [own, old, new, old].into_iter().for_each(|path| self.look(path, false));
            let PackageEntry::File(bytes) = *what else {
                self.recording.symlink(self.when(), new);
                [CallKind::Chown, CallKind::Utimes].into_iter().for_each(|kind| self.set(kind, new));
                continue;
            };
            self.think(bytes * think::UNPACK_NS_PER_KIB >> 10);
            let opened = self.open(new, NEW);
            self.transfer(true, &opened, 0, bytes, DATA_PIECE);
            self.on(&opened, CallKind::SyncRange, WRITE_OUT);
            [CallKind::Chown, CallKind::Chmod].into_iter().for_each(|kind| self.set(kind, new));
            self.close(&opened);
            self.set(CallKind::Utimes, new);
        }
        new_paths
    }

    /// What was unpacked lasts, and gets its names.
    fn name_them(&mut self, list: &[(String, PackageEntry)], new_paths: &[u32]) {
        let files = || list.iter().zip(new_paths).filter(|((_, what), _)| matches!(what, PackageEntry::File(_)));
        if self.syncs {
            for (_, new) in files() {
                let opened = self.open(*new, CallFlag::WRITE);
                self.on(&opened, CallKind::SyncRange, WAIT_BEFORE);
                self.close(&opened);
            }
        }
        for ((path, what), new) in list.iter().zip(new_paths).filter(|((_, what), _)| *what != PackageEntry::Directory)
        {
            if self.syncs && *what != PackageEntry::Link {
                let opened = self.open(*new, CallFlag::WRITE);
                self.on(&opened, CallKind::Fsync, 0);
                self.close(&opened);
            }
            let own = self.path(path);
            self.rename(*new, own);
        }
    }

    /// Packages go, but for what dpkg remembers of them.
    pub fn remove(&mut self, packages: &[(usize, &Package)], there: &[(usize, u64)]) {
        let mut running = self.start();
        self.read_lists(there);
        for (index, package) in packages {
            self.remove_one(&mut running, *index, package);
        }
        self.installed -= packages.len();
        self.end(running);
    }

    fn remove_one(&mut self, running: &mut Running, index: usize, package: &Package) {
        self.think(think::REMOVE_NS);
        let name = name_of(index);
        let script = |dpkg: &mut Self, ending: &str| {
            let path = dpkg.below(dpkg.at.info, &format!("{name}.{ending}"));
            dpkg.look(path, false);
        };
        (0..2).for_each(|_| self.note(running, PARAGRAPH - 100));
        script(self, "prerm");
        self.note(running, PARAGRAPH - 105);
        for (path, what) in entries(package, index).iter().rev() {
            let own = self.path(path);
            self.look(own, true);
            if *what == PackageEntry::Directory {
                let owners = self.owners.entry(own).or_insert(1);
                *owners -= 1;
                if *owners > 0 {
                    continue;
                }
            }
            for ending in ["dpkg-tmp", "dpkg-new"] {
                let path = self.path(&format!("{path}.{ending}"));
                self.look(path, false);
            }
            if *what == PackageEntry::Directory {
                self.recording.remove(self.when(), own, true);
            } else {
                self.look(own, true);
                self.unlink(own);
            }
        }
        self.replace(self.at.info, &format!("{name}.list"), 0, LIST_PIECE);
        script(self, "postrm");
        script(self, "triggers");
        self.list(self.at.info);
        for control in CONTROL.iter().take(package.control.len()).skip(1) {
            let path = self.below(self.at.info, &format!("{name}.{control}"));
            self.unlink(path);
        }
        self.sync_directory(self.at.info);
        self.note(running, PARAGRAPH - 107);
        script(self, "postrm");
        self.note(running, PARAGRAPH - 130);
        self.replace(self.at.info, &format!("{name}.list"), 0, LIST_PIECE);
        self.note(running, PARAGRAPH - 132);
        script(self, "postrm");
        self.note(running, PARAGRAPH - 140);
    }
}
