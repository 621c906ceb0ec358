//! Decoding the EXT_CSD register of an eMMC (JESD84-B51, 7.4), as debugfs prints it: 512 bytes in hexadecimal, byte 0 first.

use crate::facts;
use crate::register_facts::RegisterFacts;

type Register = [u8; 512];

/// Bytes that came with a later revision read as zero before, but only since they were given a meaning: 5 = 4.41, 6 = 4.5, 7 = 5.0,
/// 8 = 5.1.
fn since(revision: u8, r: &Register, byte: usize) -> u8 {
    if r[192] >= revision { r[byte] } else { 0 }
}

fn has_queue(r: &Register) -> bool {
    since(8, r, 308) & 1 == 1
}

fn word(r: &Register, byte: usize) -> u32 {
    u32::from_le_bytes([r[byte], r[byte + 1], r[byte + 2], r[byte + 3]])
}

/// What an eMMC says of its abilities and state.
pub const EXTENDED_CSD: RegisterFacts<str, Register> = RegisterFacts {
    read: crate::sd_card::register,
    rows: &[
        // Bus modes that the card can do, named as the fact `bus_mode`.
        (facts::EMMC_MODES, |r| {
            let modes = [(0x03, "mmc-hs"), (0x0c, "ddr52"), (0x30, "hs200"), (0xc0, "hs400")].into_iter();
            modes
                .filter(|(mask, _)| r[196] & mask != 0)
                .map(|(_, name)| name.to_owned())
                .collect::<Vec<String>>()
                .into()
        }),
        // The mode that it is in.
        (facts::EMMC_TIMING, |r| {
            ["legacy", "mmc-hs", "hs200", "hs400"].get(usize::from(r[185] & 0x0f)).copied().into()
        }),
        (facts::EMMC_QUEUE_SUPPORTED, |r| has_queue(r).into()),
        (facts::EMMC_QUEUE_DEPTH, |r| has_queue(r).then(|| u32::from(r[307] & 0x1f) + 1).into()),
        (facts::EMMC_QUEUE_ON, |r| (since(8, r, 15) & 1 == 1).into()),
        // Units of 1,024 bits; 0 without a cache.
        (facts::EMMC_CACHE_BYTES, |r| (if r[192] >= 6 { u64::from(word(r, 249)) * 128 } else { 0 }).into()),
        (facts::EMMC_CACHE_ON, |r| (since(6, r, 33) & 1 == 1).into()),
        (facts::EMMC_BACKGROUND_OPERATIONS, |r| match since(5, r, 163) & 0x03 {
            0 => "off".into(),
            1 => "manual".into(),
            _ => "auto".into(),
        }),
        // Writes to the user area keep the old data until they are complete.
        (facts::EMMC_RELIABLE_WRITE, |r| (since(5, r, 166) & 0x01 == 1 && r[167] & 0x01 == 1).into()),
        // Flushes can be ordered without waiting.
        (facts::EMMC_BARRIER, |r| (since(8, r, 486) & 1 == 1).into()),
        // Capacity in units of 512 bytes; 0 up to 2 GB.
        (facts::EMMC_SECTORS, |r| word(r, 212).into()),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Fact, Layer, LayerKind};

    fn card(bytes: &[(usize, u8)]) -> Layer {
        let mut card = Layer::new(LayerKind::Disk, "mmcblk0");
        EXTENDED_CSD.set_on(&mut card, Some(&hex(bytes)));
        card
    }

    fn hex(bytes: &[(usize, u8)]) -> String {
        let mut register = [0u8; 512];
        for (at, value) in bytes {
            register[*at] = *value;
        }
        register.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn a_card_with_queue_and_cache() {
        let bytes = [
            (15, 1),
            (33, 1),
            (163, 2),
            (166, 0x05),
            (167, 0x1f),
            (185, 3),
            (192, 8),
            (196, 0x57),
            (214, 0xa4),
            (215, 0x03),
            (250, 0x02),
            (307, 31),
            (308, 1),
        ];
        let card = card(&bytes);
        let modes = ["mmc-hs", "ddr52", "hs200", "hs400"].map(str::to_owned);
        assert_eq!(card.fact(facts::EMMC_MODES), Some(&Fact::List(modes.into())));
        assert_eq!(card.text(facts::EMMC_TIMING), Some("hs400"));
        assert_eq!((card.bool(facts::EMMC_QUEUE_SUPPORTED), card.bool(facts::EMMC_QUEUE_ON)), (Some(true), Some(true)));
        assert_eq!(card.int(facts::EMMC_QUEUE_DEPTH), Some(32));
        assert_eq!((card.int(facts::EMMC_CACHE_BYTES), card.bool(facts::EMMC_CACHE_ON)), (Some(512 * 128), Some(true)));
        assert_eq!(card.text(facts::EMMC_BACKGROUND_OPERATIONS), Some("auto"));
        assert_eq!(card.bool(facts::EMMC_RELIABLE_WRITE), Some(true));
        assert_eq!(card.int(facts::EMMC_SECTORS), Some(0x03a4_0000));
    }

    #[test]
    fn an_old_card_is_not_asked_for_what_came_later() {
        let card = card(&[(192, 5), (196, 3), (308, 1), (249, 255), (33, 1)]);
        assert_eq!((card.bool(facts::EMMC_QUEUE_SUPPORTED), card.int(facts::EMMC_QUEUE_DEPTH)), (Some(false), None));
        assert_eq!((card.int(facts::EMMC_CACHE_BYTES), card.bool(facts::EMMC_CACHE_ON)), (Some(0), Some(false)));
        assert_eq!((EXTENDED_CSD.read)("00"), None);
        assert_eq!((EXTENDED_CSD.read)(&"zz".repeat(512)), None);
    }
}
