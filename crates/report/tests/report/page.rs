//! The page: what must hold for every page. Its look is worked on with `examples/page.rs` and a browser.

use crate::fixture::{self, Sample};
use model::{Interval, SystemSample};
use sha2::{Digest, Sha256};

fn html(sample: &Sample) -> String {
    report::page(&sample.check())
}

/// The contents of all elements `name`, with what stands in their opening tags.
fn elements<'a>(html: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    html.split(&open)
        .skip(1)
        .filter(|rest| rest.starts_with([' ', '>']))
        .map(|rest| {
            let (attributes, rest) = rest.split_once('>').expect("an opening tag ends");
            (attributes, rest.split_once(&close).expect("an element is closed").0)
        })
        .collect()
}

fn base64(bytes: &[u8]) -> String {
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let bits: String = bytes.iter().map(|b| format!("{b:08b}")).collect();
    let mut out: String = bits
        .as_bytes()
        .chunks(6)
        .map(|c| format!("{:0<6}", std::str::from_utf8(c).expect("ASCII")))
        .map(|c| alphabet[usize::from_str_radix(&c, 2).expect("binary")])
        .collect();
    while !out.len().is_multiple_of(4) {
        out.push('=');
    }
    out
}

fn hash(block: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(block.as_bytes())))
}

#[test]
fn the_policy_names_exactly_the_blocks_of_the_page() {
    for s in [fixture::sd_card(), fixture::hostile(), fixture::null_target()] {
        let html = html(&s);
        let policy = html.split("Content-Security-Policy\" content=\"").nth(1).expect("a policy").split('"').next();
        let policy = policy.expect("its value").replace("&#39;", "'");
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'), "{policy}");
        let scripts: Vec<&str> =
            elements(&html, "script").iter().filter(|(a, _)| !a.contains("json")).map(|e| e.1).collect();
        assert_eq!(scripts.len(), 2);
        let named =
            |directive: &str| policy.split("; ").find(|d| d.starts_with(directive)).expect("directive").to_owned();
        for script in scripts {
            assert!(named("script-src").contains(&hash(script)));
        }
        let styles = elements(&html, "style");
        assert_eq!(styles.len(), 1);
        assert_eq!(named("style-src"), format!("style-src {}", hash(styles[0].1)));
    }
}

#[test]
fn nothing_is_loaded_and_nothing_is_inline_that_the_policy_would_block() {
    for s in [fixture::sd_card(), fixture::hostile(), fixture::troubled(), fixture::null_target()] {
        let html = html(&s);
        for attribute in [" src=", " srcset=", " style=", " onclick=", " onload=", " action=", "@import", "url("] {
            assert!(!html.contains(attribute), "{attribute}");
        }
        for link in html.split(" href=\"").skip(1) {
            assert!(link.starts_with('#'), "{}", &link[..40]);
        }
    }
}

#[test]
fn hostile_text_stays_text() {
    let html = html(&fixture::hostile());
    assert!(!html.contains("<script>alert"), "mark-up from a name");
    assert!(!html.contains('\u{202e}') && !html.contains('\x1b') && !html.contains('\u{2028}'), "acting characters");
    // Comments open nowhere outside the vendored script, and `</script` stands only where an element of ours ends.
    assert_eq!(html.matches("</script").count(), html.matches("<script").count());
    assert!(!html.contains("<!--"));
    let (_, data) = elements(&html, "script").into_iter().find(|(a, _)| a.contains("application/json")).expect("data");
    assert!(!data.contains('<'));
    let data: serde_json::Value = serde_json::from_str(data).expect("valid JSON");
    assert!(
        data["phases"][1]["name"].as_str().is_some_and(|n| n.contains("</script>")),
        "{}",
        data["phases"][1]["name"]
    );
}

#[test]
fn refused_and_skipped_numbers_show_their_reasons() {
    let s = fixture::troubled();
    let html = html(&s);
    for reason in ["link-ceiling: 131 MB/s", "cold-unproven: the device read", "budget: 5 s needed"] {
        assert!(html.contains(reason), "{reason}");
    }
    let rejected = s.run.metric("seq-read.throughput_bytes_per_s").and_then(|m| m.rejected_value).expect("rejected");
    let shown = report::quantity::rate(rejected);
    assert!(html.contains(&format!("<span class=\"rejected\">({shown})!</span>")), "hatched, in brackets");
    assert_eq!(html.matches(&shown).count(), 1, "a rejected value stands only where it is called so");
    assert!(html.contains("Interrupted:"));
}

#[test]
fn the_whole_page_has_all_its_parts() {
    let html = html(&fixture::sd_card());
    // What is read first, then what is folded.
    for id in ["numbers", "ladder", "findings"] {
        assert!(html.contains(&format!("<section id=\"{id}\"><h2>")), "{id}");
    }
    for id in
        ["time", "phases", "latency", "path", "causes", "metrics", "ratings", "method", "environment", "plan", "kernel"]
    {
        assert!(html.contains(&format!("<section class=\"fold\" id=\"{id}\"><details><summary>")), "{id}");
    }
    let first_fold = html.find("class=\"fold\"").expect("a fold");
    assert!(
        html.find("id=\"findings\"").is_some_and(|findings| findings < first_fold),
        "what is read first comes first"
    );
    assert!(html.contains("<noscript>"));
    assert!(html.contains("lowest known ceiling"));
    assert!(html.contains("mmc1: tuning execution failed"));
}

#[test]
fn absent_parts_are_left_out_without_a_trace_of_zero() {
    let mut s = fixture::null_target();
    for p in &mut s.run.phases {
        p.record = None;
    }
    let html = html(&s);
    assert!(!html.contains("id=\"data\"") && !html.contains("plot-rate"), "no series, no plots");
    assert!(html.contains("None are kept with this run"), "the kernel's log was not readable and says so");
    assert!(!html.contains("NaN") && !html.contains(">inf"), "no number where none is known");
}

#[test]
fn a_long_run_stays_below_400_kb() {
    let mut s = fixture::sd_card();
    for p in &mut s.run.phases {
        let Some(r) = &mut p.record else { continue };
        let (first, period) = (r.started_ns, 100_000_000);
        r.intervals = (0..36_000u64)
            .map(|i| Interval {
                start_ns: first + i * period,
                length_ns: period,
                operations: 17 * (i % 13),
                bytes: 1_234_567 * (i % 13),
                latency_ns_p50: Some(123_456 + i),
                latency_ns_p99: Some(1_234_567 + i),
                latency_ns_max: Some(12_345_678 + i),
            })
            .collect();
    }
    let template = s.run.samples.clone();
    s.run.samples = (0..40_000u64)
        .map(|i| SystemSample { at_ns: i * 250_000_000, ..template[(i as usize) % template.len()].clone() })
        .collect();
    s.run.kernel_log =
        Some((0..5_000).map(|i| format!("[ {i}.000000] mmc1: error -84 while reading block {i}")).collect());
    let size = html(&s).len();
    assert!(size < 400_000, "{size} bytes");
}

#[test]
fn other_causes_stand_on_the_page_without_the_bottleneck() {
    let s = fixture::sd_card();
    let page = html(&s);
    let (_, section) = elements(&page, "section").into_iter().find(|(a, _)| a.contains("causes")).expect("the section");
    assert!(section.contains("Copying through the page cache") && section.contains("the same writes with direct I/O"));
    assert!(section.contains("75.00 MHz") && !section.contains("what\">clock_hz"), "facts are in words: {section}");
    assert!(!section.contains(&s.limit.statement), "the bottleneck is told once");
}

#[test]
fn several_runs_stand_on_one_page_each_with_ids_of_its_own() {
    let samples = [fixture::sd_card(), fixture::hostile(), fixture::depth(), fixture::null_target()];
    let checks: Vec<report::Check<'_>> = samples.iter().map(Sample::check).collect();
    let html = report::runs_page("1.0", &checks);
    assert!(html.contains("default-src 'none'") && elements(&html, "script").is_empty());
    assert_eq!(html.matches("<article class=\"run\"").count(), samples.len());
    let mut ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for attribute in [" href=\"#", " aria-labelledby=\""] {
        for name in html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(ids.contains(&name), "{attribute}{name} leads nowhere");
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id stands twice");
    // Side by side: what only one of them has is a dash for the others.
    let rates = elements(&html, "table")[0].1;
    assert!(rates.contains("seq-read") && rates.contains("MB/s") && rates.contains("<td>-</td>"), "{rates}");
    assert!(!html.contains('\u{202e}') && !html.contains("<script"));
}
