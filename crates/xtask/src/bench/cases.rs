//! The same fio job file for us and for fio: depths, sizes, two jobs, pacing, verification.
//!
//! What is compared is what a user gets: here the rig that `narrows run` uses, every latency in its histogram.

use super::contest::Contest;
use super::contestants::{Contestant, Task};
use super::figures::Figures;
use super::our_job;
use super::targets::Target;
use anyhow::{Context, ensure};
use engine::{Control, Rig};
use model::PhaseRecord;
use std::process::Command;
use std::time::Instant;

/// A job, as the body of a fio job file.
pub struct Case {
    pub title: &'static str,
    /// Options beside those that all cases have.
    options: &'static str,
    /// Whether the amount decides, and with it the time of everything, read-back included.
    by_amount: bool,
}

const RANDOM: &str = "rw=randread\nnorandommap=1\n";

/// What each shows is said in docs/history/performance.md.
pub const CASES: [Case; 10] = [
    Case { title: "random read, 512 B, depth 1", options: "bs=512\niodepth=1\n", by_amount: false },
    Case { title: "random read, 512 B, depth 32", options: "bs=512\niodepth=32\n", by_amount: false },
    Case { title: "random read, 512 B, depth 256", options: "bs=512\niodepth=256\n", by_amount: false },
    Case { title: "random read, 4 KiB, depth 1", options: "bs=4k\niodepth=1\n", by_amount: false },
    Case { title: "random read, 4 KiB, depth 32", options: "bs=4k\niodepth=32\n", by_amount: false },
    Case { title: "random read, 4 KiB, depth 256", options: "bs=4k\niodepth=256\n", by_amount: false },
    Case { title: "sequential read, 128 KiB, depth 32", options: "rw=read\nbs=128k\niodepth=32\n", by_amount: false },
    Case {
        title: "random read, 4 KiB, depth 32, two jobs on two processors",
        options: "bs=4k\niodepth=32\nnumjobs=2\ngroup_reporting\ncpus_allowed=0,1\ncpus_allowed_policy=split\n",
        by_amount: false,
    },
    Case {
        title: "random read, 4 KiB, depth 32, paced at 20,000 a second",
        options: "bs=4k\niodepth=32\nrate_iops=20000\n",
        by_amount: false,
    },
    Case {
        title: "random write and read back, 4 KiB, depth 32, verify=crc32c",
        options: "rw=randwrite\nbs=4k\niodepth=32\nverify=crc32c\ndo_verify=1\n",
        by_amount: true,
    },
];

/// The job file of a case on a target.
fn job(case: &Case, task: &Task) -> String {
    let random = if case.options.contains("rw=") { "" } else { RANDOM };
    let time = if case.by_amount { String::new() } else { format!("time_based\nruntime={}\n", task.seconds) };
    // Batches as deep as the queue are what both do best; fio's are off unless asked for.
    let depth = case.options.lines().find_map(|l| l.strip_prefix("iodepth=")).unwrap_or("1");
    format!(
        "[bench]\nfilename={}\nsize={}\nioengine=io_uring\ndirect={}\ninvalidate=0\nthread\niodepth_batch_submit={depth}\n\
         iodepth_batch_complete_min={depth}\niodepth_batch_complete_max={depth}\n{random}{}{time}",
        task.path.display(),
        task.file_bytes,
        u8::from(task.direct),
        case.options,
    )
}

/// Both on every case, alternating.
pub fn run_rounds(target: &Target, rounds: u32, seconds: u32, only: Option<&str>, markdown: bool) {
    for case in CASES.iter().filter(|c| only.is_none_or(|o| c.title.contains(o))) {
        let task = Task {
            path: target.path.clone(),
            file_bytes: target.bytes,
            direct: target.direct,
            block_bytes: 0,
            depth: 0,
            batch_submit: 0,
            batch_complete: 0,
            seconds,
        };
        let contestants = [
            Contestant { name: "narrows", how: String::new(), run: Box::new(|task| ours(case, task)) },
            Contestant { name: "fio", how: String::new(), run: Box::new(|task| fios(case, task)) },
        ];
        let title = format!("{}, {}", target.name, case.title);
        println!("{}", Contest::run_rounds(title, &task, &contestants, rounds).table(markdown));
    }
}

fn ours(case: &Case, task: &Task) -> anyhow::Result<Figures> {
    let (mut rig, phase) = our_job::opened(&job(case, task), &task.path)?;
    let before = sys::process_usage();
    let start = Instant::now();
    let record = rig.run(&phase, &Control::default()).map_err(|e| anyhow::anyhow!("{e}"))?;
    let used = sys::process_usage().since(&before);
    let elapsed = start.elapsed().as_secs_f64();
    check(&record, case)?;
    let operations = record.operations as f64;
    let seconds = if case.by_amount { elapsed } else { record.duration_ns() as f64 / 1e9 };
    Ok(Figures {
        iops: operations / seconds,
        // Of several workers together; the kernel's workers for the ring are threads of the process.
        user_ns_per_op: Some(if case.by_amount { used.user_ns } else { record.usage.user_ns } as f64 / operations),
        system_ns_per_op: Some(used.system_ns as f64 / operations),
    })
}

fn check(record: &PhaseRecord, case: &Case) -> anyhow::Result<()> {
    ensure!(record.errors.is_empty(), "operations failed: {:?}", record.errors);
    ensure!(record.latency.count() == record.operations, "not every latency is in the histogram");
    if case.options.contains("verify=") {
        let verify = record.verify.as_ref().context("nothing was verified")?;
        ensure!(verify.findings.is_empty() && verify.bytes_verified > 0, "{verify:?}");
    }
    Ok(())
}

fn fios(case: &Case, task: &Task) -> anyhow::Result<Figures> {
    let path = std::env::temp_dir().join(format!("narrows-bench-{}.fio", std::process::id()));
    // Fixed buffers and files are what fio does best with; ours registers them by itself.
    let fixed = "fixedbufs=1\nregisterfiles=1\nnonvectored=1\n";
    let fixed = match case {
        // It would leave a file of its state where the benchmark was started.
        case if case.by_amount => "verify_state_save=0\n",
        case if case.options.contains("numjobs") => "",
        _ => fixed,
    };
    std::fs::write(&path, job(case, task) + fixed)?;
    let before = sys::children_usage();
    let start = Instant::now();
    let output = Command::new("fio").arg("--output-format=json").arg(&path).output().context("starting fio");
    let elapsed = start.elapsed().as_secs_f64();
    let _ = std::fs::remove_file(&path);
    let output = output?;
    let used = sys::children_usage().since(&before);
    ensure!(output.status.success(), "fio failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    let text = String::from_utf8_lossy(&output.stdout);
    let json: serde_json::Value = serde_json::from_str(&text[text.find('{').context("no JSON")?..])?;
    let job = &json["jobs"][0];
    let direction = if case.by_amount { "write" } else { "read" };
    let operations = job[direction]["total_ios"].as_f64().context("total_ios")?;
    ensure!(operations > 0.0, "fio did nothing");
    let seconds = match case.by_amount {
        true => elapsed,
        false => operations / job[direction]["iops"].as_f64().context("iops")?,
    };
    Ok(Figures {
        iops: operations / seconds,
        user_ns_per_op: Some(used.user_ns as f64 / operations),
        system_ns_per_op: Some(used.system_ns as f64 / operations),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_get_the_same_job() {
        let task = Task {
            path: "/dev/shm/x".into(),
            file_bytes: 1 << 20,
            direct: true,
            block_bytes: 0,
            depth: 0,
            batch_submit: 0,
            batch_complete: 0,
            seconds: 2,
        };
        for case in &CASES {
            let text = job(case, &task);
            assert_eq!(text.matches("rw=").count(), 1, "{text}");
            assert_eq!(text.contains("time_based"), !case.by_amount, "{text}");
        }
    }
}
