//! Traces and recordings as workloads, whichever they are: of block devices (`spec`), or of files (`file_trace`, where it is built in).

use model::PackageModel;
use spec::{TextError, TextErrorKind, TextInputs, TextPosition, Workload};

#[cfg(feature = "file-trace")]
pub use file_trace::{Recorded, record_calls};

/// First line of recordings of ours (`narrows trace -- COMMAND`), and what a call in strace's text looks like.
#[cfg(not(feature = "file-trace"))]
const LOOKS_LIKE: (&str, [&str; 2]) = ("# narrows-trace/1", ["(", ") = "]);

/// What knows the calls that install packages, in a build that does.
pub fn package_model() -> Option<PackageModel> {
    #[cfg(feature = "file-trace")]
    return Some(file_trace::package_calls);
    #[cfg(not(feature = "file-trace"))]
    None
}

/// Whether a text is a recording of calls on files.
#[cfg(feature = "file-trace")]
fn is_recording(text: &str) -> bool {
    file_trace::is_recording(text)
}

/// Whether it looks like one, to be told what this build lacks.
#[cfg(not(feature = "file-trace"))]
fn is_recording(text: &str) -> bool {
    let (header, call) = LOOKS_LIKE;
    text.starts_with(header)
        || text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .take(8)
            .any(|line| call.iter().all(|part| line.contains(part)))
}

/// Whether a text is a trace of block I/O, or a recording of calls on files.
pub fn is_trace(text: &str) -> bool {
    spec::is_trace(text) || is_recording(text)
}

/// Reads either as a workload of one phase, `replay`.
///
/// # Errors
/// All mistakes.
pub fn parse_trace(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    if spec::is_trace(inputs.text) || !is_recording(inputs.text) {
        spec::parse_trace(inputs)
    } else {
        parse_recording(inputs)
    }
}

#[cfg(feature = "file-trace")]
fn parse_recording(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    let read = file_trace::read_recording(inputs.text, inputs.set).map_err(|mistakes| {
        let error = |mistake: file_trace::RecordingMistake| match mistake.line {
            Some(line) => {
                TextPosition { file: inputs.file.to_owned(), line }.error(TextErrorKind::Value, "", mistake.what)
            }
            None => {
                let known = file_trace::KEYS.contains(&mistake.key.as_str());
                let kind = if known { TextErrorKind::Value } else { TextErrorKind::Unknown };
                let similar = spec::nearest(&mistake.key, file_trace::KEYS).filter(|_| !known);
                TextPosition::command_line().error(kind, &mistake.key, mistake.what).with_nearest(similar)
            }
        };
        mistakes.into_iter().map(error).collect::<Vec<_>>()
    })?;
    Ok(spec::replay_workload(inputs, read.replay, read.depth, read.cold, read.on_error, read.notes))
}

#[cfg(not(feature = "file-trace"))]
fn parse_recording(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    let lacks = engine::without_file_traces("a recording of calls on files");
    let place = TextPosition { file: inputs.file.to_owned(), line: 1 };
    Err(vec![place.error(
        TextErrorKind::Unsupported,
        "",
        format!("{}; {}", lacks.message, lacks.remedy.unwrap_or_default()),
    )])
}
