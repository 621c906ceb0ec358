//! What orders the accesses of a copy with those to ordinary memory around it.
//!
//! The same places as in Linux: reads are complete before what follows (`__iormb`), and what was stored in memory is seen before the
//! device is written to (`__iowmb`): arch/arm64/include/asm/io.h, arch/arm/include/asm/barrier.h, arch/riscv/include/asm/mmio.h. x86
//! keeps the order of uncached accesses by itself; stores past the caches are fenced (Intel SDM, volume 1, 10.4.6.2), and loads past
//! the caches are not ordered with the stores before them (volume 1, 12.10.3).

use crate::{Direction, Mode};
use core::sync::atomic::{Ordering, compiler_fence};

/// One instruction that touches no register.
#[cfg(all(
    not(miri),
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64")
))]
macro_rules! fence {
    ($instruction:literal) => {
        // SAFETY: a barrier changes neither registers nor memory; without options the compiler moves no access across it.
        unsafe { core::arch::asm!($instruction, options(nostack, preserves_flags)) }
    };
}

/// Before the first access.
#[inline]
pub(crate) fn before(direction: Direction, mode: Mode) {
    compiler_fence(Ordering::SeqCst);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if mode == Mode::Streaming {
        fence!("mfence");
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    if direction == Direction::Write {
        fence!("dmb oshst");
    }
    #[cfg(all(target_arch = "arm", not(miri)))]
    if direction == Direction::Write {
        fence!("dsb st");
    }
    #[cfg(all(target_arch = "riscv64", not(miri)))]
    if direction == Direction::Write {
        fence!("fence w, o");
    }
    is_unsupported(direction, mode);
}

/// After the last.
#[inline]
pub(crate) fn after(direction: Direction, mode: Mode) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if mode != Mode::Plain {
        fence!("sfence");
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    if direction == Direction::Read {
        fence!("dmb oshld");
    }
    #[cfg(all(target_arch = "arm", not(miri)))]
    if direction == Direction::Read {
        fence!("dsb");
    }
    #[cfg(all(target_arch = "riscv64", not(miri)))]
    if direction == Direction::Read {
        fence!("fence i, ir");
    }
    is_unsupported(direction, mode);
    compiler_fence(Ordering::SeqCst);
}

/// Where the architecture is none of the four.
#[inline]
fn is_unsupported(_direction: Direction, _mode: Mode) {
    #[cfg(any(
        miri,
        not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64"))
    ))]
    core::sync::atomic::fence(Ordering::SeqCst);
}
