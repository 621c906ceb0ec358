//! Recordings of what programs did to files: text of strace, and what `narrows trace` writes.
//!
//! Nothing that a recording names is opened or touched: its paths stand for files of the run's own below the target.

mod arguments;
pub(crate) mod calls;
mod changes;
mod order;
mod processes;
mod strace;

use model::{ErrorPolicy, ReplayPlan, parse_speed_milli};
use processes::Processes;
use sha2::{Digest, Sha256};
use strace::{Line, Reader};

/// First line of what `narrows trace` writes.
pub(crate) const HEADER: &str = "# narrows-trace/1";
/// What may be set.
pub const KEYS: [&str; 7] = ["speed", "pace", "root", "outside", "depth", "cold", "on-error"];
/// Threads that make calls side by side at most, unless it is told otherwise.
const DEPTH: u32 = 16;
/// Mistakes that are told at once.
const MAX_MISTAKES: usize = 256;
/// Lines at its beginning by which a text is known.
const LINES: usize = 8;

/// Whether a text is a recording of calls on files.
pub fn is_recording(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match text.starts_with(HEADER) {
        true => true,
        false => lines.by_ref().take(LINES).any(strace::is_call),
    }
}

/// Calls that were recorded, and how they are to be made again.
#[derive(Debug)]
pub struct Recording {
    pub replay: ReplayPlan,
    /// Threads that make them.
    pub depth: u32,
    pub cold: bool,
    pub on_error: ErrorPolicy,
    pub notes: Vec<String>,
}

/// What is wrong with a recording, or with what is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingMistake {
    /// From 1 on; `None`: of what is set.
    pub line: Option<u32>,
    /// What is set, or empty.
    pub key: String,
    pub what: String,
}

impl RecordingMistake {
    fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line as u32), key: String::new(), what: what.into() }
    }
}

/// What `--set` says.
struct TraceOptions {
    speed_milli: u32,
    pauses: bool,
    root: Option<String>,
    outside: OutsidePaths,
    depth: u32,
    cold: bool,
    on_error: ErrorPolicy,
}

/// What is to become of paths outside of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutsidePaths {
    Refuse,
    Skip,
    Map,
}

impl TraceOptions {
    /// Whether it is known below which directory the calls are done again.
    fn knows_root(&self, recorded: Option<&str>) -> bool {
        self.root.is_some() || recorded.is_some() || self.outside == OutsidePaths::Map
    }

    fn of(set: &[(String, String)]) -> Result<Self, RecordingMistake> {
        let mut wish = Self {
            speed_milli: 1000,
            pauses: false,
            root: None,
            outside: OutsidePaths::Skip,
            depth: DEPTH,
            cold: false,
            on_error: ErrorPolicy::Stop,
        };
        for (key, value) in set {
            let bad = |what: &str| Err(RecordingMistake { line: None, key: key.clone(), what: what.to_owned() });
            match (key.as_str(), value.as_str()) {
                ("speed", value) => match parse_speed_milli(value) {
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
                ("outside", "refuse") => wish.outside = OutsidePaths::Refuse,
                ("outside", "skip") => wish.outside = OutsidePaths::Skip,
                ("outside", "map") => wish.outside = OutsidePaths::Map,
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
                _ => return bad(&format!("a recording has no such key; there are {}", KEYS.join(", "))),
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

/// Reads a recording, with what is set by `--set`.
///
/// # Errors
/// All mistakes.
pub fn read_recording(text: &str, set: &[(String, String)]) -> Result<Recording, Vec<RecordingMistake>> {
    let wish = TraceOptions::of(set).map_err(|e| vec![e])?;
    let header = Header::of(text);
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut notes = Vec::new();
    if whole.len() < text.len() {
        notes.push("the last line is cut off, and left out".to_owned());
    }
    let root = match wish.outside {
        OutsidePaths::Map => "/",
        _ => wish.root.as_deref().or(header.root).unwrap_or("/"),
    };
    let mut processes = Processes::new(root, header.directory);
    let mut reader = Reader::default();
    let mut errors = Vec::new();
    for (index, line) in whole.lines().enumerate() {
        let mut room = String::new();
        match reader.line(line, &mut room) {
            Ok(Line::Call(call)) => processes.on_call(&call),
            Ok(Line::Exited(process, when)) => processes.exited(process, when),
            Ok(Line::Nothing) => {}
            Err(what) => errors.push(RecordingMistake::at(index + 1, what)),
        }
        if processes.recording.is_full() {
            let what = format!("more than {} calls; replay a part of them", calls::MAX_CALLS);
            errors.push(RecordingMistake::at(index + 1, what));
        }
        if errors.len() >= MAX_MISTAKES || processes.recording.is_full() {
            break;
        }
    }
    let outside = outside_of(&processes, root);
    let knows_root = wish.knows_root(header.root);
    errors.extend(
        whole_mistakes(
            &mut processes,
            knows_root,
            wish.outside == OutsidePaths::Refuse,
            root,
            outside.as_ref(),
            errors.is_empty(),
        )
        .into_iter()
        .map(|what| RecordingMistake::at(1, what)),
    );
    if !errors.is_empty() {
        return Err(errors);
    }
    notes.extend(outside.map(|what| format!("{what}: left out; {MAP}")));
    for (name, times) in &processes.left_out {
        notes.push(format!("{times} calls of {name} are left out"));
    }
    let (trace, most) = processes.recording.done();
    let threads = trace.calls.iter().map(|call| u32::from(call.thread) + 1).max().unwrap_or(1);
    let digest = Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
    let replay = ReplayPlan {
        replay_digest: digest,
        replay_threads: threads,
        replay_speed_milli: wish.speed_milli,
        replay_pauses: wish.pauses,
        ..ReplayPlan::default()
    }
    .with(trace, most);
    Ok(Recording { replay, depth: threads.clamp(1, wish.depth), cold: wish.cold, on_error: wish.on_error, notes })
}

/// What is wrong with a recording as a whole; that nothing is left of it only where nothing else is wrong.
fn whole_mistakes(
    processes: &mut Processes,
    knows_root: bool,
    refuses_outside: bool,
    root: &str,
    outside: Option<&String>,
    is_read: bool,
) -> Vec<String> {
    let mut mistakes: Vec<String> = processes.refused.take().into_iter().collect();
    if !knows_root && processes.recording.calls() > 0 {
        mistakes.push(
            "its paths start at /; --set root=DIRECTORY says below which of its directories the calls are done again, --set outside=map \
             all of them"
                .to_owned(),
        );
    }
    if refuses_outside {
        mistakes.extend(outside.map(|what| format!("it names {what}; --set outside=skip leaves them out, {MAP}")));
    }
    if is_read && mistakes.is_empty() && processes.recording.calls() == 0 {
        mistakes.push(match (root, outside) {
            ("/", _) => "no call in it is on a file".to_owned(),
            (root, None) => format!("no call in it is on a file below {root}"),
            (root, Some(what)) => format!(
                "no call in it is on a file below {root}, but on {what}; --set root=DIRECTORY names another, {MAP}"
            ),
        });
    }
    mistakes
}

/// What does paths outside of the root again, too.
const MAP: &str = "--set outside=map makes them below the target, too";

/// How many paths lie outside of the root, and the first of them.
fn outside_of(processes: &Processes, root: &str) -> Option<String> {
    let count = processes.outside_paths.len();
    let first = processes.first_outside.as_ref()?;
    let paths = if count == 1 { "1 path" } else { &format!("{count} paths") };
    Some(format!("{paths} outside of {root}, the first {first}"))
}

#[cfg(test)]
mod tests;
