//! Which signals a thread takes.
#![allow(unsafe_code)]

use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// As long as it lives, the thread that made it, and threads that it starts, take none of the signals: they go to another
/// thread of the process. A thread that waits in the kernel where nothing wakes it would otherwise be chosen to take one
/// (k:kernel/signal.c, complete_signal), and nobody would hear of it.
#[derive(Debug)]
pub struct SignalMaskGuard {
    before: libc::sigset_t,
    /// The mask is a thread's.
    _stays: PhantomData<*const ()>,
}

impl SignalMaskGuard {
    /// For the calling thread. Another one must be there that takes them, else they wait.
    ///
    /// # Errors
    /// EINVAL for a number that is no signal.
    pub fn new(signals: &[i32]) -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` fills all of the set that it is given, and `sigaddset` and `pthread_sigmask` get a set that
        // was filled; `before` is filled by the last where it succeeds, and is only taken then.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in signals {
                if libc::sigaddset(set.as_mut_ptr(), *signal) != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            match libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr()) {
                0 => Ok(Self { before: before.assume_init(), _stays: PhantomData }),
                errno => Err(io::Error::from_raw_os_error(errno)),
            }
        }
    }
}

impl Drop for SignalMaskGuard {
    fn drop(&mut self) {
        // SAFETY: the set is whole; the former mask is not asked for. It fails for an unknown way of setting only.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    }

    #[test]
    fn they_go_elsewhere_for_as_long_as_it_lives() {
        let before = blocked();
        let elsewhere = SignalMaskGuard::new(&[libc::SIGHUP, libc::SIGINT]).unwrap();
        let bits = 1 << (libc::SIGHUP - 1) | 1 << (libc::SIGINT - 1);
        assert_eq!(blocked(), before | bits);
        assert_eq!(std::thread::spawn(blocked).join().unwrap() & bits, bits);
        drop(elsewhere);
        assert_eq!(blocked(), before);
        assert_eq!(SignalMaskGuard::new(&[4711]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
