//! `sim:help`: which simulated devices there are, which parameters they have, and what each is where it is not given.

use crate::keys::Key;
use crate::sim::{SimSpecError, sim_texts};
use crate::sim_key::sim_keys;
use crate::sim_memory_bus::sim_bus_keys;
use model::{SimDevice, SimParameter};
use std::collections::BTreeMap;

/// All that can be said of simulated devices.
#[derive(Clone, Debug, PartialEq)]
pub struct SimHelp {
    pub devices: Vec<SimDevice>,
    /// Parameters of all of them.
    pub parameters: Vec<SimParameter>,
    /// Parameters of `sim:bus`.
    pub bus: Vec<SimParameter>,
}

/// What a device without such a value has. Those that say what else is needed take effect together with that.
const NONE_GIVEN: &[(&str, &str)] = &[
    ("read-points", "none: by read-overhead"),
    ("write-points", "none: by write-overhead"),
    ("random-write-overhead", "as sequential writes"),
    ("random-write-points", "none: by random-write-overhead"),
    ("cache", "0"),
    ("cache-drain", "a quarter of write-bandwidth"),
    ("cache-volatile", "false"),
    ("resident", "0"),
    ("cpu-quota", "0"),
    ("max-sectors", "0"),
    ("steal", "0"),
    ("throttle-start", "10s where another throttle-* is given, else never"),
    ("throttle-ramp", "1s"),
    ("throttle-factor", "0.5"),
    ("cpu-throttle-start", "10s where another cpu-throttle-* is given, else never"),
    ("cpu-throttle-ramp", "1s"),
    ("cpu-throttle-factor", "0.5"),
    ("cap-iops", "0"),
    ("cap-rate", "none"),
    ("cap-visible", "false"),
    ("stall-period", "5s where stall-duration is given, else never"),
    ("stall-duration", "500ms where stall-period is given"),
    ("foreign", "0"),
    ("eio-at", "0"),
    ("eio-every", "0"),
    ("eio-start", "0"),
    ("eio-length", "0"),
    ("short-every", "0"),
    ("data-fault", "none"),
    ("data-fault-at", "1"),
    ("wraps-at", "0"),
    ("limbo-from", "0"),
];

/// What a plain `sim:bus` is.
const BUS: &[(&str, &str)] = &[
    ("width", "32"),
    ("wait", "100ns"),
    ("rate", "0"),
    ("kernel", "128"),
    ("call", "1us"),
    ("size", "1MiB"),
    ("fault", "0"),
];

fn parameter<T>(key: &Key<T>, default: String, devices: BTreeMap<String, String>) -> SimParameter {
    SimParameter { name: key.name, expects: key.expects, meaning: key.meaning, default, devices }
}

fn of<'a>(all: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    all.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
}

/// Devices and parameters.
///
/// # Errors
/// A text of ours is wrong.
pub fn sim_help() -> Result<SimHelp, SimSpecError> {
    let (plain, texts) = sim_texts()?;
    let value = |pairs: &[(String, String)], name: &str| {
        pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    };
    let of_all = |key: &Key<_>| {
        let devices = texts.iter().filter_map(|(device, _, pairs)| Some((device.clone(), value(pairs, key.name)?)));
        let default = value(&plain, key.name).or_else(|| of(NONE_GIVEN, key.name).map(str::to_owned));
        parameter(key, default.unwrap_or_default(), devices.collect())
    };
    Ok(SimHelp {
        parameters: sim_keys().iter().map(of_all).collect(),
        bus: sim_bus_keys()
            .iter()
            .map(|key| parameter(key, of(BUS, key.name).unwrap_or_default().to_owned(), BTreeMap::new()))
            .collect(),
        devices: texts.into_iter().map(|(name, [title, source], _)| SimDevice { name, title, source }).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_sim, parse_sim_bus};
    use model::SimMemoryBus;

    #[test]
    fn every_parameter_has_a_default_and_those_that_are_values_are_the_default() {
        let help = sim_help().unwrap();
        assert_eq!(help.devices.len(), crate::sim_models().unwrap().len());
        for parameter in help.parameters.iter().chain(&help.bus) {
            assert!(!parameter.default.is_empty(), "{}", parameter.name);
        }
        // What is given as it is anyway changes nothing; what says in words what it is, or has no effect alone, is not given.
        for SimDevice { name: device, .. } in &help.devices {
            let plain = parse_sim(device).unwrap();
            for parameter in &help.parameters {
                let own = parameter.devices.get(device);
                let value = own.unwrap_or(&parameter.default);
                if parameter.name.starts_with("cap-") {
                    continue;
                }
                if let Ok(given) = parse_sim(&format!("{device},{}={value}", parameter.name)) {
                    let alike = ["throttle-", "cpu-throttle-", "stall-", "cache-"];
                    let only_with_others = own.is_none() && alike.iter().any(|a| parameter.name.starts_with(a));
                    let overrides = parameter.name.ends_with("-overhead") && given != plain;
                    assert!(given == plain || only_with_others || overrides, "{device} {}={value}", parameter.name);
                }
            }
        }
    }

    #[test]
    fn the_defaults_of_the_bus_are_those() {
        for parameter in sim_help().unwrap().bus {
            let text = format!("sim:bus,{}={}", parameter.name, parameter.default);
            let bus = parse_sim_bus(&text).unwrap().unwrap();
            assert_eq!(bus, SimMemoryBus { name: text, ..SimMemoryBus::default() });
        }
    }
}
