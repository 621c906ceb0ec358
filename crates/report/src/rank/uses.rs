//! Who is good for what, in sentences.

use super::Rank;
use crate::quantity;
use model::{Better, CompactSort as _, Fit, RankedMetric, RankedUse, Reason, Unit, UseFit};

/// A sentence a use: who is good for it, the best first, with what shows it; who is not; of whom it is not known.
pub(crate) fn use_sentences(uses: &[RankedUse]) -> Vec<String> {
    uses.iter().map(sentence).collect()
}

fn sentence(of: &RankedUse) -> String {
    let named = |met: Option<bool>, words: &dyn Fn(&Fit) -> String| -> Vec<String> {
        // What is said of fakes stands before all uses.
        let is_fake = |t: &UseFit| Reason::find(&t.fit.reasons, "fake").is_some();
        let those = of.targets.iter().filter(|t| t.fit.met == met && !is_fake(t));
        those.map(|t| format!("{}{}", t.target, words(&t.fit))).collect()
    };
    let good = named(Some(true), &|fit| shown(fit, &of.what, false));
    let bad = named(Some(false), &|fit| shown(fit, &of.what, true));
    let unknown = named(None, &|_| String::new());
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let mut text = format!("Good for {}: {}", of.title, list(&good));
    if !bad.is_empty() {
        text.push_str(&format!("; not: {}", bad.join(", ")));
    }
    if !unknown.is_empty() {
        text.push_str(&format!("; not known: {}", unknown.join(", ")));
    }
    text + "."
}

/// ` (1 480 random writes/s)`, with the limit where that is missed.
fn shown(fit: &Fit, what: &str, with_limit: bool) -> String {
    let Some(value) = fit.value else { return String::new() };
    let number = |v: f64| match fit.unit {
        Unit::OpsPerS => quantity::significant(v, 3),
        unit => quantity::quantity(v, unit),
    };
    let class = if what == "video" && !with_limit { format!("{}, ", fit.by) } else { String::new() };
    let most = if fit.better == Better::Lower { " at most" } else { "" };
    let limit =
        if with_limit { format!(", {} asks for {}{most}", fit.by, number(fit.threshold)) } else { String::new() };
    format!(" ({class}{} {}{limit})", number(value), fit.quantity)
}

/// How long the same installation took on each, the shortest first; nothing where fewer than two measured it.
pub(crate) fn installation(rank: &Rank<'_>) -> Option<String> {
    let is_install = |m: &&RankedMetric| m.unit == Unit::S && matches!(m.id.as_str(), "install.time_s" | "dpkg.time_s");
    let times =
        rank.ranking.targets.iter().filter_map(|t| Some((t.name.as_str(), t.metrics.iter().find(is_install)?.value?)));
    let mut times: Vec<(&str, f64)> = times.collect();
    times.compact_sort_by(|a, b| a.1.total_cmp(&b.1));
    let each: Vec<String> =
        times.iter().map(|(name, s)| format!("{name} {}", quantity::quantity(*s, Unit::S))).collect();
    (each.len() > 1).then(|| format!("Installing the same packages took: {}.", each.join(", ")))
}
