//! Block sizes of a job file: the three options that say them, and which of them counts.
//!
//! fio keeps `bs`, `bsrange` and `bssplit` apart, direction by direction: a split counts before a range and a range
//! before a size, wherever they stand; a `bs` below a `bsrange` of `[global]` changes nothing (seen with fio 3.33).

use super::number::{Units, pieces};
use super::values::triple;
use crate::values::block_size;
use model::{BlockSize, BlockSizes};

/// Which option says a size; a later one of these counts before an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SizeOption {
    /// `bs=4k,8k,16k`.
    Size,
    /// `bsrange=1k-4k,2k-8k`.
    Range,
    /// `bssplit=4k/50:64k/,8k/10:16k/90`.
    Split,
}

/// What has been said by each option, for reads, writes and trims.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks([[Option<BlockSize>; 3]; 3]);

impl Blocks {
    /// Reads an option; what is not quite as it says.
    pub fn set(&mut self, by: SizeOption, text: &str, units: Units) -> Result<Option<String>, String> {
        let mut note = None;
        triple(&mut self.0[by as usize], text, |part| {
            let plain = plain(by, part, units)?;
            let size = block_size(&plain)?;
            let (least, most) = (size.min_bytes(), size.max_bytes());
            if let Some((_, asked)) = plain.split_once('-').filter(|(_, asked)| *asked != most.to_string()) {
                note = Some(format!("multiples of the smallest, {least} bytes, up to {most} instead of {asked}"));
            }
            Ok(Some(size))
        })?;
        Ok(note.map(|note| format!(": sizes are {note}")))
    }

    /// The command line says it by this option, whatever the text says by those that count before it.
    pub fn forget_beyond(&mut self, by: SizeOption) {
        self.0[by as usize + 1..].fill(Default::default());
    }

    /// The sizes that apply, by the precedence of the options.
    pub fn resolve(&self) -> BlockSizes {
        let of = |at: usize| self.0.iter().rev().find_map(|said| said[at].clone()).unwrap_or_default();
        BlockSizes { read: of(0), write: of(1), trim: of(2) }
    }
}

/// The text in the language of [`block_size`], which knows neither the units of this file nor its arithmetic.
fn plain(by: SizeOption, text: &str, units: Units) -> Result<String, String> {
    match (by, pieces(text, ":-").as_slice()) {
        (SizeOption::Size, [size]) => units.plain(size),
        (SizeOption::Size, _) => {
            Err(format!("'{text}' is not one size; a range belongs to bsrange=MIN-MAX, shares to bssplit"))
        }
        (SizeOption::Range, [one, other]) => {
            // As fio does: either may come first.
            let (one, other) = (units.bytes(one)?, units.bytes(other)?);
            Ok(format!("{}-{}", one.min(other), one.max(other)))
        }
        (SizeOption::Range, _) => Err(format!("'{text}' is not a range of sizes: MIN-MAX; one size belongs to bs")),
        (SizeOption::Split, _) => {
            let share = |entry: &str| match pieces(entry, "/").as_slice() {
                [size] => units.plain(size),
                // To fio, 0 per cent is no share given.
                [size, "" | "0" | "0%"] => Ok(units.plain(size)? + "/"),
                // fio leaves out what stands behind the point.
                [size, share] => Ok(format!("{}/{}", units.plain(size)?, share.split('.').next().unwrap_or(share))),
                _ => Err(format!("'{entry}' is not a share: SIZE/PERCENT")),
            };
            let entries = pieces(text, ":").into_iter().map(share).collect::<Result<Vec<_>, String>>()?;
            Ok(whole(entries).join(":"))
        }
    }
}

/// Shares that sum to less than 100 without one that is left out: the rest falls to the largest, of several to the last
/// (counted with fio 3.33).
fn whole(mut entries: Vec<String>) -> Vec<String> {
    let share =
        |entry: &String| entry.split_once('/').and_then(|(_, share)| share.trim_end_matches('%').parse::<u32>().ok());
    let given: Option<Vec<u32>> = entries.iter().map(share).collect();
    let Some(given) = given else { return entries };
    let rest = 100u32.saturating_sub(given.iter().fold(0, |sum, share| sum.saturating_add(*share)));
    if let Some((at, most)) = given.iter().enumerate().max_by_key(|(_, share)| **share).filter(|_| rest > 0)
        && let Some((size, _)) = entries[at].split_once('/')
    {
        entries[at] = format!("{size}/{}", most + rest);
    }
    entries
}
