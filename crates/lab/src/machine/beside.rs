//! A guest that runs beside a machine: what of it differs from the machine.

use super::{Machine, values};
use serde::Deserialize;

/// A guest beside a machine, on a network with it: the same kernel, modules and packages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestBeside {
    /// Its host name, by which the others know it.
    pub name: String,
    /// Its memory; without it as much as the machine has.
    #[serde(rename = "memory", default, deserialize_with = "values::some_memory")]
    pub memory_bytes: Option<u64>,
    /// Its processors; without it as many as the machine has.
    #[serde(default, deserialize_with = "values::some_processors")]
    pub cpus: Option<u32>,
    /// Commands of its shell before it is ready.
    #[serde(default)]
    pub setup: String,
}

impl GuestBeside {
    /// What makes no sense in it, beside those before it.
    pub fn contradiction(&self, before: &[&str]) -> Option<String> {
        if !values::is_plain(&self.name) || self.name == "localhost" {
            return Some(format!("'{}' is not the name of a guest: lower-case letters, digits and -", self.name));
        }
        before.contains(&self.name.as_str()).then(|| format!("there are two guests '{}'", self.name))
    }

    /// The guest as a machine of its own: without what only one can have.
    pub fn of(&self, machine: &Machine) -> Machine {
        Machine {
            name: format!("{}.{}", self.name, machine.name),
            memory_bytes: self.memory_bytes.unwrap_or(machine.memory_bytes),
            cpus: self.cpus.unwrap_or(machine.cpus),
            setup: self.setup.clone(),
            images: Vec::new(),
            qemu: Vec::new(),
            wait_for: Vec::new(),
            checks: Vec::new(),
            card: None,
            log: None,
            accesses: None,
            power_cut: None,
            ..machine.clone()
        }
    }
}
