//! Values that clear or reset one another: what a change of one of them touches beside it, and how all of them come back.

use crate::error::{Result, SettingError};
use crate::value::{Tree, ValuePath, same_value};
use model::CompactSort as _;
use serde::{Deserialize, Serialize};

/// Two names of one limit, of which the kernel sets the other to 0 when one is written (k:mm/page-writeback.c,
/// dirty_ratio_handler and its like; k:mm/util.c, overcommit_ratio_handler). 0 means that the other one counts, and the
/// kernel does not take it for `dirty_bytes` and `dirty_background_bytes`.
const TWINS: [(&str, &str); 3] = [
    ("dirty_ratio", "dirty_bytes"),
    ("dirty_background_ratio", "dirty_background_bytes"),
    ("overcommit_ratio", "overcommit_kbytes"),
];

/// In a directory of this name (its beginning), a change of the first resets the others. `DIRECTORY/*` stands for all files
/// of a directory, `{}` in it for the value that the first one has.
const FOLLOWERS: [(&str, &str, &[&str]); 8] = [
    // Another scheduler has another depth and other tunables, and bfq switches writeback throttling off
    // (k:block/elevator.c, elevator_switch; k:block/bfq-iosched.c, bfq_init_queue).
    ("queue", "scheduler", &["nr_requests", "async_depth", "iosched/*", "wbt_lat_usec"]),
    // The schedulers derive a depth of their own from it (k:block/mq-deadline.c, dd_depth_updated).
    ("queue", "nr_requests", &["async_depth", "iosched/*"]),
    // From Linux 6.9 on each change of the queue's limits sets the read-ahead anew (k:block/blk-settings.c,
    // blk_apply_bdi_limits).
    ("queue", "max_sectors_kb", &["read_ahead_kb"]),
    ("queue", "discard_max_bytes", &["read_ahead_kb"]),
    ("queue", "write_cache", &["read_ahead_kb"]),
    ("queue", "iostats", &["read_ahead_kb"]),
    // A governor has tunables of its own, moves the preference of intel_pstate and amd-pstate, and takes the speed that was
    // set (k:drivers/cpufreq/cpufreq.c, cpufreq_set_policy; k:drivers/cpufreq/intel_pstate.c).
    (
        "policy",
        "scaling_governor",
        &["scaling_max_freq", "scaling_min_freq", "scaling_setspeed", "energy_performance_preference", "{}/*"],
    ),
    (
        "cpufreq",
        "scaling_governor",
        &["scaling_max_freq", "scaling_min_freq", "scaling_setspeed", "energy_performance_preference", "{}/*"],
    ),
];

/// Huge pages raise the reserve while they are on (k:mm/khugepaged.c, set_recommended_min_free_kbytes).
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const RESERVE: &str = "/proc/sys/vm/min_free_kbytes";

/// As often as members may be written until all have their values: the frequencies of a policy bound one another, so that
/// the first one may only be taken after the second.
const ROUNDS: usize = 4;

/// A value as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The file.
    pub path: ValuePath,
    /// What it held.
    pub value: String,
}

/// What a change of one value touches, as it was before; in the order in which it is restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The value that is changed, and those that follow it.
    pub saved: Vec<Saved>,
}

/// Whether a value has to be set before another one of its directory, which would else be reset: smaller is earlier.
pub fn rank(path: &ValuePath) -> usize {
    let leads = FOLLOWERS.iter().any(|(directory, name, followers)| {
        path.name() == *name && path.directory_name().starts_with(directory) && followers.len() > 1
    });
    let follows = FOLLOWERS.iter().any(|(directory, _, followers)| {
        path.directory_name().starts_with(directory) && followers.contains(&path.name())
    });
    match (leads, follows || path.directory_name() == "iosched") {
        (true, false) => 0,
        (true, true) => 1,
        (false, false) => 2,
        (false, true) => 3,
    }
}

/// A value with a meaning of its own that the kernel sets anew whenever this one is written, as the read-ahead after a limit of its queue;
/// it has to be written again where a change is to be of this one alone. What a scheduler or governor brings with it is none.
pub fn side_effect(path: &ValuePath) -> Option<ValuePath> {
    FOLLOWERS.iter().find_map(|(directory, name, followers)| match followers {
        [only] if path.name() == *name && path.directory_name().starts_with(directory) => Some(path.sibling(only)),
        _ => None,
    })
}

fn counterpart(path: &ValuePath) -> Option<ValuePath> {
    let name = path.as_str().strip_prefix("/proc/sys/vm/")?;
    let other = TWINS.iter().find_map(|(a, b)| match name {
        n if n == *a => Some(*b),
        n if n == *b => Some(*a),
        _ => None,
    })?;
    Some(path.sibling(other))
}

/// The files that a change of `path` may change as well.
fn affected_values(tree: &Tree, path: &ValuePath, value: &str) -> Vec<ValuePath> {
    let mut out: Vec<ValuePath> = counterpart(path).into_iter().collect();
    if path.as_str() == HUGE_PAGES {
        out.extend(ValuePath::new(RESERVE));
    }
    let of_it = FOLLOWERS
        .iter()
        .filter(|(directory, name, _)| path.name() == *name && path.directory_name().starts_with(directory))
        .flat_map(|(_, _, followers)| followers.iter());
    for name in of_it {
        match name.strip_suffix("/*").map(|d| d.replace("{}", value)) {
            // A word of the kernel's; a value with another sign in it names no directory.
            Some(directory) if directory.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) => {
                let names = tree.names(path.sibling(&directory).as_str());
                out.extend(names.iter().map(|n| path.sibling(&format!("{directory}/{n}"))));
            }
            Some(_) => {}
            None => out.push(path.sibling(name)),
        }
    }
    out
}

impl Group {
    /// Reads a value and what follows it. Followers that cannot be read or written are not settings here.
    ///
    /// # Errors
    /// That the value itself cannot be read.
    pub fn read(tree: &Tree, path: &ValuePath) -> Result<Self> {
        let value = tree.read(path)?;
        let with = affected_values(tree, path, &value);
        let mut saved = vec![Saved { path: path.clone(), value }];
        for follower in with {
            if let (Ok(value), Ok(())) = (tree.read(&follower), tree.writable(&follower)) {
                saved.push(Saved { path: follower, value });
            }
        }
        // Of two twins the one that counts is written, and that one clears the other.
        if counterpart(path).is_some() {
            saved.compact_sort_by_key(|s| s.value == "0");
        }
        Ok(Self { saved })
    }

    /// Writes what differs from what it was until all is as it was.
    ///
    /// # Errors
    /// [`SettingError::Missing`] where the first value has gone, with its device; else the first value that is still another
    /// one, with the last answer of the kernel.
    pub fn restore(&self, tree: &Tree) -> Result<()> {
        let mut refused = None;
        for _ in 0..ROUNDS {
            let different = self.different(tree)?;
            if different.is_empty() {
                return Ok(());
            }
            // A ratio of 0 is only taken as a change from another one.
            if let Some(ratio) = self.ratio_of_zeros() {
                tree.write(ratio, "1")?;
            }
            for saved in different {
                let written = match tree.read(&saved.path) {
                    // Another one written before brought it back.
                    Ok(now) if same_value(&now, &saved.value) => Ok(()),
                    Ok(_) => tree.write(&saved.path, &saved.value),
                    Err(error) => Err(error),
                };
                refused = written.err().or(refused);
            }
        }
        match self.different(tree)?.first() {
            None => Ok(()),
            Some(saved) => Err(refused.unwrap_or_else(|| SettingError::NotTaken {
                path: saved.path.to_string(),
                value: saved.value.clone(),
                why: format!("it is {}", tree.read(&saved.path).unwrap_or_else(|e| e.to_string())),
            })),
        }
    }

    /// Those that are not what they were. The first is not there any more only where its device has gone; the others may come
    /// with the first one, as the tunables of a scheduler do.
    fn different(&self, tree: &Tree) -> Result<Vec<&Saved>> {
        let mut out = Vec::new();
        for (index, saved) in self.saved.iter().enumerate() {
            match tree.read(&saved.path) {
                Ok(now) if same_value(&now, &saved.value) => {}
                Err(error) if index == 0 => return Err(error),
                Ok(_) | Err(_) => out.push(saved),
            }
        }
        Ok(out)
    }

    /// The ratio of two twins that both were 0.
    fn ratio_of_zeros(&self) -> Option<&ValuePath> {
        let all_zero =
            self.saved.len() == 2 && self.saved.iter().all(|s| s.value == "0" && counterpart(&s.path).is_some());
        self.saved.iter().map(|s| &s.path).find(|p| all_zero && p.name().ends_with("_ratio"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::{path, tree};

    fn values(group: &Group) -> Vec<(&str, &str)> {
        group.saved.iter().map(|s| (s.path.name(), s.value.as_str())).collect()
    }

    #[test]
    fn of_two_twins_the_one_that_counts_is_written_first() {
        let (_kept, tree) = tree(&[("proc/sys/vm/dirty_ratio", "20\n"), ("proc/sys/vm/dirty_bytes", "0\n")]);
        let group = Group::read(&tree, &path("/proc/sys/vm/dirty_bytes")).unwrap();
        assert_eq!(values(&group), [("dirty_ratio", "20"), ("dirty_bytes", "0")]);
        // As the kernel leaves them after bytes were written.
        tree.write(&path("/proc/sys/vm/dirty_bytes"), "100000000").unwrap();
        tree.write(&path("/proc/sys/vm/dirty_ratio"), "0").unwrap();
        group.restore(&tree).unwrap();
        assert_eq!(Group::read(&tree, &path("/proc/sys/vm/dirty_bytes")).unwrap(), group);
    }

    #[test]
    fn a_scheduler_brings_its_depth_and_its_tunables_back() {
        let queue = "sys/devices/virtual/block/loop7/queue";
        let files = ["scheduler", "nr_requests", "wbt_lat_usec", "iosched/read_expire", "iosched/async_depth"];
        let all: Vec<(String, &str)> = files
            .iter()
            .zip(["none [mq-deadline]", "77", "2000", "500", "77"])
            .map(|(f, v)| (format!("{queue}/{f}"), v))
            .collect();
        let (kept, tree) = tree(&all.iter().map(|(f, v)| (f.as_str(), *v)).collect::<Vec<_>>());
        let scheduler = path(&format!("/{queue}/scheduler"));
        let group = Group::read(&tree, &scheduler).unwrap();
        let names: Vec<&str> = values(&group).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["scheduler", "nr_requests", "async_depth", "read_expire", "wbt_lat_usec"]);
        tree.write(&path(&format!("/{queue}/nr_requests")), "128").unwrap();
        tree.write(&path(&format!("/{queue}/iosched/read_expire")), "250").unwrap();
        group.restore(&tree).unwrap();
        assert_eq!(Group::read(&tree, &scheduler).unwrap(), group);
        // A device that has gone takes its settings with it.
        std::fs::remove_dir_all(kept.path().join("sys/devices/virtual/block/loop7")).unwrap();
        assert!(matches!(group.restore(&tree), Err(SettingError::Missing(_))));
    }

    #[test]
    fn what_leads_is_set_before_what_follows() {
        let ranked = |name: &str| rank(&path(&format!("/sys/block/sda/queue/{name}")));
        assert!(ranked("scheduler") < ranked("nr_requests"));
        assert!(ranked("nr_requests") < ranked("iosched/async_depth"));
        assert!(ranked("max_sectors_kb") < ranked("read_ahead_kb"));
        let queue = |name: &str| path(&format!("/sys/block/sda/queue/{name}"));
        assert_eq!(side_effect(&queue("max_sectors_kb")), Some(queue("read_ahead_kb")));
        assert_eq!(side_effect(&queue("scheduler")), None, "it brings a depth of its own");
        let policy = |name: &str| rank(&path(&format!("/sys/devices/system/cpu/cpufreq/policy0/{name}")));
        assert!(policy("scaling_governor") < policy("scaling_max_freq"));
    }

    #[test]
    fn a_value_of_its_own_is_alone() {
        let (_kept, tree) = tree(&[("proc/sys/vm/swappiness", "60\n"), ("proc/sys/vm/dirty_ratio", "20")]);
        assert_eq!(values(&Group::read(&tree, &path("/proc/sys/vm/swappiness")).unwrap()), [("swappiness", "60")]);
        assert!(Group::read(&tree, &path("/proc/sys/vm/none")).is_err());
    }
}
