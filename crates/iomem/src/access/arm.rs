//! ARMv7 and later, 32 bit: one instruction an access, and bursts by `ldm` and `stm` of four registers on the device's side. Ordinary
//! memory is reached by single words, which may be misaligned; `ldm` may not.

use crate::Width;
use core::arch::asm;

instruction!(load_1, store_1, u8, u32, "ldrb {word}, [{at}]", "strb {word}, [{at}]");
instruction!(load_2, store_2, u16, u32, "ldrh {word}, [{at}]", "strh {word}, [{at}]");
instruction!(load_4, store_4, u32, u32, "ldr {word}, [{at}]", "str {word}, [{at}]");

pub(crate) fn supports(_width: Width) -> bool {
    false
}

pub(crate) fn streams() -> bool {
    false
}

/// # Safety
/// 64 bytes are valid; `from` is aligned to 4.
#[inline(always)]
pub(crate) unsafe fn load_block(from: *const u8, to: *mut u8) {
    for at in (0..64).step_by(16) {
        let (a, b, c, d): (u32, u32, u32, u32);
        // SAFETY: as the caller says.
        unsafe {
            asm!(
                "ldm {from}, {{r0, r1, r2, r3}}",
                from = in(reg) from.add(at), out("r0") a, out("r1") b, out("r2") c, out("r3") d,
                options(nostack, preserves_flags)
            );
            super::to_memory(to.add(at), a);
            super::to_memory(to.add(at + 4), b);
            super::to_memory(to.add(at + 8), c);
            super::to_memory(to.add(at + 12), d);
        }
    }
}

/// # Safety
/// 64 bytes are valid; `to` is aligned to 4.
#[inline(always)]
pub(crate) unsafe fn store_block(from: *const u8, to: *mut u8) {
    for at in (0..64).step_by(16) {
        // SAFETY: as the caller says.
        unsafe {
            let word = |n: usize| super::from_memory::<u32>(from.add(at + n));
            asm!(
                "stm {to}, {{r0, r1, r2, r3}}",
                to = in(reg) to.add(at), in("r0") word(0), in("r1") word(4), in("r2") word(8), in("r3") word(12),
                options(nostack, preserves_flags)
            );
        }
    }
}
