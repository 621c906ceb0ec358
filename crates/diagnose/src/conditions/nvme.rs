//! NVMe: power states, queues, and the slot of a Raspberry Pi 5.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk_of, exclude, require};
use crate::kernel_log::{self, LOG};
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Evidence, Work};

/// Power states with an exit latency, and reads at depth 1 whose slowest took far longer than their mean.
pub fn power_states(on: &Subject<'_>) -> Decision {
    /// Waking from a state that is worth its name takes milliseconds.
    const SPIKE_NS: f64 = 2e6;
    const OVER_MEAN: f64 = 20.0;
    any_disk_of(on, "nvme", |path| {
        exclude(path.disk.need_int(names::NVME_PS_MAX_LATENCY_US)? == 0)?;
        let read = |quantity| {
            let value = on.value_of_work(Work::RandomRead, quantity).ok_or(Missing(Work::RandomRead.latency()));
            value.map(|value| (value, on.metric_id_of_work(Work::RandomRead, quantity)))
        };
        let ((slowest, slowest_id), (mean, mean_id)) = (read("latency_ns_max")?, read("latency_ns_mean")?);
        exclude(slowest < SPIKE_NS || slowest < mean * OVER_MEAN)?;
        Ok(Match::observed([
            path.disk.evidence(names::NVME_PS_MAX_LATENCY_US),
            Evidence::measurement("slowest read at depth 1, ns", slowest, slowest_id),
            Evidence::measurement("mean of reads at depth 1, ns", mean, mean_id),
        ])
        // Garbage collection and error recovery of the drive look the same.
        .at_most(Confidence::Low))
    })
}

/// One I/O queue for several processors.
pub fn single_queue(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "nvme", |path| {
        require(path.disk.need_int(names::HARDWARE_QUEUES)? == 1)?;
        let processors = on.processors()?;
        require(processors > 1)?;
        Ok(Match::observed([
            path.disk.evidence(names::HARDWARE_QUEUES),
            Evidence::fact("processors", processors, "environment"),
        ]))
    })
}

/// PCIe 2.0 in a Raspberry Pi 5 under a drive that can do 3.0.
pub fn pi5_gen2(on: &Subject<'_>) -> Decision {
    const GEN2_GT_S: f64 = 5.0;
    const GEN3_GT_S: f64 = 8.0;
    any_disk_of(on, "nvme", |path| {
        let board = on.environment.machine.as_deref().ok_or(Missing("environment: machine"))?;
        require(board.starts_with("Raspberry Pi 5") || board.starts_with("Raspberry Pi Compute Module 5"))?;
        let link = path.need(names::PCIE_SPEED_GT_S)?;
        let speed = link.need_number(names::PCIE_SPEED_GT_S)?;
        let able = link.need_number(names::PCIE_MAX_SPEED_GT_S)?;
        exclude(speed > GEN2_GT_S || able < GEN3_GT_S || speed <= 0.0)?;
        // 8 of 10 bits carry data up to 5 GT/s, 128 of 130 above.
        let ratio = (GEN3_GT_S * 128.0 / 130.0) / (speed * 0.8);
        Ok(Match::observed([
            Evidence::fact("machine", board, "environment"),
            link.evidence(names::PCIE_SPEED_GT_S),
            link.evidence(names::PCIE_MAX_SPEED_GT_S),
            link.evidence(names::PCIE_WIDTH),
        ])
        .gain(
            &on.rate_id(Work::SequentialRead),
            Some(ratio),
            "line rate of one lane at 8 GT/s over the one in use",
        ))
    })
}

/// Links that go to sleep between transfers by policy.
pub fn aspm_powersave(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "nvme", |path| {
        let link = path.need(names::PCIE_ASPM_POLICY)?;
        let sleeps = matches!(link.need_text(names::PCIE_ASPM_POLICY)?, "powersave" | "powersupersave");
        let state = |name| path.holder(name).and_then(|l| l.bool(name));
        let states = [names::PCIE_ASPM_L0S, names::PCIE_ASPM_L1].map(state);
        // The policy says so, but this link has no such state.
        exclude(states.iter().all(|s| *s == Some(false)))?;
        require(sleeps)?;
        Ok(Match::observed([link.evidence(names::PCIE_ASPM_POLICY)]).at_most(Confidence::Probable))
    })
}

/// Errors of the PCIe link: counted by the device since boot, or reported in the kernel's log.
pub fn bus_errors(on: &Subject<'_>) -> Decision {
    /// A few corrected errors since boot are the usual; a link in trouble counts them by the hundred.
    const MANY: i64 = 100;
    any_disk_of(on, "nvme", |path| {
        let count = |name| path.holder(name).map(|l| (l.int(name).unwrap_or(0), l.evidence(name)));
        let (corrected, uncorrected) = (count(names::AER_CORRECTABLE), count(names::AER_UNCORRECTABLE));
        let many = corrected.as_ref().is_some_and(|c| c.0 >= MANY) || uncorrected.as_ref().is_some_and(|c| c.0 > 0);
        let counted = corrected.is_some() || uncorrected.is_some();
        let counts: Vec<Evidence> = [corrected, uncorrected].into_iter().flatten().map(|c| c.1).collect();
        // Messages name the device, or the port above it that noticed the error.
        let about: Vec<&str> = [names::PCI_ADDRESS, names::PCIE_NARROWEST]
            .iter()
            .filter_map(|n| path.holder(n).and_then(|l| l.text(n)))
            .collect();
        let lines = on.log_lines(&["PCIe Bus Error", "AER: "], &[]);
        let own = lines.iter().flatten().any(|l| about.iter().any(|a| l.contains(a)));
        let logged = lines.as_ref().and_then(|l| kernel_log::evidence(l));
        if many || (logged.is_some() && !counted) || own {
            let sure = if many || own { Confidence::High } else { Confidence::Low };
            return Ok(Match::observed(counts.into_iter().chain(logged)).at_most(sure));
        }
        Err(if counted || lines.is_some() { DoesNotHold } else { LOG.into() })
    })
}
