//! Who moves data: the accounts that the kernel keeps of each process (/proc/PID/io, proc(5)).

use crate::root::Root;
use model::ProcessIo;

/// Most processes looked at: what is asked for is a name, in the pause between two measurements.
const PROCESS_LIMIT: usize = 4_096;

/// The accounts of all processes but this one that may be read: those of this user, or all for root. A journal's own writes and
/// those of the page cache's threads are in no account, or in that of whoever wrote into the cache.
pub fn process_io(root: &Root) -> Vec<ProcessIo> {
    let own: Option<u32> = root.link_name("/proc/self").and_then(|l| l.parse().ok());
    let Ok(names) = root.names("/proc") else { return Vec::new() };
    let pids = names.iter().filter_map(|n| n.parse::<u32>().ok()).filter(|pid| Some(*pid) != own);
    pids.take(PROCESS_LIMIT).filter_map(|pid| of(root, pid)).collect()
}

fn of(root: &Root, pid: u32) -> Option<ProcessIo> {
    let io = root.text(&format!("/proc/{pid}/io"))?;
    let count = |key: &str| io.lines().find_map(|l| l.strip_prefix(key)?.trim().parse::<u64>().ok());
    let (read_bytes, write_bytes) = (count("read_bytes:")?, count("write_bytes:")?);
    let cancelled = count("cancelled_write_bytes:").unwrap_or(0);
    if read_bytes == 0 && write_bytes == 0 {
        return None;
    }
    let name = root.text(&format!("/proc/{pid}/comm"))?;
    Some(ProcessIo { pid, name, read_bytes, write_bytes: write_bytes.saturating_sub(cancelled) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn accounts_that_may_be_read_and_are_not_empty() {
        let tree = tempfile::tempdir().unwrap();
        let process = |pid: u32, name: &str, io: Option<&str>| {
            let directory = tree.path().join(format!("proc/{pid}"));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("comm"), format!("{name}\n")).unwrap();
            io.into_iter().for_each(|text| fs::write(directory.join("io"), text).unwrap());
        };
        let io = |read: u64, write: u64, cancelled: u64| {
            format!(
                "rchar: 9\nwchar: 9\nsyscr: 1\nsyscw: 1\nread_bytes: {read}\nwrite_bytes: {write}\ncancelled_write_bytes: {cancelled}\n"
            )
        };
        process(12, "postgres", Some(&io(4096, 8192, 4096)));
        process(13, "idle", Some(&io(0, 0, 0)));
        process(14, "hidden", None);
        process(15, "broken", Some("read_bytes: x\n"));
        let seen = process_io(&Root::new(tree.path()));
        let postgres = ProcessIo { pid: 12, name: "postgres".into(), read_bytes: 4096, write_bytes: 4096 };
        assert_eq!(seen, [postgres]);
    }
}
