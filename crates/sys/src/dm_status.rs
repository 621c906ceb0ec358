//! What the targets of a device-mapper device are, and what they say of themselves (k:include/uapi/linux/dm-ioctl.h, DM_TABLE_STATUS).
//! Nothing is changed, and nothing is flushed for it.
#![allow(unsafe_code)]

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use std::fs::File;
use std::io;

/// struct dm_ioctl.
#[repr(C)]
#[derive(Clone, Copy)]
struct Head {
    version: [u32; 3],
    data_size: u32,
    data_start: u32,
    target_count: u32,
    open_count: i32,
    flags: u32,
    event: u32,
    padding: u32,
    device: u64,
    name: [u8; 128],
    uuid: [u8; 129],
    data: [u8; 7],
}

const HEAD_BYTES: usize = size_of::<Head>();
const _: () = assert!(HEAD_BYTES == 312);

/// Room for what the targets say.
const ROOM: usize = 16 << 10;

#[repr(C)]
struct TableRequest {
    head: Head,
    room: [u8; ROOM],
}

/// _IOWR(DM_IOCTL, DM_TABLE_STATUS_CMD, struct dm_ioctl).
const DM_TABLE_STATUS: Opcode = opcode::read_write::<Head>(0xfd, 12);
/// DM_BUFFER_FULL_FLAG.
const FULL: u32 = 1 << 8;
/// DM_STATUS_TABLE_FLAG.
const TABLE: u32 = 1 << 4;
/// DM_NOFLUSH_FLAG.
const WITHOUT_FLUSH: u32 = 1 << 11;
/// Bytes of struct dm_target_spec: start and length u64, status i32, next u32, a name of 16 bytes.
const SPEC_BYTES: usize = 40;

/// A target: which sectors of 512 bytes of the mapping it serves, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DmTarget {
    pub start_sector: u64,
    pub sectors: u64,
    /// `linear`, `crypt`.
    pub kind: String,
    /// Its status, or its line of the table without the first three words.
    pub text: String,
}

/// Of each target of the device of this number its status, in the order of the table. `control` is `/dev/mapper/control`.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN, ENXIO where there is no such device.
pub fn dm_table_status(control: &File, device: (u32, u32)) -> io::Result<Vec<DmTarget>> {
    ask(control, device, WITHOUT_FLUSH)
}

/// The same with what each target was made with. **The key of a `crypt` target may be among that**: ask for the status first, and for
/// this only where no target is of a kind that has a key.
///
/// # Errors
/// As of [`dm_table_status`].
pub fn dm_table(control: &File, device: (u32, u32)) -> io::Result<Vec<DmTarget>> {
    ask(control, device, WITHOUT_FLUSH | TABLE)
}

fn ask(control: &File, (major, minor): (u32, u32), flags: u32) -> io::Result<Vec<DmTarget>> {
    // huge_encode_dev (k:include/linux/kdev_t.h).
    let device = u64::from(minor & 0xff) | u64::from(major) << 8 | u64::from(minor & !0xff) << 12;
    let head = Head {
        version: [4, 0, 0],
        data_size: (HEAD_BYTES + ROOM) as u32,
        data_start: HEAD_BYTES as u32,
        target_count: 0,
        open_count: 0,
        flags,
        event: 0,
        padding: 0,
        device,
        name: [0; 128],
        uuid: [0; 129],
        data: [0; 7],
    };
    let mut asked = Box::new(TableRequest { head, room: [0; ROOM] });
    // SAFETY: the ioctl reads and writes at most `data_size` bytes from the start of the structure, which has that many; all bit
    // patterns are valid values.
    unsafe { ioctl(control, Updater::<DM_TABLE_STATUS, TableRequest>::new(&mut asked))? };
    if asked.head.flags & FULL != 0 {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let start = (asked.head.data_start as usize).checked_sub(HEAD_BYTES).ok_or(io::ErrorKind::InvalidData)?;
    Ok(targets(asked.room.get(start..).unwrap_or_default(), asked.head.target_count))
}

/// What lies behind one another: a specification and a text, the next at `next` from the start of all.
fn targets(room: &[u8], count: u32) -> Vec<DmTarget> {
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    };
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        let Some(spec) = room.get(at..at + SPEC_BYTES) else { break };
        let wide = |at: usize| spec[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        let next = u32::from_ne_bytes([spec[20], spec[21], spec[22], spec[23]]) as usize;
        let end = if next > at { next.min(room.len()) } else { room.len() };
        found.push(DmTarget {
            start_sector: wide(0),
            sectors: wide(8),
            kind: text(&spec[24..]),
            text: text(room.get(at + SPEC_BYTES..end).unwrap_or_default()),
        });
        if next <= at {
            break;
        }
        at = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_kernels() {
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64", target_arch = "arm")) {
            assert_eq!(DM_TABLE_STATUS, 0xc138_fd0c);
        }
    }

    #[test]
    fn targets_lie_behind_one_another() {
        let mut room = vec![0; 256];
        room[20..24].copy_from_slice(&64u32.to_ne_bytes());
        room[24..33].copy_from_slice(b"integrity");
        room[40..52].copy_from_slice(b"3 2032 - \0xx");
        room[84..88].copy_from_slice(&128u32.to_ne_bytes());
        room[88..94].copy_from_slice(b"linear");
        room[8..16].copy_from_slice(&2048u64.to_ne_bytes());
        room[64..72].copy_from_slice(&2048u64.to_ne_bytes());
        let is = |start_sector, sectors, kind: &str, text: &str| DmTarget {
            start_sector,
            sectors,
            kind: kind.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(targets(&room, 2), [is(0, 2048, "integrity", "3 2032 - "), is(2048, 0, "linear", "")]);
        // Whatever a damaged answer says, reading ends.
        assert_eq!(targets(&room[..30], 2), []);
        assert_eq!(targets(&[0; 64], 9).len(), 1);
    }
}
