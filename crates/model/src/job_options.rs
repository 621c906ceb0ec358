//! What a job of another tool was told to do, as an imported run keeps it: among its remarks, one a job. Written and read here
//! alone. What jobs of our own were told is [`crate::PhasePlan::job_options`].

use crate::{Run, TargetKind, parse_bytes};
use std::collections::BTreeMap;

/// How a comparison names the difference of sides in them.
pub const DIFFERENCE: &str = "job options";

/// The remark of a job's options: `job 'read': rw=randread bs=4k iodepth=32`.
pub fn remark(job: &str, options: &str) -> String {
    format!("job '{job}': {options}")
}

/// Options under a second name.
const SAME: [(&str, &str); 2] = [("readwrite", "rw"), ("blocksize", "bs")];
/// What fio does where nothing is said (HOWTO of fio 3.33).
const UNSAID: [(&str, &str); 6] =
    [("iodepth", "1"), ("numjobs", "1"), ("direct", "0"), ("sync", "0"), ("fsync", "0"), ("fdatasync", "0")];

/// The options of each job of an imported run, by job; none where it is of no tool that prints them.
pub fn of(run: &Run) -> Vec<(&str, BTreeMap<&str, String>)> {
    if run.target.kind != TargetKind::Foreign {
        return Vec::new();
    }
    let job = |remark: &'_ str| -> Option<(usize, usize)> {
        let start = "job '".len();
        remark.strip_prefix("job '")?.find("': ").map(|at| (start, start + at))
    };
    let read = run.remarks.iter().filter_map(|r| job(r).map(|(start, end)| (&r[start..end], options(&r[end + 3..]))));
    read.filter(|(_, options)| !options.is_empty()).collect()
}

fn options(text: &str) -> BTreeMap<&str, String> {
    let pairs = text.split_whitespace().filter_map(|word| word.trim_end_matches(',').split_once('='));
    let known = pairs.map(|(key, value)| {
        let key = SAME.iter().find(|(other, _)| *other == key).map_or(key, |(_, name)| name);
        (key, plain(key, &value.to_ascii_lowercase()))
    });
    known.collect()
}

/// A time as milliseconds and a size as bytes, however they were written; fio's `runtime` is in seconds, its sizes are binary
/// (HOWTO of fio 3.33, "Parameter types").
fn plain(key: &str, value: &str) -> String {
    let ms = || {
        let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
        let factor = match &value[end..] {
            "us" => return value[..end].parse::<u64>().ok().map(|n| n / 1000),
            "ms" => 1,
            "" | "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        value[..end].parse::<u64>().ok()?.checked_mul(factor)
    };
    let written = match key {
        "runtime" => ms().map(|n| format!("{n}ms")),
        "bs" | "size" => parse_bytes(value).ok().map(|n| n.to_string()),
        _ => None,
    };
    written.unwrap_or_else(|| value.to_owned())
}

/// Whether an option says nothing where one side does not: by which calls it is done, which this program chooses by itself.
pub fn may_be_unsaid(key: &str, a: Option<&str>, b: Option<&str>) -> bool {
    key == "ioengine" && (a.is_none() || b.is_none())
}

/// An option of a job, said or not; `None` where it is not said and there is no default that is known.
pub fn value<'a>(options: &'a BTreeMap<&str, String>, key: &str) -> Option<&'a str> {
    let unsaid = || UNSAID.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    options.get(key).map(String::as_str).or_else(unsaid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let read = options("readwrite=randread, bs=(R) 4096B-4096B, iodepth=32");
        assert_eq!((value(&read, "rw"), value(&read, "iodepth")), (Some("randread"), Some("32")));
        assert_eq!((value(&read, "numjobs"), value(&read, "size")), (Some("1"), None));
        assert!(options("ended with an error").is_empty());
    }

    #[test]
    fn values_are_the_same_however_they_are_written() {
        let same = |a: &str, b: &str| options(a) == options(b);
        for (a, b) in [
            ("runtime=5", "runtime=5000ms"),
            ("runtime=2m", "runtime=120s"),
            ("bs=4k", "bs=4096"),
            ("size=256m", "size=268435456"),
            ("blocksize=1M", "bs=1MiB"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
        assert!(!same("runtime=5", "runtime=5ms") && !same("bs=4k", "bs=8k"));
        assert!(may_be_unsaid("ioengine", Some("libaio"), None));
        assert!(
            !may_be_unsaid("ioengine", Some("libaio"), Some("io_uring")) && !may_be_unsaid("rw", Some("read"), None)
        );
    }
}
