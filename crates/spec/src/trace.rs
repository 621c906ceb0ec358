//! Traces of block I/O as workloads: fio's iologs (versions 2 and 3) and the text of blkparse.
//!
//! fio: "Trace file format" in its HOWTO; the times of version 3 are microseconds (fio 3.33 writes them so, which its HOWTO leaves out),
//! `wait` of version 2 counts from the `wait` before. blkparse(1): its default format is device, processor, sequence, seconds, process, action,
//! kind, sector, `+` and sectors; what was queued (Q) is done again, or what was issued (D) where nothing was queued.
//!
//! Files and devices that a trace names are never opened: each has a stretch of the target, one behind the other.

use crate::job::{Job, Workload};
use crate::replay::{SECTOR, set_replay, sha256_hex, workload_of};
use crate::text_error::{TextError, TextErrorKind, TextPosition};
use crate::text_inputs::{MAX_ERRORS, TextInputs};
use crate::values::bytes;
use model::{Access, ErrorPolicy, Trace, TraceKind, TraceOp, bytes_text, gcd};
use std::collections::BTreeMap;

/// Operations of a trace at most: 24 bytes of memory each.
const MAX_OPERATIONS: usize = 4 << 20;
/// The longest operation; buffers are as long.
const MAX_LEN: u64 = 64 << 20;
/// The end of what can be replayed; above it offsets have no sign left.
const MAX_END: u64 = 1 << 62;
/// Operations in flight at most, unless it is told otherwise.
const DEPTH: u32 = 32;
/// Stretches of the target start on multiples of this.
const STRETCH: u64 = 1 << 20;
const KEYS: [&str; 5] = ["speed", "depth", "access", "region", "on-error"];

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Fio2,
    Fio3,
    Blkparse,
}

fn form_of(text: &str) -> Option<Form> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    match first {
        "fio version 2 iolog" => return Some(Form::Fio2),
        "fio version 3 iolog" => return Some(Form::Fio3),
        _ => {}
    }
    let fields: Vec<&str> = first.split_whitespace().collect();
    let device = fields
        .first()
        .and_then(|f| f.split_once(','))
        .is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok());
    (device && fields.len() >= 7 && fields[3].parse::<f64>().is_ok()).then_some(Form::Blkparse)
}

/// Whether a text is a trace of block I/O.
pub fn is_trace(text: &str) -> bool {
    form_of(text).is_some()
}

/// An operation as it stands in a text.
struct Line<'t> {
    place: &'t str,
    op: TraceOp,
    offset: u64,
    len: u64,
}

/// Reads the operations, with the mistakes.
struct Reader<'t> {
    inputs: &'t TextInputs<'t>,
    errors: Vec<TextError>,
    lines: Vec<Line<'t>>,
    /// Of blkparse: whether anything was queued.
    queued: bool,
    notes: Vec<String>,
}

impl<'t> Reader<'t> {
    fn mistake(&mut self, line: usize, what: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            let place = TextPosition { file: self.inputs.file.to_owned(), line: line as u32 };
            self.errors.push(place.error(TextErrorKind::Value, "", what));
        }
    }

    fn take(&mut self, number: usize, place: &'t str, at_ns: u64, kind: TraceKind, offset: u64, len: u64) {
        let is_sync = matches!(kind, TraceKind::Fsync | TraceKind::Fdatasync);
        let (offset, len) = if is_sync { (0, 0) } else { (offset, len) };
        if self.lines.len() >= MAX_OPERATIONS {
            return self.mistake(number, format!("more than {MAX_OPERATIONS} operations; replay a part of them"));
        }
        if !is_sync && (len == 0 || len > MAX_LEN || offset.checked_add(len).is_none_or(|end| end > MAX_END)) {
            return self.mistake(number, format!("{len} bytes at {offset} cannot be replayed"));
        }
        let op = TraceOp { at_ns, kind, ..TraceOp::default() };
        self.lines.push(Line { place, op, offset, len });
    }

    fn fio(&mut self, text: &'t str, form: Form) {
        let mut waited_us = 0u64;
        for (index, line) in text.lines().enumerate().skip(1) {
            let number = index + 1;
            let mut fields = line.split_whitespace();
            let at_us = match form {
                Form::Fio3 => match fields.next().map(str::parse::<u64>) {
                    None => continue,
                    Some(Ok(at)) => at,
                    Some(Err(_)) => {
                        self.mistake(number, format!("'{line}' does not begin with a time"));
                        continue;
                    }
                },
                _ => waited_us,
            };
            let rest: Vec<&str> = fields.collect();
            let number_at = |i: usize| rest.get(i).and_then(|f| f.parse::<u64>().ok());
            let kind = match rest[..] {
                [] => continue,
                [_, "add" | "open" | "close"] => continue,
                [_, "wait", _, _] if form == Form::Fio2 && number_at(2).is_some() => {
                    waited_us = waited_us.saturating_add(number_at(2).unwrap_or(0));
                    continue;
                }
                [_, "read", _, _] => TraceKind::Read,
                [_, "write", _, _] => TraceKind::Write,
                [_, "trim", _, _] => TraceKind::Trim,
                [_, "sync", ..] => TraceKind::Fsync,
                [_, "datasync", ..] => TraceKind::Fdatasync,
                _ => {
                    self.mistake(number, format!("'{line}' is not a line of an iolog"));
                    continue;
                }
            };
            let is_sync = matches!(kind, TraceKind::Fsync | TraceKind::Fdatasync);
            let place = if is_sync { Some((0, 0)) } else { number_at(2).zip(number_at(3)) };
            let Some((offset, len)) = place else {
                self.mistake(number, format!("'{line}' is not a line of an iolog"));
                continue;
            };
            self.take(number, rest[0], at_us.saturating_mul(1000), kind, offset, len);
        }
    }

    fn blkparse(&mut self, text: &'t str) {
        self.queued = text.lines().any(|line| line.split_whitespace().nth(5) == Some("Q"));
        let wanted = if self.queued { "Q" } else { "D" };
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [device, _, _, seconds, _, action, rwbs, rest @ ..] = &fields[..] else { continue };
            // What follows the last line of a trace is a summary.
            if !device.contains(',') || *action != wanted || *rwbs == "N" {
                continue;
            }
            let Some(at_ns) = nanoseconds(seconds) else {
                self.mistake(index + 1, format!("'{seconds}' is not a time"));
                continue;
            };
            let (sector, sectors) = match rest {
                [sector, "+", sectors, ..] => (sector.parse::<u64>(), sectors.parse::<u64>()),
                _ => (Ok(0), Ok(0)),
            };
            let (Ok(sector), Ok(sectors)) = (sector, sectors) else {
                self.mistake(index + 1, format!("'{line}' names no sectors"));
                continue;
            };
            let kind = match rwbs {
                f if f.contains('D') => TraceKind::Trim,
                f if f.contains('W') && sectors > 0 => TraceKind::Write,
                f if f.contains('R') => TraceKind::Read,
                f if f.contains('F') => TraceKind::Fsync,
                _ => continue,
            };
            let in_bytes = |sectors: u64| sectors.saturating_mul(SECTOR);
            self.take(index + 1, device, at_ns, kind, in_bytes(sector), in_bytes(sectors));
        }
    }
}

fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    if part.len() > 9 || !part.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part: u64 = format!("{part:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
}

/// What `--set` says.
struct TraceOptions {
    speed_milli: u32,
    depth: u32,
    access: Option<Access>,
    region: Option<u64>,
    on_error: ErrorPolicy,
}

impl TraceOptions {
    fn of(set: &[(String, String)]) -> Result<Self, TextError> {
        let mut wish =
            Self { speed_milli: 1000, depth: DEPTH, access: None, region: None, on_error: ErrorPolicy::Stop };
        for (key, value) in set {
            let bad = |what: &str| Err(TextPosition::command_line().error(TextErrorKind::Value, key, what));
            match key.as_str() {
                "speed" if value == "max" => wish.speed_milli = 0,
                "speed" => match value.trim_end_matches('x').parse::<f64>() {
                    Ok(times) if (0.001..=1_000_000.0).contains(&times) => wish.speed_milli = (times * 1000.0) as u32,
                    _ => return bad("max, or how many times as fast as it was, 0.001 to 1000000"),
                },
                "depth" => match value.parse::<u32>() {
                    Ok(depth @ 1..=4096) => wish.depth = depth,
                    _ => return bad("1 to 4096"),
                },
                "access" => match value.as_str() {
                    "direct" => wish.access = Some(Access::Direct),
                    "buffered" => wish.access = Some(Access::Buffered),
                    _ => return bad("direct or buffered"),
                },
                "on-error" => match value.as_str() {
                    "stop" => wish.on_error = ErrorPolicy::Stop,
                    "continue" => wish.on_error = ErrorPolicy::Continue,
                    _ => return bad("stop or continue"),
                },
                "region" => match bytes(value) {
                    Ok(bytes) if bytes > 0 => wish.region = Some(bytes),
                    _ => return bad("a size"),
                },
                _ => {
                    let mut error = TextPosition::command_line().error(
                        TextErrorKind::Unknown,
                        key,
                        format!("a trace has no such key; there are {}", KEYS.join(", ")),
                    );
                    error.nearest = crate::keys::nearest(key, KEYS);
                    return Err(error);
                }
            }
        }
        Ok(wish)
    }
}

/// Reads a trace as a workload of one phase, `replay`.
///
/// # Errors
/// All mistakes.
pub fn parse_trace(inputs: &TextInputs<'_>) -> Result<Workload, Vec<TextError>> {
    let form = form_of(inputs.text);
    let wish = TraceOptions::of(inputs.set).map_err(|e| vec![e])?;
    let mut reader = Reader { inputs, errors: Vec::new(), lines: Vec::new(), queued: false, notes: Vec::new() };
    // A last line without an end may be half of one, whose numbers are others.
    let whole = &inputs.text[..inputs.text.rfind('\n').map_or(0, |end| end + 1)];
    if whole.len() < inputs.text.len() {
        reader.notes.push("the last line is cut off, and left out".to_owned());
    }
    match form {
        Some(Form::Blkparse) => reader.blkparse(whole),
        Some(form) => reader.fio(whole, form),
        None => reader.mistake(1, "neither an iolog of fio (version 2 or 3) nor text of blkparse or strace"),
    }
    if reader.errors.is_empty() && reader.lines.iter().all(|line| line.len == 0) {
        reader.mistake(1, "nothing in it reads or writes");
    }
    if !reader.errors.is_empty() {
        return Err(reader.errors);
    }
    let Some((ops, end, unit)) = placed(&mut reader, wish.region) else {
        reader.mistake(1, format!("its places lie further apart than {}; replay a part of them", bytes_text(MAX_END)));
        return Err(reader.errors);
    };
    Ok(workload(inputs, &wish, ops, end, unit, reader.notes))
}

/// The operations on one target, in the order of time, from the first one on; where they end, and what all offsets and lengths are
/// multiples of. In a region that is shorter, places wrap around at its end. `None`: one behind the other they end beyond [`MAX_END`].
fn placed(reader: &mut Reader<'_>, region: Option<u64>) -> Option<(Vec<TraceOp>, u64, u64)> {
    let mut lines = std::mem::take(&mut reader.lines);
    // Of operations at one moment the order is that of the text.
    lines.sort_by_key(|line| line.op.at_ns);
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    for line in &lines {
        let end = ends.entry(line.place).or_default();
        *end = (*end).max(line.offset + line.len);
    }
    let mut next = 0u64;
    let starts: BTreeMap<&str, u64> = ends
        .iter()
        .map(|(place, end)| {
            let start = next;
            next = next.saturating_add(end.next_multiple_of(STRETCH));
            (*place, start)
        })
        .collect();
    if next > MAX_END {
        return None;
    }
    if starts.len() > 1 {
        reader.notes.push(format!("{} files or devices of the trace lie back to back", starts.len()));
    }
    let first = lines.first().map_or(0, |line| line.op.at_ns);
    let whole = |line: &Line<'_>| starts[line.place] + line.offset;
    let unit = lines.iter().filter(|l| l.len > 0).fold(0, |unit, l| gcd(gcd(unit, whole(l)), l.len)).max(1);
    let longest = lines.iter().map(|l| l.len).max().unwrap_or(0);
    let limit = region.map(|region| (region / unit * unit).max(longest));
    if let Some(limit) = limit.filter(|limit| lines.iter().any(|l| whole(l) + l.len > *limit)) {
        reader.notes.push(format!("places wrap around at {}", bytes_text(limit)));
    }
    let ops: Vec<TraceOp> = lines
        .iter()
        .map(|line| {
            let mut offset = whole(line);
            if let Some(limit) = limit {
                offset = (offset % limit).min(limit - line.len);
            }
            TraceOp { at_ns: line.op.at_ns - first, offset, len: line.len as u32, ..line.op }
        })
        .collect();
    let end = ops.iter().map(|op| op.offset + u64::from(op.len)).max().unwrap_or(0);
    Some((ops, end, unit))
}

fn workload(
    inputs: &TextInputs<'_>,
    wish: &TraceOptions,
    ops: Vec<TraceOp>,
    end: u64,
    unit: u64,
    notes: Vec<String>,
) -> Workload {
    let mut job = Job::named("replay");
    job.stream.path.queue_depth = wish.depth;
    job.access = wish.access;
    job.stream.on_error = wish.on_error;
    let trace = Trace { trace_digest: sha256_hex(inputs.text), trace_speed_milli: wish.speed_milli, ..Trace::of(ops) };
    set_replay(&mut job, trace, end, unit);
    workload_of(job, inputs, format!("The operations of {}, done again", inputs.file), notes)
}
