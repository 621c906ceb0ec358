//! Processes with their descriptors and directories: from system calls, as text has them, to calls on files.

use super::arguments::{names_of, number, open_flags, quoted};
use super::calls::{CallTime, MAX_LEVELS, OpenFile, Recording};
use model::CallKind;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A system call that came back.
#[derive(Debug)]
pub(super) struct Call<'t> {
    pub process: u32,
    pub when: CallTime,
    pub name: &'t str,
    pub arguments: Vec<&'t str>,
    /// What it gave back; negative after an error.
    pub result: i64,
    /// The error's name, if it failed.
    pub error: Option<&'t str>,
}

/// An open description: what fork and dup share.
#[derive(Debug)]
pub(super) struct Description {
    /// Its path, whether or not it is one of ours.
    names: Vec<String>,
    opened: Option<OpenFile>,
    position: u64,
    appends: bool,
    pub(super) listed: bool,
    references: u32,
}

#[derive(Clone, Copy, Debug)]
struct Descriptor {
    description: usize,
    closed_by_exec: bool,
}

type Table = BTreeMap<i32, Descriptor>;

#[derive(Clone, Debug)]
pub(super) struct Process {
    table: usize,
    directory: usize,
}

#[derive(Debug)]
pub(super) struct Processes {
    pub recording: Recording,
    root: Vec<String>,
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
    pub(super) descriptions: Vec<Description>,
    pub(super) links: HashMap<Vec<String>, String>,
    start: Vec<String>,
}

impl Processes {
    pub fn new(root: &str, start: Option<&str>) -> Self {
        Self {
            recording: Recording::new(),
            root: names_of(root),
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

    pub(super) fn process(&mut self, id: u32) -> Process {
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
        if below.len() > MAX_LEVELS {
            let what = format!("/{} lies more than {MAX_LEVELS} directories deep", names.join("/"));
            self.refused.get_or_insert(what);
            return None;
        }
        Some(self.recording.path(below.iter().map(String::as_str)))
    }

    /// The path of an argument, below the directory of another one.
    pub(super) fn path(
        &mut self,
        process: &Process,
        at: Option<&str>,
        argument: &str,
    ) -> Option<(Vec<String>, Option<u32>)> {
        let names = self.resolve(process, at, &quoted(argument)?)?;
        let inside = self.inside(&names);
        Some((names, inside))
    }

    fn release(&mut self, when: CallTime, description: usize) {
        let one = &mut self.descriptions[description];
        one.references = one.references.saturating_sub(1);
        if one.references == 0
            && let Some(opened) = one.opened.take()
        {
            self.recording.by_handle(when, CallKind::Close, &opened, 0, 0, 0);
        }
    }

    fn place(&mut self, when: CallTime, table: usize, fd: i64, description: usize, closed_by_exec: bool) {
        self.descriptions[description].references += 1;
        let old = self.tables[table].insert(fd as i32, Descriptor { description, closed_by_exec });
        if let Some(old) = old {
            self.release(when, old.description);
        }
    }

    /// All processes that are there at the end keep what they have open: nothing is closed for them.
    pub fn exited(&mut self, id: u32, when: CallTime) {
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
        let bits = open_flags(flags);
        let when = call.when;
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
    pub(super) fn of(&mut self, call: &Call<'_>, argument: &str) -> Option<(usize, OpenFile)> {
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

    pub(super) fn by_handle(
        &mut self,
        call: &Call<'_>,
        kind: CallKind,
        offset: u64,
        bytes: u64,
        flags: u16,
    ) -> Option<()> {
        let (_, opened) = self.of(call, call.arguments.first()?)?;
        self.recording.by_handle(call.when, kind, &opened, offset, bytes, flags);
        Some(())
    }

    /// On a name that is there.
    pub(super) fn named(
        &mut self,
        call: &Call<'_>,
        at: Option<&str>,
        path: &str,
        what: impl FnOnce(&mut Recording, CallTime, u32),
    ) {
        let process = self.process(call.process);
        if let Some((_, Some(path))) = self.path(&process, at, path) {
            what(&mut self.recording, call.when, path);
        }
    }

    /// On two names; where one lies outside it is as if it were not done.
    pub(super) fn two(
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

    pub(super) fn set_by_handle(&mut self, call: &Call<'_>, kind: CallKind) -> Option<()> {
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
    pub fn on_call(&mut self, call: &Call<'_>) {
        let _ = self.handle(call);
    }

    fn handle(&mut self, call: &Call<'_>) -> Option<()> {
        let a = |index: usize| call.arguments.get(index).copied();
        let failed = call.error.is_some();
        match call.name {
            "open" => return self.opened(call, None, a(0)?, a(1)?),
            "creat" => return self.opened(call, None, a(0)?, "O_WRONLY|O_CREAT|O_TRUNC"),
            "openat" | "openat2" => return self.opened(call, a(0), a(1)?, a(2)?),
            "stat" | "lstat" | "stat64" | "lstat64" | "access" | "readlink" => {
                return self.record_lookup(call, None, a(0)?);
            }
            "newfstatat" | "fstatat64" | "statx" | "faccessat" | "faccessat2" | "readlinkat" => {
                return self.record_lookup(call, a(0), a(1)?);
            }
            // What is tried in vain is looked up, too.
            "rename" | "unlink" | "rmdir" | "link" | "truncate" | "chmod" | "chown" if failed => {
                return self.record_lookup(call, None, a(0)?);
            }
            "renameat" | "renameat2" | "unlinkat" | "linkat" | "fchmodat" | "fchownat" | "utimensat" if failed => {
                return self.record_lookup(call, a(0), a(1)?);
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
