//! The cards of lab/cards against what was published of them.

use super::figures::{random, streams};
use super::timing::Timing;
use super::*;

/// The published table: Armbian forum, Thomas Kaiser, 2018, SD cards of class A1 and A2; `mb_s` are MiB/s.
const PUBLISHED: &str = include_str!("../../../judge/fixtures/sd-cards.csv");

#[test]
fn each_published_card_is_there_and_gives_its_figures() {
    let mut rows = PUBLISHED.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = rows.next().unwrap();
    let mut wanted: Vec<String> = rows.clone().map(|row| format!("{} ({})", row[0], row[1])).collect();
    for name in names().unwrap() {
        let card = find(&name).unwrap();
        let Some(row) = rows.clone().find(|row| card.title == format!("{} ({})", row[0], row[1])) else { continue };
        wanted.retain(|title| *title != card.title);
        let value = |head: &str| -> f64 { row[heads.iter().position(|h| *h == head).unwrap()].parse().unwrap() };
        let capacity = card.capacity.0;
        let timing = Timing::new(card, 1, 1.0).unwrap();
        let close = |what: &str, model: f64| {
            let published = value(what);
            assert!((model / published - 1.0).abs() < 0.03, "{name} {what}: {model} against {published}");
        };
        for (bytes, size) in [(1024, "1k"), (4096, "4k"), (16384, "16k")] {
            let figures = random(&timing, capacity, bytes);
            close(&format!("read_iops_{size}"), figures.read_iops);
            close(&format!("write_iops_{size}"), figures.write_iops);
        }
        let streams = streams(&timing, capacity);
        close("seq_read_mb_s", streams.read_bytes_per_s / f64::from(1 << 20));
        close("seq_write_mb_s", streams.write_bytes_per_s / f64::from(1 << 20));
    }
    assert_eq!(wanted, Vec::<String>::new(), "published, but not in lab/cards");
}

#[test]
fn a_card_that_is_not_there_is_named_with_those_that_are() {
    let error = find("no-such-card").unwrap_err().to_string();
    assert!(error.contains("no-such-card") && error.contains("intenso-class4"), "{error}");
    assert!(format!("{:#}", find("./no/card.toml").unwrap_err()).contains("./no/card.toml"));
}

#[test]
fn what_is_no_card_is_said() {
    let whole = std::fs::read_to_string(directory().join("intenso-class4.toml")).unwrap();
    assert!(Card::parse(&whole).is_ok());
    for (from, to, why) in [
        ("capacity", "kapacity", "kapacity"),
        ("\"4GiB\"", "\"100\"", "whole sectors"),
        ("open-streams = 2", "open-streams = 0", "at least one stream"),
        ("bytes = \"4KiB\"", "bytes = \"1KiB\"", "not in order"),
        ("iops = 33", "iops = 0", "either 'time' or 'iops'"),
        ("iops = 33", "iops = 33, time = '1ms'", "either 'time' or 'iops'"),
        ("spread = 0.1", "spread = 1.5", "between 0 and 1"),
    ] {
        let error = format!("{:#}", Card::parse(&whole.replacen(from, to, 1)).expect_err(to));
        assert!(error.contains(why), "{error}");
    }
    for (more, why) in [
        ("[fake]\nreal-capacity = '8GiB'\nbeyond = 'wrap'", "no lie"),
        ("[stall]\nevery = '0'\ntime = '1s'", "stall.every"),
        ("[wear]\nbit-error-chance = 2.0", "between 0 and 1"),
        ("[[fault]]\nkind = 'lost-write'", "either 'sector'"),
        ("[[fault]]\nkind = 'lost-write'\nsector = 1\nchance = 0.5", "either 'sector'"),
        ("[[fault]]\nkind = 'lost-write'\nsector = 8388608", "8388608 sectors"),
        ("[[fault]]\nkind = 'lost-write'\nsector = 18446744073709551615\nsectors = 2", "8388608 sectors"),
        ("[[fault]]\nkind = 'lost-write'\nchance = 0.5\nunit = '100'", "whole sectors"),
        ("[[fault]]\nkind = 'eaten-by-the-dog'\nchance = 0.5", "unknown variant"),
    ] {
        let error = format!("{:#}", Card::parse(&format!("{whole}\n{more}")).expect_err(more));
        assert!(error.contains(why), "{error}");
    }
}
