//! A file of /sys or /proc/sys that holds one value.

/// A value as it would be written: of `none [mq-deadline] kyber` the one in brackets, which is the one in force.
///
/// # Errors
/// That the file cannot be read, and why.
pub fn read_value(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path} cannot be read: {e}"))?;
    let chosen = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    Ok(chosen.map_or_else(|| text.trim().to_owned(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_in_force_is_the_one_in_brackets() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        for (text, value) in [("none [mq-deadline] kyber\n", "mq-deadline"), ("128\n", "128"), ("", "")] {
            std::fs::write(path, text).unwrap();
            assert_eq!(read_value(path).unwrap(), value);
        }
    }
}
