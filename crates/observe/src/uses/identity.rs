//! What a block device is called by what it says of itself, in the form of udev's /dev/disk/by-id where there is one.
//! Names serve only for devices that say nothing.

use crate::block_devices::{device_number, parse_device};
use crate::root::{Root, file_name, parent};
use crate::stack::serial;
use model::DeviceId;

/// What names a device beyond doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// What is to be typed.
    pub text: String,
    pub kind: IdentityKind,
    /// What means the same.
    pub also: Vec<String>,
}

/// What an identity rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityKind {
    /// Serial number of the disk.
    Serial,
    /// Serial number of the disk, and the number of the partition or the name of the part.
    PartOfSerial,
    WorldwideId,
    /// Id of an NVMe namespace. All namespaces of a controller have one serial number.
    NamespaceId,
    /// UUID of a mapping or an array.
    Uuid,
    /// Kernel name: the device has nothing else.
    Name,
}

impl IdentityKind {
    /// What the identity is, for messages.
    pub fn text(self) -> &'static str {
        match self {
            Self::Serial => "serial number",
            Self::PartOfSerial => "serial number and part",
            Self::WorldwideId => "worldwide id",
            Self::NamespaceId => "namespace id",
            Self::Uuid => "UUID",
            Self::Name => "name",
        }
    }
}

/// Identity of the disk or partition with this directory under /sys.
pub(super) fn identity(root: &Root, directory: &str) -> Identity {
    let Some(number) = root.text(&format!("{directory}/partition")) else { return of_disk(root, directory) };
    let disk = of_disk(root, parent(directory));
    if disk.kind == IdentityKind::Name {
        return Identity { text: file_name(directory).to_owned(), ..disk };
    }
    let part = |text: &String| format!("{text}-part{number}");
    let kind = match disk.kind {
        IdentityKind::Serial => IdentityKind::PartOfSerial,
        kind => kind,
    };
    Identity { text: part(&disk.text), kind, also: disk.also.iter().map(part).collect() }
}

fn of_disk(root: &Root, directory: &str) -> Identity {
    let name = file_name(directory);
    let attribute = |a: &str| root.text(&format!("{directory}/{a}"));
    let found = |text: String, kind| Identity { text, kind, also: Vec::new() };
    if is_nvme_namespace(name) {
        let mut ids: Vec<String> = ["wwid", "uuid", "nguid", "eui"].iter().filter_map(|a| attribute(a)).collect();
        ids.retain(|id| id.bytes().any(|b| b.is_ascii_alphanumeric() && b != b'0'));
        if !ids.is_empty() {
            // As /sys writes them, with spaces, and without.
            let squeezed: Vec<String> = ids.iter().map(|id| id.split(' ').collect()).collect();
            let by_id = ids.iter().map(|id| format!("nvme-{id}")).collect::<Vec<_>>();
            let text = ids.remove(0);
            let also = ids.into_iter().chain(squeezed).chain(by_id).filter(|id| *id != text).collect();
            return Identity { text, kind: IdentityKind::NamespaceId, also };
        }
    }
    if let Some(uuid) = attribute("dm/uuid").or_else(|| attribute("md/uuid")) {
        return found(uuid, IdentityKind::Uuid);
    }
    if let Some(mapping) = attribute("dm/name") {
        return Identity { text: mapping, kind: IdentityKind::Name, also: vec![name.to_owned()] };
    }
    let Some(serial) = serial(root, directory) else { return found(name.to_owned(), IdentityKind::Name) };
    // The boot and general purpose parts of an eMMC are disks of their own that share its serial number.
    if let Some(part) = part_of_card(name) {
        return found(format!("{serial}-{part}"), IdentityKind::PartOfSerial);
    }
    let wwid = attribute("device/wwid").or_else(|| attribute("wwid"));
    if wwid.as_deref() == Some(serial.as_str()) {
        return found(serial, IdentityKind::WorldwideId);
    }
    if shared_by_others(root, directory, &serial) {
        let (text, kind) = match wwid {
            Some(wwid) => (wwid, IdentityKind::WorldwideId),
            None => (format!("{serial}-{name}"), IdentityKind::PartOfSerial),
        };
        return found(text, kind);
    }
    Identity { text: serial, kind: IdentityKind::Serial, also: wwid.into_iter().collect() }
}

/// `nvme0n2`, not `nvme0` nor a partition of a namespace.
fn is_nvme_namespace(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    name.strip_prefix("nvme").and_then(|r| r.split_once('n')).is_some_and(|(c, n)| digits(c) && digits(n))
}

/// `boot0` of `mmcblk0boot0`.
fn part_of_card(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("mmcblk")?.trim_start_matches(|c: char| c.is_ascii_digit());
    (!rest.is_empty()).then_some(rest)
}

/// Whether a disk that is not the same one says that it has this serial number: units of one array, parts of one UFS chip,
/// adapters without a number of their own.
fn shared_by_others(root: &Root, directory: &str, number: &str) -> bool {
    let same: Vec<String> = same_disk(root, directory).into_iter().map(|(name, _)| name).collect();
    let other = |n: &String| n != file_name(directory) && !same.contains(n) && part_of_card(n).is_none();
    let disks = root.list("/sys/block");
    disks.iter().filter(|n| other(n)).any(|n| serial(root, &format!("/sys/block/{n}")).as_deref() == Some(number))
}

/// Other disks that are the same one by another path: by worldwide id; where neither has one, by serial number, model and
/// size.
pub(super) fn same_disk(root: &Root, directory: &str) -> Vec<(String, DeviceId)> {
    let name = file_name(directory);
    let is_partition = root.exists(&format!("{directory}/partition"));
    let Some(ours) = DiskMarks::of(root, directory).filter(|_| !is_partition) else { return Vec::new() };
    let others = root.list("/sys/block").into_iter().filter(|n| n != name);
    let same =
        others.filter(|n| DiskMarks::of(root, &format!("/sys/block/{n}")).is_some_and(|theirs| ours.same(&theirs)));
    same.filter_map(|n| {
        let number = root.text(&format!("/sys/block/{n}/dev")).as_deref().and_then(parse_device);
        Some((n.clone(), number.or_else(|| device_number(root, &n))?))
    })
    .collect()
}

/// What two paths to one disk have in common.
struct DiskMarks {
    wwid: Option<String>,
    serial: Option<String>,
    model: Option<String>,
    sectors: Option<u64>,
    part: Option<String>,
}

impl DiskMarks {
    fn of(root: &Root, directory: &str) -> Option<Self> {
        let name = file_name(directory);
        // These are made of other devices, or of nothing.
        if ["loop", "ram", "zram", "dm-", "md", "nbd"].iter().any(|p| name.starts_with(p)) {
            return None;
        }
        let text = |a: &str| root.text(&format!("{directory}/{a}"));
        Some(Self {
            wwid: text("wwid").or_else(|| text("device/wwid")),
            serial: serial(root, directory),
            model: text("device/model").or_else(|| text("device/name")),
            sectors: root.number(&format!("{directory}/size")),
            part: part_of_card(name).map(str::to_owned),
        })
    }

    fn same(&self, other: &Self) -> bool {
        if let (Some(a), Some(b)) = (&self.wwid, &other.wwid) {
            return a == b;
        }
        self.wwid.is_none()
            && other.wwid.is_none()
            && self.serial.is_some()
            && (&self.serial, &self.model, self.sectors, &self.part)
                == (&other.serial, &other.model, other.sectors, &other.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_namespaces_and_of_parts_of_cards() {
        assert!(is_nvme_namespace("nvme0n1") && is_nvme_namespace("nvme10n12"));
        assert!(!is_nvme_namespace("nvme0") && !is_nvme_namespace("nvme0n1p1") && !is_nvme_namespace("nvme0c0n1"));
        assert_eq!(part_of_card("mmcblk0boot1"), Some("boot1"));
        assert_eq!(part_of_card("mmcblk12"), None);
    }
}
