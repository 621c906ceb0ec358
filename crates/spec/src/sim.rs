//! Simulated devices: named models as TOML in `sims/`, and `sim:NAME[,key=value...]` read into a [`SimModel`].
//!
//! One table, [`SIM_KEYS`], feeds the TOML, the target text and the help. Points of a curve are as a measurement at
//! depth 1 shows them, with the host's CPU cost; it is taken out here, so that changing the CPU cost afterwards changes
//! the outcome.

use crate::sim_key::{Given, SIM_KEYS, SimKey};
use model::{Fact, SimBus, SimCurve, SimFaults, SimHost, SimLink, SimMedia, SimModel};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The named models: name and TOML.
const MODELS: &[(&str, &str)] = &[
    ("class4-card", include_str!("../sims/class4-card.toml")),
    ("a1-card", include_str!("../sims/a1-card.toml")),
    ("a2-card-no-queue", include_str!("../sims/a2-card-no-queue.toml")),
    ("emmc", include_str!("../sims/emmc.toml")),
    ("sata-ssd", include_str!("../sims/sata-ssd.toml")),
    ("nvme", include_str!("../sims/nvme.toml")),
];

/// Why a text names no simulated device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimSpecError {
    /// No model of that name.
    #[error("no simulated device '{name}'{}; known: {known}", did_you_mean(.nearest.as_deref()))]
    UnknownName {
        /// What was asked for.
        name: String,
        /// The known name that is most like it, if one is.
        nearest: Option<String>,
        /// All known names.
        known: String,
    },
    /// No parameter of that name.
    #[error("sim:{name}: no parameter '{key}'{}; known: {known}", did_you_mean(.nearest.as_deref()))]
    UnknownKey {
        /// The model.
        name: String,
        /// What was asked for.
        key: String,
        /// The known key that is most like it, if one is.
        nearest: Option<String>,
        /// All known keys.
        known: String,
    },
    /// A part of the text is not `key=value`.
    #[error("sim:{name}: '{part}' is not key=value")]
    NoValue {
        /// The model.
        name: String,
        /// The part.
        part: String,
    },
    /// A value cannot be read.
    #[error("sim:{name}: {key}={value}: expected {expected}")]
    BadValue {
        /// The model.
        name: String,
        /// The parameter.
        key: String,
        /// Its value.
        value: String,
        /// What would be accepted.
        expected: String,
    },
    /// Each value is good, but they do not go together.
    #[error("sim:{name}: {what}")]
    Contradiction {
        /// The model.
        name: String,
        /// What does not go together.
        what: String,
    },
    /// A model's file does not have the form of one.
    #[error("sim:{name}: {message}")]
    File {
        /// The model.
        name: String,
        /// What is wrong.
        message: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|n| format!(" (did you mean '{n}'?)")).unwrap_or_default()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelText {
    title: String,
    source: String,
    bus: SimBus,
    #[serde(default)]
    facts: BTreeMap<String, Fact>,
    parameters: toml::Table,
}

/// Names and titles of the built-in models.
pub fn sim_models() -> Result<Vec<SimModel>, SimSpecError> {
    MODELS.iter().map(|(name, text)| load(name, text)).collect()
}

/// Reads `NAME[,key=value...]`, with or without `sim:` before it.
pub fn parse_sim(text: &str) -> Result<SimModel, SimSpecError> {
    let text = text.strip_prefix("sim:").unwrap_or(text);
    let mut parts = text.split(',').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let Some((name, toml)) = MODELS.iter().find(|(n, _)| *n == name) else {
        return Err(SimSpecError::UnknownName {
            name: name.to_owned(),
            nearest: nearest(name, MODELS.iter().map(|(n, _)| *n)),
            known: MODELS.iter().map(|(n, _)| *n).collect::<Vec<_>>().join(", "),
        });
    };
    let mut model = load(name, toml)?;
    let mut given = Vec::new();
    for part in parts.filter(|p| !p.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(SimSpecError::NoValue { name: (*name).to_owned(), part: part.to_owned() });
        };
        given.push((key.trim(), value.trim()));
    }
    apply(&mut model, &given)?;
    Ok(model)
}

fn load(name: &str, text: &str) -> Result<SimModel, SimSpecError> {
    let file_error = |message: String| SimSpecError::File { name: name.to_owned(), message };
    let text: ModelText = toml::from_str(text).map_err(|e| file_error(e.to_string()))?;
    let mut model = blank(name, &text);
    let mut given = Vec::new();
    for (key, value) in &text.parameters {
        let value = match value {
            toml::Value::String(s) => s.clone(),
            toml::Value::Integer(i) => i.to_string(),
            toml::Value::Float(f) => f.to_string(),
            toml::Value::Boolean(b) => b.to_string(),
            other => return Err(file_error(format!("{key}: {} is not a parameter's value", other.type_str()))),
        };
        given.push((key.as_str(), value));
    }
    let given: Vec<(&str, &str)> = given.iter().map(|(k, v)| (*k, v.as_str())).collect();
    apply(&mut model, &given)?;
    Ok(model)
}

/// What no file has to say: a plain machine with four processors.
fn blank(name: &str, text: &ModelText) -> SimModel {
    let curve = SimCurve::line(100_000, 100_000_000);
    SimModel {
        name: name.to_owned(),
        title: text.title.clone(),
        source: text.source.clone(),
        seed: 1,
        bus: text.bus,
        facts: text.facts.clone(),
        filesystem: Some("ext4".to_owned()),
        media: SimMedia {
            capacity_bytes: 8 << 30,
            read: curve.clone(),
            write: curve,
            random_write: None,
            erase_block_bytes: 4 << 20,
            open_streams: 2,
            erase_penalty_ns: 0,
            units: 1,
            flush_ns: 0,
            jitter_sigma: 0.0,
            cache: None,
        },
        link: SimLink { line_bytes_per_s: 600_000_000, efficiency: 0.9 },
        host: SimHost {
            queue_depth: 1,
            cpu_per_command_ns: 5_000,
            cpu_ps_per_byte: 20,
            irq_share: 0.25,
            page_cache_bytes_per_s: 1_000_000_000,
            memory_bytes_per_s: 4_000_000_000,
            read_ahead_bytes: 128 << 10,
            writeback_bytes: 1 << 20,
            dirty_background_bytes: 256 << 20,
            dirty_limit_bytes: 512 << 20,
            resident_bytes: 0,
            cpus: 4,
            cpu_quota: 0.0,
            max_sectors_bytes: 0,
            cpu_khz: 1_500_000,
            memory_bytes: 4 << 30,
            steal: 0.0,
        },
        throttle: None,
        cpu_throttle: None,
        cap: None,
        stalls: None,
        foreign_share: 0.0,
        faults: SimFaults::default(),
    }
}

fn apply(model: &mut SimModel, given: &[(&str, &str)]) -> Result<(), SimSpecError> {
    let mut points = Vec::new();
    for &(key, value) in given {
        let Some(found) = SIM_KEYS.iter().find(|k| k.name == key) else {
            return Err(SimSpecError::UnknownKey {
                name: model.name.clone(),
                key: key.to_owned(),
                nearest: nearest(key, SIM_KEYS.iter().map(|k| k.name)),
                known: SIM_KEYS.iter().map(|k| k.name).collect::<Vec<_>>().join(", "),
            });
        };
        let bad = |expected: &str| SimSpecError::BadValue {
            name: model.name.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        };
        match found.read(value).map_err(|expected| bad(&expected))? {
            Given::Now(set) => set(model),
            Given::Points(curve, given) => points.push((curve, given)),
        }
    }
    // After all else, because the CPU cost that is taken out may itself be given.
    for (curve, mut given) in points {
        model.without_cpu(&mut given);
        curve(&mut model.media).points = given;
    }
    check(model).map_err(|what| SimSpecError::Contradiction { name: model.name.clone(), what })
}

/// No time of a model is longer, so that sums of simulated times cannot overflow.
const LONGEST_NS: u64 = 30 * 86_400 * 1_000_000_000;

fn check(m: &SimModel) -> Result<(), String> {
    let need = |ok: bool, what: &str| if ok { Ok(()) } else { Err(what.to_owned()) };
    let (media, host) = (&m.media, &m.host);
    let mut times = vec![media.erase_penalty_ns, media.flush_ns, host.cpu_per_command_ns];
    let mut rates = vec![m.link.line_bytes_per_s, host.page_cache_bytes_per_s, host.memory_bytes_per_s];
    for curve in [Some(&media.read), Some(&media.write), media.random_write.as_ref()].into_iter().flatten() {
        rates.push(curve.bytes_per_s);
        times.push(curve.overhead_ns);
        times.extend(curve.points.iter().map(|p| p.time_ns));
    }
    times.extend(m.throttle.iter().chain(&m.cpu_throttle).flat_map(|t| [t.start_ns, t.ramp_ns]));
    times.extend(m.stalls.iter().flat_map(|s| [s.period_ns, s.duration_ns]));
    rates.extend(media.cache.map(|c| c.drain_bytes_per_s));
    rates.extend(m.cap.and_then(|c| c.bytes_per_s));
    need(times.iter().all(|t| *t <= LONGEST_NS), "a time is longer than 30 days")?;
    need(rates.iter().all(|r| *r >= 1_000), "a rate is below 1 kB/s")?;
    need((1 << 20..=1 << 60).contains(&media.capacity_bytes), "capacity is below 1 MiB or above 1 EiB")?;
    need(media.open_streams <= 1 << 16, "open-streams is above 65536")?;
    need(m.link.efficiency >= 0.01, "link-efficiency is below 1 %")?;
    need(host.cpus <= 4096, "cpus is above 4096")?;
    need(host.cpu_ps_per_byte <= 1_000_000_000, "cpu-ps-per-byte is above 1 ms")?;
    need(host.steal <= 0.99, "steal leaves less than 1 % of the processors")?;
    need(m.foreign_share <= 0.99, "foreign leaves less than 1 % of the device")?;
    need(media.cache.is_none_or(|c| c.bytes >= 1 << 20), "the write cache is below 1 MiB")?;
    need(
        m.stalls.is_none_or(|s| s.duration_ns < s.period_ns && (s.period_ns - s.duration_ns) * 100 >= s.period_ns),
        "stall-duration leaves less than 1 % of stall-period",
    )?;
    need(m.throttle.is_none_or(|t| t.factor >= 0.001), "throttle-factor is below 0.001")?;
    need(m.cpu_throttle.is_none_or(|t| t.factor >= 0.001), "cpu-throttle-factor is below 0.001")?;
    need(host.cpu_quota == 0.0 || host.cpu_quota >= 0.01, "cpu-quota is below 1 % of a processor")?;
    need(host.max_sectors_bytes == 0 || host.max_sectors_bytes >= 4096, "max-sectors is below 4 KiB")?;
    need(
        host.read_ahead_bytes <= 1 << 30 && host.writeback_bytes <= 1 << 30,
        "read-ahead or writeback is above 1 GiB",
    )?;
    need(host.dirty_limit_bytes >= host.writeback_bytes, "dirty-limit is below writeback")?;
    need(host.dirty_background_bytes <= host.dirty_limit_bytes, "dirty-background is above dirty-limit")
}

/// The candidate that is most like `text`, if one is alike: at most a third of its letters differ.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    candidates
        .map(|c| (strsim::levenshtein(text, c), c))
        .filter(|(d, c)| *d <= c.len().div_ceil(3) || (text.len() >= 3 && c.contains(text)))
        .min()
        .map(|(_, c)| c.to_owned())
}

/// The help of all parameters: key, what is expected, what it means.
pub fn sim_keys() -> &'static [SimKey] {
    SIM_KEYS
}

#[cfg(test)]
#[path = "sim_tests.rs"]
mod tests;
