//! What an SMB client counts of a share, and how it is connected: /proc/fs/cifs/Stats and DebugData (k:fs/smb/client/cifs_debug.c,
//! smb2ops.c smb2_print_stats), readable by everybody, and what the mount options say.

use crate::mounts::MountEntry;
use crate::root::Root;
use model::path_counter as names;
use model::{Fact, Layer, PathCounter, facts};

/// Whether it is a mount of this client.
pub(crate) fn is_smb(fstype: &str) -> bool {
    matches!(fstype, "cifs" | "smb3")
}

/// `//server/share/directory` as the client names its share: `\\server\share`, in lower case, since servers and shares have no case.
fn tree_name(source: &str) -> Option<String> {
    let mut words = source.trim_start_matches(['/', '\\']).split(['/', '\\']);
    let (server, share) = (words.next()?, words.next()?);
    (!server.is_empty() && !share.is_empty()).then(|| format!(r"\\{server}\{share}").to_lowercase())
}

/// `1) \\server\share`, with what may follow behind a tab.
fn numbered(line: &str) -> Option<&str> {
    let (number, rest) = line.trim_start().split_once(") ")?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(rest)
}

fn is_share(line: &str, tree: &str) -> Option<bool> {
    let name = numbered(line).filter(|rest| rest.starts_with('\\'))?;
    let name = name.split(['\t', ' ']).next().unwrap_or_default();
    Some(name.to_lowercase() == tree)
}

/// The lines of a text that are UTF-8.
fn lines(text: &[u8]) -> impl Iterator<Item = &str> {
    text.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok())
}

fn first_number(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// What /proc/fs/cifs/Stats counts of the share of this mount source; several sessions with it are added. Empty where there is no such
/// share, or of a dialect (SMB1) whose lines are others.
///
/// ```text
/// 0 session 0 share reconnects
/// Max requests in flight: 3
/// Total time spent processing by command. Time units are jiffies (250 per second)
///   8    42  17    0  4
/// 1) \\localhost\test
/// SMBs: 105
/// Bytes read: 165675008  Bytes written: 5
/// Reads: 42 total 0 failed
/// ```
pub fn share_counters(stats: &[u8], source: &str) -> Vec<PathCounter> {
    let Some(tree) = tree_name(source) else { return Vec::new() };
    let mut found: Vec<PathCounter> = Vec::new();
    let mut of_machine: Vec<PathCounter> = Vec::new();
    let (mut ours, mut jiffies_per_s) = (false, 0);
    let add = |to: &mut Vec<PathCounter>, name: &str, value: u64| match to.iter_mut().find(|c| c.name == name) {
        Some(counter) => counter.value = counter.value.saturating_add(value),
        None => to.push(PathCounter { name: name.to_owned(), value }),
    };
    for line in lines(stats) {
        if let Some(is_ours) = is_share(line, &tree) {
            ours = is_ours;
        } else if let Some((sessions, _)) = line.split_once(" session ").filter(|l| l.1.ends_with("reconnects")) {
            sessions.parse().into_iter().for_each(|count| add(&mut of_machine, names::SMB_RECONNECTS, count));
        } else if let Some((_, unit)) = line.split_once("Time units are jiffies (") {
            jiffies_per_s = first_number(unit).unwrap_or(0);
        } else if line.starts_with("  ") && jiffies_per_s > 0 {
            timed(line, jiffies_per_s).into_iter().flatten().for_each(|(name, n)| add(&mut of_machine, name, n));
        } else if ours {
            of_share(line).into_iter().flatten().for_each(|(name, n)| add(&mut found, name, n));
        }
    }
    if !found.is_empty() {
        found.extend(of_machine);
    }
    found
}

/// `  8    42  17    0  4`: the command, how many were answered, and their time in jiffies.
fn timed(line: &str, jiffies_per_s: u64) -> Option<[(&'static str, u64); 2]> {
    let mut words = line.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let mut next = || words.next().flatten();
    let (command, count, time) = (next()?, next()?, next()?);
    let ms = time.saturating_mul(1000) / jiffies_per_s;
    // SMB2_READ and SMB2_WRITE (MS-SMB2 2.2.1.2).
    match command {
        8 => Some([(names::SMB_TIMED_READS, count), (names::SMB_READ_MS, ms)]),
        9 => Some([(names::SMB_TIMED_WRITES, count), (names::SMB_WRITE_MS, ms)]),
        _ => None,
    }
}

/// A line of a share: a counter, or two.
fn of_share(line: &str) -> Option<Vec<(&'static str, u64)>> {
    let (what, rest) = line.split_once(": ")?;
    let total = || first_number(rest).filter(|_| rest.contains(" total "));
    let one = |name| total().map(|n| vec![(name, n)]);
    match what {
        "SMBs" => first_number(rest).map(|n| vec![(names::SMB_REQUESTS, n)]),
        "Bytes read" => {
            let written = rest.split_once("Bytes written: ").and_then(|(_, written)| first_number(written));
            let read = first_number(rest)?;
            Some(
                [Some((names::SMB_BYTES_READ, read)), written.map(|n| (names::SMB_BYTES_WRITTEN, n))]
                    .into_iter()
                    .flatten()
                    .collect(),
            )
        }
        "Reads" => one(names::SMB_READS),
        "Writes" => one(names::SMB_WRITES),
        "Creates" => one(names::SMB_CREATES),
        "Closes" => one(names::SMB_CLOSES),
        "Flushes" => one(names::SMB_FLUSHES),
        "QueryInfos" => one(names::SMB_QUERY_INFOS),
        _ => None,
    }
}

/// How the session that has a share is connected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmbSession {
    pub is_signed: bool,
    pub is_encrypted: bool,
    /// Connections to the server.
    pub channels: u64,
    /// Interfaces that the server offers; `None` where it was not asked, or has none to name.
    pub interfaces: Option<u64>,
    /// One of them can be used by several connections (receive side scaling).
    pub has_rss: bool,
}

/// The session of a mount source in /proc/fs/cifs/DebugData.
///
/// ```text
/// 1) ConnectionId: 0x1 Hostname: localhost
/// Number of credits: 389,1,1 Dialect 0x311 signed
///         Sessions:
///         1) Address: 127.0.0.1 Uses: 1 Capability: 0x300067      Session Status: 1
///         Security type: RawNTLMSSP  SessionId: 0x5 encrypted
///         Extra Channels: 1
///         Shares:
///         1) \\localhost\test Mounts: 1 DevInfo: 0x20
///         PathComponentMax: 255 Status: 1 type: DISK Serial Number: 0x9 Encrypted
///         Server interfaces: 2
/// ```
pub fn session(debug_data: &[u8], source: &str) -> Option<SmbSession> {
    let tree = tree_name(source)?;
    let mut session = SmbSession { channels: 1, ..SmbSession::default() };
    let (mut has_share, mut server_signs, mut at_ours) = (false, false, false);
    for line in lines(debug_data) {
        let begins = |words: [&str; 3]| numbered(line).is_some_and(|rest| words.iter().any(|w| rest.starts_with(w)));
        // A connection; extra channels of a session are numbered, too, and begin with "Channel".
        let is_connection = !line.starts_with('\t') && begins(["ConnectionId", "Hostname", "Name"]);
        if is_connection || line.starts_with('\t') && begins(["Address", "Name", "Service"]) {
            if has_share {
                break;
            }
            server_signs &= !is_connection;
            session = SmbSession { channels: 1, is_signed: server_signs, ..SmbSession::default() };
        }
        let says = |word: &str| line.split_ascii_whitespace().any(|w| w == word);
        if line.starts_with("Number of credits") {
            server_signs = says("signed");
            session.is_signed |= server_signs;
        }
        if line.contains("SessionId:") {
            session.is_signed |= says("signed");
            session.is_encrypted |= says("encrypted");
        }
        let after = |words: &str| line.trim_start().strip_prefix(words).and_then(first_number);
        if let Some(extra) = after("Extra Channels: ") {
            session.channels = extra.saturating_add(1);
        }
        if let Some(count) = after("Server interfaces: ") {
            session.interfaces = Some(count);
        }
        session.has_rss |= line.trim_start().starts_with("Capabilities:") && says("rss");
        if let Some(is_ours) = is_share(line, &tree) {
            at_ours = is_ours;
            has_share |= is_ours;
        }
        // What a mount with seal, or a share that asks for it, encrypts is told of the share.
        session.is_encrypted |= at_ours && line.contains("Serial Number:") && says("Encrypted");
    }
    has_share.then_some(session)
}

/// What the mount options say, and how the session is connected.
pub(crate) fn set_facts(root: &Root, entry: &MountEntry, layer: &mut Layer) {
    let number = |key: &str| entry.option(key).and_then(|value| value.parse::<u64>().ok());
    let text = |key: &str| entry.option(key).map(str::to_owned);
    let security = entry.option("sec").unwrap_or_default();
    let session = root.text("/proc/fs/cifs/DebugData").and_then(|text| session(text.as_bytes(), &entry.source));
    layer.set(facts::SMB_VERSION, text("vers"));
    layer.set(facts::SMB_CACHE, text("cache"));
    layer.set(facts::SMB_READ_BYTES, number("rsize"));
    layer.set(facts::SMB_WRITE_BYTES, number("wsize"));
    // With `i` a sec= signs: ntlmsspi, krb5i (mount.cifs(8)). What the session does is more than what was asked for.
    let asked_to_sign = entry.has("sign") || security.ends_with('i');
    let signs = session.as_ref().map(|s| s.is_signed).or(asked_to_sign.then_some(true));
    layer.set(facts::SMB_SIGNED, signs);
    let encrypts = entry.has("seal") || session.as_ref().is_some_and(|s| s.is_encrypted);
    layer.set(facts::SMB_ENCRYPTED, Fact::Bool(encrypts));
    layer.set(facts::SMB_CHANNELS, session.as_ref().map(|s| s.channels));
    layer.set(facts::SMB_INTERFACES, session.as_ref().and_then(|s| s.interfaces));
    layer.set(facts::SMB_INTERFACE_SCALES, session.as_ref().map(|s| s.has_rss));
    let never = ["actimeo", "acregmax"].iter().any(|key| number(key) == Some(0));
    layer.set(facts::ATTRIBUTES_CACHED, Fact::Bool(!never));
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::path_counter_value;
    use proptest::prelude::*;

    // An SMB 3 mount as its maintainer showed it: https://lore.kernel.org/linux-cifs/CAH2r5mvU_E7HeLVkG7dCcjE-wF0X9bQa9245jAx0J0dJ9eJy+g@mail.gmail.com/
    const STATS: &str = include_str!("../tests/data/cifs-stats.txt");
    // Made after the format strings of Linux 6.6, fs/smb/client/cifs_debug.c (cifs_stats_proc_show with CONFIG_CIFS_STATS2).
    const STATS2: &str = include_str!("../tests/data/cifs-stats2.txt");
    // The same of cifs_debug_data_proc_show: two servers.
    const DEBUG: &str = include_str!("../tests/data/cifs-debugdata.txt");

    #[test]
    fn the_counters_of_a_share() {
        let found = share_counters(STATS.as_bytes(), "//localhost/test/deeper");
        let of = |name: &str| path_counter_value(&found, name);
        assert_eq!(
            (of(names::SMB_REQUESTS), of(names::SMB_BYTES_READ), of(names::SMB_BYTES_WRITTEN)),
            (Some(105), Some(165_675_008), Some(5))
        );
        assert_eq!(
            (of(names::SMB_READS), of(names::SMB_CREATES), of(names::SMB_QUERY_INFOS)),
            (Some(42), Some(18), Some(16))
        );
        assert_eq!(
            (of(names::SMB_RECONNECTS), of(names::SMB_READ_MS)),
            (Some(0), None),
            "times only with CONFIG_CIFS_STATS2"
        );
        assert!(share_counters(STATS.as_bytes(), "//localhost/other").is_empty());
        assert!(share_counters(STATS.as_bytes(), "localhost").is_empty());
    }

    #[test]
    fn times_and_sessions_are_added() {
        let found = share_counters(STATS2.as_bytes(), r"//NAS.example/Data");
        let of = |name: &str| path_counter_value(&found, name);
        assert_eq!(
            (of(names::SMB_TIMED_READS), of(names::SMB_READ_MS)),
            (Some(1000), Some(2000)),
            "500 jiffies of 1/250 s"
        );
        assert_eq!((of(names::SMB_TIMED_WRITES), of(names::SMB_WRITE_MS)), (Some(200), Some(1600)));
        assert_eq!((of(names::SMB_READS), of(names::SMB_RECONNECTS)), (Some(950), Some(3)), "two users of one share");
    }

    #[test]
    fn how_the_session_of_a_share_is_connected() {
        let of = |source| session(DEBUG.as_bytes(), source);
        let nas = SmbSession { is_signed: true, is_encrypted: false, channels: 1, interfaces: Some(2), has_rss: true };
        assert_eq!(of("//nas.example/data"), Some(nas));
        let other = SmbSession { is_signed: false, is_encrypted: true, channels: 3, interfaces: None, has_rss: false };
        assert_eq!(of("//other/Vault/x"), Some(other));
        assert_eq!(of("//nowhere/data"), None);
    }

    // Linux 6.1 of Debian 12 with smbd 4.17 over lo (the lab's microvm-cifs).
    const LAB_STATS: &str = include_str!("../tests/data/cifs-stats-6.1.txt");
    const LAB_SIGNED: &str = include_str!("../tests/data/cifs-debugdata-6.1-sign.txt");
    const LAB_MULTICHANNEL: &str = include_str!("../tests/data/cifs-debugdata-6.1-multichannel.txt");
    const LAB_SEALED: &str = include_str!("../tests/data/cifs-debugdata-6.1-seal.txt");

    #[test]
    fn what_a_mount_of_the_lab_shows() {
        let source = "//127.0.0.1/srv";
        let found = share_counters(LAB_STATS.as_bytes(), source);
        let of = |name: &str| path_counter_value(&found, name);
        assert_eq!((of(names::SMB_REQUESTS), of(names::SMB_BYTES_READ)), (Some(1262), Some(201_306_112)));
        assert_eq!((of(names::SMB_READS), of(names::SMB_TIMED_READS)), (Some(1155), Some(1155)));
        assert_eq!((of(names::SMB_READ_MS), of(names::SMB_WRITE_MS)), (Some(77_748), Some(12_912)), "4 ms a jiffy");
        assert_eq!((of(names::SMB_CREATES), of(names::SMB_RECONNECTS)), (Some(19), Some(0)));
        let of = |text: &str| session(text.as_bytes(), source).map(|s| (s.is_signed, s.is_encrypted));
        assert_eq!((of(LAB_SIGNED), of(LAB_SEALED)), (Some((true, false)), Some((false, true))));
        let many = session(LAB_MULTICHANNEL.as_bytes(), "//10.0.0.1/srv").expect("a session");
        assert_eq!((many.channels, many.interfaces, many.has_rss), (2, Some(1), true));
        let one = session(LAB_SIGNED.as_bytes(), source).expect("a session");
        assert_eq!((one.channels, one.interfaces, one.has_rss), (1, None, false), "loopback is not offered");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            text in r"(1\) \\\\a\\b|SMBs: |Bytes read: |  Bytes written: |Reads: | total |[0-9]{0,22}|  8\t\t| session |reconnects|Time units are jiffies \(|Server interfaces: |\n| |\t){0,60}",
        ) {
            let _ = (share_counters(&bytes, "//a/b"), session(&bytes, "//a/b"));
            prop_assert!(share_counters(text.as_bytes(), "//a/b").len() <= names::ALL.len());
            let _ = session(text.as_bytes(), "//a/b");
        }
    }
}
