//! All that the judge says of a run as a whole.

use model::{Answer, Fit, Judged, Purpose, Run};

/// What the judge says of a run.
pub fn judged(run: &Run) -> Judged {
    let purposes = run.plan.purposes().filter_map(|p| if let Purpose::Use(name) = p { Some(name) } else { None });
    let asked: Vec<_> = purposes.filter_map(|name| crate::use_named(&name).ok()).collect();
    let fit: Vec<Fit> = asked.iter().map(|u| crate::fit(run, u)).chain(crate::summary(run)).collect();
    let asked_for = (!asked.is_empty()).then(|| asked.iter().map(|u| u.id.as_str()).collect::<Vec<_>>().join(","));
    Judged {
        fit,
        asked_for,
        ratings: crate::ratings(run),
        depth_curves: crate::depth_curves(run),
        scale: crate::scale_curves(run),
        answer: answer(run),
        over_reports: crate::over_reports(run),
    }
}

/// What the run answers, where that is more than its metrics.
fn answer(run: &Run) -> Option<Answer> {
    let of = |name: &str| run.phases.iter().find(|p| p.plan.name == name)?.record.as_ref().and_then(crate::filled);
    match (run.command.as_str(), run.plan.name.as_str()) {
        // A target is filled as a phase; what came after a rest is another.
        (_, "fill") => Some(Answer::Filled {
            filled: of("fill"),
            rested: of("after-rest"),
            rest_ns: run.plan.quiet_ns.saturating_mul(2),
        }),
        ("rate", _) => {
            let asked = run.plan.purposes().find_map(|p| if let Purpose::Class(name) = p { Some(name) } else { None });
            let mut classes = crate::rated_classes(run);
            classes.retain(|c| asked.as_deref().is_none_or(|name| name == c.rating.class));
            Some(Answer::Classes(classes))
        }
        _ => run.responsiveness().map(Answer::Responsive),
    }
}
