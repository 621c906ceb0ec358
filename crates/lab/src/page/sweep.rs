//! The runs of an experiment's arms, phase by phase: a line through the medians of each arm, a point for each run.

use maud::{Markup, html};
use model::{Run, Unit};
use report::chart::{self, Area, Axis, Chart, px};
use report::{quantity, text_of as t};

/// What one arm gave in each phase.
struct Line<'a> {
    arm: &'a str,
    /// Values of all runs, by phase.
    values: Vec<Vec<f64>>,
    /// Colour class.
    class: String,
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The drawing of `<phase>.<quantity>` and the table of its medians; `None` without two phases that have it.
pub(super) fn figure(quantity: &str, arms: &[(String, Vec<Run>)]) -> Option<Markup> {
    let runs = || arms.iter().flat_map(|(_, runs)| runs);
    let first = runs().next()?;
    let id = |phase: &str| format!("{phase}.{quantity}");
    let names = first.phases.iter().map(|p| p.plan.name.as_str());
    let phases: Vec<&str> = names.filter(|name| runs().any(|r| r.value(&id(name)).is_some())).collect();
    let unit = phases.iter().find_map(|p| first.metric(&id(p))).map(|m| m.unit)?;
    let lines: Vec<Line<'_>> = arms
        .iter()
        .enumerate()
        .map(|(i, (arm, runs))| Line {
            arm,
            values: phases.iter().map(|p| runs.iter().filter_map(|r| r.value(&id(p))).collect()).collect(),
            class: format!("c{}", i % 7 + 1),
        })
        .collect();
    (phases.len() > 1).then(|| {
        html! {
            figure.sweep { figcaption { @if unit == Unit::OpsPerS { "IOPS" } @else { (t(quantity)) } " by phase, logarithmic" } (drawing(&phases, &lines, unit)) }
            (table(&phases, &lines, unit))
        }
    })
}

fn drawing(phases: &[&str], lines: &[Line<'_>], unit: Unit) -> Markup {
    let all = lines.iter().flat_map(|l| l.values.iter().flatten()).copied();
    // Arms stand beside each other.
    let x = |phase: usize, line: usize| phase as f64 + 0.5 + (line as f64 - (lines.len() as f64 - 1.0) / 2.0) * 0.1;
    let runs = |area: &Area<'_>| {
        html! {
            @for (l, line) in lines.iter().enumerate() {
                @for (phase, values) in line.values.iter().enumerate() {
                    @let x = px(area.x(x(phase, l)));
                    @for value in values { circle.run.(line.class) cx=(x) cy=(px(area.y(*value))) r="3" {} }
                    @if let Some(value) = median(values) { circle.median.(line.class) cx=(x) cy=(px(area.y(value))) r="4.5" {} }
                }
            }
        }
    };
    let through_medians = |(l, line): (usize, &Line<'_>)| chart::Line {
        name: line.arm.to_owned(),
        class: format!("curve {}", line.class),
        points: line.values.iter().enumerate().map(|(phase, values)| (x(phase, l), median(values))).collect(),
    };
    let ticks = phases.iter().enumerate().map(|(i, phase)| (i as f64 + 0.5, (*phase).to_owned())).collect();
    let chart = Chart {
        label: "Each run by phase; the table below has the medians".to_owned(),
        x: Axis { high: phases.len() as f64, ticks, ..Axis::default() },
        y: Axis::rates(all, unit).unwrap_or_default(),
        lines: lines.iter().enumerate().map(through_medians).collect(),
        marks: Some(&runs),
        height: 300.0,
        ..Chart::default()
    };
    html! { (chart.of_width(560.0)) (chart.legend(0)) }
}

/// Medians of each arm, and how many times the last phase is the first, within each run: what a host that is busy with
/// something else disturbs least.
fn table(phases: &[&str], lines: &[Line<'_>], unit: Unit) -> Markup {
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| quantity::quantity(v, unit));
    let (first, last) = (phases[0], phases[phases.len() - 1]);
    let growth = |line: &Line<'_>| {
        let (from, to) = (&line.values[0], &line.values[phases.len() - 1]);
        // Only where every run has both do they belong together one by one.
        let ratios: Vec<f64> = from.iter().zip(to).map(|(a, b)| b / a).filter(|r| r.is_finite()).collect();
        median(&ratios).filter(|_| from.len() == to.len()).map_or_else(|| "-".to_owned(), |r| format!("× {r:.2}"))
    };
    html! {
        div.scroll tabindex="0" { table.data {
            thead { tr { th scope="col" { "median of" } @for line in lines { th scope="col" { (t(line.arm)) } } } }
            tbody {
                @for (i, phase) in phases.iter().enumerate() {
                    tr { th scope="row" { (t(phase)) } @for line in lines { td { (shown(median(&line.values[i]))) } } }
                }
                tr { th scope="row" { (t(last)) " over " (t(first)) ", run by run" } @for line in lines { td { b { (growth(line)) } } } }
            }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[&[f64]]) -> Line<'static> {
        Line { arm: "ahci", values: values.iter().map(|v| v.to_vec()).collect(), class: "c1".into() }
    }

    #[test]
    fn medians_of_none_one_and_several() {
        assert_eq!((median(&[]), median(&[2.0]), median(&[3.0, 1.0, 2.0])), (None, Some(2.0), Some(2.0)));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn a_line_goes_through_what_there_is() {
        let lines = [line(&[&[100.0, 300.0], &[], &[1000.0, 900.0]])];
        let phases = ["qd1", "qd2", "qd32"];
        let page = drawing(&phases, &lines, Unit::OpsPerS).into_string();
        assert_eq!((page.matches("class=\"run c1\"").count(), page.matches("class=\"median c1\"").count()), (4, 2));
        assert!(!page.contains("NaN"), "{page}");
        let table = table(&phases, &lines, Unit::OpsPerS).into_string();
        assert!(table.contains("× 6.50"), "run by run: 10 and 3: {table}");
        assert!(figure("iops", &[("a".to_owned(), Vec::new())]).is_none());
    }
}
