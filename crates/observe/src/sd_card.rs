//! Decoding the registers of SD and eMMC cards, as the kernel prints them in hexadecimal.
//!
//! Bit positions: SD Physical Layer Simplified Specification (CID 5.2, SCR 5.6, SSR 4.10.2) and JEDEC JESD84-B51
//! (CID 7.2). Pure functions: text in, values out; whatever is not hexadecimal of the right length is `None`.

use crate::facts;
use crate::register_facts::RegisterFacts;
use model::Fact;

/// A register of `N` bytes, most significant byte first.
pub(crate) fn register<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let hex = hex.trim().as_bytes();
    if hex.len() != 2 * N {
        return None;
    }
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    let mut out = [0; N];
    for (byte, pair) in out.iter_mut().zip(hex.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(out)
}

/// Bits `high` to `low` (both included, bit 0 is the last one of the register), at most 64.
pub(crate) fn bits(register: &[u8], high: usize, low: usize) -> u64 {
    let last = register.len() * 8 - 1;
    (low..=high).rev().fold(0, |value, bit| {
        let position = last - bit;
        value << 1 | u64::from(register[position / 8] >> (7 - position % 8) & 1)
    })
}

fn printable(register: &[u8], high: usize, low: usize) -> String {
    let bytes = (low..high).step_by(8).rev().map(|b| bits(register, b + 7, b) as u8);
    bytes.filter(|b| b.is_ascii_graphic() || *b == b' ').map(char::from).collect::<String>().trim().to_owned()
}

/// What a card says of its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardIdentity {
    pub manufacturer_id: u8,
    /// OEM and application id.
    pub oem_id: u16,
    /// Product name.
    pub name: String,
    /// Product revision, `n.m`.
    pub revision: String,
    /// Serial number.
    pub serial: u32,
    /// Year of manufacture.
    pub year: u16,
    /// Month of manufacture, 1 to 12; other values are as the card has them.
    pub month: u8,
}

impl CardIdentity {
    /// `2019-07`; `None` if the month is not one.
    pub fn manufactured(&self) -> Option<String> {
        (1..=12).contains(&self.month).then(|| format!("{}-{:02}", self.year, self.month))
    }
}

/// The CID of an SD card.
pub fn sd_identity(cid: &str) -> Option<CardIdentity> {
    let r = register::<16>(cid)?;
    Some(CardIdentity {
        manufacturer_id: bits(&r, 127, 120) as u8,
        oem_id: bits(&r, 119, 104) as u16,
        name: printable(&r, 103, 64),
        revision: format!("{}.{}", bits(&r, 63, 60), bits(&r, 59, 56)),
        serial: bits(&r, 55, 24) as u32,
        year: 2000 + bits(&r, 19, 12) as u16,
        month: bits(&r, 11, 8) as u8,
    })
}

/// The CID of an eMMC. Its year has four bits and starts again: with EXT_CSD revision above 4 the years before 2010 mean
/// 16 years later (k:drivers/mmc/core/mmc.c, JESD84-B51 7.2.7).
pub fn emmc_identity(cid: &str, extended_csd_revision: Option<u8>) -> Option<CardIdentity> {
    let r = register::<16>(cid)?;
    let year = 1997 + bits(&r, 11, 8) as u16;
    let second_round = extended_csd_revision.is_some_and(|rev| rev > 4) && year < 2010;
    Some(CardIdentity {
        manufacturer_id: bits(&r, 127, 120) as u8,
        oem_id: bits(&r, 119, 104) as u16,
        name: printable(&r, 103, 56),
        revision: format!("{}.{}", bits(&r, 55, 52), bits(&r, 51, 48)),
        serial: bits(&r, 47, 16) as u32,
        year: if second_round { year + 16 } else { year },
        month: bits(&r, 15, 12) as u8,
    })
}

fn flag(register: &[u8], bit: usize) -> Fact {
    (bits(register, bit, bit) == 1).into()
}

/// `None` where the card does not tell.
fn allocation_unit(code: u64) -> Option<u64> {
    const MIB: u64 = 1 << 20;
    match code {
        1..=9 => Some(16_384 << (code - 1)),
        0xA => Some(8 * MIB),
        0xB => Some(12 * MIB),
        0xC => Some(16 * MIB),
        0xD => Some(24 * MIB),
        0xE => Some(32 * MIB),
        0xF => Some(64 * MIB),
        _ => None,
    }
}

/// What an SD card says of its speed: the SSR (64 bytes).
pub const SD_STATUS: RegisterFacts<str, [u8; 64]> = RegisterFacts {
    read: register,
    rows: &[
        // Other codes are reserved.
        (facts::SPEED_CLASS, |r| [0_u32, 2, 4, 6, 10].get(bits(r, 447, 440) as usize).copied().into()),
        // 0, 1 or 3.
        (facts::UHS_GRADE, |r| bits(r, 399, 396).into()),
        // 0, 6, 10, 30, 60, 90.
        (facts::VIDEO_CLASS, |r| bits(r, 391, 384).into()),
        // 0, 1 (A1), 2 (A2).
        (facts::APP_PERFORMANCE_CLASS, |r| bits(r, 339, 336).into()),
        (facts::ALLOCATION_UNIT_BYTES, |r| allocation_unit(bits(r, 431, 428)).into()),
        (facts::UHS_ALLOCATION_UNIT_BYTES, |r| {
            Some(bits(r, 395, 392)).filter(|code| *code >= 7).and_then(allocation_unit).into()
        }),
        // Allocation units erased at once; 0 not told. Their timeout in seconds, and its constant part.
        (facts::ERASE_SIZE_AU, |r| bits(r, 423, 408).into()),
        (facts::ERASE_TIMEOUT_S, |r| bits(r, 407, 402).into()),
        (facts::ERASE_OFFSET_S, |r| bits(r, 401, 400).into()),
        // The register holds the depth less one; 0 means no queue (SD 6.0, 4.10.2).
        (facts::SD_CARD_QUEUE_DEPTH, |r| match bits(r, 335, 331) {
            0 => Fact::Int(0),
            n => (n + 1).into(),
        }),
        (facts::SD_CARD_CACHE, |r| flag(r, 330)),
        (facts::SD_HOST_MAINTENANCE, |r| flag(r, 329)),
        (facts::SD_CARD_MAINTENANCE, |r| flag(r, 328)),
        (facts::SD_SECURE_MODE, |r| flag(r, 509)),
        (facts::SD_DISCARD, |r| flag(r, 313)),
        // Full user area logical erase.
        (facts::SD_FULE, |r| flag(r, 312)),
    ],
};

/// What an SD card says of its configuration: the SCR (8 bytes).
pub const SD_CONFIGURATION: RegisterFacts<str, [u8; 8]> = RegisterFacts {
    read: register,
    rows: &[
        (facts::SD_SPEC, |r| specification(r).into()),
        (facts::SD_BUS_WIDTHS, |r| {
            let widths = [(48, "1"), (50, "4")].into_iter().filter(|(bit, _)| bits(r, *bit, *bit) == 1);
            widths.map(|(_, width)| width.to_owned()).collect::<Vec<String>>().into()
        }),
        // Set block count.
        (facts::SD_CMD23, |r| flag(r, 33)),
        // Extension registers.
        (facts::SD_CMD48, |r| flag(r, 34)),
        // What erased data read as.
        (facts::SD_ERASED_BIT, |r| bits(r, 55, 55).into()),
    ],
};

/// Version of the physical layer specification.
fn specification(scr: &[u8; 8]) -> &'static str {
    let (spec, spec3, spec4, specx) = (bits(scr, 59, 56), bits(scr, 47, 47), bits(scr, 42, 42), bits(scr, 41, 38));
    match (spec, spec3, spec4, specx) {
        (0, ..) => "1.0X",
        (1, ..) => "1.10",
        (2, 0, ..) => "2.00",
        (2, 1, 0, 0) => "3.0X",
        (2, 1, 1, 0) => "4.XX",
        (2, 1, _, 1) => "5.XX",
        (2, 1, _, 2) => "6.XX",
        (2, 1, _, 3) => "7.XX",
        (2, 1, _, 4) => "8.XX",
        (2, 1, _, 5) => "9.XX",
        _ => "unknown",
    }
}
