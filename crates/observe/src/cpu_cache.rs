//! The caches of the processors.

use crate::root::Root;

/// The bytes of the largest cache of the first processor, as `/sys` writes it: `8192K`.
pub fn last_level_cache(root: &Root) -> Option<u64> {
    let size = |index: u32| {
        let text = root.text(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size"))?;
        text.strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(1024)
    };
    (0..5).filter_map(size).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_counts() {
        let tree = tempfile::tempdir().unwrap();
        assert_eq!(last_level_cache(&Root::new(tree.path())), None);
        for (index, size) in ["32K", "48K", "2048K", "36864K"].into_iter().enumerate() {
            let directory = tree.path().join(format!("sys/devices/system/cpu/cpu0/cache/index{index}"));
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("size"), format!("{size}\n")).unwrap();
        }
        assert_eq!(last_level_cache(&Root::new(tree.path())), Some(36 << 20));
    }
}
