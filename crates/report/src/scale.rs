//! How the rate of a group grows with its ranks, in words and as a table.

use crate::Check;
use crate::presentation::{Cell, Part, Row, Table, Tone};
use crate::quantity;
use crate::text;
use model::{ScaleCurve, ScaleKnee, ScalePoint};

/// So many phases are named one by one.
const MOST_NAMED: usize = 3;

/// What a curve says, in a sentence.
pub(crate) fn statement(curve: &ScaleCurve) -> String {
    let rate = match &curve.knee {
        ScaleKnee::At { ranks, .. } | ScaleKnee::NotReached { ranks } => value_at(curve, *ranks),
        ScaleKnee::Unknown { .. } => None,
    };
    let rate = rate.map_or_else(String::new, |value| format!(" ({})", quantity::quantity(value, curve.unit)));
    let share = match &curve.knee {
        ScaleKnee::At { share_of_highest_percent, .. } => format!("{share_of_highest_percent:.0} %"),
        _ => String::new(),
    };
    said(curve, &rate, &share)
}

fn value_at(curve: &ScaleCurve, ranks: u32) -> Option<f64> {
    curve.points.iter().find(|p| p.ranks == ranks).and_then(|p| p.value)
}

/// A curve's sentence with this rate and this share of the highest.
fn said(curve: &ScaleCurve, rate: &str, share: &str) -> String {
    let least = format!("{:.0} %", curve.least_gain_percent);
    let count = |ranks: u32| if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
    match &curve.knee {
        ScaleKnee::At { ranks: 1, .. } => {
            format!("1 rank does {share} of the most{rate}; twice as many gain less than {least}")
        }
        ScaleKnee::At { ranks, .. } => {
            format!("{} do {share} of the most{rate}; twice as many gain less than {least}", count(*ranks))
        }
        ScaleKnee::NotReached { ranks } => {
            format!(
                "{} are not enough to find the limit{rate}: each doubling still gains {least} or more",
                count(*ranks)
            )
        }
        ScaleKnee::Unknown { valid, of } if valid < of => {
            format!("where more ranks stop to pay is not known: {valid} of {of} sums are valid")
        }
        ScaleKnee::Unknown { .. } => match curve.points.as_slice() {
            [ScalePoint { value: Some(one), .. }, .., ScalePoint { ranks, value: Some(all), .. }] => {
                format!(
                    "{} do {:.2} times what one does; a knee takes 3 numbers of ranks at least",
                    count(*ranks),
                    all / one
                )
            }
            _ => "a knee takes 3 numbers of ranks at least".to_owned(),
        },
    }
}

/// Whether two curves have their knee at one place, so that one sentence says it of both.
fn alike(a: &ScaleCurve, b: &ScaleCurve) -> bool {
    match (&a.knee, &b.knee) {
        (ScaleKnee::At { ranks: a, .. }, ScaleKnee::At { ranks: b, .. })
        | (ScaleKnee::NotReached { ranks: a }, ScaleKnee::NotReached { ranks: b }) => a == b,
        (a @ ScaleKnee::Unknown { valid, of }, b) => valid < of && a == b,
        _ => false,
    }
}

/// What curves that are alike say together: which they are, and from the least to the most of their rates.
fn together(curves: &[&ScaleCurve]) -> String {
    let [first, others @ ..] = curves else { return String::new() };
    if others.is_empty() {
        return format!("{}: {}", first.phase, statement(first));
    }
    let names: Vec<&str> = curves.iter().map(|c| c.phase.as_str()).collect();
    let names = if names.len() <= MOST_NAMED { text::and_list(&names) } else { format!("{} phases", names.len()) };
    let ranks = match &first.knee {
        ScaleKnee::At { ranks, .. } | ScaleKnee::NotReached { ranks } => *ranks,
        ScaleKnee::Unknown { .. } => 0,
    };
    let values: Vec<f64> = curves.iter().filter_map(|c| value_at(c, ranks)).collect();
    let (low, high) = (values.iter().copied().reduce(f64::min), values.iter().copied().reduce(f64::max));
    let of_one_unit = curves.iter().all(|c| c.unit == first.unit);
    let rate = low.zip(high).filter(|_| of_one_unit).map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", quantity::quantity(low, first.unit), quantity::quantity(high, first.unit))
    });
    let shares = curves.iter().filter_map(|c| match &c.knee {
        ScaleKnee::At { share_of_highest_percent, .. } => Some(*share_of_highest_percent),
        _ => None,
    });
    let share = shares.reduce(f64::min).map_or_else(String::new, |least| format!("{least:.0} % or more"));
    format!("{names}: {}", said(first, &rate, &share))
}

/// The answer of a run that was about the number of ranks.
pub(crate) fn answer(check: &Check<'_>) -> Option<(Tone, String)> {
    let first = check.scale.first()?;
    let known = !matches!(first.knee, ScaleKnee::Unknown { .. });
    let tone = if known { Tone::Good } else { Tone::Doubt };
    let said: Vec<String> = match check.scale {
        [one] => vec![text::capital(&statement(one))],
        all => {
            let mut groups: Vec<Vec<&ScaleCurve>> = Vec::new();
            for curve in all {
                match groups.iter_mut().find(|group| group.first().is_some_and(|first| alike(first, curve))) {
                    Some(group) => group.push(curve),
                    None => groups.push(vec![curve]),
                }
            }
            groups.iter().map(|group| together(group)).collect()
        }
    };
    Some((tone, said.join("; ") + "."))
}

/// Each curve as a table.
pub(crate) fn parts(check: &Check<'_>) -> Vec<Part> {
    let table = |curve: &ScaleCurve| {
        let row = |point: &ScalePoint| {
            let sum = match (point.value, point.rejected_value) {
                (Some(value), _) => quantity::quantity(value, curve.unit),
                (None, Some(value)) => format!("({})", quantity::quantity(value, curve.unit)),
                (None, None) => "-".to_owned(),
            };
            let efficiency =
                point.efficiency_percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.0} %"));
            let knee = match &curve.knee {
                ScaleKnee::At { ranks, .. } if *ranks == point.ranks => "knee",
                _ => "",
            };
            Row::new(
                point.ranks.to_string(),
                vec![Cell::Text(sum), Cell::Text(efficiency), Cell::Text(knee.to_owned())],
            )
        };
        Part::Table(Table {
            caption: format!("{} by ranks", curve.phase),
            corner: "ranks",
            head: ["all together", "of one alone", ""].map(str::to_owned).to_vec(),
            rows: curve.points.iter().map(row).collect(),
            footer: vec![text::capital(&statement(curve))],
            ..Table::default()
        })
    };
    check.scale.iter().map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Unit;

    fn curve(knee: ScaleKnee) -> ScaleCurve {
        let point = |ranks: u32, value: f64| ScalePoint {
            ranks,
            metric: format!("reads-by-{ranks}.group.throughput_bytes_per_s"),
            value: Some(value),
            rejected_value: None,
            efficiency_percent: Some(100.0),
        };
        let points = vec![point(1, 100e6), point(2, 200e6), point(4, 210e6)];
        ScaleCurve { phase: "reads".into(), unit: Unit::BytesPerS, points, knee, least_gain_percent: 10.0 }
    }

    #[test]
    fn the_knee_is_said_in_words() {
        let said = |knee| statement(&curve(knee));
        assert_eq!(
            said(ScaleKnee::At { ranks: 2, share_of_highest_percent: 95.2 }),
            "2 ranks do 95 % of the most (200 MB/s); twice as many gain less than 10 %"
        );
        assert!(
            said(ScaleKnee::NotReached { ranks: 4 }).starts_with("4 ranks are not enough to find the limit (210 MB/s)")
        );
        assert!(said(ScaleKnee::Unknown { valid: 2, of: 3 }).contains("2 of 3 sums are valid"));
    }

    #[test]
    fn phases_with_one_knee_are_told_in_one_sentence() {
        let knee = |share| ScaleKnee::At { ranks: 2, share_of_highest_percent: share };
        let (one, mut two) = (curve(knee(95.2)), curve(knee(98.0)));
        two.phase = "writes".into();
        two.points[1].value = Some(300e6);
        assert!(alike(&one, &two) && !alike(&one, &curve(ScaleKnee::NotReached { ranks: 2 })));
        assert_eq!(
            together(&[&one, &two]),
            "reads and writes: 2 ranks do 95 % or more of the most (200 MB/s to 300 MB/s); twice as many gain less than 10 %"
        );
        assert!(together(&[&one, &two, &one, &two]).starts_with("4 phases: 2 ranks do 95 %"));
        assert!(together(&[&two]).starts_with("writes: 2 ranks do 98 % of the most (300 MB/s)"));
    }
}
