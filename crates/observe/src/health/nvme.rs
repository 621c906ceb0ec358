//! Decoding what an NVMe controller answers (NVM Express Base Specification 2.0): IDENTIFY CONTROLLER (5.17.2.1) and the
//! SMART / health log (5.16.1.3).

use crate::facts;
use crate::register_facts::RegisterFacts;
use model::Fact;

/// Least number of bytes of IDENTIFY CONTROLLER.
const IDENTIFY_BYTES: usize = 4_096;
/// Bytes of the SMART log that are read here.
const SMART_BYTES: usize = 512;
/// Units of sizes in IDENTIFY CONTROLLER, for all controllers whose smallest page is 4 KiB, which is all there are.
const PAGE_BYTES: u64 = 4_096;
/// A data unit is a thousand blocks of 512 bytes.
const DATA_UNIT_BYTES: u128 = 512_000;

/// The SMART / health log that the Open Compute Project asks of disks for data centres (Datacenter NVMe SSD Specification 2.0,
/// 4.8.8; read by linux-nvme/nvme-cli, plugins/ocp).
pub(crate) const OCP_LOG: u8 = 0xc0;
/// What says that the log is that one, in its last 16 bytes.
const OCP_GUID: [u8; 16] =
    [0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf];

/// Whether a log is among those that a controller says it has: log page 0, an entry of four bytes for each, bit 0 for "supported"
/// (NVM Express Base Specification 2.0, 5.16.1.1).
pub(crate) fn has_log(supported: &[u8], log: u8) -> bool {
    supported.get(4 * usize::from(log)).is_some_and(|entry| entry & 1 == 1)
}

/// Bytes that were written to the flash, by the log of the Open Compute Project; `None` if it is another log.
pub(crate) fn ocp_flash_written(data: &[u8]) -> Option<u64> {
    if data.get(496..512)? != OCP_GUID {
        return None;
    }
    let bytes = u128::from_le_bytes(*data.first_chunk()?);
    u64::try_from(bytes).ok()
}

/// What a controller says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvmeIdentity {
    /// Specification, `1.4`; `None` before 1.2, where the field was empty.
    pub version: Option<String>,
    /// Largest command; `None` without limit.
    pub max_transfer_bytes: Option<u64>,
    /// Host memory that it would like; 0 for none.
    pub host_memory_preferred_bytes: u64,
    /// It has a volatile write cache.
    pub write_cache: bool,
    /// It can change power states by itself.
    pub autonomous_power_states: bool,
    /// Power states: whether idle only (non-operational), and exit latency in microseconds.
    pub power_states: Vec<(bool, u32)>,
}

impl NvmeIdentity {
    /// Longest exit latency among idle states that a limit allows, as the kernel chooses them
    /// (k:drivers/nvme/host/core.c nvme_configure_apst); 0 if it allows none.
    pub fn deepest_exit_us(&self, limit_us: u64) -> u32 {
        let idle = self.power_states.iter().filter(|(idle, exit)| *idle && u64::from(*exit) <= limit_us);
        idle.map(|(_, exit)| *exit).max().unwrap_or(0)
    }
}

/// IDENTIFY CONTROLLER.
pub fn nvme_identity(data: &[u8]) -> Option<NvmeIdentity> {
    if data.len() < IDENTIFY_BYTES {
        return None;
    }
    let word = |at: usize| u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
    let version = word(80);
    let states = usize::from(data[263] & 0x1f) + 1;
    Some(NvmeIdentity {
        version: (version != 0).then(|| format!("{}.{}", version >> 16, version >> 8 & 0xff)),
        max_transfer_bytes: match data[77] {
            0 => None,
            power => PAGE_BYTES.checked_shl(power.into()).filter(|bytes| *bytes >= PAGE_BYTES),
        },
        host_memory_preferred_bytes: u64::from(word(272)) * PAGE_BYTES,
        write_cache: data[525] & 1 == 1,
        autonomous_power_states: data[265] & 1 == 1,
        power_states: (0..states)
            .map(|n| 2_048 + 32 * n)
            .map(|at| (data[at + 3] >> 1 & 1 == 1, word(at + 8)))
            .collect(),
    })
}

/// The SMART / health log; of a controller without one all is zero.
fn smart_log(data: &[u8]) -> Option<[u8; SMART_BYTES]> {
    data.first_chunk().filter(|log| log.iter().any(|b| *b != 0)).copied()
}

/// What it warns of; empty if nothing.
fn warnings(log: &[u8; SMART_BYTES]) -> Vec<String> {
    let names = ["spare", "temperature", "reliability", "read-only", "backup", "memory-region"];
    names.iter().enumerate().filter(|(bit, _)| log[0] >> bit & 1 == 1).map(|(_, n)| (*n).to_owned()).collect()
}

fn counted(log: &[u8; SMART_BYTES], at: usize, unit: u128) -> Fact {
    let count = u128::from_le_bytes(log[at..at + 16].try_into().unwrap_or_default());
    u64::try_from(count.saturating_mul(unit)).unwrap_or(u64::MAX).into()
}

fn minutes(log: &[u8; SMART_BYTES], at: usize) -> u64 {
    u64::from(u32::from_le_bytes([log[at], log[at + 1], log[at + 2], log[at + 3]]))
}

/// What a controller says of its health.
pub const NVME_HEALTH: RegisterFacts<[u8], [u8; SMART_BYTES]> = RegisterFacts {
    read: smart_log,
    rows: &[
        (facts::HEALTH_OK, |log| warnings(log).is_empty().into()),
        (facts::HEALTH_WARNINGS, |log| warnings(log).into()),
        // Kelvin; 0 where it reports none.
        (facts::TEMPERATURE_C, |log| match u16::from_le_bytes([log[1], log[2]]) {
            0 => Fact::Null,
            kelvin => Fact::Int(i64::from(kelvin) - 273),
        }),
        (facts::SPARE_PERCENT, |log| u32::from(log[3]).into()),
        // The part of its life that is used; can pass 100.
        (facts::WEAR_PERCENT, |log| u32::from(log[5]).into()),
        (facts::WRITTEN_BYTES, |log| counted(log, 48, DATA_UNIT_BYTES)),
        (facts::POWER_ON_HOURS, |log| counted(log, 128, 1)),
        // Errors that it could not correct.
        (facts::MEDIA_ERRORS, |log| counted(log, 160, 1)),
        // Time at or above the warning and the critical temperature.
        (facts::THROTTLED_MINUTES, |log| (minutes(log, 192) + minutes(log, 196)).into()),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Layer, LayerKind};

    #[test]
    fn what_was_written_to_the_flash_is_in_the_log_of_the_open_compute_project() {
        let mut log = vec![0; 512];
        log[..8].copy_from_slice(&123_456_789_000u64.to_le_bytes());
        assert_eq!(ocp_flash_written(&log), None, "what a vendor has at that number is not known");
        log[496..].copy_from_slice(&OCP_GUID);
        assert_eq!(ocp_flash_written(&log), Some(123_456_789_000));
        assert_eq!(ocp_flash_written(&log[..500]), None);
        let mut supported = vec![0; 1_024];
        supported[4 * 0xc0] = 1;
        assert!(has_log(&supported, OCP_LOG) && !has_log(&supported, 0xc1) && !has_log(&[], OCP_LOG));
    }

    #[test]
    fn a_controller_without_memory_of_its_own() {
        let mut data = vec![0; 4_096];
        data[77] = 5;
        data[80..84].copy_from_slice(&0x0001_0400u32.to_le_bytes());
        (data[263], data[265], data[525]) = (4, 1, 1);
        data[272..276].copy_from_slice(&16_384u32.to_le_bytes());
        for (n, (idle, exit)) in [(0, 0), (0, 0), (0, 0), (2, 1_200u32), (2, 9_000)].into_iter().enumerate() {
            data[2_048 + 32 * n + 3] = idle;
            data[2_048 + 32 * n + 8..][..4].copy_from_slice(&exit.to_le_bytes());
        }
        let identity = nvme_identity(&data).unwrap();
        assert_eq!(identity.version.as_deref(), Some("1.4"));
        assert_eq!(identity.max_transfer_bytes, Some(128 << 10));
        assert_eq!(identity.host_memory_preferred_bytes, 64 << 20);
        assert!(identity.write_cache && identity.autonomous_power_states);
        assert_eq!(identity.power_states.len(), 5);
        assert_eq!(identity.deepest_exit_us(100_000), 9_000);
        assert_eq!(identity.deepest_exit_us(5_000), 1_200);
        assert_eq!(identity.deepest_exit_us(0), 0);
        assert_eq!(nvme_identity(&data[..4_095]), None);
        data[77] = 255;
        assert_eq!(nvme_identity(&data).unwrap().max_transfer_bytes, None);
    }

    #[test]
    fn health() {
        let mut log = vec![0; 512];
        log[0] = 0b0000_0011;
        log[1..3].copy_from_slice(&353u16.to_le_bytes());
        (log[3], log[5]) = (9, 102);
        log[48] = 2;
        log[128] = 100;
        log[192] = 7;
        let health = |log: &[u8]| {
            let mut disk = Layer::new(LayerKind::Disk, "nvme0n1");
            NVME_HEALTH.set_on(&mut disk, Some(log));
            disk
        };
        let seen = health(&log);
        let warnings = ["spare", "temperature"].map(str::to_owned);
        assert_eq!(seen.fact(facts::HEALTH_WARNINGS), Some(&Fact::List(warnings.into())));
        let figures = [facts::TEMPERATURE_C, facts::SPARE_PERCENT, facts::WEAR_PERCENT].map(|name| seen.int(name));
        assert_eq!(figures, [Some(80), Some(9), Some(102)]);
        let counts = [facts::WRITTEN_BYTES, facts::POWER_ON_HOURS, facts::THROTTLED_MINUTES];
        assert_eq!(counts.map(|name| seen.int(name)), [Some(1_024_000), Some(100), Some(7)]);
        log[48..64].fill(0xff);
        assert_eq!(health(&log).text(facts::WRITTEN_BYTES), Some(u64::MAX.to_string().as_str()));
        assert_eq!((NVME_HEALTH.read)(&[0; 512]), None);
        assert_eq!((NVME_HEALTH.read)(&[1; 100]), None);
    }
}
