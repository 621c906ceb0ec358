//! How large the measured region is: a rung of a fixed ladder, so that runs can be compared.

use model::{NS_PER_S, TargetSize, bytes_text};

/// The rungs: 64 MiB, 256 MiB, 1 GiB, 4 GiB.
const LADDER_BYTES: [u64; 4] = [64 << 20, 256 << 20, 1 << 30, 4 << 30];

/// Below this nothing useful can be measured: one operation of the sequential phases.
pub(crate) const MIN_BYTES: u64 = 1 << 20;

/// The largest rung that the target holds and that layout can write within its time; whole MiB below the first rung.
/// `None` if the target does not hold one MiB. Of a target that offers `max_bytes`, written at the rate of a short probe
/// (`None` where nothing has to be written first) in the time that layout may take.
pub(crate) fn choose_size(max_bytes: u64, write_bytes_per_s: Option<f64>, layout_ns: u64) -> Option<TargetSize> {
    if max_bytes < MIN_BYTES {
        return None;
    }
    let affordable = write_bytes_per_s.map_or(u64::MAX, |rate| (rate * layout_ns as f64 / NS_PER_S as f64) as u64);
    let rungs = || LADDER_BYTES.into_iter();
    let Some(first) = rungs().find(|r| *r <= max_bytes) else {
        let bytes = max_bytes & !(MIN_BYTES - 1);
        return Some(TargetSize { bytes, reason: format!("all {} that the target offers", bytes_text(bytes)) });
    };
    let bytes = rungs().rfind(|r| *r <= max_bytes && *r <= affordable).unwrap_or(first);
    let why = match rungs().find(|r| *r > bytes) {
        _ if bytes > affordable => ", the smallest; layout may not finish in time".to_owned(),
        Some(next) if next > max_bytes => format!(": the target offers less than {}", bytes_text(next)),
        Some(next) => format!(": {} would take longer than layout may", bytes_text(next)),
        None => ", the largest".to_owned(),
    };
    Some(TargetSize { bytes, reason: format!("{} rung{why}", bytes_text(bytes)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(max_bytes: u64, rate: Option<f64>) -> Option<u64> {
        choose_size(max_bytes, rate, 12 * NS_PER_S).map(|s| s.bytes)
    }

    #[test]
    fn the_rung_follows_space_and_rate() {
        assert_eq!(choose(1 << 40, Some(2e9)), Some(4 << 30));
        assert_eq!(choose(1 << 40, Some(60e6)), Some(256 << 20));
        assert_eq!(choose(1 << 40, Some(1e6)), Some(64 << 20), "the smallest rung is tried even if it is slow");
        assert_eq!(choose(2 << 30, Some(2e9)), Some(1 << 30));
        assert_eq!(choose((10 << 20) + 5, Some(2e9)), Some(10 << 20));
        assert_eq!(choose(8, Some(2e9)), None);
        assert_eq!(choose(1 << 40, None), Some(4 << 30));
    }
}
