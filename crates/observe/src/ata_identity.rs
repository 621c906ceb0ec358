//! Decoding IDENTIFY DEVICE (ATA/ATAPI Command Set 3, 7.13.6), which libata keeps and prints without asking the disk
//! (`ata_device/devN.M/id`, k:drivers/ata/libata-transport.c show_ata_dev_id): 256 words in hexadecimal.

use crate::facts;
use crate::register_facts::RegisterFacts;
use model::Fact;

type Words = [u16; 256];

/// The words, from the text of the kernel's file.
fn words(text: &str) -> Option<Words> {
    let mut words = [0u16; 256];
    let mut found = text.split_ascii_whitespace();
    for word in &mut words {
        let digits = found.next().filter(|w| w.len() == 4 && w.bytes().all(|b| b.is_ascii_hexdigit()))?;
        *word = u16::from_str_radix(digits, 16).ok()?;
    }
    (found.next().is_none() && words.iter().any(|w| *w != 0)).then_some(words)
}

/// Word 76, SATA capabilities; 0 and ffffh mean that it says nothing.
fn sata(words: &Words) -> Option<u16> {
    Some(words[76]).filter(|w| *w != 0 && *w != 0xffff)
}

/// Words 85 and 86, which features are on; word 87 bits 15:14 are 01 where they are valid.
fn features(words: &Words, word: usize) -> Option<u16> {
    Some(words[word]).filter(|_| words[87] >> 14 == 0b01)
}

const FORM_FACTORS: [&str; 9] =
    ["5.25 inch", "3.5 inch", "2.5 inch", "1.8 inch", "less than 1.8 inch", "mSATA", "M.2", "MicroSSD", "CFast"];

/// What an ATA disk says of itself.
pub const ATA_IDENTITY: RegisterFacts<str, Words> = RegisterFacts {
    read: words,
    rows: &[
        // Commands that it queues; 1 without NCQ.
        (facts::ATA_NCQ_DEPTH, |w| {
            sata(w).map(|s| if s >> 8 & 1 == 1 { u32::from(w[75] & 0x1f) + 1 } else { 1 }).into()
        }),
        // The fastest that it can.
        (facts::ATA_SATA_GENERATION, |w| sata(w).and_then(|s| (1..=3_u32).rev().find(|g| s >> g & 1 == 1)).into()),
        // 0 for no rotating medium.
        (facts::ATA_ROTATION_RPM, |w| match w[217] {
            1 => Fact::Int(0),
            rpm @ 0x0401..=0xfffe => u32::from(rpm).into(),
            _ => Fact::Null,
        }),
        (facts::ATA_WRITE_CACHE_ENABLED, |w| features(w, 85).map(|f| f >> 5 & 1 == 1).into()),
        (facts::ATA_READ_LOOK_AHEAD, |w| features(w, 85).map(|f| f >> 6 & 1 == 1).into()),
        // Advanced power management; null where that is off.
        (facts::ATA_APM_LEVEL, |w| {
            let level = features(w, 86).filter(|f| f >> 3 & 1 == 1).map(|_| u32::from(w[91] & 0xff));
            level.filter(|level| (1..=254).contains(level)).into()
        }),
        (facts::ATA_FORM_FACTOR, |w| FORM_FACTORS.get(usize::from(w[168] & 0x0f).wrapping_sub(1)).copied().into()),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Layer, LayerKind};

    fn text(words: &[(usize, u16)]) -> String {
        let mut all = [0u16; 256];
        for (at, value) in words {
            all[*at] = *value;
        }
        let lines: Vec<String> =
            all.chunks(8).map(|line| line.iter().map(|w| format!("{w:04x}")).collect::<Vec<_>>().join(" ")).collect();
        lines.join("\n")
    }

    fn disk(words: &[(usize, u16)]) -> Layer {
        let mut disk = Layer::new(LayerKind::Disk, "sda");
        ATA_IDENTITY.set_on(&mut disk, Some(&text(words)));
        disk
    }

    #[test]
    fn a_hard_disk_and_an_ssd() {
        let words =
            [(75, 31), (76, 0x850e), (85, 0x0060), (86, 0x0008), (87, 0x4000), (91, 0x80fe), (168, 2), (217, 5400)];
        let hard = disk(&words);
        assert_eq!((hard.int(facts::ATA_NCQ_DEPTH), hard.int(facts::ATA_SATA_GENERATION)), (Some(32), Some(3)));
        assert_eq!(
            (hard.int(facts::ATA_ROTATION_RPM), hard.text(facts::ATA_FORM_FACTOR)),
            (Some(5400), Some("3.5 inch"))
        );
        let features = [facts::ATA_WRITE_CACHE_ENABLED, facts::ATA_READ_LOOK_AHEAD].map(|name| hard.bool(name));
        assert_eq!((features, hard.int(facts::ATA_APM_LEVEL)), ([Some(true); 2], Some(254)));
        let ssd = disk(&[(76, 0x0006), (168, 7), (217, 1)]);
        assert_eq!((ssd.int(facts::ATA_NCQ_DEPTH), ssd.int(facts::ATA_SATA_GENERATION)), (Some(1), Some(2)));
        assert_eq!((ssd.int(facts::ATA_ROTATION_RPM), ssd.text(facts::ATA_FORM_FACTOR)), (Some(0), Some("M.2")));
        assert_eq!((ssd.bool(facts::ATA_WRITE_CACHE_ENABLED), ssd.int(facts::ATA_APM_LEVEL)), (None, None));
    }

    #[test]
    fn what_is_no_identity() {
        assert_eq!(words(""), None);
        assert_eq!(words(&text(&[])), None, "all zeros: the device is not there");
        assert_eq!(words(&(text(&[(76, 6)]) + " 0000")), None);
        assert_eq!(words(&text(&[(76, 6)]).replace("0006", "+006")), None);
    }
}
