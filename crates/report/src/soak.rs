//! A soak on a terminal.

use crate::document::SoakDocument;
use crate::quantity;
use crate::style::{Paint, Style};
use crate::text::{plain, wrap};
use model::DataFinding;

/// Findings that are shown one by one.
const MOST_SHOWN: usize = 12;

/// `lost-write at 12.4 MB (sector 24 216), 128 sectors: ...`.
pub fn data_finding_text(finding: &DataFinding) -> String {
    let place = format!("{} (sector {})", quantity::size(finding.lba * 512), quantity::count(finding.lba));
    let versions = match (finding.expected_generation, finding.found_generation) {
        (Some(expected), Some(found)) => format!(": version {found}, where {expected} must be"),
        (Some(expected), None) => format!(": no stamp, where version {expected} must be"),
        _ => String::new(),
    };
    let sectors = if finding.sectors == 1 {
        "1 sector".to_owned()
    } else {
        format!("{} sectors", quantity::count(finding.sectors))
    };
    format!("{} at {place}, {sectors}{versions}", finding.class.name())
}

/// What came of it: the answer first.
pub fn soak_text(document: &SoakDocument<'_>, style: &Style) -> String {
    let mut out = String::new();
    let mut line = |lead: &str, text: &str, paint: Option<Paint>| {
        for (i, l) in wrap(&plain(text, style.ascii), style.columns().saturating_sub(lead.len())).iter().enumerate() {
            let lead = if i == 0 { lead.to_owned() } else { " ".repeat(lead.len()) };
            let l = paint.map_or_else(|| l.clone(), |p| style.paint(p, l));
            out.push_str(format!("{lead}{l}").trim_end());
            out.push('\n');
        }
    };
    let seconds = std::time::Duration::from_secs_f64(document.duration_s.max(0.0));
    let time = quantity::duration(u64::try_from(seconds.as_nanos()).unwrap_or(u64::MAX));
    let did = format!(
        "{} written and {} read back on {}, {} in {time}",
        quantity::size(document.bytes_written),
        quantity::size(document.bytes_verified),
        document.target,
        match document.passes {
            1 => "1 whole pass".to_owned(),
            n => format!("{n} whole passes"),
        }
    );
    let found = document.findings.len() as u64 + document.findings_dropped;
    let verdict = match (document.clean, found) {
        (true, _) if document.bytes_verified == 0 => "Nothing was verified".to_owned(),
        (true, _) => "Nothing was wrong".to_owned(),
        (false, 0) => "Operations failed; of what could be read nothing was wrong".to_owned(),
        (false, 1) => "Data are wrong in 1 place".to_owned(),
        (false, n) => format!("Data are wrong in {} places", quantity::count(n)),
    };
    line("", &format!("{verdict}: {did}."), Some(if document.clean { Paint::Accent } else { Paint::Bad }));
    for finding in document.findings.iter().take(MOST_SHOWN) {
        line("  - ", &data_finding_text(finding), None);
    }
    let more = found.saturating_sub(MOST_SHOWN as u64);
    if more > 0 {
        line("  ", &format!("and {} more (--json has {})", quantity::count(more), document.findings.len()), None);
    }
    for (error, count) in document.errors {
        line("  - ", &format!("{} operations failed with {error}", quantity::count(*count)), None);
    }
    for remark in &document.remarks {
        line("* ", remark, None);
    }
    if document.state == "interrupted" {
        line("", &format!("narrows soak --resume {}   goes on", document.id), Some(Paint::Dim));
    }
    out
}
