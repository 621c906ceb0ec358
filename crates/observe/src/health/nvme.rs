//! Decoding what an NVMe controller answers (NVM Express Base Specification 2.0): IDENTIFY CONTROLLER (5.17.2.1) and the
//! SMART / health log (5.16.1.3).

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

/// What a controller says of its health.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvmeHealth {
    /// What it warns of; empty if nothing.
    pub warnings: Vec<&'static str>,
    /// Degrees Celsius; `None` where it reports none.
    pub temperature_c: Option<i32>,
    /// Spare blocks left.
    pub spare_percent: u8,
    /// Part of its life that is used; can pass 100.
    pub used_percent: u8,
    /// Written by hosts.
    pub written_bytes: u64,
    /// Hours of operation.
    pub power_on_hours: u64,
    /// Errors that it could not correct.
    pub media_errors: u64,
    /// Time at or above the warning and the critical temperature.
    pub throttled_minutes: u64,
}

/// The SMART / health log.
pub fn nvme_health(data: &[u8]) -> Option<NvmeHealth> {
    // A log of zeros is what a controller without one returns.
    if data.len() < SMART_BYTES || data[..SMART_BYTES].iter().all(|b| *b == 0) {
        return None;
    }
    let long = |at: usize| {
        let bytes: [u8; 16] = data[at..at + 16].try_into().unwrap_or_default();
        u128::from_le_bytes(bytes)
    };
    let saturated = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
    let minutes = |at: usize| u64::from(u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]));
    let names = ["spare", "temperature", "reliability", "read-only", "backup", "memory-region"];
    let kelvin = u16::from_le_bytes([data[1], data[2]]);
    Some(NvmeHealth {
        warnings: names.iter().enumerate().filter(|(bit, _)| data[0] >> bit & 1 == 1).map(|(_, n)| *n).collect(),
        temperature_c: (kelvin > 0).then(|| i32::from(kelvin) - 273),
        spare_percent: data[3],
        used_percent: data[5],
        written_bytes: saturated(long(48).saturating_mul(DATA_UNIT_BYTES)),
        power_on_hours: saturated(long(128)),
        media_errors: saturated(long(160)),
        throttled_minutes: minutes(192) + minutes(196),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let health = nvme_health(&log).unwrap();
        assert_eq!(health.warnings, ["spare", "temperature"]);
        assert_eq!((health.temperature_c, health.spare_percent, health.used_percent), (Some(80), 9, 102));
        assert_eq!((health.written_bytes, health.power_on_hours, health.throttled_minutes), (1_024_000, 100, 7));
        log[48..64].fill(0xff);
        assert_eq!(nvme_health(&log).unwrap().written_bytes, u64::MAX);
        assert_eq!(nvme_health(&[0; 512]), None);
        assert_eq!(nvme_health(&[1; 100]), None);
    }
}
