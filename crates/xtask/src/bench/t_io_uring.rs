//! fio's own io_uring benchmark, which keeps no latencies: the least overhead that is known. Its binary is not packaged;
//! the variable T_IO_URING names one where somebody built it.

use super::contestants::{Contestant, Task};
use super::figures::{Figures, Spread};
use anyhow::{Context, bail};
use std::process::Command;
use std::time::Instant;

pub fn contestants() -> Vec<Contestant> {
    match std::env::var_os("T_IO_URING") {
        Some(binary) => vec![Contestant {
            name: "t/io_uring",
            how: "fixed buffers, registered file and ring, no polling, no latencies".to_owned(),
            run: Box::new(move |task| run(&binary, task)),
        }],
        None => {
            println!("SKIPPED: t/io_uring; build fio from source and set T_IO_URING=/path/to/fio/t/io_uring");
            Vec::new()
        }
    }
}

fn run(binary: &std::ffi::OsStr, task: &Task) -> anyhow::Result<Figures> {
    let before = sys::children_usage();
    let start = Instant::now();
    let output = Command::new(binary)
        .args(["-p0", "-B1", "-F1", "-n1", "-X1", "-R1"])
        .arg(format!("-O{}", u8::from(task.direct)))
        .arg(format!("-d{}", task.depth))
        .arg(format!("-s{}", task.batch_submit))
        .arg(format!("-c{}", task.batch_complete))
        .arg(format!("-b{}", task.block_bytes))
        // Its first second is short and its last is not printed.
        .arg(format!("-r{}", task.seconds + 1))
        .arg(&task.path)
        .output()
        .context("starting t/io_uring")?;
    let seconds = start.elapsed().as_secs_f64();
    let used = sys::children_usage().since(&before);
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("t/io_uring failed: {} {}", text.trim(), String::from_utf8_lossy(&output.stderr).trim());
    }
    let rates: Vec<f64> = text.lines().filter_map(rate).collect();
    let iops = Spread::of(rates.iter().copied()).with_context(|| format!("no rate in: {text}"))?.median;
    let operations = iops * seconds;
    Ok(Figures {
        iops,
        user_ns_per_op: Some(used.user_ns as f64 / operations),
        system_ns_per_op: Some(used.system_ns as f64 / operations),
    })
}

/// The rate in `IOPS=3.44M, BW=1.6GiB/s, IOS/call=32/32`; not in the line of the maximum.
fn rate(line: &str) -> Option<f64> {
    let number = line.strip_prefix("IOPS=")?.split(',').next()?;
    let (digits, unit) = match number.chars().last()? {
        'M' => (&number[..number.len() - 1], 1e6),
        'K' => (&number[..number.len() - 1], 1e3),
        _ => (number, 1.0),
    };
    Some(digits.parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        assert_eq!(rate("IOPS=3.44M, BW=1679MiB/s, IOS/call=32/32"), Some(3.44e6));
        assert_eq!(rate("IOPS=512K, BW=250MiB/s, IOS/call=1/1"), Some(512e3));
        assert_eq!(rate("IOPS=900, BW=0MiB/s, IOS/call=1/1"), Some(900.0));
        assert_eq!(rate("Maximum IOPS=3.44M"), None);
    }
}
