//! A run that was one of a group: what all ranks did together, and which was the slowest.

use crate::presentation::{Cell, Part, Row, Table, Tone};
use crate::{measured, quantity};
use model::{GroupPhase, GroupPlace, Metric, PhaseKind, PhaseRun, RankShare, Run, SlowerCalls, Unit, metric_id};
use serde::Serialize;

/// Ranks that a table shows: the slowest.
const SHOWN: usize = 32;
/// Of so many of them it tells what limits them.
const LIMITS_TOLD: usize = 3;
/// What the table of the ranks has of each; the last where it is known of any.
const HEADS: [&str; 4] = ["rate", "of the fastest", "done after", "limited by"];
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

/// The answer of a group; `None` of another rank than 0, whose numbers are its own, unless the group ended before its time.
pub(crate) fn answer(run: &Run) -> Option<(Tone, String)> {
    let group = run.group.as_ref()?;
    let all: Vec<(&GroupPhase, &PhaseRun)> =
        results(run).filter_map(|(_, phase)| Some((phase, run.phase(&phase.name)?))).collect();
    let sums: Vec<measured::Told<'_>> = all.iter().filter_map(|(_, phase)| measured::of_all_ranks(phase)).collect();
    let size = group.size;
    let summed = measured::summed(&sums, "phases");
    if let Some(why) = &group.ended {
        let before =
            if sums.is_empty() { String::new() } else { format!("; before that {size} ranks together: {summed}") };
        return Some((Tone::Bad, format!("The group ended: {why}{before}.")));
    }
    let missing = all.len() - sums.len();
    let why =
        all.iter().find(|(_, phase)| measured::of_all_ranks(phase).is_none()).map(|(of, phase)| no_sum(of, phase));
    match (all.as_slice(), sums.as_slice(), why) {
        ([], ..) => None,
        (_, [], why) => Some((Tone::Bad, format!("{size} ranks have no sum: {}.", why.unwrap_or_default()))),
        ([(phase, _)], ..) => {
            let slower = slowest(group, phase).map_or_else(String::new, |text| format!("; {text}"));
            Some((Tone::Good, format!("{size} ranks together: {}{slower}.", sum(run, phase).trim_end_matches('.'))))
        }
        (_, _, why) => {
            let balance = |phase: &GroupPhase| phase.balance_percent().unwrap_or(100.0);
            let least = all.iter().min_by(|(a, _), (b, _)| balance(a).total_cmp(&balance(b)));
            let slower = least.and_then(|(phase, _)| Some(format!("; in {}, {}", phase.name, slowest(group, phase)?)));
            let none = why.map(|why| {
                let of = if missing == 1 { "1 phase has".to_owned() } else { format!("{missing} phases have") };
                format!("; {of} no sum: {why}")
            });
            let (slower, none) = (slower.unwrap_or_default(), none.unwrap_or_default());
            Some((Tone::Good, format!("{size} ranks together: {summed}{slower}{none}.")))
        }
    }
}

/// Why a phase has no sum of all ranks.
fn no_sum(of: &GroupPhase, phase: &PhaseRun) -> String {
    let prefix = format!("{}.group.", of.name);
    let sums = phase.metrics.iter().filter(|m| m.id.starts_with(&prefix));
    let why = sums.flat_map(|m| &m.reasons).find(|reason| !reason.is("no-interval"));
    why.map_or_else(|| "nothing was counted".to_owned(), |reason| reason.text().trim_end_matches('.').to_owned())
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
    let files = run.phase(&phase.name).is_some_and(|p| p.plan.operates_on_files());
    let bytes = !files && shares.iter().any(|s| s.bytes > 0);
    let most = shares.iter().map(|s| if bytes { s.bytes } else { s.operations }).max().unwrap_or(0);
    let limited = shares.iter().any(|share| limit(phase, share).is_some());
    let row = |share: &&RankShare| {
        let (done, unit) = match (bytes, files) {
            (true, _) => (share.bytes, Unit::BytesPerS),
            (false, true) => (share.operations, Unit::FilesPerS),
            (false, false) => (share.operations, Unit::OpsPerS),
        };
        let rate = if seconds > 0.0 { quantity::quantity(done as f64 / seconds, unit) } else { "-".to_owned() };
        let part = if most > 0 { format!("{:.0} %", 100.0 * done as f64 / most as f64) } else { "-".to_owned() };
        let ended = quantity::duration(share.ended_ns);
        let mut cells = vec![Cell::Text(rate), Cell::Text(part), Cell::Text(ended)];
        cells.extend(limited.then(|| Cell::Words(side(phase, share).unwrap_or("not known").to_owned())));
        Row::new(named(group, share), cells)
    };
    let left_out = shares.len().saturating_sub(SHOWN);
    let more = (left_out > 0).then(|| format!("{left_out} faster ranks are not shown"));
    // In a column they would be cut off.
    let limits = shares.iter().filter_map(|share| Some(format!("{}: {}", named(group, share), limit(phase, share)?)));
    Some(Table {
        caption: format!("Ranks in {}", phase.name),
        corner: "rank",
        head: HEADS[..if limited { HEADS.len() } else { HEADS.len() - 1 }].iter().map(|h| (*h).to_owned()).collect(),
        rows: shares.iter().take(SHOWN).map(row).collect(),
        footer: more.into_iter().chain(limits.take(LIMITS_TOLD)).collect(),
        ..Table::default()
    })
}

fn is_slowest(phase: &GroupPhase, share: &RankShare) -> bool {
    phase.slowest().is_some_and(|slowest| slowest.rank == share.rank)
}

/// On which side of the way to the store the limit of a rank lies.
fn side(phase: &GroupPhase, share: &RankShare) -> Option<&'static str> {
    if is_slowest(phase, share) { phase.slowest_side() } else { share.limit.as_ref()?.side() }
}

/// What limits a rank, in a sentence.
fn limit(phase: &GroupPhase, share: &RankShare) -> Option<String> {
    let way = on_its_way(phase).filter(|_| is_slowest(phase, share));
    way.or_else(|| share.limit.as_ref().map(|l| l.statement.clone()))
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
    fn limits_are_told_whole_beside_the_table_and_without_any_there_is_no_column_for_them() {
        let mut run = run(0);
        let shown = table(&run).expect("a table");
        assert_eq!(shown.rows[0].cells[3], Cell::Words("the network or the link".into()));
        assert_eq!(shown.footer[0], "1 (node2): the link carries no more");
        run.group.iter_mut().flat_map(|g| &mut g.phases).flat_map(|p| &mut p.shares).for_each(|s| s.limit = None);
        let shown = table(&run).expect("a table");
        assert_eq!((shown.head.len(), shown.rows[0].cells.len(), shown.footer.len()), (3, 3, 0));
    }

    /// The phase of the run once more, by another name and with another sum.
    fn also(run: &mut Run, name: &str, value: Option<f64>) {
        let plan = model::PhasePlan { name: name.into(), ..model::PhasePlan::default() };
        let id = format!("{name}.group.throughput_bytes_per_s");
        let mut metric = Metric::measured(&id, Unit::BytesPerS, None, value.unwrap_or(5e6), 140);
        if value.is_none() {
            metric.refuse(&[model::Reason::NotTogether { overlap_percent: 64.0, rank: 1 }]);
        }
        run.phases.push(test_runs::measured(plan, Default::default(), vec![metric]));
        let group = run.group.as_mut().expect("a group");
        let overlap_percent = if value.is_some() { 99.0 } else { 64.0 };
        let shares = [0, 1].map(|rank| RankShare { rank, bytes: 100 << 20, ..RankShare::default() }).to_vec();
        group.phases.push(GroupPhase { name: name.into(), overlap_percent, shares, ..GroupPhase::default() });
    }

    #[test]
    fn several_phases_are_answered_by_the_sums_and_not_by_what_rank_0_did() {
        let mut run = run(0);
        also(&mut run, "writes", Some(50e6));
        let slower = "; in reads, rank 1 (node2) did 40 % of the fastest, by its own `why` the network or the link: the link carries no more";
        let said = |run: &Run| answer(run).expect("an answer");
        let text = said(&run).1;
        assert_eq!(text, format!("2 ranks together: reads 147 MB/s; writes 50.0 MB/s{slower}."));
        also(&mut run, "more", None);
        let why = "the ranks were active together for 64 % of the phase, and 90 % is the least; rank 1 was active for the shortest time";
        assert_eq!(said(&run).1, format!("{}; 1 phase has no sum: {why}.", text.trim_end_matches('.')));
        also(&mut run, "most", Some(200e6));
        also(&mut run, "least", Some(20e6));
        let text = said(&run).1;
        assert!(text.starts_with("2 ranks together: 4 phases, from 20.0 MB/s (least) to 200 MB/s (most)"), "{text}");
        // Why it ended is the answer, of the other ranks, too.
        for rank in [0, 1] {
            let group = run.group.as_mut().expect("a group");
            (group.rank, group.ended) = (rank, Some("rank 1 (node2) is gone".into()));
            let (tone, text) = said(&run);
            assert!(tone == Tone::Bad && text.starts_with("The group ended: rank 1 (node2) is gone"), "{text}");
        }
    }

    #[test]
    fn another_rank_says_where_the_sums_are() {
        let run = run(1);
        assert_eq!(answer(&run), None);
        assert!(matches!(&parts(&run)[..], [Part::Named("Group", text)] if text.contains("in the run of rank 0")));
    }

    #[test]
    fn ranks_that_were_not_together_have_no_sum_and_the_answer_says_why() {
        let mut run = run(0);
        run.phases.clear();
        run.group.iter_mut().for_each(|group| group.phases.clear());
        also(&mut run, "reads", None);
        let (tone, text) = answer(&run).expect("an answer");
        let expected = "2 ranks have no sum: the ranks were active together for 64 % of the phase, and 90 % is the least; rank 1 was \
                        active for the shortest time.";
        assert_eq!((tone, text.as_str()), (Tone::Bad, expected));
    }

    #[test]
    fn ranks_that_make_files_are_shown_in_files() {
        let mut run = run(0);
        let files = model::StreamPlan { kind: model::FilesPlan::default().into(), ..model::StreamPlan::default() };
        run.phases[0].plan.streams = vec![files];
        assert_eq!(table(&run).expect("a table").rows[0].cells[0], Cell::Text("40.0 files/s".into()));
    }
}
