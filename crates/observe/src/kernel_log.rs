//! Kernel messages about storage: only those that mean something, by the words of the kernel's own sources.
//!
//! A message stands in the log until newer ones push it out; that one is absent proves nothing on a machine that has run
//! for long.

use crate::read_error::ReadError;
use crate::root::Root;

/// Words of messages and where the kernel prints them.
const MEANINGFUL: [&str; 28] = [
    // k:drivers/mmc/core/mmc.c, drivers/mmc/core/queue.c, drivers/mmc/host/cqhci-core.c
    "Command Queue Engine enabled",
    "running CQE recovery",
    "cqhci:",
    "Host Software Queue enabled",
    "tuning execution failed",
    "Card stuck",
    "error -110 whilst initialising",
    "switching to 1.8V",
    "Signal voltage switch failed",
    // k:drivers/ata/libata-core.c, libata-sata.c, libata-eh.c
    "limiting SATA link speed",
    "limiting speed to",
    "NCQ (not used)",
    "failed to IDENTIFY",
    "exception Emask",
    "SError:",
    // k:drivers/ata/ahci.c
    "remapped NVMe",
    // k:drivers/usb/storage/uas-detect.h, uas.c
    "UAS is ignored",
    "UAS is blacklisted",
    "not supported by the xHCI",
    "does not support streams",
    "uas_eh_",
    // k:drivers/nvme/host/pci.c, core.c
    "min host memory",
    "allocated host memory buffer",
    "bandwidth, limited by",
    // k:drivers/pci/pcie/aer.c
    "PCIe Bus Error",
    "AER: ",
    // k:block/blk-core.c
    "I/O error, dev",
    "Undervoltage detected",
];

/// Lines kept of one machine.
const LINE_LIMIT: usize = 64;
/// Longest line kept.
const LINE_BYTES: usize = 300;

/// The messages that mean something, oldest first and without repeats; if many, the newest. `None` if they were not
/// asked for, with an error if they could not be read.
pub(crate) fn storage_messages(root: &Root, asked: bool) -> Option<Result<Vec<String>, String>> {
    if !(root.has_answer("kernel-log") || root.is_live() && asked) {
        return None;
    }
    let answer = root.answer("kernel-log", || {
        use sys::KernelLogError::{Missing, NotPermitted, Other};
        let read = sys::KernelLog::from_start().and_then(|mut log| log.drain());
        let messages = read.map_err(|e| match e {
            NotPermitted => ReadError::Denied,
            Missing => ReadError::Missing,
            Other(_) => ReadError::Refused,
        })?;
        let lines = meaningful(messages.iter().map(|m| m.text.as_str()));
        Ok((lines.join("\n") + "\n").into_bytes())
    });
    Some(match answer {
        Ok(bytes) => Ok(meaningful(String::from_utf8_lossy(&bytes).lines())),
        Err(ReadError::Denied) => {
            Err("run as root, or with sysctl -w kernel.dmesg_restrict=0, to see kernel messages about storage".into())
        }
        Err(_) => Err("there is no /dev/kmsg here: kernel messages about storage are unknown".into()),
    })
}

fn meaningful<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in lines.filter(|l| MEANINGFUL.iter().any(|m| l.contains(m))) {
        let mut end = line.len().min(LINE_BYTES);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let line = line[..end].trim().to_owned();
        if !kept.contains(&line) {
            kept.push(line);
        }
        if kept.len() > LINE_LIMIT {
            kept.remove(0);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_messages_those_that_mean_something() {
        let lines = [
            "mmc0: running CQE recovery",
            "random: crng init done",
            "usb 2-1: UAS is ignored for this device, using usb-storage instead",
            "mmc0: running CQE recovery",
        ];
        let kept = meaningful(lines.into_iter());
        assert_eq!(kept, [lines[0], lines[2]]);
        let long = format!("ata1: limiting SATA link speed to {}", "é".repeat(400));
        assert!(meaningful([long.as_str()].into_iter())[0].len() <= LINE_BYTES);
        let many: Vec<String> = (0..100).map(|n| format!("I/O error, dev sd{n}")).collect();
        let kept = meaningful(many.iter().map(String::as_str));
        assert_eq!((kept.len(), kept[LINE_LIMIT - 1].as_str()), (LINE_LIMIT, "I/O error, dev sd99"));
    }
}
