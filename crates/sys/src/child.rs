//! A child process that ends with its parent.
#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The child of this command gets SIGKILL when the thread that starts it ends, whatever ends it (PR_SET_PDEATHSIG of
/// prctl(2)). Its own children do not.
pub fn end_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let setup = move || -> io::Result<()> {
        let signal = libc::SIGKILL as libc::c_ulong;
        let none: libc::c_ulong = 0;
        // SAFETY: takes and returns numbers only.
        if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, none, none, none) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // A parent that ended before the line above sends nothing any more.
        // SAFETY: takes nothing and cannot fail.
        if u32::try_from(unsafe { libc::getppid() }) != Ok(parent) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes two system calls; it takes no lock and no memory.
    unsafe { command.pre_exec(setup) };
}

/// Ends a process group at once (SIGKILL), whatever it does; one that is no more is left alone.
pub fn kill_group(leader: u32) {
    let leader = i32::try_from(leader).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(leader) = leader {
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
    }
}

/// The user and the group that files belong to which this process makes.
pub fn effective_ids() -> [u32; 2] {
    [rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn the_child_ends_with_the_thread_that_started_it() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        end_with_parent(&mut command);
        let mut child = std::thread::spawn(move || command.spawn()).join().unwrap().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }
}
