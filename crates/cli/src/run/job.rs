//! A job that was given by its options: the fio job file that it is, and the same in our language.

use super::text;
use crate::args::RunArgs;
use conduct::{Language, Source};
use model::{Failure, Plan};
use spec::Workload;

/// A job has a section, and in our language a phase, of this name, unless `--name` gives another.
const NAME: &str = "job";

/// The job file that the options of the command line are, with the arguments as they are without them: the only name is
/// the target.
pub fn source(args: &RunArgs) -> Result<(Source, RunArgs), Failure> {
    let mut args = args.clone();
    if let (Some(first), Some(second)) = (&args.workload, &args.target) {
        let failure = Failure::usage(format!(
            "a job by its options takes one name, the TARGET; here are '{}' and '{}'",
            first.to_string_lossy(),
            second.to_string_lossy()
        ));
        return Err(
            failure.remedy("options of a job file or a workload: --set OPTION=VALUE; values of yes and no: --direct=1")
        );
    }
    args.target = args.workload.take();
    if args.lenient {
        return Err(Failure::usage("--lenient is for job files: an option that was typed is meant".to_owned()));
    }
    let options = &args.job.given;
    let has = |name: &str| options.iter().any(|(n, _)| n == name);
    let given = |name: &str| options.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let mut lines = vec![format!("[{}]", given("name").unwrap_or(NAME))];
    let kept = options.iter().filter(|(name, _)| name != "name");
    lines.extend(kept.map(|(name, value)| format!("{name}={value}")));
    // fio's own engine has one operation in flight, whatever the depth; who asks for more wants more.
    let deep = given("iodepth").is_some_and(|d| d.trim() != "1");
    if deep && !has("ioengine") {
        lines.push("ioengine=io_uring".to_owned());
    }
    if let Some(bad) = options.iter().find(|(_, value)| value.contains('\n')) {
        return Err(Failure::usage(format!("--{}: a value of several lines", bad.0)));
    }
    let text = lines.join("\n") + "\n";
    Ok((Source { name: "command line".into(), text, language: Language::Fio, directory: ".".into() }, args))
}

/// The same job in our language; `None` where an option has no key there. Whether it comes to the same plan, the plan says.
pub fn toml(source: &Source) -> Option<(String, Workload)> {
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut name = NAME.to_owned();
    let options: Vec<(&str, &str)> = source.text.lines().filter_map(|l| l.split_once('=')).collect();
    if let Some(section) = source.text.lines().next() {
        name = section.trim_matches(['[', ']']).to_owned();
    }
    let is_set = |option: &str| options.iter().any(|(o, v)| *o == option && *v != "0");
    for (option, value) in &options {
        let key = spec::our_key(option);
        let mut put = |key: &str, value: &str| keys.push((key.to_owned(), value.to_owned()));
        match *option {
            "rw" | "readwrite" => {
                let (kind, random) = value.strip_prefix("rand").map_or((*value, false), |kind| (kind, true));
                put(
                    "operation",
                    match kind {
                        "rw" | "readwrite" => "mix",
                        "trimwrite" => "trim-write",
                        other => other,
                    },
                );
                put("order", if random { "random" } else { "sequential" });
            }
            "runtime" | "timeout" => {
                let time =
                    if value.bytes().all(|b| b.is_ascii_digit()) { format!("{value}s") } else { (*value).to_owned() };
                put(if is_set("time_based") { "time" } else { "at-most" }, &time);
            }
            "time_based" | "group_reporting" => {}
            "direct" => put("access", if *value == "0" { "buffered" } else { "direct" }),
            "ioengine" => put(
                "engine",
                match *value {
                    "io_uring" | "libaio" | "posixaio" => "io-uring",
                    "sync" | "vsync" | "psync" | "pvsync" | "pvsync2" => "psync",
                    other => other,
                },
            ),
            _ => put(&key?, &sizes(value)),
        }
    }
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let mut text = format!(
        "name = {}\ntitle = \"a job of the command line\"\n\n[[phase]]\nname = {}\n",
        quoted(&name),
        quoted(&name)
    );
    keys.iter().for_each(|(key, value)| text += &format!("{key} = {}\n", quoted(value)));
    let ours = Source { text, language: Language::Toml, ..source.clone() };
    let workload = text::workload(&ours, &[], false).ok()?;
    Some((ours.text, workload))
}

/// Whether two plans do the same: the names and seeds aside, and that fio drops what is cached of a target before it begins,
/// which has no key of its own.
pub fn asks_the_same(a: &Plan, b: &Plan) -> bool {
    let plain = |plan: &Plan| {
        let mut phases = plan.phases.clone();
        for phase in &mut phases {
            phase.drop_cache = false;
            for stream in &mut phase.streams {
                (stream.name, stream.group, stream.seed) = (String::new(), 0, 0);
            }
        }
        phases
    };
    a.size.bytes == b.size.bytes && plain(a) == plain(b)
}

/// fio's `4k` is 4096 bytes; ours says so.
fn sizes(value: &str) -> String {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    match value[number.len()..].to_ascii_lowercase().as_str() {
        "k" | "kb" | "kib" if plain => format!("{number}KiB"),
        "m" | "mb" | "mib" if plain => format!("{number}MiB"),
        "g" | "gb" | "gib" if plain => format!("{number}GiB"),
        "t" | "tb" | "tib" if plain => format!("{number}TiB"),
        _ => value.to_owned(),
    }
}
