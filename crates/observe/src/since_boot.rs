//! What a disk was given to write since the machine was started, or it was attached.

use crate::root::Root;
use model::DeviceId;

const SECTOR_BYTES: u64 = 512;

/// Bytes, and the seconds since the start of the machine.
pub fn written_since_boot(root: &Root, disk: &str) -> Option<(u64, f64)> {
    let bytes = bytes_written(root, &format!("/sys/block/{disk}/stat"))?;
    let uptime = root.text("/proc/uptime")?;
    let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    (seconds > 0.0).then_some((bytes, seconds))
}

/// Bytes that a block device, or a part of one, was given to write since it is there.
pub fn written_bytes(root: &Root, device: DeviceId) -> Option<u64> {
    bytes_written(root, &format!("/sys/dev/block/{device}/stat"))
}

fn bytes_written(root: &Root, stat: &str) -> Option<u64> {
    // k:Documentation/block/stat.rst: the seventh is sectors written.
    let sectors: u64 = root.text(stat)?.split_whitespace().nth(6)?.parse().ok()?;
    Some(sectors.saturating_mul(SECTOR_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_bytes_and_what_is_not_there_is_not_known() {
        let directory = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("sys/block/sda/stat", " 10 0 800 5 20 0 4096 9 0 7 14 0 0 0 0 0 0\n");
        let root = Root::new(directory.path());
        assert_eq!(written_since_boot(&root, "sda"), None);
        put("sys/dev/block/8:1/stat", " 10 0 800 5 20 0 8 9 0 7 14 0 0 0 0 0 0\n");
        put("proc/uptime", "3600.50 7000.00\n");
        // What was not there is remembered.
        let root = Root::new(directory.path());
        assert_eq!(written_since_boot(&root, "sda"), Some((2_097_152, 3600.5)));
        assert_eq!(written_since_boot(&root, "sdb"), None);
        let of = |minor| written_bytes(&root, DeviceId { major: 8, minor });
        assert_eq!((of(1), of(2)), (Some(4096), None));
    }
}
