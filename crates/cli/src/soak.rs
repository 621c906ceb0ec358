//! `narrows soak`: are my data still safe?

use crate::archives;
use crate::args::{GlobalArgs, OnFinding, SoakArgs, SoakMode};
use crate::group;
use crate::option_value::{self, bytes};
use crate::output::Output;
use crate::progress::Terminal;
use crate::progress_line::ProgressLine;
use crate::report_page;
use crate::signals::{Ending, SecondSignal};
use archive::Archive;
use begun::BegunSoak;
use conduct::admission::Consent;
use conduct::{Opened, Wanted, random_u64};
use engine::Control;
use model::{Failure, RankOutcome, TargetKind};
use report::document::{Answered, SoakDocument};
use report::quantity;
use soak::{Mode, OwnFile, SaveState, SoakContext, SoakEnd, SoakEvent, SoakState, StopCriteria, TargetIdentity};
use spec::Readiness;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::SymlinkPolicy;
use witness::Witness;

mod begun;
mod document;
mod hook;
mod several;
mod simulated;
mod witness;

/// Less is no soak.
const LEAST_BYTES: u64 = 1 << 20;

/// Executes the command.
pub fn command(args: &SoakArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    if args.targets.len() > 1 {
        group::refuse(&args.group, "a soak of several targets")?;
        return several::command(args, global, output);
    }
    let target = args.targets.first();
    let size = args.size.as_deref().map(|text| bytes("--size", text)).transpose()?;
    let rate = args.rate.as_deref().map(|text| bytes("--rate", text)).transpose()?;
    let time = args.time.as_deref().map(|text| option_value::time_ns("--for", text)).transpose()?;
    let remote = args.witness.as_deref().and_then(|text| witness::remote(&text.to_string_lossy()));
    let local = args.witness.as_ref().filter(|_| remote.is_none());
    let archive = local.map_or_else(|| archives::open(global), |dir| Ok(Archive::open(Path::new(dir))))?;
    let Ending { control, signals, interrupts, waiting } = Ending::install(SecondSignal::Ends)?;
    let terminal = Terminal::new(global.json, output.style().ascii, waiting);
    let asked = asked_of_all(args, (size, rate, time));
    let group = group::met(&args.group, asked, &interrupts, &control, output)?;
    let resumed = resumed(args, remote.as_ref(), &archive)?;
    let id = resumed.as_ref().map_or(SoakState::new_id(random_u64()?), |state| state.id.clone());
    let say = |text: &str| {
        if !global.json {
            output.aside(&format!("{text}\n"));
        }
    };
    let far = remote.map(|remote| Witness::open(remote, &id, &interrupts, &say)).transpose()?;
    let made = match (&resumed, target) {
        (None, Some(target)) if Path::new(target).is_dir() => Some(OwnFile::make(Path::new(target), &id, size)?),
        _ => None,
    };
    let path = place_of(resumed.as_ref(), made.as_ref(), target.map(OsString::as_os_str))?;
    let own = resumed.as_ref().is_some_and(|state| state.own_file) || made.is_some();
    let opened = open(args, &path, own, (&control, &terminal));
    let mut opened = opened.inspect_err(|_| remove_made(made.as_ref(), &path))?;
    refuse(&opened, &path)?;
    let place = TargetIdentity::of(&opened, args.destroy.first().map(String::as_str));
    is_what_was_made(made.as_ref(), &place, &path)?;
    let mut state = match resumed {
        Some(state) => goes_on(state, place, &path, opened.target.kind)?,
        None => new_state(args, id, (size, rate), &opened, (place, &path, made.as_ref(), own))?,
    };
    state.enough = enough(args, time, state.enough);
    let simulated = opened.target.kind == TargetKind::Sim;
    say(&announced(&state, &path, simulated));
    let progress = ProgressLine::new(global.json, output.style().columns());
    let begun = BegunSoak::new(&archive, &opened, &state);
    let tell = |event: SoakEvent<'_>| {
        if let SoakEvent::Pass(state) = event {
            begun.pass(state);
        }
        show(&event, &progress, &say);
        if let (SoakEvent::Found(finding), Some(command)) = (event, &args.hook) {
            hook::call(command, finding, &say);
        }
    };
    let keep = |state: &SoakState| far.as_ref().map_or(Ok(()), |far| far.keep(state));
    let (control, archive, scrubs) = (&control, &archive, !args.no_scrub);
    group.as_ref().map_or(Ok(()), |group| group.start(false))?;
    let soaking = SoakContext { control, interrupts: &interrupts, archive, witness: Some(&keep), scrubs, tell: &tell };
    let began_ns = sys::monotonic_ns();
    let ended = soaking.run(&mut opened, &mut state);
    let times = (began_ns, sys::monotonic_ns());
    progress.wipe();
    begun.discard();
    let (target, environment) = (opened.target.clone(), opened.environment.clone());
    let of_device = (simulated, target.stack.device_bytes(), target.stack.keeps_flushes());
    let to_come = opened.rig.pending_faults();
    drop(opened);
    state.finished = ended.as_ref().is_ok_and(|end| *end != SoakEnd::Interrupted);
    let closed = close(&state, archive, &keep);
    let run = soak::run_of(&state, ended.as_ref().ok().copied(), target, environment);
    let kept = (state.sessions > 0).then(|| report_page::keep(archive, run, output)).flatten();
    // Who waits for this rank is told why it does not come.
    let tells = |failure: &Failure| group.iter().for_each(|group| group.leave(&failure.message));
    let ended = ended.inspect_err(tells)?;
    closed.inspect_err(tells)?;
    if ended == SoakEnd::Done && state.is_clean() && !to_come.is_empty() {
        return Err(simulated::not_come(&state, &to_come));
    }
    let mut document = document::document(&state, ended, of_device);
    document.group = group::outcome(group.as_ref(), own_outcome(&state, &document, ended), times, false, output);
    output.answer(&Answered::new(&document).kept(kept.clone()), || report::soak(&document).kept(kept.as_ref()));
    let signal = signals.exit_code().filter(|_| ended == SoakEnd::Interrupted);
    Ok(ExitCode::from(signal.unwrap_or_else(|| exit_code(&document, group.is_some()))))
}

/// That of all ranks of a group, or its own.
fn exit_code(document: &SoakDocument<'_>, is_rank: bool) -> u8 {
    group::exit_code(document.group.as_ref(), is_rank, u8::from(!document.clean))
}

/// What all ranks of a group must have been asked.
fn asked_of_all(args: &SoakArgs, (size, rate, time): (Option<u64>, Option<u64>, Option<u64>)) -> String {
    let SoakArgs { passes, mode, buffered, busy, .. } = args;
    format!("soak {size:?} {rate:?} {time:?} {passes:?} {mode:?} {buffered} {busy}")
}

/// A soak that begins.
fn new_state(
    args: &SoakArgs,
    id: String,
    (size, rate): (Option<u64>, Option<u64>),
    opened: &Opened,
    (place, path, made, own): (TargetIdentity, &Path, Option<&OwnFile>, bool),
) -> Result<SoakState, Failure> {
    let region = region(opened, size, path)?;
    // A directory may be named by a dot.
    let named = made.and_then(|_| path.parent()).unwrap_or(path).to_string_lossy();
    let random = [random_u64()?, random_u64()?, random_u64()?, random_u64()?];
    let mut state = SoakState::new(id, &named, path.to_owned(), place, region, random);
    simulated::lay_a_lap_across_the_end(&mut state, opened)?;
    (state.own_file, state.buffered) = (own, args.buffered);
    (state.trims, state.busy) = (can_trim(opened) && !args.no_trim, args.busy);
    (state.mode, state.rate_bytes_per_s) = (mode(args.mode), rate.filter(|r| *r > 0));
    Ok(state)
}

/// What it came to on this rank of a group.
fn own_outcome(state: &SoakState, document: &SoakDocument<'_>, ended: SoakEnd) -> RankOutcome {
    RankOutcome {
        met: (ended != SoakEnd::Interrupted).then(|| state.is_clean()),
        statement: Answered::new(document).answer().to_owned(),
        bytes_written: state.bytes_written,
        bytes_per_s: (state.elapsed_ns > 0).then(|| state.bytes_written as f64 * 1e9 / state.elapsed_ns as f64),
        ..RankOutcome::default()
    }
}

/// What it is about, before it begins.
fn announced(state: &SoakState, path: &Path, simulated: bool) -> String {
    let (region, laps) = (quantity::size(state.region_bytes), state.laps.len());
    let time = match (simulated, state.phases > 0) {
        (false, _) => "",
        (true, false) => "\n  simulated, in simulated time",
        (true, true) => "\n  simulated, in simulated time; what was done before is repeated first",
    };
    format!("soak {}: {region} in {laps} laps a pass, of\n  {}{time}", state.id, path.display())
}

/// On a terminal only what is found stays; a file or a pipe gets each line.
fn show(event: &SoakEvent<'_>, progress: &ProgressLine, say: &dyn Fn(&str)) {
    if matches!(event, SoakEvent::Found(_) | SoakEvent::Kernel(_)) || !progress.is_shown() {
        progress.wipe();
        say(&line(event));
    } else {
        progress.draw(&short_line(event));
    }
}

/// It was made a moment ago, and nothing is in it.
fn remove_made(made: Option<&OwnFile>, path: &Path) {
    let _ = made.map(|_| std::fs::remove_file(path));
}

/// Refuses where the name of the file that was made leads to another one by now.
fn is_what_was_made(made: Option<&OwnFile>, place: &TargetIdentity, path: &Path) -> Result<(), Failure> {
    if made.is_some_and(|made| Some(made.file) != place.file) {
        let what = format!("{}: another file is there now", path.display());
        return Err(Failure::refused(what));
    }
    Ok(())
}

/// The soak that is to go on, if one is.
fn resumed(
    args: &SoakArgs,
    remote: Option<&(String, String)>,
    archive: &Archive,
) -> Result<Option<SoakState>, Failure> {
    let resumed = match args.resume.as_deref() {
        None => None,
        Some(id) if let Some(remote) = remote => Some(witness::load(remote, id)?),
        Some("") => Some(SoakState::last(archive)?),
        Some(id) => Some(SoakState::load(archive, id)?),
    };
    match resumed {
        Some(done) if done.finished => Err(Failure::usage(format!("the soak {} has done what was asked", done.id))
            .remedy("narrows soak TARGET   starts another")),
        // What it wrote there is what it would read.
        Some(gone) if gone.own_file && remote.is_none() && !gone.path.exists() => {
            let what = format!("the file of the soak {} is not there any more: {}", gone.id, gone.path.display());
            Err(Failure::refused(what)
                .remedy("narrows soak DIRECTORY   starts another, which --resume then continues; this one is given up with that"))
        }
        other => Ok(other),
    }
}

/// Where it writes.
fn place_of(resumed: Option<&SoakState>, made: Option<&OwnFile>, target: Option<&OsStr>) -> Result<PathBuf, Failure> {
    match (resumed, made, target) {
        (_, Some(made), _) => Ok(made.path.clone()),
        // What it was started on may have another name by now.
        (Some(SoakState { own_file: false, .. }) | None, None, Some(target)) => {
            Ok(std::path::absolute(target).ok().filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(target)))
        }
        (Some(state), ..) => Ok(state.path.clone()),
        (None, None, None) => Err(Failure::usage("which target?".to_owned()).remedy("narrows soak --help")),
    }
}

/// What may not be written to, and what is not there any more.
fn refuse(opened: &Opened, path: &Path) -> Result<(), Failure> {
    if let Readiness::ReadOnly(why) = &opened.readiness {
        let what = format!("{}: a soak writes, and nothing may be written: {why}", path.display());
        return Err(Failure::refused(what)
            .remedy("a file: --overwrite; a block device: --destroy SERIAL; a directory needs no permission"));
    }
    Ok(())
}

/// A soak where it is now, if that is what it was started on.
fn goes_on(mut state: SoakState, place: TargetIdentity, path: &Path, kind: TargetKind) -> Result<SoakState, Failure> {
    if !state.place.is_still(&place, state.own_file) {
        let what = format!("{}: not what the soak {} was started on", path.display(), state.id);
        return Err(Failure::refused(what).remedy("attach that, or start another soak: narrows soak TARGET"));
    }
    // What a simulated device held went with the program.
    (state.place, state.path, state.repeats) = (place, path.to_owned(), kind == TargetKind::Sim);
    Ok(state)
}

/// How much of the target a new soak is about.
fn region(opened: &Opened, size: Option<u64>, path: &Path) -> Result<u64, Failure> {
    let simulated = opened.target.kind == TargetKind::Sim;
    let region =
        if simulated { simulated::region(opened, size)? } else { size.unwrap_or(u64::MAX).min(opened.max_bytes) };
    if region < LEAST_BYTES {
        return Err(Failure::usage(format!("{}: a soak needs 1 MiB or more", path.display())));
    }
    Ok(region)
}

fn mode(asked: Option<SoakMode>) -> Mode {
    match asked {
        None => Mode::All,
        Some(SoakMode::Sweep) => Mode::Sweep,
        Some(SoakMode::Churn) => Mode::Churn,
    }
}

/// Keeps its state, and removes the file that it made where nothing was wrong.
fn close(state: &SoakState, archive: &Archive, keep: &SaveState<'_>) -> Result<(), Failure> {
    let begun = state.sessions > 0;
    if begun {
        state.save(archive)?;
        keep(state)?;
    }
    if state.own_file && (!begun || state.finished && state.is_clean()) {
        match std::fs::remove_file(&state.path) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                let message = format!("{} cannot be removed: {e}", state.path.display());
                return Err(Failure::environment(message));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether what is written to is a device that can be told that places are not needed.
fn can_trim(opened: &Opened) -> bool {
    let most = |layer: &model::Layer| layer.int(observe::facts::MAX_DISCARD_BYTES);
    opened.target.kind == TargetKind::BlockDevice
        && opened.target.stack.layers.iter().find_map(most).is_some_and(|bytes| bytes > 0)
}

/// What is asked: of a soak that goes on what was, unless it is said anew; of a new one a pass.
fn enough(args: &SoakArgs, time_ns: Option<u64>, before: StopCriteria) -> StopCriteria {
    let anew = args.passes.is_some() || time_ns.is_some();
    let (passes, time_ns) = if anew { (args.passes, time_ns) } else { (before.passes, before.time_ns) };
    StopCriteria {
        passes: passes.or_else(|| time_ns.is_none().then_some(1)),
        time_ns,
        at_finding: args.on_finding.map_or(before.at_finding, |on| on == OnFinding::Stop),
        // A demonstration goes on until it has shown what it was to show.
        with_faults: !anew,
    }
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
            // What was made for it lies where no link is.
            links: if own { SymlinkPolicy::Refuse } else { SymlinkPolicy::Follow },
            consent: Consent {
                overwrite: args.overwrite || own,
                destroy: args.destroy.first().map(String::as_str),
                only: None,
            },
            ..Wanted::new(name, 1_000_000_000)
        },
        control,
        terminal,
    )
}

/// What is said on stderr of what happens.
fn line(event: &SoakEvent<'_>) -> String {
    match event {
        SoakEvent::Kernel(state) => {
            format!("the kernel: {}", state.kernel_warnings.last().map_or("", String::as_str))
        }
        SoakEvent::Scrubs => "the file system checks all that it holds (--no-scrub leaves it out)".to_owned(),
        SoakEvent::ReadsBack => "reads what was written before".to_owned(),
        SoakEvent::Found(finding) => format!("WRONG: {}", report::data_finding_text(finding)),
        SoakEvent::Pass(state) => {
            let what = wrong(state);
            format!("pass {} is whole, and was read once more: {what}{}", state.passes, temperature(state))
        }
        SoakEvent::Lap(state) => {
            let seconds = state.elapsed_ns as f64 / 1e9;
            let rate = quantity::quantity(state.bytes_written as f64 / seconds.max(1e-3), model::Unit::BytesPerS);
            let laps = state.laps.len() as u32;
            let done = (state.passes * laps + state.lap as u32).max(1);
            let left = |all: f64| (all - seconds).max(0.0);
            let enough = state.enough;
            let by_passes = enough.passes.map(|n| seconds / f64::from(done) * f64::from(n.saturating_mul(laps)));
            let left = enough.time_ns.map(|ns| ns as f64 / 1e9).into_iter().chain(by_passes).reduce(f64::min).map(left);
            // Less is over by the time that it is read.
            let left = left
                .filter(|left| *left >= 1.0)
                .map_or_else(String::new, |left| format!(", about {} left", quantity::duration((left * 1e9) as u64)));
            format!(
                "pass {}, lap {} of {laps}: {} written and {} read back, {rate}, {}{left}",
                state.pass,
                state.lap,
                quantity::size(state.bytes_written),
                quantity::size(state.bytes_verified),
                // Data that were overwritten since show only once all of it is read again.
                so_far(state)
            )
        }
    }
}

/// As [`line()`], in a line of a terminal.
fn short_line(event: &SoakEvent<'_>) -> String {
    let SoakEvent::Lap(state) = event else { return line(event) };
    let (all, left) = (line(event), "about ");
    let left = all.rsplit_once(left).map_or_else(String::new, |(_, left)| format!(", {left}"));
    let seconds = state.elapsed_ns as f64 / 1e9;
    let rate = quantity::quantity(state.bytes_written as f64 / seconds.max(1e-3), model::Unit::BytesPerS);
    let written = quantity::size(state.bytes_written);
    format!("pass {}, lap {}/{}: {written}, {rate}, {}{left}", state.pass, state.lap, state.laps.len(), wrong(state))
}

/// Of the hottest of its disks, where one tells.
fn temperature(state: &SoakState) -> String {
    let all = state.counters.iter().filter(|(name, _)| name.ends_with(observe::facts::TEMPERATURE_C));
    let hottest = all.filter_map(|(_, (_, now))| now.int()).max();
    hottest.map_or_else(String::new, |c| format!(", at {c} C"))
}

fn so_far(state: &SoakState) -> String {
    let found = wrong(state);
    if state.is_clean() { format!("{found} so far") } else { found }
}

fn wrong(state: &SoakState) -> String {
    match (state.found(), state.errors.values().sum::<u64>()) {
        (0, 0) => "nothing wrong".to_owned(),
        (found, errors) => {
            let failed = (errors > 0).then(|| format!(", {} failed", quantity::counted(errors, "operation")));
            format!("{} wrong{}", quantity::counted(found, "place"), failed.unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Fact;

    #[test]
    fn what_is_wrong_and_left_is_told_in_words_that_are_so() {
        let mut state =
            SoakState::new("x-1".into(), "/t", "/t".into(), TargetIdentity::default(), 1 << 24, [1, 2, 3, 4]);
        state.errors.insert("EIO".into(), 1);
        assert_eq!(wrong(&state), "0 places wrong, 1 operation failed");
        state.errors.insert("EIO".into(), 1200);
        assert!(wrong(&state).ends_with("operations failed"), "{}", wrong(&state));
        state.errors.clear();
        state.findings_dropped = 1;
        assert_eq!(wrong(&state), "1 place wrong");
        (state.enough.time_ns, state.elapsed_ns) = (Some(60_000_000_000), 59_800_000_000);
        let lap = |state: &SoakState| line(&SoakEvent::Lap(state));
        assert!(!lap(&state).contains("left"), "{}", lap(&state));
        state.elapsed_ns = 20_000_000_000;
        (state.pass, state.lap, state.bytes_written) = (123, 1023, 123_456_000_000_000);
        state.enough.time_ns = Some(72 * 3_600_000_000_000);
        let short = short_line(&SoakEvent::Lap(&state));
        assert!(short.chars().count() < 80 && short.ends_with(" left"), "{short}");
        state.enough.time_ns = Some(60_000_000_000);
        assert!(lap(&state).ends_with(", about 40 s left") || lap(&state).contains("about 40"), "{}", lap(&state));
    }

    #[test]
    fn the_hottest_disk_is_told_where_one_tells() {
        let mut state =
            SoakState::new("x-1".into(), "/t", "/t".into(), TargetIdentity::default(), 1 << 24, [1, 2, 3, 4]);
        let told = |state: &SoakState| line(&SoakEvent::Pass(state));
        assert!(told(&state).ends_with("nothing wrong"));
        for (name, now) in [("sda: temperature_c", 38), ("sdb: temperature_c", 41), ("sdb: media_errors", 90)] {
            state.counters.insert(name.into(), (Fact::Int(30), Fact::Int(now)));
        }
        assert!(told(&state).ends_with("nothing wrong, at 41 C"), "{}", told(&state));
        state.counters.clear();
        state.counters.insert("sda: temperature_c".into(), (Fact::Int(30), Fact::Null));
        assert!(told(&state).ends_with("nothing wrong"));
    }
}
