//! Whether what is read is real: not holes, not unwritten extents, not constant content.
//!
//! Trimmed areas and thin volumes give zeros at the speed of the bus, holes at the speed of memory.

use model::{DataProof, bytes_text};
use std::fs::File;
use sys::WrittenRange;
use workload::Random;

/// Blocks looked at in one region.
const SAMPLES: u64 = 64;
/// Bytes of each.
const SAMPLE_BYTES: usize = 4096;

/// What a sample of a region showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentSample {
    /// Blocks that were read.
    pub blocks: u32,
    /// Blocks whose bytes are all equal.
    pub constant: u32,
    /// Blocks equal to the first one.
    pub same: u32,
    /// Blocks that could not be read.
    pub failed: u32,
}

/// Looks at blocks spread over a region, through the page cache; what was read is dropped again.
pub(crate) fn sample(file: &File, start: u64, len: u64, seed: u64) -> ContentSample {
    let count = SAMPLES.min(len / SAMPLE_BYTES as u64);
    let mut seen = ContentSample { blocks: 0, constant: 0, same: 0, failed: 0 };
    let Some(stride) = len.checked_div(count) else { return seen };
    // Readahead would read more than a sample; only on a separate opening, because the advice would stay on the target's
    // own description and take readahead from the buffered phases.
    // Without the advice the samples are the same, only more is read.
    let own = sys::reopen(file, false, false).ok().inspect(|own| _ = sys::expect_random(own));
    let file = own.as_ref().unwrap_or(file);
    let slots = (stride / SAMPLE_BYTES as u64).max(1);
    let mut first = None::<Vec<u8>>;
    let mut block = vec![0; SAMPLE_BYTES];
    let mut random = Random::new(seed, 0);
    for i in 0..count {
        let offset = start + i * stride + random.below(slots) * SAMPLE_BYTES as u64;
        match sys::read_at(file, &mut block, offset) {
            Ok(n) if n == SAMPLE_BYTES => {
                seen.blocks += 1;
                seen.constant += u32::from(block.iter().all(|b| *b == block[0]));
                seen.same += u32::from(first.get_or_insert_with(|| block.clone()) == &block);
            }
            _ => seen.failed += 1,
        }
        let _ = sys::drop_cached(file, offset / 65536 * 65536, 2 * 65536);
    }
    seen
}

/// Judges a sample. More than half constant: most of the region was never written. Up to a twentieth: real data have
/// some zeros. Between: cannot be told.
pub(crate) fn judge_sample(s: ContentSample) -> DataProof {
    let ContentSample { blocks, constant, same, failed } = s;
    if blocks == 0 {
        return DataProof::Unknown(format!("no block could be sampled ({failed} failed)"));
    }
    let basis = format!("{constant} of {blocks} sampled blocks are constant");
    if constant == blocks || (same == blocks && blocks > 1) {
        DataProof::NotReal(format!(
            "constant data: {basis}, {same} are all the same; the area is trimmed or was never written"
        ))
    } else if constant * 2 > blocks {
        DataProof::NotReal(format!("mostly constant data: {basis}; most of the area is trimmed or was never written"))
    } else if constant * 20 > blocks {
        DataProof::Unknown(format!("{basis}: parts of the area may be trimmed or never written"))
    } else {
        DataProof::Real(basis)
    }
}

/// Judges the extents of a region of `len` bytes that somebody else wrote. Up to one part in a hundred may be missing.
pub(crate) fn judge_extents(w: WrittenRange, len: u64) -> DataProof {
    let missing = w.hole_bytes + w.unwritten_bytes;
    let source = if w.extents.is_some() { "FIEMAP" } else { "SEEK_HOLE" };
    if missing * 100 > len {
        DataProof::NotReal(format!(
            "{source}: {} of {} are holes, {} are unwritten extents",
            bytes_text(w.hole_bytes),
            bytes_text(len),
            bytes_text(w.unwritten_bytes)
        ))
    } else if w.extents.is_none() {
        DataProof::Unknown("SEEK_HOLE shows no holes; unwritten extents are not visible".into())
    } else {
        DataProof::Real(format!(
            "{source}: {} of {} lie in written extents",
            bytes_text(w.written_bytes),
            bytes_text(len)
        ))
    }
}

/// Judges what this run wrote itself and FIEMAP then shows (`None`: the file system does not tell).
pub(crate) fn judge_own(w: Option<WrittenRange>, len: u64) -> DataProof {
    match w {
        Some(w) if w.extents.is_some() && (w.hole_bytes + w.unwritten_bytes) * 100 > len => judge_extents(w, len),
        Some(w) if w.extents.is_some() => {
            DataProof::Real(format!("written by this run; FIEMAP: {} in written extents", bytes_text(w.written_bytes)))
        }
        _ => DataProof::Real("written by this run".into()),
    }
}

/// Adds a remark to the basis.
pub(crate) fn remark(mut proof: DataProof, text: &str) -> DataProof {
    let (DataProof::Real(basis) | DataProof::NotReal(basis) | DataProof::Unknown(basis)) = &mut proof;
    *basis = format!("{basis}; {text}");
    proof
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    fn file_of(block: impl Fn(usize) -> Vec<u8>) -> File {
        let file = tempfile::tempfile().unwrap();
        for i in 0..256 {
            file.write_all_at(&block(i), i as u64 * 4096).unwrap();
        }
        file
    }

    fn varied(i: usize) -> Vec<u8> {
        (0..4096usize).map(|k| (k * 31 + i * 7) as u8).collect()
    }

    #[test]
    fn varied_content_is_real() {
        let s = sample(&file_of(varied), 0, 1 << 20, 1);
        assert_eq!((s.blocks, s.constant, s.failed), (64, 0, 0));
        assert!(matches!(judge_sample(s), DataProof::Real(_)));
    }

    #[test]
    fn constant_and_repeated_content_is_not() {
        for file in [file_of(|_| vec![0; 4096]), file_of(|i| vec![i as u8; 4096]), file_of(|_| varied(0))] {
            assert!(matches!(judge_sample(sample(&file, 0, 1 << 20, 1)), DataProof::NotReal(_)));
        }
    }

    #[test]
    fn mixed_content_is_judged_by_its_share() {
        let s = |constant| ContentSample { blocks: 64, constant, same: 1, failed: 0 };
        assert!(matches!(judge_sample(s(40)), DataProof::NotReal(_)));
        assert!(matches!(judge_sample(s(10)), DataProof::Unknown(_)));
        assert!(matches!(judge_sample(s(2)), DataProof::Real(_)));
        assert!(matches!(
            judge_sample(ContentSample { blocks: 0, constant: 0, same: 0, failed: 64 }),
            DataProof::Unknown(_)
        ));
    }

    #[test]
    fn holes_are_not_real() {
        let w = WrittenRange { written_bytes: 50, hole_bytes: 50, extents: Some(1), ..WrittenRange::default() };
        assert!(matches!(judge_extents(w, 100), DataProof::NotReal(_)));
        assert!(matches!(judge_own(Some(w), 100), DataProof::NotReal(_)));
        let w = WrittenRange { written_bytes: 100, extents: Some(1), ..WrittenRange::default() };
        assert!(matches!(judge_extents(w, 100), DataProof::Real(_)));
        assert!(matches!(judge_extents(WrittenRange { extents: None, ..w }, 100), DataProof::Unknown(_)));
    }

    #[test]
    fn a_region_smaller_than_a_block_is_unknown() {
        let s = sample(&tempfile::tempfile().unwrap(), 0, 100, 1);
        assert!(matches!(judge_sample(s), DataProof::Unknown(_)));
    }
}
