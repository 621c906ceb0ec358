//! Asking devices, and setting what they answer as facts.

use super::ata::ata_health;
use super::node::open;
use super::nvme::{NVME_HEALTH, NvmeIdentity, OCP_LOG, has_log, nvme_identity, ocp_flash_written};
use crate::facts;
use crate::read_error::ReadError;
use crate::root::Root;
use model::Layer;
use std::fs::File;

fn why(error: ReadError, what: &str) -> String {
    match error {
        ReadError::Denied => format!("run as root to see {what}"),
        ReadError::Missing => format!("{what} is unknown: its device node is not in /dev, or it sleeps"),
        ReadError::Refused => format!("{what} is unknown: the device or its bridge does not answer"),
    }
}

/// The number before the point.
fn known_version(identity: Option<&NvmeIdentity>) -> Option<u32> {
    identity?.version.as_deref()?.split('.').next()?.parse().ok()
}

/// Facts of an NVMe disk that its controller (`nvme0`, in `directory`) tells. Returns what is missing.
pub(crate) fn of_nvme_controller(
    root: &Root,
    disk: &mut Layer,
    controller: &str,
    directory: &str,
    asked: bool,
) -> Option<String> {
    if !(root.has_answer(&format!("health/{controller}.identify")) || root.is_live() && asked) {
        return None;
    }
    let ask = |name: &str, ask: fn(&File) -> std::io::Result<Vec<u8>>| {
        root.answer(&format!("health/{controller}.{name}"), || {
            Ok(ask(&open(root, controller, &format!("{directory}/dev"))?)?)
        })
    };
    let identity = ask("identify", |f| sys::nvme_identify_controller(f).map(|d| d.to_vec()));
    let health = ask("smart", |f| sys::nvme_smart_log(f).map(|d| d.to_vec()));
    let missing = health.as_ref().or(identity.as_ref()).err().copied();
    let identity = identity.ok().and_then(|d| nvme_identity(&d));
    let known = identity.as_ref();
    disk.set(facts::NVME_VERSION, known.and_then(|i| i.version.clone()));
    disk.set(facts::NVME_MAX_TRANSFER_BYTES, known.and_then(|i| i.max_transfer_bytes));
    disk.set(facts::NVME_HMB_PREFERRED_BYTES, known.map(|i| i.host_memory_preferred_bytes));
    disk.set(facts::NVME_WRITE_CACHE_PRESENT, known.map(|i| i.write_cache));
    disk.set(facts::NVME_APST, known.map(|i| i.autonomous_power_states));
    disk.set(facts::NVME_POWER_STATES, known.map(|i| i.power_states.len() as u64));
    let limit = disk.int(facts::NVME_PS_MAX_LATENCY_US).and_then(|l| u64::try_from(l).ok());
    let deepest = known.zip(limit).filter(|(i, _)| i.autonomous_power_states);
    disk.set(facts::NVME_DEEPEST_EXIT_US, deepest.map(|(i, limit)| i.deepest_exit_us(limit)));
    NVME_HEALTH.set_on(disk, health.ok().as_deref());
    // Controllers that are asked for a log that they do not have count that as an error: only those that say that they have it
    // are asked.
    let lists = known_version(identity.as_ref()).is_some_and(|version| version >= 2);
    let listed = lists.then(|| ask("logs", |f| sys::nvme_supported_logs(f).map(|d| d.to_vec())).ok()).flatten();
    if listed.is_some_and(|logs| has_log(&logs, OCP_LOG)) {
        let log = ask("ocp", |f| sys::nvme_ocp_log(f).map(|d| d.to_vec())).ok();
        disk.set(facts::FLASH_WRITTEN_BYTES, log.and_then(|d| ocp_flash_written(&d)));
    }
    super::ebs::set_totals(root, disk, controller);
    missing.map(|error| why(error, &format!("the health of {controller}")))
}

/// Facts of an ATA disk that it tells itself. Returns what is missing.
pub(crate) fn of_ata_disk(root: &Root, disk: &mut Layer, directory: &str, asked: bool) -> Option<String> {
    if !(root.has_answer(&format!("health/{}.smart", disk.name)) || root.is_live() && asked) {
        return None;
    }
    let name = disk.name.clone();
    let ask = |what: &str, ask: fn(&File) -> std::io::Result<Vec<u8>>| {
        root.answer(&format!("health/{name}.{what}"), || {
            let file = open(root, &name, &format!("{directory}/dev"))?;
            if sys::ata_sleeps(&file)? {
                return Err(ReadError::Missing);
            }
            Ok(ask(&file)?)
        })
    };
    let data = ask("smart", |f| sys::ata_smart_data(f).map(|d| d.to_vec()));
    let status = ask("status", |f| {
        sys::ata_smart_healthy(f).map(|ok| if ok { b"ok\n".to_vec() } else { b"failing\n".to_vec() })
    });
    let missing = data.as_ref().err().copied();
    let rotates = disk.bool(facts::ROTATIONAL) != Some(false);
    let health = data.ok().and_then(|d| ata_health(&d, rotates));
    let ok = status.ok().and_then(|s| match s.trim_ascii() {
        b"ok" => Some(true),
        b"failing" => Some(false),
        _ => None,
    });
    disk.set(facts::HEALTH_OK, ok);
    let known = health.as_ref();
    disk.set(facts::TEMPERATURE_C, known.and_then(|h| h.temperature_c).map(i64::from));
    disk.set(facts::POWER_ON_HOURS, known.and_then(|h| h.power_on_hours));
    disk.set(facts::MEDIA_ERRORS, known.and_then(|h| h.uncorrected));
    disk.set(facts::REALLOCATED_SECTORS, known.and_then(|h| h.reallocated));
    disk.set(facts::PENDING_SECTORS, known.and_then(|h| h.pending));
    disk.set(facts::INTERFACE_CRC_ERRORS, known.and_then(|h| h.crc_errors));
    disk.set(facts::WEAR_PERCENT, known.and_then(|h| h.used_percent).map(u32::from));
    missing.map(|error| why(error, &format!("the health of {name}")))
}
