//! x86-64: volatile accesses for integers; SSE2, AVX and AVX-512 by assembly, as the compiler may split vectors.
//!
//! Which widths there are is asked of the processor: AVX and AVX-512 need the operating system's consent (Intel SDM, volume 1, 14.3
//! and 15.2), movntdqa needs SSE4.1.

use crate::Width;
use core::arch::asm;
use core::arch::x86_64::{__cpuid, __cpuid_count};
use core::sync::atomic::{AtomicU8, Ordering};

volatile!(load_1, store_1, u8);
volatile!(load_2, store_2, u16);
volatile!(load_4, store_4, u32);
volatile!(load_8, store_8, u64);

const KNOWN: u8 = 1;
const AVX: u8 = 2;
const AVX512: u8 = 4;
const SSE41: u8 = 8;

/// What was found out; 0: nothing was.
static FOUND: AtomicU8 = AtomicU8::new(0);

fn detected() -> u8 {
    let known = FOUND.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let features = __cpuid(1).ecx;
    let mut found = KNOWN;
    if features & (1 << 19) != 0 {
        found |= SSE41;
    }
    // OSXSAVE and AVX.
    if features & (1 << 27) != 0 && features & (1 << 28) != 0 {
        let enabled: u32;
        // SAFETY: OSXSAVE says that the instruction is there.
        unsafe {
            asm!("xgetbv", in("ecx") 0, out("eax") enabled, out("edx") _, options(nomem, nostack, preserves_flags))
        };
        if enabled & 0b110 == 0b110 {
            found |= AVX;
        }
        // Opmask and both parts of the ZMM registers; AVX512F is bit 16 of EBX in leaf 7.
        if enabled & 0b1110_0110 == 0b1110_0110 && __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & (1 << 16) != 0 {
            found |= AVX512;
        }
    }
    FOUND.store(found, Ordering::Relaxed);
    found
}

pub(crate) fn supports(width: Width) -> bool {
    match width {
        Width::B32 => detected() & AVX != 0,
        Width::B64 => detected() & AVX512 != 0,
        _ => false,
    }
}

pub(crate) fn streams() -> bool {
    cfg!(target_feature = "sse2") && detected() & SSE41 != 0
}

/// A loop that moves by one vector register; `count` is not 0.
macro_rules! vectors {
    ($name:ident, $bytes:literal, $register:literal, $load:literal, $store:literal, $after:literal) => {
        /// # Safety
        /// `count` vectors from `from` and to `to` are valid and as aligned as the instructions ask; the processor has them.
        pub(crate) unsafe fn $name(from: *const u8, to: *mut u8, count: usize) {
            // SAFETY: as the caller says. The registers of vectors are ours: all that a call may change are given up.
            unsafe {
                asm!(
                    "2:",
                    concat!($load, " ", $register, ", [{from}]"),
                    concat!($store, " [{to}], ", $register),
                    concat!("add {from}, ", $bytes),
                    concat!("add {to}, ", $bytes),
                    "dec {count}",
                    "jnz 2b",
                    $after,
                    from = inout(reg) from => _, to = inout(reg) to => _, count = inout(reg) count => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
                    out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                    options(nostack)
                );
            }
        }
    };
}

vectors!(load_vectors_16, "16", "xmm0", "movdqa", "movdqu", "");
vectors!(load_vectors_32, "32", "ymm0", "vmovdqa", "vmovdqu", "vzeroupper");
vectors!(load_vectors_64, "64", "zmm0", "vmovdqa64", "vmovdqu64", "vzeroupper");
vectors!(store_vectors_16, "16", "xmm0", "movdqu", "movdqa", "");
vectors!(store_vectors_32, "32", "ymm0", "vmovdqu", "vmovdqa", "vzeroupper");
vectors!(store_vectors_64, "64", "zmm0", "vmovdqu64", "vmovdqa64", "vzeroupper");

/// A block of 64 bytes by four registers.
macro_rules! block {
    ($name:ident, $load:literal, $store:literal) => {
        /// # Safety
        /// 64 bytes from `from` and to `to` are valid and as aligned as the instructions ask; the processor has them.
        #[inline(always)]
        pub(crate) unsafe fn $name(from: *const u8, to: *mut u8) {
            // SAFETY: as the caller says.
            unsafe {
                asm!(
                    concat!($load, " xmm0, [{from}]"),
                    concat!($load, " xmm1, [{from} + 16]"),
                    concat!($load, " xmm2, [{from} + 32]"),
                    concat!($load, " xmm3, [{from} + 48]"),
                    concat!($store, " [{to}], xmm0"),
                    concat!($store, " [{to} + 16], xmm1"),
                    concat!($store, " [{to} + 32], xmm2"),
                    concat!($store, " [{to} + 48], xmm3"),
                    from = in(reg) from, to = in(reg) to,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    options(nostack, preserves_flags)
                );
            }
        }
    };
}

block!(load_block, "movdqa", "movdqu");
block!(store_block, "movdqu", "movdqa");
block!(stream_to_anywhere, "movntdqa", "movdqu");
block!(stream_to_aligned, "movntdqa", "movntdq");
block!(stream_out, "movdqu", "movntdq");

/// # Safety
/// As `load_block`.
#[inline(always)]
pub(crate) unsafe fn stream_in(from: *const u8, to: *mut u8) {
    // SAFETY: as the caller says; the alignment is looked at.
    unsafe { if to.addr().is_multiple_of(16) { stream_to_aligned(from, to) } else { stream_to_anywhere(from, to) } }
}

/// `rep movsb`.
///
/// # Safety
/// `bytes` bytes from `from` and to `to` are valid.
pub(crate) unsafe fn repeat(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: as the caller says; the ABI has the direction flag clear.
    unsafe {
        asm!(
            "rep movsb",
            inout("rsi") from => _, inout("rdi") to => _, inout("rcx") bytes => _,
            options(nostack, preserves_flags)
        );
    }
}
