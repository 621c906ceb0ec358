//! How long packages took, in a sentence: what of it is the storage's, and what are pauses.

use crate::presentation::Tone;
use crate::quantity;
use model::{Metric, PackagePart, PhaseRun, Reason, Run, TargetKind, Unit};

/// What a part does, of so many packages of so many.
struct Part<'a> {
    words: String,
    time: &'a Metric,
    in_calls: Option<&'a Metric>,
    by_dpkg: bool,
    pauses_as: u32,
}

impl<'a> Part<'a> {
    fn of(phase: &'a PhaseRun) -> Option<Self> {
        let [stream] = &phase.plan.streams[..] else { return None };
        let replay = stream.replay()?;
        let mut named = replay.replay_digest.strip_prefix("packages:")?.split(':');
        let (part, count, removed) = (named.next()?, named.next()?, named.next()?);
        let by_dpkg = replay.replay_real.as_ref();
        let of_archives = by_dpkg.is_some_and(|real| real.archives.is_some());
        let words = match (by_dpkg.map(|real| real.part), part) {
            (Some(PackagePart::Install), _) | (None, "install") if of_archives => "installing the packages".to_owned(),
            (Some(PackagePart::Install), _) | (None, "install") => format!("installing {count} packages"),
            (Some(PackagePart::Remove), _) | (None, "remove") => format!("removing {removed}"),
            _ => format!("installing {removed} again"),
        };
        let metric = |quantity: &str| {
            let id = format!("{}.{quantity}", phase.plan.name);
            phase.metrics.iter().find(|metric| metric.id == id && value(metric).is_some())
        };
        let in_calls = metric("in_calls_s").filter(|_| replay.replay_pauses && by_dpkg.is_none());
        let by_dpkg = by_dpkg.is_some();
        Some(Self { words, time: metric("time_s")?, in_calls, by_dpkg, pauses_as: replay.replay_speed_milli })
    }
}

impl Part<'_> {
    /// Whether it came to its end; what was interrupted took longer than it was let.
    fn is_whole(&self) -> bool {
        !self.time.reasons.iter().any(|reason| matches!(reason, Reason::Interrupted { .. }))
    }

    fn takes(&self) -> String {
        let more = if self.is_whole() { "" } else { "more than " };
        format!("{} takes {more}{}", self.words, seconds(self.time))
    }
}

fn value(metric: &Metric) -> Option<f64> {
    metric.value.or(metric.rejected_value)
}

fn seconds(metric: &Metric) -> String {
    quantity::quantity(value(metric).unwrap_or(0.0), Unit::S)
}

/// The sentence, where packages were installed or removed.
pub(crate) fn packages_sentence(run: &Run) -> Option<(Tone, String)> {
    let parts: Vec<Part<'_>> = run.phases.iter().filter_map(Part::of).collect();
    let first = parts.first()?;
    let with_pauses =
        first.in_calls.filter(|_| first.is_whole()).and_then(|calls| Some((calls, value(first.time)? - value(calls)?)));
    let real = if run.target.kind == TargetKind::Sim { "" } else { "; --real has this machine's dpkg do it" };
    let what = match with_pauses {
        _ if !first.is_whole() => "it was interrupted".to_owned(),
        _ if first.by_dpkg => "storage and processor together, by this machine's dpkg".to_owned(),
        Some((calls, pauses)) => {
            let pauses = quantity::quantity(pauses.max(0.0), Unit::S);
            let speed = match first.pauses_as {
                1000 => String::new(),
                milli => format!(" {} times as fast", quantity::significant(f64::from(milli) / 1000.0, 3)),
            };
            format!("{} of it the storage, {pauses} pauses as of an RK3399 (NanoPi M4){speed}{real}", seconds(calls))
        }
        None => format!("all of it the storage, without pauses of a processor{real}"),
    };
    let rest: Vec<String> = parts[1..].iter().map(Part::takes).collect();
    let doubt = parts.iter().find(|part| part.time.value.is_none()).and_then(|part| part.time.reasons.first());
    let mut said = crate::text::capital(&format!("{}: {what}.", first.takes()));
    if !rest.is_empty() {
        said.push_str(&format!(" {}.", crate::text::capital(&rest.join(", "))));
    }
    match doubt {
        None => Some((Tone::Good, said)),
        Some(reason) => Some((Tone::Doubt, format!("{said} Not certain: {reason}"))),
    }
}

/// The same of a recording whose pauses are kept, as of a boot: how long it took, and what of that were pauses.
pub(crate) fn paused_sentence(run: &Run) -> Option<(Tone, String)> {
    let mut paused = run.phases.iter().filter(|phase| phase.plan.pauses_ns().is_some());
    let (Some(phase), None) = (paused.next(), paused.next()) else { return None };
    let metric = |quantity: &str| {
        let id = format!("{}.{quantity}", phase.plan.name);
        phase.metrics.iter().find(|metric| metric.id == id)?.value
    };
    let (time, calls) = (metric("time_s")?, metric("in_calls_s")?);
    let words = |seconds: f64| quantity::quantity(seconds, Unit::S);
    let what = format!(
        "It takes {}: {} of it the storage, {} the pauses of the recording (--set speed=max leaves them out).",
        words(time),
        words(calls),
        words((time - calls).max(0.0))
    );
    Some((Tone::Good, what))
}
