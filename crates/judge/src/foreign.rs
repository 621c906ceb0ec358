//! What numbers of other tools say of a use or a class. They are means without a series and without an interval, of work that
//! is known only as far as the tool tells it. Where the work is not known to be the one that is asked for, or the number may
//! be that of the page cache, nothing is decided.

use crate::fit::{deciding_need, use_named};
use crate::need::stands_to;
use crate::rating::{SPEED, class_names};
use model::{
    Better, ClassNeed, Fit, ForeignWork, Metric, MetricStatus, Need, RatedClass, Rating, Reason, Run, UseText,
};

/// Codes of reasons that leave a number without weight.
const DOUBTS: [&str; 3] = ["page-cache", "above-link", "failed"];
/// A mean says nothing of the slowest second: it must be so many times what is asked for before it says yes.
const MEAN_OVER_SLOWEST: f64 = 1.5;
/// Blocks of the random reads and writes that are asked for.
const SMALL_BYTES: f64 = 4096.0;

/// A number that stands for a need.
struct NeededValue {
    metric: String,
    quantity: String,
    value: f64,
    /// A mean, where the slowest second is asked for.
    is_mean: bool,
}

impl NeededValue {
    /// Whether it meets a limit; `None` where it is a mean that is too near to tell.
    fn meets(&self, better: Better, limit: f64) -> Option<bool> {
        match better {
            Better::Lower => Some(self.value <= limit),
            Better::Higher if self.is_mean && self.value >= limit => {
                (self.value >= MEAN_OVER_SLOWEST * limit).then_some(true)
            }
            Better::Higher => Some(self.value >= limit),
        }
    }
}

/// How a run of another tool stands to a use.
pub fn foreign_fit(run: &Run, works: &[ForeignWork], of: &UseText) -> Fit {
    let fit = deciding_need(of.needs.iter().map(|need| of_need(run, works, of, need)).collect());
    let Some(would) = fit.met.is_none().then(|| would_answer(&fit, of)) else { return fit };
    let reasons = fit.reasons.into_iter().chain([Reason::of(WOULD_ANSWER, would)]).collect();
    Fit { reasons, ..fit }
}

/// Code of the reason that says what would answer.
const WOULD_ANSWER: &str = "would-answer";

/// What answers where these numbers do not: the fio jobs of the needs that are not known, or a check where no job of fio has them.
fn would_answer(fit: &Fit, of: &UseText) -> String {
    let check = format!("narrows check TARGET --for {}", of.id);
    let is_open = |i: usize| fit.needs.get(i).is_none_or(|need| need.met.is_none());
    let open = of.needs.iter().enumerate().filter(|(i, _)| is_open(*i)).map(|(_, need)| need);
    // A mean is there already, and no job of fio gives more than means; nor how much of a cache was left.
    let only_means = fit.reasons.iter().any(|r| r.is("mean-only") || r.is("too-little-written"));
    let jobs: Option<Vec<String>> = open.map(|need| fio_job(need, of)).collect();
    let Some(mut jobs) = jobs.filter(|_| !only_means) else { return format!("{check} measures that") };
    jobs.dedup();
    match jobs.as_slice() {
        [one] => format!("a fio job with {one} would tell, or {check}"),
        // Each output of fio is a run of its own, which answers alone.
        all => {
            let jobs = all.join("; ");
            format!("one run of fio with {} jobs, --stonewall before each, would tell ({jobs}), or {check}", all.len())
        }
    }
}

/// Options of fio whose job has the number of a need; `None` where none has.
fn fio_job(need: &Need, of: &UseText) -> Option<String> {
    let depth = if need.phase.ends_with("qd32") { 32 } else { 1 };
    let engine = "--ioengine=libaio --direct=1";
    Some(match need.phase.as_str() {
        "seq-write" if of.checkpoint_bytes.is_none() => format!("--rw=write --bs=1M --iodepth=8 {engine}"),
        "sync-write" => "--rw=randwrite --bs=4k --fdatasync=1".to_owned(),
        "log-append" => format!("--rw=write --bs={} --fdatasync=1", of.log_bytes.unwrap_or(4096)),
        phase if phase.starts_with("rand-write") => format!("--rw=randwrite --bs=4k --iodepth={depth} {engine}"),
        phase if phase.starts_with("rand-read") => format!("--rw=randread --bs=4k --iodepth={depth} {engine}"),
        _ => return None,
    })
}

fn of_need(run: &Run, works: &[ForeignWork], of: &UseText, need: &Need) -> Fit {
    let found = match number_for(run, works, need) {
        Ok(found) => found,
        Err(why) => return Fit { reasons: vec![why], ..stands_to(of, need, None) },
    };
    let met = found.meets(need.better(), need.threshold());
    let mean_only = || Reason::of("mean-only", "it is a mean, and the slowest second that counts is not told");
    // What a fast cache takes says nothing of the rest.
    let unsaid = of.checkpoint_bytes.is_some() && met == Some(true);
    let amount = || Reason::of("too-little-written", "how much was written at that rate is not told");
    let met = met.filter(|_| !unsaid);
    let mut reasons: Vec<Reason> = unsaid.then(amount).into_iter().collect();
    reasons.extend((found.is_mean && met.is_none() && !unsaid).then(mean_only));
    let NeededValue { metric, quantity, value, .. } = found;
    Fit { met, metric, quantity, reasons, ..stands_to(of, need, Some(value)) }
}

fn number_for(run: &Run, works: &[ForeignWork], need: &Need) -> Result<NeededValue, Reason> {
    match need.phase.as_str() {
        "log-append" | "sync-write" => synced(run, works, need),
        "seq-write" => {
            let fits = |w: &&ForeignWork| w.write && !w.random && w.block_bytes.is_none_or(|b| b >= 131_072.0);
            let found = best(run, works.iter().filter(fits), "throughput_bytes_per_s")?;
            Ok(NeededValue { quantity: "on average".to_owned(), is_mean: true, ..found })
        }
        responsive if responsive.starts_with("responsive") => {
            Err(Reason::of("missing", format!("no number in it is known to be that of {}", need.what)))
        }
        phase => {
            let write = phase.starts_with("rand-write");
            let depth = if phase.ends_with("qd32") { 32 } else { 1 };
            let fits = |w: &&ForeignWork| {
                w.random && w.write == write && w.block_bytes == Some(SMALL_BYTES) && w.in_flight == Some(depth)
            };
            let mut fitting = works.iter().filter(fits).peekable();
            if fitting.peek().is_none() {
                return Err(Reason::of("missing", format!("no number in it is known to be that of {}", need.what)));
            }
            let found = best(run, fitting, "iops")?;
            Ok(NeededValue { quantity: need.what.clone(), ..found })
        }
    }
}

/// The highest number of some works that has weight, else why none has.
fn best<'w>(run: &Run, works: impl Iterator<Item = &'w ForeignWork>, quantity: &str) -> Result<NeededValue, Reason> {
    let mut why = None;
    let mut found: Option<NeededValue> = None;
    for work in works {
        if work.direct == Some(false) {
            why.get_or_insert_with(|| {
                Reason::of("page-cache", format!("{} was served from the page cache", work.prefix))
            });
            continue;
        }
        // Operations follow from bytes where all blocks have one size.
        let names: &[(&str, f64)] = match quantity {
            "iops" => &[("iops", 1.0), ("ops_per_s", 1.0), ("throughput_bytes_per_s", SMALL_BYTES)],
            _ => &[("throughput_bytes_per_s", 1.0)],
        };
        let named = names.iter().find_map(|(name, divisor)| {
            let id = format!("{}.{name}", work.prefix);
            Some((metrics(run).find(|m| m.id == id)?, *divisor))
        });
        let Some((metric, divisor)) = named else { continue };
        match weight(metric) {
            Ok(value) if found.as_ref().is_none_or(|f| value / divisor > f.value) => {
                let metric = metric.id.clone();
                let value = value / divisor;
                found = Some(NeededValue { metric, quantity: String::new(), value, is_mean: false });
            }
            Ok(_) => {}
            Err(doubt) => why = Some(doubt),
        }
    }
    found.ok_or_else(|| why.unwrap_or_else(|| Reason::of("missing", "there is no such number in it")))
}

fn metrics(run: &Run) -> impl Iterator<Item = &Metric> {
    run.phases.iter().flat_map(|p| &p.metrics)
}

/// The value of a metric, or why it has no weight.
fn weight(metric: &Metric) -> Result<f64, Reason> {
    if let Some(doubt) = metric.reasons.iter().find(|r| r.code().is_some_and(|c| DOUBTS.contains(&c))) {
        return Err(doubt.clone());
    }
    let value = metric.value.filter(|_| metric.status == MetricStatus::Measured);
    value.ok_or_else(|| Reason::of("missing", format!("{} has no valid number", metric.id)))
}

/// Of writes that are each followed by a sync: how long the syncs took, or how many writes there were a second.
fn synced(run: &Run, works: &[ForeignWork], need: &Need) -> Result<NeededValue, Reason> {
    let syncs = |m: &&Metric| m.id.contains(".sync.") && m.id.contains("latency_ns_");
    let jobs: Vec<&str> = metrics(run).filter(syncs).filter_map(|m| Some(m.id.split_once(".sync.")?.0)).collect();
    let is_log = |job: &str| {
        let work = works.iter().find(|w| w.prefix == format!("{job}.write"));
        need.phase != "log-append" || work.is_none_or(|w| !w.random)
    };
    let Some(job) = jobs.into_iter().find(|job| is_log(job)) else {
        return Err(Reason::of(
            "missing",
            "no write in it is known to be followed by a sync each, with the time that the sync took",
        ));
    };
    let of = |id: String, what: &str| {
        let metric = metrics(run)
            .find(|m| m.id == id)
            .ok_or_else(|| Reason::of("missing", format!("there is no {id} in it")))?;
        Ok(NeededValue { metric: id, quantity: what.to_owned(), value: weight(metric)?, is_mean: false })
    };
    match need.quantity.strip_prefix("latency_ns_") {
        Some(percentile) => of(format!("{job}.sync.latency_ns_{percentile}"), &format!("{percentile} of fdatasync")),
        None => of(format!("{job}.write.iops"), &need.what),
    }
}

/// How a run of another tool stands to every class.
pub fn foreign_classes(run: &Run, works: &[ForeignWork]) -> Vec<RatedClass> {
    let class = |name: &str| {
        let is_speed = SPEED.iter().any(|(class, _)| *class == name);
        // The needs of a class are those of the use of that name.
        let of = use_named(name).ok()?;
        let fits: Vec<Fit> = of.needs.iter().map(|need| of_need(run, works, &of, need)).collect();
        let indication = if fits.iter().any(|f| f.met == Some(false)) {
            Some("below")
        } else {
            fits.iter().all(|f| f.met == Some(true)).then_some("above")
        };
        let mut reasons: Vec<Reason> = fits.iter().flat_map(|f| f.reasons.clone()).collect();
        reasons.dedup();
        reasons.push(Reason::of("foreign", "another tool measured it; it is a mean, and the class asks for a minimum"));
        if !is_speed {
            reasons.push(Reason::of(
                "duration",
                "the class asks for averages over ten minutes, on a card that was filled first",
            ));
        }
        let needs = fits.into_iter().zip(&of.needs).map(|(f, need)| ClassNeed {
            what: if need.phase == "seq-write" { "in the slowest second".to_owned() } else { need.what.clone() },
            metric: f.metric,
            threshold: f.threshold,
            value: f.value,
            low: None,
            high: None,
            unit: f.unit,
            holds: f.met,
        });
        let rating = Rating {
            class: name.to_owned(),
            met: None,
            indication: indication.map(str::to_owned),
            approximation: true,
            reasons,
        };
        Some(RatedClass { rating, claimed: None, needs: needs.collect() })
    };
    class_names().filter_map(class).collect()
}
