//! What a volume of Amazon EBS counts about its own limits: the log page 0xD0 of its NVMe controller (Amazon EBS User Guide,
//! "Amazon EBS detailed performance statistics"; the same layout in nvme-cli's plugin and FreeBSD's ebsnvme).

use super::node::open;
use crate::facts;
use crate::root::Root;
use model::{Fact, Layer, LayerKind, Stack};

/// The first word of the page.
const MAGIC: u32 = 0x3c23_b510;
/// The page has histograms behind its counters.
const MIN_BYTES: usize = 512;
/// How such a controller calls itself.
const MODEL: &str = "Amazon Elastic Block Store";

/// Each counter: where it stands, its fact, and the fact of what it counted during a run. All in microseconds since the
/// volume was attached.
const COUNTERS: [(usize, &str, &str); 4] = [
    (56, facts::EBS_VOLUME_IOPS_EXCEEDED_US, facts::EBS_VOLUME_IOPS_EXCEEDED_RUN_US),
    (64, facts::EBS_VOLUME_BYTES_EXCEEDED_US, facts::EBS_VOLUME_BYTES_EXCEEDED_RUN_US),
    (72, facts::EBS_INSTANCE_IOPS_EXCEEDED_US, facts::EBS_INSTANCE_IOPS_EXCEEDED_RUN_US),
    (80, facts::EBS_INSTANCE_BYTES_EXCEEDED_US, facts::EBS_INSTANCE_BYTES_EXCEEDED_RUN_US),
];

/// The counters of a page; `None` if it is not one.
fn counters(page: &[u8]) -> Option<[u64; 4]> {
    let magic = u32::from_le_bytes(page.get(..4)?.try_into().ok()?);
    if magic != MAGIC || page.len() < MIN_BYTES {
        return None;
    }
    let long = |at: usize| page.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes);
    Some(COUNTERS.map(|(at, ..)| long(at)))
}

fn ask(root: &Root, controller: &str) -> Option<[u64; 4]> {
    let page = root.answer(&format!("health/{controller}.ebs"), || {
        let file = open(root, controller, &format!("/sys/class/nvme/{controller}/dev"))?;
        Ok(sys::nvme_ebs_log(&file).map(|d| d.to_vec())?)
    });
    counters(&page.ok()?)
}

/// Sets what a volume counted so far, where the disk is one.
pub(super) fn set_totals(root: &Root, disk: &mut Layer, controller: &str) {
    if disk.text(facts::MODEL).is_none_or(|m| m.trim() != MODEL) {
        return;
    }
    let known = ask(root, controller);
    for (i, (_, total, _)) in COUNTERS.iter().enumerate() {
        disk.set(total, known.map(|k| k[i]));
    }
}

/// Sets what the volumes of a path counted since the path was looked at: at the end of a run, what they say of that run.
/// Asks only controllers that answered before, and on the live machine only.
pub fn note_limits_of_run(root: &Root, stack: &mut Stack) {
    if !root.is_live() {
        return;
    }
    for disk in stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Disk) {
        let before = COUNTERS.map(|(_, total, _)| disk.int(total).and_then(|n| u64::try_from(n).ok()));
        let Some(controller) = disk.text(facts::NVME_CONTROLLER).map(str::to_owned) else { continue };
        if before.iter().all(Option::is_none) {
            continue;
        }
        let Some(after) = ask(root, &controller) else { continue };
        set_differences(disk, before, after);
    }
}

fn set_differences(disk: &mut Layer, before: [Option<u64>; 4], after: [u64; 4]) {
    for (i, (_, _, in_run)) in COUNTERS.iter().enumerate() {
        // A counter that ran backwards is another volume's.
        disk.set(in_run, before[i].and_then(|b| after[i].checked_sub(b)).map_or(Fact::Null, Fact::from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(values: [u64; 4]) -> Vec<u8> {
        let mut page = vec![0; 4_096];
        page[..4].copy_from_slice(&MAGIC.to_le_bytes());
        for ((at, ..), value) in COUNTERS.iter().zip(values) {
            page[*at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        page
    }

    #[test]
    fn the_page_of_a_volume_is_read_and_no_other() {
        assert_eq!(counters(&page([1, 2, 3, u64::MAX])), Some([1, 2, 3, u64::MAX]));
        assert_eq!(counters(&[0; 4_096]), None);
        assert_eq!(counters(&page([1, 2, 3, 4])[..100]), None);
        assert_eq!(counters(&[]), None);
    }

    #[test]
    fn what_a_run_added_is_the_difference() {
        let mut disk = Layer::new(LayerKind::Disk, "nvme1n1");
        set_differences(&mut disk, [Some(5), Some(7), None, Some(9)], [12_000_005, 7, 4, 8]);
        assert_eq!(disk.int(facts::EBS_VOLUME_IOPS_EXCEEDED_RUN_US), Some(12_000_000));
        assert_eq!(disk.int(facts::EBS_VOLUME_BYTES_EXCEEDED_RUN_US), Some(0));
        assert_eq!(disk.fact(facts::EBS_INSTANCE_IOPS_EXCEEDED_RUN_US), None);
        assert_eq!(disk.fact(facts::EBS_INSTANCE_BYTES_EXCEEDED_RUN_US), None, "ran backwards");
    }
}
