//! Decoding the registers of SD and eMMC cards, as the kernel prints them in hexadecimal.
//!
//! Bit positions: SD Physical Layer Simplified Specification (CID 5.2, SCR 5.6, SSR 4.10.2) and JEDEC JESD84-B51
//! (CID 7.2). Pure functions: text in, values out; whatever is not hexadecimal of the right length is `None`.

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

/// What an SD card says of its speed (SD status register).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SdStatus {
    /// 0, 2, 4, 6 or 10; `None` for a reserved code.
    pub speed_class: Option<u8>,
    /// 0, 1 or 3 as the card has it.
    pub uhs_grade: u8,
    /// 0, 6, 10, 30, 60, 90.
    pub video_class: u8,
    /// 0, 1 (A1), 2 (A2).
    pub app_performance_class: u8,
    /// Allocation unit; `None` where the card does not tell.
    pub allocation_unit_bytes: Option<u64>,
    /// Allocation unit in UHS modes.
    pub uhs_allocation_unit_bytes: Option<u64>,
    /// Allocation units erased at once; 0 not told.
    pub erase_size_au: u16,
    /// Timeout for that, seconds.
    pub erase_timeout_s: u8,
    /// Constant part of the timeout, seconds.
    pub erase_offset_s: u8,
    /// Commands that the card queues; 0 without a queue.
    pub queue_depth: u8,
    /// The card has a cache.
    pub cache: bool,
    /// Card-initiated maintenance.
    pub card_maintenance: bool,
    /// Host-initiated maintenance.
    pub host_maintenance: bool,
    /// The card is in secured mode.
    pub secure_mode: bool,
    pub discard: bool,
    /// Full user area logical erase.
    pub full_erase: bool,
}

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

/// The SSR (64 bytes).
pub fn sd_status(ssr: &str) -> Option<SdStatus> {
    let r = register::<64>(ssr)?;
    let flag = |bit| bits(&r, bit, bit) == 1;
    Some(SdStatus {
        speed_class: [0, 2, 4, 6, 10].get(bits(&r, 447, 440) as usize).copied(),
        uhs_grade: bits(&r, 399, 396) as u8,
        video_class: bits(&r, 391, 384) as u8,
        app_performance_class: bits(&r, 339, 336) as u8,
        allocation_unit_bytes: allocation_unit(bits(&r, 431, 428)),
        uhs_allocation_unit_bytes: allocation_unit(bits(&r, 395, 392)).filter(|_| bits(&r, 395, 392) >= 7),
        erase_size_au: bits(&r, 423, 408) as u16,
        erase_timeout_s: bits(&r, 407, 402) as u8,
        erase_offset_s: bits(&r, 401, 400) as u8,
        // The register holds the depth less one; 0 means no queue (SD 6.0, 4.10.2).
        queue_depth: match bits(&r, 335, 331) as u8 {
            0 => 0,
            n => n + 1,
        },
        cache: flag(330),
        host_maintenance: flag(329),
        card_maintenance: flag(328),
        secure_mode: flag(509),
        discard: flag(313),
        full_erase: flag(312),
    })
}

/// What an SD card says of its configuration (SCR).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdConfiguration {
    /// Version of the physical layer specification.
    pub specification: &'static str,
    pub bus_widths: Vec<&'static str>,
    /// CMD23, set block count.
    pub cmd23: bool,
    /// CMD20, speed class control.
    pub cmd20: bool,
    /// CMD48 and CMD49, extension registers.
    pub cmd48: bool,
    /// What erased data read as.
    pub erased_bit: u8,
}

/// The SCR (8 bytes).
pub fn sd_configuration(scr: &str) -> Option<SdConfiguration> {
    let r = register::<8>(scr)?;
    let (spec, spec3, spec4, specx) = (bits(&r, 59, 56), bits(&r, 47, 47), bits(&r, 42, 42), bits(&r, 41, 38));
    let specification = match (spec, spec3, spec4, specx) {
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
    };
    let widths = bits(&r, 51, 48);
    let bus_widths = [(0, "1"), (2, "4")].into_iter().filter(|(bit, _)| widths >> bit & 1 == 1).map(|(_, w)| w);
    Some(SdConfiguration {
        specification,
        bus_widths: bus_widths.collect(),
        cmd23: bits(&r, 33, 33) == 1,
        cmd20: bits(&r, 32, 32) == 1,
        cmd48: bits(&r, 34, 34) == 1,
        erased_bit: bits(&r, 55, 55) as u8,
    })
}
