//! What blktrace writes: events of the block layer in records of 48 bytes (include/uapi/linux/blktrace_api.h), one file for each
//! processor, or one of all by `blkparse -d`. They become the text that blkparse makes of them.

use std::fmt::Write;

/// Bytes of a record, before what belongs to it.
const RECORD: usize = 48;
/// BLK_IO_TRACE_MAGIC and BLK_IO_TRACE_VERSION.
const MAGIC: u32 = 0x6561_7407;
/// Actions that are told: what was queued, and what was handed to the driver (__BLK_TA_QUEUE, __BLK_TA_ISSUE).
const ACTIONS: [(u32, char); 2] = [(1, 'Q'), (7, 'D')];
/// Bits of what an action is of (BLK_TC_*).
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const SYNC: u32 = 1 << 3;
const OTHER_COMMAND: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const AHEAD: u32 = 1 << 11;
const META: u32 = 1 << 12;
const DISCARD: u32 = 1 << 13;
const FUA: u32 = 1 << 15;

fn number(bytes: &[u8], at: usize, swapped: bool) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).unwrap_or([0; 4]);
    if swapped { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
}

fn long(bytes: &[u8], at: usize, swapped: bool) -> u64 {
    let first = number(bytes, at, swapped).into();
    let second = number(bytes, at + 4, swapped).into();
    let (low, high): (u64, u64) = if swapped { (second, first) } else { (first, second) };
    high << 32 | low
}

/// Whether it is written by a machine of the other byte order; `None` where it is no record.
fn swapped(bytes: &[u8]) -> Option<bool> {
    [false, true].into_iter().find(|swapped| bytes.len() >= 4 && number(bytes, 0, *swapped) == MAGIC)
}

/// Whether bytes are those of blktrace.
pub fn is_blktrace(bytes: &[u8]) -> bool {
    swapped(bytes).is_some()
}

/// What blkparse says of how a request moves data.
fn kinds(of: u32, bytes: u32) -> String {
    let has = |bit: u32| of & bit != 0;
    let way = match () {
        () if has(DISCARD) => 'D',
        () if has(WRITE) => 'W',
        () if bytes > 0 => 'R',
        () => 'N',
    };
    let after = [(FUA, 'F'), (AHEAD, 'A'), (SYNC, 'S'), (META, 'M')];
    let after = after.into_iter().filter(|(bit, _)| has(*bit)).map(|(_, letter)| letter);
    has(FLUSH).then_some('F').into_iter().chain([way]).chain(after).collect()
}

/// The text that blkparse makes of the files of all processors, in the order of time. A last record that is cut off stays a cut off line.
///
/// # Errors
/// Where a file holds something else, and what.
pub fn blktrace_text(files: &[Vec<u8>]) -> Result<String, String> {
    let mut events = Vec::new();
    let mut is_cut = false;
    for (place, file) in files.iter().enumerate() {
        let mut at = 0;
        while at < file.len() {
            let record = &file[at..];
            if record.len() < RECORD {
                is_cut = true;
                break;
            }
            let Some(swapped) = swapped(record) else {
                return Err(format!("byte {at} of file {} begins no record of blktrace", place + 1));
            };
            let (word, long) = (|at| number(record, at, swapped), |at| long(record, at, swapped));
            let action = word(28);
            let name = ACTIONS.iter().find(|(number, _)| *number == action & 0xffff).map(|(_, name)| *name);
            if let Some(name) = name.filter(|_| (action >> 16) & (NOTIFY | OTHER_COMMAND) == 0) {
                events.push((long(8), word(4), name, action >> 16, long(16), word(24), word(36), word(32)));
            }
            // Two numbers of 16 bits: the error, and how many bytes more belong to the record.
            let more = if swapped { word(44) & 0xffff } else { word(44) >> 16 };
            at += RECORD + more as usize;
        }
    }
    events.sort_unstable();
    let first: u64 = events.first().map_or(0, |(time, ..)| *time);
    let mut text = String::with_capacity(events.len() * 56);
    for (time, sequence, name, of, sector, bytes, device, pid) in events {
        let seconds = (time - first) / 1_000_000_000;
        let part = (time - first) % 1_000_000_000;
        let (major, minor) = (device >> 20, device & 0xf_ffff);
        let _ = write!(text, "{major},{minor} 0 {sequence} {seconds}.{part:09} {pid} {name} {}", kinds(of, bytes));
        let _ = if bytes > 0 { writeln!(text, " {sector} + {}", bytes / 512) } else { writeln!(text) };
    }
    if is_cut {
        text.push_str("cut");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with what belongs to it.
    fn record(big: bool, time: u64, action: u32, bytes: u32, more: &[u8]) -> Vec<u8> {
        let four = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let eight = |n: u64| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let two = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        [
            &four(MAGIC)[..],
            &four(7),
            &eight(time),
            &eight(5_000_000_000),
            &four(bytes),
            &four(action),
            &four(99),
            &four(259 << 20 | 3),
            &four(1),
            &two(0),
            &two(more.len() as u16),
            more,
        ]
        .concat()
    }

    #[test]
    fn files_of_processors_are_put_together_and_told_as_blkparse_tells_them() {
        for big in [false, true] {
            let read = record(big, 1_000_000_005, (1 | SYNC | 1 << 4) << 16 | 1, 4096, b"");
            let name = record(big, 1, NOTIFY << 16, 0, b"fio\0");
            let write = record(big, 999, (WRITE | FUA | FLUSH) << 16 | 1, 8192, b"abc");
            let given = record(big, 1_000_000_009, 1 << 16 | 7, 4096, b"");
            let flush = record(big, 2_000_000_000, (WRITE | FLUSH) << 16 | 1, 0, b"");
            let done = record(big, 2_000_000_001, 1 << 16 | 8, 4096, b"");
            let files = [[name, read.clone(), given].concat(), [write, flush, done, read[..40].to_vec()].concat()];
            assert!(files.iter().all(|file| is_blktrace(file)));
            let text = blktrace_text(&files).unwrap();
            assert_eq!(
                text,
                "259,3 0 7 0.000000000 99 Q FWF 5000000000 + 16\n259,3 0 7 0.999999006 99 Q RS 5000000000 + 8\n\
                 259,3 0 7 0.999999010 99 D R 5000000000 + 8\n259,3 0 7 1.999999001 99 Q FW\ncut"
            );
            assert!(crate::is_trace(&text));
        }
    }

    #[test]
    fn what_is_something_else_is_said() {
        assert!(!is_blktrace(b"259,3 0 7") && !is_blktrace(b"") && !is_blktrace(&[7; 2]));
        let file = [record(false, 1, 1 << 16 | 1, 512, b""), vec![1; 60]].concat();
        assert_eq!(blktrace_text(&[file]).unwrap_err(), "byte 48 of file 1 begins no record of blktrace");
        let discard = record(false, 1, (WRITE | DISCARD) << 16 | 1, 512, b"");
        assert!(blktrace_text(&[discard]).unwrap().contains(" Q D 5000000000 + 1\n"));
    }
}
