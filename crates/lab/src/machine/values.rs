//! Values of a machine's file: what they may be, and what they are where the file does not say.

use crate::mistakes::did_you_mean;
use serde::{Deserialize, Deserializer, de};
use std::time::Duration;

/// Less memory is not enough for a kernel of Debian with its first root file system.
const MIN_MEMORY_BYTES: u64 = 64 << 20;

/// What `if=` of the emulator's `-drive` may be (qemu(1)), and `file`: no drive at all.
const INTERFACES: [&str; 8] = ["none", "file", "sd", "mtd", "pflash", "ide", "scsi", "virtio"];

/// Whether a name fits into a host name, the id of a drive and a path.
pub fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

pub fn one() -> u32 {
    1
}

pub fn yes() -> bool {
    true
}

pub fn no_interface() -> String {
    "none".into()
}

pub fn a_minute() -> Duration {
    Duration::from_secs(60)
}

pub fn five_minutes() -> Duration {
    Duration::from_secs(300)
}

pub fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    model::parse_bytes(&text).map_err(|e| de::Error::custom(e.to_string()))
}

pub fn memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let size = bytes(deserializer)?;
    // The kernel, its modules and all that the command leaves are in it.
    if size < MIN_MEMORY_BYTES || !size.is_multiple_of(1 << 20) {
        return Err(de::Error::custom("the memory of a machine is a multiple of 1MiB, and at least 64MiB"));
    }
    Ok(size)
}

pub fn bytes_of_image<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let size = bytes(deserializer)?;
    if size == 0 || !size.is_multiple_of(512) {
        return Err(de::Error::custom("the size of an image is a multiple of 512 bytes, and not 0"));
    }
    Ok(size)
}

pub fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let limit =
        model::parse_duration_ns(&text).map(Duration::from_nanos).map_err(|e| de::Error::custom(e.to_string()))?;
    if limit.is_zero() {
        return Err(de::Error::custom("a limit of 0 lets nothing happen"));
    }
    Ok(limit)
}

pub fn some_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    duration(deserializer).map(Some)
}

pub fn some_memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    memory(deserializer).map(Some)
}

pub fn some_processors<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    processors(deserializer).map(Some)
}

pub fn processors<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        0 => Err(de::Error::custom("a machine has one processor at least")),
        cpus => Ok(cpus),
    }
}

pub fn image_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    // An SD card's own drive is named sd0 by some boards, and a second one of that name aborts the emulator.
    if !is_plain(&name) || name == "sd0" || name == "card" {
        let message =
            format!("'{name}' is not the name of an image: lower-case letters, digits and -, and neither sd0 nor card");
        return Err(de::Error::custom(message));
    }
    Ok(name)
}

pub fn interface<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if !INTERFACES.contains(&name.as_str()) {
        let meant = did_you_mean(&name, INTERFACES.into_iter());
        let message = format!("'{name}' is not an interface of an image{meant}; there are: {}", INTERFACES.join(", "));
        return Err(de::Error::custom(message));
    }
    Ok(name)
}
