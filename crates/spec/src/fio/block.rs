//! Block sizes of a job file: the three options that say them, and which of them counts.
//!
//! fio keeps `bs`, `bsrange` and `bssplit` apart, direction by direction: a split counts before a range and a range
//! before a size, wherever they stand; a `bs` below a `bsrange` of `[global]` changes nothing (seen with fio 3.33).

use super::number::{Units, pieces};
use super::supported::triple;
use crate::job_key::{block_size, bytes};
use model::BlockSize;

/// What has been said, each for reads, writes and trims.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    size: [Option<u64>; 3],
    range: [Option<(u64, u64)>; 3],
    split: [Option<BlockSize>; 3],
}

fn positive(text: &str, units: Units) -> Result<u64, String> {
    match units.bytes(text)? {
        0 => Err("a block of 0 bytes".to_owned()),
        bytes => Ok(bytes),
    }
}

impl Blocks {
    /// `bs=4k,8k,16k`.
    pub fn set_size(&mut self, text: &str, units: Units) -> Result<(), String> {
        triple(&mut self.size, text, |part| match pieces(part, ":-").as_slice() {
            [size] => positive(size, units).map(Some),
            _ => Err(format!("'{part}' is not one size; a range belongs to bsrange=MIN-MAX, shares to bssplit")),
        })
    }

    /// `bsrange=1k-4k,2k-8k`.
    pub fn set_range(&mut self, text: &str, units: Units) -> Result<(), String> {
        triple(&mut self.range, text, |part| match pieces(part, ":-").as_slice() {
            [one, other] => {
                let (one, other) = (positive(one, units)?, positive(other, units)?);
                // As fio does: either may come first.
                Ok(Some((one.min(other), one.max(other))))
            }
            _ => Err(format!("'{part}' is no range of sizes: MIN-MAX; one size belongs to bs")),
        })
    }

    /// `bssplit=4k/50:64k/,8k/10:16k/90`.
    pub fn set_split(&mut self, text: &str, units: Units) -> Result<(), String> {
        triple(&mut self.split, text, |part| {
            // The shared grammar reads sizes by a plain function; the units of this file are resolved before.
            let mut plain = Vec::new();
            for entry in pieces(part, ":") {
                match pieces(entry, "/").as_slice() {
                    [size] => plain.push(units.bytes(size)?.to_string()),
                    // To fio, 0 per cent is no share given.
                    [size, "" | "0" | "0%"] => plain.push(format!("{}/", units.bytes(size)?)),
                    [size, share] => plain.push(format!("{}/{share}", units.bytes(size)?)),
                    _ => return Err(format!("'{entry}' is no share: SIZE/PERCENT")),
                }
            }
            block_size(&plain.join(":"), bytes).map(Some)
        })
    }

    /// `--set` says the size, whatever the text does.
    pub fn forget_all_but_sizes(&mut self) {
        self.range = Default::default();
        self.split = Default::default();
    }

    /// `--set` says the range, whatever the text does.
    pub fn forget_splits(&mut self) {
        self.split = Default::default();
    }

    /// What counts, and what is not quite as the text says.
    pub fn resolve(&self) -> ([BlockSize; 3], Vec<String>) {
        let mut notes = Vec::new();
        let sizes = [0, 1, 2].map(|at| match (&self.split[at], self.range[at], self.size[at]) {
            (Some(split), _, _) => split.clone(),
            (None, Some((least, most)), _) if least == most => BlockSize::Fixed { bytes: least },
            (None, Some((min_bytes, most)), _) => {
                let max_bytes = most - most % min_bytes;
                if max_bytes != most {
                    let note = format!(
                        "bsrange: sizes are multiples of the smallest, {min_bytes} bytes, up to {max_bytes} instead of {most}"
                    );
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
                if max_bytes == min_bytes {
                    BlockSize::Fixed { bytes: min_bytes }
                } else {
                    BlockSize::Range { min_bytes, max_bytes, step_bytes: min_bytes }
                }
            }
            (None, None, size) => BlockSize::Fixed { bytes: size.unwrap_or(4096) },
        });
        (sizes, notes)
    }
}
