//! Whether a block device may be written to: never one that is in use; any other only if its identity was named.

use super::content::found_on;
use super::{Decided, Held, Loss};
use engine::{Attempt, refusal};
use model::{DeviceId, Failure, FailureKind, TargetKind};
use observe::{DeviceUse, device_use};
use spec::Readiness;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use sys::OpenMode;

/// Number of a block device, or of the file system that a file or directory lies on.
pub(super) fn number(metadata: &Metadata, kind: TargetKind) -> DeviceId {
    let number = if kind == TargetKind::BlockDevice { metadata.rdev() } else { metadata.dev() };
    let (major, minor) = sys::device_number(number);
    DeviceId { major, minor }
}

/// Only reads without `--destroy`.
pub(super) fn admit(held: &Held<'_>, device: DeviceId, destroy: Option<&str>) -> Result<Decided, Failure> {
    let Some(asked) = destroy else {
        let why = "read-only: a block device is written to only with --destroy SERIAL";
        return Ok((held.open_for_reading()?, Readiness::ReadOnly(why.into()), Vec::new(), None));
    };
    // From here on nobody else can claim it: what is found is still so when it is written to.
    let claim = sys::open_through(&held.handle, OpenMode::ReadExclusive);
    let used = device_use(held.root, device).ok_or_else(|| {
        held.unsure("/sys does not know this device", "mount /sys, or leave out --destroy to only read")
    })?;
    let reasons = used.refusals();
    if !reasons.is_empty() {
        return Err(held.in_use(&reasons));
    }
    let claim = claim.map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => held.unsure("/proc is not mounted", "mount -t proc proc /proc"),
        _ => refusal(Attempt::OpenWrite, &held.path, &e),
    })?;
    confirmed(held, &used, asked)?;
    let file = held.open_for_writing()?;
    let loss = loss(held, used, &file);
    Ok((file, Readiness::Writable, vec![claim], Some(loss)))
}

/// Whether it is the device that the user named.
fn confirmed(held: &Held<'_>, used: &DeviceUse, asked: &str) -> Result<(), Failure> {
    let (identity, what) = match &used.serial {
        Some(serial) => (serial.as_str(), "serial number"),
        None => (used.name.as_str(), "name"),
    };
    if asked == identity {
        return Ok(());
    }
    let message =
        format!("--destroy {asked} does not match the {what} of {}, which is {identity}", held.path.display());
    Err(Failure::new(FailureKind::Refused, message)
        .remedy(format!("if this is the device to be overwritten: --destroy {identity}")))
}

fn loss(held: &Held<'_>, used: DeviceUse, file: &File) -> Loss {
    Loss {
        path: held.path.clone(),
        model: used.model,
        partitions: used.partitions,
        content: found_on(file, used.size_bytes.unwrap_or(0)),
    }
}
