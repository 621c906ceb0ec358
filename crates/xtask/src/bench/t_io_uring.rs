//! fio's own io_uring benchmark, which keeps no latencies: the least overhead that is known. Its binary is not packaged;
//! the variable T_IO_URING names one where somebody built it.

use super::cell::Cell;
use super::contestants::Contestant;
use super::figures::{Figures, Spread};
use super::targets::Target;
use anyhow::{Context, bail};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The binary, where there is one.
pub fn binary() -> Option<OsString> {
    let binary = std::env::var_os("T_IO_URING");
    if binary.is_none() {
        println!("SKIPPED: t/io_uring; build fio from source and set T_IO_URING=/path/to/fio/t/io_uring");
    }
    binary
}

pub fn contestants() -> Vec<Contestant> {
    let contestant = |binary: OsString| Contestant {
        name: "t/io_uring",
        how: "fixed buffers, registered file and ring, no polling, no latencies".to_owned(),
        run: Box::new(move |task| {
            let block = task.block_bytes.to_string();
            let batches = format!("-s{} -c{} -b{block} -R1", task.batch_submit, task.batch_complete);
            run(&binary, &task.path, task.direct, task.depth, &batches, task.seconds)
        }),
    };
    binary().map(contestant).into_iter().collect()
}

/// A cell of the parity table, one operation a call.
pub fn one_at_a_time(binary: &OsStr, target: &Target, cell: &Cell, seconds: u32) -> anyhow::Result<Figures> {
    let block = model::parse_bytes(cell.block)?;
    let options = format!("-s1 -c1 -b{block} -R{}", u8::from(cell.rw == "randread"));
    run(binary, &target.path, target.direct, cell.depth, &options, seconds)
}

fn run(binary: &OsStr, path: &Path, direct: bool, depth: u32, options: &str, seconds: u32) -> anyhow::Result<Figures> {
    let before = sys::children_usage();
    let start = Instant::now();
    let output = Command::new(binary)
        .args(["-p0", "-B1", "-F1", "-n1", "-X1"])
        .args(options.split(' '))
        .arg(format!("-O{}", u8::from(direct)))
        .arg(format!("-d{depth}"))
        // Its first second is short and its last is not printed.
        .arg(format!("-r{}", seconds + 1))
        .arg(path)
        .output()
        .context("starting t/io_uring")?;
    let elapsed = start.elapsed().as_secs_f64();
    let used = sys::children_usage().since(&before);
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("t/io_uring failed: {} {}", text.trim(), String::from_utf8_lossy(&output.stderr).trim());
    }
    let rates: Vec<f64> = text.lines().filter_map(rate).collect();
    let iops = Spread::of(rates.iter().copied()).with_context(|| format!("no rate in: {text}"))?.median;
    let operations = iops * elapsed;
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
