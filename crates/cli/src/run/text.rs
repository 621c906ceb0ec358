//! From the WORKLOAD of the command line to a workload that was read: built-in, TOML or fio job file, with includes,
//! variables of the environment, and `--set`.

use crate::args::{OnError, RunArgs};
use crate::reading::{self, Pipes};
use conduct::{Language, Source};
use model::Failure;
use spec::{TextError, TextErrorKind, TextInputs, TextMachine, Workload};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More is no text of a person.
const MOST_BYTES: u64 = 4 << 20;
/// More is no trace that is replayed from memory.
const MOST_TRACE_BYTES: u64 = 256 << 20;
/// Files of processors that are looked for beside one.
const MOST_PROCESSORS: u32 = 4096;
/// More texts than this include each other in a circle.
const MOST_INCLUDES: usize = 64;

/// Reads the workload of a text as the command line asks.
pub fn read(args: &RunArgs, source: &Source) -> Result<Workload, Failure> {
    if args.lenient && source.language == Language::Toml {
        return Err(
            Failure::usage("--lenient is for fio job files; in TOML every key is ours").remedy("leave --lenient out")
        );
    }
    let workload = workload(source, &settings(args, source.language)?, args.lenient)?;
    if args.real.is_some() && !workload.has_packages() {
        let what = format!("--real: {} installs no packages", workload.name);
        return Err(Failure::usage(what).remedy("narrows run packages TARGET --real"));
    }
    Ok(workload)
}

/// A built-in workload; where an option gives one of its keys a value, with that.
pub fn built_in(name: &str, key: &str, value: Option<&str>, example: &str) -> Result<Workload, Failure> {
    let set: Vec<(String, String)> = value.iter().map(|value| (key.to_owned(), (*value).to_owned())).collect();
    spec::built_in(name, &set).map_err(|errors| {
        let what: Vec<&str> = errors.iter().map(|e| e.what.as_str()).collect();
        Failure::usage(format!("--{key}: {}", what.join("; "))).remedy(format!("for example --{key} {example}"))
    })
}

/// Reads a workload with other values for some keys.
pub fn workload(source: &Source, set: &[(String, String)], lenient: bool) -> Result<Workload, Failure> {
    let variables = std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
    let variables: BTreeMap<String, String> = variables.collect();
    let mut includes = BTreeMap::new();
    loop {
        let inputs = TextInputs {
            file: &source.name,
            text: &source.text,
            includes: &includes,
            set,
            variables: &variables,
            machine: machine(),
            lenient,
        };
        let result = match source.language {
            Language::Toml => spec::parse_workload(&inputs),
            Language::Fio => spec::parse_fio(&inputs),
            Language::Trace => conduct::parse_trace(&inputs),
        };
        let errors = match result {
            Ok(workload) => return Ok(workload),
            Err(errors) => errors,
        };
        let missing = errors.iter().find(|e| e.kind == TextErrorKind::NeedsInclude && !includes.contains_key(&e.key));
        match missing {
            Some(wanted) if includes.len() < MOST_INCLUDES => {
                let text = include(&source.directory, wanted)?;
                includes.insert(wanted.key.clone(), text);
            }
            _ => return Err(mistakes(&errors, source.language)),
        }
    }
}

/// Reads what `WORKLOAD` names.
pub fn source(name: &std::ffi::OsStr) -> Result<Source, Failure> {
    let shown = name.to_string_lossy().into_owned();
    if let Some(text) = name.to_str().and_then(spec::workload_text) {
        let (text, directory) = (text.to_owned(), PathBuf::from("."));
        return Ok(Source { name: shown, text, language: Language::Toml, directory });
    }
    if shown == "-" {
        let from = reading::stdin("the workload").map_err(|what| {
            Failure::usage(format!("cannot read stdin: {what}")).remedy("redirect a text file to it")
        })?;
        let bytes = bounded(from, "stdin")?;
        let text = match spec::is_blktrace(&bytes) {
            true => {
                spec::blktrace_text(&[bytes]).map_err(|what| Failure::usage(format!("cannot read stdin: {what}")))?
            }
            false => text_of(bytes, "stdin")?,
        };
        return Ok(Source { name: "stdin".into(), language: language(None, &text), text, directory: ".".into() });
    }
    let path = Path::new(name);
    if !path.exists() && path.components().count() == 1 && path.extension().is_none() {
        let nearest = spec::nearest_workload(&shown).map(|n| format!(" (did you mean '{n}'?)")).unwrap_or_default();
        let message = format!("there is no built-in workload '{shown}' and no such file{nearest}");
        return Err(Failure::usage(message).remedy("narrows workloads   lists what is built in"));
    }
    let bytes = bytes_of(path, Pipes::Taken)?;
    let text =
        if spec::is_blktrace(&bytes) { blktrace(path, bytes)? } else { text_of(bytes, &path.display().to_string())? };
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(Source {
        language: language(path.extension().and_then(|e| e.to_str()), &text),
        name: shown,
        text,
        directory: directory.to_owned(),
    })
}

/// By the name where it says so, else by the text: only TOML has `[[phase]]`, `[frames]` and `[layers]`.
fn language(extension: Option<&str>, text: &str) -> Language {
    match extension {
        Some("toml") => Language::Toml,
        Some("fio" | "job" | "ini") => Language::Fio,
        _ if conduct::is_trace(text) => Language::Trace,
        _ if text
            .lines()
            .any(|line| line.trim_start().starts_with("[[") || ["[frames]", "[layers]"].contains(&line.trim())) =>
        {
            Language::Toml
        }
        _ => Language::Fio,
    }
}

/// What blktrace wrote, by one processor or all: `NAME.blktrace.0` stands for all files of its name.
fn blktrace(path: &Path, first: Vec<u8>) -> Result<String, Failure> {
    let cannot = |what: String| Failure::usage(format!("cannot read {}: {what}", path.display()));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem =
        name.rsplit_once('.').filter(|(stem, number)| stem.ends_with(".blktrace") && number.parse::<u32>().is_ok());
    let (mut files, mut all) = (vec![first], 0);
    if let Some((stem, _)) = stem {
        let others = (0..MOST_PROCESSORS).map(|cpu| path.with_file_name(format!("{stem}.{cpu}")));
        for other in others.filter(|other| other != path && other.exists()) {
            let bytes = bytes_of(&other, Pipes::Refused)?;
            all += bytes.len() as u64;
            if all > MOST_TRACE_BYTES {
                return Err(cannot(format!("more than {MOST_TRACE_BYTES} bytes in all files of its name")));
            }
            files.push(bytes);
        }
    }
    spec::blktrace_text(&files).map_err(cannot)
}

fn file(path: &Path, pipes: Pipes) -> Result<String, Failure> {
    text_of(bytes_of(path, pipes)?, &path.display().to_string())
}

fn bytes_of(path: &Path, pipes: Pipes) -> Result<Vec<u8>, Failure> {
    let cannot = |what: String| {
        Failure::usage(format!("cannot read {}: {what}", path.display()))
            .remedy("name a text file; narrows workloads lists what is built in")
    };
    let from = reading::file(path, pipes, "the workload").map_err(|e| cannot(e.to_string()))?;
    bounded(from, &path.display().to_string())
}

fn bounded(from: impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    let cannot = |what: String| Failure::usage(format!("cannot read {name}: {what}"));
    let (mut bytes, mut from, mut most) = (Vec::new(), from, MOST_BYTES);
    let mut read_to = |bytes: &mut Vec<u8>, most: u64| {
        let more = most + 1 - bytes.len() as u64;
        from.by_ref().take(more).read_to_end(bytes).map_err(|e| cannot(e.to_string()))
    };
    read_to(&mut bytes, most)?;
    let is_trace =
        |bytes: &[u8]| spec::is_blktrace(bytes) || conduct::is_trace(&String::from_utf8_lossy(&bytes[..4096]));
    if bytes.len() as u64 > most && is_trace(&bytes) {
        most = MOST_TRACE_BYTES;
        read_to(&mut bytes, most)?;
    }
    if bytes.len() as u64 > most {
        return Err(cannot(format!("more than {most} bytes are not the text of a workload")));
    }
    Ok(bytes)
}

fn text_of(bytes: Vec<u8>, name: &str) -> Result<String, Failure> {
    let cannot = |line| Failure::usage(format!("cannot read {name}: line {line} is not UTF-8"));
    readable(bytes).map_err(cannot)
}

/// The text, or the number of a line that is none. Comments may be of an older encoding.
fn readable(bytes: Vec<u8>) -> Result<String, usize> {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len());
    for (index, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        match std::str::from_utf8(line) {
            Ok(line) => text.push_str(line),
            Err(_) if matches!(line.trim_ascii_start().first(), Some(b';' | b'#')) => {
                text.push_str(&String::from_utf8_lossy(line));
            }
            Err(_) => return Err(index + 1),
        }
    }
    Ok(text)
}

/// An included text stands beside the text that includes it, else beside the one that is read, else in the current
/// directory.
fn include(directory: &Path, wanted: &TextError) -> Result<String, Failure> {
    let name = Path::new(&wanted.key);
    // What a text in another directory includes is asked for with that directory.
    let including = Path::new(&wanted.place.file).parent().unwrap_or(Path::new(""));
    let as_written = name.strip_prefix(including).unwrap_or(name);
    let places = [directory.join(name), directory.join(as_written), name.to_owned()];
    let path = places.iter().find(|p| p.exists()).map_or(as_written, |p| p.as_path());
    file(path, Pipes::Refused).map_err(|failure| {
        Failure::usage(format!("{}: include: {}", wanted.place, failure.message))
            .remedy("includes are looked for beside the text that includes them, then in the current directory")
    })
}

/// `--set KEY=VALUE`, and what other options say in the words of the language.
pub fn settings(args: &RunArgs, language: Language) -> Result<Vec<(String, String)>, Failure> {
    let mut set = Vec::with_capacity(args.set.len() + 1);
    for given in &args.set {
        let Some((key, value)) = given.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
            return Err(Failure::usage(format!("--set {given}: not of the form KEY=VALUE"))
                .remedy("for example --set time=30s"));
        };
        set.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    if let Some(archives) = &args.real {
        set.push(("package-manager".to_owned(), "dpkg".to_owned()));
        set.extend(archives.as_ref().map(|directory| ("package-archives".to_owned(), directory.clone())));
    }
    if let Some(policy) = args.on_error {
        let (key, value) = match (language, policy) {
            (Language::Toml | Language::Trace, OnError::Stop) => ("on-error", "stop"),
            (Language::Toml | Language::Trace, OnError::Continue) => ("on-error", "continue"),
            (Language::Fio, OnError::Stop) => ("continue_on_error", "none"),
            (Language::Fio, OnError::Continue) => ("continue_on_error", "all"),
        };
        set.push((key.to_owned(), value.to_owned()));
    }
    Ok(set)
}

fn machine() -> TextMachine {
    TextMachine {
        page_size_bytes: sys::page_size(),
        memory_bytes: memory_bytes(),
        processors: std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
    }
}

/// Memory of the machine.
fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit))
}

/// Mistakes in the text of a study.
pub fn study_mistakes(errors: &[TextError], study: &str) -> Failure {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    Failure::usage(lines.join("\n")).remedy(format!("narrows workloads show {study}   prints all keys"))
}

/// All mistakes, a line each; the list of keys as the remedy.
fn mistakes(errors: &[TextError], language: Language) -> Failure {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let unsupported = errors
        .iter()
        .all(|e| matches!(e.kind, TextErrorKind::Unsupported | TextErrorKind::Unknown) && e.place.line > 0);
    let remedy = match language {
        Language::Fio if unsupported => "--lenient leaves out what is not supported, and says so in the run",
        Language::Fio => "the options that are read, and what they mean here: docs/workloads.md",
        Language::Trace => {
            "--set speed=max|2, depth=N, access=direct|buffered, region=SIZE; of files root=DIRECTORY, outside=skip|map, \
             pace=pauses; what is read: docs/workloads.md"
        }
        Language::Toml => "narrows workloads show depth   prints a text as an example; docs/workloads.md has all keys",
    };
    Failure::usage(lines.join("\n")).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn comments_of_an_older_encoding_are_read_and_other_lines_named() {
        assert_eq!(readable(b"; caf\xe9\n  # \xff\n[j]\n".to_vec()).unwrap().lines().count(), 3);
        assert_eq!(readable(b"[j]\nname=caf\xe9\n".to_vec()), Err(2));
    }
}
