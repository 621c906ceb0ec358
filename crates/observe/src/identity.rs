//! What identifies a machine, a device or a person, told by its form, and a hash of the same shape in its place: a digit
//! stays a digit and a letter a letter, so that whatever decodes it still can.

use sha2::{Digest, Sha256};
use std::ops::Range;

/// Hashes in place. The same text under the same salt gives the same hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    salt: u64,
}

impl Hasher {
    /// Nobody can try out serial numbers without the salt.
    pub(crate) fn new(salt: u64) -> Self {
        Self { salt }
    }

    /// Replaces letters and digits by others that follow from the salt and the text, case aside.
    pub(crate) fn apply(&self, bytes: &mut [u8], range: Range<usize>) {
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

    /// Hashes these texts wherever they stand, the longest first, and what identifies by its form.
    pub(crate) fn secrets_and_forms(&self, secrets: &[String], bytes: &mut [u8]) {
        let mut found: Vec<Range<usize>> = Vec::new();
        let free = |found: &[Range<usize>], range: &Range<usize>| {
            !found.iter().any(|f| f.start < range.end && range.start < f.end)
        };
        for secret in secrets {
            let mut from = 0;
            while let Some(at) = find(&bytes[from..], secret.as_bytes()) {
                let range = from + at..from + at + secret.len();
                from = range.end;
                if free(&found, &range) {
                    found.push(range);
                }
            }
        }
        for range in by_form(bytes) {
            if free(&found, &range) {
                found.push(range);
            }
        }
        for range in found {
            self.apply(bytes, range);
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

/// Whether a serial number tells one device from others: zeros alone do not.
pub(crate) fn identifies(serial: &str) -> bool {
    let mut characters = serial.trim_start_matches("0x").chars().filter(char::is_ascii_alphanumeric);
    let first = characters.next();
    characters.any(|c| Some(c) != first)
}

/// Where a text stands first.
pub(crate) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
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
pub(crate) fn by_form(bytes: &[u8]) -> Vec<Range<usize>> {
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
