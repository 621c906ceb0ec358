//! Settings that are of use only together: who tries values of one sets the others with it.

/// Dirty memory has two limits, each under two names of which the kernel clears one when the other is written
/// (k:Documentation/admin-guide/sysctl/vm.rst): of the four, bytes lead, as they mean the same on every machine.
const DIRTY_BYTES: &str = "dirty-bytes";
const DIRTY_BACKGROUND_BYTES: &str = "dirty-background-bytes";
const WITH_DIRTY_BYTES: [&str; 3] = [DIRTY_BACKGROUND_BYTES, "dirty-ratio", "dirty-background-ratio"];

/// The setting with which this one is set; `None` for one that is set for itself.
pub fn leader_of(name: &str) -> Option<&'static str> {
    WITH_DIRTY_BYTES.contains(&name).then_some(DIRTY_BYTES)
}

/// What is set when a setting gets a value: the setting, and what belongs to it.
pub fn set_with(name: &'static str, value: &str) -> Vec<(&'static str, String)> {
    let mut all = vec![(name, value.to_owned())];
    // Write-back has to begin well before writers wait.
    if let Some(bytes) = value.parse::<u64>().ok().filter(|_| name == DIRTY_BYTES) {
        all.push((DIRTY_BACKGROUND_BYTES, (bytes / 2).to_string()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunable::Tunable;

    #[test]
    fn write_back_begins_at_half_of_what_writers_wait_for() {
        let all = set_with("dirty-bytes", "16777216");
        assert_eq!(all, [("dirty-bytes", "16777216".to_owned()), ("dirty-background-bytes", "8388608".to_owned())]);
        assert_eq!(set_with("read-ahead", "128"), [("read-ahead", "128".to_owned())]);
        assert_eq!((leader_of("dirty-ratio"), leader_of("dirty-bytes")), (Some("dirty-bytes"), None));
    }

    #[test]
    fn all_of_them_are_settings() {
        for name in [&WITH_DIRTY_BYTES[..], &[DIRTY_BYTES]].concat() {
            assert!(Tunable::named(name).is_ok(), "{name}");
        }
    }
}
