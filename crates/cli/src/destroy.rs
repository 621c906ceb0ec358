//! Whether a block device may be written to. Never one that is in use; any other only if its serial number is named.

use model::{DeviceId, Failure, FailureKind};
use observe::{DeviceUse, Root, device_use};
use spec::Readiness;
use std::io::{Read, Write};
use std::path::Path;

/// Bytes from the start in which every signature listed below lies.
const SIGNATURE_BYTES: usize = 0x10048;

/// Signatures by offset and magic (util-linux libblkid's superblock probes document the same places).
const SIGNATURES: [(usize, &[u8], &str); 10] = [
    (0x438, &[0x53, 0xef], "an ext2, ext3 or ext4 file system"),
    (0, b"XFSB", "an XFS file system"),
    (0x10040, b"_BHRfS_M", "a btrfs file system"),
    (0x400, &[0x10, 0x20, 0xf5, 0xf2], "an F2FS file system"),
    (3, b"NTFS    ", "an NTFS file system"),
    (3, b"EXFAT   ", "an exFAT file system"),
    (0, b"LUKS\xba\xbe", "a LUKS container"),
    (0x218, b"LVM2 001", "an LVM physical volume"),
    (0xff6, b"SWAPSPACE2", "swap space"),
    (0x200, b"EFI PART", "a GPT partition table"),
];

/// What may be done to the device: only reads without `--destroy`.
pub fn readiness(root: &Root, device: DeviceId, path: &Path, serial: Option<&str>) -> Result<Readiness, Failure> {
    let Some(asked) = serial else {
        return Ok(Readiness::ReadOnly("read-only: a block device is written to only with --destroy SERIAL".into()));
    };
    let used = device_use(root, device).ok_or_else(|| {
        Failure::new(FailureKind::Refused, format!("{}: /sys does not know this device", path.display()))
            .remedy("mount /sys, or leave out --destroy to only read")
    })?;
    let reasons = used.refusals();
    if !reasons.is_empty() {
        return Err(Failure::new(
            FailureKind::Refused,
            format!("{} is in use: {}", path.display(), reasons.join("; ")),
        )
        .remedy("unmount it and stop what holds it, or leave out --destroy to only read"));
    }
    let (identity, what) = match &used.serial {
        Some(serial) => (serial.as_str(), "serial number"),
        None => (used.name.as_str(), "name"),
    };
    if asked != identity {
        return Err(Failure::new(
            FailureKind::Refused,
            format!("--destroy {asked} does not match the {what} of {}, which is {identity}", path.display()),
        )
        .remedy(format!("if this is the device to be overwritten: --destroy {identity}")));
    }
    say_what_will_be_lost(&used, path);
    Ok(Readiness::Writable)
}

fn say_what_will_be_lost(used: &DeviceUse, path: &Path) {
    let mut lost: Vec<String> = used.partitions.iter().map(|p| format!("partition {p}")).collect();
    lost.extend(signatures(path).into_iter().map(str::to_owned));
    let list = if lost.is_empty() { "no partition and no known signature".to_owned() } else { lost.join(", ") };
    let model = used.model.as_deref().map(|m| format!(" ({m})")).unwrap_or_default();
    let said = format!("{}{model} will be overwritten; on it: {list}", path.display());
    // Models and names are what devices say of themselves.
    let _ = writeln!(std::io::stderr().lock(), "narrows: {}", report::text::plain(&said, false));
}

fn signatures(path: &Path) -> Vec<&'static str> {
    let mut start = Vec::with_capacity(SIGNATURE_BYTES);
    let Ok(file) = std::fs::File::open(path) else { return Vec::new() };
    if file.take(SIGNATURE_BYTES as u64).read_to_end(&mut start).is_err() {
        return Vec::new();
    }
    found(&start)
}

fn found(start: &[u8]) -> Vec<&'static str> {
    let at = |offset: usize, magic: &[u8]| start.get(offset..offset + magic.len()) == Some(magic);
    let mut list: Vec<&str> = SIGNATURES.iter().filter(|(o, m, _)| at(*o, m)).map(|(.., what)| *what).collect();
    // FAT boot sectors end like partition tables; both are worth a warning.
    if list.is_empty() && at(0x1fe, &[0x55, 0xaa]) {
        list.push("a boot sector (partition table or FAT)");
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_recognised_where_they_lie() {
        let mut start = vec![0; SIGNATURE_BYTES];
        assert!(found(&start).is_empty());
        start[0x438..0x43a].copy_from_slice(&[0x53, 0xef]);
        assert_eq!(found(&start), ["an ext2, ext3 or ext4 file system"]);
        start[0x10040..0x10048].copy_from_slice(b"_BHRfS_M");
        assert_eq!(found(&start).len(), 2);
        assert!(found(&start[..100]).is_empty(), "a short device is no error");
    }
}
