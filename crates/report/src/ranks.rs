//! A run that was one of a group: what all ranks did together, and which was the slowest.

use crate::presentation::{Cell, Part, Row, Table, Tone};
use crate::quantity;
use model::{GroupPhase, GroupPlace, Metric, PhaseKind, RankShare, Run, SlowerCalls, Unit, metric_id};
use serde::Serialize;

/// Ranks that a table shows: the slowest.
const SHOWN: usize = 32;
/// A rank that did less than this of the fastest is told as slower.
const SLOWER_PERCENT: f64 = 90.0;

/// The group of a run, in a document.
#[derive(Clone, Debug, Serialize)]
pub struct GroupDocument<'a> {
    pub id: &'a str,
    pub rank: u32,
    pub size: u32,
    /// What each rank calls its machine; empty but in the run of rank 0.
    pub machines: &'a [String],
    /// Why it ended before its plan did.
    pub ended: Option<&'a str>,
    pub phases: Vec<GroupPhaseDocument<'a>>,
}

/// A phase that all did; sums and the slowest are those of the shares that the run has: all in the run of rank 0.
#[derive(Clone, Debug, Serialize)]
pub struct GroupPhaseDocument<'a> {
    #[serde(flatten)]
    pub phase: &'a GroupPhase,
    pub throughput_bytes_per_s: Option<f64>,
    pub ops_per_s: Option<f64>,
    /// What the slowest did of what the fastest did.
    pub balance_percent: Option<f64>,
    pub slowest_rank: Option<u32>,
    /// Whether what limits the slowest lies in its machine, on the way, or in the store.
    pub slowest_side: Option<&'static str>,
    /// What a call of the slowest takes to the server and back, and the same call of the others, where it takes at least twice as long.
    pub slower_calls: Option<SlowerCalls>,
}

impl<'a> GroupDocument<'a> {
    pub fn of(run: &'a Run) -> Option<Self> {
        let GroupPlace { id, rank, size, machines, phases, ended } = run.group.as_ref()?;
        let phase = |phase: &'a GroupPhase| GroupPhaseDocument {
            phase,
            throughput_bytes_per_s: phase.sum().map(|(bytes, _)| bytes),
            ops_per_s: phase.sum().map(|(_, operations)| operations),
            balance_percent: phase.balance_percent(),
            slowest_rank: phase.slowest().map(|s| s.rank),
            slowest_side: phase.slowest_side(),
            slower_calls: phase.slower_calls(),
        };
        let phases = phases.iter().map(phase).collect();
        Some(Self { id, rank: *rank, size: *size, machines, ended: ended.as_deref(), phases })
    }
}

/// The phases of the group that are results, in the run of rank 0.
fn results(run: &Run) -> impl Iterator<Item = (&GroupPlace, &GroupPhase)> {
    let group = run.group.as_ref().filter(|g| g.rank == 0);
    let measures =
        |name: &str| run.phase(name).is_some_and(|p| p.plan.kind == PhaseKind::Measure && !run.is_reference(&p.plan));
    group.into_iter().flat_map(|g| g.phases.iter().map(move |p| (g, p))).filter(move |(_, p)| measures(&p.name))
}

/// The sum of a phase, or in brackets what it would be and why it does not stand.
fn sum(run: &Run, phase: &GroupPhase) -> String {
    let metrics = run.phase(&phase.name).map_or(&[][..], |p| &p.metrics[..]);
    let of = |quantity: &str| {
        let id = metric_id(&metric_id(&phase.name, "group"), quantity);
        metrics.iter().find(|m| m.id == id)
    };
    let text = |metric: &Metric| match (metric.value, metric.rejected_value) {
        (Some(value), _) => quantity::quantity(value, metric.unit),
        (None, Some(value)) => format!("({})", quantity::quantity(value, metric.unit)),
        (None, None) => "-".to_owned(),
    };
    let all = ["throughput_bytes_per_s", "iops", "files_per_s"].into_iter().filter_map(of);
    let mut said: Vec<String> = all.clone().map(text).collect();
    said.extend(all.into_iter().find_map(Metric::failure).map(|reason| reason.to_string()));
    said.join(", ")
}

/// The slowest rank with its limit, where one is slower than the others.
fn slowest(group: &GroupPlace, phase: &GroupPhase) -> Option<String> {
    let balance = phase.balance_percent().filter(|percent| *percent < SLOWER_PERCENT)?;
    let slowest = phase.slowest()?;
    let why = match on_its_way(phase) {
        Some(way) => format!(", by {way}"),
        None => {
            let side = phase.slowest_side().map(|side| format!(", by its own `why` {side}")).unwrap_or_default();
            let statement = slowest.limit.as_ref().map(|l| format!(": {}", l.statement)).unwrap_or_default();
            format!("{side}{statement}")
        }
    };
    Some(format!("rank {} did {balance:.0} % of the fastest{why}", named(group, slowest)))
}

/// That calls take longer on the slowest alone: what several clients of one server show together is more than what one of them knows.
fn on_its_way(phase: &GroupPhase) -> Option<String> {
    let SlowerCalls { own_ms, others_ms } = phase.slower_calls()?;
    let [own, others] = [own_ms, others_ms].map(|ms| quantity::quantity(ms * 1e6, Unit::Ns));
    Some(format!("the network between it and the server: a call takes {own} there, {others} on the other ranks"))
}

fn named(group: &GroupPlace, share: &RankShare) -> String {
    let machine = group.machines.get(share.rank as usize);
    machine.map_or_else(|| share.rank.to_string(), |machine| format!("{} ({machine})", share.rank))
}

/// The answer of a group that did one thing.
pub(crate) fn answer(run: &Run) -> Option<(Tone, String)> {
    let mut all = results(run);
    let (group, phase) = all.next().filter(|_| all.next().is_none())?;
    let tone = if phase.is_together() { Tone::Good } else { Tone::Bad };
    let slower = slowest(group, phase).map_or_else(String::new, |text| format!("; {text}"));
    Some((tone, format!("{} ranks together: {}{slower}.", group.size, sum(run, phase).trim_end_matches('.'))))
}

/// What all ranks did.
pub(crate) fn parts(run: &Run) -> Vec<Part> {
    let Some(group) = &run.group else { return Vec::new() };
    let of_group = format!("rank {} of {}, group {}", group.rank, group.size, group.id);
    if group.rank > 0 {
        return vec![Part::Named("Group", format!("{of_group}; the sums are in the run of rank 0"))];
    }
    let mut parts = vec![Part::Named("Group", of_group)];
    let ms = |ns: u64| quantity::quantity(ns as f64, Unit::Ns);
    let rows: Vec<(String, String)> = results(run)
        .map(|(group, phase)| {
            let together =
                format!("active together {:.1} %, begun within {}", phase.overlap_percent, ms(phase.skew_ns));
            let ends = phase.last_done_ns.saturating_sub(phase.first_done_ns);
            let slower = slowest(group, phase).map_or_else(String::new, |text| format!("; {text}"));
            (phase.name.clone(), format!("{}; {together}, done within {}{slower}", sum(run, phase), ms(ends)))
        })
        .collect();
    if !rows.is_empty() {
        parts.push(Part::Statements { title: "All ranks together", tone: Tone::Good, rows });
    }
    parts.extend(table(run).map(Part::Table));
    parts.extend(group.ended.as_ref().map(|why| Part::Sentence(Tone::Bad, format!("The group ended: {why}."))));
    parts
}

/// The ranks of the phase in which they differ most, the slowest first.
fn table(run: &Run) -> Option<Table> {
    let balance = |phase: &GroupPhase| phase.balance_percent().unwrap_or(0.0);
    let (group, phase) = results(run).min_by(|(_, a), (_, b)| balance(a).total_cmp(&balance(b)))?;
    let mut shares: Vec<&RankShare> = phase.shares.iter().collect();
    shares.sort_by_key(|s| (s.bytes, s.operations, s.rank));
    let seconds = phase.together_ns as f64 / 1e9;
    let bytes = shares.iter().any(|s| s.bytes > 0);
    let most = shares.last().map_or(0, |s| if bytes { s.bytes } else { s.operations });
    let row = |share: &&RankShare| {
        let (done, unit) = if bytes { (share.bytes, Unit::BytesPerS) } else { (share.operations, Unit::OpsPerS) };
        let rate = if seconds > 0.0 { quantity::quantity(done as f64 / seconds, unit) } else { "-".to_owned() };
        let part = if most > 0 { format!("{:.0} %", 100.0 * done as f64 / most as f64) } else { "-".to_owned() };
        let ended = quantity::duration(share.ended_ns);
        let is_slowest = phase.slowest().is_some_and(|slowest| slowest.rank == share.rank);
        let own = || share.limit.as_ref().map_or_else(String::new, |l| l.statement.clone());
        let limit = on_its_way(phase).filter(|_| is_slowest).unwrap_or_else(own);
        let cells = [Cell::Text(rate), Cell::Text(part), Cell::Text(ended), Cell::Words(limit)];
        Row::new(named(group, share), cells.to_vec())
    };
    let left_out = shares.len().saturating_sub(SHOWN);
    Some(Table {
        caption: format!("Ranks in {}", phase.name),
        corner: "rank",
        head: ["rate", "of the fastest", "done after", "limited by"].map(str::to_owned).to_vec(),
        rows: shares.iter().take(SHOWN).map(row).collect(),
        footer: if left_out > 0 { vec![format!("{left_out} faster ranks are not shown")] } else { Vec::new() },
        ..Table::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{LimitLayer, RankLimit};

    fn run(rank: u32) -> Run {
        let limit = RankLimit { layer: LimitLayer::Link, statement: "the link carries no more".into(), calls: None };
        let share = |rank, bytes| RankShare {
            rank,
            bytes,
            operations: bytes >> 20,
            limit: Some(limit.clone()),
            ..RankShare::default()
        };
        let phase = GroupPhase {
            name: "reads".into(),
            together_ns: 1_000_000_000,
            overlap_percent: 99.0,
            skew_ns: 300_000,
            shares: vec![share(0, 100 << 20), share(1, 40 << 20)],
            ..GroupPhase::default()
        };
        let plan = model::PhasePlan { name: "reads".into(), ..model::PhasePlan::default() };
        let metric = Metric::measured("reads.group.throughput_bytes_per_s", Unit::BytesPerS, None, 146_800_640.0, 140);
        let mut run = test_runs::run(vec![test_runs::measured(plan, Default::default(), vec![metric])]);
        run.group = Some(GroupPlace {
            id: "ab".into(),
            rank,
            size: 2,
            machines: vec!["node1".into(), "node2".into()],
            phases: vec![phase],
            ended: None,
        });
        run
    }

    #[test]
    fn the_sum_and_the_slowest_rank_with_its_limit_are_told() {
        let run = run(0);
        let (tone, text) = answer(&run).expect("an answer");
        assert_eq!(tone, Tone::Good);
        let expected = "2 ranks together: 147 MB/s; rank 1 (node2) did 40 % of the fastest, by its own `why` the network or the \
                        link: the link carries no more.";
        assert_eq!(text, expected);
        let parts = parts(&run);
        let Some(Part::Table(table)) = parts.iter().find(|p| matches!(p, Part::Table(_))) else { panic!("{parts:?}") };
        assert_eq!(table.rows.len(), 2);
        let document = GroupDocument::of(&run).expect("a group");
        assert_eq!(
            (document.phases[0].slowest_rank, document.phases[0].slowest_side),
            (Some(1), Some("the network or the link"))
        );
        let text = serde_json::to_string(&document).expect("JSON");
        assert!(text.contains("\"overlap_percent\":99.0") && text.contains("\"balance_percent\":40.0"), "{text}");
    }

    #[test]
    fn a_rank_whose_calls_alone_take_long_is_slow_for_its_network() {
        let mut run = run(0);
        let shares = run.group.iter_mut().flat_map(|g| &mut g.phases).flat_map(|p| &mut p.shares);
        for (share, server_ms) in shares.zip([1.25, 20.5]) {
            let calls =
                model::ServerCalls { operation: "READ".into(), queue_ms: 0.0, server_ms, whole_ms: server_ms + 0.1 };
            share.limit.iter_mut().for_each(|limit| limit.calls = Some(calls.clone()));
        }
        let (_, text) = answer(&run).expect("an answer");
        let expected = "rank 1 (node2) did 40 % of the fastest, by the network between it and the server: a call takes 20.5 ms there, \
                        1.25 ms on the other ranks.";
        assert!(text.ends_with(expected), "{text}");
        let document = serde_json::to_value(GroupDocument::of(&run)).expect("JSON");
        assert_eq!(document["phases"][0]["slower_calls"]["own_ms"], 20.5);
        // Not together: others had the server for themselves, or did not.
        run.group.iter_mut().flat_map(|g| &mut g.phases).for_each(|phase| phase.overlap_percent = 60.0);
        let (_, text) = answer(&run).expect("an answer");
        assert!(!text.contains("a call takes"), "{text}");
    }

    #[test]
    fn another_rank_says_where_the_sums_are() {
        let run = run(1);
        assert_eq!(answer(&run), None);
        assert!(matches!(&parts(&run)[..], [Part::Named("Group", text)] if text.contains("in the run of rank 0")));
    }

    #[test]
    fn phases_that_were_not_together_have_no_good_answer() {
        let mut run = run(0);
        if let Some(phase) = run.group.as_mut().and_then(|g| g.phases.first_mut()) {
            phase.overlap_percent = 60.0;
        }
        assert_eq!(answer(&run).map(|(tone, _)| tone), Some(Tone::Bad));
    }
}
