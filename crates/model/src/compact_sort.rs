//! Sorting what is short, with one copy of the algorithm in the program.
//!
//! The standard library's stable sort is 4 KB of machine code for each type that is sorted (core/src/slice/sort/stable), a
//! third of a megabyte for the lists of this program, which have a few dozen elements. What may have millions (`spec/src/trace.rs`) keeps it.

use std::cmp::Ordering;

/// Stable sorts of a slice, O(n log n), with n words of memory beside it.
pub trait CompactSort<T> {
    fn compact_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    fn compact_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.compact_sort_by(|a, b| key(a).cmp(&key(b)));
    }
}

impl<T> CompactSort<T> for [T] {
    fn compact_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order = stable_order(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        // Each cycle of the permutation, from its first place on.
        for first in 0..order.len() {
            let mut at = first;
            while order[at] != first {
                let from = std::mem::replace(&mut order[at], at);
                self.swap(at, from);
                at = from;
            }
            order[at] = at;
        }
    }
}

/// Which element belongs at each place.
fn stable_order(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn it_is_the_stable_sort_of_the_standard_library() {
        let mut state = 7;
        for len in (0..40).chain([1000]) {
            let mut ours: Vec<(u64, usize)> = (0..len).map(|i| (random::next(&mut state) % 5, i)).collect();
            let mut theirs = ours.clone();
            ours.compact_sort_by_key(|(key, _)| *key);
            theirs.sort_by_key(|(key, _)| *key);
            assert_eq!(ours, theirs);
            ours.compact_sort_by(|a, b| b.0.cmp(&a.0));
            theirs.sort_by_key(|a| std::cmp::Reverse(a.0));
            assert_eq!(ours, theirs);
        }
    }
}
