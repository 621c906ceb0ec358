//! Hashing what identifies a machine or a person's disk, in place and in shape: a digit stays a digit and a letter a
//! letter, so that whatever decodes the captured tree still can.
//!
//! What is hashed: serial numbers, wherever one is seen again (paths, links, registers of cards, volume names); UUIDs,
//! MAC addresses and world-wide names by their form; the host's name and the boot id in their own files. A serial number
//! of zeros says something about the card and nothing about its owner: it stays.

use super::CapturedContent;
use crate::identity::{Hasher, find, identifies};
use model::CompactSort as _;
use std::collections::{BTreeMap, BTreeSet};

/// Files that hold one identifying text each.
const IDENTIFYING: [&str; 14] = [
    "serial",
    "serial_number",
    "product_serial",
    "board_serial",
    "chassis_serial",
    "product_uuid",
    "wwid",
    "wwn",
    "unique_id",
    "uuid",
    "nguid",
    "eui",
    "serial-number",
    "subsysnqn",
];
/// Files that identify, but whose text is no rare one, so that it is not looked for elsewhere.
const IDENTIFYING_HERE: [&str; 3] = ["/proc/sys/kernel/hostname", "/etc/hostname", "/proc/sys/kernel/random/boot_id"];
/// Shorter texts are found by chance in other files.
const SHORTEST: usize = 6;
/// A machine has fewer identifying texts than this.
const SECRETS_LIMIT: usize = 20_000;

/// How one capture is changed.
pub(super) struct Redaction {
    scramble: Hasher,
    /// What is replaced wherever it is seen, longest first.
    secrets: Vec<String>,
}

impl Redaction {
    /// Finds what identifies.
    pub(super) fn of(entries: &BTreeMap<String, CapturedContent>, salt: u64) -> Self {
        let mut secrets: BTreeSet<String> = BTreeSet::new();
        for (path, content) in entries {
            let CapturedContent::File(bytes) = content else { continue };
            for secret in secrets_in(path, bytes).into_iter().chain(secret_of_card(entries, path, bytes)) {
                let telling = |s: &str| s.len() >= SHORTEST && identifies(s);
                // The digits alone as well: they stand inside registers.
                let digits = secret.strip_prefix("0x").unwrap_or(&secret).to_owned();
                secrets.extend([secret, digits].into_iter().filter(|s| telling(s)));
                if secrets.len() > SECRETS_LIMIT {
                    break;
                }
            }
        }
        let mut secrets: Vec<String> = secrets.into_iter().collect();
        secrets.compact_sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Self { scramble: Hasher::new(salt), secrets }
    }

    pub(super) fn apply(&self, entries: BTreeMap<String, CapturedContent>) -> BTreeMap<String, CapturedContent> {
        let changed = entries.into_iter().map(|(path, content)| {
            let content = match content {
                CapturedContent::Directory => CapturedContent::Directory,
                CapturedContent::Link(target) => CapturedContent::Link(self.text(&target)),
                CapturedContent::File(bytes) => CapturedContent::File(self.file(&path, bytes)),
            };
            (self.text(&path), content)
        });
        changed.collect()
    }

    fn file(&self, path: &str, mut bytes: Vec<u8>) -> Vec<u8> {
        if IDENTIFYING_HERE.contains(&path) {
            let range = 0..bytes.len();
            self.scramble.apply(&mut bytes, range);
            return bytes;
        }
        for range in ranges_of_identity(path, bytes.len()) {
            self.scramble.apply(&mut bytes, range);
        }
        // Too short to be looked for elsewhere, but here it is what the file is about.
        for secret in secrets_in(path, &bytes).iter().filter(|s| s.len() < SHORTEST && identifies(s)) {
            if let Some(at) = find(&bytes, secret.as_bytes()) {
                self.scramble.apply(&mut bytes, at..at + secret.len());
            }
        }
        self.bytes(&mut bytes);
        bytes
    }

    fn text(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        self.bytes(&mut bytes);
        // Only ASCII letters and digits were changed, to such.
        String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
    }

    fn bytes(&self, bytes: &mut [u8]) {
        self.scramble.secrets_and_forms(&self.secrets, bytes);
    }
}

/// Where identities of devices hold numbers in a form of their own.
fn ranges_of_identity(path: &str, length: usize) -> Vec<std::ops::Range<usize>> {
    let ranges: &[std::ops::Range<usize>] = if path.starts_with("/narrows/health/") && path.ends_with(".identify") {
        // IDENTIFY CONTROLLER: serial number, FRU id, subsystem name.
        &[4..24, 112..128, 768..1_024]
    } else if path.contains("/ata_device/") && path.ends_with("/id") {
        // Words 10 to 19 and 108 to 111 as text, five characters a word: serial number, world-wide name.
        &[50..99, 540..559]
    } else {
        &[]
    };
    ranges.iter().filter(|r| r.end <= length).cloned().collect()
}

/// What of a file identifies.
fn secrets_in(path: &str, bytes: &[u8]) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let text = || String::from_utf8_lossy(bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
    // That of a mapping says what kind it is as well: its parts are found by their form.
    if IDENTIFYING.contains(&name) && !path.ends_with("/dm/uuid") {
        return vec![text()];
    }
    // Vital product data: the number after four bytes of header (SPC-4 7.8.15).
    if name == "vpd_pg80" {
        let number = String::from_utf8_lossy(bytes.get(4..).unwrap_or_default()).into_owned();
        return vec![number.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned()];
    }
    Vec::new()
}

/// The serial number inside the register of a card whose file `serial` was not read: SD 55:24, eMMC 47:16.
fn secret_of_card(entries: &BTreeMap<String, CapturedContent>, path: &str, bytes: &[u8]) -> Option<String> {
    let directory = path.strip_suffix("/cid")?;
    if entries.contains_key(&format!("{directory}/serial")) {
        return None;
    }
    let emmc = match entries.get(&format!("{directory}/type")) {
        Some(CapturedContent::File(kind)) => kind.trim_ascii() == b"MMC",
        _ => false,
    };
    let digits = if emmc { 20..28 } else { 18..26 };
    Some(std::str::from_utf8(bytes.get(digits)?).ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(entries: &[(&str, &str)]) -> Vec<(String, String)> {
        let entries: BTreeMap<String, CapturedContent> = entries
            .iter()
            .map(|(path, text)| ((*path).to_owned(), CapturedContent::File(text.as_bytes().to_vec())))
            .collect();
        let changed = Redaction::of(&entries, 7).apply(entries);
        let text = |content| match content {
            CapturedContent::File(bytes) => String::from_utf8(bytes).unwrap(),
            _ => String::new(),
        };
        changed.into_iter().map(|(path, content)| (path, text(content))).collect()
    }

    #[test]
    fn a_serial_number_is_hashed_alike_wherever_it_stands() {
        let seen = redacted(&[
            ("/dev/disk/by-id/ata-X_S3Z9NB0K/x", "S3Z9NB0K"),
            ("/sys/a/serial", "S3Z9NB0K\n"),
            ("/sys/a/size", "1000\n"),
        ]);
        let hash = seen[1].1.trim().to_owned();
        assert_ne!(hash, "S3Z9NB0K");
        assert_eq!(hash.len(), 8);
        assert_eq!(seen[0], (format!("/dev/disk/by-id/ata-X_{hash}/x"), hash));
        assert_eq!(seen[2].1, "1000\n");
    }

    #[test]
    fn a_short_serial_number_is_hashed_where_it_is_one_and_nowhere_else() {
        let seen = redacted(&[
            ("/sys/a/serial", "DD56\n"),
            ("/sys/b/serial", "0000\n"),
            ("/sys/b/size", "56\n"),
            ("/sys/c/vpd_pg80", "\0\u{1}\0\u{4} X7 "),
        ]);
        assert!(!seen[0].1.contains("DD56") && seen[0].1.len() == 5, "{seen:?}");
        assert_eq!((seen[1].1.as_str(), seen[2].1.as_str()), ("0000\n", "56\n"));
        assert!(seen[3].1.starts_with("\0\u{1}\0\u{4} ") && !seen[3].1.contains("X7"), "{seen:?}");
    }

    #[test]
    fn the_number_inside_a_register_goes_with_it_and_the_rest_stays() {
        let seen = redacted(&[("/sys/a/cid", "035344534c3332478012345678013701\n"), ("/sys/a/serial", "0x12345678\n")]);
        let cid = seen[0].1.trim();
        let serial = seen[1].1.trim().strip_prefix("0x").unwrap();
        assert_ne!(serial, "12345678");
        let identity = crate::sd_card::sd_identity(cid).unwrap();
        assert_eq!(format!("{:08x}", identity.serial), serial);
        assert_eq!((identity.name.as_str(), identity.manufactured().as_deref()), ("SL32G", Some("2019-07")));
    }

    #[test]
    fn zeros_stay_because_they_are_evidence() {
        let seen = redacted(&[("/sys/a/serial", "0x00000000\n"), ("/sys/a/size", "00000000\n")]);
        assert_eq!((seen[0].1.as_str(), seen[1].1.as_str()), ("0x00000000\n", "00000000\n"));
    }

    #[test]
    fn uuids_addresses_and_names_by_their_form() {
        let line = "root=UUID=0b3c1d2e-1111-2222-3333-444455556666 mac=b8:27:eb:01:02:03 naa.5000c500a1b2c3d4 0000:00:1f.2 8:0\n";
        let seen = redacted(&[("/proc/cmdline", line)]);
        let words: Vec<&str> = seen[0].1.split_ascii_whitespace().collect();
        let before: Vec<&str> = line.split_ascii_whitespace().collect();
        for i in 0..3 {
            assert_ne!(words[i], before[i]);
            assert_eq!(words[i].len(), before[i].len());
        }
        assert!(words[0].starts_with("root=UUID="));
        assert_eq!(&words[3..], &before[3..], "a PCI address and a device number are not secret");
        let lvm = format!("LVM-{}-tpool\n", "aB3".repeat(22).get(..64).unwrap());
        let luks = format!("CRYPT-LUKS2-{}-root\n", "0b3c1d2e".repeat(4));
        for (name, prefix, suffix) in [(lvm, "LVM-", "-tpool\n"), (luks, "CRYPT-LUKS2-", "-root\n")] {
            let seen = &redacted(&[("/sys/x/dm/uuid", &name)])[0].1;
            assert!(*seen != name && seen.starts_with(prefix) && seen.ends_with(suffix), "{seen}");
        }
    }

    #[test]
    fn another_salt_is_another_hash() {
        let entries: BTreeMap<String, CapturedContent> =
            [("/a/serial".to_owned(), CapturedContent::File(b"ABCDEF123".to_vec()))].into();
        let with = |salt| Redaction::of(&entries, salt).apply(entries.clone());
        assert_ne!(with(1), with(2));
        assert_eq!(with(1), with(1));
    }
}
