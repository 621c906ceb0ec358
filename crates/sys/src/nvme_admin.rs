//! Questions to an NVMe controller that change nothing: IDENTIFY and GET LOG PAGE (NVM Express Base Specification 2.0, 5.17
//! and 5.16), through the kernel's admin ioctl (k:include/uapi/linux/nvme_ioctl.h). No other command can be sent from here.
#![allow(unsafe_code)]

use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use std::ffi::c_void;
use std::fs::File;
use std::io;

/// IDENTIFY answers this much.
pub const NVME_IDENTIFY_BYTES: usize = 4_096;
/// The SMART / health log.
pub const NVME_SMART_BYTES: usize = 512;
/// The log of supported logs.
pub const NVME_SUPPORTED_LOGS_BYTES: usize = 1_024;
/// The statistics of a volume of Amazon EBS.
pub const NVME_EBS_BYTES: usize = 4_096;

const OPCODE_GET_LOG_PAGE: u8 = 0x02;
const OPCODE_IDENTIFY: u8 = 0x06;
/// Controller data structure.
const CNS_CONTROLLER: u32 = 0x01;
const LOG_SUPPORTED: u32 = 0x00;
const LOG_SMART: u32 = 0x02;
/// Open Compute Project, Datacenter NVMe SSD Specification, 4.8.8.
const LOG_OCP: u32 = 0xc0;
/// In the range that is the vendor's own (Amazon EBS User Guide, "Amazon EBS detailed performance statistics").
const LOG_EBS: u32 = 0xd0;
const ALL_NAMESPACES: u32 = 0xffff_ffff;
/// A volume of EBS is the only namespace of its controller.
const FIRST_NAMESPACE: u32 = 1;
/// A controller that hangs must not take us with it.
const TIMEOUT_MS: u32 = 5_000;

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<AdminCommand>() == 72);

/// NVME_IOCTL_ADMIN_CMD: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: Opcode = opcode::read_write::<AdminCommand>(b'N', 0x41);

/// One command with the buffer that it fills.
struct AdminRequest<'a> {
    command: AdminCommand,
    /// Keeps the buffer borrowed while the command holds its address.
    _buffer: &'a mut [u8],
}

// SAFETY: the ioctl reads and writes one AdminCommand, which the pointer leads to, and writes at most data_length bytes at
// `address`, which is the borrowed buffer of that length.
unsafe impl Ioctl for AdminRequest<'_> {
    type Output = u16;
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        NVME_IOCTL_ADMIN_CMD
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(&mut self.command).cast()
    }

    /// The ioctl returns the status of the command, 0 for success (k:drivers/nvme/host/ioctl.c).
    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> rustix::io::Result<u16> {
        Ok(u16::try_from(out).unwrap_or(u16::MAX))
    }
}

fn ask(controller: &File, mut command: AdminCommand, buffer: &mut [u8]) -> io::Result<()> {
    command.address = buffer.as_mut_ptr() as usize as u64;
    command.data_length = u32::try_from(buffer.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    command.timeout_ms = TIMEOUT_MS;
    // SAFETY: see the implementation of Ioctl for Ask.
    match unsafe { ioctl(controller, AdminRequest { command, _buffer: buffer })? } {
        0 => Ok(()),
        status => Err(io::Error::other(format!("the NVMe controller answered with status {status:#06x}"))),
    }
}

/// What the controller says of itself.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN, ENOTTY if this is no NVMe device, and the status of the controller.
pub fn nvme_identify_controller(controller: &File) -> io::Result<[u8; NVME_IDENTIFY_BYTES]> {
    let mut data = [0; NVME_IDENTIFY_BYTES];
    let command = AdminCommand { opcode: OPCODE_IDENTIFY, cdw10: CNS_CONTROLLER, ..AdminCommand::default() };
    ask(controller, command, &mut data)?;
    Ok(data)
}

/// The SMART / health log of the whole controller.
///
/// # Errors
/// As [`nvme_identify_controller`].
pub fn nvme_smart_log(controller: &File) -> io::Result<[u8; NVME_SMART_BYTES]> {
    log_page(controller, LOG_SMART, ALL_NAMESPACES)
}

/// Which logs the controller has: 256 entries of four bytes. Mandatory from version 2.0 of the specification on.
///
/// # Errors
/// As [`nvme_identify_controller`].
pub fn nvme_supported_logs(controller: &File) -> io::Result<[u8; NVME_SUPPORTED_LOGS_BYTES]> {
    log_page(controller, LOG_SUPPORTED, ALL_NAMESPACES)
}

/// The log C0h, in the range that is the vendor's own: to be asked only of a controller that says it has one. Whether it is that
/// of the Open Compute Project its last 16 bytes tell.
///
/// # Errors
/// As [`nvme_identify_controller`].
pub fn nvme_ocp_log(controller: &File) -> io::Result<[u8; NVME_SMART_BYTES]> {
    log_page(controller, LOG_OCP, ALL_NAMESPACES)
}

/// The statistics of an EBS volume: to be asked only of a controller that says it is one, for others may mean anything by
/// this log page.
///
/// # Errors
/// As [`nvme_identify_controller`].
pub fn nvme_ebs_log(controller: &File) -> io::Result<[u8; NVME_EBS_BYTES]> {
    log_page(controller, LOG_EBS, FIRST_NAMESPACE)
}

fn log_page<const BYTES: usize>(controller: &File, log: u32, namespace: u32) -> io::Result<[u8; BYTES]> {
    let mut data = [0; BYTES];
    // Number of dwords less one in the upper half.
    let dwords = (BYTES / 4 - 1) as u32;
    let command =
        AdminCommand { opcode: OPCODE_GET_LOG_PAGE, namespace, cdw10: log | dwords << 16, ..AdminCommand::default() };
    ask(controller, command, &mut data)?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_kernels() {
        if cfg!(any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64",
            target_arch = "arm",
            target_arch = "x86"
        )) {
            assert_eq!(NVME_IOCTL_ADMIN_CMD, 0xc048_4e41);
        }
    }

    #[test]
    fn a_regular_file_is_no_controller() {
        let file = tempfile::tempfile().unwrap();
        assert!(nvme_identify_controller(&file).is_err());
        assert!(nvme_smart_log(&file).is_err());
        assert!(nvme_ebs_log(&file).is_err());
    }
}
