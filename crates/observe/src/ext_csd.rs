//! Decoding the EXT_CSD register of an eMMC (JESD84-B51, 7.4), as debugfs prints it: 512 bytes in hexadecimal, byte 0 first.

/// What an eMMC says of its abilities and state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedCsd {
    /// Revision of the register: 5 = 4.41, 6 = 4.5, 7 = 5.0, 8 = 5.1.
    pub revision: u8,
    /// Bus modes that the card can do, named as the fact `bus_mode`.
    pub modes: Vec<&'static str>,
    /// Mode that it is in.
    pub timing: Option<&'static str>,
    /// It has a command queue (byte 308).
    pub queue_supported: bool,
    /// Commands that it queues (byte 307).
    pub queue_depth: Option<u8>,
    /// The queue is on (byte 15).
    pub queue_on: bool,
    /// Size of its cache (bytes 252 to 249); 0 without.
    pub cache_bytes: u64,
    /// The cache is on (byte 33).
    pub cache_on: bool,
    /// Background operations: `off`, `manual`, `auto` (byte 163).
    pub background_operations: &'static str,
    /// Writes to the user area keep the old data until they are complete (bytes 166, 167).
    pub reliable_write: bool,
    /// Flushes can be ordered without waiting (byte 486).
    pub barrier: bool,
    /// Capacity in units of 512 bytes (bytes 215 to 212); 0 up to 2 GB.
    pub sectors: u32,
    /// Wear of memory of type A and B in tenths, 11 is past its life (bytes 268, 269); `None` where not told.
    pub life_time: Option<(u8, u8)>,
    /// 1 normal, 2 warning, 3 urgent (byte 267); `None` where not told.
    pub pre_end_of_life: Option<u8>,
}

/// The register; `None` if the text is not 512 bytes in hexadecimal.
pub fn extended_csd(hex: &str) -> Option<ExtendedCsd> {
    let r = crate::sd_card::register::<512>(hex)?;
    let revision = r[192];
    // Bytes that came with a later revision read as zero before, but only since they were given a meaning.
    let from = |first: u8, byte: usize| if revision >= first { r[byte] } else { 0 };
    let modes = [(0x03, "mmc-hs"), (0x0c, "ddr52"), (0x30, "hs200"), (0xc0, "hs400")];
    let modes = modes.iter().filter(|(mask, _)| r[196] & mask != 0).map(|(_, name)| *name).collect();
    let queue_supported = from(8, 308) & 1 == 1;
    let word = |byte: usize| u32::from_le_bytes([r[byte], r[byte + 1], r[byte + 2], r[byte + 3]]);
    Some(ExtendedCsd {
        revision,
        modes,
        timing: ["legacy", "mmc-hs", "hs200", "hs400"].get(usize::from(r[185] & 0x0f)).copied(),
        queue_supported,
        queue_depth: queue_supported.then(|| (r[307] & 0x1f) + 1),
        queue_on: from(8, 15) & 1 == 1,
        // Units of 1,024 bits.
        cache_bytes: if revision >= 6 { u64::from(word(249)) * 128 } else { 0 },
        cache_on: from(6, 33) & 1 == 1,
        background_operations: match from(5, 163) & 0x03 {
            0 => "off",
            1 => "manual",
            _ => "auto",
        },
        reliable_write: from(5, 166) & 0x01 == 1 && r[167] & 0x01 == 1,
        barrier: from(8, 486) & 1 == 1,
        sectors: word(212),
        life_time: Some((from(7, 268), from(7, 269))).filter(|(a, b)| *a != 0 || *b != 0),
        pre_end_of_life: Some(from(7, 267)).filter(|e| *e != 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (267, 1),
            (268, 2),
            (269, 1),
            (307, 31),
            (308, 1),
        ];
        let card = extended_csd(&hex(&bytes)).unwrap();
        assert_eq!(card.modes, ["mmc-hs", "ddr52", "hs200", "hs400"]);
        assert_eq!((card.timing, card.revision), (Some("hs400"), 8));
        assert_eq!((card.queue_supported, card.queue_depth, card.queue_on), (true, Some(32), true));
        assert_eq!((card.cache_bytes, card.cache_on), (512 * 128, true));
        assert_eq!((card.background_operations, card.reliable_write), ("auto", true));
        assert_eq!((card.life_time, card.pre_end_of_life), (Some((2, 1)), Some(1)));
        assert_eq!(card.sectors, 0x03a4_0000);
    }

    #[test]
    fn an_old_card_is_not_asked_for_what_came_later() {
        let card = extended_csd(&hex(&[(192, 5), (196, 3), (308, 1), (249, 255), (33, 1), (268, 1)])).unwrap();
        assert_eq!((card.queue_supported, card.queue_depth, card.cache_bytes, card.cache_on), (false, None, 0, false));
        assert_eq!(card.life_time, None);
        assert_eq!(extended_csd("00"), None);
        assert_eq!(extended_csd(&"zz".repeat(512)), None);
    }
}
