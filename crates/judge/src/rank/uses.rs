//! What each target is good for: the uses that have rules, each with the targets in order.

use super::{RankAsked, TargetRuns, places};
use crate::fit::{fake_fit, fake_reason};
use crate::{fit, use_named, uses as all_uses};
use model::{CompactSort as _, Fit, RankedUse, Run, UseFit, UseText};

/// Video classes, the highest first.
const VIDEO: [&str; 5] = ["V90", "V60", "V30", "V10", "V6"];

/// All uses that any target is known to be good for, or not, with who is good for each.
pub fn by_use(targets: &[TargetRuns]) -> Vec<RankedUse> {
    by_use_as(targets, &RankAsked::default())
}

/// As [`by_use`], as it was asked. In each use stands who is good for it, the best first, then who is not, then those of whom it is not
/// known.
pub(super) fn by_use_as(targets: &[TargetRuns], asked: &RankAsked) -> Vec<RankedUse> {
    if !asked.uses.is_empty() {
        let of = |u: &UseText| ranked(&u.id, &u.title, targets, |run| fit(run, u));
        let mut all: Vec<RankedUse> = asked.uses.iter().map(of).collect();
        all.iter_mut().for_each(|of| put_places(&mut of.targets, targets, asked));
        return all;
    }
    let plain = all_uses().iter().filter(|u| !matches!(u.id.as_str(), "video" | "record" | "checkpoint"));
    let mut all: Vec<RankedUse> = plain.map(|u| ranked(&u.id, &u.title, targets, |run| fit(run, u))).collect();
    all.push(ranked("video", "video", targets, best_video));
    // A fake is good for nothing, which needs no use to say it.
    let says = |t: &UseFit| t.fit.met.is_some() && !t.fit.reasons.contains(&fake_reason());
    all.retain(|u| u.targets.iter().any(says));
    all.iter_mut().for_each(|of| put_places(&mut of.targets, targets, asked));
    all
}

/// Places of those that are good for it, in their order; who cannot be told from the one before by what decides shares that one's.
fn put_places(fits: &mut [UseFit], targets: &[TargetRuns], asked: &RankAsked) {
    let good = fits.iter().take_while(|t| t.fit.met == Some(true)).count();
    let mut of_metric: Vec<Option<u32>> = Vec::new();
    for at in 0..good {
        let (before, this) = (at.checked_sub(1).map(|before| &fits[before]), &fits[at]);
        let same = before.is_some_and(|before| before.fit.metric == this.fit.metric);
        if !same {
            let deciding = |t: &TargetRuns| {
                fits[..good].iter().find(|f| f.target == t.name && f.fit.metric == this.fit.metric).map(|f| &f.fit)
            };
            let deciding: Vec<Option<&Fit>> = targets.iter().map(deciding).collect();
            let values: Vec<Option<f64>> = deciding.iter().map(|f| f.and_then(|f| f.value)).collect();
            let bounds: Vec<bool> = deciding.iter().map(|f| f.is_some_and(|f| f.bound.is_some())).collect();
            of_metric = places(targets, &this.fit.metric, (&values, &bounds), Some(this.fit.better), asked);
        }
        let place_of = |fit: &UseFit| of_metric[targets.iter().position(|t| t.name == fit.target)?];
        let shared = before.filter(|before| same && place_of(before) == place_of(this)).and_then(|before| before.place);
        let place = shared.or_else(|| u32::try_from(at + 1).ok());
        fits[at].place = place;
    }
}

fn ranked(what: &str, title: &str, targets: &[TargetRuns], fit: impl Fn(&Run) -> Fit) -> RankedUse {
    let mut fits: Vec<UseFit> = targets
        .iter()
        .filter_map(|t| {
            let fit = middle(t.runs.iter().map(&fit).collect())?;
            Some(UseFit {
                target: t.name.clone(),
                place: None,
                fit: if t.fake().is_some() { fake_fit(fit) } else { fit },
            })
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
