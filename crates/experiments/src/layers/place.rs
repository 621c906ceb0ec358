//! Where the same bytes lie one level further down.

use model::{DeviceId, Layer, facts};
use observe::Root;
use std::fs::{File, OpenOptions};
use std::path::Path;
use sys::{DmTarget, Extent};

/// Less than this is not worth reading: it fits into the caches of disks.
pub(super) const LEAST_BYTES: u64 = 8 << 20;
/// Extents of a file that are looked at.
const MOST_EXTENTS: usize = 16_384;
const SECTOR: u64 = 512;

/// Where what is read at a level lies at the level below: from `start` on, `skipped` bytes into what was asked for, `bytes` long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Below {
    pub start: u64,
    pub skipped: u64,
    pub bytes: u64,
    /// The member that it lies on, where the mapping says.
    pub member: Option<Member>,
    /// Whether it is known that these are the same bytes.
    pub same_bytes: bool,
}

/// A member of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Named(String),
    Numbered(DeviceId),
}

/// The longest run of a file's bytes that lies together on its device.
///
/// # Errors
/// In words, why there is none.
pub(super) fn of_file(file: &File, start: u64, bytes: u64) -> Result<Below, String> {
    let extents = sys::extents(file, start, bytes, MOST_EXTENTS)
        .map_err(|e| format!("the file system does not say where the file's bytes lie ({e})"))?;
    longest_run(&extents, start, bytes)
        .filter(|run| run.bytes >= LEAST_BYTES)
        .ok_or_else(|| format!("no {} of the file lie together on the device", model::bytes_text(LEAST_BYTES)))
}

fn longest_run(extents: &[Extent], start: u64, bytes: u64) -> Option<Below> {
    let end = start.saturating_add(bytes);
    let mut best: Option<(u64, u64, u64)> = None;
    let mut run: Option<(u64, u64, u64)> = None;
    for extent in extents.iter().filter(|e| !e.unwritten() && !e.encoded() && !e.inline()) {
        let from = extent.offset.max(start);
        let until = extent.offset.saturating_add(extent.len).min(end);
        if until <= from {
            continue;
        }
        let physical = extent.physical.saturating_add(from - extent.offset);
        run = match run {
            Some((at, on, len)) if at + len == from && on + len == physical => Some((at, on, len + until - from)),
            _ => Some((from, physical, until - from)),
        };
        best = best.max_by_len(run);
    }
    // Whole mebibytes, so that large operations fit.
    let (at, on, len) = best?;
    Some(Below { start: on, skipped: at - start, bytes: len >> 20 << 20, member: None, same_bytes: true })
}

trait MaxByLen {
    fn max_by_len(self, other: Self) -> Self;
}

impl MaxByLen for Option<(u64, u64, u64)> {
    fn max_by_len(self, other: Self) -> Self {
        match (self, other) {
            (Some(a), Some(b)) if a.2 >= b.2 => Some(a),
            (a, b) => b.or(a),
        }
    }
}

/// The targets of a mapping, in which a key never is; `None` where they may not be asked for.
pub(super) fn dm_targets(device: Option<DeviceId>) -> Option<Vec<DmTarget>> {
    let id = device?;
    let control = OpenOptions::new().read(true).write(true).open("/dev/mapper/control").ok()?;
    let targets = sys::dm_table_status(&control, (id.major, id.minor)).ok()?;
    // The table of dm-crypt holds its key.
    if targets.iter().all(|target| LINEAR.contains(&target.kind.as_str())) {
        return sys::dm_table(&control, (id.major, id.minor)).ok();
    }
    Some(targets)
}

/// Kinds of targets whose table begins with a device and the sector on it
/// (k:Documentation/admin-guide/device-mapper/{linear,delay,dm-flakey,dm-dust}.rst).
const LINEAR: [&str; 4] = ["linear", "delay", "flakey", "dust"];

/// Where a region of a mapping lies on what it stands on; `mapping` and `member` are the sizes of both.
///
/// # Errors
/// In words, why that is not known.
pub(super) fn of_mapping(
    targets: &[DmTarget],
    start: u64,
    bytes: u64,
    sizes: Option<(u64, u64)>,
) -> Result<Below, String> {
    let holds = |t: &&DmTarget| {
        let from = t.start_sector.saturating_mul(SECTOR);
        start >= from && start < from.saturating_add(t.sectors.saturating_mul(SECTOR))
    };
    let target = targets.iter().find(holds).ok_or("its table does not hold the region")?;
    let from = target.start_sector * SECTOR;
    let room = from + target.sectors * SECTOR - start;
    let bytes = bytes.min(room >> 20 << 20);
    if bytes < LEAST_BYTES {
        return Err("the region is spread over several pieces".to_owned());
    }
    let below = |start, member| Below { start, skipped: 0, bytes, member, same_bytes: true };
    match target.kind.as_str() {
        kind if LINEAR.contains(&kind) => {
            let mut words = target.text.split_ascii_whitespace();
            let device = words.next().and_then(device_id).map(Member::Numbered);
            let sector = words.next().and_then(|word| word.parse::<u64>().ok());
            let (device, sector) = device.zip(sector).ok_or("its table is not understood")?;
            let at = sector
                .checked_mul(SECTOR)
                .and_then(|at| at.checked_add(start - from))
                .ok_or("its table is not understood")?;
            Ok(below(at, Some(device)))
        }
        // Its header lies before the data (LUKS), and the data go to the end: the difference in size is where they begin.
        "crypt" if targets.len() == 1 => {
            let (mapping, member) = sizes.ok_or("its size is not known")?;
            let header = member.checked_sub(mapping).ok_or("it is larger than the device below it")?;
            Ok(below(start.saturating_add(header), None))
        }
        "multipath" => Ok(below(start, None)),
        kind => Err(format!("dm-{kind} has the bytes in other places than it shows")),
    }
}

fn device_id(text: &str) -> Option<DeviceId> {
    let (major, minor) = text.split_once(':')?;
    Some(DeviceId { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// Where a region of a software RAID lies on its first member (k:Documentation/admin-guide/md.rst, `dev-XXX/offset`). Only members of a
/// mirror hold the same bytes; of others a region as large is read about where they are.
///
/// # Errors
/// In words, why that is not known.
pub(super) fn of_raid(root: &Root, layer: &Layer, member: &str, start: u64, bytes: u64) -> Result<Below, String> {
    let offset: Option<u64> = root.number(&format!("/sys/block/{}/md/dev-{member}/offset", layer.name));
    let offset = offset.and_then(|sectors| sectors.checked_mul(SECTOR)).ok_or("where its data begin is not told")?;
    let level = layer.text(facts::MD_LEVEL).unwrap_or_default();
    let disks = layer.int(facts::RAID_DISKS).and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
    let data_disks = match level {
        "raid1" => 1,
        "raid0" => disks,
        "raid4" | "raid5" => disks.saturating_sub(1),
        "raid6" => disks.saturating_sub(2),
        "raid10" => disks / 2,
        other => return Err(format!("how {other} spreads its bytes is not known here")),
    };
    let there = start / data_disks.max(1) / 4096 * 4096;
    let member = Some(Member::Named(member.to_owned()));
    Ok(Below { start: offset.saturating_add(there), skipped: 0, bytes, member, same_bytes: level == "raid1" })
}

/// The node of a block device of this name, if it is that device and may be read.
///
/// # Errors
/// In words, why not.
pub(super) fn readable_node(layer: &Layer) -> Result<std::path::PathBuf, String> {
    let node = Path::new("/dev").join(layer.name.replace('!', "/"));
    let is_it = match sys::node_at(&node) {
        Ok(sys::Node::Block((major, minor))) => layer.device == Some(DeviceId { major, minor }),
        _ => false,
    };
    if !is_it {
        return Err(format!("{} is not its node in /dev", node.display()));
    }
    match sys::open_existing(&node, sys::OpenMode::Read) {
        Ok(_) => Ok(node),
        Err(e) => {
            Err(format!("{} cannot be read ({}); {}", node.display(), sys::error_name(&e), sys::permission_remedy()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn target(start_sector: u64, sectors: u64, kind: &str, text: &str) -> DmTarget {
        DmTarget { start_sector, sectors, kind: kind.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_region_is_found_in_the_piece_that_holds_it() {
        let table = [target(0, 65_536, "linear", "254:0 2048"), target(65_536, 262_144, "linear", "254:16 0")];
        let first = of_mapping(&table, MIB, 64 * MIB, None).unwrap();
        let vda = Member::Numbered(DeviceId { major: 254, minor: 0 });
        assert_eq!((first.start, first.bytes, first.member), (2 * MIB, 31 * MIB, Some(vda)));
        let second = of_mapping(&table, 40 * MIB, 64 * MIB, None).unwrap();
        assert_eq!((second.start, second.bytes), (8 * MIB, 64 * MIB));
        assert!(of_mapping(&table, 31 * MIB, 64 * MIB, None).unwrap_err().contains("several pieces"));
        assert!(of_mapping(&table, 1 << 40, MIB, None).is_err());
    }

    #[test]
    fn behind_a_header_and_a_delay_and_not_where_places_are_others() {
        let delay = [target(0, 1 << 20, "delay", "253:2 4096 3")];
        assert_eq!(of_mapping(&delay, 0, 32 * MIB, None).unwrap().start, 2 * MIB);
        let crypt = [target(0, 1 << 20, "crypt", "")];
        let below = of_mapping(&crypt, 5 * MIB, 32 * MIB, Some((512 * MIB, 528 * MIB))).unwrap();
        assert_eq!((below.start, below.member), (21 * MIB, None));
        assert!(of_mapping(&crypt, 0, 32 * MIB, Some((2, 1))).is_err());
        assert!(of_mapping(&[target(0, 1 << 20, "thin", "")], 0, 32 * MIB, None).unwrap_err().contains("dm-thin"));
        for text in ["", "254:0", "x 1", "254:0 99999999999999999999", "254:0 18446744073709551615"] {
            assert!(of_mapping(&[target(0, 1 << 20, "linear", text)], 0, 32 * MIB, None).is_err(), "{text}");
        }
    }
}
