//! Which machine this is, and which of its starts.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// A machine since it was started. What is bound to one is nothing to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// /etc/machine-id (machine-id(5)); machines without it are told by their name.
    pub id: Option<String>,
    pub host: Option<String>,
    /// Differs after each start (proc_sys_kernel(5), random/boot_id).
    pub boot: Option<String>,
}

impl Machine {
    /// The one below `root`, which is `/` but for tests.
    pub fn of(root: &Path) -> Self {
        let line = |path: &str| {
            let text = std::fs::read_to_string(root.join(path)).ok()?;
            Some(text.trim().to_owned()).filter(|t| !t.is_empty())
        };
        Self {
            id: line("etc/machine-id").or_else(|| line("var/lib/dbus/machine-id")),
            host: line("proc/sys/kernel/hostname"),
            boot: line("proc/sys/kernel/random/boot_id"),
        }
    }

    /// Whether both are one machine, started once or twice.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.host.is_some() && self.host == other.host,
            _ => false,
        }
    }

    /// Whether both are one machine that was not started anew.
    pub fn is_same_boot(&self, other: &Self) -> bool {
        self.is(other) && self.boot.is_some() && self.boot == other.boot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_told_by_their_id_and_only_else_by_their_name() {
        let machine = |id: Option<&str>, host: &str, boot: &str| Machine {
            id: id.map(str::to_owned),
            host: Some(host.into()),
            boot: Some(boot.into()),
        };
        let here = machine(Some("1"), "a", "x");
        assert!(here.is(&machine(Some("1"), "renamed", "y")) && !here.is_same_boot(&machine(Some("1"), "a", "y")));
        assert!(here.is_same_boot(&machine(Some("1"), "renamed", "x")));
        assert!(!here.is(&machine(Some("2"), "a", "x")) && !here.is(&machine(None, "a", "x")));
        assert!(
            machine(None, "a", "x").is(&machine(None, "a", "y"))
                && !machine(None, "a", "x").is(&machine(None, "b", "x"))
        );
    }
}
