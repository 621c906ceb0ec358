//! Cards and pages of runs that are no check: the form follows the shape of the phases.

use crate::fixture::{self, Sample};
use model::Reason;
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
    assert!(!text.chars().any(|c| c != '\n' && text::is_control(c)), "{text:?}");
    let markdown = markdown(&s.check());
    assert!(!markdown.contains("<script") && !markdown.contains("@team") && !markdown.contains(" #1"), "{markdown}");
}

fn html(sample: &Sample) -> String {
    report::page(&sample.check())
}

/// What stands in the section with this id, folded or not.
fn section<'a>(html: &'a str, id: &str) -> Option<&'a str> {
    let begins = [format!("<section id=\"{id}\">"), format!("<section class=\"fold\" id=\"{id}\">")];
    let (_, rest) = begins.iter().find_map(|begin| html.split_once(begin.as_str()))?;
    Some(rest.split_once("</section>").expect("a section is closed").0)
}

#[test]
fn pages_load_nothing_and_carry_no_inline_styles() {
    for s in all() {
        let html = html(&s);
        for attribute in [" src=", " style=", " onclick=", "@import", "url("] {
            assert!(!html.contains(attribute), "{attribute}");
        }
        assert!(!html.contains("NaN") && !html.contains("inf "), "no number where none is known");
        assert!(section(&html, "ladder").is_none(), "the ladder belongs to the check-up");
        for id in ["numbers", "path", "time", "phases", "metrics", "method", "plan"] {
            assert!(section(&html, id).is_some(), "{id}");
        }
    }
}

#[test]
fn a_grid_is_a_heat_map_that_reads_without_colours_and_scripts() {
    let s = fixture::grid();
    let html = html(&s);
    let numbers = section(&html, "numbers").expect("numbers");
    assert_eq!(numbers.matches(" r9\"><b>").count(), 8, "one best a row, the last step of it: {numbers}");
    let (of_all, of_row) = (numbers.matches("<td class=\"h9 ").count(), numbers.matches(" r9\">").count());
    assert!(
        of_all > 0 && of_all < of_row,
        "colours go by the whole grid, and by row when that is asked for: {of_all}, {of_row}"
    );
    assert_eq!(numbers.matches("type=\"checkbox\"").count(), 1);
    assert_eq!(numbers.matches("class=\"none\"").count(), 9, "eight that were left out, and one refused");
    assert!(
        numbers.contains("<th scope=\"row\">random write</th>") && numbers.contains("<th scope=\"col\">4 KiB</th>")
    );
    assert!(numbers.contains("link-ceiling: 131 MB/s") && numbers.contains("~13.4"));
    let rejected =
        s.run.metric("reread-16MiB.throughput_bytes_per_s").and_then(|m| m.rejected_value).expect("rejected");
    assert!(!numbers.contains(&format!(">{}<", report::quantity::significant(rejected / 1e6, 3))), "{rejected}");
}

#[test]
fn a_depth_curve_is_drawn_with_its_knee() {
    let html = html(&fixture::depth());
    let numbers = section(&html, "numbers").expect("numbers");
    assert_eq!(numbers.matches("knee at 32").count(), 2, "wide and narrow");
    assert_eq!(numbers.matches("<circle").count(), 18);
    assert!(numbers.contains("94 % of the highest rate"));
    let mut s = fixture::depth();
    s.depth_curves[0].knee = model::Knee::NotReached { depth: 256 };
    let html = self::html(&s);
    assert!(!html.contains("knee at") && html.contains("No knee up to depth 256"));
}

#[test]
fn a_refused_depth_is_a_gap_in_the_curve() {
    let mut s = fixture::depth();
    s.refuse("qd8", &["foreign-traffic: others wrote 31 %"]);
    let rejected = s.run.metric("qd8.iops").and_then(|m| m.rejected_value).expect("rejected");
    let html = html(&s);
    let numbers = section(&html, "numbers").expect("numbers");
    assert_eq!(numbers.matches("<circle").count(), 16);
    assert!(!numbers.contains(&report::quantity::significant(rejected, 3)), "{rejected}");
}

#[test]
fn rounds_jobs_changes_and_wrong_data_have_their_places() {
    let steady = html(&fixture::steady());
    let rounds = section(&steady, "rounds").expect("rounds");
    assert_eq!(rounds.matches("class=\"round counted\"").count(), 10, "the window, wide and narrow");
    assert!(rounds.contains("Steady after 8 rounds"));
    let html = html(&fixture::jobs_and_changes());
    let jobs = section(&html, "jobs").expect("jobs");
    for side in ["db read", "db write", "log write"] {
        assert!(jobs.contains(&format!(">{side}</th>")), "{side}: {jobs}");
    }
    let verified = section(&html, "verified").expect("verified");
    assert!(verified.contains("data wrong") && verified.contains("81 920") && verified.contains("lost-write"));
    assert!(section(&html, "events").is_some_and(|e| e.contains("fell from 11.2 MB/s to 4.10 MB/s")));
    assert!(section(&html, "phases").is_some_and(|p| p.contains("class=\"changed\"")));
    let latency = section(&html, "latency").expect("latency");
    assert!(latency.contains("db-and-log, db read"), "{latency}");
}

#[test]
fn a_page_of_hostile_names_stays_text() {
    let mut s = fixture::jobs_and_changes();
    s.run.plan.name = fixture::HOSTILE.into();
    s.run.plan.notes = vec![fixture::HOSTILE.into()];
    let phase = s.phase_mut("db-and-log");
    phase.plan.streams[0].name = fixture::HOSTILE.into();
    for m in phase.metrics.iter_mut() {
        m.id = m.id.replace(".db.", &format!(".{}.", fixture::HOSTILE));
    }
    let html = html(&s);
    assert!(!html.contains("<script>alert") && !html.contains("<!--"));
    assert!(!html.contains('\u{202e}') && !html.contains('\x1b') && !html.contains('\u{2028}'));
}

#[test]
fn what_the_judge_says_of_many_phases_is_said_once() {
    let mut s = fixture::depth();
    for p in &mut s.run.phases {
        p.reasons = vec![Reason::of("direct-unproven", format!("O_DIRECT was asked and not refused: {}", p.plan.name))];
    }
    let text = plain(&s);
    assert_eq!(text.matches("direct-unproven").count(), 1, "{text}");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        joined.contains("qd1: direct-unproven: O_DIRECT was asked and not refused: qd1 (and 8 more phases)"),
        "{text}"
    );
}
