//! Values of options that are sizes and times, with what to write instead where they are none.

use model::{Failure, Ns, ParseUnitError, parse_bytes, parse_duration_ns};

/// # Errors
/// It is no size.
pub fn bytes(option: &str, text: &str) -> Result<u64, Failure> {
    parse_bytes(text).map_err(|e| wrong(option, &e, "4GB"))
}

/// # Errors
/// It is no time.
pub fn time_ns(option: &str, text: &str) -> Result<Ns, Failure> {
    parse_duration_ns(text).map_err(|e| wrong(option, &e, "60s"))
}

/// As the others, of what has to be more than nothing.
///
/// # Errors
/// It is none, or 0.
pub fn more_than_nothing(option: &str, value: Result<u64, Failure>, example: &str) -> Result<u64, Failure> {
    match value? {
        0 => {
            Err(Failure::usage(format!("{option}: 0 is too little")).remedy(format!("for example {option} {example}")))
        }
        value => Ok(value),
    }
}

fn wrong(option: &str, error: &ParseUnitError, example: &str) -> Failure {
    Failure::usage(format!("{option}: {error}")).remedy(format!("for example {option} {example}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_size_or_time_is_told_how_it_is_written() {
        assert_eq!(
            (bytes("--size", "4GB").unwrap(), time_ns("--for", "2m").unwrap()),
            (4_000_000_000, 120_000_000_000)
        );
        for failure in [bytes("--size", "x"), time_ns("--for", "x"), more_than_nothing("--size", Ok(0), "4GB")] {
            let failure = failure.unwrap_err();
            assert!(failure.message.starts_with("--") && failure.remedy.unwrap().starts_with("for example --"));
        }
    }
}
