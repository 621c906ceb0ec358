//! What a job of another tool was told to do, as an imported run keeps it: among its remarks, one a job. Written and read here
//! alone.

use crate::{Run, TargetKind};
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
        (key, value.to_ascii_lowercase())
    });
    known.collect()
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
}
