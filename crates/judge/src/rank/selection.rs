//! Which metrics are meant, and which of them are the times of real work.

use super::RankError;
use model::Unit;

/// Whether an id fits a pattern, in which `*` stands for anything (nothing included).
pub fn matches_pattern(pattern: &str, id: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == id };
    let Some(mut left) = id.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or("");
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(tail)
}

/// The ids that the patterns mean, in their own order; all without patterns.
pub(super) fn selected(patterns: &[String], ids: &[String]) -> Result<Vec<String>, RankError> {
    for pattern in patterns {
        if !ids.iter().any(|id| matches_pattern(pattern, id)) {
            return Err(RankError::UnknownMetric { asked: pattern.clone(), there_are: ids.to_vec() });
        }
    }
    let wanted = |id: &&String| patterns.is_empty() || patterns.iter().any(|p| matches_pattern(p, id));
    Ok(ids.iter().filter(wanted).cloned().collect())
}

/// Names of times that a person waits for.
const TIMES: [&str; 8] = ["s", "sec", "secs", "second", "seconds", "min", "minutes", "hours"];
/// Names before a time that make it a rate: `mb_s` is MB/s.
const PER: [&str; 25] = [
    "per", "b", "kb", "mb", "gb", "kib", "mib", "gib", "byte", "bytes", "bit", "bits", "kbit", "mbit", "gbit", "ops",
    "op", "io", "ios", "iops", "files", "file", "frames", "blocks", "sectors",
];

/// Whether a metric is the time that a piece of work takes (boot, installation): real work, not a synthetic rate or
/// latency. Told by a unit of seconds, else by a name that ends like one (`install_1_s`, but not `seq_read_mb_s`).
pub fn is_duration_of_work(id: &str, unit: Unit) -> bool {
    match unit {
        Unit::S => {}
        Unit::Ratio if !id.contains('/') => {}
        _ => return false,
    }
    let words: Vec<String> =
        id.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    match words.as_slice() {
        [.., before, last] if TIMES.contains(&last.as_str()) => !PER.contains(&before.as_str()),
        _ => unit == Unit::S,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_anything() {
        for (pattern, id) in [
            ("a.iops", "a.iops"),
            ("*", ""),
            ("*.iops", "a.iops"),
            ("read*4k", "read_iops_4k"),
            ("*io*s*", "a.iops"),
            ("a*a", "aa"),
        ] {
            assert!(matches_pattern(pattern, id), "{pattern} {id}");
        }
        for (pattern, id) in [("a", "ab"), ("*.iops", "a.iops2"), ("a*a", "a"), ("b*", "ab"), ("", "a")] {
            assert!(!matches_pattern(pattern, id), "{pattern} {id}");
        }
    }

    #[test]
    fn work_is_what_takes_seconds() {
        for id in ["boot_s", "install_1_s", "removal (s)", "kernel build seconds"] {
            assert!(is_duration_of_work(id, Unit::Ratio), "{id}");
        }
        assert!(is_duration_of_work("untar", Unit::S));
        for id in ["seq_read_mb_s", "MB/s", "read_iops_4k", "kib per s", "s", "files_s"] {
            assert!(!is_duration_of_work(id, Unit::Ratio), "{id}");
        }
        assert!(!is_duration_of_work("x.latency_ns_p99", Unit::Ns));
    }
}
