//! Names of files of settings with what is known of a target filled in.

use crate::error::{Result, SettingError};
use crate::value::Tree;
use model::{Layer, LayerKind, Stack, facts};

/// Read-ahead of the disk of a target.
const READ_AHEAD: &str = "/sys/block/{disk}/queue/read_ahead_kb";

/// The same of a file system that has no block device, and reads ahead by a number of its own (NFS, SMB, ceph, 9p, FUSE).
fn of_bdi(stack: &Stack) -> Option<String> {
    let bdi = stack.first(LayerKind::Filesystem)?.text(facts::BDI)?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_type = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // A device number, or a type of file system and a number (k:fs/super.c super_setup_bdi).
    let by_device = bdi.split_once(':').is_some_and(|(major, minor)| is_number(major) && is_number(minor));
    let by_type = bdi.rsplit_once('-').is_some_and(|(fstype, number)| is_type(fstype) && is_number(number));
    (by_device || by_type).then(|| format!("/sys/class/bdi/{bdi}/read_ahead_kb"))
}

/// The paths that a pattern stands for; read-ahead is that of a file system's own where it has no block device. `{disk}` is the block device that the target stands on (of a partition its disk),
/// `{lowest}` each of the lowest disks below it; `{host}` and `{scsi}` their SCSI hosts and addresses (`host0`, `0:0:0:0`), `{irq}` the interrupts
/// of their controllers; a `*` in a part stands for what is there.
///
/// # Errors
/// [`SettingError::NoPlace`]: the target has nothing of that kind.
pub fn paths(pattern: &str, stack: &Stack, tree: &Tree) -> Result<Vec<String>> {
    let (name, found) = if pattern.contains("{disk}") {
        let block = [LayerKind::Loop, LayerKind::Dm, LayerKind::Md, LayerKind::Zram, LayerKind::Disk];
        let top = stack.layers.iter().find(|l| block.contains(&l.kind));
        if top.is_none() && pattern == READ_AHEAD {
            return of_bdi(stack)
                .map(|path| vec![path])
                .ok_or(SettingError::NoPlace { pattern: pattern.to_owned(), name: "disk" });
        }
        ("disk", top.map(|l| l.name.clone()).into_iter().collect())
    } else if pattern.contains("{lowest}") {
        ("lowest", disks(stack, |disk| vec![disk.name.clone()]))
    } else if pattern.contains("{host}") {
        (
            "host",
            disks(stack, |disk| above(disk, tree).iter().rev().find(|p| is_host(p)).cloned().into_iter().collect()),
        )
    } else if pattern.contains("{scsi}") {
        (
            "scsi",
            disks(stack, |disk| {
                above(disk, tree).iter().rev().find(|p| p.matches(':').count() == 3).cloned().into_iter().collect()
            }),
        )
    } else if pattern.contains("{irq}") {
        ("irq", disks(stack, |disk| interrupts(disk, tree)))
    } else {
        return Ok(present(pattern, tree));
    };
    if found.is_empty() {
        return Err(SettingError::NoPlace { pattern: pattern.to_owned(), name });
    }
    Ok(found.iter().flat_map(|f| present(&pattern.replace(&format!("{{{name}}}"), f), tree)).collect())
}

fn disks(stack: &Stack, of: impl Fn(&Layer) -> Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = stack.lowest_counted().into_iter().flat_map(of).collect();
    all.dedup();
    all
}

/// The parts of the path of a disk's device in the tree of devices, from the top.
fn above(disk: &Layer, tree: &Tree) -> Vec<String> {
    tree.parts(&format!("/sys/block/{}/device", disk.name))
}

fn is_host(part: &str) -> bool {
    part.strip_prefix("host").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Those of the nearest device above a disk that has any (k:drivers/pci/msi/msi.c, `msi_irqs`; a legacy one is in `irq`).
fn interrupts(disk: &Layer, tree: &Tree) -> Vec<String> {
    let mut parts = above(disk, tree);
    while !parts.is_empty() {
        let numbers = tree.names(&format!("/{}/msi_irqs", parts.join("/")));
        if !numbers.is_empty() {
            return numbers;
        }
        parts.pop();
    }
    Vec::new()
}

/// What a path with a `*` in some of its parts stands for; itself without one.
fn present(pattern: &str, tree: &Tree) -> Vec<String> {
    let Some(star) = pattern.find('*') else { return vec![pattern.to_owned()] };
    let start = pattern[..star].rfind('/').map_or(0, |at| at + 1);
    let end = pattern[star..].find('/').map_or(pattern.len(), |at| star + at);
    let (before, after) = (&pattern[start..star], &pattern[star + 1..end]);
    let fits = |name: &&String| {
        let middle = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        // cpu* means cpu0, not cpufreq.
        middle.is_some_and(|m| before.is_empty() || m.bytes().all(|b| b.is_ascii_digit()))
    };
    let names = tree.names(&pattern[..start]);
    names
        .iter()
        .filter(fits)
        .flat_map(|n| present(&format!("{}{n}{}", &pattern[..start], &pattern[end..]), tree))
        .collect()
}
