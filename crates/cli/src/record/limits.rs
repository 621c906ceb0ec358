//! `--limit CGROUP=KEY:VALUE`: what it wishes, and what came of it.

use model::{Failure, parse_bytes, parse_duration_ns};
use record::{GroupLimit, Limit, Limited, Rate};
use report::document::RecordLimit;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Weights are from 1 to this (k:Documentation/admin-guide/cgroup-v2.rst, "Weights").
const MOST_WEIGHT: u64 = 10_000;

/// All that an option says: `/sys/fs/cgroup/backup=write:20MB,weight:10`.
pub(super) fn parse(option: &OsString) -> Result<Vec<GroupLimit>, Failure> {
    let wrong = |why: &str| {
        Failure::usage(format!("--limit {}: {why}", option.to_string_lossy()))
            .remedy("--limit /sys/fs/cgroup/backup=write:20MB,weight:10; narrows record --help")
    };
    // The name of a group may have such signs, what follows it has none.
    let bytes = option.as_bytes();
    let at = bytes.iter().rposition(|b| *b == b'=').filter(|at| *at > 0);
    let at = at.ok_or_else(|| wrong("a control group's directory, =, and what it is limited to"))?;
    let group = PathBuf::from(OsStr::from_bytes(&bytes[..at]));
    let words = std::str::from_utf8(&bytes[at + 1..]).map_err(|_| wrong("what follows = is not text"))?;
    let limit = |word: &str| limit(word).map_err(|why| wrong(&why));
    words.split(',').map(|word| Ok(GroupLimit { group: group.clone(), limit: limit(word)? })).collect()
}

fn limit(word: &str) -> Result<Limit, String> {
    let (key, value) = word.split_once(':').ok_or_else(|| format!("'{word}' is not a KEY:VALUE"))?;
    let text = |e: &dyn std::fmt::Display| format!("{key}: {e}");
    let whole = || value.parse::<u64>().map_err(|_| format!("{key}: '{value}' is not a whole number"));
    let bytes = || parse_bytes(value.trim_end_matches("/s")).map_err(|e| text(&e));
    let limit = match key {
        "weight" => Limit::Weight(whole()?),
        "latency" => Limit::Latency(parse_duration_ns(value).map_err(|e| text(&e))?),
        "read" => Limit::Most(Rate::Read, bytes()?),
        "write" => Limit::Most(Rate::Write, bytes()?),
        "read-iops" => Limit::Most(Rate::ReadOperations, whole()?),
        "write-iops" => Limit::Most(Rate::WriteOperations, whole()?),
        _ => return Err(format!("'{key}' is none of weight, latency, read, write, read-iops, write-iops")),
    };
    match limit {
        Limit::Weight(weight) if weight > MOST_WEIGHT => Err(format!("weight: 1 to {MOST_WEIGHT}")),
        _ if limit.value() == 0 => Err(format!("{key}: 0 would be no limit; --defer pauses others")),
        _ => Ok(limit),
    }
}

/// What came of it.
pub(super) fn document(limited: &Limited) -> RecordLimit {
    RecordLimit {
        group: limited.wished.group.display().to_string(),
        limit: limited.wished.limit.name(),
        value: limited.wished.limit.value(),
        disk: limited.disk.as_ref().map(|(name, _)| name.clone()),
        device: limited.disk.as_ref().map(|(_, device)| device.to_string()),
        file: limited.file,
        in_effect: limited.without_effect.is_none(),
        reason: limited.without_effect.clone(),
        put_back: limited.put_back,
        not_put_back: limited.not_put_back.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_limits_of_a_group_and_groups_with_signs_in_their_names() {
        let of =
            |text: &str| parse(&text.into()).map(|all| all.into_iter().map(|l| (l.group, l.limit)).collect::<Vec<_>>());
        let group = || PathBuf::from("/cg/a=b");
        assert_eq!(
            of("/cg/a=b=write:20MB/s,read:1KiB,weight:10").unwrap(),
            [
                (group(), Limit::Most(Rate::Write, 20_000_000)),
                (group(), Limit::Most(Rate::Read, 1024)),
                (group(), Limit::Weight(10)),
            ]
        );
        assert_eq!(of("g=latency:5ms").unwrap()[0].1, Limit::Latency(5_000_000));
        assert_eq!(of("g=read-iops:7,write-iops:8").unwrap()[1].1, Limit::Most(Rate::WriteOperations, 8));
        for wrong in [
            "",
            "g",
            "=weight:1",
            "g=",
            "g=weight",
            "g=weight:0",
            "g=weight:10001",
            "g=weight:-1",
            "g=speed:1",
            "g=write:x",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
