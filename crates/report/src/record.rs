//! A recording as parts: what came of it, what it holds, and what a storage would carry.

use crate::document::{
    RecordDocument, RecordLimit, RecordPlanDocument, RecordStream, RecordedStream, RecordingChecked, RecordingDocument,
    RecordingGap,
};
use crate::group_answer;
use crate::plan::cpus;
use crate::presentation::{Part, Presentation, Remark, SectionName, Tone, listed};
use crate::quantity::{self, counted};

/// CPU a GB is told of so much or more.
const LEAST_FOR_CPU: u64 = 100_000_000;

/// Nice value and CPUs, where any were asked for.
fn scheduling(document: &RecordDocument) -> Option<String> {
    let not_read = || "not known".to_owned();
    let nice = document.nice_asked.map(|asked| match document.nice_effective {
        Some(nice) if nice == asked => format!("nice {nice}"),
        nice => format!("nice {} ({asked} was asked for)", nice.map_or_else(not_read, |n| n.to_string())),
    });
    let list = |list: &Vec<u32>| cpus(list);
    let cpus = document.cpus_asked.as_ref().map(|asked| match &document.cpus_effective {
        Some(cpus) if cpus == asked => format!("CPUs {}", list(cpus)),
        cpus => format!("CPUs {} ({} were asked for)", cpus.as_ref().map_or_else(not_read, list), list(asked)),
    });
    let parts: Vec<String> = nice.into_iter().chain(cpus).collect();
    (!parts.is_empty()).then(|| format!("in effect for its threads: {}", parts.join(", ")))
}

/// A limit of a control group on one disk.
fn limited(limit: &RecordLimit) -> String {
    let RecordLimit { group, limit: name, value, disk, in_effect, reason, put_back, not_put_back, .. } = limit;
    let value = match *name {
        "latency" => quantity::duration(*value),
        "read" | "write" => quantity::rate(*value as f64),
        "read-iops" | "write-iops" => format!("{} a second", quantity::count(*value)),
        _ => value.to_string(),
    };
    let disk = disk.as_ref().map_or_else(String::new, |disk| format!(" on {disk}"));
    let effect = match reason {
        Some(why) if !in_effect => format!("NOT in effect: {why}"),
        _ => "in effect".to_owned(),
    };
    let back = match not_put_back {
        Some(why) if *put_back == Some(false) => format!("; NOT restored: {why}"),
        _ => String::new(),
    };
    format!("{group}: {name} {value}{disk}: {effect}{back}")
}

/// What the answer of a recording is made of.
pub(crate) struct Taken<'a> {
    pub target: &'a str,
    /// Frames on the storage, flushed, and their bytes.
    pub durable: u64,
    pub durable_bytes: u64,
    /// Frames that came and are not.
    pub missing: u64,
    pub bytes_per_s: f64,
    pub duration_ns: u64,
}

impl<'a> Taken<'a> {
    pub fn of(document: &'a RecordDocument) -> Self {
        Self {
            target: &document.target,
            durable: document.streams.iter().map(|s| s.durable).sum(),
            durable_bytes: document.streams.iter().map(|s| s.durable_bytes).sum(),
            missing: document.missing_frames(),
            bytes_per_s: document.throughput_bytes_per_s,
            duration_ns: (document.duration_s.max(0.0) * 1e9) as u64,
        }
    }

    /// Of the run that was kept of it.
    pub fn of_run(run: &'a model::Run) -> Self {
        let sum = |quantity: &str| {
            let of = run.metrics().filter(|m| m.id.ends_with(quantity)).filter_map(|m| m.value);
            of.sum::<f64>() as u64
        };
        Self {
            target: run.target.path.as_deref().unwrap_or(&run.target.name),
            durable: sum(".durable_frames"),
            durable_bytes: sum(".bytes"),
            missing: sum(".lost_frames"),
            bytes_per_s: run.metric("record.throughput_bytes_per_s").and_then(|m| m.value).unwrap_or(0.0),
            duration_ns: run.duration_ns,
        }
    }
}

/// What came of it, in a sentence.
pub(crate) fn answer(taken: &Taken<'_>) -> String {
    if taken.durable + taken.missing == 0 {
        return format!("No frame came: nothing was recorded to {}.", taken.target);
    }
    let verdict = if taken.missing == 0 { "No frame was lost" } else { "Frames were LOST" };
    format!(
        "{verdict}: {} ({}) are durable on {}, {} for {}{}.",
        counted(taken.durable, "frame"),
        quantity::size(taken.durable_bytes),
        taken.target,
        quantity::rate(taken.bytes_per_s),
        quantity::duration(taken.duration_ns),
        if taken.missing > 0 { format!("; {} are not", counted(taken.missing, "frame")) } else { String::new() }
    )
}

/// What came of it: the answer first.
pub fn record(document: &RecordDocument) -> Presentation {
    let tone = if document.is_empty() || document.missing_frames() > 0 { Tone::Bad } else { Tone::Good };
    let mut presentation = Presentation::of("record", &document.target).answered(tone, answer(&Taken::of(document)));
    presentation.end.notes = document.missing.iter().chain(&document.remarks).cloned().collect();
    if document.is_empty() {
        return presentation;
    }
    presentation.push(SectionName::Numbers, vec![Part::Remarks(document.streams.iter().map(became).collect())]);
    presentation.push(SectionName::Others, listed(cost(document)));
    let limits = document.limits.iter().map(|limit| {
        let bad = !limit.in_effect || limit.put_back == Some(false);
        Part::Sentence(if bad { Tone::Bad } else { Tone::Plain }, limited(limit))
    });
    presentation.push(SectionName::Limits, limits.collect());
    if document.storage_failures > 0 {
        let text = format!("{} writes or flushes of the storage failed", quantity::count(document.storage_failures));
        presentation.push(SectionName::Events, vec![Part::Sentence(Tone::Bad, text)]);
    }
    presentation
}

/// What became of the frames of a stream.
fn became(stream: &RecordStream) -> Remark {
    let lost = stream.dropped.iter().map(|(why, n)| format!(", {} lost ({why})", quantity::count(*n)));
    let lost: String = lost.collect();
    let flying = if stream.in_flight > 0 { format!(", {} in flight", stream.in_flight) } else { String::new() };
    let blocked = if stream.blocked_s >= 0.001 {
        format!(", its producer waited {}", quantity::duration((stream.blocked_s * 1e9) as u64))
    } else {
        String::new()
    };
    let text = format!(
        "{} received, {} durable ({}){lost}{flying}{blocked}",
        quantity::count(stream.received),
        quantity::count(stream.durable),
        quantity::size(stream.durable_bytes)
    );
    let tone = if stream.dropped.is_empty() { Tone::Plain } else { Tone::Bad };
    Remark { phase: stream.name.clone(), tone, text }
}

/// How much of the frames was copied on the way from the ring to the storage.
fn copies(document: &RecordDocument) -> Option<String> {
    let (copied, uncopied) = (quantity::size(document.copied_bytes), quantity::size(document.uncopied_bytes));
    match (document.copied_bytes, document.uncopied_bytes) {
        (0, 0) => None,
        (0, _) => Some("frames were written from where they had been received, without a copy".to_owned()),
        (_, 0) => Some(format!("{copied} of frames were copied once before they were written")),
        _ => Some(format!(
            "{uncopied} of frames were written from where they had been received, {copied} were copied once"
        )),
    }
}

/// How old frames were, and what recording them took.
fn cost(document: &RecordDocument) -> Vec<String> {
    let mut list = Vec::new();
    if let (Some(median), Some(most)) = (document.ack_ns_p50, document.ack_ns_max) {
        let p99 = document.ack_ns_p99.map_or_else(String::new, |ns| format!(", p99 {}", quantity::duration(ns)));
        list.push(format!(
            "a frame was durable {} after it came (median{p99}, at most {}; asked: {} and the flush)",
            quantity::duration(median),
            quantity::duration(most),
            quantity::duration(document.ack_ns_asked)
        ));
    }
    let (most, ring) = (quantity::memory_size(document.ring_most_bytes), quantity::memory_size(document.ring_bytes));
    list.push(format!("the ring held {most} of {ring} at most"));
    // Of a little what is used at the start is more than what frames cost.
    let is_much = document.streams.iter().map(|s| s.durable_bytes).sum::<u64>() >= LEAST_FOR_CPU;
    if let (true, Some(writer), Some(all)) = (is_much, document.cpu_s_per_gb, document.process_cpu_s_per_gb) {
        list.push(format!("CPU a GB: the writer {writer:.3} s, all of the program {all:.3} s"));
    }
    list.extend(copies(document));
    list.push(format!("priority: {}", document.priority_reason));
    list.extend(scheduling(document));
    list.extend(document.deferred.as_ref().map(|deferred| {
        let still = quantity::duration((deferred.still_s * 1e9) as u64);
        format!("{} was paused {} times, for {still} in all", deferred.who.join(", "), deferred.times)
    }));
    list
}

/// What is not there of a recording, or is elsewhere.
fn not_there(document: &RecordingDocument) -> Vec<String> {
    let gap = |gap: &RecordingGap| {
        let why = if gap.why == "overwritten" { "overwritten" } else { "not recorded" };
        format!("{why}, between what is there: {} to {}", gap.from, gap.to)
    };
    let overwritten = document.overwritten_before.iter().map(|t| format!("overwritten: all that came before {t}"));
    let mut said: Vec<String> = document.gaps.iter().map(gap).chain(overwritten).collect();
    if !document.others.is_empty() {
        let (all, others) = (document.others.len() + 1, document.others.join(", "));
        said.push(format!("the newest of {all} recordings in its directory; the others: {others}"));
    }
    said
}

/// What a recording holds; where all of it was read, first whether it is whole.
pub fn recording(document: &RecordingDocument) -> Presentation {
    let mut presentation = Presentation::default();
    if let Some(checked) = &document.checked {
        let lost: u64 = document.streams.iter().map(|s| s.lost).sum();
        let tone = match lost {
            _ if !checked.whole || holds_nothing(checked, lost) => Tone::Bad,
            0 => Tone::Good,
            _ => Tone::Doubt,
        };
        presentation.head.answer = Some((tone, verified(checked, lost)));
        let damage = checked.damage.iter().map(|damage| Part::Sentence(Tone::Bad, damage.clone()));
        let mended = checked.mended.then(|| "its superblocks were written anew".to_owned());
        let given_back = (checked.given_back_bytes > 0)
            .then(|| format!("{} that it does not use are free again", quantity::size(checked.given_back_bytes)));
        let repaired = listed(mended.into_iter().chain(given_back).collect());
        presentation.push(SectionName::Answer, damage.chain(repaired).collect());
    }
    let count: u64 = document.streams.iter().map(|s| s.frames).sum();
    let bytes: u64 = document.streams.iter().map(|s| s.bytes).sum();
    let text = format!(
        "{} of {} in {} ({}; {} of {} segments of {}; {} when full)",
        counted(count, "frame"),
        quantity::size(bytes),
        document.target,
        counted(document.recordings.into(), "recording"),
        quantity::count(document.segments_used),
        quantity::count(document.segments),
        quantity::memory_size(document.segment_bytes),
        if document.when_full == "wrap" { "overwrites the oldest" } else { "stops" }
    );
    let streams = document.streams.iter().map(held);
    let pinned = document.pinned.iter().map(|pinned| {
        let bytes = quantity::memory_size(pinned.segments * document.segment_bytes);
        let when = stretch(pinned.first.as_ref(), pinned.last.as_ref());
        format!("pinned: {} ({bytes}){when}", counted(pinned.segments, "segment"))
    });
    let list = Part::List(streams.chain(pinned).chain(not_there(document)).collect());
    let exported = document.exported.as_ref().map(|exported| {
        let gone = match exported.unreadable {
            0 => String::new(),
            n => format!("; {} could not be read", counted(n, "frame")),
        };
        let (frames, bytes) = (counted(exported.frames, "frame"), quantity::size(exported.bytes));
        Part::Sentence(Tone::Plain, format!("{frames} exported ({bytes}){gone}"))
    });
    let parts = [Part::Sentence(Tone::Plain, text), list].into_iter().chain(exported);
    presentation.push(SectionName::Numbers, parts.collect());
    presentation
}

fn is_lost(frames: u64) -> String {
    format!("{} {}", counted(frames, "frame"), if frames == 1 { "was" } else { "were" })
}

/// Whether all that came was lost.
fn holds_nothing(checked: &RecordingChecked, lost: u64) -> bool {
    lost > 0 && checked.frames + checked.unacknowledged == 0
}

/// Whether a recording is whole, in a sentence.
fn verified(checked: &RecordingChecked, lost: u64) -> String {
    let before = match lost {
        0 => String::new(),
        lost => format!("; {} lost before they were written", is_lost(lost)),
    };
    if checked.whole && holds_nothing(checked, lost) {
        return format!("It holds NO frames{before}.");
    }
    let verdict = if checked.whole {
        "Nothing that was acknowledged is missing or altered"
    } else {
        "Frames that were acknowledged are MISSING or ALTERED"
    };
    let more = match (checked.unacknowledged, checked.torn) {
        (0, 0) => String::new(),
        (whole, torn) => {
            format!("; of the last moments {} whole and {} torn", counted(whole, "frame"), quantity::count(torn))
        }
    };
    format!("{verdict}: {} were read{more}{before}.", counted(checked.frames + checked.unacknowledged, "frame"))
}

/// `, 10:00 to 10:05`; nothing where it is not known.
fn stretch(first: Option<&String>, last: Option<&String>) -> String {
    first.zip(last).map_or_else(String::new, |(first, last)| format!(", {first} to {last}"))
}

/// What a recording holds of a stream.
fn held(stream: &RecordedStream) -> String {
    let RecordedStream { name, kind, frames: count, bytes, lost, first, last } = stream;
    let lost = match lost {
        0 => String::new(),
        lost => format!(", {} lost before they were written", quantity::count(*lost)),
    };
    let when = stretch(first.as_ref(), last.as_ref());
    format!("{name} ({kind}): {}, {}{lost}{when}", counted(*count, "frame"), quantity::size(*bytes))
}

/// `4 streams of 2.00 MB/s (16 Mbit/s)`.
fn planned(document: &RecordPlanDocument) -> String {
    let bits = quantity::significant(document.stream_bytes_per_s * 8.0 / 1e6, 3);
    let bits = if bits.contains('.') { bits.trim_end_matches('0').trim_end_matches('.') } else { bits.as_str() };
    let assumed = document.assumed_rate.as_ref().map_or_else(String::new, |asked| format!(", usual for {asked}"));
    let streams = counted(document.streams.into(), "stream");
    format!("{streams} of {} ({bits} Mbit/s{assumed})", quantity::rate(document.stream_bytes_per_s))
}

/// `, after the 6.4 GB of its cache`.
fn after_cache(document: &RecordPlanDocument) -> String {
    document.cache_bytes.map_or_else(String::new, |bytes| {
        format!(" after the first {}, where its rate fell for good", quantity::size(bytes))
    }) + &document.fill_run.as_ref().map_or_else(String::new, |run| format!(" (as fill {run} saw)"))
}

/// A rate beyond this share of what the storage takes has no room for what was not measured.
const MAX_SHARE: f64 = 0.95;

/// Whether the storage takes what the streams bring, and only lacks room beside that.
fn all_is_less(document: &RecordPlanDocument, takes: f64) -> bool {
    f64::from(document.streams) * document.stream_bytes_per_s <= takes
}

/// How long there is room.
fn until_full(document: &RecordPlanDocument) -> String {
    let full = quantity::duration((document.full_after_s * 1e9) as u64);
    format!("for {full}, until its {} are full", quantity::size(document.room_bytes))
}

/// What is said where more was asked for than is known.
fn beyond_what_is_known(document: &RecordPlanDocument) -> Option<String> {
    let (known_s, asked_s, bytes) = (document.known_s?, document.asked_s?, document.needed_write_bytes?);
    let seconds = |s: f64| quantity::duration((s * 1e9) as u64);
    let is = if document.streams == 1 { "is" } else { "are" };
    Some(format!(
        "Not known beyond {}: {} {is} carried for as long, and {} are asked for; --max-write {}MB measures enough",
        seconds(known_s),
        planned(document),
        seconds(asked_s),
        bytes.div_ceil(1_000_000)
    ))
}

/// Whether a storage carries streams, in a sentence.
pub(crate) fn plan_answer(document: &RecordPlanDocument) -> String {
    let planned = planned(document);
    let seconds = |s: f64| quantity::duration((s * 1e9) as u64);
    let verdict = match (document.carries, document.ring_bytes) {
        (None, _) => match document.needed_s {
            None => beyond_what_is_known(document).unwrap_or_else(|| "Not known: nothing was measured".to_owned()),
            Some(needed_s) => {
                let option = match document.needed_write_bytes {
                    Some(bytes) => format!("--max-write {}MB", bytes.div_ceil(1_000_000)),
                    None => format!("--for {needed_s:.0}s"),
                };
                let (wrote, needed) = (seconds(document.measured_s), seconds(needed_s));
                format!("Not known: it wrote for {wrote} only, and at least {needed} are needed, so {option} or more")
            }
        },
        (Some(true), Some(ring)) => {
            let far = match (document.known_bytes, document.known_s) {
                (Some(bytes), Some(known_s)) => {
                    let (first, time) = (quantity::size(bytes), seconds(known_s));
                    let by = document.fill_run.as_ref().map_or_else(
                        || "since no more was written; narrows fill tells what comes after".to_owned(),
                        |run| format!("which fill {run} wrote"),
                    );
                    format!("; known for the first {first} ({time}), {by}")
                }
                _ if document.cache_bytes.is_some() => {
                    format!(", {}, also{}", until_full(document), after_cache(document))
                }
                _ => format!(", {}", until_full(document)),
            };
            let carried = if document.streams == 1 { "is" } else { "are" };
            format!("Yes: {planned} {carried} carried, with a ring of {}{far}", quantity::memory_size(ring))
        }
        (Some(false), Some(_)) if document.asked_s.is_some_and(|asked_s| document.full_after_s < asked_s) => {
            let (is, asked) =
                (if document.streams == 1 { "is" } else { "are" }, seconds(document.asked_s.unwrap_or_default()));
            format!("NO: {planned} {is} carried, but only {}, and {asked} are asked for", until_full(document))
        }
        (Some(_), _) => {
            let takes = document.sustained_bytes_per_s.map_or_else(String::new, |rate| {
                let all = f64::from(document.streams) * document.stream_bytes_per_s;
                let bring = if document.streams == 1 { "it brings" } else { "they bring" };
                let after = after_cache(document);
                let (takes, all, most) = (quantity::rate(rate), quantity::rate(all), quantity::rate(MAX_SHARE * rate));
                match all_is_less(document, rate) {
                    true => format!(
                        ": {bring} {all}; the storage takes {takes}{after}, of which streams may need 95 %, {most}: the rest is for what was not \
                         measured"
                    ),
                    false => format!(": {bring} {all}, and the storage takes no more than {takes}{after}"),
                }
            });
            let is = if document.streams == 1 { "is" } else { "are" };
            let most = document.most_streams;
            let less = if most > 0 { format!("; {most} of them are carried") } else { String::new() };
            format!("NO: {planned} {is} too much{takes}{less}")
        }
    };
    format!("{verdict} ({}).", document.target)
}

/// Whether a storage carries streams: the answer first.
pub fn record_plan(document: &RecordPlanDocument) -> Presentation {
    let all = f64::from(document.streams) * document.stream_bytes_per_s;
    let tone = match document.carries {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Doubt,
    };
    let sustained = document.sustained_bytes_per_s.map(|sustained| {
        let slowest = document
            .slowest_second_bytes_per_s
            .map_or_else(String::new, |rate| format!(", {} in the slowest second", quantity::rate(rate)));
        let when = if document.known_bytes.is_some() { " in that time".to_owned() } else { after_cache(document) };
        format!(
            "it takes {}{when}{slowest}; they need {}, and may need 95 % of that",
            quantity::rate(sustained),
            quantity::rate(all)
        )
    });
    let gap = document
        .longest_gap_ns
        .map_or_else(String::new, |ns| format!("for {} nothing was written, and ", quantity::duration(ns)));
    let ring = quantity::memory_size(document.usual_ring_bytes);
    let (room, full) = (quantity::size(document.room_bytes), quantity::duration((document.full_after_s * 1e9) as u64));
    let kept =
        if document.keeps_free { "; 5 % of the file system, at least 256 MiB, stay free beside that" } else { "" };
    let list = [
        format!("at most {gap}a flush took {}", quantity::duration(document.slowest_flush_ns)),
        format!("with a ring of {ring} it carries {} of such streams at most", document.most_streams),
        format!("its {room} are full after {full} of them{kept}"),
    ];
    let (wrote, time) =
        (quantity::size(document.bytes_written), quantity::duration((document.measured_s * 1e9) as u64));
    let mut parts = vec![
        Part::List(sustained.into_iter().chain(list).collect()),
        Part::Hint(format!("Measured: {wrote} written in {time}, as fast as it took them.")),
    ];
    if document.known_bytes.is_some() {
        let text = format!(
            "Whether a write cache ends or heat slows it after that does not show in {wrote}: --max-write SIZE writes more, and narrows fill says where it ends"
        );
        parts.push(Part::Sentence(Tone::Doubt, text));
    }
    let mut presentation = Presentation::of("record plan", &document.target).answered(tone, plan_answer(document));
    presentation.push(SectionName::Numbers, parts);
    presentation.push(SectionName::Others, group_answer::parts(document.group.as_ref()));
    presentation.head.answer = group_answer::of_all(document.group.as_ref(), PLANNED).or(presentation.head.answer);
    presentation
}

/// What all ranks of a group say together: yes, and no.
pub(crate) const PLANNED: [&str; 2] =
    ["each carries its streams while all write", "do not carry their streams while all write"];
