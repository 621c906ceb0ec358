//! What else is counted of a path between two looks.

use crate::{NS_PER_S, SystemSample, path_counter_value};
use serde::Serialize;

/// A counter of [`crate::path_counter`] between two samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathActivity {
    /// Its name there.
    pub counter: String,
    pub per_s: f64,
}

/// The counters that grew, in the order of the later sample. One that fell, or was not there before, says nothing.
pub(super) fn path_activity(before: &SystemSample, after: &SystemSample) -> Vec<PathActivity> {
    let elapsed_s = after.at_ns.saturating_sub(before.at_ns) as f64 / NS_PER_S as f64;
    if elapsed_s <= 0.0 {
        return Vec::new();
    }
    let grew = after.path.iter().filter_map(|now| {
        let by = now.value.checked_sub(path_counter_value(&before.path, &now.name)?).filter(|by| *by > 0)?;
        Some(PathActivity { counter: now.name.clone(), per_s: by as f64 / elapsed_s })
    });
    grew.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathCounter;

    #[test]
    fn what_grew_between_two_looks() {
        let at = |seconds: u64, counters: &[(&str, u64)]| SystemSample {
            at_ns: seconds * NS_PER_S,
            path: counters.iter().map(|(name, value)| PathCounter { name: (*name).into(), value: *value }).collect(),
            ..SystemSample::default()
        };
        let seen =
            path_activity(&at(1, &[("a", 5), ("b", 9), ("c", 1)]), &at(3, &[("a", 25), ("b", 2), ("c", 1), ("d", 7)]));
        assert_eq!(seen, [PathActivity { counter: "a".into(), per_s: 10.0 }]);
    }
}
