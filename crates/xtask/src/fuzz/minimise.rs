//! Makes an input smaller as long as it still does what it did: whole parts first, then lines, then bytes.

use std::time::{Duration, Instant};

/// The smallest input that was found in the time; `still` says whether one does it too.
pub fn smaller(
    input: &[u8],
    time: Duration,
    mut still: impl FnMut(&[u8]) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<u8>> {
    let begun = Instant::now();
    let mut best = input.to_vec();
    if !still(&best)? {
        // It takes what came before: as it is, it is all there is.
        return Ok(best);
    }
    let mut length = best.len().div_ceil(2);
    while length > 0 {
        let mut at = 0;
        while at < best.len() {
            if begun.elapsed() >= time {
                return Ok(best);
            }
            let end = (at + length).min(best.len());
            let candidate = [&best[..at], &best[end..]].concat();
            if still(&candidate)? {
                best = candidate;
            } else {
                at = end;
            }
        }
        length /= 2;
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_stays() {
        let input = format!("{}needle{}", "x".repeat(500), "y".repeat(300));
        let has = |c: &[u8]| Ok(String::from_utf8_lossy(c).contains("needle"));
        assert_eq!(smaller(input.as_bytes(), Duration::from_secs(60), has).unwrap(), b"needle");
        assert_eq!(smaller(b"ab", Duration::from_secs(60), |_| Ok(false)).unwrap(), b"ab");
    }
}
