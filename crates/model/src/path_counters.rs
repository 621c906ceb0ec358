//! What the kernel counts of a path that no block device carries: the requests of an SMB client, the cache of ZFS. One table; a run
//! keeps them by these names.

use serde::{Deserialize, Serialize};

/// A counter of the path, since it was mounted or since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathCounter {
    /// One of [`path_counter::ALL`].
    pub name: String,
    pub value: u64,
}

/// The value of a counter among those of a sample.
pub fn path_counter_value(counters: &[PathCounter], name: &str) -> Option<u64> {
    counters.iter().find(|c| c.name == name).map(|c| c.value)
}

/// The names.
pub mod path_counter {
    /// What a counter counts, and where it is read.
    pub struct Name {
        pub name: &'static str,
        /// In a few words, for people: what comes before "/s".
        pub words: &'static str,
        /// Whether it counts bytes.
        pub bytes: bool,
        pub source: &'static str,
    }

    macro_rules! names {
        ($($constant:ident = $name:literal, $words:literal, $bytes:literal, $source:literal;)+) => {
            $(#[doc = concat!($words, ": `", $source, "`.")] pub const $constant: &str = $name;)+

            /// All of them.
            pub const ALL: &[Name] = &[$(Name { name: $name, words: $words, bytes: $bytes, source: $source }),+];
        };
    }

    names! {
        SMB_REQUESTS = "smb_requests", "SMB requests", false, "/proc/fs/cifs/Stats, SMBs of the share";
        SMB_BYTES_READ = "smb_bytes_read", "SMB read", true, "/proc/fs/cifs/Stats, Bytes read of the share";
        SMB_BYTES_WRITTEN = "smb_bytes_written", "SMB written", true, "/proc/fs/cifs/Stats, Bytes written of the share";
        SMB_READS = "smb_reads", "SMB READ", false, "/proc/fs/cifs/Stats, Reads of the share";
        SMB_WRITES = "smb_writes", "SMB WRITE", false, "/proc/fs/cifs/Stats, Writes of the share";
        SMB_CREATES = "smb_creates", "SMB CREATE (opens)", false, "/proc/fs/cifs/Stats, Creates of the share";
        SMB_CLOSES = "smb_closes", "SMB CLOSE", false, "/proc/fs/cifs/Stats, Closes of the share";
        SMB_FLUSHES = "smb_flushes", "SMB FLUSH", false, "/proc/fs/cifs/Stats, Flushes of the share";
        SMB_QUERY_INFOS = "smb_query_infos", "SMB QUERY_INFO", false, "/proc/fs/cifs/Stats, QueryInfos of the share";
        SMB_RECONNECTS = "smb_reconnects", "SMB reconnects", false, "/proc/fs/cifs/Stats, reconnects of sessions, of all servers";
        SMB_TIMED_READS = "smb_timed_reads", "SMB READ answered", false, "/proc/fs/cifs/Stats, command 8 of all servers (CONFIG_CIFS_STATS2)";
        SMB_READ_MS = "smb_read_ms", "ms of SMB READ", false, "/proc/fs/cifs/Stats, Total Time of command 8, jiffies";
        SMB_TIMED_WRITES = "smb_timed_writes", "SMB WRITE answered", false, "/proc/fs/cifs/Stats, command 9 of all servers (CONFIG_CIFS_STATS2)";
        SMB_WRITE_MS = "smb_write_ms", "ms of SMB WRITE", false, "/proc/fs/cifs/Stats, Total Time of command 9, jiffies";
        ARC_DATA_HITS = "arc_data_hits", "ARC hits", false, "/proc/spl/kstat/zfs/arcstats demand_data_hits";
        ARC_DATA_IO_HITS = "arc_data_io_hits", "ARC hits of reads under way", false, "/proc/spl/kstat/zfs/arcstats demand_data_iohits";
        ARC_DATA_MISSES = "arc_data_misses", "ARC misses", false, "/proc/spl/kstat/zfs/arcstats demand_data_misses";
        ARC_PREFETCH_MISSES = "arc_prefetch_misses", "ARC prefetched", false, "/proc/spl/kstat/zfs/arcstats prefetch_data_misses";
        ZIL_COMMITS = "zil_commits", "ZIL commits", false, "/proc/spl/kstat/zfs/POOL/objset-* zil_commit_count, else zil of all pools";
        ZFS_READS = "zfs_reads", "reads of the dataset", false, "/proc/spl/kstat/zfs/POOL/objset-* reads";
        ZFS_BYTES_READ = "zfs_bytes_read", "read from the dataset", true, "/proc/spl/kstat/zfs/POOL/objset-* nread";
        ZFS_WRITES = "zfs_writes", "writes of the dataset", false, "/proc/spl/kstat/zfs/POOL/objset-* writes";
        ZFS_BYTES_WRITTEN = "zfs_bytes_written", "written to the dataset", true, "/proc/spl/kstat/zfs/POOL/objset-* nwritten";
    }

    /// The row of a name.
    pub fn of(name: &str) -> Option<&'static Name> {
        ALL.iter().find(|n| n.name == name)
    }
}
