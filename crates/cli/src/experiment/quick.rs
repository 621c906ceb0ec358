//! Experiments that need no text of their own, `run --repeat` and `compare --repeat --with`: written as the TOML that they
//! amount to, and then executed, resumed and kept as any other.

use crate::args::{CompareArgs, GlobalArgs, RunArgs, RunMarks};
use crate::output::Output;
use crate::run::text;
use conduct::{Language, Source};
use model::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Names of experiments and arms have at most so many characters.
const LONGEST_NAME: usize = 40;

/// What is written as TOML.
#[derive(Debug, Default, PartialEq)]
struct Quick {
    name: String,
    question: String,
    workload: String,
    target: Option<String>,
    pairs: u32,
    alpha: Option<f64>,
    primary: Vec<String>,
    margins: Vec<(Option<String>, f64)>,
    set: Vec<(String, String)>,
    /// Name, and the lines of its table.
    arms: Vec<(String, Vec<String>)>,
}

impl Quick {
    fn toml(&self) -> String {
        let mut lines = vec!["[experiment]".to_owned(), format!("name = {}", quoted(&self.name))];
        let mut line = |text: String| lines.push(text);
        if !self.question.is_empty() {
            line(format!("question = {}", quoted(&self.question)));
        }
        line(format!("workload = {}", quoted(&self.workload)));
        self.target.iter().for_each(|t| line(format!("target = {}", quoted(t))));
        line(format!("pairs = {}", self.pairs));
        self.alpha.iter().for_each(|a| line(format!("alpha = {a}")));
        if !self.primary.is_empty() {
            line(format!("primary = [{}]", self.primary.iter().map(|id| quoted(id)).collect::<Vec<_>>().join(", ")));
        }
        let of_all = self.margins.iter().rfind(|(id, _)| id.is_none());
        of_all.iter().for_each(|(_, percent)| line(format!("margin = {percent:?}")));
        let each: Vec<_> = self.margins.iter().filter_map(|(id, p)| Some((id.as_ref()?, p))).collect();
        if !each.is_empty() {
            line("\n[margins]".to_owned());
            last_of_each(&each, |(id, _)| *id).for_each(|(id, percent)| line(format!("{} = {percent:?}", quoted(id))));
        }
        if !self.set.is_empty() {
            line("\n[set]".to_owned());
            let set = last_of_each(&self.set, |(key, _)| key);
            set.for_each(|(key, value)| line(format!("{} = {}", quoted(key), quoted(value))));
        }
        for (name, keys) in &self.arms {
            line(format!("\n[[arm]]\nname = {}", quoted(name)));
            keys.iter().for_each(|key| line(key.clone()));
        }
        lines.join("\n") + "\n"
    }

    fn source(&self) -> Source {
        Source {
            name: format!("{}.toml", self.name),
            text: self.toml(),
            language: Language::Toml,
            directory: ".".into(),
        }
    }
}

/// Of those with the same key the last, as without an experiment.
fn last_of_each<'a, T, K: PartialEq + ?Sized + 'a>(
    all: &'a [T],
    key: fn(&'a T) -> &'a K,
) -> impl Iterator<Item = &'a T> {
    all.iter()
        .enumerate()
        .filter(move |(at, one)| all[at + 1..].iter().all(|later| key(later) != key(one)))
        .map(|(_, one)| one)
}

/// A string as TOML has it: what JSON escapes, TOML does.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// A name made of what a user typed: letters, digits, `-` and `_`, beginning with a letter.
fn name_of(text: &str, otherwise: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = text.chars().map(plain).collect();
    let name: String = name.trim_matches('-').chars().take(LONGEST_NAME).collect();
    match name.chars().next() {
        None => otherwise.to_owned(),
        Some(first) if first.is_ascii_alphabetic() => name,
        Some(_) => format!("{otherwise}-{name}").chars().take(LONGEST_NAME).collect(),
    }
}

/// The last part of a path, without what follows its dot.
fn stem(name: &str) -> String {
    std::path::Path::new(name).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

/// `narrows run NAME TARGET --repeat N`.
pub fn repeat(
    args: &RunArgs,
    times: u32,
    source: Source,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    refuse_beside_repeat(args)?;
    let set = text::settings(args, source.language)?;
    let name = args.marks.tags.first().map_or_else(|| stem(&source.name), Clone::clone);
    let quick = Quick {
        name: name_of(&name, "repeat"),
        workload: source.name.clone(),
        target: args.target.as_ref().map(|t| t.to_string_lossy().into_owned()),
        pairs: times,
        set,
        arms: vec![("run".to_owned(), Vec::new())],
        ..Quick::default()
    };
    // What is in the text is not said again.
    let mut args = RunArgs { set: Vec::new(), on_error: None, target: None, ..args.clone() };
    if args.marks.tags.first() == Some(&quick.name) {
        args.marks.tags.remove(0);
    }
    execute(&quick, &args, source, global, output)
}

fn refuse_beside_repeat(args: &RunArgs) -> Result<(), Failure> {
    let beside =
        [("--format", args.format.is_some()), ("--lenient", args.lenient), ("--report", args.report.is_some())];
    match beside.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::usage(format!("{option} is for one run, and --repeat makes several"))
            .remedy("leave one of them out; narrows report and narrows export take a run afterwards")),
        None => Ok(()),
    }
}

/// `narrows compare --repeat N 'NAME TARGET' --with KEY=A,B`.
pub fn compare(
    args: &CompareArgs,
    times: u32,
    margins: Vec<(Option<String>, f64)>,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let (name, target) = crate::compare::text_and_target(&args.a);
    if args.output.is_some() {
        return Err(Failure::usage("-o is for runs that are made".to_owned())
            .remedy("narrows compare TAG TAG -o FILE   afterwards; the tags are printed"));
    }
    if args.b.is_some() {
        return Err(Failure::usage("with --repeat there is one text, 'NAME TARGET', and no B".to_owned())
            .remedy("quote the two words: narrows compare --repeat 5 'latency /mnt/data' --with read-ahead=128,4096"));
    }
    let with = args.with.as_deref().unwrap_or_default();
    let (key, values) = with.split_once('=').map_or((with, ""), |(key, values)| (key.trim(), values));
    let values: Vec<&str> = values.split(',').map(str::trim).filter(|v| !v.is_empty()).collect();
    if key.is_empty() || values.len() < 2 {
        return Err(Failure::usage(format!("--with {with}: a key and two values at least"))
            .remedy("--with read-ahead=128,4096"));
    }
    let mut arms: Vec<(String, Vec<String>)> = Vec::new();
    for value in values {
        let mut name = name_of(value, "v");
        if arms.iter().any(|(other, _)| *other == name) {
            name = format!("{}-{}", name.chars().take(LONGEST_NAME - 4).collect::<String>(), arms.len() + 1);
        }
        arms.push((name, vec![change(key, value)]));
    }
    let source = text::source(&OsString::from(&name))?;
    if spec::is_experiment(&source.text) {
        return Err(Failure::usage(format!("{name} is an experiment: it has its own arms"))
            .remedy(format!("narrows run {name}")));
    }
    let run = RunArgs {
        plan: args.plan,
        permissions: args.permissions.clone(),
        marks: RunMarks { seed: args.seed, ..RunMarks::default() },
        identify: args.identify,
        fail_on: args.fail_on,
        strict: args.strict,
        ..RunArgs::default()
    };
    let quick = Quick {
        name: name_of(&format!("{}-{key}", stem(&name)), "compare"),
        question: format!("Does {key} make a difference?"),
        workload: name,
        target,
        pairs: times,
        alpha: args.alpha,
        primary: args.primary.clone(),
        margins,
        set: text::settings(&RunArgs { set: args.set.clone(), ..RunArgs::default() }, source.language)?,
        arms,
    };
    execute(&quick, &run, source, global, output)
}

/// What an arm has for a key: a file below /sys or /proc, mount options, another target, a setting that has a name, else a key
/// of the workload.
fn change(key: &str, value: &str) -> String {
    let table = |table: &str| format!("{table} = {{ {} = {} }}", quoted(key), quoted(value));
    match key {
        "target" | "mount-options" => format!("{key} = {}", quoted(value)),
        _ if settings::MountOption::named(key).is_some() => format!("mount-options = {}", quoted(value)),
        _ if key.starts_with('/') => table("values"),
        _ if settings::TUNABLES.iter().any(|t| t.name == key) => table("settings"),
        // The kernel's own name of it.
        _ if let Some(tunable) = settings::Tunable::of_file(key) => {
            format!("settings = {{ {} = {} }}", quoted(tunable.name), quoted(value))
        }
        _ if ["vm.", "fs.", "kernel.", "dev."].iter().any(|root| key.starts_with(root)) => table("sysctl"),
        _ => table("set"),
    }
}

/// Shows the text, and executes it.
fn execute(
    quick: &Quick,
    args: &RunArgs,
    workload: Source,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let source = quick.source();
    let shown: String = source.text.lines().map(|l| format!("  {l}").trim_end().to_owned() + "\n").collect();
    let what =
        format!("this experiment, which narrows run {} would make from a file of this text:\n{shown}", source.name);
    if output.is_json() || !args.plan {
        output.aside(&what);
    } else {
        output.text(&format!("# {}\n{}\n", source.name, source.text));
    }
    super::execute(args, &source, &workload, global, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let quick = Quick {
            name: name_of("4k \"odd\"", "x"),
            question: "Why \\ \"so\"?".into(),
            workload: "latency".into(),
            target: Some("/mnt/a b".into()),
            pairs: 5,
            alpha: Some(0.1),
            primary: vec!["read.latency_ns_p50".into()],
            margins: vec![
                (None, 9.0),
                (Some("read.latency_ns_p50".into()), 9.0),
                (None, 3.0),
                (Some("read.latency_ns_p50".into()), 2.5),
            ],
            set: vec![("read.time".into(), "9s".into()), ("read.time".into(), "3s".into())],
            arms: vec![
                (name_of("128", "v"), vec![change("read-ahead", "128")]),
                (name_of("/mnt/b", "v"), vec![change("target", "/mnt/b")]),
                ("c".into(), vec![change("vm.swappiness", "10")]),
                ("d".into(), vec![change("/sys/block/{disk}/queue/nr_requests", "64")]),
                ("e".into(), vec![change("depth", "8")]),
                ("f".into(), vec![change("mount-options", "noatime")]),
            ],
        };
        let read =
            spec::parse_experiment("q.toml", &quick.toml()).unwrap_or_else(|e| panic!("{e:?}\n{}", quick.toml()));
        assert_eq!((read.name.as_str(), read.pairs, read.alpha), ("x-4k--odd", 5, 0.1));
        assert_eq!((read.question.as_str(), read.target.as_deref()), ("Why \\ \"so\"?", Some("/mnt/a b")));
        assert_eq!((read.margin_percent, read.margins["read.latency_ns_p50"]), (Some(3.0), 2.5));
        assert_eq!(read.set, [("read.time".to_owned(), "3s".to_owned())]);
        let names: Vec<&str> = read.arms.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["v-128", "mnt-b", "c", "d", "e", "f"]);
        assert_eq!(read.arms[1].target.as_deref(), Some("/mnt/b"));
        assert_eq!(read.arms[4].set, [("depth".to_owned(), "8".to_owned())]);
        assert!([0, 2, 3, 5].iter().all(|i| read.arms[*i].settings.len() == 1), "{:?}", read.arms);
    }
}
