//! Loads and stores in a mapping that fail: SIGBUS becomes an error of the one operation.
//!
//! The kernel reports by SIGBUS what a call would report by its errno: a page that the device cannot read, a file that
//! became shorter. The signal comes to the thread that made the access, at the instruction. The handler looks whether the
//! address lies in the mapping that this thread said it works on; if so it puts an empty private page in the place of the
//! one that cannot be had and returns, so that the instruction succeeds, and notes the fact; the operation then fails, and
//! its pages are mapped from the file again, so that the next access asks the device again. Any other SIGBUS goes to
//! whoever handled the signal before.
//!
//! The handler touches only thread-local cells that need no initialisation, and calls mmap and sigaction, which are plain
//! system calls (signal-safety(7) lists sigaction; mmap takes no lock of the C library).
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

/// The mapping that a thread works on, and which pages of it could not be had. Written by the thread and by the handler
/// that interrupts the same thread.
struct FaultGuard {
    start: AtomicUsize,
    end: AtomicUsize,
    first_lost: AtomicUsize,
    last_lost: AtomicUsize,
}

thread_local! {
    static GUARD: FaultGuard = const {
        FaultGuard {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            first_lost: AtomicUsize::new(usize::MAX),
            last_lost: AtomicUsize::new(0),
        }
    };
}

/// Who handled the signal before.
struct PreviousHandler(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: written once, within `INSTALL`, before the handler that reads it can run.
unsafe impl Sync for PreviousHandler {}

static PREVIOUS: PreviousHandler = PreviousHandler(UnsafeCell::new(MaybeUninit::uninit()));
static INSTALL: Once = Once::new();
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// Pages of a mapping that could not be had: addresses of the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostPages {
    pub first: usize,
    pub last: usize,
}

extern "C" fn on_bus_error(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a whole siginfo to a handler with SA_SIGINFO; SIGBUS fills in the address.
    let address = unsafe { (*info).si_addr() } as usize;
    let replaced = GUARD.try_with(|guard| {
        let ours = guard.start.load(Ordering::Relaxed) <= address && address < guard.end.load(Ordering::Relaxed);
        ours && {
            let page = PAGE.load(Ordering::Relaxed);
            let at = address / page * page;
            guard.first_lost.fetch_min(at, Ordering::Relaxed);
            guard.last_lost.fetch_max(at, Ordering::Relaxed);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            // SAFETY: the page lies in a mapping that this thread announced as its own and that no reference points
            // into; what is put there is readable and writable like it.
            let put =
                unsafe { libc::mmap(at as *mut libc::c_void, page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
            put != libc::MAP_FAILED
        }
    });
    if replaced != Ok(true) {
        // SAFETY: `PREVIOUS` was written before this handler was installed. The instruction is repeated when we return,
        // and the signal then goes to whoever had it before.
        unsafe { libc::sigaction(libc::SIGBUS, (*PREVIOUS.0.get()).as_ptr(), std::ptr::null_mut()) };
    }
}

/// Installs the handler, once.
fn install() {
    INSTALL.call_once(|| {
        PAGE.store(rustix::param::page_size(), Ordering::Relaxed);
        // SAFETY: all-zero bytes are a valid sigaction; the old action is read into whole memory before the handler
        // can run; the handler has the signature that SA_SIGINFO asks for.
        unsafe {
            libc::sigaction(libc::SIGBUS, std::ptr::null(), (*PREVIOUS.0.get()).as_mut_ptr());
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as extern "C" fn(_, _, _) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
        }
    });
}

/// Runs `access`, which touches the mapping from `start` to `end` and nothing else that could fault.
///
/// # Errors
/// The pages that could not be had; they are private and empty now, until the caller maps them again.
pub(crate) fn guarded(start: usize, end: usize, access: impl FnOnce()) -> Result<(), LostPages> {
    install();
    GUARD.with(|guard| {
        guard.start.store(start, Ordering::Relaxed);
        guard.end.store(end, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        access();
        compiler_fence(Ordering::SeqCst);
        guard.end.store(0, Ordering::Relaxed);
        if guard.last_lost.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let first = guard.first_lost.swap(usize::MAX, Ordering::Relaxed);
        Err(LostPages { first, last: guard.last_lost.swap(0, Ordering::Relaxed) })
    })
}

/// Has a write beyond the limit of file size (RLIMIT_FSIZE) fail with EFBIG instead of ending the program by SIGXFSZ
/// (setrlimit(2)). For the whole process, and for programs that it starts.
pub fn ignore_file_size_signal() {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
