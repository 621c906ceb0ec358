//! A set of packages like a real one, by the distributions of that.
//!
//! Measured on 472 packages (Debian 12, amd64: task-xfce-desktop, xfce4-goodies, evince, vim, cups and what they need beyond a
//! system of the standard priority with NetworkManager): 23,847 files of 824 MB in archives of 240 MB, 1,475 symbolic links, 2,321
//! directories of which 15,478 are named. `dpkg-deb -c` of each; docs/workloads.md has the command.
use model::CompactSort as _;

/// A point of a distribution: below which share of all, and what.
type Point = (f64, f64);

/// Files of a package.
const FILES: [Point; 19] = [
    (0.0, 1.0),
    (0.02, 3.0),
    (0.2, 4.0),
    (0.4, 4.5),
    (0.5, 5.0),
    (0.6, 6.0),
    (0.65, 7.0),
    (0.7, 10.0),
    (0.75, 20.0),
    (0.8, 52.0),
    (0.85, 68.0),
    (0.9, 84.0),
    (0.95, 133.0),
    (0.975, 369.0),
    (0.985, 452.0),
    (0.99, 700.0),
    (0.995, 900.0),
    (0.997, 2600.0),
    (1.0, 5559.0),
];

/// Bytes of a file.
const BYTES: [Point; 19] = [
    (0.0, 0.0),
    (0.01, 93.0),
    (0.05, 197.0),
    (0.1, 295.0),
    (0.2, 536.0),
    (0.3, 900.0),
    (0.4, 1400.0),
    (0.5, 2173.0),
    (0.7, 5085.0),
    (0.8, 12_526.0),
    (0.9, 30_779.0),
    (0.95, 72_080.0),
    (0.98, 165_594.0),
    (0.99, 284_832.0),
    (0.995, 526_264.0),
    (0.998, 1_542_995.0),
    (0.999, 4_146_256.0),
    (0.9995, 11_070_952.0),
    (1.0, 36_000_000.0),
];

/// What an archive has of the bytes of its files: 240 MB of 824 MB.
const ARCHIVE_SHARE: f64 = 0.2915;
/// One of so many files is a symbolic link.
const FILES_OF_A_LINK: usize = 16;

/// The value below which a share of all lie; between two points it rises by the same factor for the same step.
fn quantile(points: &[Point], share: f64) -> f64 {
    let at = points.iter().position(|(end, _)| share <= *end).unwrap_or(points.len() - 1).max(1);
    let ((from, low), (to, high)) = (points[at - 1], points[at]);
    let part = ((share - from) / (to - from)).clamp(0.0, 1.0);
    (low + 1.0) * ((high + 1.0) / (low + 1.0)).powf(part) - 1.0
}

/// Where a number comes to stand among `count`: a step that has no factor in common with them visits each once.
fn spread(number: usize, count: usize) -> usize {
    let mut step = (count as f64 * 0.618_034) as usize | 1;
    while gcd(step, count) > 1 {
        step += 2;
    }
    number * step % count
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Package {
    /// Bytes of each file, in the order of the archive.
    pub files: Vec<u64>,
    /// Symbolic links.
    pub links: usize,
    /// Files beside them that say what the package is, `control` first: their bytes.
    pub control: Vec<u64>,
    /// Bytes of its archive.
    pub archive: u64,
    /// Whether it is among those that are removed and installed again.
    pub is_removed: bool,
}

impl Package {
    pub fn bytes(&self) -> u64 {
        self.files.iter().sum()
    }
}

/// So many packages, and of them those that are removed: every second one of the largest.
pub(super) fn packages(count: usize, removed: usize) -> Vec<Package> {
    let share = |number: usize, of: usize| (spread(number, of) as f64 + 0.5) / of as f64;
    let files: Vec<usize> = (0..count).map(|i| quantile(&FILES, share(i, count)).round() as usize).collect();
    let all: usize = files.iter().sum();
    let mut number = 0;
    let mut set: Vec<Package> = files
        .iter()
        .enumerate()
        .map(|(index, files)| {
            let bytes = |file: usize| quantile(&BYTES, share(file, all)).round() as u64;
            let files: Vec<u64> = (number..number + files).map(bytes).collect();
            number += files.len();
            let links = number / FILES_OF_A_LINK - (number - files.len()) / FILES_OF_A_LINK;
            let archive = (files.iter().sum::<u64>() as f64 * ARCHIVE_SHARE) as u64 + 1500;
            Package { control: control_of(index, files.len() + links), links, archive, files, is_removed: false }
        })
        .collect();
    let mut by_size: Vec<usize> = (0..count).collect();
    by_size.compact_sort_by_key(|i| std::cmp::Reverse((set[*i].bytes(), *i)));
    let (seconds, others): (Vec<usize>, Vec<usize>) = (0..count).partition(|rank| rank % 2 == 1);
    seconds.into_iter().chain(others).take(removed).for_each(|rank| set[by_size[rank]].is_removed = true);
    set
}

/// `control` and a list of checksums; half of them have what libraries say of themselves, some scripts.
fn control_of(index: usize, entries: usize) -> Vec<u64> {
    let mut control = vec![900, entries as u64 * 72];
    match index % 4 {
        0 => {}
        1 => control.extend([60, 1800]),
        _ => control.extend([60, 40, 2600]),
    }
    control
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_sums_of_the_real_one() {
        let set = packages(472, 0);
        let near = |what: &str, ours: f64, real: f64| {
            assert!((ours / real - 1.0).abs() < 0.1, "{what}: {ours} of {real}");
        };
        let sum = |of: fn(&Package) -> u64| set.iter().map(of).sum::<u64>() as f64;
        near("files", sum(|p| p.files.len() as u64), 23_847.0);
        near("bytes", sum(Package::bytes), 823_771_422.0);
        near("archives", sum(|p| p.archive), 240_158_454.0);
        near("links", sum(|p| p.links as u64), 1475.0);
        near("control files", sum(|p| p.control.len() as u64), 4.095 * 472.0);
        assert!(set.iter().all(|p| !p.files.is_empty() && !p.is_removed));
    }

    #[test]
    fn every_second_of_the_largest_is_removed() {
        let set = packages(400, 150);
        let bytes = |removed| set.iter().filter(|p| p.is_removed == removed).map(Package::bytes).sum::<u64>();
        assert_eq!(set.iter().filter(|p| p.is_removed).count(), 150);
        assert!((0.4..0.7).contains(&(bytes(true) as f64 / (bytes(true) + bytes(false)) as f64)));
        assert_eq!(packages(3, 3).iter().filter(|p| p.is_removed).count(), 3);
        assert_eq!(packages(1, 0).len(), 1);
    }
}
