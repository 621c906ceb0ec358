//! Decoding the CSD register of SD cards (SD Physical Layer Simplified Specification, 5.3) and eMMC (JESD84-B51, 7.3).

use crate::sd_card::{bits, register};

/// What a card says of its basic abilities.
#[derive(Clone, Debug, PartialEq)]
pub struct CardSpecificData {
    /// Highest clock outside the fast modes, MHz; `None` for a reserved code.
    pub transfer_mhz: Option<f64>,
    /// Command classes by number.
    pub command_classes: Vec<u8>,
    /// Capacity; `None` where the register leaves it to another one (eMMC above 2 GB).
    pub capacity_bytes: Option<u64>,
    /// The content is a copy.
    pub copied: bool,
    /// Write protected for good.
    pub write_protected_permanently: bool,
    /// Write protected for now.
    pub write_protected_temporarily: bool,
}

/// The register; `is_sd` tells the two kinds apart, whose lists of clocks differ in two places.
pub fn card_specific_data(csd: &str, is_sd: bool) -> Option<CardSpecificData> {
    let r = register::<16>(csd)?;
    let structure = bits(&r, 127, 126);
    let capacity_bytes = match (is_sd, structure) {
        (true, 0) => small_capacity(&r),
        (true, 1) => Some((bits(&r, 69, 48) + 1) * (512 << 10)),
        (true, 2) => Some((bits(&r, 75, 48) + 1) * (512 << 10)),
        (true, _) => None,
        // All ones: the capacity is in EXT_CSD.
        (false, _) => Some(()).filter(|()| bits(&r, 73, 62) != 0xfff).and_then(|()| small_capacity(&r)),
    };
    let flag = |bit| bits(&r, bit, bit) == 1;
    Some(CardSpecificData {
        transfer_mhz: clock_mhz(bits(&r, 103, 96), is_sd),
        command_classes: (0..12).filter(|class| flag(84 + usize::from(*class))).collect(),
        capacity_bytes,
        copied: flag(14),
        write_protected_permanently: flag(13),
        write_protected_temporarily: flag(12),
    })
}

/// Version 1: blocks, multiplier and length of a block.
fn small_capacity(r: &[u8; 16]) -> Option<u64> {
    let length = bits(r, 83, 80);
    // 9 to 11 are allowed for SD, up to 15 for MMC.
    (9..=15).contains(&length).then(|| (bits(r, 73, 62) + 1) << (bits(r, 49, 47) + 2 + length))
}

/// TRAN_SPEED: a unit in bits 2:0, a factor in tenths in bits 6:3.
fn clock_mhz(code: u64, is_sd: bool) -> Option<f64> {
    let tenths = match (code >> 3 & 0xf, is_sd) {
        (6, true) => 25,
        (6, false) => 26,
        (11, true) => 50,
        (11, false) => 52,
        (n, _) => *[0, 10, 12, 13, 15, 20, 0, 30, 35, 40, 45, 0, 55, 60, 70, 80].get(usize::try_from(n).ok()?)?,
    };
    let unit_khz = match code & 0x7 {
        0 => 100,
        1 => 1_000,
        2 => 10_000,
        3 => 100_000,
        _ => return None,
    };
    (tenths > 0).then(|| f64::from(tenths * unit_khz) / 10_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_of_32_gb() {
        // SD 5.3.3: structure 1, TRAN_SPEED 32h, CCC 5B5h, C_SIZE EDC8h less its last bit group.
        let csd = card_specific_data("400e00325b590000edc87f800a404013", true).unwrap();
        assert_eq!(csd.transfer_mhz, Some(25.0));
        assert_eq!(csd.command_classes, [0, 2, 4, 5, 7, 8, 10]);
        assert_eq!(csd.capacity_bytes, Some((0xedc8 + 1) * 512 * 1_024));
        assert!(csd.copied && !csd.write_protected_permanently && !csd.write_protected_temporarily);
    }

    /// A register from its fields.
    fn hex(fields: &[(usize, usize, u64)]) -> String {
        let mut register = [0u8; 16];
        for (high, low, value) in fields {
            for bit in *low..=*high {
                let at = 127 - bit;
                register[at / 8] |= ((value >> (bit - low) & 1) as u8) << (7 - at % 8);
            }
        }
        register.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn a_small_card_and_an_emmc() {
        // Structure 0, READ_BL_LEN 9, C_SIZE 3751, C_SIZE_MULT 7: 983 MB.
        let fields = [(103, 96, 0x2a), (83, 80, 9), (73, 62, 3_751), (49, 47, 7), (13, 13, 1)];
        let sd = card_specific_data(&hex(&fields), true).unwrap();
        assert_eq!((sd.capacity_bytes, sd.transfer_mhz), (Some(3_752 * 512 * 512), Some(20.0)));
        assert!(sd.write_protected_permanently && !sd.copied);
        let emmc = hex(&[(127, 126, 3), (103, 96, 0x32), (83, 80, 9), (73, 62, 0xfff), (49, 47, 7)]);
        let emmc = card_specific_data(&emmc, false).unwrap();
        assert_eq!((emmc.transfer_mhz, emmc.capacity_bytes), (Some(26.0), None));
        assert_eq!(card_specific_data("x", true), None);
        assert_eq!(card_specific_data(&hex(&[(127, 126, 3)]), true).unwrap().capacity_bytes, None);
    }

    #[test]
    fn clocks_of_emmc_differ_in_two_places() {
        assert_eq!(clock_mhz(0x32, true), Some(25.0));
        assert_eq!(clock_mhz(0x32, false), Some(26.0));
        assert_eq!(clock_mhz(0x5a, true), Some(50.0));
        assert_eq!(clock_mhz(0x5a, false), Some(52.0));
        assert_eq!(clock_mhz(0x07, true), None);
        assert_eq!(clock_mhz(0x02, true), None);
    }
}
