//! Packages come, are unpacked, configured and removed.

use super::super::set::Package;
use super::super::think;
use super::super::tree::{entries, name_of};
use super::{ANEW, Dpkg, NEW, PARAGRAPH, Running};
use model::{CallFlag, CallKind, PackageEntry};

/// Pieces in which files of packages and archives, a package's own files, lists of files and downloads are moved.
const DATA_PIECE: u64 = 32_768;
const CONTROL_PIECE: u64 = 8192;
const LIST_PIECE: u64 = 4096;
const DOWNLOAD_PIECE: u64 = 65_536;
/// Bits of sync_file_range(2).
const WAIT_BEFORE: u16 = 1;
const WRITE_OUT: u16 = 2;
/// What a package's own files are called; the first one is not kept.
const CONTROL: [&str; 5] = ["control", "md5sums", "triggers", "shlibs", "symbols"];

impl Dpkg {
    /// Archives come from the network, one after the other.
    pub fn download(&mut self, packages: &[(usize, &Package)]) {
        let partial = self.below(self.at.archives, "partial");
        self.recording.there_before(partial, None);
        for (index, package) in packages {
            let name = format!("{}.deb", name_of(*index));
            let part = self.below(partial, &name);
            let whole = self.below(self.at.archives, &name);
            let opened = self.open(part, ANEW);
            for at in (0..package.archive).step_by(DOWNLOAD_PIECE as usize) {
                let length = DOWNLOAD_PIECE.min(package.archive - at);
                self.think(length * think::DOWNLOAD_NS_PER_KIB / 1024);
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
        self.rename_into_place(&list, &links);
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
            self.think(bytes * think::UNPACK_NS_PER_KIB / 1024);
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
    fn rename_into_place(&mut self, list: &[(String, PackageEntry)], new_paths: &[u32]) {
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
