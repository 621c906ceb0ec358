//! What `H2testw` copies into its log: the rates of writing and reading, and what did not come back. 1 MByte is 2^20 bytes
//! there. It speaks German, too.

use super::localized::decimal;
use super::test_figures::TestFigures;
use super::{Found, ImportedRun, Text};
use model::Better;

const SPEEDS: [(&str, &str); 4] = [
    ("Writing speed:", "h2testw.write"),
    ("Reading speed:", "h2testw.read"),
    ("Schreibrate:", "h2testw.write"),
    ("Leserate:", "h2testw.read"),
];
/// Words behind the amount, and what was counted.
const COUNTS: [(&str, &str); 8] = [
    ("OK", "ok_bytes"),
    ("DATA LOST", "lost_bytes"),
    ("DATEN VERLOREN", "lost_bytes"),
    ("overwritten", "overwritten_bytes"),
    ("slightly changed", "changed_bytes"),
    ("corrupted", "corrupted_bytes"),
    ("überschrieben", "overwritten_bytes"),
    ("aliased memory", "aliased_bytes"),
];

/// The test and the rate, bytes a second: `Writing speed: 10.1 MByte/s`.
fn speed(line: &str) -> Option<(&'static str, f64, &str, &str)> {
    let line = line.trim();
    let (rest, test) = SPEEDS.iter().find_map(|(label, test)| Some((line.strip_prefix(label)?, *test)))?;
    let mut words = rest.split_whitespace();
    let (digits, unit) = (words.next()?, words.next()?);
    let scale = scale(unit.strip_suffix("/s")?)?;
    words.next().is_none().then_some((test, decimal(digits).filter(|v| *v > 0.0)? * scale, digits, unit))
}

fn scale(unit: &str) -> Option<f64> {
    let power = ["Byte", "KByte", "MByte", "GByte", "TByte"].iter().position(|u| *u == unit)?;
    Some(1024_f64.powi(power as i32))
}

/// `3.7 GByte OK (7864283 sectors)`, `Details:26.0 GByte overwritten (54545454 sectors)`: what, and how many sectors.
fn count(line: &str) -> Option<(&'static str, f64)> {
    let line = line.trim();
    let line = line.strip_prefix("Details:").unwrap_or(line).trim_start();
    let (amount, inside) = line.split_once('(')?;
    let mut words = amount.split_whitespace();
    let value = decimal(words.next()?)?;
    let scale = scale(words.next()?)?;
    let what = words.collect::<Vec<_>>().join(" ");
    let quantity = COUNTS.iter().find(|(word, _)| *word == what)?.1;
    let before = inside.split_once(" sector").or_else(|| inside.split_once(" Sektor"))?.0;
    let sectors = decimal(before.rsplit([' ', ',']).next()?)?;
    // The amount is the sectors, rounded to a digit or two.
    let near = (value * scale - sectors * 512.0).abs() <= 0.06 * sectors * 512.0 + 0.06 * scale;
    near.then_some((quantity, sectors))
}

fn is_frame(line: &str) -> bool {
    let starts = [
        "Warning: Only",
        "Test finished",
        "You can now delete",
        "The media is likely",
        "First error at offset",
        "Expected:",
        "Found:",
        "H2testw v",
        "Details:",
        "Achtung: Nur",
        "Test fehlerfrei",
        "Sie können die",
        "Der Datenträger ist",
    ];
    let line = line.trim();
    starts.iter().any(|s| line.starts_with(s)) || line == "Fertig, kein Fehler aufgetreten"
}

/// Whether there is a rate of it, or a count.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| speed(line).is_some() || count(line).is_some())
}

/// Reads all outputs: a run begins with a figure that the last one has already.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut seen = Vec::new();
    let mut ended = false;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        let figure = match (speed(line), count(line)) {
            (Some((test, rate, digits, unit)), _) => {
                Some((test.to_owned(), TestFigures::of(test).rate(Some(rate), digits, unit)))
            }
            (None, Some((quantity, sectors))) => {
                let better = if quantity == "ok_bytes" { Better::Higher } else { Better::Lower };
                let of = TestFigures::of("h2testw.read");
                let of = of.bytes(quantity, Some(better), Some(sectors * 512.0), &sectors.to_string(), "sectors");
                Some((quantity.to_owned(), of))
            }
            (None, None) => None,
        };
        let Some((name, figures)) = figure else {
            if is_frame(line) {
                found.used(number);
                ended |= run.is_some() && line.trim().starts_with("H2testw v");
            }
            continue;
        };
        if seen.contains(&name) || ended && name.ends_with("_bytes") {
            run.take().into_iter().for_each(|r| found.push(r));
            seen.clear();
        }
        ended = false;
        let run = run.get_or_insert_with(|| ImportedRun::new("h2testw", found.file, number));
        if name == "lost_bytes" {
            run.remark(format!("data were lost: {}", line.trim()));
        }
        seen.push(name);
        figures.into_run(run);
        run.remark("MByte of H2testw are 2^20 bytes");
        found.used(number);
    }
    run.into_iter().for_each(|r| found.push(r));
}
