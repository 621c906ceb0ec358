//! What conditions of arms ask about: the machine, and every layer below the target.

use model::{Environment, Fact, Target};
use spec::Condition;
use std::collections::BTreeMap;

/// What is known of the machine and the target's path, by name: `driver`, `kernel`, `machine`, and any fact of a layer. A
/// name may have several values: each layer has a driver.
pub type Facts = BTreeMap<String, Vec<String>>;

/// Whether a condition holds.
///
/// # Errors
/// The name of a fact that the machine does not tell.
pub fn holds(condition: &Condition, facts: &Facts) -> Result<bool, String> {
    for term in &condition.terms {
        let values = facts.get(&term.fact).filter(|v| !v.is_empty()).ok_or_else(|| term.fact.clone())?;
        let matches = |value: &String| match term.value.strip_suffix('*') {
            Some(start) => value.starts_with(start),
            None => *value == term.value,
        };
        if values.iter().any(matches) != term.equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All that is known, by name. Drivers of all layers are values of `driver`.
pub fn facts(environment: &Environment, target: &Target) -> Facts {
    let mut facts = Facts::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let all: &mut Vec<String> = facts.entry(name.to_owned()).or_default();
            if !all.contains(&value) {
                all.push(value);
            }
        }
    };
    add("host", environment.hostname.clone());
    add("machine", environment.machine.clone());
    add("kernel", environment.kernel.clone());
    add("architecture", environment.architecture.clone());
    add("distribution", environment.distribution.clone());
    add("virtualization", environment.virtualization.clone());
    environment.governors.iter().for_each(|g| add("governor", Some(g.clone())));
    environment.kernel_command_line.iter().flat_map(|l| l.split(' ')).for_each(|w| add("cmdline", Some(w.to_owned())));
    add("target", Some(target.name.clone()));
    if let Some(mount) = &target.stack.mount {
        add("filesystem", Some(mount.fstype.clone()));
        mount.options.iter().for_each(|o| add("mount-option", Some(o.clone())));
    }
    for layer in &target.stack.layers {
        add("layer", Some(layer.name.clone()));
        add("driver", layer.driver.clone());
        for (name, fact) in &layer.facts {
            values(fact).into_iter().for_each(|v| add(name, Some(v)));
        }
    }
    facts
}

fn values(fact: &Fact) -> Vec<String> {
    match fact {
        Fact::Null => Vec::new(),
        Fact::Bool(v) => vec![v.to_string()],
        Fact::Int(v) => vec![v.to_string()],
        Fact::Float(v) => vec![v.to_string()],
        Fact::Text(v) => vec![v.clone()],
        Fact::List(all) => all.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Layer, LayerKind, Stack, TargetKind};

    #[test]
    fn every_layer_gives_its_driver_and_its_facts() {
        let mut disk = Layer::new(LayerKind::Disk, "sda");
        disk.driver = Some("sd".into());
        disk.set("rotational", true);
        let mut host = Layer::new(LayerKind::Host, "ata1");
        host.driver = Some("ahci".into());
        let target = Target {
            name: "/mnt".into(),
            kind: TargetKind::Directory,
            path: None,
            size_bytes: None,
            writable: true,
            stack: Stack { mount: None, layers: vec![disk, host].into() },
        };
        let environment = Environment { kernel: Some("6.12.3".into()), ..Environment::default() };
        let facts = facts(&environment, &target);
        assert_eq!(facts["driver"], ["sd", "ahci"]);
        assert_eq!(facts["rotational"], ["true"]);
        assert_eq!(facts["kernel"], ["6.12.3"]);
        assert!(!facts.contains_key("governor"));
    }

    #[test]
    fn any_of_several_values_suffices() {
        let facts: Facts = [
            ("driver".to_owned(), vec!["sd".to_owned(), "ahci".to_owned()]),
            ("kernel".to_owned(), vec!["6.12.3".to_owned()]),
        ]
        .into();
        let holds = |text: &str| holds(&Condition::parse(text).unwrap(), &facts);
        assert_eq!(holds("driver == 'ahci'"), Ok(true));
        assert_eq!(holds("driver == \"ata_piix\""), Ok(false));
        assert_eq!(holds("driver != 'ata_piix' && kernel == '6.12*'"), Ok(true));
        assert_eq!(holds("kernel != '6.12*'"), Ok(false));
        assert_eq!(holds("governor == 'performance'"), Err("governor".to_owned()));
    }
}
