//! What the lowest layers of a stack have read.

use crate::Root;
use model::Stack;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Asks the lowest layers that count how many bytes they have read since they are there, all users' together; `None` where no
/// layer counts. What is returned gives `None` when one of them cannot be asked any more.
///
/// Sectors of 512 bytes are counted when a request completes (k:Documentation/block/stat.rst, the third field), so that what
/// was read before the question is in the answer.
pub fn lowest_read_bytes(
    root: &Root,
    stack: &Stack,
) -> Option<impl Fn() -> Option<u64> + Send + Sync + UnwindSafe + RefUnwindSafe + 'static> {
    let file = |name: &str| format!("/sys/class/block/{}/stat", name.replace('/', "!"));
    let files: Vec<String> = stack.lowest_counted().iter().map(|layer| file(&layer.name)).collect();
    let root = root.clone();
    let read = move || {
        let sectors = |path: &String| root.text(path)?.split_ascii_whitespace().nth(2)?.parse::<u64>().ok();
        files.iter().try_fold(0u64, |sum, path| Some(sum.saturating_add(sectors(path)?.saturating_mul(512))))
    };
    (!stack.lowest_counted().is_empty()).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{DeviceId, Layer, LayerKind};

    #[test]
    fn members_are_added_and_a_lost_one_makes_it_unknown() {
        let tree = tempfile::tempdir().unwrap();
        let stat = |name: &str, sectors: u64| {
            let directory = tree.path().join("sys/class/block").join(name);
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("stat"), format!("      10        0 {sectors} 5 0 0 0 0\n")).unwrap();
        };
        stat("sda", 100);
        stat("sdb", 11);
        let mut stack = Stack::default();
        assert!(lowest_read_bytes(&Root::new(tree.path()), &stack).is_none());
        for (minor, name) in [(0, "sda"), (16, "sdb")] {
            let mut layer = Layer::new(LayerKind::Disk, name);
            layer.device = Some(DeviceId { major: 8, minor });
            layer.counted = true;
            stack.layers.push(layer, 0);
        }
        let read = lowest_read_bytes(&Root::new(tree.path()), &stack).unwrap();
        assert_eq!(read(), Some(111 * 512));
        stat("sdb", 12);
        assert_eq!(read(), Some(112 * 512));
        std::fs::remove_dir_all(tree.path().join("sys/class/block/sda")).unwrap();
        assert_eq!(read(), None);
    }
}
