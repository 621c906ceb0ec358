//! What an NFS client counts of a mount: /proc/self/mountstats (k:fs/nfs/super.c nfs_show_stats, k:net/sunrpc/stats.c
//! rpc_clnt_show_stats), and what its mount options say. No root is needed.

use crate::mounts::{MountEntry, unescape};
use crate::root::Root;
use model::{Fact, Layer, NfsCounters, facts};

/// Operations of a mount; NFSv4.2 has 70 or so.
const MOST_OPERATIONS: usize = 128;
/// Letters of an operation's name.
const LONGEST_NAME: usize = 32;

/// Whether it is a mount of this client.
pub(crate) fn is_nfs(fstype: &str) -> bool {
    matches!(fstype, "nfs" | "nfs4")
}

/// The operations that were ever used of the mount on this mount point, in the order of the file; empty where there is no such mount, or
/// its statistics are of another form.
///
/// ```text
/// device 127.0.0.1:/srv mounted on /mnt with fstype nfs4 statvers=1.1
///         opts:   rw,vers=4.2,rsize=1048576,...
///         per-op statistics
///                 READ: 12 12 0 2592 1573632 0 25 26 0
/// ```
pub fn operations(mountstats: &[u8], mount_point: &str) -> Vec<NfsCounters> {
    let mut found = Vec::new();
    let mut ours = false;
    for line in mountstats.split(|byte| *byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        if let Some(rest) = line.strip_prefix("device ") {
            ours = is_mount(rest, mount_point);
            if ours {
                // Of several on one mount point the last is the uppermost.
                found.clear();
            }
        } else if ours && found.len() < MOST_OPERATIONS {
            found.extend(operation(line).filter(|operation| operation.operations > 0));
        }
    }
    found
}

/// `SERVER:PATH mounted on POINT with fstype nfs4 statvers=1.1`; names are escaped, so that they hold no blank.
fn is_mount(rest: &str, mount_point: &str) -> bool {
    let mut words = rest.split(' ').skip(1);
    let words: [&str; 6] = std::array::from_fn(|_| words.next().unwrap_or_default());
    let ["mounted", "on", point, "with", "fstype", fstype] = words else { return false };
    is_nfs(fstype) && unescape(point) == mount_point
}

/// `READ: 12 12 0 2592 1573632 0 25 26 0`.
fn operation(line: &str) -> Option<NfsCounters> {
    let (name, numbers) = line.trim_start().split_once(": ")?;
    let is_name = (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit());
    let mut numbers = numbers.split_ascii_whitespace().map(|number| number.parse::<u64>().ok());
    let mut next = || numbers.next().flatten();
    is_name.then_some(())?;
    Some(NfsCounters {
        name: name.to_owned(),
        operations: next()?,
        transmissions: next()?,
        timeouts: next()?,
        bytes_sent: next()?,
        bytes_received: next()?,
        queue_ms: next()?,
        rtt_ms: next()?,
        execute_ms: next()?,
        errors: next(),
    })
}

/// Counters of two lines that begin alike, names and numbers, as /proc/net/snmp and /proc/net/netstat have them.
fn named<const N: usize>(text: &[u8], group: &str, wanted: [&str; N]) -> Option<[u64; N]> {
    let lines =
        text.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()?.strip_prefix(group));
    let mut lines = lines.filter_map(|line| line.strip_prefix(": "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let mut found = [0; N];
    for (value, name) in found.iter_mut().zip(wanted) {
        let at = names.split_ascii_whitespace().position(|n| n == name)?;
        *value = numbers.split_ascii_whitespace().nth(at)?.parse().ok()?;
    }
    Some(found)
}

/// Segments of TCP sent, and sent again, of /proc/net/snmp.
pub fn tcp_segments(snmp: &[u8]) -> Option<(u64, u64)> {
    named(snmp, "Tcp", ["OutSegs", "RetransSegs"]).map(|[out, again]| (out, again))
}

/// Segments that the other side said it had already, of /proc/net/netstat (RFC 2883).
pub fn tcp_segments_late(netstat: &[u8]) -> Option<u64> {
    named(netstat, "TcpExt", ["TCPDSACKRecv", "TCPDSACKOfoRecv"]).map(|[old, early]| old.saturating_add(early))
}

/// What the mount options say, and the limits of the client.
pub(crate) fn set_facts(root: &Root, entry: &MountEntry, layer: &mut Layer) {
    let number = |key: &str| entry.option(key).and_then(|value| value.parse::<u64>().ok());
    let text = |key: &str| entry.option(key).map(str::to_owned);
    let version = text("vers").or_else(|| text("nfsvers"));
    let sessions = version.as_deref().is_some_and(|v| v.starts_with("4.") && v != "4.0");
    let slots = match sessions {
        true => "/sys/module/nfs/parameters/max_session_slots",
        false => "/proc/sys/sunrpc/tcp_max_slot_table_entries",
    };
    layer.set(facts::NFS_VERSION, version);
    layer.set(facts::NFS_TRANSPORT, text("proto"));
    layer.set(facts::NFS_CONNECTIONS, number("nconnect").unwrap_or(1));
    layer.set(facts::NFS_READ_BYTES, number("rsize"));
    layer.set(facts::NFS_WRITE_BYTES, number("wsize"));
    layer.set(facts::NFS_SLOTS, root.number::<u64>(slots));
    let soft = entry.has("soft") || entry.has("softerr");
    layer.set(facts::SOFT_MOUNT, Fact::Bool(soft));
    let never = entry.has("noac") || ["actimeo", "acregmax"].iter().any(|key| number(key) == Some(0));
    layer.set(facts::ATTRIBUTES_CACHED, Fact::Bool(!never));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // Linux 6.1, nfs-utils 2.6, a mount over lo.
    const STATS: &str = include_str!("../tests/data/mountstats.txt");

    #[test]
    fn the_operations_of_one_mount() {
        let found = operations(STATS.as_bytes(), "/mnt/a b");
        let names: Vec<&str> = found.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["NULL", "READ", "WRITE", "COMMIT", "GETATTR"], "what was never used is left out");
        let read = &found[1];
        assert_eq!((read.operations, read.transmissions, read.timeouts), (64, 66, 1));
        assert_eq!((read.bytes_sent, read.bytes_received), (13_824, 67_117_056));
        assert_eq!((read.queue_ms, read.rtt_ms, read.execute_ms, read.errors), (310, 140, 455, Some(0)));
        // Before Linux 5.3 there is no count of errors.
        assert_eq!(operations(STATS.as_bytes(), "/old")[0].errors, None);
        assert!(operations(STATS.as_bytes(), "/").is_empty() && operations(b"", "/mnt").is_empty());
    }

    #[test]
    fn segments_by_their_names() {
        let snmp = b"Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm OutSegs RetransSegs InErrs\nTcp: 1 500 7 0\nUdp: x\n";
        assert_eq!(tcp_segments(snmp), Some((500, 7)));
        assert_eq!(tcp_segments(b"Tcp: OutSegs\n"), None);
        let netstat = b"TcpExt: A TCPDSACKRecv TCPDSACKOfoRecv\nTcpExt: 1 5 2\nIpExt: x\nIpExt: 1\n";
        assert_eq!((tcp_segments_late(netstat), tcp_segments_late(b"TcpExt: A\nTcpExt: 1\n")), (Some(7), None));
    }

    #[test]
    fn counters_that_fell_are_another_mount() {
        let of = |operations, rtt_ms| NfsCounters { operations, rtt_ms, ..NfsCounters::default() };
        assert_eq!(of(9, 20).since(&of(4, 5)).map(|c| (c.operations, c.rtt_ms)), Some((5, 15)));
        assert_eq!(of(1, 20).since(&of(4, 5)), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), text in "(device x mounted on /m with fstype nfs|READ: |[0-9]{0,22}|:| |\n|Tcp: OutSegs RetransSegs){0,60}") {
            let _ = (operations(&bytes, "/m"), tcp_segments(&bytes));
            prop_assert!(operations(text.as_bytes(), "/m").len() <= MOST_OPERATIONS);
            let _ = (tcp_segments(text.as_bytes()), tcp_segments_late(text.as_bytes()));
        }
    }
}
