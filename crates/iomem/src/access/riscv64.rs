//! RISC-V, 64 bit: one instruction an access; a burst is eight of them before what was read is stored.

use crate::Width;

instruction!(load_1, store_1, u8, u64, "lbu {word}, 0({at})", "sb {word}, 0({at})");
instruction!(load_2, store_2, u16, u64, "lhu {word}, 0({at})", "sh {word}, 0({at})");
instruction!(load_4, store_4, u32, u64, "lwu {word}, 0({at})", "sw {word}, 0({at})");
instruction!(load_8, store_8, u64, u64, "ld {word}, 0({at})", "sd {word}, 0({at})");

pub(crate) fn supports(_width: Width) -> bool {
    false
}

pub(crate) fn streams() -> bool {
    false
}

block_of_words!(load_8, store_8, 8);
