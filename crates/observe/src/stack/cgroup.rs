//! What the control groups of this process let it do with a device.
//!
//! cgroup v2: `io.max`, the least of its own group and all above it (k:Documentation/admin-guide/cgroup-v2.rst). v1:
//! `blkio.throttle.*_device` (k:Documentation/admin-guide/cgroup-v1/blkio-controller.rst) of its own group alone, for there
//! throttling knows no hierarchy (k:block/blk-throttle.c throtl_pd_init). Both name whole devices by number.

use crate::facts;
use crate::mounts::MountEntry;
use crate::root::Root;
use model::{DeviceId, Layer};

/// Per limit: its fact, the file of v1, the key of v2.
const LIMITS: [(&str, &str, &str); 4] = [
    (facts::CGROUP_READ_BYTES_PER_S, "blkio.throttle.read_bps_device", "rbps"),
    (facts::CGROUP_WRITE_BYTES_PER_S, "blkio.throttle.write_bps_device", "wbps"),
    (facts::CGROUP_READ_IOPS, "blkio.throttle.read_iops_device", "riops"),
    (facts::CGROUP_WRITE_IOPS, "blkio.throttle.write_iops_device", "wiops"),
];

/// Groups above each other; deeper than any hierarchy in use.
const DEPTH_LIMIT: usize = 64;

/// Sets the limits that there are; a device without limits, the usual case, gets no facts.
pub(super) fn set_limits(root: &Root, mounts: &[MountEntry], device: DeviceId, layer: &mut Layer) {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    let mut least = [None::<u64>; LIMITS.len()];
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|c| c == "blkio") {
            continue;
        }
        let holds = |m: &&MountEntry| match unified {
            true => m.fstype == "cgroup2",
            false => m.fstype == "cgroup" && m.has("blkio"),
        };
        let Some(mount) = mounts.iter().find(holds) else { continue };
        let chain = chain(mount, path);
        for directory in if unified { &chain[..] } else { &chain[chain.len() - 1..] } {
            for (least, (_, file, key)) in least.iter_mut().zip(LIMITS) {
                let text = root.text(&format!("{directory}/{}", if unified { "io.max" } else { file }));
                let found = text.as_deref().and_then(|t| limit(t, device, unified.then_some(key)));
                *least = [*least, found].into_iter().flatten().min();
            }
        }
    }
    for (least, (fact, ..)) in least.into_iter().zip(LIMITS) {
        if least.is_some() {
            layer.set(fact, least);
        }
    }
}

/// Directories of a group and of those above it, as far as the mount shows them.
fn chain(mount: &MountEntry, path: &str) -> Vec<String> {
    // A container may see a part of the hierarchy only; what lies outside it cannot be read.
    let inside = path.strip_prefix(mount.root.trim_end_matches('/')).unwrap_or("/").trim_matches('/');
    let top = mount.mount_point.trim_end_matches('/').to_owned();
    let mut directories = vec![top];
    for part in inside.split('/').filter(|p| !p.is_empty() && *p != "..").take(DEPTH_LIMIT) {
        directories.push(format!("{}/{part}", directories[directories.len() - 1]));
    }
    directories
}

/// `8:0 1048576`, or with a key: `8:0 rbps=1048576 wbps=max riops=max wiops=max`.
fn limit(text: &str, device: DeviceId, key: Option<&str>) -> Option<u64> {
    let number = device.to_string();
    let line = text.lines().find_map(|l| l.trim().strip_prefix(number.as_str())?.strip_prefix(' '))?;
    let value = match key {
        Some(key) => line.split_ascii_whitespace().find_map(|w| w.strip_prefix(key)?.strip_prefix('='))?,
        None => line.trim(),
    };
    // `max` is no limit; v1 writes none at all for zero.
    value.parse().ok().filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_and_no_limit_is_none() {
        let device = DeviceId { major: 8, minor: 0 };
        assert_eq!(limit("8:16 5\n8:0 1048576", device, None), Some(1_048_576));
        let two = "8:0 rbps=2097152 wbps=max riops=400 wiops=max";
        assert_eq!(limit(two, device, Some("rbps")), Some(2_097_152));
        assert_eq!(limit(two, device, Some("riops")), Some(400));
        assert_eq!(limit(two, device, Some("wbps")), None);
        assert_eq!(limit(two, DeviceId { major: 8, minor: 1 }, Some("riops")), None);
        assert_eq!(limit("8:0 0", device, None), None);
    }
}
