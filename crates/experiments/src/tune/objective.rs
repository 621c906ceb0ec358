//! What is to become better: a row of the check, what decides a use, or a workload; and what must not become worse meanwhile.

use model::{Failure, MetricKey, NS_PER_S, Ns, Work};
use spec::Workload;

/// Rows of the check in the order in which they guard: what most programs wait for first.
const GUARDS: [(Work, bool); 7] = [
    (Work::RandomRead, false),
    (Work::DurableWrite, true),
    (Work::SequentialRead, false),
    (Work::BufferedWrite, true),
    (Work::BufferedRead, false),
    (Work::QueuedRead, false),
    (Work::SequentialWrite, true),
];
/// Time of a row that guards, with the look at others' requests after it: as a measurement, but no less and no more than this.
const GUARD_NS: [Ns; 2] = [600_000_000, 900_000_000];
/// A row of a short measurement takes this at least, else it is left out.
const LEAST_SHARE: &str = "200ms";
/// A row that asks for small operations now and then needs so long for enough of them.
const LEAST_RESPONSIVE_NS: Ns = 6 * NS_PER_S;
/// Before and after a phase it is looked so long whether others use the disk.
const QUIET: &str = "100ms";
/// What does not count at the beginning of a row: little, since both sides of a comparison begin alike, and a disk that is fast is soon
/// done with the bytes that it may be given.
const WARMUP: &str = "30ms";
/// The rate of memory is looked at so long: it bounds what a page cache may give.
const MEMORY: &str = "50ms";

/// Buffered reads as programs make them that read a file from start to end. The check's are larger, and the kernel reads all of a large one
/// at once whatever the read-ahead is (k:mm/readahead.c, page_cache_sync_ra).
const BUFFERED_READ: &str = "16KiB";

/// What one measurement does, and which of its numbers counts.
#[derive(Clone, Debug)]
pub struct Objective {
    /// As it was asked for.
    pub asked: String,
    pub workload: Workload,
    /// Id of the metric; `None`: the rate of the workload's first phase.
    pub metric: Option<String>,
}

/// Phases of the check that measure the target.
fn row(name: &str) -> Option<Work> {
    Work::ALL.iter().copied().find(|work| *work != Work::MemoryCopy && work.name() == name)
}

/// Of a row, a use (`etcd`, `responsive`), a metric of a row (`rand-read-qd1.latency_ns_p99`), else of the workload that `read` finds
/// under this name. A measurement of a row takes `cell_ns`.
///
/// # Errors
/// Nothing has this name, and what `read` says.
pub fn objective(
    asked: &str,
    cell_ns: Ns,
    read: &dyn Fn(&str) -> Result<Workload, Failure>,
) -> Result<Objective, Failure> {
    if let Some(work) = row(asked) {
        return of_row(asked, work, "throughput_bytes_per_s", None, cell_ns);
    }
    let key = MetricKey::of(asked);
    if let Some(work) = row(key.phase()) {
        let quantity = &asked[work.name().len() + 1..];
        return of_row(asked, work, quantity, None, cell_ns);
    }
    if let Ok(used) = judge::use_named(asked) {
        let need = used.needs.first();
        if let Some((need, work)) = need.and_then(|need| Some((need, row(&need.phase)?))) {
            return of_row(asked, work, &searchable(&need.quantity), used.log_bytes, cell_ns);
        }
    }
    let workload = read(asked).map_err(|failure| {
        let rows: Vec<&str> =
            Work::ALL.iter().filter(|work| **work != Work::MemoryCopy).map(|work| work.name()).collect();
        let remedy = format!("rows of the check are {}; uses: narrows explain for-etcd, ...", rows.join(", "));
        Failure::new(failure.kind, format!("--for {asked}: {}", failure.message)).remedy(remedy)
    })?;
    Ok(Objective { asked: asked.to_owned(), workload, metric: None })
}

/// What stands for a quantity in measurements of a few seconds: a tail needs hundreds of operations, a mean a few.
fn searchable(quantity: &str) -> String {
    let (of, last) = quantity.rsplit_once('.').map_or((None, quantity), |(of, last)| (Some(of), last));
    let last = match last {
        tail if tail.starts_with("latency_ns_") => "latency_ns_mean",
        "sustained_bytes_per_s" => "throughput_bytes_per_s",
        other => other,
    };
    of.map_or_else(|| last.to_owned(), |of| format!("{of}.{last}"))
}

fn of_row(asked: &str, work: Work, quantity: &str, log_bytes: Option<u64>, cell_ns: Ns) -> Result<Objective, Failure> {
    let paced = matches!(work, Work::Responsive | Work::ResponsiveLoaded);
    let cell_ns = if paced { cell_ns.max(LEAST_RESPONSIVE_NS) } else { cell_ns };
    let mut workload = check(cell_ns, &[work])?;
    log_bytes.into_iter().for_each(|bytes| workload.with_log_entries(bytes));
    let quantity = if paced && quantity == "throughput_bytes_per_s" { "read.latency_ns_mean" } else { quantity };
    Ok(Objective { asked: asked.to_owned(), workload, metric: Some(format!("{}.{quantity}", work.name())) })
}

/// So many other rows as guards, and the time that they take; without those that write, where nothing may be written.
///
/// # Errors
/// As of the check.
pub fn guards(objective: &Objective, rows: usize, cell_ns: Ns, writable: bool) -> Result<(Workload, Ns), Failure> {
    let own = objective.metric.as_deref().map(|id| MetricKey::of(id).phase());
    let kept = GUARDS.iter().filter(|(work, writes)| Some(work.name()) != own && (writable || !writes));
    let kept: Vec<Work> = kept.map(|(work, _)| *work).take(rows).collect();
    // What is read has to be written first, where there is nothing.
    let budget = (cell_ns / 2).clamp(GUARD_NS[0], GUARD_NS[1]) * kept.len() as u64
        + if writable { NS_PER_S } else { NS_PER_S / 2 };
    Ok((check(budget, &kept)?, budget))
}

/// Rows of the check in so much time.
fn check(budget_ns: Ns, rows: &[Work]) -> Result<Workload, Failure> {
    let set = [
        ("budget", format!("{}ms", budget_ns / 1_000_000)),
        ("quiet", QUIET.to_owned()),
        ("warmup-least", WARMUP.to_owned()),
        ("least-share", LEAST_SHARE.to_owned()),
        ("copy.time", MEMORY.to_owned()),
        ("buffered-read.block-size", BUFFERED_READ.to_owned()),
    ];
    let set = set.map(|(key, value)| (key.to_owned(), value));
    let mut workload = spec::built_in("check", &set).map_err(|errors| {
        let what: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::internal(what.join("; "))
    })?;
    workload.keep_phases(&rows.iter().map(|work| work.name()).collect::<Vec<_>>());
    workload.check_budget().map_err(|e| conduct::plan::failure(&e))?;
    Ok(workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(asked: &str) -> Result<Objective, Failure> {
        let none = |name: &str| Err(Failure::usage(format!("there is no {name}")));
        objective(asked, 2 * NS_PER_S, &none)
    }

    #[test]
    fn rows_metrics_and_uses_name_what_counts() {
        for (asked, metric) in [
            ("buffered-read", "buffered-read.throughput_bytes_per_s"),
            ("rand-read-qd1.latency_ns_p99", "rand-read-qd1.latency_ns_p99"),
            ("responsive-loaded", "responsive-loaded.read.latency_ns_mean"),
            ("responsive-loaded.append.latency_ns_p90", "responsive-loaded.append.latency_ns_p90"),
            ("responsive", "responsive-loaded.read.latency_ns_mean"),
            ("etcd", "log-append.latency_ns_mean"),
            ("root-fs", "rand-write-qd1.iops"),
            ("video=V30", "seq-write.throughput_bytes_per_s"),
        ] {
            let objective = of(asked).unwrap();
            assert_eq!(objective.metric.as_deref(), Some(metric), "{asked}");
        }
        let failure = of("nonsense").unwrap_err();
        assert!(failure.message.contains("--for nonsense: there is no nonsense"), "{failure}");
    }

    #[test]
    fn guards_are_the_other_rows_and_write_nothing_where_nothing_may_be_written() {
        let objective = of("rand-read-qd1").unwrap();
        assert_eq!(objective.workload.passes_page_cache(), [false, false]);
        assert_eq!(of("buffered-read").unwrap().workload.passes_page_cache(), [true, false]);
        let (reading, ns) = guards(&objective, 3, 4 * NS_PER_S, false).unwrap();
        assert!(reading.phase_names().all(|name| !name.contains("write")) && ns < 4 * NS_PER_S, "{ns}");
        assert!(guards(&objective, 3, 4 * NS_PER_S, true).unwrap().0.phase_names().any(|name| name.contains("write")));
    }
}
