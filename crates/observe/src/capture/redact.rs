//! Hashing what identifies a machine or a person's disk, in place and in shape: a digit stays a digit and a letter a
//! letter, so that whatever decodes the captured tree still can.
//!
//! What is hashed: serial numbers, wherever one is seen again (paths, links, registers of cards, volume names); UUIDs,
//! MAC addresses and world-wide names by their form; the host's name and the boot id in their own files. A serial number
//! of zeros says something about the card and nothing about its owner: it stays.

use super::CapturedContent;
use sha2::{Digest, Sha256};
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
    salt: u64,
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
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Self { salt, secrets }
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
            self.scramble(&mut bytes, range);
            return bytes;
        }
        for range in ranges_of_identity(path, bytes.len()) {
            self.scramble(&mut bytes, range);
        }
        // Too short to be looked for elsewhere, but here it is what the file is about.
        for secret in secrets_in(path, &bytes).iter().filter(|s| s.len() < SHORTEST && identifies(s)) {
            if let Some(at) = find(&bytes, secret.as_bytes()) {
                self.scramble(&mut bytes, at..at + secret.len());
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
        let mut found: Vec<std::ops::Range<usize>> = Vec::new();
        for secret in &self.secrets {
            let mut from = 0;
            while let Some(at) = find(&bytes[from..], secret.as_bytes()) {
                let range = from + at..from + at + secret.len();
                from = range.end;
                if !found.iter().any(|f| f.start < range.end && range.start < f.end) {
                    found.push(range);
                }
            }
        }
        for range in by_form(bytes) {
            if !found.iter().any(|f| f.start < range.end && range.start < f.end) {
                found.push(range);
            }
        }
        for range in found {
            self.scramble(bytes, range);
        }
    }

    /// Replaces letters and digits by others that follow from the salt and the text, case aside.
    fn scramble(&self, bytes: &mut [u8], range: std::ops::Range<usize>) {
        let of = bytes[range.clone()].trim_ascii().to_ascii_lowercase();
        let hex = of.strip_prefix(b"0x").unwrap_or(&of);
        let only_hex = hex.iter().all(|b| !b.is_ascii_alphabetic() || (b'a'..=b'f').contains(b));
        let mut stream = Stream::new(self.salt, hex);
        let start = if bytes[range.clone()].starts_with(b"0x") { range.start + 2 } else { range.start };
        for byte in &mut bytes[start..range.end] {
            let letters = if only_hex { 6 } else { 26 };
            match *byte {
                b'0'..=b'9' => *byte = b'0' + stream.next() % 10,
                b'a'..=b'z' => *byte = b'a' + stream.next() % letters,
                b'A'..=b'Z' => *byte = b'A' + stream.next() % letters,
                _ => {}
            }
        }
    }
}

/// Bytes that follow from a salt and a text.
struct Stream {
    seed: Vec<u8>,
    block: [u8; 32],
    used: usize,
    count: u32,
}

impl Stream {
    fn new(salt: u64, of: &[u8]) -> Self {
        Self { seed: [&salt.to_le_bytes(), of].concat(), block: [0; 32], used: 32, count: 0 }
    }

    fn next(&mut self) -> u8 {
        if self.used == self.block.len() {
            self.block =
                Sha256::new().chain_update(self.count.to_le_bytes()).chain_update(&self.seed).finalize().into();
            self.count += 1;
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
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

/// Whether a serial number tells one device from others: zeros alone do not.
fn identifies(serial: &str) -> bool {
    let mut characters = serial.trim_start_matches("0x").chars().filter(char::is_ascii_alphanumeric);
    let first = characters.next();
    characters.any(|c| Some(c) != first)
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

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(at) = haystack[from..].iter().position(|b| *b == first) {
        let at = from + at;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// UUIDs, MAC addresses, LVM's ids and world-wide names, wherever they stand.
fn by_form(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let boundary = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let form = if boundary { form_at(&bytes[at..]) } else { None };
        match form {
            Some((prefix, end)) => {
                found.push(at + prefix..at + end);
                at += end;
            }
            None => at += 1,
        }
    }
    found
}

/// An identifying form at the front: the length of the prefix that stays, and where it ends.
fn form_at(bytes: &[u8]) -> Option<(usize, usize)> {
    /// Lengths of groups of hexadecimal digits, and what is between them.
    const FORMS: [(&[usize], u8); 3] = [
        // RFC 9562.
        (&[8, 4, 4, 4, 12], b'-'),
        // EUI-48.
        (&[2, 2, 2, 2, 2, 2], b':'),
        // The UUID of md, as mdadm prints it.
        (&[8, 8, 8, 8], b':'),
    ];
    let ends = |at: usize| bytes.get(at).is_none_or(|b| !b.is_ascii_alphanumeric());
    for (groups, separator) in FORMS {
        let mut at = 0;
        let whole = groups.iter().enumerate().all(|(i, length)| {
            if i > 0 {
                if bytes.get(at) != Some(&separator) {
                    return false;
                }
                at += 1;
            }
            let group = bytes.get(at..at + length);
            at += length;
            group.is_some_and(|g| g.iter().all(u8::is_ascii_hexdigit))
        });
        if whole && ends(at) {
            return Some((0, at));
        }
    }
    // naa.5000c500a1b2c3d4, eui.0025385b71b00a3d: NAA and EUI-64 names of disks; LUKS volumes in the names of mappings
    // (libcryptsetup, lib/utils_device.c).
    let prefixes: [(&[u8], usize); 8] = [
        (b"naa.", 16),
        (b"eui.", 16),
        (b"nna.", 16),
        (b"0x5", 15),
        (b"uuid.", 16),
        (b"CRYPT-LUKS1-", 32),
        (b"CRYPT-LUKS2-", 32),
        (b"CRYPT-TCRYPT-", 32),
    ];
    for (prefix, least) in prefixes {
        if let Some(rest) = bytes.strip_prefix(prefix) {
            let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            if digits >= least && digits <= 32 && ends(prefix.len() + digits) {
                return Some((prefix.len(), prefix.len() + digits));
            }
        }
    }
    // LVM-<32 of the volume group><32 of the volume>, base 62 (LVM2, lib/uuid/uuid.c).
    let lvm = bytes.strip_prefix(b"LVM-")?;
    let id = lvm.get(..64)?;
    id.iter().all(u8::is_ascii_alphanumeric).then_some((4, 68))
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
        let (cid, serial) = (seen[0].1.trim(), seen[1].1.trim().strip_prefix("0x").unwrap());
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
        assert_eq!(&words[3..], &before[3..], "a PCI address and a device number are no secret");
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
