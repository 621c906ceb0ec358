//! Whether so many bytes can be written within a time, by one machine or by all ranks of a group.

use crate::bounded::{Bounded, bounded_value};
use crate::group::GROUP_PART;
use crate::need::{answered, of_need, stands_to};
use model::{
    Fit, GroupPhase, GroupPlace, Need, PhaseRun, Reason, Run, UseText, Work, decimal_bytes_text, parse_bytes,
    parse_duration_ns,
};

/// Less is no checkpoint, but a number without its unit.
const LEAST_BYTES: u64 = 1_000_000;
/// How it is asked for.
pub(crate) const EXAMPLE: &str = "checkpoint=20GB/60s";

/// What is asked for by `20GB/60s`: the use with its amount and its rate.
///
/// # Errors
/// It is no amount and no time.
pub(crate) fn asked(mut of: UseText, name: &str, amount: &str) -> Result<UseText, String> {
    let wrong = || format!("'{name}': {EXAMPLE} is 20 GB that are written within 60 s");
    let (size, time) = amount.split_once('/').ok_or_else(wrong)?;
    let bytes = parse_bytes(size).ok().filter(|bytes| *bytes > 0).ok_or_else(wrong)?;
    if bytes < LEAST_BYTES {
        return Err(format!("{}, and {size} is {bytes} bytes: a unit is missing", wrong()));
    }
    let ns = parse_duration_ns(time).ok().filter(|ns| *ns > 0).ok_or_else(wrong)?;
    name.clone_into(&mut of.id);
    of.title = format!("a checkpoint of {size} in {time}");
    of.checkpoint_bytes = Some(bytes);
    of.needs.iter_mut().for_each(|need| need.least = Some(bytes as f64 * 1e9 / ns as f64));
    Ok(of)
}

/// How a run stands to a checkpoint of so many bytes.
pub(crate) fn fit(run: &Run, of: &UseText, need: &Need, bytes: u64) -> Fit {
    let phase = Work::ALL.iter().find(|w| w.name() == need.phase).and_then(|w| run.phase_of_work(*w));
    match run.group.as_ref().filter(|group| group.size > 1) {
        None => enough(of_need(run, of, need), written(phase), bytes, need),
        Some(group) if group.rank == 0 => of_all(of, need, phase, group, bytes),
        Some(GroupPlace { rank, size, .. }) => {
            let part = Need { least: need.least.map(|least| least / f64::from(*size)), ..need.clone() };
            let title = format!("{} of {} ranks: the part of rank {rank}", of.title, size);
            let of = UseText { title, ..of.clone() };
            enough(of_need(run, &of, &part), written(phase), bytes / u64::from(*size), &part)
        }
    }
}

fn written(phase: Option<&PhaseRun>) -> u64 {
    phase.and_then(|p| p.record.as_ref()).map_or(0, |r| r.bytes)
}

/// All ranks together: each writes an equal part, so that the slowest is the last.
fn of_all(of: &UseText, need: &Need, phase: Option<&PhaseRun>, group: &GroupPlace, bytes: u64) -> Fit {
    let name = phase.map_or(need.phase.as_str(), |p| p.plan.name.as_str());
    let shares: &[_] = group.phases.iter().find(|p| p.name == name).map_or(&[], |p: &GroupPhase| &p.shares);
    let slowest = shares.iter().map(|s| s.bytes).min().unwrap_or(0).saturating_mul(u64::from(group.size));
    let all: u64 = shares.iter().map(|s| s.bytes).sum();
    let id = format!("{name}.{GROUP_PART}.{}", need.quantity);
    let missing = || Reason::of("missing", "there is no sum of all ranks");
    let metric = phase.and_then(|p| Some((p, p.metrics.iter().find(|m| m.id == id)?)));
    let found = metric.ok_or_else(missing).and_then(|(p, metric)| bounded_value(p, metric)?.ok_or_else(missing));
    let part = if all > 0 { slowest as f64 / all as f64 } else { 0.0 };
    let found = found.map(|b| Bounded { value: b.value * part, low: b.low * part, high: b.high * part, ..b });
    let title = format!("{} by {} ranks", of.title, group.size);
    let quantity = "of all ranks, at the rate of the slowest".to_owned();
    let value = found.as_ref().ok().map(|b| b.value);
    let fit = Fit { title, quantity, metric: id, ..stands_to(of, need, value) };
    enough(answered(fit, found), slowest, bytes, need)
}

/// Yes is said only of as much as was written.
fn enough(fit: Fit, written: u64, bytes: u64, need: &Need) -> Fit {
    if fit.met != Some(true) || written >= bytes {
        return fit;
    }
    let seconds = bytes as f64 / need.threshold();
    let text = format!(
        "{} were written at that rate, and {} are asked for: a fast cache may end before; --max-write {}GB --budget {}s writes as much",
        decimal_bytes_text(written),
        decimal_bytes_text(bytes),
        (bytes as f64 * 2.0 / 1e9).ceil(),
        (seconds * 2.0).round().max(10.0)
    );
    Fit { met: None, reasons: vec![Reason::of("too-little-written", text)], ..fit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::use_named;
    use model::{Better, Metric, PhasePlan, PhaseRecord, RankShare, Unit};

    /// A run whose sequential writes have this rate, and moved so many bytes.
    fn run(rate: f64, bytes: u64) -> Run {
        let text = "seq-write";
        let plan = PhasePlan {
            name: text.into(),
            streams: vec![model::StreamPlan {
                kind: model::BlockPlan {
                    operation: model::Operation::Write,
                    block_size_bytes: 1 << 20,
                    region_bytes: 1 << 30,
                    ..model::BlockPlan::default()
                }
                .into(),
                path: model::IoPath { queue_depth: 8, ..model::IoPath::default() },
                ..model::StreamPlan::default()
            }],
            access: model::Access::Direct,
            engine: model::EngineKind::IoUring,
            ..PhasePlan::default()
        }
        .alike();
        let metric = |id: &str, value| Metric::measured(id, Unit::BytesPerS, Some(Better::Higher), value, 1000);
        let metrics = vec![
            metric("seq-write.throughput_bytes_per_s", rate),
            metric("seq-write.group.throughput_bytes_per_s", 4.0 * rate),
        ];
        let record = PhaseRecord { bytes, ..PhaseRecord::default() };
        test_runs::run(vec![test_runs::measured(plan, record, metrics)])
    }

    fn asked(run: &Run, name: &str) -> Fit {
        crate::fit(run, &use_named(name).unwrap())
    }

    #[test]
    fn so_many_bytes_in_so_much_time_are_a_rate_and_an_amount() {
        let of = use_named("checkpoint=20GB/60s").unwrap();
        assert_eq!((of.needs[0].least, of.checkpoint_bytes), (Some(20e9 / 60.0), Some(20_000_000_000)));
        assert_eq!(of.title, "a checkpoint of 20GB in 60s");
        for wrong in [
            "checkpoint",
            "checkpoint=",
            "checkpoint=20GB",
            "checkpoint=0/60s",
            "checkpoint=20GB/0s",
            "checkpoint=x/1s",
            "checkpoint=20/60s",
        ] {
            assert!(use_named(wrong).unwrap_err().contains(EXAMPLE), "{wrong}");
        }
    }

    #[test]
    fn yes_takes_the_rate_and_the_amount_and_no_the_rate_alone() {
        let met = |rate, bytes| asked(&run(rate, bytes), "checkpoint=20GB/60s").met;
        assert_eq!(met(500e6, 20_000_000_000), Some(true));
        assert_eq!(met(500e6, 2_000_000_000), None);
        assert_eq!(met(100e6, 2_000_000_000), Some(false));
        let fit = asked(&run(500e6, 2_000_000_000), "checkpoint=20GB/60s");
        let text = fit.reasons[0].text();
        assert!(text.contains("--max-write 40GB --budget 120s"), "{text}");
        // In the units of what was asked.
        assert!(text.starts_with("2 GB were written at that rate, and 20 GB are asked for"), "{text}");
    }

    #[test]
    fn of_a_group_the_slowest_rank_decides_and_each_other_answers_for_its_part() {
        let of = |rank: u32, slowest: u64| {
            let mut run = run(100e6, 6_000_000_000);
            let share = |rank, bytes| RankShare { rank, bytes, ..RankShare::default() };
            let shares = (0..4).map(|r| share(r, if r == 3 { slowest } else { 6_000_000_000 })).collect();
            let phase =
                GroupPhase { name: "seq-write".into(), together_ns: 60_000_000_000, shares, ..GroupPhase::default() };
            let (machines, phases) = (Vec::new(), vec![phase]);
            run.group = Some(GroupPlace { id: "g".into(), rank, size: 4, machines, phases, ended: None });
            run
        };
        // 400 MB/s of all, and 333 are asked.
        let all = asked(&of(0, 6_000_000_000), "checkpoint=20GB/60s");
        assert_eq!((all.met, all.value), (Some(true), Some(400e6)));
        assert_eq!(all.title, "a checkpoint of 20GB in 60s by 4 ranks");
        // One at half of the others' rate: 4 x 57 MB/s.
        let uneven = asked(&of(0, 3_000_000_000), "checkpoint=20GB/60s");
        assert_eq!(uneven.met, Some(false));
        // 100 MB/s, and 83 are asked of each.
        let part = asked(&of(2, 6_000_000_000), "checkpoint=20GB/60s");
        assert_eq!((part.met, part.threshold.round()), (Some(true), (20e9f64 / 240.0).round()));
    }
}
