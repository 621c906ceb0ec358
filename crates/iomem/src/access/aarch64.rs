//! AArch64: one instruction an access. Q registers where the target has them; targets for kernels do not.

use crate::Width;

instruction!(load_1, store_1, u8, u32, "ldrb {word:w}, [{at}]", "strb {word:w}, [{at}]");
instruction!(load_2, store_2, u16, u32, "ldrh {word:w}, [{at}]", "strh {word:w}, [{at}]");
instruction!(load_4, store_4, u32, u32, "ldr {word:w}, [{at}]", "str {word:w}, [{at}]");
instruction!(load_8, store_8, u64, u64, "ldr {word:x}, [{at}]", "str {word:x}, [{at}]");

pub(crate) fn supports(_width: Width) -> bool {
    false
}

pub(crate) fn streams() -> bool {
    cfg!(target_feature = "neon")
}

#[cfg(target_feature = "neon")]
pub(crate) use q_registers::{
    move_16, move_block as load_block, move_block as store_block, stream_block as stream_in, stream_block as stream_out,
};

/// Moves by Q registers.
#[cfg(target_feature = "neon")]
mod q_registers {
    use core::arch::asm;

    macro_rules! moves {
        ($name:ident, $($instruction:literal),+) => {
            /// # Safety
            /// The bytes from `from` and to `to` are valid; the device's side is aligned.
            #[inline(always)]
            pub(crate) unsafe fn $name(from: *const u8, to: *mut u8) {
                // SAFETY: as the caller says.
                unsafe {
                    asm!(
                        $($instruction),+,
                        from = in(reg) from, to = in(reg) to, out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                        options(nostack, preserves_flags)
                    );
                }
            }
        };
    }

    moves!(move_16, "ldr q0, [{from}]", "str q0, [{to}]");
    moves!(
        move_block,
        "ldp q0, q1, [{from}]",
        "ldp q2, q3, [{from}, #32]",
        "stp q0, q1, [{to}]",
        "stp q2, q3, [{to}, #32]"
    );
    moves!(
        stream_block,
        "ldnp q0, q1, [{from}]",
        "ldnp q2, q3, [{from}, #32]",
        "stnp q0, q1, [{to}]",
        "stnp q2, q3, [{to}, #32]"
    );
}

#[cfg(not(target_feature = "neon"))]
block_of_words!(load_8, store_8, 8);
