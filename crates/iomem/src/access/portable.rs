//! Any architecture: volatile accesses up to a register's width.

use crate::Width;

volatile!(load_1, store_1, u8);
volatile!(load_2, store_2, u16);
volatile!(load_4, store_4, u32);
#[cfg(target_pointer_width = "64")]
volatile!(load_8, store_8, u64);

pub(crate) fn supports(_width: Width) -> bool {
    false
}

pub(crate) fn streams() -> bool {
    false
}

#[cfg(target_pointer_width = "64")]
block_of_words!(load_8, store_8, 8);
#[cfg(not(target_pointer_width = "64"))]
block_of_words!(load_4, store_4, 4);
