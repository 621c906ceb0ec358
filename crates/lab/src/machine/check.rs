//! One thing that must be so in a machine, and what contradicts itself in it.

use crate::mistakes::did_you_mean;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;

/// How often each width was accessed.
pub type ByWidth = BTreeMap<u32, u64>;

/// One thing that must be so in the machine; `lab test` asserts it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MachineCheck {
    /// What is asserted, in words.
    pub what: String,
    /// A path or device that is inspected in the guest; `driver`, `facts` and `findings` are about it.
    #[serde(default)]
    pub target: Option<String>,
    /// The driver of one of its layers.
    #[serde(default)]
    pub driver: Option<String>,
    /// Facts of one of its layers, as `narrows inspect --json` shows them.
    #[serde(default)]
    pub facts: BTreeMap<String, toml::Value>,
    /// Findings that hold.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Findings that must not hold.
    #[serde(default)]
    pub no_findings: Vec<String>,
    /// A command of the guest's shell.
    #[serde(default)]
    pub command: Option<String>,
    /// How it ends; 0 unless said otherwise.
    #[serde(default)]
    pub exit: u8,
    /// Texts in what it prints.
    #[serde(default)]
    pub prints: Vec<String>,
    /// Texts that must not be in it.
    #[serde(default)]
    pub prints_not: Vec<String>,
    /// What the command prints is JSON whose findings are the damage that the card did, and nothing else. Only the last
    /// command that writes to the card can say so.
    #[serde(default)]
    pub finds_damage: bool,
    /// Texts in the emulator's log (see `log` of the machine), each behind the one before it.
    #[serde(default)]
    pub emulator_log: Vec<String>,
    /// How often the command loads from the range of the machine's `accesses`, by width in bytes; no other width is loaded.
    #[serde(default, deserialize_with = "by_width")]
    pub loads: Option<ByWidth>,
    /// How often it stores.
    #[serde(default, deserialize_with = "by_width")]
    pub stores: Option<ByWidth>,
}

/// Keys of a table are text.
fn by_width<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ByWidth>, D::Error> {
    let text = BTreeMap::<String, u64>::deserialize(deserializer)?;
    let width = |key: &String| ["1", "2", "4", "8", "16"].contains(&key.as_str());
    if let Some(key) = text.keys().find(|key| !width(key)) {
        return Err(de::Error::custom(format!("'{key}' is not a width of an access in bytes: 1, 2, 4, 8 or 16")));
    }
    Ok(Some(text.into_iter().filter_map(|(key, count)| Some((key.parse().ok()?, count))).collect()))
}

impl MachineCheck {
    /// Whether anything is asserted of the target.
    fn asserts_of_target(&self) -> bool {
        self.driver.is_some() || !self.facts.is_empty() || !self.findings.is_empty() || !self.no_findings.is_empty()
    }

    /// Whether accesses of its command are counted.
    pub fn counts_accesses(&self) -> bool {
        self.loads.is_some() || self.stores.is_some()
    }

    /// What makes no sense in what it says of accesses.
    pub fn counts_nothing(&self, are_counted: bool) -> Option<String> {
        match self {
            _ if !self.counts_accesses() => None,
            _ if !are_counted => Some("no accesses are counted; the machine needs the table accesses".into()),
            Self { command: None, .. } => Some("loads and stores are a command's, and there is none".into()),
            _ => None,
        }
    }

    /// What makes no sense in it. An assertion that can never fail would be worse than none.
    pub fn contradiction(&self, has_card: bool, has_log: bool) -> Option<String> {
        let runs = self.target.is_some() || self.command.is_some();
        let of_command = !self.prints.is_empty() || !self.prints_not.is_empty() || self.exit != 0;
        match self {
            _ if self.asserts_of_target() && self.target.is_none() => {
                Some("driver, facts and findings are about a target, and there is none".into())
            }
            Self { target: Some(target), .. } if !self.asserts_of_target() => {
                Some(format!("nothing is asserted of {target}"))
            }
            Self { target: Some(_), command: Some(_), .. } => {
                Some("a check looks at a target or runs a command, not both: make two".into())
            }
            _ if !runs && self.emulator_log.is_empty() => {
                Some("a check needs a target, a command, or emulator-log".into())
            }
            _ if !runs && of_command => Some("exit and prints are about a command, and there is none".into()),
            _ if self.finds_damage && (!has_card || self.command.is_none()) => {
                Some("damage is found by a command, and done by a card: the check needs both".into())
            }
            _ if !self.emulator_log.is_empty() && !has_log => {
                Some("there is no log to look at; set log = \"unimp\" for the machine".into())
            }
            _ => self.unknown_fact().or_else(|| self.unknown_finding()),
        }
    }

    fn unknown_fact(&self) -> Option<String> {
        let known = || observe::facts::ALL.iter().map(|fact| fact.name);
        let unknown = self.facts.keys().find(|name| !known().any(|k| k == name.as_str()))?;
        Some(format!("inspect knows no fact '{unknown}'{}", did_you_mean(unknown, known())))
    }

    fn unknown_finding(&self) -> Option<String> {
        let known = || diagnose::catalogue().iter().map(|page| page.id.as_str());
        let named = self.findings.iter().chain(&self.no_findings);
        let unknown = named.into_iter().find(|id| !known().any(|k| k == id.as_str()))?;
        Some(format!("there is no finding '{unknown}'{}", did_you_mean(unknown, known())))
    }
}
