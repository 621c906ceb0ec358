//! Frequency, heat and power of the machine.

use super::{Case, Check};
use crate::fact_names as names;
use crate::stack_view::{Facts, Missing};
use model::{Confidence, Evidence, Fact, LayerKind, Run};

/// `ondemand` that does not count I/O wait as load: processors stay slow while they wait for storage.
pub fn governor_ondemand(run: &Run) -> Check {
    let host = run.target.stack.first(LayerKind::Host);
    let from_host = host.and_then(|h| match h.fact(names::CPU_GOVERNORS) {
        Some(Fact::List(list)) => Some(list.clone()),
        _ => None,
    });
    let governors = from_host.unwrap_or_else(|| run.environment.governors.clone());
    if governors.is_empty() {
        // A machine without frequency scaling has none; a machine that does not tell looks the same.
        return Err(Missing(names::CPU_GOVERNORS));
    }
    if !governors.iter().any(|g| g == "ondemand") {
        return Ok(None);
    }
    let io_is_busy = host.ok_or(Missing(names::IO_IS_BUSY))?.need_bool(names::IO_IS_BUSY)?;
    if io_is_busy {
        return Ok(None);
    }
    let seen = Evidence::fact(names::CPU_GOVERNORS, governors, "scaling_governor");
    let busy = host.map(|h| h.evidence(names::IO_IS_BUSY));
    Ok(Some(Case::seen(std::iter::once(seen).chain(busy)).at_most(Confidence::Probable)))
}

/// Under-voltage or throttling, now or since boot, as the Raspberry Pi's firmware reports it.
pub fn raspberry_pi_throttled(run: &Run) -> Check {
    let host = run.target.stack.first(LayerKind::Host);
    let machine_name = run.environment.machine.as_deref();
    let fact = host.and_then(|h| h.int(names::RASPBERRY_PI_THROTTLED)).and_then(|v| u32::try_from(v).ok());
    let sampled = run.samples.iter().filter_map(|s| s.throttle.raspberry_pi_bits).reduce(|a, b| a | b);
    let bits = match (fact, sampled) {
        (None, None) => {
            // Only on such a board is the fact missing; elsewhere there is nothing to miss.
            return match machine_name {
                Some(name) if !name.contains("Raspberry Pi") => Ok(None),
                _ if run.target.stack.layers.is_empty() => Ok(None),
                _ => Err(Missing(names::RASPBERRY_PI_THROTTLED)),
            };
        }
        (a, b) => a.unwrap_or(0) | b.unwrap_or(0),
    };
    if bits == 0 {
        return Ok(None);
    }
    // Bits 0 to 3: now; 16 to 19: since boot, perhaps long before this run.
    let now = bits & 0xf != 0;
    let evidence = Evidence::fact("get_throttled", format!("{bits:#x}"), "raspberry_pi_throttled, system samples");
    Ok(Some(Case::seen([evidence]).at_most(if now { Confidence::High } else { Confidence::Low })))
}
