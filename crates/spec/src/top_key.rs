//! The keys at the top of a text: one table for the reader, `--set`, messages and the documentation.

use crate::job::Workload;
use crate::job_key::{flag, percent, positive, time};

type Set = fn(&mut Workload, &str) -> Result<(), String>;

/// A key at the top of a text.
#[derive(Clone, Copy, Debug)]
pub struct TopKey {
    /// As it is written.
    pub name: &'static str,
    /// What it may be.
    pub expects: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Whether `--set` may say it.
    pub(crate) settable: bool,
    pub(crate) set: Set,
}

/// All keys at the top of a text, in the order in which they are documented.
pub fn top_keys() -> &'static [TopKey] {
    TOP_KEYS
}

/// The keys that `--set` may say.
pub(crate) fn settable_keys() -> Vec<&'static str> {
    TOP_KEYS.iter().filter(|k| k.settable).map(|k| k.name).collect()
}

macro_rules! keys {
    ($($name:literal, $expects:literal, $settable:literal, $set:expr, $meaning:literal;)*) => {
        const TOP_KEYS: &[TopKey] = &[
            $(TopKey { name: $name, expects: $expects, meaning: $meaning, settable: $settable, set: $set }),*
        ];
    };
}

keys! {
    "name", "text", false, |w, t| { w.name = t.to_owned(); Ok(()) }, "What the workload is called.";
    "title", "text", false, |w, t| { w.title = t.to_owned(); Ok(()) }, "What it is, in one line.";
    "answers", "text", false, |w, t| { w.answers = t.to_owned(); Ok(()) }, "The question that it answers.";
    "target", "path", true, |w, t| { w.target = Some(t.to_owned()); Ok(()) }, "The target, where the command line names none.";
    "interval", "time", true, |w, t| {
        w.interval_ns = time(t)?;
        if w.interval_ns < 1_000_000 { Err("an interval is at least 1 ms".into()) } else { Ok(()) }
    }, "Length of the intervals of the series; without it 100 ms.";
    "quiet", "time", true, |w, t| { w.quiet_ns = time(t)?; Ok(()) }, "Window before and after each phase in which nothing is done; without it 200 ms.";
    "scale-to-fit", "true, false", true, |w, t| { w.scales_to_fit = flag(t)?; Ok(()) }, "Where the target is too small, all amounts of bytes are halved until they fit.";
    "budget", "time", true, |w, t| { w.budget.total_ns = Some(positive(&time(t)?.to_string())?); Ok(()) }, "All the time there is: phases that say no time share what layout and windows leave, and the region is a rung of the ladder.";
    "layout-share", "per cent", true, |w, t| { w.budget.layout_percent = percent(t)?; Ok(()) }, "What layout may take of the budget; without it 25 %.";
    "least-share", "time", true, |w, t| { w.budget.least_share_ns = positive(&time(t)?.to_string())?; Ok(()) }, "A phase that cannot have this much is left out; without it 500 ms.";
    "warmup", "per cent", true, |w, t| { w.budget.warmup.share = f64::from(percent(t)?) / 100.0; Ok(()) }, "Share of a phase of a budget that does not count, at its beginning; without it 5 %.";
    "warmup-least", "time", true, |w, t| { w.budget.warmup.min_ns = time(t)?; Ok(()) }, "The least of it; without it 200 ms.";
    "warmup-most", "time", true, |w, t| { w.budget.warmup.max_ns = time(t)?; Ok(()) }, "The most of it; without it 1 s.";
}
