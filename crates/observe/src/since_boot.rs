//! What a disk was given to write since the machine was started, or it was attached.

use crate::root::Root;

const SECTOR_BYTES: u64 = 512;

/// Bytes, and the seconds since the start of the machine.
pub fn written_since_boot(root: &Root, disk: &str) -> Option<(u64, f64)> {
    // k:Documentation/block/stat.rst: the seventh is sectors written.
    let stat = root.text(&format!("/sys/block/{disk}/stat"))?;
    let sectors: u64 = stat.split_whitespace().nth(6)?.parse().ok()?;
    let uptime = root.text("/proc/uptime")?;
    let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    (seconds > 0.0).then_some((sectors.saturating_mul(SECTOR_BYTES), seconds))
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
        put("proc/uptime", "3600.50 7000.00\n");
        // What was not there is remembered.
        let root = Root::new(directory.path());
        assert_eq!(written_since_boot(&root, "sda"), Some((2_097_152, 3600.5)));
        assert_eq!(written_since_boot(&root, "sdb"), None);
    }
}
