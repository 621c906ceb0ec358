//! What is random in a search: the order of its measurements, and which values are set together.

use model::random;

/// A seeded stream of numbers.
#[derive(Clone, Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`; draws that would favour small ones are thrown away.
    fn below(&mut self, bound: u64) -> u64 {
        let whole = u64::MAX - u64::MAX % bound;
        loop {
            let drawn = random::next(&mut self.0);
            if drawn < whole {
                return drawn % bound;
            }
        }
    }

    /// Puts a list into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            list.swap(last, other);
        }
    }

    /// A list in a random order with `extra` at random places of each of as many equal parts.
    pub fn spread<T: Clone>(&mut self, mut list: Vec<T>, extra: &T, times: usize) -> Vec<T> {
        self.shuffle(&mut list);
        let mut out = Vec::with_capacity(list.len() + times);
        for part in 0..times {
            let (from, to) = (part * list.len() / times, (part + 1) * list.len() / times);
            let at = out.len() + self.below((to - from) as u64 + 1) as usize;
            out.extend_from_slice(&list[from..to]);
            out.insert(at, extra.clone());
        }
        if times == 0 { list } else { out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spread_is_in_every_part() {
        let spread = Draw::new(3).spread((1..=40).collect(), &0, 10);
        assert_eq!(spread.len(), 50);
        assert!(spread.chunks(5).all(|part| part.iter().filter(|n| **n == 0).count() == 1), "{spread:?}");
        let mut sorted = spread.clone();
        sorted.sort_unstable();
        assert_eq!(sorted[10..], (1..=40).collect::<Vec<_>>());
        assert_eq!(Draw::new(3).spread((1..=40).collect(), &0, 10), spread);
        assert_eq!(Draw::new(1).spread(vec![7], &0, 3).len(), 4);
    }
}
