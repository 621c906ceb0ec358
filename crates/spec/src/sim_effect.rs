//! Parameters of a simulated device that would do nothing, and faults that could never come: both are refused.

use model::{SimModel, SimThrottle};

/// What was given: names and values.
type Parameters<'a> = &'a [(String, String)];

fn is_given(given: Parameters<'_>, name: &str) -> bool {
    given.iter().any(|(key, _)| key == name)
}

fn stays_fast(throttle: Option<SimThrottle>) -> bool {
    throttle.is_some_and(|t| t.factor >= 1.0)
}

/// Parameters, when they have no effect, and why they have none then.
type Row = (&'static [&'static str], fn(&SimModel, Parameters<'_>) -> bool, &'static str);

const WITHOUT_EFFECT: &[Row] = &[
    (&["read-overhead"], |_, given| is_given(given, "read-points"), "read-points say how long reads take"),
    (
        &["write-overhead"],
        |_, given| is_given(given, "write-points"),
        "write-points say how long sequential writes take",
    ),
    (
        &["random-write-overhead"],
        |_, given| is_given(given, "random-write-points"),
        "random-write-points say how long random writes take",
    ),
    (
        &["erase-block", "open-streams"],
        |m, _| m.media.random_write.is_none() && m.media.erase_penalty_ns == 0,
        "random writes take this device no longer than sequential ones; random-write-overhead, random-write-points or \
         erase-penalty change that",
    ),
    (&["cache-drain", "cache-volatile"], |m, _| m.media.cache.is_none(), "there is no write cache (cache=0)"),
    (&["cap-visible"], |m, _| m.cap.is_none_or(|c| c.operations_per_s.or(c.bytes_per_s).is_none()), NO_CAP),
    (&["throttle-start", "throttle-ramp"], |m, _| stays_fast(m.throttle), "throttle-factor=1 is full speed"),
    (
        &["cpu-throttle-start", "cpu-throttle-ramp"],
        |m, _| stays_fast(m.cpu_throttle),
        "cpu-throttle-factor=1 is full speed",
    ),
    (&["stall-period"], |m, _| m.stalls.is_some_and(|s| s.duration_ns == 0), "stall-duration=0 is not a stall"),
    (
        &["irq-share"],
        |m, _| m.host.cpu_per_command_ns == 0 && m.host.cpu_ps_per_byte == 0,
        "commands cost no CPU time (cpu-per-command=0, cpu-ps-per-byte=0)",
    ),
    (&["eio-start"], |m, _| m.faults.eio_bytes == 0, "eio-length says how long the range is that fails"),
    (&["data-fault-at"], |m, _| m.faults.data.is_none(), "data-fault says what happens to the data"),
    (&["eio-start"], |m, _| m.faults.eio_start_bytes >= m.media.capacity_bytes, BEYOND),
    (&["wraps-at"], |m, _| beyond(m, m.faults.wraps_at_bytes), BEYOND),
    (&["limbo-from"], |m, _| beyond(m, m.faults.limbo_from_bytes), BEYOND),
    (
        &["limbo-from"],
        |m, _| m.faults.wraps_at_bytes.is_some_and(|wraps| m.faults.limbo_from_bytes.is_some_and(|from| from >= wraps)),
        "from wraps-at on all leads back to the start",
    ),
];

const NO_CAP: &str = "nothing is capped; cap-iops or cap-rate does that";
const BEYOND: &str = "the device ends before it (capacity)";

fn beyond(m: &SimModel, place: Option<u64>) -> bool {
    place.is_some_and(|place| place >= m.media.capacity_bytes)
}

/// What of what was given has no effect on the model that came of it, and why.
pub(crate) fn without_effect(model: &SimModel, given: Parameters<'_>) -> Option<String> {
    let rows = WITHOUT_EFFECT.iter().flat_map(|(keys, idle, why)| keys.iter().map(move |key| (*key, idle, *why)));
    rows.filter(|(_, idle, _)| idle(model, given)).find_map(|(name, _, why)| {
        let (key, value) = given.iter().find(|(key, _)| key == name)?;
        Some(format!("{key}={value} has no effect: {why}"))
    })
}

/// What is given last: points, since the CPU cost that is taken out of them may itself be given, and the size of the cache, since a
/// device without one has no other parameter of it.
pub(crate) fn comes_last(key: &str) -> bool {
    key.ends_with("-points") || key == "cache"
}
