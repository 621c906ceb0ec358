//! What a thread used and where it may run, and how much memory it may lock.
#![allow(unsafe_code)]

use rustix::process::{Resource, Rlimit, getpriority_process, getrlimit, setpriority_process, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io::{self, Read as _};

/// CPU that a thread used, from getrusage(2) with RUSAGE_THREAD. The sum of user and system time is exact to the
/// scheduler's clock; their split is by ticks where the kernel was built without precise accounting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// User time.
    pub user_ns: u64,
    /// System time.
    pub system_ns: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Time on a run queue, waiting for a CPU; `None` if the kernel does not count it (CONFIG_SCHED_INFO), there is no
    /// /proc, or this is not of one thread.
    pub cpu_wait_ns: Option<u64>,
}

impl ThreadUsage {
    /// What was used since `earlier`; saturating, because the kernel's split of user and system time may be revised.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            cpu_wait_ns: self.cpu_wait_ns.zip(earlier.cpu_wait_ns).map(|(a, b)| a.saturating_sub(b)),
        }
    }
}

/// What the calling thread used since it started.
pub fn thread_usage() -> ThreadUsage {
    ThreadUsage { cpu_wait_ns: cpu_wait_ns(), ..usage_of(libc::RUSAGE_THREAD) }
}

/// The second figure of /proc/thread-self/schedstat: `run_delay` (Documentation/scheduler/sched-stats.rst).
///
/// Read into a place of fixed size: a worker asks for it around its loop, which takes no memory.
fn cpu_wait_ns() -> Option<u64> {
    // Three numbers of at most 20 digits.
    let mut text = [0; 64];
    let length = std::fs::File::open("/proc/thread-self/schedstat").ok()?.read(&mut text).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// What all threads of this process used, the kernel's workers for its rings included.
pub fn process_usage() -> ThreadUsage {
    usage_of(libc::RUSAGE_SELF)
}

/// What child processes used that have ended and were waited for.
pub fn children_usage() -> ThreadUsage {
    usage_of(libc::RUSAGE_CHILDREN)
}

fn usage_of(who: libc::c_int) -> ThreadUsage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole `rusage`, and all-zero bytes are a valid value of it.
    let usage = unsafe {
        // Fails only for a bad pointer or an unknown `who` (getrusage(2)); then the zeros stay.
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1_000;
    ThreadUsage {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        cpu_wait_ns: None,
    }
}

/// The CPUs on which the calling thread may run.
pub fn affinity() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect())
}

/// Confines the calling thread to `cpus`.
///
/// # Errors
/// `EINVAL` where none of them is online or permitted.
pub fn set_affinity(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| (**cpu as usize) < CpuSet::MAX_CPU) {
        set.set(*cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// The nice value of the calling thread: on Linux it is a thread's own (setpriority(2), "C library/kernel differences").
///
/// # Errors
/// Those of getpriority(2).
pub fn nice() -> io::Result<i32> {
    Ok(getpriority_process(None)?)
}

/// Sets the nice value of the calling thread, which those that it starts from now on have, too.
///
/// # Errors
/// `EACCES` or `EPERM` for a lower value than that of now without CAP_SYS_NICE.
pub fn set_nice(nice: i32) -> io::Result<()> {
    Ok(setpriority_process(None, nice)?)
}

/// Sets the priority of the requests that the calling thread makes, io_uring entries without one of their own included
/// (`io_prep_rw` takes the task's). `priority` as in ioprio_set(2): the class, three bits, above a hint of ten (Linux 6.5;
/// before, 0) and the level of three (k:include/uapi/linux/ioprio.h); 0: what a thread has that says nothing.
///
/// # Errors
/// `EPERM` for real time without CAP_SYS_ADMIN and CAP_SYS_NICE, `EINVAL` for what is no class, level or hint.
pub fn set_io_priority(priority: u16) -> io::Result<()> {
    const WHO_PROCESS: libc::c_int = 1;
    let priority = libc::c_int::from(priority);
    // SAFETY: takes three numbers, no memory; process 0 is the calling thread (ioprio_set(2)).
    let r = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0 as libc::c_int, priority) };
    if r == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The priority of the requests that the calling thread makes, as [`set_io_priority`] takes it.
pub fn io_priority() -> u16 {
    const WHO_PROCESS: libc::c_int = 1;
    // SAFETY: takes two numbers, no memory; process 0 is the calling thread (ioprio_get(2)).
    let r = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0 as libc::c_int) };
    // It does not fail for the caller itself, unless a filter forbids it.
    u16::try_from(r).unwrap_or(0)
}

/// Arguments of prctl(2) that are not used are read all the same: as wide as the call takes them.
const NONE: libc::c_ulong = 0;

/// As long as it lives, timers of the thread that made it expire when they are due. Without it the kernel may let a
/// sleep last 50 us longer, to serve several timers with one interrupt (PR_SET_TIMERSLACK of prctl(2); threads of a
/// real-time class have no slack anyway).
#[derive(Debug)]
pub struct MinTimerSlack {
    /// What held before, if it could be changed.
    before_ns: Option<libc::c_ulong>,
    /// The slack is a thread's.
    _stays: std::marker::PhantomData<*const ()>,
}

impl MinTimerSlack {
    /// For the calling thread. Where the kernel does not let it, nothing is changed.
    pub fn new() -> Self {
        const MIN_NS: libc::c_ulong = 1;
        // SAFETY: these take and return numbers only.
        let before_ns = unsafe {
            let before = libc::prctl(libc::PR_GET_TIMERSLACK, NONE, NONE, NONE, NONE);
            let set = before >= 0 && libc::prctl(libc::PR_SET_TIMERSLACK, MIN_NS, NONE, NONE, NONE) == 0;
            set.then_some(before as libc::c_ulong)
        };
        Self { before_ns, _stays: std::marker::PhantomData }
    }
}

impl Default for MinTimerSlack {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for MinTimerSlack {
    fn drop(&mut self) {
        if let Some(before) = self.before_ns {
            // SAFETY: takes numbers only.
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, before, NONE, NONE, NONE) };
        }
    }
}

/// Raises the soft limit of locked memory to the hard one, for registered buffers (kernels before 5.12 also charge the
/// rings themselves). Returns the limit that holds now, bytes; `None` is unlimited.
pub fn raise_memlock() -> Option<u64> {
    let limit = getrlimit(Resource::Memlock);
    if limit.current != limit.maximum {
        // Raising a soft limit up to the hard one is always permitted (getrlimit(2)); should a security module refuse, the
        // old limit holds and the registration reports what it could not have.
        let _ = setrlimit(Resource::Memlock, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
    getrlimit(Resource::Memlock).current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_that_of_the_thread_that_set_it() {
        let before = io_priority();
        let of_thread = std::thread::spawn(move || {
            set_io_priority(3 << 13).unwrap();
            let idle = io_priority();
            set_io_priority(2 << 13 | 6).unwrap();
            (idle, io_priority(), set_io_priority(7 << 13).is_err())
        });
        assert_eq!(of_thread.join().unwrap(), (3 << 13, 2 << 13 | 6, true));
        assert_eq!(io_priority(), before);
    }

    #[test]
    fn usage_grows_with_work() {
        let before = thread_usage();
        let mut x = 1u64;
        loop {
            for _ in 0..100_000 {
                x = std::hint::black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1));
            }
            let used = thread_usage().since(&before);
            if used.user_ns + used.system_ns > 0 {
                break;
            }
        }
    }

    #[test]
    fn slack_is_a_nanosecond_for_a_while() {
        // SAFETY: takes and returns numbers only.
        let slack = || unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, NONE, NONE, NONE, NONE) };
        let before = slack();
        let punctual = MinTimerSlack::new();
        assert!(slack() <= 1, "{}", slack());
        drop(punctual);
        assert_eq!(slack(), before);
    }

    #[test]
    fn affinity_round_trips() {
        let cpus = affinity().unwrap();
        assert!(!cpus.is_empty());
        std::thread::spawn(move || {
            set_affinity(&cpus[..1]).unwrap();
            assert_eq!(affinity().unwrap(), &cpus[..1]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn memlock_is_raised_to_the_hard_limit() {
        assert_eq!(raise_memlock(), getrlimit(Resource::Memlock).maximum);
    }
}
