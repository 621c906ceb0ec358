//! The lines of fio's text for people, one by one.
//!
//! The layout of stat.c's show_thread_status_normal: up to 2.15 `read : io=5230.2MB, bw=44625KB/s, iops=89250,
//! runt=120011msec` with K, M, G for powers of 1024; since then `read: IOPS=89.2k, BW=43.6MiB/s (45.7MB/s)(5230MiB/120011msec)`.

use super::super::number::finite;
use super::amount::{self, Prefix};
use super::job::{Direction, Latencies, Quantity};

/// The start of a job's report.
pub(super) struct JobLine<'a> {
    pub name: &'a str,
    pub group: Option<u64>,
    pub error: Option<String>,
    /// When it ended, in the machine's own time.
    pub local_time: Option<&'a str>,
}

/// `<host> ` before every line that a client's server passes on.
pub(super) fn without_host(line: &str) -> (Option<&str>, &str) {
    let parts = line.strip_prefix('<').and_then(|rest| rest.split_once("> "));
    match parts {
        Some((host, rest)) if !host.is_empty() && !host.contains([' ', '<']) => (Some(host), rest),
        _ => (None, line),
    }
}

/// `name: (groupid=0, jobs=1): err= 0: pid=1: Fri Oct  6 05:21:27 2017`.
pub(super) fn job(line: &str) -> Option<JobLine<'_>> {
    let (name, rest) = without_host(line).1.split_once(": (groupid=")?;
    let (inside, rest) = rest.split_once(')')?;
    let group = inside.split(',').next().and_then(|g| g.trim().parse().ok());
    let errors = rest.split_once("err=").map_or("", |(_, e)| e.trim_start());
    let number = errors.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let words = errors.split_once("error=").and_then(|(_, e)| e.split([')', ',']).next());
    let error = (!number.is_empty() && number != "0").then(|| match words {
        Some(words) => format!("error {number} ({})", words.trim()),
        None => format!("error {number}"),
    });
    let local_time = rest.split_once("pid=").and_then(|(_, p)| p.split_once(": ")).map(|(_, t)| t.trim());
    Some(JobLine { name: name.trim(), group, error, local_time: local_time.filter(|t| !t.is_empty()) })
}

/// What follows `key=` up to a comma, bracket or blank; keys are told apart from their endings (`bw` of `aggrbw`).
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let pattern = format!("{key}=");
    let at = line
        .match_indices(&pattern)
        .map(|(i, _)| i)
        .find(|i| line[..*i].chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_'))?;
    let value = line[at + pattern.len()..].trim_start();
    let end = value.find([',', '(', ')', ' ', ';']).unwrap_or(value.len());
    Some(&value[..end]).filter(|v| !v.is_empty())
}

/// The name of a direction that a line begins with, and what follows the colon.
pub(super) fn direction_name(line: &str) -> Option<(&'static str, &str)> {
    let (word, rest) = line.trim_start().split_once(':')?;
    let name = ["read", "write", "trim", "mixed"].into_iter().find(|d| word.trim_end().eq_ignore_ascii_case(d))?;
    Some((name, rest))
}

/// A direction's line; `None` if it is another line that begins so.
pub(super) fn direction(line: &str) -> Option<Direction> {
    let (name, rest) = direction_name(line)?;
    let mut d = Direction::new(name);
    let mut bytes = None;
    let (printed, prefix): (Vec<&str>, Prefix) = if let Some(iops) = field(rest, "IOPS") {
        d.iops = quantity(iops);
        let (_, bw) = rest.split_once("BW=")?;
        // `527MiB/s (552MB/s)(154GiB/300001msec); 0 zone resets`
        let mut parts = bw.split(['(', ')']).map(str::trim).filter(|p| !p.is_empty());
        let mut printed = vec![parts.next()?.trim_end_matches([';', ','])];
        for part in parts.take(2) {
            match part.split_once('/') {
                Some((_, "s")) => printed.push(part),
                Some((size, time)) => {
                    bytes = amount::bytes(size, Prefix::Decimal);
                    d.runtime_ns = time_ns(time);
                }
                None => {}
            }
        }
        (printed, Prefix::Decimal)
    } else {
        d.iops = field(rest, "iops").and_then(quantity);
        d.runtime_ns = field(rest, "runt").and_then(time_ns);
        bytes = field(rest, "io").and_then(|s| amount::bytes(s, Prefix::Binary));
        (vec![field(rest, "bw")?], Prefix::Binary)
    };
    let over_time = bytes.zip(d.runtime_ns).filter(|(_, t)| *t > 0.0).map(|(b, t)| b / (t / 1e9));
    let (throughput, remark) = amount::best_rate(&printed, prefix, over_time)?;
    d.throughput = Some(throughput);
    d.bytes = bytes;
    d.remarks.extend(remark);
    Some(d)
}

fn quantity(printed: &str) -> Option<Quantity> {
    Some(Quantity::new(amount::count(printed)?, printed, "1/s"))
}

fn time_ns(text: &str) -> Option<f64> {
    let (number, unit) = amount::split(text)?;
    Some(number * amount::time_unit_ns(unit)?)
}

/// A direction's line that is a result without the job's line above it: nothing of it is missing, and it agrees with itself.
pub(super) fn lone_direction(line: &str) -> Option<Direction> {
    direction_name(line).filter(|(_, rest)| rest.contains("IOPS=") || rest.contains("iops="))?;
    direction(line).filter(|d| d.iops.is_some() && d.is_whole())
}

/// A group's line that is a result without anything else of the report.
pub(super) fn lone_group(line: &str) -> Option<Direction> {
    direction_name(line)
        .filter(|(_, rest)| ["run=", "maxt="].iter().any(|k| rest.contains(k)) && rest.contains("io="))?;
    group_direction(line).filter(Direction::is_whole)
}

/// The bracketed unit after a name: `clat (usec): ...`.
fn unit_of(rest: &str) -> Option<(f64, &str, &str)> {
    let (unit, rest) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
    Some((amount::time_unit_ns(unit.trim())?, unit.trim(), rest))
}

/// Which latencies a `min= max= avg=` line is of, and what it says.
pub(super) fn latencies(line: &str) -> Option<(&'static str, Latencies)> {
    let line = line.trim_start();
    let kind = ["slat", "clat", "lat", "sync"].into_iter().find(|k| line.starts_with(k))?;
    let (factor, unit, rest) = unit_of(&line[kind.len()..])?;
    let value = |key: &str| -> Option<Quantity> {
        let printed = field(rest, key)?;
        Some(Quantity::new(amount::count(printed)? * factor, printed, unit))
    };
    rest.contains("min=").then(|| {
        let l = Latencies {
            min: value("min"),
            max: value("max"),
            mean: value("avg"),
            deviation: value("stdev"),
            percentiles: Vec::new(),
        };
        (kind, l)
    })
}

/// The header of a block of percentiles: which latencies (`None`: of one priority class only), and the unit.
pub(super) fn percentiles_header(line: &str) -> Option<(Option<&'static str>, f64, &str)> {
    let (words, rest) = line.split_once("percentiles")?;
    let (factor, unit, _) = unit_of(rest)?;
    let words = words.trim();
    let kind = ["slat", "clat", "lat", "sync"].into_iter().find(|k| *k == words);
    Some((kind, factor, unit))
}

/// `|  1.00th=[  445],  5.00th=[  482],`; `None` if it is another line, and whether all of it was read.
pub(super) fn percentiles(line: &str, factor: f64, unit: &str) -> Option<(Vec<(f64, Quantity)>, bool)> {
    let rest = line.trim_start().strip_prefix('|')?;
    let mut all = Vec::new();
    let mut whole = true;
    for part in rest.split_inclusive(']').map(|p| p.trim_matches([',', ' '])).filter(|p| !p.is_empty()) {
        let read = part
            .strip_suffix(']')
            .and_then(|p| p.split_once("th=["))
            .and_then(|(p, v)| Some((finite(p)?, Quantity::new(amount::count(v)? * factor, v.trim(), unit))));
        match read {
            Some(one) => all.push(one),
            None => whole = false,
        }
    }
    Some((all, whole))
}

/// `cpu          : usr=0.74%, sys=2.67%, ctx=1010654`.
pub(super) fn cpu(line: &str) -> Option<(Option<Quantity>, Option<Quantity>)> {
    let (word, rest) = line.trim_start().split_once(':')?;
    let value = |key: &str| -> Option<Quantity> {
        let printed = field(rest, key)?.strip_suffix('%')?;
        Some(Quantity::new(finite(printed)?, printed, "%"))
    };
    (word.trim() == "cpu").then(|| (value("usr"), value("sys")))
}

/// Operations by direction: `issued rwts: total=496,528,0,14 short=0,0,0,0`, before `issued    : total=r=1/w=2/d=3, short=..`.
pub(super) fn issued(line: &str) -> Option<Vec<(&'static str, u64)>> {
    let (word, rest) = line.trim_start().split_once(':')?;
    let rest = word.starts_with("issued").then(|| rest.split_once("total=")).flatten()?.1;
    // Slashes stand between the numbers, and a comma behind them, or commas between and a blank behind.
    let end = rest.find([' ', ';']).unwrap_or(rest.len());
    let numbers = rest[..end].trim_end_matches(',');
    let numbers = if numbers.contains('/') { numbers.split(',').next().unwrap_or_default() } else { numbers };
    let counts = numbers.split(['/', ',']).map(|n| n.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok());
    Some(["read", "write", "trim", "sync"].into_iter().zip(counts).filter_map(|(d, n)| Some((d, n?))).collect())
}

/// The version that a run begins with: `fio-3.33`, `fio-2.18-59-g618e`, `fio 1.59`.
pub(super) fn version(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = line.strip_prefix("fio-").or_else(|| line.strip_prefix("fio "))?;
    let digits = rest.starts_with(|c: char| c.is_ascii_digit());
    (digits && !rest.contains(' ') && rest.contains('.')).then_some(line)
}

/// A group's line after all jobs: `READ: bw=19.4MiB/s (20.3MB/s), 19.4MiB/s-.., io=..`, before `READ: io=..., aggrb=.., minb=..`.
pub(super) fn group_direction(line: &str) -> Option<Direction> {
    let (name, rest) = direction_name(line)?;
    let mut d = Direction::new(name);
    let (printed, prefix) = match field(rest, "aggrb") {
        Some(rate) => (vec![rate], Prefix::Binary),
        None => {
            let (_, bw) = rest.split_once("bw=")?;
            let first = bw.split(['(', ',']).next()?.trim();
            let second = bw.split_once('(').filter(|(before, _)| before.trim() == first);
            let second = second.and_then(|(_, s)| s.split(')').next());
            (std::iter::once(first).chain(second).collect(), Prefix::Decimal)
        }
    };
    d.runtime_ns = field(rest, "maxt").and_then(time_ns).or_else(|| {
        let run = field(rest, "run")?;
        time_ns(run.rsplit('-').next()?)
    });
    d.throughput = Some(amount::best_rate(&printed, prefix, None)?.0);
    d.bytes = field(rest, "io").and_then(|s| amount::bytes(s, prefix));
    Some(d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_of_old_and_new() {
        let d = direction("  write: IOPS=12.5k, BW=48.8MiB/s (51.2MB/s)(488MiB/10001msec); 0 zone resets").unwrap();
        assert_eq!((d.name, d.iops.unwrap().value, d.throughput.unwrap().value), ("write", 12_500.0, 51.2e6));
        assert_eq!(d.runtime_ns, Some(10_001e6));
        let d = direction("  read : io=1000.0MB, bw=10240KB/s, iops=2560 , runt= 100000msec").unwrap();
        assert_eq!((d.name, d.iops.unwrap().value, d.throughput.unwrap().value), ("read", 2560.0, 10_485_760.0));
        assert_eq!(d.runtime_ns, Some(100e9));
        assert_eq!(direction("  read: something else"), None);
        assert_eq!(direction("  read: IOPS=10, BW=garbage"), None);
    }

    #[test]
    fn lines_alone_are_results_where_all_of_them_agrees() {
        let line = "  read: IOPS=812, BW=102MiB/s (106MB/s)(1015MiB/10001msec)";
        assert_eq!(lone_direction(line).unwrap().throughput.unwrap().value, 106e6);
        assert!(lone_direction("  write: io=3072KB, bw=1024.0KB/s, iops=256, runt=  3000msec").is_some());
        for bad in [
            line.replace("1015MiB", "15MiB"),
            line.replace("(1015MiB/10001msec)", ""),
            line.replace("IOPS=812, ", ""),
            "read: about 5 IOPS=x, BW=3".to_owned(),
        ] {
            assert_eq!(lone_direction(&bad), None, "{bad}");
        }
        let group = "  WRITE: bw=10.4MiB/s (10.9MB/s), 10.4MiB/s-10.4MiB/s (10.9MB/s-10.9MB/s), io=2112KiB (2163kB), run=199-200msec";
        assert!(lone_group(group).is_some());
        assert_eq!(lone_group(&group.replace("2112KiB", "9112KiB")), None);
    }

    #[test]
    fn latencies_with_suffixes() {
        let (kind, l) = latencies("     lat (usec): min=1087, max=5025.1k, avg=49816.40, stdev= 1.5").unwrap();
        assert_eq!((kind, l.max.unwrap().value, l.mean.unwrap().value), ("lat", 5_025_100e3, 49_816_400.0));
        assert!(latencies("  lat (usec)   : 500=8.64%, 750=32.36%").is_none());
        assert!(latencies("     latency   : target=0, window=0").is_none());
        let (all, whole) = percentiles("     | 99.00th=[13435], 99.50th=[ 14.2k], 99.90", 1e3, "usec").unwrap();
        assert_eq!((all.len(), all[0].1.value, all[1].1.value, whole), (2, 13_435e3, 14_200e3, false));
        assert_eq!(percentiles_header("    clat percentiles (nsec):").unwrap(), (Some("clat"), 1.0, "nsec"));
        assert_eq!(percentiles_header("    clat prio 0/2 (50.0% of IOs) percentiles (msec):").unwrap().0, None);
    }

    #[test]
    fn counts_and_heads() {
        assert_eq!(issued("     issued rwts: total=496,528,0,14 short=0,0,0,0").unwrap()[1], ("write", 528));
        assert_eq!(
            issued("     issued    : total=r=7/w=8/d=9, short=r=0/w=0/d=0").unwrap()[..2],
            [("read", 7), ("write", 8)]
        );
        assert_eq!(issued("     issued r/w/d: total=7/8/0, short=0/0/0").unwrap()[1], ("write", 8));
        let j = job("<box> a: b: (groupid=3, jobs=4): err= 5 (file:io_u.c:1, func=io_u, error=Input/output error): pid=7: Sat Nov 21 12:10:32 2026").unwrap();
        assert_eq!((j.name, j.group), ("a: b", Some(3)));
        assert_eq!(without_host("<box> a"), (Some("box"), "a"));
        assert_eq!(j.error.unwrap(), "error 5 (Input/output error)");
        assert_eq!(j.local_time, Some("Sat Nov 21 12:10:32 2026"));
        assert_eq!(version("fio-2.18-59-g618e"), Some("fio-2.18-59-g618e"));
        assert_eq!(version("fio --name=x 1.0"), None);
    }

    #[test]
    fn group_lines() {
        let d = group_direction("  WRITE: bw=10.4MiB/s (10.9MB/s), 10.4MiB/s-10.4MiB/s (10.9MB/s-10.9MB/s), io=2112KiB (2163kB), run=199-200msec").unwrap();
        assert_eq!((d.name, d.throughput.unwrap().value, d.runtime_ns), ("write", 10.9e6, Some(200e6)));
        let d = group_direction(
            "   READ: io=5230.2MB, aggrb=1024KB/s, minb=1024KB/s, maxb=1024KB/s, mint=7msec, maxt=9msec",
        )
        .unwrap();
        assert_eq!((d.throughput.unwrap().value, d.runtime_ns), (1_048_576.0, Some(9e6)));
    }
}
