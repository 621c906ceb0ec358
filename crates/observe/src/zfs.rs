//! What ZFS counts of its cache and of a dataset: /proc/spl/kstat/zfs (z:module/os/linux/spl/spl-kstat.c), no root needed. Its
//! properties are not there; `zfs get` has them.

use crate::root::Root;
use model::path_counter as names;
use model::{Layer, PathCounter, facts};

/// Datasets of a pool that are looked at.
const MOST_DATASETS: usize = 4096;
const KSTAT: &str = "/proc/spl/kstat/zfs";

/// The rows of a kstat: name, type, value.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    // The first line has the kstat's own numbers, the second the names of the columns.
    text.lines().skip(2).filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let (_, value) = rest.trim_start().split_once(' ')?;
        Some((name, value.trim()))
    })
}

fn counted(text: &[u8], wanted: &[(&str, &'static str)]) -> Vec<PathCounter> {
    let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
    let of = |(row, name): &(&str, &'static str)| {
        let value = rows(text).find(|(n, _)| n == row)?.1.parse().ok()?;
        Some(PathCounter { name: (*name).to_owned(), value })
    };
    wanted.iter().filter_map(of).collect()
}

/// The counters of the cache (ARC), of all pools, that are about file data.
pub fn arc_counters(arcstats: &[u8]) -> Vec<PathCounter> {
    counted(
        arcstats,
        &[
            ("demand_data_hits", names::ARC_DATA_HITS),
            ("demand_data_iohits", names::ARC_DATA_IO_HITS),
            ("demand_data_misses", names::ARC_DATA_MISSES),
            ("prefetch_data_misses", names::ARC_PREFETCH_MISSES),
        ],
    )
}

/// The counters of a dataset, from its objset kstat.
pub fn dataset_counters(objset: &[u8]) -> Vec<PathCounter> {
    counted(
        objset,
        &[
            ("reads", names::ZFS_READS),
            ("nread", names::ZFS_BYTES_READ),
            ("writes", names::ZFS_WRITES),
            ("nwritten", names::ZFS_BYTES_WRITTEN),
            ("zil_commit_count", names::ZIL_COMMITS),
        ],
    )
}

/// Commits of the intent log of all pools: before OpenZFS 2.2 datasets do not count them.
pub fn zil_counters(zil: &[u8]) -> Vec<PathCounter> {
    counted(zil, &[("zil_commit_count", names::ZIL_COMMITS)])
}

/// The kstat of a dataset: that of its pool whose name it has.
pub(crate) fn dataset_file(root: &Root, dataset: &str) -> Option<String> {
    let pool = dataset.split('/').next().filter(|pool| !pool.is_empty() && *pool != "." && *pool != "..")?;
    let directory = format!("{KSTAT}/{pool}");
    let objsets = root.list(&directory).into_iter().filter(|name| name.starts_with("objset-")).take(MOST_DATASETS);
    objsets.map(|name| format!("{directory}/{name}")).find(|path| {
        root.text(path).is_some_and(|text| rows(&text).any(|(name, value)| name == "dataset_name" && value == dataset))
    })
}

pub(crate) fn arc_file() -> String {
    format!("{KSTAT}/arcstats")
}

pub(crate) fn zil_file() -> String {
    format!("{KSTAT}/zil")
}

/// How large the cache is, and may become.
pub(crate) fn set_facts(root: &Root, layer: &mut Layer) {
    let text = root.text(&arc_file());
    let value = |wanted: &str| rows(text.as_deref()?).find(|(name, _)| *name == wanted)?.1.parse::<u64>().ok();
    layer.set(facts::ARC_SIZE_BYTES, value("size"));
    layer.set(facts::ARC_LIMIT_BYTES, value("c_max"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // The form of OpenZFS 2.2; rows as its documents and the tests of exporters have them (see tests/data/README.md).
    const ARC: &[u8] = include_bytes!("../tests/data/zfs-arcstats.kstat");
    const OBJSET: &[u8] = include_bytes!("../tests/data/zfs-objset.kstat");

    #[test]
    fn kstats_by_their_names() {
        let values = |counters: Vec<PathCounter>| counters.iter().map(|c| c.value).collect::<Vec<_>>();
        assert_eq!(values(arc_counters(ARC)), [7_000, 30, 2_500, 11_565]);
        assert_eq!(values(dataset_counters(OBJSET)), [252_308, 5_456_852_343, 52_239, 609_481_617, 2_824]);
        assert!(dataset_counters(b"1 1\nname type data\nreads 4 NaN\n").is_empty());
        assert_eq!(
            values(zil_counters(
                b"1\nname                            type data\nzil_commit_count                4    9\n"
            )),
            [9]
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in "(demand_data_hits|nread| 4 |[0-9]{0,22}| |\n){0,40}") {
            let _ = (arc_counters(&bytes), dataset_counters(&bytes), zil_counters(&bytes));
            prop_assert!(arc_counters(text.as_bytes()).len() <= 4);
        }
    }
}
