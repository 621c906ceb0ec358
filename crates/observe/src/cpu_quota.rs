//! How many processors the control groups of this process grant it: the least of its own group and all above it.
//!
//! cgroup v2: `cpu.max` (k:Documentation/admin-guide/cgroup-v2.rst). v1: `cpu.cfs_quota_us` over `cpu.cfs_period_us`
//! (k:Documentation/scheduler/sched-bwc.rst).

use crate::root::Root;

/// Processors granted, or `None` where no group sets a quota (or none can be read).
pub(crate) fn cpu_quota_cores(root: &Root) -> Option<f64> {
    let groups = root.text("/proc/self/cgroup")?;
    groups.lines().filter_map(|line| of_hierarchy(root, line)).min_by(f64::total_cmp)
}

fn of_hierarchy(root: &Root, line: &str) -> Option<f64> {
    // ID:CONTROLLERS:PATH (cgroups(7)).
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let unified = controllers.is_empty();
    // Version 1 is mounted by the names of its controllers, alone or joined.
    let bases: &[&str] = match unified {
        true => &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
        false if controllers.split(',').any(|c| c == "cpu") => {
            &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpuacct,cpu"]
        }
        false => return None,
    };
    let mut least = None;
    let mut path = path.trim_end_matches('/');
    loop {
        for base in bases {
            let quota = if unified { maximum(root, base, path) } else { quota(root, base, path) };
            least = [least, quota].into_iter().flatten().min_by(f64::total_cmp);
        }
        match path.rsplit_once('/') {
            Some((above, _)) => path = above,
            None => return least,
        }
    }
}

/// `50000 100000`, or `max 100000` for no quota.
fn maximum(root: &Root, base: &str, path: &str) -> Option<f64> {
    let text = root.text(&format!("{base}{path}/cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota.parse().ok()?, period.parse().ok()?)
}

/// Two files; a quota of -1 is none.
fn quota(root: &Root, base: &str, path: &str) -> Option<f64> {
    let number = |file: &str| root.text(&format!("{base}{path}/{file}"))?.trim().parse().ok();
    share(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
}

fn share(quota_us: i64, period_us: i64) -> Option<f64> {
    (quota_us > 0 && period_us > 0).then(|| quota_us as f64 / period_us as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::new(directory.path());
        (directory, root)
    }

    #[test]
    fn the_least_of_all_groups_above_counts() {
        let (_kept, root) = tree(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/cpu.max", "25000 100000\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "200000 100000\n"),
        ]);
        assert_eq!(cpu_quota_cores(&root), Some(0.25));
        let (_kept, root) = tree(&[
            ("proc/self/cgroup", "2:cpu,cpuacct:/x\n1:blkio:/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "150000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(cpu_quota_cores(&root), Some(1.5));
    }

    #[test]
    fn no_quota_and_garbage_are_none() {
        for text in ["max 100000\n", "", "-5 0", "1 0", "99999999999999999999 1"] {
            let (_kept, root) = tree(&[("proc/self/cgroup", "0::/\n:::\nx"), ("sys/fs/cgroup/cpu.max", text)]);
            assert_eq!(cpu_quota_cores(&root), None, "{text:?}");
        }
        let (_kept, root) = tree(&[
            ("proc/self/cgroup", "1:cpu:/\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(cpu_quota_cores(&root), None);
    }
}
