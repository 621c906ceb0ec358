//! fio as the distribution packages it, asked for the same batches with everything registered that it can register.

use super::contestants::{Contestant, Task};
use super::figures::Figures;
use anyhow::{Context, bail};
use std::process::Command;

/// fio with its usual clocks (it keeps latencies), and without them (`gtod_reduce`); none if it is not installed.
pub fn contestants() -> Vec<Contestant> {
    let Ok(version) = Command::new("fio").arg("--version").output() else {
        println!("SKIPPED: fio is not installed; apt-get install fio");
        return Vec::new();
    };
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    vec![
        Contestant { name: "fio", how: format!("{version}, latencies kept"), run: Box::new(|task| run(task, false)) },
        Contestant {
            name: "fio, no latencies",
            how: format!("{version}, gtod_reduce=1"),
            run: Box::new(|task| run(task, true)),
        },
    ]
}

fn run(task: &Task, without_clocks: bool) -> anyhow::Result<Figures> {
    let mut command = Command::new("fio");
    command
        .args(["--name=bench", "--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1", "--nonvectored=1"])
        .args(["--rw=randread", "--norandommap=1", "--randrepeat=1", "--time_based=1", "--thread=1", "--invalidate=0"])
        .args(["--output-format=json", "--readonly"])
        .arg(format!("--filename={}", task.path.display()))
        .arg(format!("--size={}", task.file_bytes))
        .arg(format!("--direct={}", u8::from(task.direct)))
        .arg(format!("--bs={}", task.block_bytes))
        .arg(format!("--iodepth={}", task.depth))
        .arg(format!("--iodepth_batch_submit={}", task.batch_submit))
        .arg(format!("--iodepth_batch_complete_min={}", task.batch_complete))
        .arg(format!("--iodepth_batch_complete_max={}", task.batch_complete))
        .arg(format!("--runtime={}", task.seconds))
        .arg(format!("--gtod_reduce={}", u8::from(without_clocks)));
    let before = sys::children_usage();
    let output = command.output().context("starting fio")?;
    let system_ns = sys::children_usage().since(&before).system_ns as f64;
    if !output.status.success() {
        bail!("fio failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let figures = figures(&String::from_utf8_lossy(&output.stdout))?;
    // fio's own figure leaves out the kernel's workers; the process's includes them (and fio's start, a few milliseconds).
    let operations = figures.iops * f64::from(task.seconds);
    Ok(Figures { system_ns_per_op: Some(system_ns / operations), ..figures })
}

/// Reads fio's JSON; lines before the document are warnings.
fn figures(text: &str) -> anyhow::Result<Figures> {
    let document = &text[text.find('{').context("fio printed no JSON")?..];
    let json: serde_json::Value = serde_json::from_str(document).context("fio's JSON")?;
    let job = &json["jobs"][0];
    let number = |value: &serde_json::Value, what: &str| value.as_f64().with_context(|| format!("fio's {what}"));
    let iops = number(&job["read"]["iops"], "read.iops")?;
    anyhow::ensure!(iops > 0.0, "fio did nothing");
    // Percent of the job's run time, so per operation it is the share over the rate.
    let per_op = |what: &str| anyhow::Ok(number(&job[what], what)? / 100.0 / iops * 1e9);
    Ok(Figures { iops, user_ns_per_op: Some(per_op("usr_cpu")?), system_ns_per_op: Some(per_op("sys_cpu")?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_is_read() {
        let text = r#"fio: a warning
            {"jobs": [{"read": {"iops": 1000000.0}, "usr_cpu": 12.5, "sys_cpu": 50.0}]}"#;
        let figures = figures(text).unwrap();
        assert_eq!(figures.iops, 1e6);
        assert_eq!(figures.user_ns_per_op, Some(125.0));
        assert_eq!(figures.system_ns_per_op, Some(500.0));
        assert!(super::figures("nothing").is_err());
    }
}
