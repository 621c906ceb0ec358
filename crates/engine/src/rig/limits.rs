//! Limits of a device that may change while it is open: a loop device takes another block size or length (loop(4),
//! LOOP_SET_BLOCK_SIZE, LOOP_SET_CAPACITY), `queue/max_sectors_kb` another value.

use std::fs::File;

/// What a block device takes; `None` where it does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    logical_block_bytes: Option<u64>,
    request_bytes: Option<u64>,
    bytes: Option<u64>,
}

impl Limits {
    pub fn of(device: &File) -> Self {
        Self {
            logical_block_bytes: sys::logical_block_size(device).map(u64::from).ok(),
            request_bytes: sys::max_request_bytes(device).map(u64::from).ok(),
            bytes: sys::device_size(device).ok(),
        }
    }

    /// What is different later, a sentence each.
    pub fn changes(&self, later: &Self) -> Vec<String> {
        let all = [
            ("logical block size", self.logical_block_bytes, later.logical_block_bytes, "; smaller requests fail"),
            ("largest request", self.request_bytes, later.request_bytes, "; larger ones are split from then on"),
            ("size", self.bytes, later.bytes, "; what lies beyond fails"),
        ];
        let sentence = |(what, before, after, then): (&str, Option<u64>, Option<u64>, &str)| {
            let (before, after) = before.zip(after).filter(|(a, b)| a != b)?;
            Some(format!(
                "the device: its {what} changed from {before} to {after} bytes while the phase ran{then}; \
                 find out what changes it, and run again"
            ))
        };
        all.into_iter().filter_map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_and_different_is_a_change() {
        let device = Limits { logical_block_bytes: Some(512), request_bytes: Some(1_310_720), bytes: Some(1 << 30) };
        assert_eq!(device.changes(&device), Vec::<String>::new());
        assert_eq!(device.changes(&Limits { bytes: None, ..device }), Vec::<String>::new());
        let changes = device.changes(&Limits { logical_block_bytes: Some(4096), bytes: Some(1 << 29), ..device });
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert!(changes[0].contains("logical block size changed from 512 to 4096 bytes"), "{changes:?}");
        assert!(changes[1].contains("size changed from 1073741824 to 536870912 bytes"), "{changes:?}");
    }
}
