//! How large the measured region is: a rung of a fixed ladder, so that runs can be compared.

use model::{NS_PER_S, TargetSize};

/// The rungs: 64 MiB, 256 MiB, 1 GiB, 4 GiB.
pub const LADDER_BYTES: [u64; 4] = [64 << 20, 256 << 20, 1 << 30, 4 << 30];

/// Below this nothing useful can be measured: one operation of the sequential phases.
pub(crate) const LEAST_BYTES: u64 = 1 << 20;

/// What decides the size.
#[derive(Clone, Copy, Debug)]
pub struct SizeInputs {
    /// The most that the target offers: the file's size, or the space that may be used.
    pub max_bytes: u64,
    /// Sequential write rate of a short probe; `None` where nothing has to be written first.
    pub write_bytes_per_s: Option<f64>,
    /// Time that layout may take.
    pub layout_ns: u64,
}

fn text(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 && b.is_multiple_of(1 << 30) => format!("{} GiB", b >> 30),
        b => format!("{} MiB", b >> 20),
    }
}

/// The largest rung that the target holds and that layout can write within its time; whole MiB below the first rung.
/// `None` if the target does not hold one MiB.
pub fn choose_size(inputs: SizeInputs) -> Option<TargetSize> {
    if inputs.max_bytes < LEAST_BYTES {
        return None;
    }
    let affordable = inputs
        .write_bytes_per_s
        .map(|rate| (rate * inputs.layout_ns as f64 / NS_PER_S as f64) as u64)
        .unwrap_or(u64::MAX);
    let Some(&first) = LADDER_BYTES.iter().find(|&&r| r <= inputs.max_bytes) else {
        let bytes = inputs.max_bytes & !(LEAST_BYTES - 1);
        return Some(TargetSize { bytes, reason: format!("all {} that the target offers", text(bytes)) });
    };
    let chosen = LADDER_BYTES.iter().copied().rfind(|&r| r <= inputs.max_bytes && r <= affordable).unwrap_or(first);
    let next = LADDER_BYTES.iter().copied().find(|&r| r > chosen);
    let reason = match next {
        _ if chosen > affordable => format!("{} rung, the smallest; layout may not finish in time", text(chosen)),
        Some(next) if next > inputs.max_bytes => {
            format!("{} rung: the target offers less than {}", text(chosen), text(next))
        }
        Some(next) => format!("{} rung: {} would take longer than layout may", text(chosen), text(next)),
        None => format!("{} rung, the largest", text(chosen)),
    };
    Some(TargetSize { bytes: chosen, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(max_bytes: u64, rate: Option<f64>) -> Option<u64> {
        choose_size(SizeInputs { max_bytes, write_bytes_per_s: rate, layout_ns: 12 * NS_PER_S }).map(|s| s.bytes)
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
