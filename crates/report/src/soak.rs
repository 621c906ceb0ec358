//! A soak as parts: what came of it, what was found, and what the machine counted meanwhile.

use crate::document::SoakDocument;
use crate::fact;
use crate::group_answer;
use crate::presentation::{Part, Presentation, SectionName, Tone, listed};
use crate::quantity;
use crate::run::data_finding_text;
use model::{CapacityKind, DataFinding, Growth, Scrub, TargetKind};

/// Findings that are shown one by one.
const MOST_SHOWN: usize = 12;

/// Warnings of the kernel that are shown, the newest.
const MOST_WARNINGS: usize = 6;

/// What the answer of a soak is made of.
pub(crate) struct Soaked<'a> {
    pub target: &'a str,
    pub clean: bool,
    /// How large it really is at most, where that is less than it says.
    pub real_bytes: Option<u64>,
    /// Places found wrong.
    pub found: u64,
    /// Whether operations failed.
    pub failed: bool,
    pub bytes_written: u64,
    pub bytes_verified: u64,
    /// Whole passes.
    pub passes: u32,
    /// What a pass writes, and how large the device says it is.
    pub region_bytes: u64,
    pub device_bytes: Option<u64>,
    /// Whether what is wrong lies in the last tenth of what was written: the end may not be there at all.
    pub wrong_near_end: bool,
    /// Whether it is a device as a whole, whose capacity can be measured.
    pub is_device: bool,
    pub duration_ns: u64,
}

impl<'a> Soaked<'a> {
    pub fn of(document: &'a SoakDocument<'a>) -> Self {
        let time = std::time::Duration::from_secs_f64(document.duration_s.max(0.0));
        Self {
            target: document.target,
            clean: document.clean,
            real_bytes: CapacityKind::found(document.findings).map(|(_, bytes)| bytes),
            found: document.findings.len() as u64 + document.findings_dropped,
            failed: !document.errors.is_empty(),
            bytes_written: document.bytes_written,
            bytes_verified: document.bytes_verified,
            passes: document.passes,
            region_bytes: document.region_bytes,
            device_bytes: document.device_bytes,
            wrong_near_end: near_end(document.findings, document.region_bytes),
            is_device: document.target.starts_with("sim:") || document.target.starts_with("/dev/"),
            duration_ns: u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

impl<'a> Soaked<'a> {
    /// Of the run that was kept of it.
    pub fn of_run(run: &'a model::Run) -> Self {
        let records = || run.phases.iter().filter_map(|p| p.record.as_ref());
        let verified = || records().filter_map(|r| r.verify.as_ref());
        let failed = records().any(|r| !r.errors.is_empty());
        Self {
            target: &run.target.name,
            clean: verified().all(model::VerifyRecord::is_clean) && !failed,
            real_bytes: verified().find_map(|v| CapacityKind::found(&v.findings)).map(|(_, bytes)| bytes),
            found: verified().map(|v| v.findings.len() as u64 + v.findings_dropped).sum(),
            failed,
            bytes_written: run.bytes_written,
            bytes_verified: verified().map(|v| v.bytes_verified).sum(),
            passes: u32::try_from(run.phases.iter().filter(|p| p.record.is_none()).count()).unwrap_or(u32::MAX),
            region_bytes: run.target.size_bytes.unwrap_or(0),
            device_bytes: run.target.stack.device_bytes(),
            wrong_near_end: verified().any(|v| near_end(&v.findings, run.target.size_bytes.unwrap_or(0))),
            is_device: matches!(run.target.kind, TargetKind::Sim | TargetKind::BlockDevice),
            duration_ns: run.duration_ns,
        }
    }
}

/// Whether all that is wrong lies in the last tenth of what a pass writes.
fn near_end(findings: &[DataFinding], region_bytes: u64) -> bool {
    let last_tenth = region_bytes - region_bytes / 10;
    !findings.is_empty() && findings.iter().all(|f| f.lba.saturating_mul(512) >= last_tenth)
}

/// `over 67 MB of it, 1.7 % of its 4 GB`: what lies beside that was not looked at.
fn covered(soaked: &Soaked<'_>) -> String {
    let region = quantity::size(soaked.region_bytes);
    match soaked.device_bytes.filter(|all| *all > 0 && soaked.region_bytes > 0) {
        None => format!("over {region}"),
        Some(all) => {
            let percent = 100.0 * soaked.region_bytes as f64 / all as f64;
            match percent {
                99.0.. => format!("over all its {}", quantity::size(all)),
                _ => format!(
                    "over {region} of it, {} % of its {}; the rest was not looked at",
                    quantity::significant(percent, 2),
                    quantity::size(all)
                ),
            }
        }
    }
}

/// What to do where something was wrong.
fn next_step(soaked: &Soaked<'_>) -> Option<String> {
    if soaked.clean || soaked.found == 0 && !soaked.failed || soaked.real_bytes.is_some() {
        return None;
    }
    let device = if soaked.target.starts_with("sim:") { "" } else { " --destroy SERIAL" };
    Some(match soaked.wrong_near_end && soaked.is_device {
        true => format!(
            "All of it is near the end, which may not be there (a fake): narrows rate {}{device} --capacity quick tells.",
            soaked.target
        ),
        false => "Keep no data on it; the same soak at another reader, cable or port tells whether it is the device."
            .to_owned(),
    })
}

/// What came of it, in a sentence.
pub(crate) fn answer(soaked: &Soaked<'_>) -> String {
    let passes = match soaked.passes {
        1 => "1 whole pass".to_owned(),
        n => format!("{n} whole passes"),
    };
    let next = next_step(soaked).map_or_else(String::new, |next| format!(" {next}"));
    let fake = soaked.real_bytes.map(|real| format!("FAKE: at most {} are there. ", quantity::size(real)));
    format!(
        "{}{}: {} written and {} read back on {}, {passes} in {} {}.{next}",
        fake.unwrap_or_default(),
        verdict(soaked),
        quantity::size(soaked.bytes_written),
        quantity::size(soaked.bytes_verified),
        soaked.target,
        quantity::duration(soaked.duration_ns),
        covered(soaked)
    )
}

/// What came of it: the answer first.
pub fn soak(document: &SoakDocument<'_>) -> Presentation {
    let soaked = Soaked::of(document);
    let tone = if document.clean { Tone::Good } else { Tone::Bad };
    let mut presentation = Presentation::of("soak", document.target).answered(tone, answer(&soaked));
    presentation.push(SectionName::Others, group_answer::parts(document.group.as_ref()));
    presentation.head.answer = group_answer::of_all(document.group.as_ref(), SOAKED).or(presentation.head.answer);
    presentation.push(SectionName::Numbers, found(document, soaked.found));
    let growth = [("median write", document.median_growth), ("slowest hundredth of the writes", document.p99_growth)];
    // Of what may as well be none nothing is said.
    let certain = growth.into_iter().filter_map(|(what, growth)| Some((what, growth.filter(Growth::is_certain)?)));
    let tone = |growth: &Growth| if growth.share < 0.0 { Tone::Good } else { Tone::Bad };
    let grown = certain.map(|(what, growth)| Part::Sentence(tone(&growth), grown(what, &growth)));
    presentation.push(SectionName::Limits, grown.collect());
    presentation.push(SectionName::Events, kernel_warnings(document.kernel_warnings));
    presentation.end.notes = document.remarks.clone();
    if document.state == "interrupted" && !document.resumable {
        presentation
            .end
            .notes
            .push("a simulated device goes with the program: this soak cannot be continued".to_owned());
    } else if document.state == "interrupted" {
        presentation.end.notes.push(format!("narrows soak --resume {} continues", document.id));
    }
    presentation
}

/// What all ranks of a group say together: yes, and no.
pub(crate) const SOAKED: [&str; 2] = ["nothing was wrong", "have wrong data"];

/// What was found wrong, and what the machine counted meanwhile.
fn found(document: &SoakDocument<'_>, all: u64) -> Vec<Part> {
    let mut list: Vec<String> = document.findings.iter().take(MOST_SHOWN).map(data_finding_text).collect();
    let more = all.saturating_sub(list.len() as u64);
    if more > 0 {
        let kept = document.findings.len();
        let in_json = if kept > list.len() { format!(" (--json has {kept})") } else { String::new() };
        list.push(format!("and {} more{in_json}", quantity::count(more)));
    }
    let failed =
        |(error, count): (&String, &u64)| format!("{} operations failed with {error}", quantity::count(*count));
    list.extend(document.errors.iter().map(failed));
    list.extend(document.scrub.map(scrubbed));
    for (name, change) in document.counters.iter().filter(|(_, change)| change.before != change.after) {
        let (layer, counter) = name.split_once(": ").unwrap_or(("", name));
        let shown = |of| fact::value(counter, of).unwrap_or_else(|| "not known".to_owned());
        let (counter, before, after) = (fact::name(counter), shown(change.before), shown(change.after));
        list.push(format!("{layer}: {counter} {before} before, {after} after"));
    }
    for device in &document.write_amplification {
        let (flash, host) = (quantity::size(device.flash_bytes), quantity::size(device.host_bytes));
        let (layer, factor) = (&device.layer, device.amplification);
        list.push(format!("{layer}: {flash} written to the flash for {host} that it was given: {factor:.2} times"));
    }
    listed(list)
}

fn kernel_warnings(warnings: &[String]) -> Vec<Part> {
    let before = warnings.len().saturating_sub(MOST_WARNINGS);
    let shown = warnings[before..].iter().map(|warning| Part::Named("kernel", warning.clone()));
    let more = (before > 0).then(|| Part::Hint(format!("and {before} warnings of the kernel before (--json)")));
    shown.chain(more).collect()
}

fn verdict(soaked: &Soaked<'_>) -> String {
    match (soaked.clean, soaked.found) {
        (true, _) if soaked.bytes_verified == 0 => "Nothing was verified".to_owned(),
        (true, _) => "Nothing was wrong".to_owned(),
        (false, 0) if !soaked.failed => {
            "The file system found what is wrong; what was written here is right".to_owned()
        }
        (false, 0) => "Operations failed; of what could be read nothing was wrong".to_owned(),
        (false, 1) => "Data are wrong in 1 place".to_owned(),
        (false, n) => format!("Data are wrong in {} places", quantity::count(n)),
    }
}

/// What the file system says of what it holds.
fn scrubbed(scrub: &Scrub) -> String {
    let whole = scrub.failed.as_ref().map_or_else(String::new, |why| format!("; it is not whole: {why}"));
    let read = quantity::size(scrub.bytes);
    match scrub.errors() {
        0 if scrub.bytes == 0 && scrub.failed.is_some() => {
            format!("the file system did not check what it holds: {}", scrub.failed.as_deref().unwrap_or_default())
        }
        0 => format!("the file system checked {read} of its own and found nothing wrong{whole}"),
        _ if scrub.wrong_sectors > 0 => format!(
            "the file system checked {read} of its own: {} sectors wrong, {} not repairable, the others repaired{whole}",
            scrub.wrong_sectors, scrub.uncorrectable_errors
        ),
        _ => format!(
            "the file system checked {read} of its own: {} checksums wrong, {} reads failed, {} blocks of metadata wrong, {} \
             not repairable{whole}",
            scrub.checksum_errors, scrub.read_errors, scrub.metadata_errors, scrub.uncorrectable_errors
        ),
    }
}

/// How writes became slower from pass to pass, or faster.
fn grown(what: &str, growth: &Growth) -> String {
    let Growth { first_pass: first, last_pass: last, share, low, high, .. } = *growth;
    // Of less time the ends change places.
    let (more, share, low, high) = if share < 0.0 { ("less", -share, -high, -low) } else { ("more", share, low, high) };
    let percent = |share: f64| format!("{:.0}", (share * 100.0).round() + 0.0);
    let (share, low, high) = (percent(share), percent(low), percent(high));
    format!("the {what} takes {share} % {more} time at pass {last} than at pass {first} ({low} to {high} %)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_that_became_faster_take_less_time_and_not_minus_so_much_more() {
        let growth = |share, low, high| Growth { first_pass: 1, last_pass: 40, passes: 40, share, low, high };
        let said = |growth: Growth| grown("median write", &growth);
        assert_eq!(
            said(growth(-0.41, -0.59, -0.001)),
            "the median write takes 41 % less time at pass 40 than at pass 1 (0 to 59 %)"
        );
        assert_eq!(
            said(growth(0.12, 0.04, 0.2)),
            "the median write takes 12 % more time at pass 40 than at pass 1 (4 to 20 %)"
        );
    }
}
