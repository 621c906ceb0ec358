//! Names of runs: `20261120T213000Z-7f3a9c21`. They sort by time, within a second too (simulated runs take less): the first
//! four of the last eight digits are the fraction of the second. The other four are random and keep machines apart.

/// The id of a run that starts at `utc` (`20261120T213000Z`) and `fraction` / 65536 seconds, with 16 random bits.
pub fn run_id(utc: &str, fraction: u16, random: u16) -> String {
    format!("{utc}-{fraction:04x}{random:04x}")
}

/// Whether `text` has the form of a run's id.
pub fn is_run_id(text: &str) -> bool {
    let b = text.as_bytes();
    b.len() == 25
        && b[..8].iter().all(u8::is_ascii_digit)
        && b[8] == b'T'
        && b[9..15].iter().all(u8::is_ascii_digit)
        && b[15] == b'Z'
        && b[16] == b'-'
        && b[17..].iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name of a run's directory while it is being written.
pub(crate) fn partial_name(id: &str) -> String {
    format!(".{id}.partial")
}

/// The id in the name of such a directory.
pub(crate) fn id_of_partial(name: &str) -> Option<&str> {
    name.strip_prefix('.')?.strip_suffix(".partial").filter(|id| is_run_id(id))
}

/// The name of a bundle that is being deleted.
pub(crate) fn deleted_name(id: &str) -> String {
    format!(".{id}.deleted")
}

/// Whether a directory is the rest of a deletion that was cut off.
pub(crate) fn is_deleted(name: &str) -> bool {
    name.strip_prefix('.').and_then(|n| n.strip_suffix(".deleted")).is_some_and(is_run_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_form() {
        let id = run_id("20261120T213000Z", 0x7f3a, 0x9c21);
        assert_eq!(id, "20261120T213000Z-7f3a9c21");
        assert!(is_run_id(&id));
        for wrong in [
            "",
            "latest",
            "../../etc/passwd",
            "20261120T213000Z-7F3A9C21",
            "20261120T213000Z-7f3a9c2",
            "é261120T213000Z-7f3a9c21",
        ] {
            assert!(!is_run_id(wrong), "{wrong}");
        }
        assert_eq!(id_of_partial(&partial_name(&id)), Some(id.as_str()));
        assert!(is_deleted(&deleted_name(&id)));
    }
}
