//! What a command and all that it starts do to files, written down while they do it: text of the form that strace writes, so that what is done
//! again is read in one way (`spec`), and strace's own readers read it.
//!
//! By ptrace(2), which any user may do to processes of his own. Each call stops twice for it, which takes some microseconds: what is recorded is
//! slower than what is not, and the text says when each call was and how long it took all the same.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use sys::{TraceEvent, Tracer};

/// A path has at most this many bytes (PATH_MAX).
const PATH_BYTES: usize = 4096;

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Calls that were written down.
    pub calls: u64,
    /// Processes and threads.
    pub threads: u64,
    /// Exit code of the command; 128 and the number of a signal that ended it.
    pub exit_code: Option<i32>,
}

/// How an argument is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentKind {
    Descriptor,
    Directory,
    Path,
    /// O_* of an open.
    Open,
    /// A struct open_how.
    How,
    Number,
    /// AT_REMOVEDIR.
    Removes,
    /// RENAME_EXCHANGE.
    Exchanges,
    Range,
    Command,
    /// The argument of a command of fcntl.
    Setting,
    /// A pointer to an offset.
    Place,
    /// CLONE_* that count.
    Clone,
    /// A struct clone_args.
    CloneArguments,
    /// CLOSE_RANGE_CLOEXEC.
    OnlyExec,
    /// Of no use.
    Nothing,
}

/// How the arguments of a call are written; `None` for one that is not.
fn arguments_of(name: &str) -> Option<&'static [ArgumentKind]> {
    use ArgumentKind::*;
    Some(match name {
        "open" => &[Path, Open],
        "openat" => &[Directory, Path, Open],
        "openat2" => &[Directory, Path, How],
        "creat" | "stat" | "lstat" | "access" | "readlink" | "unlink" | "rmdir" | "mkdir" | "chmod" | "chown"
        | "lchown" | "utime" | "utimes" | "chdir" | "execve" | "setxattr" | "lsetxattr" => &[Path],
        "execveat" | "newfstatat" | "statx" | "faccessat" | "faccessat2" | "readlinkat" | "mkdirat" | "fchmodat"
        | "fchownat" | "utimensat" | "futimesat" | "mknodat" => &[Directory, Path],
        "close" | "fsync" | "fdatasync" | "syncfs" | "fchmod" | "fchown" | "fchdir" | "dup" | "fsetxattr"
        | "io_uring_enter" => &[Descriptor],
        "close_range" => &[Descriptor, Number, OnlyExec],
        "read" | "readv" | "write" | "writev" | "getdents" | "getdents64" => &[Descriptor, Nothing, Number],
        "pread64" | "preadv" | "preadv2" | "pwrite64" | "pwritev" | "pwritev2" => {
            &[Descriptor, Nothing, Number, Number]
        }
        "lseek" | "ftruncate" => &[Descriptor, Number],
        "truncate" => &[Path, Number],
        "sync" | "fork" | "vfork" => &[],
        "sync_file_range" => &[Descriptor, Number, Number, Range],
        "fallocate" => &[Descriptor, Number, Number, Number],
        "rename" | "link" | "symlink" => &[Path, Path],
        "renameat" => &[Directory, Path, Directory, Path],
        "renameat2" => &[Directory, Path, Directory, Path, Exchanges],
        "linkat" => &[Directory, Path, Directory, Path, Nothing],
        "symlinkat" => &[Path, Directory, Path],
        "unlinkat" => &[Directory, Path, Removes],
        "dup2" => &[Descriptor, Descriptor],
        "dup3" => &[Descriptor, Descriptor, Open],
        "fcntl" => &[Descriptor, Command, Setting],
        "copy_file_range" => &[Descriptor, Place, Descriptor, Place],
        "sendfile" => &[Descriptor, Descriptor, Place],
        "mmap" => &[Nothing, Nothing, Nothing, Nothing, Descriptor],
        "clone" => &[Clone],
        "clone3" => &[CloneArguments],
        _ => return None,
    })
}

fn word(thread: u32, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (address != 0 && sys::traced_memory(thread, address, &mut bytes) == 8).then(|| u64::from_ne_bytes(bytes))
}

/// A path of a traced thread, in quotes, with escapes where it holds anything but visible letters of ASCII.
fn path(thread: u32, address: u64, text: &mut String) {
    if address == 0 {
        return text.push_str("NULL");
    }
    let mut bytes = Vec::new();
    // Page by page: what lies behind its end may not be there.
    while bytes.len() < PATH_BYTES {
        let at = address + bytes.len() as u64;
        let (start, piece) = (bytes.len(), (4096 - at % 4096) as usize);
        bytes.resize(start + piece, 0);
        let read = sys::traced_memory(thread, at, &mut bytes[start..]);
        bytes.truncate(start + read);
        match bytes[start..].iter().position(|byte| *byte == 0) {
            Some(end) => {
                bytes.truncate(start + end);
                break;
            }
            None if read < piece => break,
            None => {}
        }
    }
    quote(&bytes, text);
}

fn quote(bytes: &[u8], text: &mut String) {
    text.push('"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b'\n' => text.push_str("\\n"),
            b' '..=b'~' => text.push(char::from(*byte)),
            // All three digits: what follows may be one.
            other => _ = write!(text, "\\{other:03o}"),
        }
    }
    text.push('"');
}

/// The names of bits that are set.
fn named(value: u64, bits: &[(u64, &str)], text: &mut String) {
    let set: Vec<&str> = bits.iter().filter(|(bit, _)| value & bit == *bit).map(|(_, name)| *name).collect();
    text.push_str(if set.is_empty() { "0" } else { "" });
    text.push_str(&set.join("|"));
}

fn open_flags(value: u64, text: &mut String) {
    use rustix::fs::OFlags;
    let access = match value & 3 {
        0 => "O_RDONLY",
        1 => "O_WRONLY",
        _ => "O_RDWR",
    };
    let bits = [
        (OFlags::CREATE, "O_CREAT"),
        (OFlags::EXCL, "O_EXCL"),
        (OFlags::TRUNC, "O_TRUNC"),
        (OFlags::APPEND, "O_APPEND"),
        (OFlags::DIRECTORY, "O_DIRECTORY"),
        (OFlags::CLOEXEC, "O_CLOEXEC"),
        (OFlags::PATH, "O_PATH"),
        (OFlags::DIRECT, "O_DIRECT"),
    ];
    text.push_str(access);
    for (bit, name) in bits {
        if value & u64::from(bit.bits()) == u64::from(bit.bits()) {
            text.push('|');
            text.push_str(name);
        }
    }
    // O_SYNC has the bit of O_DSYNC, too (include/uapi/asm-generic/fcntl.h), and O_TMPFILE that of O_DIRECTORY.
    text.push_str(match value & 0o4_010_000 {
        0o4_010_000 => "|O_SYNC",
        0o10_000 => "|O_DSYNC",
        _ => "",
    });
    let nameless = u64::from(OFlags::TMPFILE.bits());
    text.push_str(if value & nameless == nameless { "|O_TMPFILE" } else { "" });
}

fn argument(how: ArgumentKind, thread: u32, value: u64, text: &mut String) {
    let number = value as i64;
    let wrote = match how {
        ArgumentKind::Nothing => write!(text, "..."),
        ArgumentKind::Number => write!(text, "{number}"),
        ArgumentKind::Descriptor => write!(text, "{}", value as i32),
        ArgumentKind::Directory if value as i32 == -100 => write!(text, "AT_FDCWD"),
        ArgumentKind::Directory => write!(text, "{}", value as i32),
        ArgumentKind::Place => match word(thread, value) {
            Some(place) => write!(text, "[{place}]"),
            None => write!(text, "NULL"),
        },
        ArgumentKind::Command => match value {
            0 => write!(text, "F_DUPFD"),
            2 => write!(text, "F_SETFD"),
            1030 => write!(text, "F_DUPFD_CLOEXEC"),
            other => write!(text, "{other}"),
        },
        ArgumentKind::Setting if value == 1 => write!(text, "FD_CLOEXEC"),
        ArgumentKind::Setting => write!(text, "{number}"),
        ArgumentKind::Path => return path(thread, value, text),
        ArgumentKind::Open => return open_flags(value, text),
        ArgumentKind::How => return open_flags(word(thread, value).unwrap_or(0), text),
        ArgumentKind::Removes => return named(value, &[(0x200, "AT_REMOVEDIR")], text),
        ArgumentKind::Exchanges => return named(value, &[(1, "RENAME_NOREPLACE"), (2, "RENAME_EXCHANGE")], text),
        ArgumentKind::OnlyExec => return named(value, &[(4, "CLOSE_RANGE_CLOEXEC")], text),
        ArgumentKind::Range => {
            let bits =
                [(1, "SYNC_FILE_RANGE_WAIT_BEFORE"), (2, "SYNC_FILE_RANGE_WRITE"), (4, "SYNC_FILE_RANGE_WAIT_AFTER")];
            return named(value, &bits, text);
        }
        ArgumentKind::Clone | ArgumentKind::CloneArguments => {
            let flags = if how == ArgumentKind::Clone { value } else { word(thread, value).unwrap_or(0) };
            return named(flags, &[(0x200, "CLONE_FS"), (0x400, "CLONE_FILES")], text);
        }
    };
    // Writing to a String cannot fail.
    assert!(wrote.is_ok());
}

/// A call that has not come back.
struct PendingCall {
    at_ns: u128,
    text: String,
}

/// Starts a command and writes down what it does to files, until all that it started has ended. `passes_on` is asked
/// again and again for a signal that the command is to get, each once.
///
/// # Errors
/// Those of starting and tracing it, and of writing.
pub fn record_calls(
    command: &mut Command,
    root: &Path,
    passes_on: impl Fn() -> Option<i32>,
    out: &mut impl Write,
) -> io::Result<Recorded> {
    let started = (SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), Instant::now());
    let now = || (started.0 + started.1.elapsed()).as_nanos();
    let here = std::env::current_dir()?;
    let command_line: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().replace(|c: char| c.is_control(), "?"))
        .collect();
    writeln!(out, "{}\n# command: {}", crate::recording::HEADER, command_line.join(" "))?;
    writeln!(out, "# root: {}\n# directory: {}", root.display(), here.display())?;
    let mut tracer = Tracer::start(command)?;
    let mut recorded = Recorded { threads: 1, ..Recorded::default() };
    let mut entered: HashMap<u32, PendingCall> = HashMap::new();
    loop {
        if let Some(signal) = passes_on() {
            tracer.signal(signal);
        }
        let Some(event) = tracer.event()? else { break };
        let at_ns = now();
        let line = |out: &mut dyn Write, thread: u32, at: u128, rest: std::fmt::Arguments<'_>| {
            writeln!(out, "{thread} {}.{:09} {rest}", at / 1_000_000_000, at % 1_000_000_000)
        };
        match event {
            TraceEvent::Enters { thread, number, arguments } => {
                let described = sys::call_name(number).and_then(|name| Some((name, arguments_of(name)?)));
                let Some((name, shape)) = described else { continue };
                let mut text = format!("{name}(");
                for (index, (how, value)) in shape.iter().zip(arguments).enumerate() {
                    text.push_str(if index > 0 { ", " } else { "" });
                    argument(*how, thread, value, &mut text);
                }
                text.push(')');
                entered.insert(thread, PendingCall { at_ns, text });
            }
            TraceEvent::Leaves { thread, result, failed } => {
                let Some(PendingCall { at_ns: start, text }) = entered.remove(&thread) else { continue };
                // Who was started is told by an event of its own.
                if text.starts_with("clone") || text.starts_with("fork") || text.starts_with("vfork") {
                    continue;
                }
                recorded.calls += 1;
                let took = at_ns.saturating_sub(start);
                let took = format_args!("<{}.{:09}>", took / 1_000_000_000, took % 1_000_000_000).to_string();
                match failed {
                    true => {
                        let name = sys::errno_name(i32::try_from(-result).unwrap_or(0));
                        line(out, thread, start, format_args!("{text} = -1 {name} {took}"))?;
                    }
                    false => line(out, thread, start, format_args!("{text} = {result} {took}"))?,
                }
            }
            TraceEvent::Started { thread, child } => {
                recorded.threads += 1;
                let text = entered.get(&thread).map_or("fork()", |call| call.text.as_str());
                line(out, thread, at_ns, format_args!("{text} = {child}"))?;
            }
            TraceEvent::Interrupted => {}
            TraceEvent::Ended { thread } => {
                entered.remove(&thread);
                line(out, thread, at_ns, format_args!("+++ exited +++"))?;
            }
        }
    }
    recorded.exit_code = tracer.exit_code();
    Ok(recorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_flags_are_written_as_strace_writes_them() {
        let mut text = String::new();
        quote(b"a \"b\"\\\n\xc3\xa91", &mut text);
        assert_eq!(text, r#""a \"b\"\\\n\303\2511""#);
        let flags = |value: i32| {
            let mut text = String::new();
            open_flags(value as u64, &mut text);
            text
        };
        assert_eq!(flags(0o1), "O_WRONLY");
        assert_eq!(flags(0o2 | 0o100 | 0o1000 | 0o2000000), "O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC");
        assert_eq!(flags(0o4010000), "O_RDONLY|O_SYNC");
        assert_eq!(flags(0o10000), "O_RDONLY|O_DSYNC");
    }
}
