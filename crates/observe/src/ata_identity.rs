//! Decoding IDENTIFY DEVICE (ATA/ATAPI Command Set 3, 7.13.6), which libata keeps and prints without asking the disk
//! (`ata_device/devN.M/id`, k:drivers/ata/libata-transport.c show_ata_dev_id): 256 words in hexadecimal.

/// What an ATA disk says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtaIdentity {
    /// Commands that it queues; 1 without NCQ (words 75, 76).
    pub queue_depth: Option<u8>,
    /// Fastest SATA generation (word 76).
    pub sata_generation: Option<u8>,
    /// Revolutions per minute, 0 for no rotating medium (word 217).
    pub rotation_rpm: Option<u16>,
    /// Its own write cache is on (word 85).
    pub write_cache: Option<bool>,
    /// It reads ahead by itself (word 85).
    pub read_look_ahead: Option<bool>,
    /// Advanced power management level; `None` where that is off (words 86, 91).
    pub apm_level: Option<u8>,
    /// `3.5 inch`, `M.2`, ... (word 168).
    pub form_factor: Option<&'static str>,
}

/// The words, from the text of the kernel's file.
pub fn ata_identity(text: &str) -> Option<AtaIdentity> {
    let mut words = [0u16; 256];
    let mut found = text.split_ascii_whitespace();
    for word in &mut words {
        let digits = found.next().filter(|w| w.len() == 4 && w.bytes().all(|b| b.is_ascii_hexdigit()))?;
        *word = u16::from_str_radix(digits, 16).ok()?;
    }
    if found.next().is_some() || words.iter().all(|w| *w == 0) {
        return None;
    }
    // 0 and ffffh mean that a word says nothing.
    let valid_word = |word: usize| Some(words[word]).filter(|w| *w != 0 && *w != 0xffff);
    let serial = valid_word(76);
    // Word 87 bits 15:14 are 01 where words 85 to 87 are valid.
    let features = Some(words[85]).filter(|_| words[87] >> 14 == 0b01);
    let more_features = Some(words[86]).filter(|_| words[87] >> 14 == 0b01);
    Some(AtaIdentity {
        queue_depth: serial.map(|s| if s >> 8 & 1 == 1 { (words[75] & 0x1f) as u8 + 1 } else { 1 }),
        sata_generation: serial.and_then(|s| (1..=3).rev().find(|g| s >> g & 1 == 1)),
        rotation_rpm: match words[217] {
            1 => Some(0),
            rpm @ 0x0401..=0xfffe => Some(rpm),
            _ => None,
        },
        write_cache: features.map(|f| f >> 5 & 1 == 1),
        read_look_ahead: features.map(|f| f >> 6 & 1 == 1),
        apm_level: more_features
            .filter(|f| f >> 3 & 1 == 1)
            .map(|_| words[91] as u8)
            .filter(|level| (1..=254).contains(level)),
        form_factor: [
            "5.25 inch",
            "3.5 inch",
            "2.5 inch",
            "1.8 inch",
            "less than 1.8 inch",
            "mSATA",
            "M.2",
            "MicroSSD",
            "CFast",
        ]
        .get(usize::from(words[168] & 0x0f).wrapping_sub(1))
        .copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &[(usize, u16)]) -> String {
        let mut all = [0u16; 256];
        for (at, value) in words {
            all[*at] = *value;
        }
        let lines: Vec<String> =
            all.chunks(8).map(|line| line.iter().map(|w| format!("{w:04x}")).collect::<Vec<_>>().join(" ")).collect();
        lines.join("\n")
    }

    #[test]
    fn a_hard_disk_and_an_ssd() {
        let words =
            [(75, 31), (76, 0x850e), (85, 0x0060), (86, 0x0008), (87, 0x4000), (91, 0x80fe), (168, 2), (217, 5400)];
        let disk = ata_identity(&text(&words)).unwrap();
        assert_eq!((disk.queue_depth, disk.sata_generation), (Some(32), Some(3)));
        assert_eq!((disk.rotation_rpm, disk.form_factor), (Some(5400), Some("3.5 inch")));
        assert_eq!((disk.write_cache, disk.read_look_ahead, disk.apm_level), (Some(true), Some(true), Some(254)));
        let ssd = ata_identity(&text(&[(76, 0x0006), (168, 7), (217, 1)])).unwrap();
        assert_eq!((ssd.queue_depth, ssd.sata_generation, ssd.rotation_rpm), (Some(1), Some(2), Some(0)));
        assert_eq!((ssd.write_cache, ssd.apm_level, ssd.form_factor), (None, None, Some("M.2")));
    }

    #[test]
    fn what_is_no_identity() {
        assert_eq!(ata_identity(""), None);
        assert_eq!(ata_identity(&text(&[])), None, "all zeros: the device is not there");
        assert_eq!(ata_identity(&(text(&[(76, 6)]) + " 0000")), None);
        assert_eq!(ata_identity(&text(&[(76, 6)]).replace("0006", "+006")), None);
    }
}
