//! Who takes part in `bench parity`, and how each is asked for the same job.

use super::cell::Cell;
use super::our_job;
use super::t_io_uring;
use super::targets::Target;
use anyhow::{Context, ensure};
use engine::{Control, Rig};
use std::process::Command;

/// What one contestant says in one round.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub iops: f64,
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
    /// Of the whole process, the kernel's workers for it included.
    pub cpu_us: Option<f64>,
}

impl std::fmt::Display for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let us = |value: Option<f64>| value.map_or("-".to_owned(), |us| format!("{us:.1}"));
        write!(f, "{:.0} IOPS, p50 {}, p99 {}, CPU {} us", self.iops, us(self.p50_us), us(self.p99_us), us(self.cpu_us))
    }
}

type Runner = Box<dyn Fn(&Target, &Cell, u32) -> anyhow::Result<Reading>>;

/// A program that is compared.
pub struct Peer {
    pub name: &'static str,
    /// Whether it can do this cell.
    pub takes: fn(&Cell) -> bool,
    pub run: Runner,
}

/// narrows first, then those that are installed.
pub fn peers() -> Vec<Peer> {
    let mut peers = vec![Peer { name: "narrows", takes: |_| true, run: Box::new(ours) }];
    if Command::new("fio").arg("--version").output().is_ok() {
        for (name, engine) in [("fio io_uring", "io_uring"), ("fio libaio", "libaio")] {
            peers.push(Peer { name, takes: |_| true, run: Box::new(move |t, c, s| fio(t, c, s, engine)) });
        }
        peers.push(Peer { name: "fio psync", takes: |c| c.depth == 1, run: Box::new(|t, c, s| fio(t, c, s, "psync")) });
    } else {
        println!("SKIPPED: fio is not installed; apt-get install fio");
    }
    peers.extend(t_io_uring::binary().map(|binary| Peer {
        name: "t/io_uring",
        // It does not write.
        takes: |c| c.rw.ends_with("read"),
        run: Box::new(move |target, cell, seconds| {
            let figures = t_io_uring::one_at_a_time(&binary, target, cell, seconds)?;
            let cpu_us =
                figures.user_ns_per_op.zip(figures.system_ns_per_op).map(|(user, system)| (user + system) / 1e3);
            Ok(Reading { iops: figures.iops, p50_us: None, p99_us: None, cpu_us })
        }),
    }));
    peers
}

/// The job file that narrows and fio get.
fn job(target: &Target, cell: &Cell, seconds: u32, engine: &str) -> String {
    format!(
        "[parity]\nfilename={}\nsize={}\nioengine={engine}\ndirect={}\ninvalidate=0\nthread\nrw={}\nbs={}\niodepth={}\n\
         norandommap=1\nrandrepeat=0\ntime_based\nruntime={seconds}\n",
        target.path.display(),
        target.bytes,
        u8::from(target.direct),
        cell.rw,
        cell.block,
        cell.depth,
    )
}

fn ours(target: &Target, cell: &Cell, seconds: u32) -> anyhow::Result<Reading> {
    // Buffered operations, and one at a time on what lies in memory or as a write to a file, are plain calls: what narrows
    // does by itself.
    let quicker = target.name == "tmpfs file" || (target.name == "disk" && matches!(cell.rw, "write" | "randwrite"));
    let plain = !target.direct || (cell.depth == 1 && quicker);
    let text = job(target, cell, seconds, if plain { "psync" } else { "io_uring" });
    let (mut rig, phase) = our_job::opened(&text, &target.path)?;
    let before = sys::process_usage();
    let record = rig.run(&phase, &Control::default()).map_err(|e| anyhow::anyhow!("{e}"))?;
    let used = sys::process_usage().since(&before);
    ensure!(record.errors.is_empty(), "operations failed: {:?}", record.errors);
    let us = |quantile| record.latency.quantile(quantile).map(|ns| ns as f64 / 1e3);
    let operations = record.operations as f64;
    Ok(Reading {
        iops: operations / (record.duration_ns() as f64 / 1e9),
        p50_us: us(0.5),
        p99_us: us(0.99),
        cpu_us: Some((used.user_ns + used.system_ns) as f64 / 1e3 / operations),
    })
}

fn fio(target: &Target, cell: &Cell, seconds: u32, engine: &str) -> anyhow::Result<Reading> {
    let path = std::env::temp_dir().join(format!("narrows-parity-{}.fio", std::process::id()));
    let latencies = "lat_percentiles=1\nclat_percentiles=0\npercentile_list=50:99\n";
    std::fs::write(&path, job(target, cell, seconds, engine) + latencies)?;
    let before = sys::children_usage();
    let output = Command::new("fio").arg("--output-format=json").arg(&path).output().context("starting fio");
    let _ = std::fs::remove_file(&path);
    let output = output?;
    let used = sys::children_usage().since(&before);
    ensure!(output.status.success(), "fio failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    let text = String::from_utf8_lossy(&output.stdout);
    reading(&text, cell, (used.user_ns + used.system_ns) as f64 / 1e3)
}

/// Reads fio's JSON; lines before the document are warnings.
fn reading(text: &str, cell: &Cell, cpu_us: f64) -> anyhow::Result<Reading> {
    let json: serde_json::Value = serde_json::from_str(&text[text.find('{').context("no JSON")?..])?;
    let direction = &json["jobs"][0][if cell.rw.ends_with("read") { "read" } else { "write" }];
    let operations = direction["total_ios"].as_f64().context("total_ios")?;
    ensure!(operations > 0.0, "fio did nothing");
    let us = |name: &str| direction["lat_ns"]["percentile"][name].as_f64().map(|ns| ns / 1e3);
    Ok(Reading {
        iops: direction["iops"].as_f64().context("iops")?,
        p50_us: us("50.000000"),
        p99_us: us("99.000000"),
        cpu_us: Some(cpu_us / operations),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_is_read() {
        let text = r#"a warning
            {"jobs": [{"write": {"iops": 1000.0, "total_ios": 2000, "lat_ns": {"percentile": {"50.000000": 1500,
            "99.000000": 9000}}}}]}"#;
        let cell = Cell { rw: "randwrite", block: "4k", depth: 1 };
        let reading = reading(text, &cell, 4000.0).unwrap();
        assert_eq!((reading.iops, reading.p50_us, reading.p99_us), (1000.0, Some(1.5), Some(9.0)));
        assert_eq!(reading.cpu_us, Some(2.0));
        assert!(super::reading(text, &Cell { rw: "randread", ..cell }, 1.0).is_err());
    }
}
