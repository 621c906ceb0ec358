//! Decoding SMART READ DATA. The attributes are no part of any standard; the numbers here are those that manufacturers
//! agree on (smartmontools' drivedb documents the exceptions), and anything implausible is left out.

/// 30 attributes of twelve bytes after two bytes of revision (SFF-8035i).
const ATTRIBUTES: usize = 30;
const BLOCK_BYTES: usize = 512;

/// What a disk says of its health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtaHealth {
    /// Sectors that were replaced (5).
    pub reallocated: Option<u64>,
    /// Hours of operation (9).
    pub power_on_hours: Option<u64>,
    /// Errors that the disk could not correct (187).
    pub uncorrected: Option<u64>,
    /// Degrees Celsius (194, else 190).
    pub temperature_c: Option<i32>,
    /// Sectors that wait to be replaced (197).
    pub pending: Option<u64>,
    /// Transfers that arrived damaged (199).
    pub crc_errors: Option<u64>,
    /// Part of an SSD's life that is used: 100 less the normalised value of 231, 177, 233 or 202.
    pub used_percent: Option<u8>,
}

/// SMART READ DATA; `None` if the sum of its bytes is wrong. `rotates` tells a disk with a rotating medium, on which the
/// attributes of wear mean something else.
pub fn ata_health(data: &[u8], rotates: bool) -> Option<AtaHealth> {
    if data.len() != BLOCK_BYTES
        || data.iter().all(|b| *b == 0)
        || data.iter().fold(0, |s: u8, b| s.wrapping_add(*b)) != 0
    {
        return None;
    }
    let attribute = |id: u8| {
        let mut all = data[2..2 + 12 * ATTRIBUTES].chunks_exact(12);
        all.find(|a| a[0] == id).map(|a| {
            let raw = [a[5], a[6], a[7], a[8], a[9], a[10], 0, 0];
            (a[3], u64::from_le_bytes(raw))
        })
    };
    // Upper bytes of some counters hold other things (minima, milliseconds): the lower four are the count.
    let count = |id| attribute(id).map(|(_, raw)| raw & 0xffff_ffff);
    let temperature = |id| {
        let (_, raw) = attribute(id)?;
        Some(i32::from(raw as u8)).filter(|t| (1..=125).contains(t))
    };
    // Normalised values start at 100 and fall; those that start at 200 or 253 follow another rule.
    let wear = |id| attribute(id).map(|(value, _)| value).filter(|v| (0..=100).contains(v)).map(|v| 100 - v);
    Some(AtaHealth {
        reallocated: count(5),
        power_on_hours: count(9),
        uncorrected: count(187),
        temperature_c: temperature(194).or_else(|| temperature(190)),
        pending: count(197),
        crc_errors: count(199),
        used_percent: if rotates { None } else { [231, 177, 233, 202].into_iter().find_map(wear) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(attributes: &[(u8, u8, u64)]) -> Vec<u8> {
        let mut data = vec![0; 512];
        data[0] = 0x10;
        for (n, (id, value, raw)) in attributes.iter().enumerate() {
            let at = 2 + 12 * n;
            (data[at], data[at + 3]) = (*id, *value);
            data[at + 5..at + 11].copy_from_slice(&raw.to_le_bytes()[..6]);
        }
        data[511] = data.iter().fold(0, |s: u8, b| s.wrapping_add(*b)).wrapping_neg();
        data
    }

    #[test]
    fn an_ssd_and_a_hard_disk() {
        let data = block(&[
            (5, 100, 3),
            (9, 98, 0x1234_0000_2710),
            (177, 97, 55),
            (194, 64, 0x0000_0013_0024),
            (197, 100, 0),
            (199, 99, 12),
        ]);
        let ssd = ata_health(&data, false).unwrap();
        assert_eq!((ssd.reallocated, ssd.power_on_hours, ssd.temperature_c), (Some(3), Some(10_000), Some(36)));
        assert_eq!((ssd.used_percent, ssd.crc_errors, ssd.uncorrected), (Some(3), Some(12), None));
        assert_eq!(ata_health(&data, true).unwrap().used_percent, None);
    }

    #[test]
    fn a_wrong_sum_or_length_is_no_answer() {
        let mut data = block(&[(5, 100, 3)]);
        data[100] ^= 1;
        assert_eq!(ata_health(&data, false), None);
        assert_eq!(ata_health(&[0; 512], false), None);
        assert_eq!(ata_health(&data[..100], false), None);
    }
}
