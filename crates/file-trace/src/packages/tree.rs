//! Where the files of a package lie.

use super::set::Package;
use model::PackageEntry;
use std::collections::BTreeMap;

/// Languages that a system has directories of.
pub(super) const LANGUAGES: usize = 90;
/// Directories that are there before, below the root, each behind the one above it.
pub(super) const BASE: [&str; 8] =
    ["usr", "usr/bin", "usr/lib", "usr/lib/cpu-linux-gnu", "usr/share", "usr/share/doc", "usr/share/locale", "etc"];

pub(super) fn name_of(index: usize) -> String {
    format!("narrows-package-{index:03}")
}

pub(super) fn language(number: usize) -> String {
    format!("usr/share/locale/l{:02}", number % LANGUAGES)
}

fn path_of(package: &str, index: usize, file: usize) -> String {
    match file {
        0 => return format!("usr/share/doc/{package}/changelog.Debian.gz"),
        1 => return format!("usr/share/doc/{package}/copyright"),
        2 if index.is_multiple_of(4) => return format!("usr/bin/{package}"),
        2 => return format!("usr/lib/cpu-linux-gnu/lib{package}.so.1.0.0"),
        _ => {}
    }
    let (group, part) = ((file - 3) / 4, (file - 3) / 96);
    match group % 3 {
        0 => format!("{}/LC_MESSAGES/{package}-{file}.mo", language(file - 3)),
        1 => format!("usr/share/{package}/part-{part}/of-{group}/data-{file}"),
        _ => format!("usr/lib/{package}/part-{part}/data-{file}"),
    }
}

/// The entries of an archive as they lie in it, directories before what lies in them: their paths below the root.
pub(super) fn entries(package: &Package, index: usize) -> Vec<(String, PackageEntry)> {
    let name = name_of(index);
    let mut all = BTreeMap::new();
    let mut add = |path: String, what: PackageEntry| {
        for (end, _) in path.match_indices('/') {
            all.entry(path[..end].to_owned()).or_insert(PackageEntry::Directory);
        }
        all.insert(path, what);
    };
    for (file, bytes) in package.files.iter().enumerate() {
        add(path_of(&name, index, file), PackageEntry::File(*bytes));
    }
    (0..package.links).for_each(|n| add(format!("usr/lib/cpu-linux-gnu/lib{name}.so.{n}"), PackageEntry::Link));
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::set::packages;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn directories_are_as_many_as_in_the_real_set() {
        let set = packages(472, 0);
        let mut named = 0;
        let mut distinct = BTreeSet::new();
        let mut depths = BTreeMap::new();
        for (index, package) in set.iter().enumerate() {
            let mut seen = BTreeSet::from([String::new()]);
            for (path, what) in entries(package, index) {
                let above = path.rsplit_once('/').map_or("", |(above, _)| above);
                assert!(seen.contains(above), "{path}");
                match what {
                    PackageEntry::Directory => {
                        named += 1;
                        seen.insert(path.clone());
                        distinct.insert(path);
                    }
                    _ => *depths.entry(path.matches('/').count() + 1).or_insert(0usize) += 1,
                }
            }
        }
        // 15,478 and 2,321; most files have six names or seven.
        assert!((12_000..19_000).contains(&named), "{named}");
        assert!((1_800..3_500).contains(&distinct.len()), "{}", distinct.len());
        let deep: usize = depths.range(6..).map(|(_, count)| count).sum();
        assert!(deep * 2 > depths.values().sum::<usize>(), "{depths:?}");
    }
}
