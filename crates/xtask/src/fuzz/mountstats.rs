//! What the kernel counts of NFS mounts and of TCP, read from texts that nobody wrote.

use super::{Fuzzer, mutate::hash};
use std::path::Path;

struct MountStats;

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(MountStats))
}

impl Fuzzer for MountStats {
    fn corpus(&self) -> Vec<Vec<u8>> {
        let mut all =
            super::imports::files(&["crates/observe/tests/data"], |p| p.extension().is_some_and(|e| e == "txt"));
        all.push(b"Tcp: OutSegs RetransSegs\nTcp: 1 2\nTcpExt: TCPDSACKRecv TCPDSACKOfoRecv\nTcpExt: 3 4\n".to_vec());
        all
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "device ",
            "mounted on ",
            "/old",
            " with fstype nfs4",
            "\tREAD: ",
            "18446744073709551615",
            "Tcp: ",
            "\n",
            "\\040",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let found: Vec<_> = ["/mnt/a b", "/old", "/"].map(|point| observe::nfs_operations(input, point)).into();
        for operation in found.iter().flatten() {
            if operation.operations == 0 || operation.name.len() > 32 {
                return Err(format!("an operation that never was: {operation:?}"));
            }
        }
        let tcp = (observe::tcp_segments(input), observe::tcp_segments_late(input));
        let names: Vec<&str> = found.iter().flatten().map(|o| o.name.as_str()).collect();
        Ok(hash(format!("{names:?} {} {}", tcp.0.is_some(), tcp.1.is_some()).as_bytes()))
    }
}
