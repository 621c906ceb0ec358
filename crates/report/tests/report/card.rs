//! The card as text: snapshots, and what must hold for every card.

use crate::fixture::{self, Sample};
use model::{ForeignSeen, Reason, Step};
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
        n.step = Step::Fix("write with O_DIRECT from aligned buffers of at least 1 MiB, with several in flight".into());
    }
    s.fetch = Some("scp cam3:.local/share/narrows/reports/20261120T213000Z-7f3a9c21.html .".into());
    insta::assert_snapshot!(plain(&s));
}

#[test]
fn hostile_names_do_not_act() {
    let s = fixture::hostile();
    let text = plain(&s);
    assert!(!text.chars().any(|c| c != '\n' && text::is_control(c)), "{text:?}");
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
    assert!(!text.chars().any(|c| c != '\n' && text::is_control(c)));
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

fn screen(sample: &Sample, width: usize) -> Vec<String> {
    let style = Style { width, ..Style::default() };
    report::brief(&sample.check(), &style).lines().map(str::to_owned).collect()
}

#[test]
fn on_a_terminal_a_check_is_a_screen_with_the_answer_at_its_end() {
    for mut s in
        [fixture::sd_card(), fixture::troubled(), fixture::hostile(), fixture::null_target(), fixture::simulated()]
    {
        s.fetch = Some(format!("scp host:{} .", "a-long-name/".repeat(20)));
        let lines = screen(&s, 80);
        let rows: usize = lines.iter().map(|l| text::width(l).div_ceil(80).max(1)).sum();
        assert!(rows <= 23, "{rows} rows beside the prompt:\n{}", lines.join("\n"));
        let at = |what: &str| lines.iter().position(|l| l.contains(what));
        let bottleneck = at("  Bottleneck: ").expect("a bottleneck");
        assert!(at("Run   ").is_some_and(|run| run < bottleneck), "{}", lines.join("\n"));
        // Behind the bottleneck stands the next step, and nothing else.
        let last = at("  Next step: ").unwrap_or(bottleneck);
        assert!(last >= bottleneck && lines[last + 1..].iter().all(|l| l.starts_with("    ")), "{}", lines.join("\n"));
        assert_eq!(at("  Next step: ").is_some(), s.next_step.is_some());
    }
    insta::assert_snapshot!(screen(&fixture::sd_card(), 80).join("\n"));
}

#[test]
fn beside_a_number_stands_what_limits_it_and_reasons_are_grouped() {
    let mut s = fixture::sd_card();
    let foreign = Reason::ForeignTraffic {
        percent: 12.0,
        bytes_per_s: 3.1e6,
        seen: ForeignSeen::ReadBeside,
        processes: vec!["pid 4711 postgres".into()],
        accounts_seen: true,
    };
    for phase in ["seq-read", "seq-write", "buffered-write"] {
        s.refuse_for(phase, vec![foreign.clone()]);
    }
    s.refuse_for("rand-read-qd1", vec![Reason::Steal { percent: 9.0 }]);
    s.refuse_for("rand-read-qd32", vec![Reason::Steal { percent: 16.0 }]);
    let text = screen(&s, 80).join("\n");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("Doubtful (in brackets): another program, pid 4711 postgres: 3 numbers; steal up to 16 %: 2"),
        "{text}"
    );
    let row = |label: &str| text.lines().find(|l| l.contains(label)).expect("a row").to_owned();
    assert!(row("sequential").contains("another program"), "{text}");
    assert!(row("depth 1").contains("steal up to 9 %") && row("depth 1").contains("device"), "{text}");
    assert!(!text.contains("!1"), "there are no notes to point to: {text}");
}

/// What may be a cache's is in brackets wherever it is shown, and no word of a column is cut.
#[test]
fn a_number_that_may_be_too_good_is_marked() {
    let mut s = fixture::sd_card();
    let phase = s.phase_mut("rand-read-qd1");
    for metric in phase.metrics.iter_mut().filter(|m| m.id.ends_with(".iops")) {
        metric.value = Some(1_116_000.0);
        metric.reasons.push(Reason::LoopCache { basis: "below loop4 no disk counts what reaches it".into() });
    }
    for (phase, code) in [("seq-read", "direct-fallback"), ("buffered-read", "cold-unproven")] {
        s.refuse_for(phase, vec![Reason::of(code, "x")]);
    }
    let text = screen(&s, 80).join("\n");
    let row = |label: &str| text.lines().find(|l| l.contains(label)).expect("a row").to_owned();
    assert!(row("depth 1 ").contains(" IOPS)") && row("depth 1 ").contains("page cache"), "{text}");
    assert!(row("sequential").contains("page cache") && !row("buffered").contains("not proven"), "{text}");
    assert!(plain(&s).contains("IOPS)!"), "{}", plain(&s));
    assert!(text.contains("from the page cache of a loop device: 1"), "{text}");
}

#[test]
fn what_is_not_known_has_no_confidence() {
    for text in [
        plain(&fixture::troubled()),
        markdown(&fixture::troubled().check()),
        screen(&fixture::troubled(), 80).join("\n"),
    ] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, rest) = words.split_once("not known: the sequential read").expect("the statement");
        let (sentence, _) = rest.split_once("refused").expect("its end");
        assert!(!rest[sentence.len()..].starts_with("refused ("), "{text}");
    }
}
