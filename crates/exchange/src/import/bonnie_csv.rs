//! bonnie++'s comma-separated line: 1.03, the early 1.9x, 1.96, 1.97 and 1.98 (which the program 2.00 writes too).
//!
//! A line is `[versions,] name, [concurrency, seed,] size, [chunk,] [seeks, seek processes,]`, six pairs of rate and CPU,
//! one to five fields about the files, six pairs more, and twelve latencies (none in 1.03). Programs leave out a comma among
//! the fields about the files (with `link`, with a minimum of 0, with a chunk size), and write number of directories and
//! chunk size in either order. So the left half is counted from the left and the right half from the right, every cell must
//! be what its place asks for, and a line that fits in no way is not guessed at.

use super::bonnie::{self, Cell, Results};
use crate::bonnie_tests::{IO_TESTS, NAMES, TESTS};

/// Fields of the second half: six pairs and twelve latencies.
const RIGHT: usize = 2 * (TESTS - IO_TESTS) + TESTS;
/// Fields of a 1.03 line.
const FIELDS_1_03: usize = 27;
/// A line shorter than this is no result.
pub(crate) const FIELDS_MIN: usize = FIELDS_1_03;

/// Where things stand in a line.
struct Layout {
    concurrency: Option<usize>,
    size: usize,
    io: usize,
    /// Fields about the files, at least and at most.
    files: (usize, usize),
    has_latencies: bool,
}

const LAYOUT_1_03: Layout = Layout { concurrency: None, size: 1, io: 2, files: (1, 1), has_latencies: false };
/// Format `2` of the first 1.9x programs: neither concurrency nor seed.
const LAYOUT_EARLY: Layout = Layout { concurrency: None, size: 3, io: 5, files: (3, 4), has_latencies: true };
const LAYOUT_1_97: Layout = Layout { concurrency: Some(3), size: 5, io: 7, files: (4, 5), has_latencies: true };
const LAYOUT_1_98: Layout = Layout { concurrency: Some(3), size: 5, io: 9, files: (4, 5), has_latencies: true };

/// Whether a line may be the beginning of a result: by its first fields.
pub(crate) fn is_start(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    match fields.as_slice() {
        _ if is_versioned(&fields) => true,
        [name, size, rate, cpu, ..] => {
            // A table of many columns of numbers begins alike.
            fields.len() <= 2 * FIELDS_1_03
                && !name.is_empty()
                && (bonnie::is_size(size) || size.is_empty())
                && bonnie::rate(0, rate).is_some()
                && bonnie::cpu(cpu).is_some()
        }
        _ => false,
    }
}

/// Whether a line begins with the versions of its format and its program. Other programs write the format too (this one
/// as `narrows-0.1.0`), so that a line as long as a result needs only that of the format.
fn is_versioned(fields: &[&str]) -> bool {
    let long = fields.len() >= 2 * TESTS + TESTS + 5;
    fields.len() > 2 && is_version(fields[0]) && (is_version(fields[1]) || long && !fields[1].is_empty())
}

/// `1.96`, `2.00a`, or the `2` of the first format with versions.
fn is_version(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let shaped = digits.split_once('.').is_some_and(|(major, minor)| {
        major.len() == 1
            && minor.len() == 2
            && major.bytes().chain(minor.bytes()).all(|b| b.is_ascii_digit())
            && matches!(major, "1" | "2")
    });
    shaped || text == "2"
}

/// Whether a line names the fields instead of filling them.
pub(crate) fn is_header(line: &str) -> bool {
    line.contains("format_version,bonnie_version") || line.contains(",putc,") && line.contains(",seq_create,")
}

/// Reads a line.
///
/// # Errors
/// Why it is no result, in words.
pub(crate) fn parse(line: &str) -> Result<Results, String> {
    let fields: Vec<&str> = line.trim().split(',').map(str::trim).collect();
    if !is_versioned(&fields) {
        return fill(&fields, &LAYOUT_1_03);
    }
    let (own, other) = match fields[0] {
        "1.98" | "1.99" => (&LAYOUT_1_98, &LAYOUT_1_97),
        "2" => (&LAYOUT_EARLY, &LAYOUT_1_97),
        _ => (&LAYOUT_1_97, &LAYOUT_EARLY),
    };
    // What the line says of itself goes first; the neighbours are for lines whose program said one and wrote the other.
    let mut results = match fill(&fields, own) {
        Ok(results) => results,
        Err(why) => fill(&fields, other).map_err(|_| why)?,
    };
    results.name = fields[2].to_owned();
    results.version = Some(fields[1].to_owned());
    Ok(results)
}

fn fill(fields: &[&str], layout: &Layout) -> Result<Results, String> {
    let io_end = layout.io + 2 * IO_TESTS;
    let right = if layout.has_latencies { RIGHT } else { RIGHT - TESTS };
    let (least, most) = (io_end + layout.files.0 + right, io_end + layout.files.1 + right);
    if !(least..=most).contains(&fields.len()) {
        return Err(format!("a result has {most} fields in this format, this line has {}", fields.len()));
    }
    let files_at = fields.len() - right;
    let mut results = Results { name: fields[0].to_owned(), ..Results::default() };
    let size = fields[layout.size];
    if !size.is_empty() && !bonnie::is_size(size) {
        return Err(format!("'{size}' is not a size of a file"));
    }
    results.size = size.to_owned();
    results.concurrency = layout.concurrency.map(|i| fields[i].to_owned()).unwrap_or_default();
    let files: Vec<&str> = fields[io_end..files_at].iter().copied().filter(|f| !f.is_empty()).collect();
    results.files = files.join(":");
    for test in 0..TESTS {
        let at = if test < IO_TESTS { layout.io + 2 * test } else { files_at + 2 * (test - IO_TESTS) };
        let rate = fields[at];
        let cpu = fields[at + 1];
        let name = NAMES[test];
        let fault = |what: &str, text: &str| format!("'{text}' is not a {what} of {name}");
        results.rates[test] = bonnie::rate(test, rate).ok_or_else(|| fault("rate", rate))?;
        results.cpus[test] = bonnie::cpu(cpu).ok_or_else(|| fault("share of CPU", cpu))?;
        // Half a pair tells that the cells are shifted; three plus signs are a share of CPU that is not known.
        let cpu_not_known = cpu == "+++" && matches!(results.rates[test], Cell::Value(..));
        if !cpu_not_known && std::mem::discriminant(&results.rates[test]) != std::mem::discriminant(&results.cpus[test])
        {
            return Err(format!("'{rate},{cpu}' is not a pair of rate and share of CPU of {name}"));
        }
        if layout.has_latencies {
            let text = fields[fields.len() - TESTS + test];
            results.latencies[test] = bonnie::latency(text).ok_or_else(|| fault("latency", text))?;
        }
    }
    if results.rates.iter().all(|c| *c == Cell::NotRun) {
        return Err("no test of it was run".to_owned());
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AHCI: &str = include_str!("../../tests/exchange/studies/ahci.bonnie.csv");
    /// Of bonnie++ 2.00a with `-s 8:64k -n 1:2000:100/2` (figures replaced).
    const V1_98: &str = "1.98,2.00a,vm,1,1795276895,8M,,8192,5,415,31,+++++,+++,81234,12,589,29,+++++,+++,+++++,+++,1,2000,100,,,\
        1623,20,+++++,+++,239,1,1431,31,+++++,+++,243,1,189ms,83us,28us,198ms,9us,72056us,20203us,13297us,21353us,44253us,\
        4057us,16024us";

    #[test]
    fn the_published_line() {
        let results = parse(AHCI).unwrap();
        assert_eq!((results.name.as_str(), results.size.as_str(), results.files.as_str()), ("kvm", "4G", "384"));
        assert_eq!(results.rates[1].value(), Some(52639.0 * 1024.0));
        assert_eq!(results.rates[6].value(), Some(28173.0));
        assert_eq!(results.latencies[8].value(), Some(12.877e9));
        assert_eq!(results.latencies[10].value(), Some(61e3));
    }

    #[test]
    fn two_more_fields_in_1_98() {
        let results = parse(V1_98).unwrap();
        assert_eq!(results.rates[0].value(), Some(415.0 * 1024.0));
        assert_eq!(results.rates[2].value(), Some(81234.0 * 1024.0));
        assert_eq!(results.rates[6].value(), Some(1623.0));
        assert_eq!(results.rates[7], Cell::TooFast);
        assert_eq!(results.latencies[0].value(), Some(189e6));
        assert_eq!(results.files, "1:2000:100");
    }

    #[test]
    fn another_program_may_write_it() {
        let line = V1_98.replace("2.00a", "narrows-0.1.0");
        assert!(is_start(&line));
        let theirs = parse(V1_98).unwrap();
        let own = parse(&line).unwrap();
        assert_eq!(
            (own.rates, own.latencies, own.version.as_deref()),
            (theirs.rates, theirs.latencies, Some("narrows-0.1.0"))
        );
    }

    #[test]
    fn the_missing_comma_and_both_orders_of_the_file_fields() {
        let whole = parse(V1_98).unwrap();
        for (files, said) in
            [("1,link,,", "1:link"), ("1,2000,,16k,2", "1:2000:16k:2"), ("1,2000,100,2,16k", "1:2000:100:2:16k")]
        {
            let results = parse(&V1_98.replace("1,2000,100,,", files)).unwrap();
            assert_eq!((&results.rates, &results.latencies), (&whole.rates, &whole.latencies), "{files}");
            assert_eq!(results.files, said);
        }
    }

    #[test]
    fn the_first_format_with_versions() {
        let line = "2,1.93c,box,300M,,100,1,200,2,300,3,400,4,500,5,60.0,1,16,,,,700,7,800,8,900,9,1000,10,1100,11,1200,12,\
            1us,2us,3us,4us,5us,6us,7us,8us,9us,10us,11us,12us";
        let results = parse(line).unwrap();
        assert_eq!((results.size.as_str(), results.version.as_deref()), ("300M", Some("1.93c")));
        assert_eq!(results.rates[5].value(), Some(60.0));
        assert_eq!((results.rates[11].value(), results.latencies[11].value()), (Some(1200.0), Some(12e3)));
    }

    #[test]
    fn no_beginning_of_a_line_is_a_result_but_one_without_the_last_latency() {
        for line in [AHCI.trim(), V1_98] {
            for end in 0..line.len() - 1 {
                let Ok(mut cut) = parse(&line[..end]) else { continue };
                assert_eq!(cut.latencies[TESTS - 1], Cell::NotRun, "{}", &line[..end]);
                let whole = parse(line).unwrap();
                cut.latencies[TESTS - 1] = whole.latencies[TESTS - 1].clone();
                assert_eq!(cut, whole);
            }
        }
    }

    #[test]
    fn shifted_cells_are_refused() {
        assert!(parse(&AHCI.replace("1.96,1.96,kvm,1,1252887577,4G,,", "1.96,1.96,kvm,1,1252887577,4G,")).is_err());
        assert!(parse(&AHCI.replace("4G,,430", "4G,,,430")).is_err());
        assert!(parse("a,b,c").is_err());
        assert!(parse("").is_err());
    }
}
