//! What an experiment asks, as it was fixed before its data.

use super::State;
use archive::Archive;
use judge::Asked;
use model::{EnvironmentDifference, Run};
use spec::{Arm, Experiment, Setting};

/// What an experiment fixed before its data.
pub struct Declaration {
    /// Margins, error rate, primary metrics.
    pub asked: Asked,
    /// The question as a sentence.
    pub question: String,
}

/// Error rate of one comparison: several arms against the first share the experiment's (Bonferroni).
pub fn alpha(experiment: &Experiment) -> f64 {
    experiment.alpha / experiment.arms.len().saturating_sub(1).max(1) as f64
}

/// The question as the judge takes it.
pub fn asked(experiment: &Experiment) -> Asked {
    Asked {
        alpha: Some(alpha(experiment)),
        margin_percent: experiment.margin_percent,
        margins: experiment.margins.clone(),
        primary: experiment.primary.clone(),
        ..Asked::default()
    }
}

/// Whether an arm is another one under another name: nothing is set, and nothing is waited for, that differs.
pub fn same_arm(a: &Arm, b: &Arm) -> bool {
    Arm { name: b.name.clone(), ..a.clone() } == *b
}

/// Where an arm leaves what another one sets.
const UNTOUCHED: &str = "what it was";

/// What is set in an arm: names as people call them, with the values.
fn settings_of(arm: &Arm) -> Vec<(String, String)> {
    let setting = |setting: &Setting| match setting {
        Setting::Named { name, value } => (name.clone(), value.clone()),
        Setting::Register { name, value } => (name.clone(), format!("{value:#x}")),
        Setting::MountOptions(options) => ("mount options".to_owned(), options.clone()),
        Setting::Command { run, .. } => ("command".to_owned(), run.join(" ")),
        Setting::Value { path, value } => {
            let name = match path.strip_prefix("/proc/sys/") {
                Some(name) => name.replace('/', "."),
                None => path.rsplit('/').next().unwrap_or(path).to_owned(),
            };
            (name, value.clone())
        }
    };
    let target = arm.target.iter().map(|target| ("target".to_owned(), target.clone()));
    arm.settings.iter().map(setting).chain(arm.set.iter().cloned()).chain(target).collect()
}

/// What is set in one arm and otherwise in another; of arms that wait for something else by their names.
pub fn compared(a: &Arm, b: &Arm) -> Vec<EnvironmentDifference> {
    let (of_a, of_b) = (settings_of(a), settings_of(b));
    let difference =
        |what: &str, a: String, b: String| EnvironmentDifference { what: what.to_owned(), a: vec![a], b: vec![b] };
    let mut names: Vec<&String> = Vec::new();
    of_a.iter().chain(&of_b).map(|(name, _)| name).for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    let value = |all: &[(String, String)], name: &String| {
        all.iter().rfind(|(other, _)| other == name).map_or_else(|| UNTOUCHED.to_owned(), |(_, value)| value.clone())
    };
    let pairs = names.into_iter().map(|name| (name, value(&of_a, name), value(&of_b, name)));
    let mut all: Vec<EnvironmentDifference> =
        pairs.filter(|(_, a, b)| a != b).map(|(name, a, b)| difference(name, a, b)).collect();
    if all.is_empty() && !same_arm(a, b) {
        all.push(difference("arm", a.name.clone(), b.name.clone()));
    }
    all
}

/// What was declared for these runs, if all of them belong to one execution that the archive knows.
pub fn declared(archive: &Archive, a: &[Run], b: &[Run]) -> Option<Declaration> {
    let mut places = a.iter().chain(b).map(|r| r.experiment.as_ref().map(|p| p.id.as_str()));
    let id = places.next()??;
    if !places.all(|other| other == Some(id)) {
        return None;
    }
    let state = State::load(archive, id).ok()??;
    let experiment = super::parse(&state.source(), state.calibrate).ok()?;
    let arm = |runs: &[Run]| -> Option<&Arm> {
        let name = &runs.first()?.experiment.as_ref()?.arm;
        experiment.arms.iter().find(|arm| arm.name == *name)
    };
    let arms = arm(a).zip(arm(b));
    let same_arm = arms.is_some_and(|(a, b)| same_arm(a, b));
    let compared = arms.map_or_else(Vec::new, |(a, b)| compared(a, b));
    Some(Declaration { asked: Asked { same_arm, compared, ..asked(&experiment) }, question: experiment.question })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_arm_sets_otherwise_is_told_by_its_name() {
        let arm = |name: &str, settings: Vec<Setting>, set: &[(&str, &str)]| Arm {
            name: name.into(),
            settings,
            set: set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            target: None,
            when: None,
        };
        let told = |a: &Arm, b: &Arm| -> Vec<[String; 3]> {
            compared(a, b).into_iter().map(|d| [d.what, d.a[0].clone(), d.b[0].clone()]).collect()
        };
        let named = |value: &str| Setting::Named { name: "read-ahead".into(), value: value.into() };
        let value = |path: &str| Setting::Value { path: path.into(), value: "10".into() };
        let a = arm("a", vec![named("128")], &[("depth", "8")]);
        let b = arm("b", vec![named("1024"), value("/proc/sys/vm/swappiness")], &[("depth", "8")]);
        assert_eq!(
            told(&a, &b),
            [["read-ahead", "128", "1024"], ["vm.swappiness", "what it was", "10"]].map(|d| d.map(str::to_owned))
        );
        let queue = arm("b", vec![value("/sys/block/{disk}/queue/nr_requests")], &[]);
        assert_eq!(told(&arm("a", vec![], &[]), &queue)[0][0], "nr_requests");
        // Another kernel is waited for: the arms have their names.
        let waiting =
            Arm { when: Some(spec::Condition::parse("kernel == '6.12*'").unwrap()), ..arm("new", vec![], &[]) };
        assert_eq!(told(&arm("old", vec![], &[]), &waiting), [["arm", "old", "new"].map(str::to_owned)]);
        assert!(told(&a, &Arm { name: "z".into(), ..a.clone() }).is_empty());
    }
}
