//! The link that a text names above its results: what is faster than the link carries was not measured through it.

use super::{ImportedRun, Text};
use model::{Reason, Unit};

/// Lines above a result that may be about it.
const ABOVE: usize = 6;
/// A text of so many lines is about one thing, wherever the link is named in it.
const SHORT_TEXT: usize = 60;
/// Above the link's rate by so much: rounding is none.
const ABOVE_RATIO: f64 = 1.02;

/// Links by how they are written, with what they carry at most, bytes a second, after their line code: USB 2.0, 3.2 and SATA
/// specifications, IEEE 802.3ab.
const LINKS: [(&str, f64); 19] = [
    ("usb 1.1", 1.5e6),
    ("usb 2.0", 60e6),
    ("usb2.0", 60e6),
    ("usb 3.0", 500e6),
    ("usb3.0", 500e6),
    ("usb 3.1 gen 1", 500e6),
    ("usb 3.2 gen 1", 500e6),
    ("usb 3.1 gen 2", 1212e6),
    ("usb 3.2 gen 2", 1212e6),
    ("sata iii", 600e6),
    ("sata 6gb/s", 600e6),
    ("sata 6 gb/s", 600e6),
    ("sata 6.0 gb/s", 600e6),
    ("sata ii", 300e6),
    ("sata 3gb/s", 300e6),
    ("sata 3 gb/s", 300e6),
    ("sata 3.0 gb/s", 300e6),
    ("gigabit ethernet", 125e6),
    ("1000base-t", 125e6),
];
/// Bytes a second of a lane of PCI Express by generation, after its line code.
const LANE: [f64; 6] = [250e6, 500e6, 984.6e6, 1969e6, 3938e6, 7877e6];

/// Whether a name stands in a line as a word of its own.
fn has_word(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let after = line[at + name.len()..].chars().next();
        let before = line[..at].chars().next_back();
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
        // `USB 3.2 Gen 2x2` has two lanes.
        !part(after) && !part(before)
    })
}

/// The fastest link that a line names.
fn named(line: &str) -> Option<(String, f64)> {
    let lower = line.to_lowercase();
    // Lists of what is plugged in name everything, and CrystalDiskMark tells what SATA/600 would carry under each result.
    if lower.contains("hub") || lower.contains("sata/600") || lower.contains("compatible") {
        return None;
    }
    let plain = LINKS.iter().filter(|(name, _)| has_word(&lower, name)).map(|(name, rate)| ((*name).to_owned(), *rate));
    plain.chain(pcie(&lower)).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// `pcie gen3 x4`, `pcie 3.0 x4`, `pcie gen 3 x4`.
fn pcie(line: &str) -> Option<(String, f64)> {
    let (_, rest) = line.split_once("pcie")?;
    let mut words = rest
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')'))
        .filter(|w| !w.is_empty() && *w != "gen");
    let (generation, lanes) = (words.next()?, words.next()?);
    let generation: usize = generation.trim_start_matches("gen").trim_end_matches(".0").parse().ok()?;
    let lanes: u32 = lanes.strip_prefix(['x', '×'])?.parse().ok().filter(|n| matches!(n, 1 | 2 | 4 | 8 | 16))?;
    Some((format!("pcie gen {generation} x{lanes}"), LANE.get(generation.checked_sub(1)?)? * f64::from(lanes)))
}

/// Says of each rate above that of the link that the text names that it cannot be.
pub(super) fn doubt(text: &Text, run: &mut ImportedRun) {
    let lines: Box<dyn Iterator<Item = (usize, &str)>> = if text.line_count() <= SHORT_TEXT {
        Box::new(text.lines())
    } else {
        Box::new(text.lines_from(run.first_line.saturating_sub(ABOVE).max(1)).take(ABOVE + 1))
    };
    let Some((name, rate)) = lines.filter_map(|(_, line)| named(line)).max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return;
    };
    let name = name.to_uppercase();
    let mut any = false;
    for m in run.groups.iter_mut().flat_map(|g| &mut g.metrics).filter(|m| m.metric.unit == Unit::BytesPerS) {
        if m.metric.value.is_some_and(|v| v > rate * ABOVE_RATIO) {
            m.metric.reasons.push(Reason::of(
                "above-link",
                format!("{name}, which the text names, carries {:.0} MB/s at most", rate / 1e6),
            ));
            any = true;
        }
    }
    if any {
        run.remark(format!(
            "faster than {name}, which the text names, can be: {:.0} MB/s at most; memory may have been measured",
            rate / 1e6
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_told_by_their_names() {
        let rate = |line| named(line).map(|(_, rate)| rate);
        assert_eq!(
            (rate("My USB 2.0 stick"), rate("on SATA II"), rate("SATA III, SATA II")),
            (Some(60e6), Some(300e6), Some(600e6))
        );
        assert_eq!((rate("NVMe, PCIe Gen3 x4"), rate("PCIe 4.0 x2 slot")), (Some(4.0 * 984.6e6), Some(2.0 * 1969e6)));
        for none in [
            "USB 3.2 Gen 2x2",
            "* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]",
            "USB 2.0 root hub",
            "PCIe",
            "SATA IIIx",
        ] {
            assert_eq!(rate(none), None, "{none}");
        }
    }
}
