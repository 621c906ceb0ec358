//! Calls that look at files and names, or change them.

use super::arguments::{number, quoted};
use super::calls::Recording;
use super::processes::{Call, Processes};
use model::CallKind;

impl Processes {
    /// Calls that change files or names.
    pub(super) fn take_on_files(&mut self, call: &Call<'_>, name: &str) -> Option<()> {
        let a = |index: usize| call.arguments.get(index).copied();
        let unsigned = |index: usize| a(index).and_then(number).and_then(|n| u64::try_from(n).ok());
        match name {
            "fsync" => self.by_handle(call, CallKind::Fsync, 0, 0, 0)?,
            "fdatasync" => self.by_handle(call, CallKind::Fdatasync, 0, 0, 0)?,
            "sync_file_range" => {
                let flags = a(3)?;
                let bit = |name: &str, bit: u16| if flags.contains(name) { bit } else { 0 };
                let bits = bit("WAIT_BEFORE", 1) | bit("RANGE_WRITE", 2) | bit("WAIT_AFTER", 4);
                self.by_handle(call, CallKind::SyncRange, unsigned(1)?, unsigned(2)?, bits)?;
            }
            "sync" => self.recording.set(call.when, CallKind::SyncFs, 0),
            "syncfs" => self.by_handle(call, CallKind::SyncFs, 0, 0, 0)?,
            "ftruncate" | "ftruncate64" => self.by_handle(call, CallKind::Truncate, unsigned(1)?, 0, 0)?,
            "truncate" | "truncate64" => {
                let bytes = unsigned(1)?;
                self.named(call, None, a(0)?, |r, when, path| r.truncate(when, path, bytes));
            }
            "fallocate" if a(1)? == "0" => {
                self.by_handle(call, CallKind::Allocate, unsigned(2)?, unsigned(3)?, 0)?;
            }
            "getdents" | "getdents64" => {
                let (description, opened) = self.of(call, a(0)?)?;
                if call.result > 0 && !std::mem::replace(&mut self.descriptions[description].listed, true) {
                    self.recording.list(call.when, opened.path);
                }
            }
            "rename" => self.two(call, (None, a(0)?), (None, a(1)?), true)?,
            "renameat" => self.two(call, (a(0), a(1)?), (a(2), a(3)?), true)?,
            "renameat2" if !a(4)?.contains("RENAME_EXCHANGE") => {
                self.two(call, (a(0), a(1)?), (a(2), a(3)?), true)?;
            }
            "link" => self.two(call, (None, a(0)?), (None, a(1)?), false)?,
            "linkat" => self.two(call, (a(0), a(1)?), (a(2), a(3)?), false)?,
            "symlink" => self.linked(call, a(0)?, None, a(1)?)?,
            "symlinkat" => self.linked(call, a(0)?, a(1), a(2)?)?,
            "unlink" => self.removed(call, None, a(0)?, false),
            "rmdir" => self.removed(call, None, a(0)?, true),
            "unlinkat" => self.removed(call, a(0), a(1)?, a(2)?.contains("AT_REMOVEDIR")),
            "mkdir" => self.named(call, None, a(0)?, Recording::mkdir),
            "mkdirat" => self.named(call, a(0), a(1)?, Recording::mkdir),
            "chmod" => self.named(call, None, a(0)?, |r, when, path| r.set(when, CallKind::Chmod, path)),
            "fchmodat" | "fchmodat2" => {
                self.named(call, a(0), a(1)?, |r, when, path| r.set(when, CallKind::Chmod, path));
            }
            "fchmod" => self.set_by_handle(call, CallKind::Chmod)?,
            "chown" | "lchown" | "chown32" | "lchown32" => {
                self.named(call, None, a(0)?, |r, when, path| r.set(when, CallKind::Chown, path));
            }
            "fchownat" => self.named(call, a(0), a(1)?, |r, when, path| r.set(when, CallKind::Chown, path)),
            "fchown" | "fchown32" => self.set_by_handle(call, CallKind::Chown)?,
            "utimensat" | "futimesat" | "utimensat_time64" if a(1)? != "NULL" => {
                self.named(call, a(0), a(1)?, |r, when, path| r.set(when, CallKind::Utimes, path));
            }
            "utimensat" | "futimesat" | "utimensat_time64" => self.set_by_handle(call, CallKind::Utimes)?,
            "utime" | "utimes" => {
                self.named(call, None, a(0)?, |r, when, path| r.set(when, CallKind::Utimes, path));
            }
            _ => self.not_recorded(call, name),
        }
        Some(())
    }

    /// What acts on files, and is not made again.
    fn not_recorded(&mut self, call: &Call<'_>, name: &str) {
        const OTHERS: [&str; 11] = [
            "fallocate",
            "renameat2",
            "mknod",
            "mknodat",
            "setxattr",
            "lsetxattr",
            "fsetxattr",
            "splice",
            "io_submit",
            "io_uring_enter",
            "mmap",
        ];
        if !OTHERS.contains(&name) {
            return;
        }
        let ours = match name {
            // Its fifth argument is the descriptor.
            "mmap" => call.arguments.get(4).copied().and_then(|fd| self.of(call, fd)).is_some(),
            "fallocate" | "fsetxattr" => call.arguments.first().copied().and_then(|fd| self.of(call, fd)).is_some(),
            _ => true,
        };
        if ours {
            *self.left_out.entry(name.to_owned()).or_default() += 1;
        }
    }

    pub(super) fn record_lookup(&mut self, call: &Call<'_>, at: Option<&str>, path: &str) -> Option<()> {
        if quoted(path)?.is_empty() || !matches!(call.error, None | Some("ENOENT")) {
            return None;
        }
        let is_there = call.error.is_none();
        self.named(call, at, path, |r, when, path| r.look(when, path, is_there));
        Some(())
    }

    pub(super) fn removed(&mut self, call: &Call<'_>, at: Option<&str>, path: &str, is_directory: bool) {
        let process = self.process(call.process);
        if let Some((names, inside)) = self.path(&process, at, path) {
            self.links.remove(&names);
            if let Some(path) = inside {
                self.recording.remove(call.when, path, is_directory);
            }
        }
    }

    fn linked(&mut self, call: &Call<'_>, target: &str, at: Option<&str>, path: &str) -> Option<()> {
        let process = self.process(call.process);
        let (names, inside) = self.path(&process, at, path)?;
        self.links.insert(names, quoted(target)?);
        self.recording.symlink(call.when, inside?);
        Some(())
    }
}
