//! What a target's name means, from what /proc and /sys of the root say: nothing is opened, and in a captured tree
//! nothing outside of it is asked.

use crate::block_devices::{device_name, device_number, device_of_node, unnumbered_directory};
use crate::mounts::{mount_of, mounts};
use crate::root::{Root, file_name};
use crate::stack::Locator;

/// Why a name is no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetNameError {
    /// No device of that name.
    #[error("there is no device {name} under /sys; there are: {known}")]
    NoDevice {
        /// What was asked for.
        name: String,
        /// What could be asked for.
        known: String,
    },
    /// The root has no table of mounts, so that a path says nothing.
    #[error(
        "no table of mounts (/proc/self/mountinfo or /proc/mounts) tells where {path} lies; name the device itself"
    )]
    NoMounts {
        /// What was asked for.
        path: String,
    },
    /// A name that is neither.
    #[error("{name} is neither an absolute path nor the name of a device ({known})")]
    Neither {
        /// What was asked for.
        name: String,
        /// What could be asked for.
        known: String,
    },
}

/// The place that a name means inside this root: `/dev/mmcblk0`, `mmcblk0`, `/dev/disk/by-id/..`, `/dev/mapper/vg-lv`,
/// `mtd0`, `nvme0` (its first namespace), `/` and every other absolute path.
///
/// On the live machine a path that exists is better given as [`Locator::Path`] with its device and mount id.
///
/// # Errors
/// A device that is not there, a path without a table of mounts, and a relative path.
pub fn locate(root: &Root, name: &str) -> Result<Locator, TargetNameError> {
    let trimmed = name.trim();
    let trimmed = if trimmed.len() > 1 { trimmed.trim_end_matches('/') } else { trimmed };
    let trimmed = if trimmed.is_empty() && !name.is_empty() { "/" } else { trimmed };
    if let Some(place) = locate_device(root, trimmed) {
        return Ok(place);
    }
    let no_device = || TargetNameError::NoDevice { name: trimmed.to_owned(), known: known(root) };
    if !trimmed.starts_with('/') {
        let plain = !trimmed.is_empty() && !trimmed.contains('/');
        return Err(if plain {
            no_device()
        } else {
            TargetNameError::Neither { name: trimmed.to_owned(), known: known(root) }
        });
    }
    let path = root.canonical(trimmed).unwrap_or_else(|| normalized(trimmed));
    let table = mounts(root);
    let mount = mount_of(&table, &path, None, None);
    // A device node that nobody knows is no file of the root file system.
    if path.starts_with("/dev/") && mount.is_none_or(|m| matches!(m.mount_point.as_str(), "/" | "/dev")) {
        return Err(no_device());
    }
    if mount.is_none() {
        return Err(TargetNameError::NoMounts { path });
    }
    Ok(Locator::Path { path, device: None, mount_id: None, block_size_bytes: None })
}

/// Where the root file system lies; `None` without a table of mounts.
pub fn locate_root(root: &Root) -> Option<Locator> {
    locate(root, "/").ok()
}

fn locate_device(root: &Root, name: &str) -> Option<Locator> {
    let by_name = |short: &str| {
        // `/dev/mtd0` and `/dev/mtd0ro` are characters devices; the class has the first name only.
        let mtd = short.strip_suffix("ro").filter(|m| m.starts_with("mtd")).unwrap_or(short);
        if mtd.starts_with("mtd") && !mtd.starts_with("mtdblock") && root.exists(&format!("/sys/class/mtd/{mtd}")) {
            return Some(Locator::DeviceName(mtd.to_owned()));
        }
        if short.starts_with("nvme") && root.exists(&format!("/sys/class/nvme/{short}")) {
            let namespaces = root.list("/sys/block");
            let first = namespaces.iter().find(|n| n.strip_prefix(short).is_some_and(|r| r.starts_with('n')))?;
            return Some(Locator::DeviceName(first.clone()));
        }
        let there = device_number(root, short).is_some() || unnumbered_directory(root, short).is_some();
        there.then(|| Locator::DeviceName(short.replace('/', "!")))
    };
    if let Some(short) = name.strip_prefix("/dev/") {
        let device = device_of_node(root, name).and_then(|d| device_name(root, d));
        return device.map(Locator::DeviceName).or_else(|| by_name(file_name(short)));
    }
    let plain = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
    plain.then(|| by_name(name)).flatten()
}

/// Devices that could be asked for, in few words.
fn known(root: &Root) -> String {
    const FEW: usize = 12;
    let mut names = root.list("/sys/block");
    names.retain(|n| !n.starts_with("loop") && !n.starts_with("ram"));
    names.extend(root.list("/sys/class/mtd").into_iter().filter(|m| !m.ends_with("ro")));
    match names.len() {
        0 => "none".to_owned(),
        n if n > FEW => format!("{}, and {} more", names[..FEW].join(", "), n - FEW),
        _ => names.join(", "),
    }
}

/// `/a/./b/../c` is `/a/c`, by text alone.
fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn paths_that_do_not_exist_are_cleaned_by_text() {
        assert_eq!(normalized("/a/./b/../../../c//"), "/c");
        assert_eq!(normalized("/"), "/");
    }
}
