//! What the kernel counts of SMB shares and of ZFS, read from texts that nobody wrote.

use super::{Fuzzer, mutate::hash};
use model::PathCounter;
use std::path::Path;

struct Shares;

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Shares))
}

impl Fuzzer for Shares {
    fn corpus(&self) -> Vec<Vec<u8>> {
        super::imports::files(&["crates/observe/tests/data"], |p| {
            p.extension().is_some_and(|e| e == "txt" || e == "kstat")
        })
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "1) \\\\localhost\\test",
            "\nSMBs: ",
            "Bytes read: ",
            "  Bytes written: ",
            "Reads: 1 total",
            " session ",
            " share reconnects",
            "Time units are jiffies (",
            "\n  8\t\t",
            "Server interfaces: ",
            "Extra Channels: ",
            "SessionId: ",
            "demand_data_hits ",
            " 4 ",
            "18446744073709551615",
            "\n",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let sources = ["//localhost/test", "//nas.example/data", "//", ""];
        let smb = sources.map(|source| observe::smb_counters(input, source)).concat();
        let sessions = sources.map(|source| observe::smb_session(input, source));
        let zfs =
            [observe::arc_counters(input), observe::dataset_counters(input), observe::zil_counters(input)].concat();
        let all: Vec<&PathCounter> = smb.iter().chain(&zfs).collect();
        if let Some(unknown) = all.iter().find(|c| model::path_counter::of(&c.name).is_none()) {
            return Err(format!("a counter that is in no table: {unknown:?}"));
        }
        if sessions.iter().flatten().any(|s| s.channels == 0) {
            return Err("a session without a connection".to_owned());
        }
        let names: Vec<&str> = all.iter().map(|c| c.name.as_str()).collect();
        let connected: Vec<_> = sessions.iter().flatten().map(|s| (s.is_signed, s.is_encrypted, s.has_rss)).collect();
        Ok(hash(format!("{names:?} {connected:?}").as_bytes()))
    }
}
