//! How the rate of a group grows with its ranks, in words and as a table.

use crate::Check;
use crate::presentation::{Cell, Part, Row, Table, Tone};
use crate::quantity;
use crate::text;
use model::{ScaleCurve, ScaleKnee, ScalePoint};

/// What a curve says, in a sentence.
pub(crate) fn statement(curve: &ScaleCurve) -> String {
    let least = format!("{:.0} %", curve.least_gain_percent);
    let rate = |ranks: u32| {
        let value = curve.points.iter().find(|p| p.ranks == ranks).and_then(|p| p.value);
        value.map_or_else(String::new, |value| format!(" ({})", quantity::quantity(value, curve.unit)))
    };
    let count = |ranks: u32| if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
    match &curve.knee {
        ScaleKnee::At { ranks, share_of_highest_percent } => format!(
            "{} do {share_of_highest_percent:.0} % of the most{}; twice as many gain less than {least}",
            count(*ranks),
            rate(*ranks)
        ),
        ScaleKnee::NotReached { ranks } => {
            format!(
                "{} are not enough to find the limit{}: each doubling still gains {least} or more",
                count(*ranks),
                rate(*ranks)
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

/// The answer of a run that was about the number of ranks.
pub(crate) fn answer(check: &Check<'_>) -> Option<(Tone, String)> {
    let first = check.scale.first()?;
    let known = !matches!(first.knee, ScaleKnee::Unknown { .. });
    let tone = if known { Tone::Good } else { Tone::Doubt };
    let said: Vec<String> = match check.scale {
        [one] => vec![text::capital(&statement(one))],
        all => all.iter().map(|curve| format!("{}: {}", curve.phase, statement(curve))).collect(),
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
}
