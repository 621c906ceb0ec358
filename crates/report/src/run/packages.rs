//! How long packages took, in a sentence: what of it is the storage's, and what are pauses.

use crate::presentation::Tone;
use crate::quantity;
use model::{Metric, PackagePart, PhaseRun, Reason, Run, TargetKind};

/// What a part does, of so many packages of so many.
struct Part<'a> {
    words: String,
    time: &'a Metric,
    in_calls: Option<&'a Metric>,
    by_dpkg: bool,
    pauses_as: u32,
    /// Of its time, seconds in which its threads waited for a processor that others had, where that is not little.
    waited_s: Option<f64>,
}

/// Less of the time than this is what any program waits.
const WAITED_SHARE: f64 = 0.1;

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
        let time = metric("time_s")?;
        let waited = phase.record.as_ref().and_then(|r| r.usage.cpu_wait_ns).map(|ns| ns as f64 / 1e9);
        let waited_s = waited.filter(|waited| *waited > WAITED_SHARE * value(time).unwrap_or(0.0));
        Some(Self { words, time, in_calls, by_dpkg, pauses_as: replay.replay_speed_milli, waited_s })
    }
}

impl Part<'_> {
    /// Whether it came to its end; what was interrupted took longer than it was let.
    fn is_whole(&self) -> bool {
        !self.time.reasons.iter().any(|reason| matches!(reason, Reason::Interrupted { .. }))
    }

    /// Whether it has a number that answers, be it a bound.
    fn is_known(&self) -> bool {
        self.time.value.is_some() || self.time.bounded().is_some() || !self.is_whole()
    }

    fn takes(&self) -> String {
        if !self.is_known() {
            return format!("how long {} takes is not known (here {})", self.words, seconds(self.time));
        }
        let more = match self.time.bounded() {
            _ if !self.is_whole() => "more than ".to_owned(),
            Some((bound, ..)) => format!("{} ", bound.words()),
            None => String::new(),
        };
        format!("{} takes {more}{}", self.words, seconds(self.time))
    }
}

fn value(metric: &Metric) -> Option<f64> {
    metric.value.or(metric.rejected_value)
}

fn seconds(metric: &Metric) -> String {
    quantity::seconds(value(metric).unwrap_or(0.0))
}

/// Whether it is known how long what was asked for takes; `None` where it was no packages.
pub(crate) fn is_known(run: &Run) -> Option<bool> {
    run.phases.iter().find_map(Part::of).map(|part| part.is_known())
}

/// The sentence, where packages were installed or removed.
pub(crate) fn packages_sentence(run: &Run) -> Option<(Tone, String)> {
    let parts: Vec<Part<'_>> = run.phases.iter().filter_map(Part::of).collect();
    let first = parts.first()?;
    if !first.is_known() {
        let why = first.time.reasons.first().map_or_else(|| "it has no valid number".to_owned(), Reason::text);
        let said =
            format!("Not known how long {} takes, because {why}; here it was {}.", first.words, seconds(first.time));
        return Some((Tone::Doubt, said));
    }
    let with_pauses =
        first.in_calls.filter(|_| first.is_whole()).and_then(|calls| Some((calls, value(first.time)? - value(calls)?)));
    let real = if run.target.kind == TargetKind::Sim { "" } else { "; --real has this machine's dpkg do it" };
    // What a simulation waits for is no part of its time.
    let waited = first.waited_s.filter(|_| first.is_whole() && run.target.kind != TargetKind::Sim);
    let what = match with_pauses {
        _ if !first.is_whole() => "it was interrupted".to_owned(),
        _ if first.by_dpkg => "storage and processor together, by this machine's dpkg".to_owned(),
        Some((calls, pauses)) => {
            let pauses = quantity::seconds(pauses.max(0.0));
            let speed = match first.pauses_as {
                1000 => String::new(),
                milli => format!(" {} times as fast", quantity::significant(f64::from(milli) / 1000.0, 3)),
            };
            format!("{} of it the storage, {pauses} pauses as of an RK3399 (NanoPi M4){speed}{real}", seconds(calls))
        }
        None if waited.is_some() => {
            let rest = (value(first.time).unwrap_or(0.0) - waited.unwrap_or(0.0)).max(0.0);
            format!("at most {} of it the storage, without pauses of a processor{real}", quantity::seconds(rest))
        }
        None => format!("all of it the storage, without pauses of a processor{real}"),
    };
    let rest: Vec<String> = parts[1..].iter().map(Part::takes).collect();
    let doubt = parts.iter().find(|part| part.time.value.is_none()).and_then(|part| part.time.reasons.first());
    let mut said = crate::text::capital(&format!("{}: {what}.", first.takes()));
    if !rest.is_empty() {
        said.push_str(&format!(" {}.", crate::text::capital(&rest.join(", "))));
    }
    if let Some(waited) = waited {
        let words = quantity::seconds(waited);
        said.push_str(&format!(" For {words} of it this program waited for a processor that others had."));
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
    let words = |seconds: f64| quantity::seconds(seconds);
    let what = format!(
        "It takes {}: {} of it the storage, {} the pauses of the recording (--set speed=max leaves them out).",
        words(time),
        words(calls),
        words((time - calls).max(0.0))
    );
    Some((Tone::Good, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Unit;
    use model::{Access, PhaseRecord, ReplayPlan, StreamPlan, WorkerUsage};

    #[test]
    fn what_is_waited_for_a_processor_is_not_the_storages() {
        let sentence = |cpu_wait_ns| {
            let replay = ReplayPlan { replay_digest: "packages:install:400:150".into(), ..ReplayPlan::default() };
            let stream = StreamPlan { kind: replay.into(), ..StreamPlan::default() };
            let plan = test_runs::plan("install", Access::Buffered, vec![stream]);
            let usage = WorkerUsage { cpu_wait_ns, ..WorkerUsage::default() };
            let time = Metric::measured("install.time_s", Unit::S, None, 100.0, 1);
            let phase = test_runs::measured(plan, PhaseRecord { usage, ..PhaseRecord::default() }, vec![time]);
            let mut run = test_runs::run(vec![phase]);
            run.target.kind = TargetKind::Directory;
            packages_sentence(&run).expect("a sentence").1
        };
        for little in [None, Some(5_000_000_000)] {
            let said = sentence(little);
            assert!(said.contains("all of it the storage") && !said.contains("waited"), "{said}");
        }
        let said = sentence(Some(76_000_000_000));
        assert!(said.contains("at most 24.0 s of it the storage") && said.contains("For 76.0 s of it"), "{said}");
    }

    #[test]
    fn a_time_that_is_refused_is_no_answer_and_a_bound_is_one() {
        let run = |bound| {
            let replay = ReplayPlan { replay_digest: "packages:install:100:50".into(), ..ReplayPlan::default() };
            let stream = StreamPlan { kind: replay.into(), ..StreamPlan::default() };
            let plan = test_runs::plan("install", Access::Buffered, vec![stream]);
            let reasons = vec![Reason::of("steal", "the hypervisor took 9 %")];
            let time = Metric {
                status: model::MetricStatus::Refused,
                value: None,
                rejected_value: Some(16.8),
                bound,
                reasons,
                ..Metric::measured("install.time_s", Unit::S, None, 16.8, 1)
            };
            test_runs::run(vec![test_runs::measured(plan, PhaseRecord::default(), vec![time])])
        };
        let said = |bound| packages_sentence(&run(bound)).expect("a sentence").1;
        let refused = said(None);
        assert!(refused.starts_with("Not known how long installing 100 packages takes, because "), "{refused}");
        assert!(refused.contains("9 %") && refused.ends_with("here it was 16.8 s."), "{refused}");
        assert_eq!(is_known(&run(None)), Some(false));
        let most = said(Some(model::Bound::AtMost));
        assert!(most.starts_with("Installing 100 packages takes at most 16.8 s: "), "{most}");
        assert_eq!(is_known(&run(Some(model::Bound::AtMost))), Some(true));
    }
}
