//! Frequency, heat and power of the machine.

use super::{Decision, Match, NoCase::DoesNotHold, exclude, require};
use crate::machine;
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Evidence, Fact, LayerKind};

/// `ondemand` that does not count I/O wait as load: processors stay slow while they wait for storage.
pub fn governor_ondemand(on: &Subject<'_>) -> Decision {
    let host = on.stack.first(LayerKind::Host);
    let from_host = host.and_then(|h| match h.fact(names::CPU_GOVERNORS) {
        Some(Fact::List(list)) => Some(list.clone()),
        _ => None,
    });
    let governors = from_host.unwrap_or_else(|| on.environment.governors.clone());
    if governors.is_empty() {
        // A machine without frequency scaling has none; a machine that does not tell looks the same.
        return Err(Missing(names::CPU_GOVERNORS).into());
    }
    require(governors.iter().any(|g| g == "ondemand"))?;
    exclude(host.ok_or(Missing(names::IO_IS_BUSY))?.need_bool(names::IO_IS_BUSY)?)?;
    let seen = Evidence::fact(names::CPU_GOVERNORS, governors, "scaling_governor");
    let busy = host.map(|h| h.evidence(names::IO_IS_BUSY));
    Ok(Match::observed(std::iter::once(seen).chain(busy)).at_most(Confidence::Probable))
}

/// Under-voltage or throttling, now or since boot, as the Raspberry Pi's firmware reports it.
pub fn raspberry_pi_throttled(on: &Subject<'_>) -> Decision {
    let host = on.stack.first(LayerKind::Host);
    let machine_name = on.environment.machine.as_deref();
    let fact = host.and_then(|h| h.int(names::RASPBERRY_PI_THROTTLED)).and_then(|v| u32::try_from(v).ok());
    let sampled = on.samples().iter().filter_map(|s| s.throttle.raspberry_pi_bits).reduce(|a, b| a | b);
    let bits = match (fact, sampled) {
        (None, None) => {
            // Only on such a board is the fact missing; elsewhere there is nothing to miss.
            let architecture = host.and_then(|h| h.text(names::ARCHITECTURE));
            exclude(architecture.is_some_and(|a| !a.starts_with("arm") && !a.starts_with("aarch64")))?;
            return match machine_name {
                Some(name) if !name.contains("Raspberry Pi") => Err(DoesNotHold),
                _ if on.stack.layers.is_empty() => Err(DoesNotHold),
                _ => Err(Missing(names::RASPBERRY_PI_THROTTLED).into()),
            };
        }
        (a, b) => a.unwrap_or(0) | b.unwrap_or(0),
    };
    exclude(bits == 0)?;
    // Bits 0 to 3: now; 16 to 19: since boot, perhaps long before this run.
    let now = bits & 0xf != 0;
    let evidence = Evidence::fact("get_throttled", format!("{bits:#x}"), "raspberry_pi_throttled, system samples");
    Ok(Match::observed([evidence]).at_most(if now { Confidence::High } else { Confidence::Low }))
}

/// A policy that holds the frequency below what the processor can do.
pub fn frequency_capped(on: &Subject<'_>) -> Decision {
    const WELL_BELOW: f64 = 0.95;
    let host = on.stack.first(LayerKind::Host).ok_or(Missing(names::CPU_MAX_KHZ))?;
    let most = host.need_number(names::CPU_MAX_KHZ)?;
    let limit = host.need_number(names::CPU_LIMIT_KHZ)?;
    exclude(limit <= 0.0 || limit >= most * WELL_BELOW)?;
    Ok(Match::observed([host.evidence(names::CPU_LIMIT_KHZ), host.evidence(names::CPU_MAX_KHZ)]))
}

/// A clock that is read from a device instead of from the processor.
pub fn slow_clock_source(on: &Subject<'_>) -> Decision {
    let source = on.environment.clock_source.as_deref().ok_or(Missing("environment: clock source"))?;
    require(matches!(source, "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies"))?;
    Ok(Match::observed([Evidence::fact("clock source", source, "environment")]).at_most(Confidence::Probable))
}

/// io_uring forbidden to this process, so that threads stand in for a queue.
pub fn io_uring_off(on: &Subject<'_>) -> Decision {
    // Kernels before 6.6 have no such switch: what they lack, the engine's record says.
    let switch = on.environment.io_uring_disabled.ok_or(DoesNotHold)?;
    require(switch >= 2 || (switch == 1 && on.environment.root == Some(false)))?;
    Ok(Match::observed([Evidence::fact("kernel.io_uring_disabled", switch, "environment")]))
}

/// Thermal throttle events of an x86 processor while phases ran.
pub fn processor_throttled(on: &Subject<'_>) -> Decision {
    let x86 = on.environment.architecture.as_deref().is_none_or(|a| a.starts_with("x86") || a.starts_with("i686"));
    require(x86)?;
    let events = |s: &model::SystemSample| s.throttle.x86_throttle_events;
    let (first, last) = match (on.samples().iter().find_map(events), on.samples().iter().rev().find_map(events)) {
        (Some(first), Some(last)) if on.samples().len() > 1 => (first, last),
        // A guest has no such counters, and what throttles its host is the host's affair.
        _ if on.environment.virtualization.as_deref().is_some_and(|v| v != "none") => return Err(DoesNotHold),
        _ => return Err(Missing("system samples").into()),
    };
    exclude(last <= first)?;
    let count = Evidence::fact("thermal throttle events", last - first, "thermal_throttle/*_throttle_count");
    // The counts of a laptop rise under any load: without a lower rate they are a hint.
    Ok(Match::observed([count]).at_most(Confidence::Low))
}

/// One processor that takes all interrupts, and is busy with them.
pub fn interrupts_on_one_processor(on: &Subject<'_>) -> Decision {
    const NEARLY_ALL: f64 = 0.9;
    /// Share of the processor's time in interrupts from which they are worth spreading.
    const BUSY: f64 = 0.3;
    const COUNTS: Missing = Missing("interrupts_by_cpu");
    let mut looked = false;
    for (phase, _) in on.executed() {
        let samples = on.samples_of(phase);
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else { continue };
        if first.interrupts_by_cpu.len() != last.interrupts_by_cpu.len() {
            continue;
        }
        let counts = first.interrupts_by_cpu.iter().zip(&last.interrupts_by_cpu).map(|(a, b)| b.saturating_sub(*a));
        let counts: Vec<u64> = counts.collect();
        let total: u64 = counts.iter().sum();
        if counts.is_empty() || total == 0 {
            continue;
        }
        looked = true;
        let Some((processor, most)) = counts.iter().enumerate().max_by_key(|(_, n)| **n) else { continue };
        let Some(cpus) = on.measured(|run| machine::cpus_during(run, phase)) else { continue };
        let share = *most as f64 / total as f64;
        if counts.len() > 1 && share >= NEARLY_ALL && cpus.busiest == processor && cpus.share.irq >= BUSY {
            let source = format!("{} /proc/interrupts, /proc/stat", phase.plan.name);
            return Ok(Match::observed([
                Evidence::measured("share of interrupts on one processor", share, source.clone()),
                Evidence::fact("processor", processor as u64, source.clone()),
                Evidence::measured("share of its time in interrupts", cpus.share.irq, source),
            ])
            .at_most(Confidence::Probable));
        }
    }
    Err(if looked { DoesNotHold } else { COUNTS.into() })
}

/// A control group that gives this process less processor time than the machine has.
pub fn processor_quota(on: &Subject<'_>) -> Decision {
    let host = on.stack.first(LayerKind::Host).ok_or(Missing("processors"))?;
    // Absent without a quota.
    let quota = host.need_number(names::CGROUP_CPU_PROCESSORS).map_err(|_| DoesNotHold)?;
    let processors = on.processors()?;
    exclude(quota >= f64::from(processors))?;
    let all = Evidence::fact("processors", processors, "environment");
    Ok(Match::observed([host.evidence(names::CGROUP_CPU_PROCESSORS), all]))
}
