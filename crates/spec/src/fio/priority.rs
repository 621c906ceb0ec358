//! Priorities of a job file: that of all requests, and those of shares of them.

use super::number::{Units, pieces};
use super::values::{count, percent, triple};
use crate::values::{priority_hint, priority_level};
use model::{IoClass, IoPriority, Operation, PriorityShare};

/// What has been said so far; of shares for reads, writes and trims, which have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Priorities {
    /// `prioclass`, `prio`, `priohint`.
    pub class: Option<IoClass>,
    pub level: Option<u8>,
    pub hint: Option<u16>,
    /// `cmdprio_percentage`, `cmdprio_class`, `cmdprio`, `cmdprio_hint`.
    pub percents: [u32; 3],
    pub classes: [Option<IoClass>; 3],
    pub levels: [u8; 3],
    pub hints: [u16; 3],
    /// `cmdprio_bssplit`: size, per cent, and the priority where it says its own.
    pub splits: [Vec<(u64, u32, Option<IoPriority>)>; 3],
}

/// A class by its number; 0: none.
pub(super) fn class(text: &str, units: Units) -> Result<Option<IoClass>, String> {
    match count(text, units)? {
        0 => Ok(None),
        1 => Ok(Some(IoClass::RealTime)),
        2 => Ok(Some(IoClass::BestEffort)),
        3 => Ok(Some(IoClass::Idle)),
        n => Err(format!("{n} is not a class: 1 real time, 2 best effort, 3 idle")),
    }
}

fn priority(class: IoClass, level: u8, hint: u16) -> IoPriority {
    IoPriority { class, level: if class == IoClass::Idle { 0 } else { level }, hint }
}

/// `64k/25:1m/0`, `64k/25/1/1`, `64k/25/1/1/HINT`.
fn split(text: &str, units: Units) -> Result<Vec<(u64, u32, Option<IoPriority>)>, String> {
    let entry = |entry: &str| {
        let (size, share, own) = match pieces(entry, "/")[..] {
            [size, share] => (size, share, None),
            [size, share, class, level] => (size, share, Some((class, level, "0"))),
            [size, share, class, level, hint] => (size, share, Some((class, level, hint))),
            _ => return Err(format!("'{entry}' is not a share: SIZE/PERCENT, SIZE/PERCENT/CLASS/LEVEL, .../HINT")),
        };
        let own = own.map(|(name, level, hint)| -> Result<IoPriority, String> {
            let class = class(name, units)?.ok_or_else(|| format!("'{entry}': class 0 is that of the job"))?;
            Ok(priority(class, priority_level(level)?, priority_hint(hint)?))
        });
        Ok((units.bytes(size)?, percent(share, units)?, own.transpose()?))
    };
    pieces(text, ":").into_iter().map(entry).collect()
}

impl Priorities {
    /// Reads `cmdprio_bssplit`.
    pub fn set_splits(&mut self, text: &str, units: Units) -> Result<(), String> {
        triple(&mut self.splits, text, |part| split(part, units))
    }

    /// Of all requests that have none of their own.
    pub fn own(&self) -> Option<IoPriority> {
        let said = self.class.is_some() || self.level.is_some() || self.hint.is_some();
        let class = self.class.unwrap_or(IoClass::BestEffort);
        said.then(|| priority(class, self.level.unwrap_or(0), self.hint.unwrap_or(0)))
    }

    /// Of shares of the reads, or of the writes; the highest class where none is said.
    pub fn shares(&self, operation: Operation) -> Result<Vec<PriorityShare>, String> {
        let at = usize::from(operation != Operation::Read);
        let usual = priority(self.classes[at].unwrap_or(IoClass::RealTime), self.levels[at], self.hints[at]);
        if self.percents[at] > 0 && !self.splits[at].is_empty() {
            return Err("and cmdprio_percentage exclude each other".into());
        }
        let whole = (None, self.percents[at], usual);
        let split = self.splits[at].iter().map(|(bytes, percent, own)| (Some(*bytes), *percent, own.unwrap_or(usual)));
        let share = |(block_bytes, percent, priority)| PriorityShare { operation, block_bytes, percent, priority };
        Ok(split.chain([whole]).filter(|(_, percent, _)| *percent > 0).map(share).collect())
    }
}
