//! Simulated devices: named models as TOML in `sims/`, and `sim:NAME[,key=value...]` read into a [`SimModel`].
//!
//! One table, [`sim_keys`], feeds the TOML, the target text and the help. Points of a curve are as a measurement at
//! depth 1 shows them, with the host's CPU cost; it is taken out here, so that changing the CPU cost afterwards changes
//! the outcome.

use crate::keys::{Key, find, names, nearest};
use crate::sim_effect::{comes_last, without_effect};
use crate::sim_key::sim_keys;
use crate::toml_values::pairs_of;
use model::{CompactSort as _, Fact, SimBus, SimModel, SimStalls};
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

/// What no file has to say: a plain machine.
const PLAIN: &str = include_str!("../sims/plain.toml");

/// Why a text names no simulated device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}{}", instead(.nearest.as_deref(), .known))]
pub struct SimSpecError {
    /// What is wrong, and with which model.
    pub what: String,
    /// The known name that is most like one that is not known, if one is.
    pub nearest: Option<String>,
    /// All known names, where one is not known.
    pub known: Vec<&'static str>,
}

impl SimSpecError {
    pub(crate) fn of(model: &str, what: impl std::fmt::Display) -> Self {
        Self { what: format!("sim:{model}: {what}"), nearest: None, known: Vec::new() }
    }

    fn unknown(what: String, name: &str, known: Vec<&'static str>) -> Self {
        Self { what, nearest: nearest(name, known.iter().copied()), known }
    }
}

fn instead(nearest: Option<&str>, known: &[&str]) -> String {
    let nearest = nearest.map(|n| format!(" (did you mean '{n}'?)")).unwrap_or_default();
    if known.is_empty() { nearest } else { format!("{nearest}; known: {}", known.join(", ")) }
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

/// Parameters with their values, as texts.
pub(crate) type Parameters = Vec<(String, String)>;

/// A device as its file has it: name, title and source, and its parameters.
pub(crate) type SimText = (String, [String; 2], Parameters);

/// What all devices have, and what each has of its own.
pub(crate) fn sim_texts() -> Result<(Parameters, Vec<SimText>), SimSpecError> {
    let of = |(name, text): &(&str, &str)| {
        let ModelText { title, source, parameters, .. } =
            toml::from_str(text).map_err(|e| SimSpecError::of(name, e))?;
        Ok(((*name).to_owned(), [title, source], pairs_of(&parameters)))
    };
    let plain: toml::Table = toml::from_str(PLAIN).map_err(|e| SimSpecError::of("plain", e))?;
    Ok((pairs_of(&plain), MODELS.iter().map(of).collect::<Result<_, _>>()?))
}

/// All named models.
pub fn sim_models() -> Result<Vec<SimModel>, SimSpecError> {
    MODELS.iter().map(|(name, text)| load(name, text)).collect()
}

/// Reads `NAME[,key=value...]`, with or without `sim:` before it.
pub fn parse_sim(text: &str) -> Result<SimModel, SimSpecError> {
    let text = text.strip_prefix("sim:").unwrap_or(text);
    let (name, given) = text.split_once(',').unwrap_or((text, ""));
    let name = name.trim();
    let Some((name, toml)) = MODELS.iter().find(|(n, _)| *n == name) else {
        let known = MODELS.iter().map(|(n, _)| *n).collect();
        return Err(SimSpecError::unknown(format!("no simulated device '{name}'"), name, known));
    };
    let given = pairs(name, given)?;
    let mut model = load(name, toml)?;
    apply(&mut model, given.clone())?;
    match without_effect(&model, &given) {
        Some(what) => Err(SimSpecError::of(name, what)),
        None => Ok(model),
    }
}

/// Keys and values that a text gives to the simulated device of this name, separated by commas.
pub(crate) fn pairs(name: &str, text: &str) -> Result<Vec<(String, String)>, SimSpecError> {
    let pair = |part: &str| match part.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(SimSpecError::of(name, format!("'{part}' is not key=value"))),
    };
    let all: Vec<(String, String)> =
        text.split(',').map(str::trim).filter(|p| !p.is_empty()).map(pair).collect::<Result<_, _>>()?;
    let twice = all.iter().enumerate().find(|(i, (key, _))| all[..*i].iter().any(|(before, _)| before == key));
    match twice {
        Some((_, (key, _))) => Err(SimSpecError::of(name, format!("{key} is given twice"))),
        None => Ok(all),
    }
}

/// Gives a key of the simulated device of this name its value.
pub(crate) fn set<T>(
    to: &mut T,
    keys: &'static [Key<T>],
    name: &str,
    (key, value): &(String, String),
) -> Result<(), SimSpecError> {
    let Some(found) = find(keys, key) else {
        let what = format!("sim:{name}: no parameter '{key}'");
        return Err(SimSpecError::unknown(what, key, names(keys).collect()));
    };
    found.set(to, value).map_err(|what| SimSpecError::of(name, format!("{key}={value}: {what}")))
}

fn load(name: &str, text: &str) -> Result<SimModel, SimSpecError> {
    let error = |e: toml::de::Error| SimSpecError::of(name, e.to_string());
    let text: ModelText = toml::from_str(text).map_err(error)?;
    let plain: toml::Table = toml::from_str(PLAIN).map_err(error)?;
    let mut model = SimModel {
        name: name.to_owned(),
        title: text.title,
        source: text.source,
        bus: text.bus,
        facts: text.facts,
        ..SimModel::default()
    };
    for table in [plain, text.parameters] {
        apply(&mut model, pairs_of(&table))?;
    }
    Ok(model)
}

fn apply(model: &mut SimModel, mut given: Vec<(String, String)>) -> Result<(), SimSpecError> {
    given.compact_sort_by_key(|(key, _)| comes_last(key));
    let name = model.name.clone();
    given.iter().try_for_each(|pair| set(model, sim_keys(), &name, pair))?;
    check(model).map_err(|what| SimSpecError::of(&name, what))
}

fn check(m: &SimModel) -> Result<(), String> {
    let need = |ok: bool, what: &str| if ok { Ok(()) } else { Err(what.to_owned()) };
    let (media, host) = (&m.media, &m.host);
    need((1 << 20..=1 << 60).contains(&media.capacity_bytes), "capacity is below 1 MiB or above 1 EiB")?;
    need(media.open_streams <= 1 << 16, "open-streams is above 65536")?;
    need(m.link.efficiency >= 0.01, "link-efficiency is below 1 %")?;
    need(host.cpus <= 4096, "cpus is above 4096")?;
    need(host.cpu_ps_per_byte <= 1_000_000_000, "cpu-ps-per-byte is above 1 ms")?;
    need(host.steal <= 0.99, "steal leaves less than 1 % of the processors")?;
    need(m.foreign_share <= 0.99, "foreign leaves less than 1 % of the device")?;
    need(media.cache.is_none_or(|c| c.bytes >= 1 << 20), "the write cache is below 1 MiB")?;
    let moves = |s: SimStalls| s.duration_ns < s.period_ns && (s.period_ns - s.duration_ns) * 100 >= s.period_ns;
    need(m.stalls.is_none_or(moves), "stall-duration leaves less than 1 % of stall-period")?;
    need(m.throttle.is_none_or(|t| t.factor >= 0.001), "throttle-factor is below 0.001")?;
    need(m.cpu_throttle.is_none_or(|t| t.factor >= 0.001), "cpu-throttle-factor is below 0.001")?;
    need(host.cpu_quota == 0.0 || host.cpu_quota >= 0.01, "cpu-quota is below 1 % of a processor")?;
    need(host.max_sectors_bytes == 0 || host.max_sectors_bytes >= 4096, "max-sectors is below 4 KiB")?;
    let largest = host.read_ahead_bytes.max(host.writeback_bytes);
    need(largest <= 1 << 30, "read-ahead or writeback is above 1 GiB")?;
    need(host.dirty_limit_bytes >= host.writeback_bytes, "dirty-limit is below writeback")?;
    need(host.dirty_background_bytes <= host.dirty_limit_bytes, "dirty-background is above dirty-limit")
}

#[cfg(test)]
#[path = "sim_tests.rs"]
mod tests;
