//! Which settings of the machine, by the names that `settings list` has, what is concluded of a run is about.

use crate::causes::causes;
use crate::inventory::findings;
use model::{Run, Step};

/// A finding, and the setting that is its fix.
const OF_FINDINGS: [(&str, &str); 15] = [
    ("read-ahead-small", "read-ahead"),
    ("max-sectors-below-hardware", "request-size"),
    ("split-requests", "request-size"),
    ("merging-off", "merges"),
    ("bfq-on-nvme", "scheduler"),
    ("writeback-throttled", "write-throttling"),
    ("no-ncq", "queue-depth"),
    ("write-through-cache", "cache"),
    ("link-power-management", "link-power"),
    ("raid5-stripe-cache", "md-stripes"),
    ("aspm-powersave", "pcie-power"),
    ("interrupts-on-one-processor", "interrupt-cpu"),
    ("cpu-governor-ondemand", "governor"),
    ("cpu-frequency-capped", "governor"),
    ("nvme-power-states", "nvme-power"),
];

/// The setting that a step changes.
fn of_step(step: &Step) -> Option<&'static str> {
    Some(match step {
        Step::MoreReadAhead | Step::TryReadAhead => "read-ahead",
        Step::LongerQueue => "requests",
        Step::RaiseMaxSectors => "request-size",
        Step::SpreadInterrupts => "interrupt-cpu",
        Step::SchedulerForReads => "scheduler",
        Step::ThrottleWriteback => "write-throttling",
        Step::LessDirtyMemory => "dirty-bytes",
        _ => return None,
    })
}

/// What causes and findings of a run say to change, the most telling first, each once.
pub fn suggested_settings(run: &Run) -> Vec<&'static str> {
    let mut out = Vec::new();
    let causes = causes(run);
    let of_causes = causes.iter().filter_map(|cause| of_step(&cause.next_step.as_ref()?.step));
    let found = findings(run);
    let of_finding = |id: &str| OF_FINDINGS.iter().find(|(finding, _)| *finding == id).map(|(_, setting)| *setting);
    let of_findings = found.iter().filter_map(|finding| of_finding(&finding.id));
    for name in of_causes.chain(of_findings) {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_is_one_of_the_catalogue() {
        for (finding, _) in OF_FINDINGS {
            assert!(crate::page(finding).is_some(), "{finding}");
        }
        assert_eq!(of_step(&Step::TryReadAhead), Some("read-ahead"));
        assert_eq!(of_step(&Step::FasterLink), None);
    }
}
