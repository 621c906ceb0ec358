//! `narrows soak`: are my data still safe?

use crate::archives;
use crate::args::{GlobalArgs, OnFinding, SoakArgs};
use crate::output::Output;
use crate::progress::Terminal;
use crate::signals::{SecondSignal, Signals};
use crate::waiting::Waiting;
use archive::Archive;
use conduct::admission::Consent;
use conduct::soak::{Enough, SoakEnd, SoakEvent, SoakState, Soaking};
use conduct::{Opened, Wanted, random_u64};
use engine::Control;
use model::{Failure, FailureKind, TargetKind, parse_bytes, parse_duration_ns};
use report::document::SoakDocument;
use report::quantity;
use spec::Readiness;
use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use sys::Links;

/// Of what a file system has free, one part in so many stays free.
const FREE_PART: u64 = 20;
/// Less is no soak.
const LEAST_BYTES: u64 = 1 << 20;

/// Executes the command.
pub fn command(args: &SoakArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let size = args.size.as_deref().map(|text| bytes("--size", text)).transpose()?;
    let rate = args.rate.as_deref().map(|text| bytes("--rate", text)).transpose()?;
    let time = args.time.as_deref().map(parse_duration_ns).transpose().map_err(|e| usage(format!("--for: {e}")))?;
    let archive = args.witness.as_ref().map_or_else(|| archives::open(global), |dir| Ok(Archive::open(dir)))?;
    let control = Arc::new(Control::default());
    let signals = Signals::install_with(&control, SecondSignal::Ends)?;
    let waiting = Waiting::listen(&control, true);
    let interrupts = signals.interrupts().clone().taken_elsewhere(waiting.signals());
    let terminal = Terminal::new(global.json, output.style().ascii, Arc::clone(&waiting));
    let resumed = match args.resume.as_deref() {
        None => None,
        Some("") => Some(SoakState::last(&archive)?),
        Some(id) => Some(SoakState::load(&archive, id)?),
    };
    if let Some(done) = resumed.as_ref().filter(|state| state.finished) {
        return Err(usage(format!("the soak {} has done what was asked", done.id))
            .remedy("narrows soak TARGET   starts another"));
    }
    let mut made = None;
    let path = match (&resumed, &args.target) {
        (Some(state), _) => state.path.clone(),
        (None, None) => return Err(usage("which target?".to_owned()).remedy("narrows soak --help")),
        (None, Some(target)) if Path::new(target).is_dir() => {
            made.insert(own_file(Path::new(target), size)?).path.clone()
        }
        (None, Some(target)) => {
            std::path::absolute(target).ok().filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(target))
        }
    };
    let own = resumed.as_ref().is_some_and(|state| state.own_file) || made.is_some();
    let opened = open(args, &path, own, (&control, &terminal));
    let mut opened = opened.inspect_err(|_| {
        if made.is_some() {
            // It was made a moment ago, and nothing is in it.
            let _ = std::fs::remove_file(&path);
        }
    })?;
    if let Readiness::ReadOnly(why) = &opened.readiness {
        let what = format!("{}: a soak writes, and nothing may be written: {why}", path.display());
        return Err(Failure::new(FailureKind::Refused, what)
            .remedy("a file: --overwrite; a block device: --destroy SERIAL; a directory needs no permission"));
    }
    let file = opened.object.filter(|_| opened.target.kind == TargetKind::File).map(|object| object.file());
    if made.as_ref().is_some_and(|made| Some(made.file) != file) {
        let what = format!("{}: another file stands there now", path.display());
        return Err(Failure::new(FailureKind::Refused, what));
    }
    let place = SoakState::place(&opened.target, file, args.destroy.clone());
    let mut state = match resumed {
        Some(state) if state.place == place => state,
        Some(state) => {
            let what = format!("{}: not what the soak {} was started on", path.display(), state.id);
            return Err(Failure::new(FailureKind::Refused, what)
                .remedy("attach that, or start another soak: narrows soak TARGET"));
        }
        None => {
            let region = size.unwrap_or(u64::MAX).min(opened.max_bytes);
            if region < LEAST_BYTES {
                return Err(usage(format!("{}: a soak needs 1 MiB or more", path.display())));
            }
            // A directory may be named by a dot.
            let shown = made.as_ref().and_then(|_| path.parent()).unwrap_or(&path);
            let named = shown.to_string_lossy();
            let random = [random_u64()?, random_u64()?, random_u64()?, random_u64()?, random_u64()?];
            let mut state = SoakState::new(&named, path.clone(), place, region, random);
            let id = made.as_ref().map_or_else(|| state.id.clone(), |made| made.id.clone());
            (state.id, state.own_file, state.buffered) = (id, own, args.buffered);
            state.rate_bytes_per_s = rate.filter(|r| *r > 0);
            state
        }
    };
    let say = |text: &str| {
        if !global.json {
            output.aside(&format!("{text}\n"));
        }
    };
    let (region, laps) = (quantity::size(state.region_bytes), state.laps.len());
    say(&format!("soak {}: {region} of {} in {laps} laps a pass", state.id, path.display()));
    let enough = Enough {
        passes: args.passes.or_else(|| time.is_none().then_some(1)),
        time: time.map(Duration::from_nanos),
        at_finding: args.on_finding == OnFinding::Stop,
    };
    let keep = |state: &SoakState| state.save(&archive);
    let tell = |event: SoakEvent<'_>| say(&line(&event, enough));
    let soaking = Soaking { control: &control, interrupts: &interrupts, keep: &keep, tell: &tell };
    let ended = soaking.run(&mut opened, &mut state, enough);
    drop(opened);
    state.ended_well = true;
    state.finished = ended.as_ref().is_ok_and(|end| *end != SoakEnd::Interrupted);
    let begun = state.sessions > 0;
    if state.own_file && (!begun || state.finished && state.is_clean()) {
        std::fs::remove_file(&state.path)
            .map_err(|e| Failure::new(FailureKind::Environment, format!("{}: {e}", state.path.display())))?;
    }
    if begun {
        state.save(&archive)?;
    }
    let ended = ended?;
    let document = document(&state, ended);
    if output.is_json() {
        output.document(&document);
    } else {
        output.text(&report::soak_text(&document, output.style()));
    }
    let signal = signals.exit_code().filter(|_| ended == SoakEnd::Interrupted);
    Ok(ExitCode::from(signal.unwrap_or(u8::from(!state.is_clean()))))
}

fn usage(what: String) -> Failure {
    Failure::new(FailureKind::Usage, what)
}

fn bytes(option: &str, text: &str) -> Result<u64, Failure> {
    parse_bytes(text).map_err(|e| usage(format!("{option}: {e}")))
}

/// A file that was made for a soak.
struct OwnFile {
    path: PathBuf,
    /// Of the soak.
    id: String,
    /// `st_dev` and `st_ino`.
    file: (u64, u64),
}

/// A new file in a directory, with its blocks reserved.
fn own_file(directory: &Path, size: Option<u64>) -> Result<OwnFile, Failure> {
    let cannot =
        |path: &Path, e: &std::io::Error| Failure::new(FailureKind::Environment, format!("{}: {e}", path.display()));
    let id = SoakState::new("", PathBuf::new(), conduct::soak::Place::default(), LEAST_BYTES, [random_u64()?; 5]).id;
    let directory = std::path::absolute(directory).map_err(|e| cannot(directory, &e))?;
    let path = directory.join(format!("narrows-soak-{id}.data"));
    let free = rustix::fs::statvfs(&directory).map_err(|e| cannot(&directory, &e.into()))?;
    let free = free.f_bavail.saturating_mul(free.f_frsize);
    let bytes = size.unwrap_or(free - free / FREE_PART) >> 20 << 20;
    if bytes < LEAST_BYTES || bytes > free {
        let what = format!(
            "{}: {} are free, and {} are asked for",
            directory.display(),
            quantity::size(free),
            quantity::size(bytes)
        );
        return Err(Failure::new(FailureKind::Environment, what).remedy("--size SIZE   takes less"));
    }
    let file = std::fs::OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
    let file = file.map_err(|e| cannot(&path, &e))?;
    // Where blocks cannot be reserved they are had when they are written.
    let reserved = sys::reserve(&file, 0, bytes).or_else(|e| match e.raw_os_error() {
        Some(sys::errno::EOPNOTSUPP) => file.set_len(bytes),
        _ => Err(e),
    });
    reserved.and_then(|()| file.sync_all()).map_err(|e| {
        let _ = std::fs::remove_file(&path);
        cannot(&path, &e)
    })?;
    let metadata = file.metadata().map_err(|e| cannot(&path, &e))?;
    Ok(OwnFile { path, id, file: (metadata.dev(), metadata.ino()) })
}

fn open(
    args: &SoakArgs,
    path: &Path,
    own: bool,
    (control, terminal): (&Control, &Terminal),
) -> Result<Opened, Failure> {
    let name: &OsStr = path.as_os_str();
    conduct::open(
        &Wanted {
            name,
            links: Links::Follow,
            consent: Consent { overwrite: args.overwrite || own, destroy: args.destroy.as_deref(), only: None },
            registers: false,
            interval_ns: 1_000_000_000,
            region: false,
            probe: false,
        },
        control,
        terminal,
    )
}

/// What is said on stderr of what happens.
fn line(event: &SoakEvent<'_>, enough: Enough) -> String {
    match event {
        SoakEvent::LooksBack => "reads what was written before".to_owned(),
        SoakEvent::Found(finding) => format!("WRONG: {}", report::data_finding_text(finding)),
        SoakEvent::Pass(state) => format!("pass {} is whole, and was read once more: {}", state.passes, wrong(state)),
        SoakEvent::Lap(state) => {
            let seconds = state.elapsed_ns as f64 / 1e9;
            let rate = quantity::quantity(state.bytes_written as f64 / seconds.max(1e-3), model::Unit::BytesPerS);
            let laps = state.laps.len() as u32;
            let done = (state.passes * laps + state.lap as u32).max(1);
            let left = |all: f64| quantity::duration(((all - seconds).max(0.0) * 1e9) as u64);
            let by_passes = enough.passes.map(|n| seconds / f64::from(done) * f64::from(n.saturating_mul(laps)));
            let left = enough.time.map(|t| t.as_secs_f64()).into_iter().chain(by_passes).reduce(f64::min).map(left);
            format!(
                "pass {}, lap {} of {laps}: {} written and {} read back, {rate}, {}, about {} left",
                state.pass,
                state.lap,
                quantity::size(state.bytes_written),
                quantity::size(state.bytes_verified),
                wrong(state),
                left.unwrap_or_default()
            )
        }
    }
}

fn wrong(state: &SoakState) -> String {
    match (state.found(), state.errors.values().sum::<u64>()) {
        (0, 0) => "nothing wrong".to_owned(),
        (found, errors) => format!("{found} places wrong, {errors} operations failed"),
    }
}

fn document(state: &SoakState, ended: SoakEnd) -> SoakDocument<'_> {
    let mut remarks = Vec::new();
    if let Some(why) = &state.in_memory {
        remarks.push(format!("what was read back came from memory, and says nothing of a device: {why}"));
    }
    if state.tester_fault {
        remarks.push("data were newer than any that were issued: this program is wrong, please report it".to_owned());
    }
    if !state.is_clean() && state.own_file && state.path.exists() {
        remarks.push(format!("{} is kept, with what it holds", state.path.display()));
    }
    SoakDocument {
        schema: SoakDocument::SCHEMA,
        id: &state.id,
        target: &state.target,
        state: match ended {
            SoakEnd::Done => "done",
            SoakEnd::Interrupted => "interrupted",
            SoakEnd::Found => "found",
        },
        clean: state.is_clean(),
        duration_s: state.elapsed_ns as f64 / 1e9,
        sessions: state.sessions,
        region_bytes: state.region_bytes,
        bytes_written: state.bytes_written,
        bytes_verified: state.bytes_verified,
        passes: state.passes,
        findings: &state.findings,
        findings_dropped: state.findings_dropped,
        errors: &state.errors,
        remarks,
    }
}
