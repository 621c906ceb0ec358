//! The card as text: snapshots, and what must hold for every card.

use crate::fixture::{self, Sample};
use report::{Style, card, markdown, text};

fn plain(sample: &Sample) -> String {
    card(&sample.check(), &Style::default())
}

#[test]
fn a_whole_check() {
    insta::assert_snapshot!(plain(&fixture::sd_card()));
}

#[test]
fn ascii_on_a_dumb_terminal() {
    let text = card(&fixture::sd_card().check(), &Style { ascii: true, ..Style::default() });
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

/// A phone, a serial console: no line is broken by the terminal, paths apart.
#[test]
fn forty_columns() {
    for sample in [fixture::sd_card(), fixture::troubled(), fixture::hostile()] {
        let text = card(&sample.check(), &Style { width: 40, ..Style::default() });
        for line in text.lines().filter(|l| !["  Run", "  Page", "  Fetch"].iter().any(|p| l.starts_with(p))) {
            assert!(text::width(line) <= 40, "{line}");
        }
    }
    let text = card(&fixture::troubled().check(), &Style { width: 40, ..Style::default() });
    assert!(text.contains(")!1") && text.contains("sequential read"), "{text}");
}

#[test]
fn refused_skipped_interrupted() {
    insta::assert_snapshot!(plain(&fixture::troubled()));
}

#[test]
fn the_null_target() {
    insta::assert_snapshot!(plain(&fixture::null_target()));
}

#[test]
fn a_simulated_card() {
    insta::assert_snapshot!(plain(&fixture::simulated()));
}

#[test]
fn long_and_wide_names_over_ssh() {
    let mut s = fixture::sd_card();
    s.run.target.name = "/srv/存储/a-very-long-directory-name/that-goes-on/and-on/until/it/does/not/fit".into();
    s.limit.statement = "copying through the page cache: one CPU spends 97 % of its time in the kernel while buffered writes run at 41.0 MB/s".into();
    if let Some(n) = &mut s.next_step {
        n.text = "write with O_DIRECT from aligned buffers of at least 1 MiB, with several in flight".into();
    }
    s.fetch = Some("scp cam3:.local/share/narrows/reports/20261120T213000Z-7f3a9c21.html .".into());
    insta::assert_snapshot!(plain(&s));
}

#[test]
fn hostile_names_do_not_act() {
    let s = fixture::hostile();
    let text = plain(&s);
    assert!(!text.chars().any(|c| c != '\n' && text::acts(c)), "{text:?}");
    insta::assert_snapshot!(text);
}

#[test]
fn markdown_of_a_whole_check() {
    insta::assert_snapshot!(markdown(&fixture::sd_card().check()));
}

#[test]
fn markdown_escapes_what_is_hostile() {
    let text = markdown(&fixture::hostile().check());
    assert!(!text.contains("<script"), "{text}");
    assert!(!text.contains("@team") && !text.contains(" #1"), "{text}");
    assert!(!text.chars().any(|c| c != '\n' && text::acts(c)));
}

#[test]
fn every_line_fits_at_every_width() {
    for s in [fixture::sd_card(), fixture::troubled(), fixture::null_target(), fixture::hostile()] {
        for columns in [40, 60, 72, 80, 200] {
            for ascii in [false, true] {
                let style = Style { ascii, width: columns, ..Style::default() };
                let text = card(&s.check(), &style);
                for line in text.lines().filter(|l| !l.starts_with("  Page") && !l.starts_with("  Fetch")) {
                    assert!(text::width(line) <= style.columns(), "{columns}: {line}");
                }
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let s = fixture::troubled();
    let coloured = card(&s.check(), &Style { colour: true, ..Style::default() });
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        bare.push_str(before);
        rest = after.split_once('m').expect("a whole colour sequence").1;
    }
    bare.push_str(rest);
    let trimmed = |t: &str| t.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&bare), trimmed(&plain(&s)));
    assert_ne!(coloured, plain(&s));
}

#[test]
fn a_refused_number_stands_in_brackets_with_its_mark() {
    let s = fixture::troubled();
    let rejected = s.run.metric("seq-read.throughput_bytes_per_s").and_then(|m| m.rejected_value).expect("rejected");
    let text = plain(&s);
    assert!(text.contains(&format!("({})!1", report::quantity::rate(rejected))), "{text}");
    assert!(text.contains("\n  !1 "), "the mark has its reason: {text}");
}
