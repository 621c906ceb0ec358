//! Block devices by number, by kernel name and by node.

use crate::root::{Root, file_name};
use model::DeviceId;

/// A number as /sys and /proc write it: `8:1`.
pub(crate) fn parse_device(text: &str) -> Option<DeviceId> {
    let (major, minor) = text.trim().split_once(':')?;
    Some(DeviceId { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// Number of a block device by kernel name.
pub(crate) fn device_number(root: &Root, name: &str) -> Option<DeviceId> {
    // Slashes in kernel names (`cciss/c0d0`) are exclamation marks in /sys.
    let name = name.replace('/', "!");
    let number = |directory: &str| parse_device(&root.text(&format!("{directory}/dev"))?);
    number(&format!("/sys/class/block/{name}")).or_else(|| number(&beside_class(root, &name)?))
}

/// The directory of a disk or partition by kernel name.
pub(crate) fn named_directory(root: &Root, name: &str) -> Option<String> {
    root.canonical(&format!("/sys/class/block/{name}")).or_else(|| root.canonical(&beside_class(root, name)?))
}

/// The directory of a disk or partition whose number is not told, as in a tree that was copied by hand. The hidden paths of
/// a multipath namespace have no number and cannot be opened (k:drivers/nvme/host/multipath.c): they are no devices.
pub(crate) fn unnumbered_directory(root: &Root, name: &str) -> Option<String> {
    let directory = named_directory(root, &name.replace('/', "!"))?;
    let path_of_nvme =
        name.strip_prefix("nvme").is_some_and(|n| n.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('c'));
    let hidden = path_of_nvme || root.flag(&format!("{directory}/hidden")) == Some(true);
    let is_one = ["size", "queue"].iter().any(|file| root.exists(&format!("{directory}/{file}")));
    (is_one && !hidden).then_some(directory)
}

/// Where a disk or partition is in a /sys that is only partly there and has no /sys/class/block.
fn beside_class(root: &Root, name: &str) -> Option<String> {
    let disk = format!("/sys/block/{name}");
    if root.exists(&disk) {
        return Some(disk);
    }
    // A partition's directory is in that of its disk, and its name begins with the disk's.
    let of_disk = |d: &String| name.starts_with(d.as_str()) && root.exists(&format!("/sys/block/{d}/{name}/dev"));
    root.list("/sys/block").into_iter().find(of_disk).map(|d| format!("/sys/block/{d}/{name}"))
}

/// Every block device that a /sys names without /sys/dev/block.
fn named_devices(root: &Root) -> Vec<String> {
    let names = root.list("/sys/class/block");
    if !names.is_empty() {
        return names;
    }
    let disks = root.list("/sys/block");
    let partitions = |d: &String| -> Vec<String> {
        root.list(&format!("/sys/block/{d}")).into_iter().filter(|p| p.starts_with(d.as_str())).collect()
    };
    let partitions: Vec<String> = disks.iter().flat_map(partitions).collect();
    disks.into_iter().chain(partitions).collect()
}

/// The device's directory under /sys/devices.
pub(crate) fn device_directory(root: &Root, device: DeviceId) -> Option<String> {
    root.canonical(&format!("/sys/dev/block/{device}")).or_else(|| {
        // Captured trees may come without /sys/dev.
        let name = named_devices(root).into_iter().find(|n| device_number(root, n) == Some(device))?;
        named_directory(root, &name)
    })
}

/// Kernel name of a block device by number.
pub(crate) fn device_name(root: &Root, device: DeviceId) -> Option<String> {
    device_directory(root, device).map(|d| file_name(&d).to_owned())
}

/// The block device that a device node stands for, by its name: `/dev/sda1`, `/dev/mapper/vg-lv`, `/dev/disk/by-uuid/..`.
pub(crate) fn device_of_node(root: &Root, node: &str) -> Option<DeviceId> {
    let node = node.trim_end_matches('/');
    let name = root.canonical(node).unwrap_or_else(|| node.to_owned());
    let short = name.strip_prefix("/dev/").unwrap_or_else(|| file_name(&name));
    device_number(root, short).or_else(|| {
        let mapped = node.strip_prefix("/dev/mapper/")?;
        let disks = root.list("/sys/block");
        let dm = disks.iter().filter(|d| d.starts_with("dm-"));
        let dm = dm.into_iter().find(|d| root.text(&format!("/sys/block/{d}/dm/name")).as_deref() == Some(mapped))?;
        device_number(root, dm)
    })
}
