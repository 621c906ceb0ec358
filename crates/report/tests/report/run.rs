//! Cards of runs that are no check: the form follows the shape of the phases.

use crate::fixture::{self, Sample};
use report::{Style, card, markdown, text};

fn plain(sample: &Sample) -> String {
    card(&sample.check(), &Style::default())
}

fn all() -> Vec<Sample> {
    vec![
        fixture::depth(),
        fixture::grid(),
        fixture::kdiskmark(),
        fixture::latency(),
        fixture::steady(),
        fixture::jobs_and_changes(),
    ]
}

#[test]
fn depth_with_its_knee() {
    insta::assert_snapshot!(plain(&fixture::depth()));
}

#[test]
fn a_grid_with_refused_and_missing_cells() {
    insta::assert_snapshot!(plain(&fixture::grid()));
}

#[test]
fn pairs_as_kdiskmark_labels_them() {
    insta::assert_snapshot!(plain(&fixture::kdiskmark()));
}

#[test]
fn paced_operations_by_percentile() {
    insta::assert_snapshot!(plain(&fixture::latency()));
}

#[test]
fn rounds_until_steady() {
    insta::assert_snapshot!(plain(&fixture::steady()));
}

#[test]
fn jobs_directions_changes_errors_and_wrong_data() {
    insta::assert_snapshot!(plain(&fixture::jobs_and_changes()));
}

#[test]
fn a_depth_curve_in_ascii() {
    let text = card(&fixture::depth().check(), &Style { ascii: true, ..Style::default() });
    assert!(text.is_ascii(), "{text}");
    assert!(text.contains("<- knee"), "{text}");
}

#[test]
fn as_markdown() {
    insta::assert_snapshot!("markdown_of_a_depth_curve", markdown(&fixture::depth().check()));
    insta::assert_snapshot!("markdown_of_jobs", markdown(&fixture::jobs_and_changes().check()));
}

#[test]
fn every_line_fits_at_every_width_and_no_refused_number_is_shown() {
    for mut s in all() {
        s.page = None;
        for columns in [40, 60, 72, 80, 200] {
            for ascii in [false, true] {
                let style = Style { ascii, width: columns, ..Style::default() };
                let text = card(&s.check(), &style);
                assert!(!ascii || text.is_ascii(), "{text}");
                for line in text.lines() {
                    assert!(text::width(line) <= style.columns(), "{columns}: {line}\n{text}");
                }
                for m in s.run.metrics().filter(|m| m.rejected_value.is_some() && m.id.ends_with(".iops")) {
                    let shown = m.rejected_value.map(|v| report::quantity::quantity(v, m.unit)).unwrap_or_default();
                    assert!(!text.contains(&shown), "{shown}: {text}");
                }
            }
        }
    }
}

#[test]
fn hostile_names_do_not_act() {
    let mut s = fixture::jobs_and_changes();
    s.run.target.name = fixture::HOSTILE.into();
    s.run.plan.name = fixture::HOSTILE.into();
    s.run.plan.notes = vec![fixture::HOSTILE.into()];
    for p in &mut s.run.phases {
        let old = p.plan.name.clone();
        p.plan.name = format!("{old}{}", fixture::HOSTILE);
        for m in &mut p.metrics {
            m.id = m.id.replacen(&old, &p.plan.name, 1);
        }
    }
    let text = plain(&s);
    assert!(!text.chars().any(|c| c != '\n' && text::acts(c)), "{text:?}");
    let markdown = markdown(&s.check());
    assert!(!markdown.contains("<script") && !markdown.contains("@team") && !markdown.contains(" #1"), "{markdown}");
}
