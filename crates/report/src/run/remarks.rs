//! What has to be said with the numbers of a run: changes of rate, steady state, verification, failed operations.

use crate::grouped::grouped;
use crate::presentation::{Remark, Tone};
use crate::quantity::{self, counted};
use model::{
    CapacityKind, DataFinding, PhaseRecord, PhaseRun, PhaseStatus, ReadBack, Reason, Run, SteadyRecord, VerifyRecord,
};

/// Wrong places that are told one by one; the JSON document has all that were kept.
const PLACES: usize = 4;

/// A share as per cent, two digits.
pub(crate) fn percent(ratio: f64) -> String {
    if ratio < 0.001 {
        return "below 0.1 %".into();
    }
    format!("{} %", quantity::significant(ratio * 100.0, 2))
}

/// How much of its device a phase used, where both are known.
fn covered(run: &Run, phase: &PhaseRun) -> String {
    let used = phase.plan.streams.iter().filter_map(|s| Some(s.blocks()?.block.all_region_bytes())).max().unwrap_or(0);
    match run.target.stack.device_bytes() {
        _ if used == 0 => String::new(),
        // What is left over is no whole block.
        Some(all) if used.saturating_add(all / 100) >= all => ", over the whole device".to_owned(),
        Some(all) => format!(", over {} of {} only", quantity::size(used), quantity::size(all)),
        None => format!(", over {}", quantity::size(used)),
    }
}

fn steady(record: &SteadyRecord, over: &str) -> (Tone, String) {
    let limit = |name: &str, ratio: Option<f64>| ratio.map(|r| format!("{name} {}", percent(r)));
    let parts: Vec<String> =
        [limit("range", record.range_ratio), limit("slope", record.slope_ratio)].into_iter().flatten().collect();
    let of = if parts.is_empty() { String::new() } else { format!(" ({} of the mean)", parts.join(", ")) };
    let rounds = counted(record.rounds.len() as u64, "round");
    match record.reached {
        true => (Tone::Plain, format!("steady after {rounds}{over}: the last {}{of} count", record.window_rounds)),
        false => (Tone::Doubt, format!("not steady after {rounds}{over}{of}")),
    }
}

/// What the searches for a depth came to, by the names of their streams.
fn depths(record: &PhaseRecord) -> impl Iterator<Item = (Tone, String)> {
    let several = record.streams.len() > 1;
    record.streams.iter().filter_map(move |stream| {
        let search = stream.depth_search.as_ref()?;
        let of = if several { format!("{}: ", stream.name) } else { String::new() };
        let windows = counted(search.steps.len() as u64, "window");
        let (tone, found) = match search.depth {
            Some(0) => (Tone::Doubt, "not even one operation at a time keeps to the latency target".to_owned()),
            Some(depth) => {
                (Tone::Plain, format!("depth {depth} keeps to the latency target; what counts is at that depth"))
            }
            None => (Tone::Doubt, "the search for a depth did not end; the numbers are of all depths tried".to_owned()),
        };
        Some((tone, format!("{of}{found} ({windows})")))
    })
}

fn verified(v: &VerifyRecord) -> Vec<(Tone, String)> {
    let kinds: Vec<&str> = v.kinds.iter().map(|k| k.name()).collect();
    let checked = format!("{} in {}", quantity::size(v.bytes_verified), counted(v.blocks_verified, "block"));
    let back = match v.read_back {
        ReadBack::None => "",
        ReadBack::Complete => ", all that was written read back",
        ReadBack::Partial => ", a part of what was written read back",
    };
    let mut out = Vec::new();
    let wrong = v.mismatched();
    if v.tester_faults > 0 {
        let times = counted(v.tester_faults, "place");
        out.push((
            Tone::Bad,
            format!("this program is wrong: {times} held data newer than any it wrote; the phase is invalid"),
        ));
    }
    if v.is_clean() && v.blocks_verified == 0 {
        out.push((Tone::Doubt, "nothing was verified".into()));
    } else if v.is_clean()
        && let Some(because) = v.in_memory_only()
    {
        let kinds = kinds.join(", ");
        out.push((Tone::Doubt, format!("verified in memory only ({because}): {checked} ({kinds}){back}")));
    } else if v.is_clean() {
        let from = if v.read_from.is_some() { ", from the device" } else { "" };
        out.push((Tone::Plain, format!("verified {checked} ({}){back}{from}: nothing wrong", kinds.join(", "))));
    } else if wrong > 0 {
        let classes: Vec<String> =
            v.mismatches.iter().map(|(name, n)| format!("{} {name}", quantity::count(*n))).collect();
        let places = counted(wrong, "place");
        let text = format!("DATA WRONG at {places}: {} (verified {checked}{back})", classes.join(", "));
        out.push((Tone::Bad, text));
        out.extend(v.findings.iter().take(PLACES).map(|f| (Tone::Bad, data_finding_text(f))));
        let more = (v.findings.len() as u64).saturating_sub(PLACES as u64) + v.findings_dropped;
        if more > 0 {
            out.push((Tone::Bad, format!("and {} more", counted(more, "place"))));
        }
    }
    for (reason, n) in &v.unverified {
        out.push((Tone::Doubt, format!("not verified: {}, {}", counted(*n, "block"), reason.reason())));
    }
    out
}

/// A place whose data are wrong: where, how, and which version was to be there.
pub fn data_finding_text(f: &DataFinding) -> String {
    let text = format!("sector {}: {}, {}", f.lba, f.class, counted(f.sectors, "sector"));
    if let Some((_, real)) = CapacityKind::found(std::slice::from_ref(f)) {
        return format!("{text}; a fake, of which at most {} are there", quantity::size(real));
    }
    // Of a whole device no version is expected.
    if (f.expected_generation, f.found_generation) == (None, None) {
        return text;
    }
    let generation = |g: Option<u32>| g.map_or("none".to_owned(), |g| g.to_string());
    let (expected, found) = (generation(f.expected_generation), generation(f.found_generation));
    format!("{text}, generation {expected} expected, {found} found")
}

fn of_phase(run: &Run, phase: &PhaseRun) -> Vec<(Tone, String)> {
    let mut out = Vec::new();
    for c in &phase.changes {
        let [before, after] = [c.before_bytes_per_s, c.after_bytes_per_s].map(quantity::rate);
        let word = if c.after_bytes_per_s < c.before_bytes_per_s { "fell" } else { "rose" };
        let ratio = c.ratio().map(|r| format!(" ({} x)", quantity::ratio(r))).unwrap_or_default();
        let (at, moved) = (quantity::duration(c.at_ns), quantity::size(c.bytes_before));
        out.push((Tone::Doubt, format!("{word} from {before} to {after}{ratio} after {at}, {moved} into it")));
    }
    let Some(record) = &phase.record else { return out };
    out.extend(record.steady.as_ref().map(|record| steady(record, &covered(run, phase))));
    out.extend(depths(record));
    out.extend(record.verify.iter().flat_map(verified));
    if !record.errors.is_empty() {
        let errors: Vec<String> =
            record.errors.iter().map(|(name, n)| format!("{name} {}", quantity::count(*n))).collect();
        out.push((Tone::Bad, format!("failed operations: {}", errors.join(", "))));
    }
    if record.short_operations > 0 {
        let n = counted(record.short_operations, "operation");
        out.push((Tone::Doubt, format!("{n} transferred less than asked")));
    }
    out
}

/// Reasons of measured phases whose substance the other remarks, or the mark of what was not steady, say already.
const SAID: [&str; 7] =
    ["rate-changed", "partial", "steady-window", "not-steady", "unverified", "verified-in-memory", "data-mismatch"];

/// What the judge says with numbers that stand, once for each kind: the first phase's sentence, and how many more phases
/// have one like it.
fn reasons(run: &Run) -> Vec<Remark> {
    let measured = |p: &&PhaseRun| p.status == PhaseStatus::Measured && p.plan.measures_target();
    let told = run.phases.iter().filter(measured).flat_map(|p| p.reasons.iter().map(move |r| (p, r)));
    let told = told.filter(|(_, r)| !r.code().is_some_and(|code| SAID.contains(&code)));
    // Without a code the same sentence is the same kind.
    let kinds = grouped(told.map(|(p, r)| ((r.code(), r.code().is_none().then_some(r)), (p, r))));
    let remark = |(_, all): (_, Vec<(&PhaseRun, &Reason)>)| {
        let others = match all.len() - 1 {
            0 => String::new(),
            1 => " (and 1 more phase)".into(),
            n => format!(" (and {n} more phases)"),
        };
        let (phase, reason) = all[0];
        Remark { phase: phase.plan.name.clone(), tone: Tone::Plain, text: format!("{reason}{others}") }
    };
    kinds.into_iter().map(remark).collect()
}

/// All remarks: what happened in the order of the phases, then what has to be known of the numbers.
pub(crate) fn remarks(run: &Run) -> Vec<Remark> {
    let of = |p: &PhaseRun| {
        let phase = p.plan.name.clone();
        of_phase(run, p).into_iter().map(move |(tone, text)| Remark { phase: phase.clone(), tone, text })
    };
    run.phases.iter().flat_map(of).chain(reasons(run)).collect()
}
