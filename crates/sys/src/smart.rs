//! Questions to an ATA disk that change nothing: CHECK POWER MODE, IDENTIFY DEVICE, SMART READ DATA and SMART RETURN STATUS
//! (ATA/ATAPI Command Set 3, 7.2, 7.13, 7.53), through ATA PASS-THROUGH (16) (SCSI/ATA Translation 4, 12.2) and SG_IO
//! (k:include/scsi/sg.h). No other command can be sent from here.
#![allow(unsafe_code)]

use rustix::ioctl::{Opcode, Updater, ioctl};
use std::ffi::c_void;
use std::fs::File;
use std::io;

/// One block of an answer.
pub const ATA_BLOCK_BYTES: usize = 512;

const SG_IO: Opcode = 0x2285;
const DIRECTION_NONE: i32 = -1;
const DIRECTION_FROM_DEVICE: i32 = -3;
const SENSE_BYTES: usize = 32;
const TIMEOUT_MS: u32 = 5_000;

const ATA_PASS_THROUGH_16: u8 = 0x85;
const PROTOCOL_NO_DATA: u8 = 3 << 1;
const PROTOCOL_PIO_IN: u8 = 4 << 1;
/// Transfer from the device, counted in blocks, by the count field.
const TRANSFER_IN_BLOCKS: u8 = 0x0e;
/// Answer with the registers in any case.
const CHECK_CONDITION: u8 = 0x20;

const CHECK_POWER_MODE: u8 = 0xe5;
const IDENTIFY_DEVICE: u8 = 0xec;
const SMART: u8 = 0xb0;
const SMART_READ_DATA: u8 = 0xd0;
const SMART_RETURN_STATUS: u8 = 0xda;
/// The key that SMART commands carry in LBA mid and high.
const SMART_KEY: (u8, u8) = (0x4f, 0xc2);
const SMART_FAILING: (u8, u8) = (0xf4, 0x2c);

/// `struct sg_io_hdr`.
#[repr(C)]
struct Header {
    interface: i32,
    direction: i32,
    command_length: u8,
    sense_room: u8,
    vectors: u16,
    data_length: u32,
    data: *mut c_void,
    command: *mut u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: *mut c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

const _: () = assert!(size_of::<Header>() == if size_of::<usize>() == 8 { 88 } else { 64 });

/// Registers after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Registers {
    count: u8,
    lba_mid: u8,
    lba_high: u8,
}

/// From sense data in descriptor or fixed format (SAT-4 12.2.5 and 12.2.6).
fn registers(sense: &[u8; SENSE_BYTES]) -> Option<Registers> {
    match sense[0] & 0x7f {
        0x72 if sense[8] == 0x09 => Some(Registers { count: sense[13], lba_mid: sense[17], lba_high: sense[19] }),
        0x70 => Some(Registers { count: sense[6], lba_mid: sense[10], lba_high: sense[11] }),
        _ => None,
    }
}

fn command(disk: &File, feature: u8, code: u8, data: &mut [u8]) -> io::Result<[u8; SENSE_BYTES]> {
    let with_data = !data.is_empty();
    let (mid, high) = if code == SMART { SMART_KEY } else { (0, 0) };
    let mut block = [0u8; 16];
    block[0] = ATA_PASS_THROUGH_16;
    block[1] = if with_data { PROTOCOL_PIO_IN } else { PROTOCOL_NO_DATA };
    block[2] = if with_data { TRANSFER_IN_BLOCKS } else { CHECK_CONDITION };
    block[4] = feature;
    block[6] = u8::from(with_data);
    block[10] = mid;
    block[12] = high;
    block[14] = code;
    let mut sense = [0; SENSE_BYTES];
    let mut header = Header {
        interface: i32::from(b'S'),
        direction: if with_data { DIRECTION_FROM_DEVICE } else { DIRECTION_NONE },
        command_length: block.len() as u8,
        sense_room: SENSE_BYTES as u8,
        vectors: 0,
        data_length: u32::try_from(data.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        data: data.as_mut_ptr().cast(),
        command: block.as_mut_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: TIMEOUT_MS,
        flags: 0,
        pack_id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: SG_IO reads and writes one sg_io_hdr; its pointers lead to buffers of the lengths given beside them, which
    // live and are not otherwise used until it returns.
    unsafe { ioctl(disk, Updater::<SG_IO, Header>::new(&mut header))? };
    // A command with data that went well has status 0; one that answers with registers ends in CHECK CONDITION.
    let failed = header.host_status != 0 || (with_data && header.status != 0);
    if failed {
        return Err(io::Error::other(format!(
            "the disk refused ATA command {code:#04x} (host status {:#06x}, status {:#04x})",
            header.host_status, header.status
        )));
    }
    Ok(sense)
}

fn no_registers() -> io::Error {
    io::Error::other("the disk's bridge does not return ATA registers")
}

/// Whether the disk stands still to save power, so that another question would wake it.
///
/// # Errors
/// EACCES or EPERM without CAP_SYS_RAWIO, ENOTTY if this is no SCSI disk, and the disk's own refusal.
pub fn ata_sleeps(disk: &File) -> io::Result<bool> {
    let sense = command(disk, 0, CHECK_POWER_MODE, &mut [])?;
    // 00h standby, 01h standby_y; idle and active have 80h and above, 40h and 41h a cache over a disk at rest.
    Ok(matches!(registers(&sense).ok_or_else(no_registers)?.count, 0x00 | 0x01 | 0x40))
}

/// IDENTIFY DEVICE: 256 words, least significant byte first.
///
/// # Errors
/// As [`ata_sleeps`].
pub fn ata_identify(disk: &File) -> io::Result<[u8; ATA_BLOCK_BYTES]> {
    let mut data = [0; ATA_BLOCK_BYTES];
    command(disk, 0, IDENTIFY_DEVICE, &mut data)?;
    Ok(data)
}

/// SMART READ DATA: the attributes.
///
/// # Errors
/// As [`ata_sleeps`].
pub fn ata_smart_data(disk: &File) -> io::Result<[u8; ATA_BLOCK_BYTES]> {
    let mut data = [0; ATA_BLOCK_BYTES];
    command(disk, SMART_READ_DATA, SMART, &mut data)?;
    Ok(data)
}

/// SMART RETURN STATUS: whether the disk holds itself to be well.
///
/// # Errors
/// As [`ata_sleeps`], and an answer that means neither.
pub fn ata_smart_healthy(disk: &File) -> io::Result<bool> {
    let sense = command(disk, SMART_RETURN_STATUS, SMART, &mut [])?;
    let registers = registers(&sense).ok_or_else(no_registers)?;
    match (registers.lba_mid, registers.lba_high) {
        SMART_KEY => Ok(true),
        SMART_FAILING => Ok(false),
        _ => Err(no_registers()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_come_in_two_formats() {
        let mut sense = [0; SENSE_BYTES];
        assert_eq!(registers(&sense), None);
        sense[0] = 0x72;
        assert_eq!(registers(&sense), None, "another descriptor comes first");
        (sense[8], sense[13], sense[17], sense[19]) = (0x09, 0xff, 0x4f, 0xc2);
        assert_eq!(registers(&sense), Some(Registers { count: 0xff, lba_mid: 0x4f, lba_high: 0xc2 }));
        let mut fixed = [0; SENSE_BYTES];
        (fixed[0], fixed[6], fixed[10], fixed[11]) = (0xf0, 0x80, 0xf4, 0x2c);
        assert_eq!(registers(&fixed), Some(Registers { count: 0x80, lba_mid: 0xf4, lba_high: 0x2c }));
    }

    #[test]
    fn a_regular_file_is_no_disk() {
        let file = tempfile::tempfile().unwrap();
        assert!(ata_sleeps(&file).is_err() && ata_identify(&file).is_err());
        assert!(ata_smart_data(&file).is_err() && ata_smart_healthy(&file).is_err());
    }
}
