//! Experiments as text: a question, arms, workloads, what counts and how much of it matters, fixed before the data.
//! docs/experiments.md describes the form.

mod condition;

pub use condition::{Condition, Term};

use crate::text_error::{Text, TextError, TextErrorKind, TextPosition};
use crate::toml_values::{has_table, pairs_of, plain};
use model::parse_duration_ns;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Pairs that are made unless the text says how many: enough for ten questions at 0.05.
const DEFAULT_PAIRS: u32 = 10;
/// More pairs than this are a mistake.
const MAX_PAIRS: u32 = 1000;
/// More arms than this are a mistake.
const MAX_ARMS: usize = 64;
/// Primary metrics beyond this ask for more pairs than anybody makes.
const MAX_PRIMARY: usize = 10;

/// Where the workload of an experiment comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkloadSource {
    /// A built-in workload, or a file beside the experiment.
    Named(String),
    /// Stands in the experiment itself, as a workload text.
    Inline(String),
}

/// What is changed for an arm, and undone after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A value is written into a file of /sys or /proc/sys; before that its old value is kept. `{disk}` in the path stands
    /// for the kernel name of the block device that the target stands on (of a partition its disk), `{lowest}` for each of
    /// the lowest disks below it.
    Value {
        /// `/sys/block/{disk}/queue/read_ahead_kb`.
        path: String,
        /// What is written.
        value: String,
    },
    /// A setting that has a name of its own; room `settings` knows them.
    Named {
        /// `read-ahead`.
        name: String,
        /// What is written.
        value: String,
    },
    /// Bits of a register of a controller, by its name in the catalogue of `observe`. No text asks for one; a search for settings does, where it is allowed.
    Register {
        /// `sunxi-ahci-p0dmacr`.
        name: String,
        /// The bits.
        value: u32,
    },
    /// A command and the one that undoes it, each a program with its arguments. What the text gives as one string is run by
    /// `/bin/sh -c`.
    Command {
        /// What is run before the arm.
        run: Vec<String>,
        /// What is run after it.
        undo: Vec<String>,
    },
    /// The file system of the target is remounted with these options; the old ones are restored.
    MountOptions(String),
}

/// One of the things compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    pub name: String,
    /// What is changed for it, in this order.
    pub settings: Vec<Setting>,
    /// Keys of the workload that are other for it.
    pub set: Vec<(String, String)>,
    /// Target of the arm, where it has one of its own.
    pub target: Option<String>,
    /// It can only run while this holds: another kernel, another driver.
    pub when: Option<Condition>,
}

/// A question that is fixed before the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    pub name: String,
    /// What it asks, for people.
    pub question: String,
    /// What is run in each arm.
    pub workload: WorkloadSource,
    /// Keys of the workload, for all arms.
    pub set: Vec<(String, String)>,
    /// The target, where the text names it.
    pub target: Option<String>,
    /// The arms; the first is the one that the others are compared with. A single one is repeated, and nothing compared.
    pub arms: Vec<Arm>,
    /// How often each arm is run.
    pub pairs: u32,
    /// Seed of the order; `None`: drawn when it starts.
    pub seed: Option<u64>,
    /// Error rate over all primary metrics.
    pub alpha: f64,
    /// The metrics that are asked; empty: the rate of each phase.
    pub primary: Vec<String>,
    /// The largest difference that does not matter, percent; `None`: by the kind of metric.
    pub margin_percent: Option<f64>,
    /// The same for single metrics.
    pub margins: BTreeMap<String, f64>,
    /// Rest between two runs.
    pub settle_ns: u64,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tables {
    experiment: Head,
    set: toml::Table,
    margins: toml::Table,
    workload: Option<toml::Table>,
    arm: Vec<toml::Spanned<ArmText>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Head {
    name: String,
    question: String,
    workload: Option<String>,
    target: Option<String>,
    pairs: Option<u32>,
    seed: Option<u64>,
    alpha: Option<f64>,
    primary: Vec<String>,
    margin: Option<toml::Value>,
    settle: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct ArmText {
    name: String,
    settings: toml::Table,
    values: toml::Table,
    sysctl: toml::Table,
    command: Option<toml::Value>,
    undo: Option<toml::Value>,
    mount_options: Option<String>,
    set: toml::Table,
    target: Option<String>,
    when: Option<String>,
}

/// `"echo 1 > /x"` or `["sysctl", "-w", "vm.swappiness=1"]`.
fn arguments(key: &'static str, value: toml::Value) -> Result<Vec<String>, (&'static str, String)> {
    let arguments = match value {
        toml::Value::String(text) => vec!["/bin/sh".to_owned(), "-c".to_owned(), text],
        list => list.try_into::<Vec<String>>().unwrap_or_default(),
    };
    let named = arguments.first().is_some_and(|program| !program.is_empty());
    if !named || arguments.iter().any(|a| a.contains('\0')) {
        return Err((key, "a text for the shell, or a program and its arguments".to_owned()));
    }
    Ok(arguments)
}

/// `5`, `5.0` or `"5 %"`.
fn percent(value: &toml::Value) -> Option<f64> {
    let number = plain(value).trim().trim_end_matches('%').trim().parse().ok();
    number.filter(|n| *n > 0.0 && *n < 1000.0)
}

/// Whether a TOML text is an experiment and not a workload.
pub fn is_experiment(text: &str) -> bool {
    has_table(text, "[experiment]")
}

/// Reads an experiment.
///
/// # Errors
/// All mistakes that were found, with file, line and key.
pub fn parse_experiment(file: &str, text: &str) -> Result<Experiment, Vec<TextError>> {
    let lines = Text::new(file, text);
    let read: Tables = toml::from_str(text)
        .map_err(|e| vec![lines.place(e.span()).error(TextErrorKind::Form, "", e.message().to_owned())])?;
    let head = read.experiment;
    let here = lines.place(text.find("[experiment]").map(|at| at..at));
    let mut errors = Vec::new();
    let mut need = |met: bool, at: &TextPosition, key: &str, what: &str| {
        errors.extend((!met).then(|| at.error(TextErrorKind::Value, key, what)));
    };
    let named = is_name(&head.name) && head.name.starts_with(|c: char| c.is_ascii_alphabetic());
    need(named, &here, "name", "a letter, then letters, digits, '-' and '_', 40 at most");
    let pairs = head.pairs.unwrap_or(DEFAULT_PAIRS);
    need((1..=MAX_PAIRS).contains(&pairs), &here, "pairs", &format!("from 1 to {MAX_PAIRS}"));
    let alpha = head.alpha.unwrap_or(0.05);
    need(alpha > 0.0 && alpha < 0.5, &here, "alpha", "an error rate above 0 and below 0.5");
    let most = format!("{MAX_PRIMARY} metrics at most can be asked at once");
    need(head.primary.len() <= MAX_PRIMARY, &here, "primary", &most);
    let mut margin = |key: &str, value: &toml::Value| {
        need(percent(value).is_some(), &here, key, "a margin is a percentage above 0");
        percent(value)
    };
    let margin_percent = head.margin.as_ref().and_then(|value| margin("margin", value));
    let margins = read.margins.iter().filter_map(|(id, value)| Some((id.clone(), margin(id, value)?))).collect();
    let settle = head.settle.as_deref().map_or(Ok(0), parse_duration_ns);
    need(settle.is_ok(), &here, "settle", &settle.as_ref().err().map(ToString::to_string).unwrap_or_default());
    let workload = match (head.workload, read.workload) {
        (Some(name), None) => WorkloadSource::Named(name),
        (None, Some(inline)) => WorkloadSource::Inline(inline.to_string()),
        _ => {
            need(false, &here, "workload", "either a name (workload = \"depth\") or a text of its own ([workload])");
            WorkloadSource::Named(String::new())
        }
    };
    let mut arms: Vec<Arm> = Vec::new();
    for arm in read.arm {
        let place = lines.place(Some(arm.span()));
        let arm = arm.into_inner();
        let own = is_name(&arm.name) && arms.iter().all(|other| other.name != arm.name);
        let what = format!("'{}': each arm has a name of its own, of letters, digits, '-' and '_'", arm.name);
        need(own, &place, "arm", &what);
        match arm_of(arm) {
            Ok(arm) => arms.push(arm),
            Err((key, what)) => need(false, &place, key, &what),
        }
    }
    if !(1..=MAX_ARMS).contains(&arms.len()) && errors.is_empty() {
        let what = format!("an experiment has an arm at least and {MAX_ARMS} at most");
        errors.push(here.error(TextErrorKind::Form, "arm", what));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Experiment {
        name: head.name,
        question: head.question,
        workload,
        set: pairs_of(&read.set),
        target: head.target,
        arms,
        pairs,
        seed: head.seed,
        alpha,
        primary: head.primary,
        margin_percent,
        margins,
        settle_ns: settle.unwrap_or_default(),
    })
}

fn arm_of(arm: ArmText) -> Result<Arm, (&'static str, String)> {
    let mut settings: Vec<Setting> = arm.mount_options.into_iter().map(Setting::MountOptions).collect();
    settings.extend(pairs_of(&arm.settings).into_iter().map(|(name, value)| Setting::Named { name, value }));
    for (path, value) in &arm.values {
        let inside = ["/sys/", "/proc/sys/", "/proc/irq/"].iter().any(|root| path.starts_with(root));
        if !inside || path.split('/').any(|part| part == "..") {
            let what = "is not a file below /sys, /proc/sys or /proc/irq; use command and undo";
            return Err(("values", format!("'{path}' {what}")));
        }
        settings.push(Setting::Value { path: path.clone(), value: plain(value) });
    }
    for (name, value) in &arm.sysctl {
        if name.is_empty() || name.contains(['/', ' ']) || name.contains("..") {
            return Err(("sysctl", format!("'{name}' is not a name such as vm.dirty_ratio")));
        }
        settings.push(Setting::Value { path: format!("/proc/sys/{}", name.replace('.', "/")), value: plain(value) });
    }
    match (arm.command, arm.undo) {
        (Some(run), Some(undo)) => {
            settings.push(Setting::Command { run: arguments("command", run)?, undo: arguments("undo", undo)? });
        }
        (None, None) => {}
        (Some(_), None) => {
            return Err(("undo", "a command needs the one that undoes it (undo = \"true\" if none)".into()));
        }
        (None, Some(_)) => return Err(("command", "there is nothing to undo".into())),
    }
    let when = arm.when.as_deref().map(Condition::parse).transpose().map_err(|what| ("when", what))?;
    Ok(Arm { name: arm.name, settings, set: pairs_of(&arm.set), target: arm.target, when })
}

/// Names become parts of tags and of file names.
fn is_name(text: &str) -> bool {
    (1..=40).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = r#"
[experiment]
name = "read-ahead"
question = "Does a larger read-ahead help?"
workload = "stream"
pairs = 6
seed = 3
primary = ["read-1.throughput_bytes_per_s"]
margin = "3 %"
settle = "500ms"

[set]
time = "2s"
depth = [1, 4]

[margins]
"read-1.latency_ns_p99" = 20

[[arm]]
name = "small"
values = { "/sys/block/{disk}/queue/read_ahead_kb" = 128 }

[[arm]]
name = "large"
values = { "/sys/block/{disk}/queue/read_ahead_kb" = 4096 }
sysctl = { "vm.dirty_ratio" = 10 }
command = "echo on"
undo = "echo off"
mount-options = "noatime"
set = { access = "direct" }
when = "driver == 'ahci' && kernel != '6.1*'"
"#;

    #[test]
    fn a_whole_experiment_is_read() {
        assert!(is_experiment(GOOD));
        let e = parse_experiment("x.toml", GOOD).unwrap();
        assert_eq!((e.pairs, e.seed, e.margin_percent, e.settle_ns), (6, Some(3), Some(3.0), 500_000_000));
        assert_eq!(e.workload, WorkloadSource::Named("stream".into()));
        assert_eq!(e.set, [("depth".to_owned(), "1,4".to_owned()), ("time".to_owned(), "2s".to_owned())]);
        assert_eq!(e.margins["read-1.latency_ns_p99"], 20.0);
        let large = &e.arms[1];
        assert_eq!(large.settings.len(), 4);
        assert!(
            large.settings.contains(&Setting::Value { path: "/proc/sys/vm/dirty_ratio".into(), value: "10".into() })
        );
        let shell = |text: &str| ["/bin/sh", "-c", text].map(str::to_owned).to_vec();
        assert!(large.settings.contains(&Setting::Command { run: shell("echo on"), undo: shell("echo off") }));
        let vector = GOOD.replacen("\"echo on\"", "[\"echo\", \"on\"]", 1);
        let vector = parse_experiment("x.toml", &vector).unwrap().arms[1].settings.clone();
        assert!(vector.iter().any(|s| matches!(s, Setting::Command { run, .. } if run == &["echo", "on"])));
        assert!(large.when.is_some() && large.set == [("access".to_owned(), "direct".to_owned())]);
    }

    #[test]
    fn mistakes_name_line_and_key() {
        for (from, to, line, said) in [
            ("pairs = 6", "pairs = 0", 2, "pairs: from 1"),
            ("margin = \"3 %\"", "margin = \"much\"", 2, "margin: a margin"),
            ("settle = \"500ms\"", "settle = \"soon\"", 2, "settle: "),
            ("workload = \"stream\"", "", 2, "workload: either"),
            ("pairs = 6", "piars = 6", 6, "piars"),
            ("name = \"large\"", "name = \"small\"", 23, "a name of its own"),
            ("undo = \"echo off\"", "", 23, "undo: "),
            ("undo = \"echo off\"", "undo = []", 23, "undo: a text"),
            ("\"/sys/block/{disk}/queue/read_ahead_kb\" = 4096", "\"/etc/passwd\" = 1", 23, "not a file below /sys"),
            ("driver == 'ahci'", "driver = ahci", 23, "when: "),
        ] {
            let errors = parse_experiment("x.toml", &GOOD.replacen(from, to, 1)).unwrap_err();
            let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert!(text.iter().any(|t| t.contains(said)), "{from} -> {to}: {text:?}");
            assert!(errors.iter().any(|e| e.place.line == line), "{from}: {text:?}");
        }
        let one = GOOD.split("[[arm]]").take(2).collect::<Vec<_>>().join("[[arm]]");
        assert_eq!(parse_experiment("x.toml", &one).map(|e| e.arms.len()), Ok(1), "one is repeated");
        let none = GOOD.split("[[arm]]").next().unwrap_or_default();
        assert!(parse_experiment("x.toml", none).unwrap_err()[0].to_string().contains("an arm at least"));
    }

    #[test]
    fn a_workload_may_stand_in_the_text() {
        let inline = GOOD.replacen("workload = \"stream\"\n", "", 1)
            + "\n[workload]\nname = \"w\"\n[[workload.phase]]\nname = \"p\"\ntime = \"1s\"\n";
        let e = parse_experiment("x.toml", &inline).unwrap();
        let WorkloadSource::Inline(text) = &e.workload else { panic!("{:?}", e.workload) };
        assert!(text.contains("[[phase]]"), "{text}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}", at in 0usize..600, junk in "\\PC{0,8}") {
            let _ = parse_experiment("x", &text);
            let mut cut = at.min(GOOD.len());
            while !GOOD.is_char_boundary(cut) { cut -= 1; }
            let _ = parse_experiment("x", &format!("{}{junk}{}", &GOOD[..cut], &GOOD[cut..]));
        }
    }
}
