//! Processes with their descriptors and directories: from system calls, as text has them, to calls on files.

use super::recording::{MOST_LEVELS, Opened, Recording, When};
use model::{CallFlag, CallKind};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A system call that came back.
#[derive(Debug)]
pub(super) struct Call<'t> {
    pub process: u32,
    pub when: When,
    pub name: &'t str,
    pub arguments: Vec<&'t str>,
    /// What it gave back; negative after an error.
    pub result: i64,
    /// The error's name, if it failed.
    pub error: Option<&'t str>,
}

/// What becomes of paths outside of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    Refused,
    LeftOut,
}

/// An open description: what fork and dup share.
#[derive(Debug)]
struct Description {
    /// Its path, whether or not it is one of ours.
    names: Vec<String>,
    opened: Option<Opened>,
    position: u64,
    appends: bool,
    listed: bool,
    references: u32,
}

#[derive(Clone, Copy, Debug)]
struct Descriptor {
    description: usize,
    closed_by_exec: bool,
}

type Table = BTreeMap<i32, Descriptor>;

#[derive(Clone, Debug)]
struct Process {
    table: usize,
    directory: usize,
}

#[derive(Debug)]
pub(super) struct Processes {
    pub recording: Recording,
    root: Vec<String>,
    outside: Outside,
    /// How many paths lie outside, and the first.
    pub outside_paths: HashSet<String>,
    pub first_outside: Option<String>,
    /// Why something cannot be recorded at all.
    pub refused: Option<String>,
    /// System calls that act on files and are left out, with how often.
    pub left_out: BTreeMap<String, u64>,
    processes: HashMap<u32, Process>,
    tables: Vec<Table>,
    directories: Vec<Vec<String>>,
    descriptions: Vec<Description>,
    links: HashMap<Vec<String>, String>,
    start: Vec<String>,
}

fn names_of(path: &str) -> Vec<String> {
    path.split('/').filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect()
}

/// A number as strace writes it.
fn number(text: &str) -> Option<i64> {
    let text = text.split('<').next().unwrap_or(text);
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| n as i64),
        None => text.parse().ok(),
    }
}

/// A text in quotes, with what its escapes stand for; `None` where it is none.
fn quoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes().iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            b'\\' => match rest.next()? {
                b'n' => bytes.push(b'\n'),
                b't' => bytes.push(b'\t'),
                b'r' => bytes.push(b'\r'),
                b'v' => bytes.push(11),
                b'f' => bytes.push(12),
                b'x' => {
                    let digits = [rest.next()?, rest.next()?];
                    bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                }
                digit @ b'0'..=b'7' => {
                    let mut value = u32::from(digit - b'0');
                    for _ in 0..2 {
                        match rest.peek() {
                            Some(next @ b'0'..=b'7') => {
                                value = value * 8 + u32::from(next - b'0');
                                rest.next();
                            }
                            _ => break,
                        }
                    }
                    bytes.push(value as u8);
                }
                other => bytes.push(other),
            },
            other => bytes.push(other),
        }
    }
    None
}

fn open_flags(text: &str) -> u16 {
    let mut flags = 0;
    for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        flags |= match word {
            "O_WRONLY" => CallFlag::WRITE,
            "O_RDWR" => CallFlag::READ | CallFlag::WRITE,
            "O_RDONLY" => CallFlag::READ,
            "O_CREAT" => CallFlag::CREATE,
            "O_EXCL" => CallFlag::EXCLUSIVE,
            "O_TRUNC" => CallFlag::TRUNCATE,
            "O_SYNC" => CallFlag::SYNC,
            "O_DSYNC" => CallFlag::DSYNC,
            "O_DIRECTORY" => CallFlag::DIRECTORY,
            _ => 0,
        };
    }
    flags
}

impl Processes {
    pub fn new(root: &str, outside: Outside, start: Option<&str>) -> Self {
        Self {
            recording: Recording::new(),
            root: names_of(root),
            outside,
            outside_paths: HashSet::new(),
            first_outside: None,
            refused: None,
            left_out: BTreeMap::new(),
            processes: HashMap::new(),
            tables: Vec::new(),
            directories: Vec::new(),
            descriptions: Vec::new(),
            links: HashMap::new(),
            start: start.map_or_else(|| names_of(root), names_of),
        }
    }

    fn process(&mut self, id: u32) -> Process {
        if let Some(process) = self.processes.get(&id) {
            return process.clone();
        }
        self.tables.push(Table::new());
        self.directories.push(self.start.clone());
        let new = Process { table: self.tables.len() - 1, directory: self.directories.len() - 1 };
        self.processes.insert(id, new.clone());
        new
    }

    fn descriptor(&self, process: &Process, argument: &str) -> Option<usize> {
        let fd = number(argument)? as i32;
        self.tables[process.table].get(&fd).map(|descriptor| descriptor.description)
    }

    /// What an argument says where its path is told beside the number (strace -y).
    fn annotated(argument: &str) -> Option<Vec<String>> {
        let path = argument.split_once('<')?.1.strip_suffix('>')?;
        path.starts_with('/').then(|| names_of(path))
    }

    /// The names of a path from the top, as it is now: links that the recording made are followed.
    fn resolve(&self, process: &Process, at: Option<&str>, path: &str) -> Option<Vec<String>> {
        let mut names = if path.starts_with('/') {
            Vec::new()
        } else {
            match at {
                None => self.directories[process.directory].clone(),
                Some(at) => match Self::annotated(at) {
                    Some(names) => names,
                    None if at.starts_with("AT_FDCWD") => self.directories[process.directory].clone(),
                    None => self.descriptions[self.descriptor(process, at)?].names.clone(),
                },
            }
        };
        let mut rest: Vec<String> = names_of(path);
        rest.reverse();
        let mut followed = 0;
        while let Some(name) = rest.pop() {
            if name == ".." {
                names.pop();
                continue;
            }
            names.push(name);
            // The last name may be the link itself.
            if let Some(target) = self.links.get(&names).filter(|_| !rest.is_empty() && followed < 40) {
                followed += 1;
                names.pop();
                if target.starts_with('/') {
                    names.clear();
                }
                rest.extend(names_of(target).into_iter().rev());
            }
        }
        Some(names)
    }

    /// The number of a path below the root; `None` where it lies outside.
    fn inside(&mut self, names: &[String]) -> Option<u32> {
        let Some(below) = names.strip_prefix(&self.root[..]) else {
            let path = format!("/{}", names.join("/"));
            self.first_outside.get_or_insert_with(|| path.clone());
            self.outside_paths.insert(path);
            return None;
        };
        if below.len() > MOST_LEVELS {
            let what = format!("/{} lies more than {MOST_LEVELS} directories deep", names.join("/"));
            self.refused.get_or_insert(what);
            return None;
        }
        Some(self.recording.path(below.iter().map(String::as_str)))
    }

    pub fn outside(&self) -> Outside {
        self.outside
    }

    /// The path of an argument, below the directory of another one.
    fn path(&mut self, process: &Process, at: Option<&str>, argument: &str) -> Option<(Vec<String>, Option<u32>)> {
        let names = self.resolve(process, at, &quoted(argument)?)?;
        let inside = self.inside(&names);
        Some((names, inside))
    }

    fn release(&mut self, when: When, description: usize) {
        let one = &mut self.descriptions[description];
        one.references = one.references.saturating_sub(1);
        if one.references == 0
            && let Some(opened) = one.opened.take()
        {
            self.recording.by_handle(when, CallKind::Close, &opened, 0, 0, 0);
        }
    }

    fn place(&mut self, when: When, table: usize, fd: i64, description: usize, closed_by_exec: bool) {
        self.descriptions[description].references += 1;
        let old = self.tables[table].insert(fd as i32, Descriptor { description, closed_by_exec });
        if let Some(old) = old {
            self.release(when, old.description);
        }
    }

    /// All processes that are there at the end keep what they have open: nothing is closed for them.
    pub fn exited(&mut self, id: u32, when: When) {
        let Some(process) = self.processes.remove(&id) else { return };
        if self.processes.values().any(|other| other.table == process.table) {
            return;
        }
        let table = std::mem::take(&mut self.tables[process.table]);
        table.into_values().for_each(|descriptor| self.release(when, descriptor.description));
    }

    fn opened(&mut self, call: &Call<'_>, at: Option<&str>, path: &str, flags: &str) -> Option<()> {
        let process = self.process(call.process);
        let (names, inside) = self.path(&process, at, path)?;
        let (bits, when) = (open_flags(flags), call.when);
        if call.error.is_some() {
            if let Some(path) = inside.filter(|_| call.error == Some("ENOENT")) {
                self.recording.look(when, path, false);
            }
            return Some(());
        }
        // A file without a name, and a descriptor that is good for names only.
        let only_names = flags.contains("O_PATH") || flags.contains("O_TMPFILE");
        let opened = match inside {
            Some(path) if !only_names => Some(self.recording.open(when, path, bits)),
            Some(path) => {
                self.recording.look(when, path, true);
                None
            }
            None => None,
        };
        self.descriptions.push(Description {
            names,
            opened,
            position: 0,
            appends: flags.contains("O_APPEND"),
            listed: false,
            references: 0,
        });
        let description = self.descriptions.len() - 1;
        self.place(when, process.table, call.result, description, flags.contains("O_CLOEXEC"));
        Some(())
    }

    /// The description of a descriptor, if it is of a file of ours.
    fn of(&mut self, call: &Call<'_>, argument: &str) -> Option<(usize, Opened)> {
        let process = self.process(call.process);
        let description = self.descriptor(&process, argument)?;
        Some((description, self.descriptions[description].opened?))
    }

    fn transfer(&mut self, call: &Call<'_>, argument: &str, offset: Option<&str>, writes: bool) -> Option<()> {
        let (description, opened) = self.of(call, argument)?;
        let bytes = u64::try_from(call.result).ok()?;
        let one = &self.descriptions[description];
        let at = match offset {
            Some(offset) => u64::try_from(number(offset.trim_matches(['[', ']']))?).ok()?,
            None if writes && one.appends => self.recording.length(&opened),
            None => one.position,
        };
        if offset.is_none() {
            self.descriptions[description].position = at.saturating_add(bytes);
        }
        self.recording.transfer(call.when, writes, &opened, at, bytes);
        Some(())
    }

    fn by_handle(&mut self, call: &Call<'_>, kind: CallKind, offset: u64, bytes: u64, flags: u16) -> Option<()> {
        let (_, opened) = self.of(call, call.arguments.first()?)?;
        self.recording.by_handle(call.when, kind, &opened, offset, bytes, flags);
        Some(())
    }

    /// On a name that is there.
    fn named(&mut self, call: &Call<'_>, at: Option<&str>, path: &str, what: impl FnOnce(&mut Recording, When, u32)) {
        let process = self.process(call.process);
        if let Some((_, Some(path))) = self.path(&process, at, path) {
            what(&mut self.recording, call.when, path);
        }
    }

    /// On two names; where one lies outside it is as if it were not done.
    fn two(
        &mut self,
        call: &Call<'_>,
        one: (Option<&str>, &str),
        two: (Option<&str>, &str),
        renames: bool,
    ) -> Option<()> {
        let process = self.process(call.process);
        let (from_names, from) = self.path(&process, one.0, one.1)?;
        let (to_names, to) = self.path(&process, two.0, two.1)?;
        if let Some(target) = self.links.get(&from_names).cloned() {
            if renames {
                self.links.remove(&from_names);
            }
            self.links.insert(to_names, target);
        }
        let (from, to) = (from?, to?);
        match renames {
            true => self.recording.rename(call.when, from, to),
            false => self.recording.link(call.when, from, to),
        }
        Some(())
    }

    fn set_by_handle(&mut self, call: &Call<'_>, kind: CallKind) -> Option<()> {
        let (_, opened) = self.of(call, call.arguments.first()?)?;
        self.recording.set(call.when, kind, opened.path);
        Some(())
    }

    fn child(&mut self, call: &Call<'_>) {
        let parent = self.process(call.process);
        let flags = call.arguments.join(",");
        let table = if flags.contains("CLONE_FILES") {
            parent.table
        } else {
            let copy = self.tables[parent.table].clone();
            copy.values().for_each(|descriptor| self.descriptions[descriptor.description].references += 1);
            self.tables.push(copy);
            self.tables.len() - 1
        };
        let directory = if flags.contains("CLONE_FS") {
            parent.directory
        } else {
            self.directories.push(self.directories[parent.directory].clone());
            self.directories.len() - 1
        };
        // Its first call may have been told before the call that made it came back.
        let new = Process { table, directory };
        if let Some(early) = self.processes.insert(call.result as u32, new) {
            let made = std::mem::take(&mut self.tables[early.table]);
            self.tables[table].extend(made);
        }
    }

    fn changed_directory(&mut self, call: &Call<'_>, names: Vec<String>) {
        let process = self.process(call.process);
        self.directories[process.directory] = names;
    }

    /// Hears of a system call.
    pub fn hear(&mut self, call: &Call<'_>) {
        let _ = self.take(call);
    }

    fn take(&mut self, call: &Call<'_>) -> Option<()> {
        let a = |index: usize| call.arguments.get(index).copied();
        let failed = call.error.is_some();
        match call.name {
            "open" => return self.opened(call, None, a(0)?, a(1)?),
            "creat" => return self.opened(call, None, a(0)?, "O_WRONLY|O_CREAT|O_TRUNC"),
            "openat" | "openat2" => return self.opened(call, a(0), a(1)?, a(2)?),
            "stat" | "lstat" | "stat64" | "lstat64" | "access" | "readlink" => {
                return self.looked(call, None, a(0)?);
            }
            "newfstatat" | "fstatat64" | "statx" | "faccessat" | "faccessat2" | "readlinkat" => {
                return self.looked(call, a(0), a(1)?);
            }
            _ if failed => return None,
            _ => {}
        }
        match call.name {
            "close" => {
                let process = self.process(call.process);
                let old = self.tables[process.table].remove(&(number(a(0)?)? as i32))?;
                self.release(call.when, old.description);
            }
            "close_range" => self.closed_range(call, number(a(0)?)?, number(a(1)?).unwrap_or(i64::MAX)),
            "dup" => self.duplicated(call, a(0)?, false)?,
            "dup2" => self.duplicated(call, a(0)?, false)?,
            "dup3" => self.duplicated(call, a(0)?, a(2)?.contains("O_CLOEXEC"))?,
            "fcntl" | "fcntl64" => self.controlled(call)?,
            "lseek" | "_llseek" => {
                let (description, _) = self.of(call, a(0)?)?;
                // The old one for 32 bits gives its result through memory.
                let to = if call.name == "lseek" { call.result } else { number(a(2)?.trim_matches(['[', ']']))? };
                self.descriptions[description].position = to as u64;
            }
            "read" | "readv" => self.transfer(call, a(0)?, None, false)?,
            "write" | "writev" => self.transfer(call, a(0)?, None, true)?,
            "pread64" | "preadv" | "preadv2" => self.transfer(call, a(0)?, a(3), false)?,
            "pwrite64" | "pwritev" | "pwritev2" => self.transfer(call, a(0)?, a(3), true)?,
            "sendfile" | "sendfile64" => {
                let _ = self.transfer(call, a(1)?, a(2).filter(|o| *o != "NULL"), false);
                self.transfer(call, a(0)?, None, true)?;
            }
            "copy_file_range" => {
                let _ = self.transfer(call, a(0)?, a(1).filter(|o| *o != "NULL"), false);
                self.transfer(call, a(2)?, a(3).filter(|o| *o != "NULL"), true)?;
            }
            "fork" | "vfork" | "clone" | "clone3" => self.child(call),
            "execve" | "execveat" => {
                let process = self.process(call.process);
                let table = &mut self.tables[process.table];
                let closed: Vec<Descriptor> = table.values().filter(|d| d.closed_by_exec).copied().collect();
                table.retain(|_, descriptor| !descriptor.closed_by_exec);
                closed.into_iter().for_each(|descriptor| self.release(call.when, descriptor.description));
            }
            "chdir" => {
                let process = self.process(call.process);
                let names = self.resolve(&process, None, &quoted(a(0)?)?)?;
                self.changed_directory(call, names);
            }
            "fchdir" => {
                let process = self.process(call.process);
                let names = self.descriptions[self.descriptor(&process, a(0)?)?].names.clone();
                self.changed_directory(call, names);
            }
            name => return self.take_on_files(call, name),
        }
        Some(())
    }

    /// Calls that change files or names.
    fn take_on_files(&mut self, call: &Call<'_>, name: &str) -> Option<()> {
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

    fn looked(&mut self, call: &Call<'_>, at: Option<&str>, path: &str) -> Option<()> {
        if quoted(path)?.is_empty() || !matches!(call.error, None | Some("ENOENT")) {
            return None;
        }
        let is_there = call.error.is_none();
        self.named(call, at, path, |r, when, path| r.look(when, path, is_there));
        Some(())
    }

    fn removed(&mut self, call: &Call<'_>, at: Option<&str>, path: &str, is_directory: bool) {
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

    fn duplicated(&mut self, call: &Call<'_>, from: &str, closed_by_exec: bool) -> Option<()> {
        let process = self.process(call.process);
        let fd = number(from)? as i32;
        let description = self.tables[process.table].get(&fd).map(|d| d.description);
        match description {
            Some(_) if i64::from(fd) == call.result => {}
            Some(description) => self.place(call.when, process.table, call.result, description, closed_by_exec),
            // Of a pipe or a socket: what was under the number is closed.
            None => {
                let old = self.tables[process.table].remove(&(call.result as i32))?;
                self.release(call.when, old.description);
            }
        }
        Some(())
    }

    fn controlled(&mut self, call: &Call<'_>) -> Option<()> {
        let [fd, command, rest @ ..] = &call.arguments[..] else { return None };
        match *command {
            "F_DUPFD" | "F_DUPFD_CLOEXEC" => self.duplicated(call, fd, command.ends_with("CLOEXEC"))?,
            "F_SETFD" => {
                let process = self.process(call.process);
                let one = self.tables[process.table].get_mut(&(number(fd)? as i32))?;
                one.closed_by_exec = rest.first()?.contains("FD_CLOEXEC");
            }
            _ => {}
        }
        Some(())
    }

    fn closed_range(&mut self, call: &Call<'_>, first: i64, last: i64) {
        let process = self.process(call.process);
        let table = &mut self.tables[process.table];
        let in_range = |fd: i32| (first..=last.max(first)).contains(&i64::from(fd));
        let only_exec = call.arguments.get(2).is_some_and(|flags| flags.contains("CLOEXEC"));
        if only_exec {
            table.iter_mut().filter(|(fd, _)| in_range(**fd)).for_each(|(_, one)| one.closed_by_exec = true);
            return;
        }
        let closed: Vec<usize> = table.iter().filter(|(fd, _)| in_range(**fd)).map(|(_, d)| d.description).collect();
        table.retain(|fd, _| !in_range(*fd));
        closed.into_iter().for_each(|description| self.release(call.when, description));
    }
}
