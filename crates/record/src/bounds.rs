//! What a recording may write that is made only to see what its storage carries: as much as a check, in bytes of the device.

use crate::Recording;
use crate::inputs::Opened;
use model::{DeviceId, Stack};
use observe::Root;
use recorder::input::Generated;

/// Heads, padding, and what a file system writes of its own: one part in so many is kept for them.
const OTHER_PART: u64 = 16;
/// With less than this written the device's share is not known.
const LEAST_BYTES: u64 = 16 << 20;

/// How much may be written, and what the disks counted before.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub most: Option<u64>,
    root: Root,
    disks: Vec<DeviceId>,
    before: u64,
}

/// Made-up frames that one stream may bring, so that all of it is no more than this.
pub(crate) fn frames_within(most: u64, cameras: &Generated) -> u64 {
    let frames = (most - most / OTHER_PART) / cameras.frame_bytes.max(1) / u64::from(cameras.streams.max(1));
    frames.max(1).min(cameras.frames.unwrap_or(u64::MAX))
}

impl Bounds {
    /// Those of a recording onto what this stack describes.
    pub fn of(recording: &Recording<'_>, stack: &Stack) -> Self {
        let root = Root::new("/");
        let Some(allowance) = recording.bounds else {
            return Self { most: None, root, disks: Vec::new(), before: 0 };
        };
        let disks: Vec<DeviceId> = stack.lowest_counted().into_iter().filter_map(|layer| layer.device).collect();
        let before = written(&root, &disks);
        Self { most: Some(allowance.usual_bytes(stack.into())), root, disks, before }
    }

    /// Made-up cameras bring no more than that.
    pub fn limit(&self, inputs: &mut [(Opened, String)]) {
        for (input, _) in inputs {
            if let (Some(most), Opened::Cameras(cameras)) = (self.most, input) {
                cameras.frames = Some(frames_within(most, cameras));
            }
        }
    }

    /// Whether it is to end: with what is on its way (`ring_bytes`) the device will have been written so much. A file system may
    /// write more than it is given, of each byte; what others write meanwhile counts as that, so that half of it is always ours.
    pub fn reached(&self, durable_bytes: u64, ring_bytes: u64) -> bool {
        let known = !self.disks.is_empty() && durable_bytes >= LEAST_BYTES;
        let Some(most) = self.most.filter(|most| known && durable_bytes + ring_bytes >= most / 2) else {
            return false;
        };
        let device = written(&self.root, &self.disks).saturating_sub(self.before);
        let to_come = ring_bytes as f64 * (device as f64 / durable_bytes as f64).max(1.0);
        device as f64 + to_come > most as f64
    }
}

/// What the disks have written since they are there.
fn written(root: &Root, disks: &[DeviceId]) -> u64 {
    disks.iter().filter_map(|disk| observe::written_bytes(root, *disk)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_up_stays_below_the_bound_with_what_goes_with_it() {
        let cameras = Generated::parse("4x1MiB@max", 1).unwrap();
        let frames = frames_within(1 << 30, &cameras);
        assert_eq!(frames, 240);
        // A batch of one such frame has a block more, and a segment of 64 MiB two.
        assert!(4 * frames * ((1 << 20) + 4096 + 128) < 1 << 30);
        assert_eq!(frames_within(1 << 30, &Generated { frames: Some(3), ..cameras }), 3);
    }

    #[test]
    fn a_device_that_is_written_more_than_it_was_given_ends_it_early() {
        let tree = tempfile::tempdir().unwrap();
        let directory = tree.path().join("sys/dev/block/8:0");
        std::fs::create_dir_all(&directory).unwrap();
        let counts = |sectors: u64| {
            std::fs::write(directory.join("stat"), format!("1 0 8 0 1 0 {sectors} 0 0 0 0\n")).unwrap();
        };
        counts(1000);
        let (root, disks) = (Root::new(tree.path()), vec![DeviceId { major: 8, minor: 0 }]);
        let before = written(&root, &disks);
        let bounds = Bounds { most: Some(200 << 20), root, before, disks };
        let mib = |n: u64| n << 20;
        counts(1000 + mib(100) / 512);
        assert!(!bounds.reached(mib(100), mib(99)) && bounds.reached(mib(100), mib(101)));
        assert!(bounds.reached(mib(50), mib(60)), "of each byte it writes two");
        counts(1000 + mib(5000) / 512);
        assert!(!bounds.reached(mib(50), mib(49)) && bounds.reached(mib(50), mib(50)), "others write, too");
        assert!(!Bounds { most: None, ..bounds }.reached(mib(5000), 0));
    }
}
