//! What other tools printed: read, turned into runs, and shown.

use super::{Fuzzer, mutate::hash};
use crate::workspace_root;
use exchange::{ImportError, Imported};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of the corpus; larger ones are cut, which is what happens to files.
const MAX_BYTES: usize = 48 << 10;

struct Imports;

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Imports))
}

/// Files below directories, by name.
pub fn files(directories: &[&str], wanted: fn(&Path) -> bool) -> Vec<Vec<u8>> {
    let mut open: Vec<PathBuf> = directories.iter().map(|d| workspace_root().join(d)).collect();
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => open.push(path),
                false => found.push(path),
            }
        }
    }
    found.sort();
    let contents = found.into_iter().filter(|p| wanted(p)).filter_map(|p| fs::read(p).ok());
    contents.collect()
}

/// What holds of whatever was read.
fn check(imported: &Imported) -> Result<(), String> {
    for run in &imported.runs {
        let mut ids = BTreeSet::new();
        for m in run.metrics() {
            let id = &m.metric.id;
            if !ids.insert(id) {
                return Err(format!("two figures are called {id}"));
            }
            match m.metric.value.or(m.metric.rejected_value) {
                Some(value) if value.is_finite() && (0.0..1e18).contains(&value) => {}
                Some(value) => return Err(format!("{id} is {value}")),
                None if m.metric.reasons.is_empty() => return Err(format!("{id} is missing without a reason")),
                None => {}
            }
        }
        if ids.is_empty() {
            return Err("a run without a figure".to_owned());
        }
    }
    Ok(())
}

impl Fuzzer for Imports {
    fn corpus(&self) -> Vec<Vec<u8>> {
        let mut all = files(&["crates/exchange/tests/exchange/foreign", "crates/judge/fixtures"], |_| true);
        all.iter_mut().for_each(|input| input.truncate(MAX_BYTES));
        all.push(b"time,since_boot,interval_s,cpu_user_percent,dirty_bytes,layer,kind,reads_per_s,read_await_ns,queue\n\
            2026-11-21T15:10:51.730Z,1,,42.87,4096,dm-0,dm,5,,0.5\n2026-11-21T15:10:52.730Z,,1,42.87,4096,dm-0,dm,9,1200.5,1\n".to_vec());
        all.push(b"card;read MB/s;write MB/s\nA;1.234,5;2\nB;3,25;n/a\n".to_vec());
        all
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\"fio version\"",
            "\"jobname\"",
            "\"jobs\" : [",
            "\"client_stats\"",
            "\"percentile\"",
            "\"clat_ns\"",
            ": (groupid=0, jobs=1): err= 0: pid=1: ",
            "Run status group 0",
            "3;fio-3.33;a;0;0;",
            "\"sysstat\"",
            "\"statistics\": [",
            "\"disk_device\"",
            "Device",
            "avg-cpu:",
            "Linux 6.1 (h) 11/21/26 _x86_64_ (2 CPU)",
            "timestamp,Device,r/s",
            "time,layer,",
            "\"dool 1.3.8 CSV output\"",
            "Version 1.03",
            "1.98,2.00a,",
            " Timing buffered disk reads:",
            "1024+0 records in",
            "bytes copied",
            "iozone",
            "KB  reclen",
            "Average time until /etc/rc.local execution:",
            "# bonnie",
            "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE",
            "READ        Elapsed time     :      8.000s      8.192s",
            "\"phase_type\"",
            "Block Size | 4k            (IOPS) | 64k           (IOPS)",
            "IOPS (Read/Write)",
            "Random Read/Write IOPS: 75.7k/59.7k. BW: 523MiB/s / 500MiB/s",
            "JobName: read_iops",
            "Writing speed: 10.1 MByte/s",
            "Category  Test  Result",
            "Max Write: 1499.68 MiB/sec (1572.53 MB/sec)",
            "SUMMARY rate: (of 1 iterations)",
            "<PhoronixTestSuite>",
            "\"smartctl\": {}, \"device\": {}",
            "Operations performed:  6000 Read, 4000 Write, 1600 Other = 11600 Total",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let imported = match exchange::import("file", input) {
            Ok(imported) => imported,
            Err(ImportError::TooLarge { .. }) => return Err("a small input is too large".to_owned()),
            Err(error) => return Ok(hash(error.remedy().as_bytes())),
        };
        check(&imported)?;
        let mut signature: BTreeSet<String> = imported.not_understood.iter().map(|n| kind(&n.why)).collect();
        for run in &imported.runs {
            signature.insert(run.source_format.to_owned());
            signature.extend(run.remarks.iter().map(|r| kind(r)));
            let kept = run.to_run("20261121T100000Z-0123abcd", "1", "file");
            let conclusions = conclusions::of_run(&kept);
            let shown = report::card(&report::Check::of(&kept, &conclusions, ""), &report::Style::default());
            if shown.contains('\u{1b}') {
                return Err("a control sequence in the text of a run".to_owned());
            }
        }
        Ok(hash(format!("{signature:?}").as_bytes()))
    }
}

/// A remark without what differs from input to input.
pub fn kind(text: &str) -> String {
    text.split(|c: char| c.is_ascii_digit() || c == '\'' || c == '"')
        .step_by(2)
        .collect::<String>()
        .chars()
        .take(40)
        .collect()
}
