//! What each target is good for: the uses that have rules, each with the targets in order.

use super::TargetRuns;
use crate::fit::{fake_fit, fake_reason};
use crate::{fit, use_named, uses as all_uses};
use model::{CompactSort as _, Fit, RankedUse, Run, UseFit};

/// Video classes, the highest first.
const VIDEO: [&str; 5] = ["V90", "V60", "V30", "V10", "V6"];

/// All uses that any target is known to be good for, or not; in each who is good for it, the best first, then who is not, then those
/// of whom it is not known.
pub fn by_use(targets: &[TargetRuns]) -> Vec<RankedUse> {
    let plain = all_uses().iter().filter(|u| !matches!(u.id.as_str(), "video" | "record"));
    let mut all: Vec<RankedUse> = plain.map(|u| ranked(&u.id, &u.title, targets, |run| fit(run, u))).collect();
    all.push(ranked("video", "video", targets, best_video));
    // A fake is good for nothing, which needs no use to say it.
    let says = |t: &UseFit| t.fit.met.is_some() && !t.fit.reasons.contains(&fake_reason());
    all.retain(|u| u.targets.iter().any(says));
    all
}

fn ranked(what: &str, title: &str, targets: &[TargetRuns], fit: impl Fn(&Run) -> Fit) -> RankedUse {
    let mut fits: Vec<UseFit> = targets
        .iter()
        .filter_map(|t| {
            let fit = middle(t.runs.iter().map(&fit).collect())?;
            Some(UseFit { target: t.name.clone(), fit: if t.fake().is_some() { fake_fit(fit) } else { fit } })
        })
        .collect();
    let rank = |f: &Fit| match f.met {
        Some(true) => 0,
        Some(false) => 1,
        None => 2,
    };
    let speed = |f: &Fit| match f.better {
        model::Better::Higher => f.value.unwrap_or(0.0),
        model::Better::Lower => -f.value.unwrap_or(f64::INFINITY),
    };
    fits.compact_sort_by(|a, b| {
        let (a, b) = (&a.fit, &b.fit);
        // Of one quantity by its value, of several by how far each is from its limit.
        let order = if a.quantity == b.quantity && a.better == b.better {
            speed(b).total_cmp(&speed(a))
        } else {
            b.margin_ratio.unwrap_or(0.0).total_cmp(&a.margin_ratio.unwrap_or(0.0))
        };
        rank(a).cmp(&rank(b)).then(order)
    });
    RankedUse { what: what.to_owned(), title: title.to_owned(), targets: fits }
}

/// What most of a target's runs say: the middle one of those that know it, by how far it is from its limit.
fn middle(mut fits: Vec<Fit>) -> Option<Fit> {
    if fits.iter().any(|f| f.met.is_some()) {
        fits.retain(|f| f.met.is_some());
    }
    let margin = |f: &Fit| f.margin_ratio.unwrap_or(0.0);
    fits.compact_sort_by(|a, b| margin(a).total_cmp(&margin(b)));
    let at = fits.len().checked_sub(1)? / 2;
    Some(fits.swap_remove(at))
}

/// The highest class of video that a run shows; else how it stands to the lowest.
fn best_video(run: &Run) -> Fit {
    let uses = VIDEO.iter().filter_map(|class| use_named(class).ok());
    let mut fits: Vec<Fit> = uses.map(|u| fit(run, &u)).collect();
    let at = fits.iter().position(|f| f.met == Some(true)).unwrap_or(fits.len() - 1);
    fits.swap_remove(at)
}
