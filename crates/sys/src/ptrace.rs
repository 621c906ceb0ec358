//! The system calls of a command and of all that it starts, by ptrace(2): what works for any user on processes of his own.
#![allow(unsafe_code)]

use libc::{c_int, c_void, pid_t};
use std::collections::HashSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Requests and events of include/uapi/linux/ptrace.h, whose types differ between C libraries.
const PTRACE_TRACEME: i32 = 0;
const PTRACE_SYSCALL: i32 = 24;
const PTRACE_SETOPTIONS: i32 = 0x4200;
const PTRACE_GETEVENTMSG: i32 = 0x4201;
/// Since Linux 5.3; a struct ptrace_syscall_info of the same form on all processors.
const PTRACE_GET_SYSCALL_INFO: i32 = 0x420e;
/// Stops at calls are told from signals; processes, threads and programs that are started are told; all end with the tracer.
const OPTIONS: usize = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x0010_0000;
const EVENT_FORK: i32 = 1;
const EVENT_CLONE: i32 = 3;
const CALL_STOP: i32 = libc::SIGTRAP | 0x80;

/// What happened. The thread waits until the next one is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A thread is about to make a call.
    Enters {
        thread: u32,
        /// Number of the call.
        number: u64,
        arguments: [u64; 6],
    },
    /// A system call returned.
    Leaves {
        thread: u32,
        /// What came back, or the errno, negative.
        result: i64,
        failed: bool,
    },
    /// A thread started a process or a thread.
    Started {
        /// The thread that made the child.
        thread: u32,
        /// The child.
        child: u32,
    },
    /// A signal came to this process.
    Interrupted,
    /// A thread ended.
    Ended { thread: u32 },
}

/// A command that is traced. All of it in one thread: only that which started it may ask, and of its children only.
#[derive(Debug)]
pub struct Tracer {
    first: pid_t,
    /// Who waits, and with which signal it goes on.
    waits: Option<(pid_t, c_int)>,
    /// New ones of which it was told, and those that were seen before it was.
    told: HashSet<pid_t>,
    early: HashSet<pid_t>,
    /// Threads that have started.
    known: HashSet<pid_t>,
    exit_code: Option<i32>,
}

fn ptrace(request: i32, pid: pid_t, address: usize, data: usize) -> io::Result<i64> {
    // SAFETY: the requests that are made write only to what `data` points to, whose size `address` says where it has one.
    let result = unsafe { libc::ptrace(request as _, pid, address as *mut c_void, data as *mut c_void) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result as i64) }
}

fn wait(pid: pid_t) -> io::Result<(pid_t, c_int)> {
    let mut status = 0;
    // SAFETY: writes one number.
    let found = unsafe { libc::waitpid(pid, &mut status, libc::__WALL | libc::__WNOTHREAD) };
    if found == -1 { Err(io::Error::last_os_error()) } else { Ok((found, status)) }
}

impl Tracer {
    /// Starts a command and stops it before its first instruction.
    ///
    /// # Errors
    /// Those of starting it; `EPERM` where nothing may be traced; `EIO` on a kernel before 5.3.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let traced = || {
            // SAFETY: takes numbers only.
            match unsafe { libc::ptrace(PTRACE_TRACEME as _, 0, 0usize, 0usize) } {
                -1 => Err(io::Error::last_os_error()),
                _ => Ok(()),
            }
        };
        // SAFETY: between fork and exec the closure makes one system call; it takes no lock and no memory.
        unsafe { command.pre_exec(traced) };
        let child = command.spawn()?;
        let first = child.id() as pid_t;
        let (_, status) = wait(first)?;
        if !libc::WIFSTOPPED(status) {
            return Err(io::Error::other("it ended before it began"));
        }
        ptrace(PTRACE_SETOPTIONS, first, 0, OPTIONS)?;
        Ok(Self {
            first,
            waits: Some((first, 0)),
            told: HashSet::new(),
            early: HashSet::new(),
            known: HashSet::from([first]),
            exit_code: None,
        })
    }

    /// The exit code of the command; 128 and the number of the signal that ended it.
    pub fn exit_code(&self) -> Option<i32> {
        self.exit_code
    }

    /// Has the command get a signal.
    pub fn signal(&self, signal: i32) {
        // SAFETY: takes numbers only; that it is gone already is no matter.
        unsafe { libc::kill(self.first, signal) };
    }

    fn resume(pid: pid_t, signal: c_int) -> io::Result<()> {
        match ptrace(PTRACE_SYSCALL, pid, 0, signal as usize) {
            // It was killed meanwhile, which is told next.
            Err(e) if e.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            result => result.map(|_| ()),
        }
    }

    /// The next event; `None` once all have ended.
    ///
    /// # Errors
    /// Those of ptrace(2) and waitpid(2).
    pub fn event(&mut self) -> io::Result<Option<TraceEvent>> {
        if let Some((pid, signal)) = self.waits.take() {
            Self::resume(pid, signal)?;
        }
        loop {
            let (pid, status) = match wait(-1) {
                Err(e) if e.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
                Err(e) if e.raw_os_error() == Some(libc::EINTR) => return Ok(Some(TraceEvent::Interrupted)),
                other => other?,
            };
            let thread = pid as u32;
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                self.known.remove(&pid);
                if pid == self.first {
                    let killed = libc::WIFSIGNALED(status);
                    let code = if killed { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) };
                    self.exit_code = Some(code);
                }
                return Ok(Some(TraceEvent::Ended { thread }));
            }
            let signal = libc::WSTOPSIG(status);
            let event = status >> 16;
            if signal == CALL_STOP {
                self.waits = Some((pid, 0));
                if let Some(event) = call(pid)? {
                    return Ok(Some(event));
                }
            } else if (EVENT_FORK..=EVENT_CLONE).contains(&event) {
                let mut child: usize = 0;
                ptrace(PTRACE_GETEVENTMSG, pid, 0, (&raw mut child) as usize)?;
                let new = child as pid_t;
                if self.early.remove(&new) {
                    self.known.insert(new);
                    Self::resume(new, 0)?;
                } else {
                    self.told.insert(new);
                }
                self.waits = Some((pid, 0));
                return Ok(Some(TraceEvent::Started { thread, child: child as u32 }));
            } else if event != 0 {
                self.waits = Some((pid, 0));
            } else if signal == libc::SIGSTOP && self.told.remove(&pid) {
                self.known.insert(pid);
                self.waits = Some((pid, 0));
            } else if signal == libc::SIGSTOP && !self.known.contains(&pid) {
                // Until it is told who started it.
                self.early.insert(pid);
            } else {
                self.waits = Some((pid, signal));
            }
            if let Some((pid, signal)) = self.waits.take() {
                Self::resume(pid, signal)?;
            }
        }
    }
}

/// The call that a thread has stopped at (struct ptrace_syscall_info).
fn call(pid: pid_t) -> io::Result<Option<TraceEvent>> {
    let mut info = [0u64; 12];
    let size = size_of_val(&info);
    let got = match ptrace(PTRACE_GET_SYSCALL_INFO, pid, size, info.as_mut_ptr() as usize) {
        Err(e) if e.raw_os_error() == Some(libc::ESRCH) => return Ok(None),
        other => other?,
    };
    if got < 32 {
        return Ok(None);
    }
    let thread = pid as u32;
    // The first byte says what the rest is of; three words follow, and then that.
    Ok(match info[0].to_ne_bytes()[0] {
        1 => {
            let arguments = std::array::from_fn(|i| info[4 + i]);
            Some(TraceEvent::Enters { thread, number: info[3], arguments })
        }
        2 => Some(TraceEvent::Leaves { thread, result: info[3] as i64, failed: info[4].to_ne_bytes()[0] != 0 }),
        _ => None,
    })
}

/// Bytes of a traced thread's memory, as far as they are there.
pub fn traced_memory(thread: u32, address: u64, into: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: address as usize as *mut c_void, iov_len: into.len() };
    // SAFETY: the kernel writes at most `iov_len` bytes to `into`; the other address is not of this process.
    let read = unsafe { libc::process_vm_readv(thread as pid_t, &local, 1, &remote, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

macro_rules! calls {
    ($($(#[$only:meta])? $($name:ident)*;)*) => {
        /// The name of a system call that acts on files, of this machine's numbers.
        #[cfg(target_pointer_width = "64")]
        pub fn call_name(number: u64) -> Option<&'static str> {
            let number = i64::try_from(number).ok()?;
            $($(#[$only])? {
                $(if number == i64::from(libc::$name) {
                    return stringify!($name).strip_prefix("SYS_");
                })*
            })*
            None
        }
    };
}

calls! {
    SYS_openat SYS_openat2 SYS_close SYS_close_range SYS_read SYS_readv SYS_pread64 SYS_preadv SYS_preadv2 SYS_write SYS_writev
    SYS_pwrite64 SYS_pwritev SYS_pwritev2 SYS_lseek SYS_fsync SYS_fdatasync SYS_sync SYS_syncfs SYS_sync_file_range SYS_ftruncate
    SYS_truncate SYS_fallocate SYS_getdents64 SYS_renameat2 SYS_linkat SYS_symlinkat SYS_unlinkat SYS_mkdirat SYS_fchmod
    SYS_fchmodat SYS_fchown SYS_fchownat SYS_utimensat SYS_newfstatat SYS_statx SYS_faccessat SYS_faccessat2 SYS_readlinkat
    SYS_chdir SYS_fchdir SYS_dup SYS_dup3 SYS_fcntl SYS_clone SYS_clone3 SYS_execve SYS_execveat SYS_copy_file_range SYS_sendfile
    SYS_mmap SYS_fsetxattr SYS_setxattr SYS_lsetxattr SYS_mknodat SYS_io_uring_enter;
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    SYS_renameat;
    #[cfg(target_arch = "x86_64")]
    SYS_open SYS_creat SYS_stat SYS_lstat SYS_access SYS_readlink SYS_rename SYS_link SYS_symlink SYS_unlink SYS_rmdir SYS_mkdir
    SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat SYS_dup2 SYS_getdents SYS_fork SYS_vfork;
}

/// Where numbers of 64 bits come in two registers the calls are not taken apart.
#[cfg(not(target_pointer_width = "64"))]
pub fn call_name(_number: u64) -> Option<&'static str> {
    None
}

/// Whether calls can be told on this machine.
pub const CALLS_SUPPORTED: bool = cfg!(target_pointer_width = "64");

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn calls_of_a_command_and_of_its_children_are_told() {
        let mut command = Command::new("sh");
        command.args(["-c", "cat /dev/null; (exit 3); kill -USR1 $$; exit 5"]).env_clear();
        let mut tracer = Tracer::start(&mut command).unwrap();
        let mut entered = HashMap::new();
        let mut children = 0;
        let mut ended = 0;
        let mut opened_null = false;
        while let Some(event) = tracer.event().unwrap() {
            match event {
                TraceEvent::Enters { thread, number, arguments } => {
                    let name = call_name(number);
                    entered.insert(thread, name);
                    let mut text = [0; 9];
                    let read = traced_memory(thread, arguments[1], &mut text);
                    opened_null |= name == Some("openat") && &text[..read] == b"/dev/null";
                }
                TraceEvent::Leaves { thread, .. } => _ = entered.remove(&thread),
                TraceEvent::Interrupted => {}
                TraceEvent::Started { .. } => children += 1,
                TraceEvent::Ended { .. } => ended += 1,
            }
        }
        assert!(opened_null);
        // The signal that nobody handles ends the shell.
        assert_eq!((children, ended, tracer.exit_code()), (2, 3, Some(128 + libc::SIGUSR1)));
    }
}
