//! What dm-integrity counts.

use crate::block_devices::parse_device;
use crate::read_error::ReadError;
use crate::root::Root;
use std::fs::OpenOptions;

/// Sectors whose tag did not fit, of all dm-integrity targets of a mapping (Documentation/admin-guide/device-mapper/dm-integrity.rst,
/// "Status line"); `None` where there is none, or it may not be asked.
pub(crate) fn integrity_mismatches(root: &Root, name: &str, directory: &str, asked: bool) -> Option<u64> {
    let answer = format!("health/{name}.targets");
    if !(root.has_answer(&answer) || root.is_live() && asked) {
        return None;
    }
    let text = root.answer(&answer, || {
        let id = root.text(&format!("{directory}/dev")).as_deref().and_then(parse_device).ok_or(ReadError::Missing)?;
        let control = OpenOptions::new().read(true).write(true).open("/dev/mapper/control")?;
        let targets = sys::dm_table_status(&control, (id.major, id.minor))?;
        Ok(targets.iter().map(|t| format!("{} {}\n", t.kind, t.text)).collect::<String>().into_bytes())
    });
    of_targets(&String::from_utf8_lossy(&text.ok()?))
}

fn of_targets(text: &str) -> Option<u64> {
    text.lines()
        .filter_map(|line| line.strip_prefix("integrity ")?.split_whitespace().next()?.parse::<u64>().ok())
        .reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_counts() {
        assert_eq!(of_targets("linear \nintegrity 3 2032 -\nintegrity 1 100 64\n"), Some(4));
        assert_eq!(of_targets("integrity 0 2032 -\n"), Some(0));
        assert_eq!((of_targets("linear \n"), of_targets("integrity x\n")), (None, None));
    }
}
