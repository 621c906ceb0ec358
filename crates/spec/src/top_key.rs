//! The keys at the top of a text.

use crate::job::Workload;
use crate::keys::{Key, keys};
use crate::values::{flag, not_0, percent, time};

/// All keys at the top of a text, in the order in which they are documented.
pub fn top_keys() -> &'static [Key<Workload>] {
    TOP_KEYS
}

keys! {
    TOP_KEYS of Workload:
    "name", "text", |w, t| w.name = t.to_owned(), "What the workload is called.";
    "title", "text", |w, t| w.title = t.to_owned(), "What it is, in one line.";
    "answers", "text", |w, t| w.answers = t.to_owned(), "The question that it answers.";
    "target", "path", |w, t| w.target = Some(t.to_owned()), "The target, where the command line names none.";
    "interval", "time", |w, t| {
        w.interval_ns = Some(time(t)?).filter(|ns| *ns >= 1_000_000).ok_or("an interval is at least 1 ms")?;
    }, "Length of the intervals of the series; without it 100 ms.";
    "quiet", "time", |w, t| w.quiet_ns = time(t)?, "Window before and after each phase in which nothing is done; without it 200 ms.";
    "scale-to-fit", "true, false", |w, t| w.scales_to_fit = flag(t)?, "Where the target is too small, all amounts of bytes are halved until they fit.";
    "shared-file", "true, false", |w, t| w.shared_file = flag(t)?, "The ranks of a group work in one file, each in its own region or, in an interleaved order, in turns; and in one directory of files. As --shared-file.";
    "budget", "time", |w, t| w.budget.total_ns = Some(not_0(time(t)?)?), "All the time there is: phases that say no time share what layout and windows leave, and the region is a rung of the ladder.";
    "layout-share", "percent", |w, t| w.budget.layout_percent = percent(t)?, "What layout may take of the budget; without it 25 %.";
    "least-share", "time", |w, t| w.budget.least_share_ns = not_0(time(t)?)?, "A phase that cannot have this much is left out; without it 500 ms.";
    "warmup", "percent", |w, t| w.budget.warmup.share = f64::from(percent(t)?) / 100.0, "Share of a phase of a budget that does not count, at its beginning; without it 5 %.";
    "warmup-least", "time", |w, t| w.budget.warmup.min_ns = time(t)?, "The least of it; without it 200 ms.";
    "warmup-most", "time", |w, t| w.budget.warmup.max_ns = time(t)?, "The most of it; without it 1 s.";
}
