//! Which to buy for which use, in sentences.

use super::Rank;
use crate::grouped::grouped;
use crate::quantity;
use crate::text::and_list;
use model::{Better, CompactSort as _, Fit, RankedMetric, RankedUse, Reason, Unit, UseFit};

/// Which to buy: first whether one is it for every use, then a sentence for each use (uses that say the same share one): who is
/// good for it, the best first; who is not, with what shows it; of whom it is not known.
pub(crate) fn use_sentences(uses: &[RankedUse]) -> Vec<String> {
    let said = grouped(uses.iter().map(|of| (verdict(of), of.title.as_str())));
    let each = said.into_iter().map(|(verdict, titles)| format!("For {}: {verdict}.", and_list(&titles)));
    lead(uses).into_iter().chain(each).collect()
}

/// Which to buy, where it is the same one for every use that anybody is good for.
fn lead(uses: &[RankedUse]) -> Option<String> {
    let firsts = |of: &RankedUse| -> Vec<String> {
        of.targets.iter().filter(|t| t.place == Some(1)).map(|t| t.target.clone()).collect()
    };
    let mut decided = uses.iter().map(firsts).filter(|firsts| !firsts.is_empty());
    let Some(first) = decided.next() else {
        return (!uses.is_empty())
            .then(|| "Which to buy: none of them is known to be good for any of these uses.".to_owned());
    };
    let of_all: Vec<String> =
        decided.fold(first, |left, firsts| left.into_iter().filter(|t| firsts.contains(t)).collect());
    Some(match of_all.as_slice() {
        [] => "Which to buy depends on the use.".to_owned(),
        one_or_more => {
            let names: Vec<&str> = one_or_more.iter().map(String::as_str).collect();
            let it = format!("{}, for every use that any of them is good for.", names.join(" or "));
            let rivals = rivals(uses, one_or_more);
            let Some(one) = rivals.first() else { return Some(format!("Which to buy: {it}")) };
            // What is neither a path nor simulated is a name that another tool's results have: a host.
            let is_target = one.starts_with('/') || one.starts_with("sim:");
            let how =
                if is_target { format!("narrows check {one}") } else { "narrows check on that machine".to_owned() };
            format!(
                "Which to buy is not known: too little was measured of {} ({how}, a minute or more). Of the others: {it}",
                and_list(&rivals)
            )
        }
    })
}

/// Those of whom it is not known whether they are good for a use that these are good for: they may be better.
fn rivals<'a>(uses: &'a [RankedUse], best: &[String]) -> Vec<&'a str> {
    let decided = uses.iter().filter(|of| of.targets.iter().any(|t| t.place == Some(1)));
    let unknown = decided.flat_map(|of| &of.targets).filter(|t| t.fit.met.is_none() && !is_fake(t));
    let mut rivals: Vec<&str> = Vec::new();
    for name in unknown.map(|t| t.target.as_str()).filter(|name| best.iter().all(|best| best != name)) {
        if !rivals.contains(&name) {
            rivals.push(name);
        }
    }
    rivals
}

fn is_fake(of: &UseFit) -> bool {
    Reason::find(&of.fit.reasons, "fake").is_some()
}

fn verdict(of: &RankedUse) -> String {
    // What is said of fakes stands before all uses.
    let those = |met: Option<bool>| of.targets.iter().filter(move |t| t.fit.met == met && !is_fake(t));
    let name = |t: &UseFit| {
        let class = if of.what == "video" { format!(" ({})", t.fit.by) } else { String::new() };
        format!("{}{class}", t.target)
    };
    let alike = |(_, names): (Option<u32>, Vec<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if names.len() > 1 { format!("{} alike", and_list(&names)) } else { names.concat() }
    };
    let good: Vec<String> = grouped(those(Some(true)).map(|t| (t.place, name(t)))).into_iter().map(alike).collect();
    let failing: Vec<&UseFit> = those(Some(false)).collect();
    let same = |a: &Fit, b: &Fit| a.quantity == b.quantity && a.by == b.by && a.threshold == b.threshold;
    // What is asked of several in the same quantity is said once, behind the last of them.
    let bad = failing.iter().enumerate().map(|(i, t)| {
        let next_is_same = failing.get(i + 1).is_some_and(|next| same(&t.fit, &next.fit) && next.fit.value.is_some());
        let asked = short_of(&t.fit, next_is_same && t.fit.value.is_some());
        format!("{}{asked}", t.target)
    });
    let bad: Vec<String> = bad.collect();
    let unknown: Vec<&str> = those(None).map(|t| t.target.as_str()).collect();
    let mut parts = vec![if good.is_empty() { "none".to_owned() } else { good.join(", then ") }];
    if !bad.is_empty() {
        parts.push(format!("not {}", bad.join(", ")));
    }
    if !unknown.is_empty() {
        parts.push(format!("not known of {}", and_list(&unknown)));
    }
    parts.join("; ")
}

/// ` (33.6 random writes/s, A1 asks for 500)`; `alone` only ` (33.6)`.
fn short_of(fit: &Fit, alone: bool) -> String {
    let Some(value) = fit.value else { return String::new() };
    let number = |v: f64| match fit.unit {
        Unit::OpsPerS => quantity::significant(v, 3),
        unit => quantity::quantity(v, unit),
    };
    let most = if fit.better == Better::Lower { " at most" } else { "" };
    if alone {
        return format!(" ({})", number(value));
    }
    format!(" ({} {}, {} asks for {}{most})", number(value), fit.quantity, fit.by, number(fit.threshold))
}

/// How long the same installation took on each, the shortest first; nothing where fewer than two measured it.
pub(crate) fn installation(rank: &Rank<'_>) -> Option<String> {
    let is_install = |m: &&RankedMetric| m.unit == Unit::S && matches!(m.id.as_str(), "install.time_s" | "dpkg.time_s");
    let times =
        rank.ranking.targets.iter().filter_map(|t| Some((t.name.as_str(), t.metrics.iter().find(is_install)?.value?)));
    let mut times: Vec<(&str, f64)> = times.collect();
    times.compact_sort_by(|a, b| a.1.total_cmp(&b.1));
    let each: Vec<String> = times.iter().map(|(name, s)| format!("{name} {}", quantity::seconds(*s))).collect();
    (each.len() > 1).then(|| format!("Installing the same packages took: {}.", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(what: &str, title: &str, targets: &[(&str, Option<bool>, Option<u32>)]) -> RankedUse {
        let fit = |met| Fit {
            what: what.into(),
            title: title.into(),
            met,
            threshold: 500.0,
            value: Some(12.0),
            bound: None,
            unit: Unit::OpsPerS,
            better: Better::Higher,
            metric: "rand-write-qd1.iops".into(),
            quantity: "random writes/s".into(),
            by: "A1".into(),
            margin_ratio: None,
            ring_bytes: None,
            source: String::new(),
            reasons: Vec::new(),
            needs: Vec::new(),
        };
        let one = |(target, met, place): &(&str, Option<bool>, Option<u32>)| UseFit {
            target: (*target).into(),
            place: *place,
            fit: fit(*met),
        };
        RankedUse { what: what.into(), title: title.into(), targets: targets.iter().map(one).collect() }
    }

    #[test]
    fn it_is_said_which_to_buy_for_which_use_and_who_is_alike() {
        let (yes, no) = (Some(true), Some(false));
        let alike = [("a", yes, Some(1)), ("b", yes, Some(1)), ("c", yes, Some(3)), ("d", no, None), ("e", None, None)];
        let system = of("root-fs", "an operating system", &alike);
        let class = RankedUse { what: "A1".into(), title: "A1".into(), ..system.clone() };
        assert_eq!(
            use_sentences(&[system.clone(), class]),
            [
                "Which to buy is not known: too little was measured of e (narrows check on that machine, a minute or more). Of the others: a or b, for every use that any of them is good for.",
                "For an operating system and A1: a and b alike, then c; not d (12.0 random writes/s, A1 asks for 500); not known of e."
            ]
        );
        let known = of("root-fs", "an operating system", &alike[..4]);
        assert_eq!(use_sentences(&[known])[0], "Which to buy: a or b, for every use that any of them is good for.");
        let video = of("video", "video", &[("c", yes, Some(1)), ("a", no, None)]);
        let said = use_sentences(&[system, video]);
        assert_eq!(said[0], "Which to buy depends on the use.");
        assert!(said[2].starts_with("For video: c (A1); not a ("), "{said:?}");
        let nobody = of("root-fs", "an operating system", &[("a", no, None), ("b", None, None)]);
        let said = use_sentences(&[nobody]);
        assert_eq!(said[0], "Which to buy: none of them is known to be good for any of these uses.");
        assert!(said[1].starts_with("For an operating system: none; not a (12.0"), "{said:?}");
    }
}
