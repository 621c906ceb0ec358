//! The verdict: one sentence on what storage is good for, from the uses that it was held against.

use crate::quantity;
use crate::text::{and_list, capital};
use model::{Better, Bound, Fit, Reason, Unit};

/// A value with its quantity: `33 random writes/s`, `p99 of a synced write 5 ms`.
fn shown(value: f64, quantity: &str, unit: Unit, bound: Option<Bound>) -> String {
    // Something slowed the measurement: the storage itself is no worse than this.
    let bound = bound.map_or_else(String::new, |b| format!("{} ", b.words()));
    match unit {
        Unit::OpsPerS => format!("{bound}{} {quantity}", quantity::significant(value, 3)),
        Unit::Ns => format!("{quantity} {bound}{}", quantity::quantity(value, Unit::Ns)),
        unit => format!("{bound}{} {quantity}", quantity::quantity(value, unit)),
    }
}

/// `33 random writes/s, A1 asks for 500`.
fn numbers(fit: &Fit) -> Option<String> {
    let shown = shown(fit.value?, &fit.quantity, fit.unit, fit.bound);
    let limit = match fit.unit {
        Unit::OpsPerS => quantity::significant(fit.threshold, 3),
        unit => quantity::quantity(fit.threshold, unit),
    };
    let most = if fit.better == Better::Lower { " at most" } else { "" };
    Some(format!("{shown}, {} asks for {limit}{most}", fit.by))
}

/// What is known of a use that as a whole is not: `its 12 100 random writes/s are enough for an operating system`.
fn known_so_far(fit: &Fit) -> Option<String> {
    let met = fit.needs.iter().filter(|need| fit.met.is_none() && need.met == Some(true));
    let known: Vec<String> =
        met.filter_map(|need| Some(shown(need.value?, &need.quantity, need.unit, need.bound))).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    (!known.is_empty()).then(|| format!("enough for {} so far: {}", fit.title, and_list(&known)))
}

fn why(fit: &Fit) -> String {
    fit.reasons.first().map_or_else(|| "no reason is known".to_owned(), Reason::text)
}

/// What would answer, where these numbers do not.
fn would_answer(fit: &Fit) -> String {
    let would = Reason::find(&fit.reasons, "would-answer");
    would.map_or_else(String::new, |would| format!("; {}", would.text()))
}

/// The answer to `check --for`.
fn asked(fit: &Fit) -> String {
    let (title, numbers) = (&fit.title, numbers(fit));
    let margin = fit.margin_ratio.filter(|m| m.is_finite() && *m > 0.0);
    let ring = fit
        .ring_bytes
        .filter(|b| *b > 0)
        .map(|b| format!("; {} of memory would have held the rest", quantity::size(b)));
    let ring = ring.unwrap_or_default();
    match (fit.met, numbers) {
        (Some(true), Some(n)) => {
            let least = if fit.bound.is_some() { "at least " } else { "" };
            let margin = margin.map(|m| format!(" ({least}{} times what it needs)", quantity::ratio(m)));
            let margin = margin.unwrap_or_default();
            format!("Yes, good for {title}: {n}{margin}{ring}.")
        }
        (Some(false), Some(n)) => {
            let margin =
                margin.map(|m| format!(" ({} times short of it)", quantity::ratio(1.0 / m))).unwrap_or_default();
            format!("No, not good for {title}: {n}{margin}{ring}.")
        }
        (_, Some(n)) if fit.bound.is_none() && fit.reasons.iter().all(|r| r.is("too-near")) => {
            format!("Not known whether it is good for {title}: {n}, too near to tell.")
        }
        (_, Some(n)) => format!("Not known whether it is good for {title}: {n}; {}{}.", why(fit), would_answer(fit)),
        (_, None) => {
            let known = known_so_far(fit).map_or_else(String::new, |known| format!("; {known}"));
            format!("Not known whether it is good for {title}: {}{known}{}.", why(fit), would_answer(fit))
        }
    }
}

/// One sentence; `None` where nothing was held against it. What was asked for, else what is too slow first, then what it
/// is good for.
pub(crate) fn verdict(fits: &[Fit], asked_for: Option<&str>) -> Option<String> {
    let asked_about = asked_for.into_iter().flat_map(|names| names.split(','));
    let answers: Vec<String> = asked_about.filter_map(|name| fits.iter().find(|f| f.what == name)).map(asked).collect();
    if !answers.is_empty() {
        return Some(answers.join(" "));
    }
    let titles = |met| fits.iter().filter(|f| f.met == met).map(|f| f.title.as_str()).collect::<Vec<_>>();
    let (good, bad, unknown) = (titles(Some(true)), titles(Some(false)), titles(None));
    let worst = fits.iter().filter(|f| f.met == Some(false)).min_by(|a, b| {
        let margin = |f: &Fit| f.margin_ratio.unwrap_or(1.0);
        margin(a).total_cmp(&margin(b))
    });
    let mut parts = Vec::new();
    if let Some(worst) = worst {
        let others: Vec<&str> = bad.iter().copied().filter(|t| *t != worst.title).collect();
        let others = if others.is_empty() { String::new() } else { format!("; too slow for {}", and_list(&others)) };
        let numbers = numbers(worst).map(|n| format!(": {n}")).unwrap_or_default();
        parts.push(format!("too slow for {}{numbers}{others}", worst.title));
    }
    if !good.is_empty() {
        parts.push(format!("good for {}", and_list(&good)));
    }
    if !unknown.is_empty() && parts.is_empty() {
        let first = fits.iter().find(|f| f.met.is_none())?;
        parts.push(format!("not known what it is good for: {}", why(first)));
    } else if !unknown.is_empty() {
        parts.push(format!("not known for {}", and_list(&unknown)));
    }
    parts.extend(fits.iter().filter_map(known_so_far));
    (!parts.is_empty()).then(|| capital(&parts.join("; ")) + ".")
}

/// The same in a few words, of one target beside others: what was asked for, else all uses.
pub(crate) fn in_a_line(asked: &[&Fit], all: &[Fit]) -> Option<String> {
    let short = |fit: &Fit| {
        let title = fit.title.split(" (").next().unwrap_or(&fit.title);
        title.strip_prefix("an ").or_else(|| title.strip_prefix("a ")).unwrap_or(title).to_owned()
    };
    let word = |fit: &Fit| match fit.met {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    };
    match asked {
        [] => {
            let of = |met, words: &str| {
                let names: Vec<String> = all.iter().filter(|f| f.met == met).map(short).collect();
                (!names.is_empty()).then(|| format!("{words} {}", names.join(", ")))
            };
            let parts = [of(Some(true), "good for"), of(Some(false), "too slow for"), of(None, "not known for")];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (!parts.is_empty()).then(|| parts.join("; "))
        }
        [one] => Some(match numbers(one) {
            Some(numbers) => format!("{}, {numbers}", word(one)),
            None => word(one).to_owned(),
        }),
        several => Some(several.iter().map(|f| format!("{} {}", f.what, word(f))).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::NeedFit;

    fn fit(title: &str, met: Option<bool>, value: Option<f64>, threshold: f64) -> Fit {
        Fit {
            what: title.into(),
            title: title.into(),
            met,
            threshold,
            value,
            bound: None,
            unit: Unit::OpsPerS,
            better: Better::Higher,
            metric: "rand-write-qd1.iops".into(),
            quantity: "random writes/s".into(),
            by: "A1".into(),
            margin_ratio: value.map(|v| v / threshold),
            ring_bytes: None,
            source: String::new(),
            reasons: vec![Reason::of("missing", "rand-write-qd1 was refused")],
            needs: Vec::new(),
        }
    }

    #[test]
    fn what_is_too_slow_comes_first() {
        let slow = fit("an operating system", Some(false), Some(33.0), 500.0);
        let good = fit("video V10", Some(true), Some(900.0), 500.0);
        let open = fit("a database", None, None, 50.0);
        assert_eq!(
            verdict(&[good.clone(), slow.clone(), open.clone()], None).unwrap(),
            "Too slow for an operating system: 33.0 random writes/s, A1 asks for 500; good for video V10; not known for a \
             database."
        );
        assert_eq!(verdict(std::slice::from_ref(&good), None).unwrap(), "Good for video V10.");
        assert_eq!(
            verdict(std::slice::from_ref(&open), None).unwrap(),
            "Not known what it is good for: rand-write-qd1 was refused."
        );
        assert_eq!(verdict(&[], None), None);
        assert_eq!(
            verdict(&[good.clone(), slow], Some("an operating system")).unwrap(),
            "No, not good for an operating system: 33.0 random writes/s, A1 asks for 500 (15 times short of it)."
        );
        let bound = Fit { bound: Some(Bound::AtLeast), ..good.clone() };
        assert_eq!(
            verdict(&[bound], Some("video V10")).unwrap(),
            "Yes, good for video V10: at least 900 random writes/s, A1 asks for 500 (at least 1.80 times what it needs)."
        );
        assert_eq!(
            in_a_line(&[], &[good.clone(), open.clone()]).unwrap(),
            "good for video V10; not known for database"
        );
        assert_eq!(in_a_line(&[&good], &[]).unwrap(), "yes, 900 random writes/s, A1 asks for 500");
        assert_eq!(in_a_line(&[&good, &open], &[]).unwrap(), "video V10 yes, a database not known");
        assert_eq!(in_a_line(&[], &[]), None);
        assert!(verdict(std::slice::from_ref(&open), Some("a database")).unwrap().starts_with("Not known whether"));
        let need = |name: &str, met, value| NeedFit::from(&fit(name, met, value, 500.0));
        let needs = vec![need("writes", Some(true), Some(900.0)), need("lasting", None, None)];
        let partly = Fit { needs, ..open };
        assert_eq!(
            verdict(&[partly.clone(), good], None).unwrap(),
            "Good for video V10; not known for a database; enough for a database so far: 900 random writes/s."
        );
        assert_eq!(
            verdict(&[partly], Some("a database")).unwrap(),
            "Not known whether it is good for a database: rand-write-qd1 was refused; enough for a database so far: 900 \
             random writes/s."
        );
    }
}
