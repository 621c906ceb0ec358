//! Which runs are of the same target.

use super::TargetRuns;
use model::{LayerKind, Run};

/// What tells a target from others of the same name: another machine, or another device at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    name: String,
    host: Option<String>,
    model: Option<String>,
    serial: Option<String>,
}

impl Identity {
    /// What is not known of one of them (a serial number needs rights) tells nothing apart.
    fn same(&self, other: &Self) -> bool {
        let agree = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        self.name == other.name
            && agree(&self.host, &other.host)
            && agree(&self.model, &other.model)
            && agree(&self.serial, &other.serial)
    }
}

fn identity(run: &Run) -> Identity {
    let disks = || run.target.stack.layers.iter().filter(|l| l.kind == LayerKind::Disk);
    let fact = |name: &str| disks().find_map(|l| l.facts.get(name).and_then(|f| f.text())).map(str::to_owned);
    Identity {
        name: run.target.name.clone(),
        host: run.environment.hostname.clone(),
        model: fact("model"),
        serial: fact("serial"),
    }
}

/// Whether two runs are of the same target, as far as they tell.
pub fn is_same_target(a: &Run, b: &Run) -> bool {
    identity(a).same(&identity(b))
}

/// Runs by target, in the order in which the targets appear. Targets of one name on other machines, or whose disk is
/// another one, are different targets: `/mnt/card` of two cards is not one card.
pub fn targets(runs: Vec<Run>) -> Vec<TargetRuns> {
    let mut found: Vec<(Identity, Vec<Run>)> = Vec::new();
    for run in runs {
        let of = identity(&run);
        match found.iter_mut().find(|(known, _)| known.same(&of)) {
            Some((_, runs)) => runs.push(run),
            None => found.push((of, vec![run])),
        }
    }
    let identities: Vec<Identity> = found.iter().map(|(i, _)| i.clone()).collect();
    let mut out: Vec<TargetRuns> = Vec::new();
    for (of, runs) in found {
        let mut name = distinct(&of, &identities);
        let mut number = 2;
        while out.iter().any(|t| t.name == name) {
            name = format!("{} ({number})", of.name);
            number += 1;
        }
        out.push(TargetRuns { name, runs });
    }
    out
}

/// The name, with what tells it from the others of that name.
fn distinct(of: &Identity, all: &[Identity]) -> String {
    let namesakes: Vec<&Identity> = all.iter().filter(|i| i.name == of.name && *i != of).collect();
    if namesakes.is_empty() {
        return of.name.clone();
    }
    let parts: [fn(&Identity) -> Option<&String>; 3] =
        [|i| i.model.as_ref(), |i| i.host.as_ref(), |i| i.serial.as_ref()];
    let mut words: Vec<&str> = Vec::new();
    let mut left = namesakes;
    for part in parts {
        let before = left.len();
        left.retain(|i| part(i) == part(of));
        if left.len() < before {
            words.extend(part(of).map(String::as_str));
        }
    }
    if words.is_empty() { of.name.clone() } else { format!("{} ({})", of.name, words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::run;

    fn of(name: &str, host: &str) -> Run {
        let mut run = run(Vec::new(), None);
        run.target.name = name.into();
        run.environment.hostname = Some(host.into());
        run
    }

    #[test]
    fn runs_of_one_target_belong_together_and_those_of_namesakes_do_not() {
        let runs = vec![of("/mnt/card", "a"), of("/data", "a"), of("/mnt/card", "b"), of("/mnt/card", "a")];
        let found: Vec<(String, usize)> = targets(runs).into_iter().map(|t| (t.name, t.runs.len())).collect();
        let expected = [("/mnt/card (a)", 2), ("/data", 1), ("/mnt/card (b)", 1)];
        assert_eq!(found, expected.map(|(n, c)| (n.to_owned(), c)));
        assert!(targets(Vec::new()).is_empty());
    }
}
