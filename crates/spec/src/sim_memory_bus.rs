//! `sim:bus[,key=value...]`: a simulated bus with memory behind it.

use crate::keys::{Key, keys};
use crate::sim::{SimSpecError, pairs, set};
use crate::values::{self, bytes, positive};
use model::SimMemoryBus;

/// The most that a simulated transaction or call takes: a second.
const LONGEST_NS: u64 = 1_000_000_000;

/// Every parameter of `sim:bus`.
pub fn sim_bus_keys() -> &'static [Key<SimMemoryBus>] {
    SIM_BUS_KEYS
}

fn width(text: &str) -> Result<u32, String> {
    let bits: u32 = positive(text)?;
    let possible = bits.is_power_of_two() && (8..=512).contains(&bits);
    possible.then_some(bits / 8).ok_or_else(|| format!("{bits} bits are not a bus"))
}

fn time(text: &str) -> Result<f64, String> {
    let ns = values::time(text)?;
    if ns <= LONGEST_NS { Ok(ns as f64) } else { Err("longer than a second".to_owned()) }
}

keys! {
    SIM_BUS_KEYS of SimMemoryBus:
    "width", "bits, a power of two from 8 to 512", |b, t| b.width_bytes = width(t)?, "Width of the bus: an access of at most that width is one transaction, a wider one several.";
    "wait", "a time such as 100ns", |b, t| b.wait_ns = Some(time(t)?).filter(|ns| *ns > 0.0).ok_or("a transaction takes time")?, "Time of a transaction.";
    "rate", "bytes per second such as 66MB", |b, t| b.bytes_per_s = bytes(t.strip_suffix("/s").unwrap_or(t))?, "Rate of the data beside that; 0: they take no time of their own.";
    "kernel", "bits, a power of two from 8 to 512", |b, t| b.kernel_width_bytes = width(t)?, "Width of the accesses by which the simulated kernel copies in a call.";
    "call", "a time such as 1us", |b, t| b.call_ns = time(t)?, "Time of a call beside its copy.";
    "size", "a size such as 1MiB", |b, t| b.bytes = Some(bytes(t)?).filter(|n| (4096..=1 << 40).contains(n)).ok_or("a size from 4 KiB to 1 TiB")?, "Bytes behind the bus.";
    "fault", "an offset such as 64KiB", |b, t| b.fault_at = bytes(t)?, "From this offset on the bus does not answer; 0: it always does.";
}

/// Reads `sim:bus[,key=value...]`; `None` where the text names another simulated device.
///
/// # Errors
/// What is wrong with it.
pub fn parse_sim_bus(text: &str) -> Option<Result<SimMemoryBus, SimSpecError>> {
    let rest = text.strip_prefix("sim:bus").filter(|rest| rest.is_empty() || rest.starts_with(','))?;
    let mut bus = SimMemoryBus { name: text.to_owned(), ..SimMemoryBus::default() };
    let given = pairs("bus", rest);
    let read = given.and_then(|given| given.iter().try_for_each(|pair| set(&mut bus, sim_bus_keys(), "bus", pair)));
    let reached = |bus: SimMemoryBus| {
        let never = bus.fault_at >= bus.bytes;
        let what = || format!("fault={} has no effect: the region ends before it (size)", bus.fault_at);
        if never { Err(SimSpecError::of("bus", what())) } else { Ok(bus) }
    };
    Some(read.and_then(|()| reached(bus)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_is_read_and_what_is_none_is_refused() {
        let bus = parse_sim_bus("sim:bus,width=32,wait=150ns,kernel=8,rate=66MB/s").unwrap().unwrap();
        assert_eq!((bus.width_bytes, bus.wait_ns, bus.kernel_width_bytes, bus.bytes_per_s), (4, 150.0, 1, 66_000_000));
        assert_eq!(parse_sim_bus("sim:bus").unwrap().unwrap(), SimMemoryBus::default());
        assert_eq!(parse_sim_bus("sim:nvme"), None);
        assert_eq!(parse_sim_bus("sim:busy"), None);
        for wrong in [
            "width=7",
            "width=0",
            "width=1024",
            "wait=0ns",
            "wait=1h",
            "size=9223372036854775808",
            "widht=8",
            "width",
            "fault=1MiB",
            "wait=1us,wait=2us",
        ] {
            assert!(parse_sim_bus(&format!("sim:bus,{wrong}")).unwrap().is_err(), "{wrong}");
        }
    }
}
