//! Several files as one range of addresses, so that an operation needs no more than an offset.

use model::BlockStream;

/// The files of a stream one behind the other, each in a part of equal length. A stream without files of its own has one
/// part, whose addresses are the target's offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpace {
    span: u64,
}

impl FileSpace {
    /// The files of a plan's stream.
    pub fn of(plan: BlockStream<'_>) -> Self {
        let files = plan.block.files.len();
        Self { span: if files > 1 { plan.block.region_end().max(1) } else { u64::MAX } }
    }

    /// Of the target itself.
    pub fn alone() -> Self {
        Self { span: u64::MAX }
    }

    /// Whether the last byte of `files` files still has an address.
    pub fn holds(&self, files: usize) -> bool {
        files <= 1 || self.span.checked_mul(files as u64).is_some()
    }

    /// The address of an offset in a file.
    #[inline]
    pub fn address(&self, file: usize, offset: u64) -> u64 {
        if file == 0 { offset } else { self.span.saturating_mul(file as u64).saturating_add(offset) }
    }

    /// The file, and the offset in it, of an address.
    #[inline]
    pub fn locate(&self, address: u64) -> (usize, u64) {
        ((address / self.span) as usize, address % self.span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BlockPlan, StreamPlan};

    #[test]
    fn addresses_lead_back() {
        let files: Vec<String> = ["a", "b", "c"].map(String::from).into();
        let plan = StreamPlan {
            kind: BlockPlan { region_start_bytes: 4096, region_bytes: 8192, files, ..BlockPlan::default() }.into(),
            ..StreamPlan::default()
        };
        let space = FileSpace::of(plan.blocks().unwrap());
        assert!(space.holds(3));
        for (file, offset) in [(0, 4096), (1, 4096), (2, 12_287), (2, 0)] {
            assert_eq!(space.locate(space.address(file, offset)), (file, offset));
        }
        let alone = FileSpace::of(
            StreamPlan { kind: BlockPlan { files: Vec::new(), ..plan.blocks().unwrap().block.clone() }.into(), ..plan }
                .blocks()
                .unwrap(),
        );
        assert_eq!(alone.locate(alone.address(0, u64::MAX - 1)), (0, u64::MAX - 1));
    }
}
