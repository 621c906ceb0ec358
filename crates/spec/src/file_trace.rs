//! Recordings of what programs did to files, as workloads: text of strace, and what `narrows trace` writes.
//!
//! Nothing that a recording names is opened or touched: its paths stand for files of the run's own below the target.

mod arguments;
mod changes;
mod order;
mod processes;
pub(crate) mod recording;
mod strace;

use crate::job::{Job, Phase, Workload};
use crate::text_error::{TextError, TextErrorKind, TextPosition};
use crate::text_inputs::{MOST_ERRORS, TextInputs};
use crate::values::speed_milli;
use model::{ErrorPolicy, PhaseKind, ReplayPlan};
use processes::{Outside, Processes};
use strace::{Line, Reader};

/// First line of what `narrows trace` writes.
pub const HEADER: &str = "# narrows-trace/1";
const KEYS: [&str; 7] = ["speed", "pace", "root", "outside", "depth", "cold", "on-error"];
/// Threads that make calls side by side at most, unless it is told otherwise.
const DEPTH: u32 = 16;
/// Lines at its beginning by which a text is known.
const LINES: usize = 8;

/// Whether a text is a recording of calls on files.
pub fn is_file_trace(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match text.starts_with(HEADER) {
        true => true,
        false => lines.by_ref().take(LINES).any(strace::is_call),
    }
}

/// What `--set` says.
struct Wish {
    speed_milli: u32,
    pauses: bool,
    root: Option<String>,
    outside: Option<Wanted>,
    depth: u32,
    cold: bool,
    on_error: ErrorPolicy,
}

/// What is to become of paths outside of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Refuse,
    Skip,
    Map,
}

impl Wish {
    fn of(set: &[(String, String)]) -> Result<Self, TextError> {
        let mut wish = Self {
            speed_milli: 1000,
            pauses: false,
            root: None,
            outside: None,
            depth: DEPTH,
            cold: false,
            on_error: ErrorPolicy::Stop,
        };
        for (key, value) in set {
            let bad = |what: &str| Err(TextPosition::command_line().error(TextErrorKind::Value, key, what));
            match (key.as_str(), value.as_str()) {
                ("speed", value) => match speed_milli(value) {
                    Ok(milli) => wish.speed_milli = milli,
                    Err(what) => return bad(what),
                },
                ("pace", "moments") => wish.pauses = false,
                ("pace", "pauses") => wish.pauses = true,
                ("pace", _) => {
                    return bad("moments: each call when it was; pauses: so long after the one before of its thread");
                }
                ("root", path) if path.starts_with('/') => wish.root = Some(path.to_owned()),
                ("root", _) => return bad("a directory as the recording names it, from / on"),
                ("outside", "refuse") => wish.outside = Some(Wanted::Refuse),
                ("outside", "skip") => wish.outside = Some(Wanted::Skip),
                ("outside", "map") => wish.outside = Some(Wanted::Map),
                ("outside", _) => return bad("refuse, skip or map"),
                ("depth", value) => match value.parse::<u32>() {
                    Ok(depth @ 1..=64) => wish.depth = depth,
                    _ => return bad("1 to 64"),
                },
                ("cold", "true") => wish.cold = true,
                ("cold", "false") => wish.cold = false,
                ("cold", _) => return bad("true or false"),
                ("on-error", "stop") => wish.on_error = ErrorPolicy::Stop,
                ("on-error", "continue") => wish.on_error = ErrorPolicy::Continue,
                ("on-error", _) => return bad("stop or continue"),
                _ => {
                    let what = format!("a recording has no such key; there are {}", KEYS.join(", "));
                    let mut error = TextPosition::command_line().error(TextErrorKind::Unknown, key, what);
                    error.nearest = crate::keys::nearest(key, KEYS);
                    return Err(error);
                }
            }
        }
        Ok(wish)
    }
}

/// What the first lines of our own recordings say.
#[derive(Default)]
struct Header<'t> {
    root: Option<&'t str>,
    directory: Option<&'t str>,
}

impl<'t> Header<'t> {
    fn of(text: &'t str) -> Self {
        let mut header = Self::default();
        for line in text.lines().take_while(|line| line.starts_with('#')) {
            if let Some(path) = line.strip_prefix("# root: ") {
                header.root = Some(path);
            } else if let Some(path) = line.strip_prefix("# directory: ") {
                header.directory = Some(path);
            }
        }
        header
    }
}

/// Reads a recording as a workload of one phase, `replay`.
///
/// # Errors
/// All mistakes.
pub fn parse_file_trace(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    let wish = Wish::of(inputs.set).map_err(|e| vec![e])?;
    let header = Header::of(inputs.text);
    let place = |line: usize| TextPosition { file: inputs.file.to_owned(), line: line as u32 };
    let whole = &inputs.text[..inputs.text.rfind('\n').map_or(0, |end| end + 1)];
    let mut notes = Vec::new();
    if whole.len() < inputs.text.len() {
        notes.push("the last line is cut off, and left out".to_owned());
    }
    let root = match wish.outside {
        Some(Wanted::Map) => "/",
        _ => wish.root.as_deref().or(header.root).unwrap_or("/"),
    };
    let outside = if wish.outside == Some(Wanted::Skip) { Outside::LeftOut } else { Outside::Refused };
    let (mut processes, mut reader) = (Processes::new(root, outside, header.directory), Reader::default());
    let mut errors = Vec::new();
    for (index, line) in whole.lines().enumerate() {
        let mut room = String::new();
        match reader.line(line, &mut room) {
            Ok(Line::Call(call)) => processes.hear(&call),
            Ok(Line::Exited(process, when)) => processes.exited(process, when),
            Ok(Line::Nothing) => {}
            Err(what) => errors.push(place(index + 1).error(TextErrorKind::Value, "", what)),
        }
        if processes.recording.is_full() {
            let what = format!("more than {} calls; replay a part of them", recording::MOST_CALLS);
            errors.push(place(index + 1).error(TextErrorKind::Value, "", what));
        }
        if errors.len() >= MOST_ERRORS || processes.recording.is_full() {
            break;
        }
    }
    let whole = |what: String| place(1).error(TextErrorKind::Value, "", what);
    errors.extend(processes.refused.take().map(whole));
    errors.extend(told_outside(&processes, &wish, header.root).map(whole));
    if errors.is_empty() && processes.recording.calls() == 0 {
        errors.push(whole(match root {
            "/" => "no call in it is on a file".to_owned(),
            root => format!("no call in it is on a file below {root}"),
        }));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if !processes.outside_paths.is_empty() {
        notes.push(format!("{} paths outside of {root} are left out", processes.outside_paths.len()));
    }
    for (name, times) in &processes.left_out {
        notes.push(format!("{times} calls of {name} are left out"));
    }
    let (trace, most) = processes.recording.done();
    let threads = trace.calls.iter().map(|call| u32::from(call.thread) + 1).max().unwrap_or(1);
    let digest = crate::does_again::digest_of(inputs.text);
    let replay = ReplayPlan {
        replay_digest: digest,
        replay_threads: threads,
        replay_speed_milli: wish.speed_milli,
        replay_pauses: wish.pauses,
        ..ReplayPlan::default()
    }
    .with(trace, most);
    let name = std::path::Path::new(inputs.file).file_stem().map_or("replay".into(), |s| s.to_string_lossy());
    let mut job = Job::named("replay");
    job.stream.path.queue_depth = threads.clamp(1, wish.depth);
    job.stream.on_error = wish.on_error;
    job.cold = wish.cold;
    job.stream.kind = replay.into();
    Ok(Workload {
        name: name.into_owned(),
        title: format!("What {} recorded of files, done again", inputs.file),
        answers: "How would this storage have done what was recorded?".to_owned(),
        notes,
        phases: vec![Phase { name: "replay".into(), kind: PhaseKind::Measure, jobs: vec![job], optional: false }],
        ..Workload::new()
    })
}

/// What is said where paths lie outside and nobody said what is to become of them.
fn told_outside(processes: &Processes, wish: &Wish, root: Option<&str>) -> Option<String> {
    let known = wish.root.is_some() || root.is_some() || wish.outside == Some(Wanted::Map);
    if !known && processes.recording.calls() > 0 {
        return Some(
            "its paths start at /; --set root=DIRECTORY says below which of its directories the calls are done again, --set outside=map all of them"
                .to_owned(),
        );
    }
    let first = processes.first_outside.as_ref().filter(|_| processes.outside() == Outside::Refused)?;
    let count = processes.outside_paths.len();
    Some(format!(
        "it names {count} paths outside of {}, the first {first}; --set outside=skip leaves them out, --set outside=map makes them below the target, too",
        wish.root.as_deref().or(root).unwrap_or("/")
    ))
}

#[cfg(test)]
#[path = "file_trace/tests.rs"]
mod tests;
