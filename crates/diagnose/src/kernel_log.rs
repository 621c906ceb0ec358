//! Lines of the kernel's log as evidence.
//!
//! Finding a line proves that it was written; not finding one proves little: the log of a run covers only the run.

use crate::guard::require;
use crate::stack_view::Missing;
use model::facts as names;
use model::{Evidence, Fact, LayerKind, Stack};

/// A log could be read, and this is what was missing if not.
pub const LOG: Missing = Missing("kernel log");

/// Lines that contain one of the `needles` and, where `of` is not empty, one of the names in it. `log` is that of the
/// run or since boot, and beside it stands what an inventory kept of the kernel's messages about storage; `None` if neither could be read.
pub fn lines<'a>(stack: &'a Stack, log: Option<&'a [String]>, needles: &[&str], of: &[&str]) -> Option<Vec<&'a str>> {
    let host = stack.first(LayerKind::Host);
    let kept = match host.and_then(|h| h.fact(names::KERNEL_LOG_STORAGE)) {
        Some(Fact::List(lines)) => Some(lines),
        _ => None,
    };
    require(log.is_some() || kept.is_some())?;
    let about = |line: &str| of.is_empty() || of.iter().any(|name| has_name(line, name));
    let mut found: Vec<&str> = Vec::new();
    for line in log.into_iter().chain(kept.map(Vec::as_slice)).flatten() {
        if needles.iter().any(|n| line.contains(n)) && about(line) && !found.contains(&line.as_str()) {
            found.push(line);
        }
    }
    Some(found)
}

/// Whether a line has the name as a whole word: `mmc1` is not in `mmc10: error`, `2-1` not in `2-1.4`.
fn has_name(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let mut after = line[at + name.len()..].chars();
        let part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        let next = after.next();
        // A dot continues `2-1` to `2-1.4`, and may end a sentence.
        let continued = part(next) || (next == Some('.') && part(after.next()));
        !part(before) && !continued
    })
}

/// The first line and how many there are.
pub fn evidence(lines: &[&str]) -> Option<Evidence> {
    const LONGEST: usize = 200;
    let first = lines.first()?;
    let text: String = first.chars().take(LONGEST).collect();
    let what =
        if lines.len() == 1 { "kernel message".to_owned() } else { format!("kernel message, {} times", lines.len()) };
    Some(Evidence::fact(what, text, "kernel log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words() {
        assert!(has_name("[ 1.0] mmc1: running CQE recovery", "mmc1"));
        assert!(!has_name("[ 1.0] mmc10: running CQE recovery", "mmc1"));
        assert!(has_name("usb 2-1: UAS is ignored", "2-1"));
        assert!(!has_name("usb 2-1.4: UAS is ignored", "2-1"));
        assert!(has_name("sd 0:0:0:0: [sda] tag#11 uas_eh_abort_handler", "sda"));
        assert!(has_name("ende mmc1.", "mmc1"));
        assert!(!has_name("", "mmc1"));
    }
}
