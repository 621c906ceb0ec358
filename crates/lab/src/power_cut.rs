//! A power cut, many times: what a guest wrote through dm-log-writes is replayed up to a point onto an empty image, and a
//! guest that starts with this image must find what was acknowledged before the point.
//!
//! Killing the emulator would not do: what the guest wrote is in the host's cache by then. The log has the writes in the
//! order in which a device could have lost them: those that no flush has followed come after what was marked meanwhile
//! (Documentation/admin-guide/device-mapper/log-writes.rst).

use super::initrd::GuestJob;
use super::interrupts;
use super::machine::{Machine, PowerCut};
use super::scratch::Scratch;
use super::session::{Lab, Prepared};
use super::session_options::SessionOptions;
use anyhow::{Context, bail, ensure};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// First eight bytes of a log (drivers/md/dm-log-writes.c, WRITE_LOG_MAGIC).
const MAGIC: u64 = 0x006a_7366_7773_6872;

/// Flags of an entry (the same file).
const DISCARD: u64 = 1 << 2;
const MARK: u64 = 1 << 3;

/// What a guest marks when something was acknowledged to it.
const ACKNOWLEDGED: &str = "acknowledged";

/// One write of the log, or a mark in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// Where on the device, in bytes.
    offset: u64,
    /// How much, in bytes.
    length: u64,
    /// Where the data are in the log; `None` for marks, discards and bare flushes.
    data_at: Option<u64>,
    /// Text of a mark.
    mark: Option<String>,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).map_or(0, |b| b.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Reads a log.
///
/// # Errors
/// It is none, or ends in the middle of an entry.
fn entries(log: &mut (impl Read + Seek)) -> anyhow::Result<Vec<Entry>> {
    let mut head = [0; 32];
    log.seek(SeekFrom::Start(0)).and_then(|_| log.read_exact(&mut head)).context("the log cannot be read")?;
    ensure!(number(&head, 0) == MAGIC, "there is no log of dm-log-writes: was the mapping removed?");
    let count = number(&head, 16);
    let sector = number(&head, 24) & 0xffff_ffff;
    ensure!((512..=65_536).contains(&sector), "the log's sectors have {sector} bytes");
    let mut at = sector;
    let mut found = Vec::new();
    for i in 0..count {
        let mut block = vec![0; usize::try_from(sector).context("a sector")?];
        log.seek(SeekFrom::Start(at)).and_then(|_| log.read_exact(&mut block)).with_context(|| {
            format!("the log ends before its entry {i} of {count}; its image is too small for what was written")
        })?;
        let length = number(&block, 8).saturating_mul(sector);
        let flags = number(&block, 16);
        let text_length = usize::try_from(number(&block, 24)).unwrap_or(0).min(block.len() - 32);
        let mark = (flags & MARK != 0).then(|| String::from_utf8_lossy(&block[32..32 + text_length]).into_owned());
        at += sector;
        let has_data = flags & (DISCARD | MARK) == 0 && length > 0;
        found.push(Entry {
            offset: number(&block, 0).saturating_mul(sector),
            length,
            data_at: has_data.then_some(at),
            mark,
        });
        if has_data {
            at = at.checked_add(length).context("the log is damaged")?;
        }
    }
    Ok(found)
}

/// Carries the first writes of a log out on a device.
fn replay(log: &mut (impl Read + Seek), entries: &[Entry], device: &mut (impl Write + Seek)) -> std::io::Result<()> {
    for entry in entries {
        let Some(data_at) = entry.data_at else { continue };
        log.seek(SeekFrom::Start(data_at))?;
        device.seek(SeekFrom::Start(entry.offset))?;
        std::io::copy(&mut log.take(entry.length), device)?;
    }
    Ok(())
}

fn is_acknowledged(entry: &Entry) -> bool {
    entry.mark.as_deref().is_some_and(|mark| mark.trim_end_matches('\0') == ACKNOWLEDGED)
}

/// Points at which the power is cut, as numbers of entries: right behind each acknowledgement, and in the middle of what
/// goes before it.
fn cuts(entries: &[Entry]) -> Vec<usize> {
    let marks = entries.iter().enumerate().filter(|(_, e)| is_acknowledged(e)).map(|(i, _)| i + 1);
    let mut cuts = Vec::new();
    let mut last = 0;
    for mark in marks {
        // The first stretch makes the file system, and before it nothing was promised.
        if last > 0 {
            cuts.push(last + (mark - last) / 2);
        }
        cuts.push(mark);
        last = mark;
    }
    cuts
}

/// Has a machine write, cuts its power at each point, and says what was not as it should be; how many points there were.
///
/// # Errors
/// A guest failed, or the log cannot be replayed.
pub fn run(lab: &Lab, prepared: &Prepared, machine: &Machine, cut: &PowerCut) -> anyhow::Result<(usize, Vec<String>)> {
    let work = Scratch::new(&lab.directory.join("work"), &format!("{}-power", machine.name))?;
    let at = |name: &str| work.path().join(name);
    let mut options = SessionOptions::default();
    options.images.insert(cut.disk.clone(), at("disk"));
    options.images.insert(cut.log.clone(), at("log"));
    let outcome = lab.run(prepared, &GuestJob::script(cut.command.clone()), &options)?;
    if outcome.exit != 0 {
        let said = outcome.text("stderr");
        bail!("what the power is cut of ended with {}: {}", outcome.exit, said.lines().last().unwrap_or("no word"));
    }
    let mut log = File::open(at("log")).context("cannot open the log")?;
    let entries = entries(&mut log)?;
    let size = fs::metadata(at("disk")).context("the disk's image")?.len();
    let cuts = cuts(&entries);
    ensure!(!cuts.is_empty(), "nothing was acknowledged: dmsetup message NAME 0 mark {ACKNOWLEDGED}");
    let mut wrong = Vec::new();
    options.images.remove(&cut.log);
    options.images.insert(cut.disk.clone(), at("after"));
    for (i, point) in cuts.iter().enumerate() {
        interrupts::check()?;
        restore(&mut log, &entries[..*point], &at("after"), size)?;
        let acknowledged = entries[..*point].iter().filter(|e| is_acknowledged(e)).count();
        let job = GuestJob::script(format!("ACKNOWLEDGED={acknowledged}\n{}", cut.after));
        let outcome = lab.run(prepared, &job, &options)?;
        if outcome.exit != 0 {
            let said = [outcome.text("stderr"), outcome.text("stdout")].concat();
            let said: Vec<&str> = said.lines().take(5).collect();
            wrong.push(format!(
                "power cut {} of {}, after {point} of {} writes, {acknowledged} acknowledged: exit code {}: {}",
                i + 1,
                cuts.len(),
                entries.len(),
                outcome.exit,
                said.join("; ")
            ));
        }
    }
    Ok((cuts.len(), wrong))
}

/// The device as the cut left it.
fn restore(log: &mut File, entries: &[Entry], image: &Path, size: u64) -> anyhow::Result<()> {
    let mut device = File::create(image).with_context(|| format!("cannot create {}", image.display()))?;
    device.set_len(size).and_then(|()| replay(log, entries, &mut device)).context("the log cannot be replayed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A log with sectors of 512 bytes: (sector, data, flags), or a mark.
    fn log(parts: &[(u64, &[u8], u64)]) -> Vec<u8> {
        let mut bytes = vec![0; 512];
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8] = 1;
        bytes[16] = parts.len() as u8;
        bytes[24..28].copy_from_slice(&512u32.to_le_bytes());
        for (sector, data, flags) in parts {
            let mut block = vec![0; 512];
            let is_mark = flags & MARK != 0;
            let sectors = if is_mark { 0 } else { data.len() as u64 / 512 };
            let text = if is_mark { data.len() as u64 } else { 0 };
            for (i, value) in [*sector, sectors, *flags, text].iter().enumerate() {
                block[i * 8..i * 8 + 8].copy_from_slice(&value.to_le_bytes());
            }
            if is_mark {
                block[32..32 + data.len()].copy_from_slice(data);
            }
            bytes.extend_from_slice(&block);
            if flags & (MARK | DISCARD) == 0 {
                bytes.extend_from_slice(data);
            }
        }
        bytes
    }

    #[test]
    fn a_log_is_replayed_up_to_the_cut() {
        let mark = ACKNOWLEDGED.as_bytes();
        let (one, two, three) = ([1; 512], [2; 1024], [3; 512]);
        let parts: [(u64, &[u8], u64); 6] =
            [(0, &one, 0), (0, mark, MARK), (1, &two, 1), (0, &[], 1), (2, &three, DISCARD), (0, mark, MARK)];
        let mut log = Cursor::new(log(&parts));
        let entries = entries(&mut log).expect("a log");
        assert_eq!(entries.len(), 6);
        assert_eq!(cuts(&entries), [2, 4, 6]);
        let mut device = Cursor::new(vec![0; 2048]);
        replay(&mut log, &entries[..2], &mut device).expect("replayed");
        assert!(device.get_ref()[..512].iter().all(|b| *b == 1) && device.get_ref()[512..].iter().all(|b| *b == 0));
        replay(&mut log, &entries, &mut device).expect("replayed");
        assert!(
            device.get_ref()[512..1536].iter().all(|b| *b == 2) && device.get_ref()[1536..].iter().all(|b| *b == 0)
        );
    }

    #[test]
    fn what_is_no_log_and_a_log_that_was_cut_short_are_refused() {
        assert!(entries(&mut Cursor::new(vec![0; 4096])).is_err());
        let whole = log(&[(0, &[1; 512], 0), (1, &[2; 512], 0)]);
        let error = entries(&mut Cursor::new(&whole[..1400])).expect_err("too short").to_string();
        assert!(error.contains("too small"), "{error}");
    }
}
