//! What other tools printed, as values: [`import()`] turns the bytes of a file into runs.
//!
//! The format is told by content, never by the file's name. A file may hold several outputs, of several tools, between
//! shell prompts: every format of [`FORMATS`] that recognises something reads it, marks the lines that it understood, and
//! the rest is listed with line numbers. Nothing is dropped silently.
//!
//! To add a format: a file beside this one with `detect` and `read`, and a line in [`FORMATS`]. `read` pushes
//! [`ImportedRun`]s, calls [`Found::used`] for the lines that it understood (those that only frame the result too) and
//! [`Found::not_understood`] for lines that belong to it and could not be read. Numbers that are not finite, negative or
//! absurd never become metrics ([`ImportedMetric::new`]).

mod aligned;
mod blkparse;
mod bonnie;
mod bonnie_csv;
mod bonnie_output;
mod bonnie_table;
mod comma;
mod dd;
mod dd_command;
mod device_health;
mod disk_mark;
mod dstat;
mod elbencho;
mod elbencho_records;
mod error;
mod f3;
mod fio;
mod found;
mod h2testw;
mod hdparm;
mod ioping;
mod ior;
mod iostat;
mod iostat_json;
mod iostat_text;
mod iozone;
mod iozone_report;
mod iozone_session;
mod iozone_table;
mod kubernetes;
mod link;
mod localized;
mod marks;
mod number;
mod pg_test_fsync;
mod phoronix;
mod pi_benchmarks;
mod run;
mod sd_card_bench;
mod series;
mod sysbench;
mod sysbench_old;
mod table;
mod test_figures;
mod text;
mod watch_csv;
mod work;
mod yabs;

pub use error::ImportError;
pub use found::{Imported, ImportedGroup, ImportedMetric, ImportedRun, MAX_FIGURES, NotUnderstood, Original};

pub(crate) use found::{ABSURD, Found, Names};
pub(crate) use text::Text;

/// A file above this is refused: its text is held in memory, once, and all that an import takes stays below 256 MB.
pub const IMPORT_LIMIT_BYTES: u64 = 192 << 20;

/// A foreign format.
struct Format {
    /// As `source_format` names it, for error messages.
    name: &'static str,
    /// Whether there is anything of it in the text.
    detect: fn(&Text) -> bool,
    /// Reads all of it that there is.
    read: fn(&Text, &mut Found),
}

/// Every format, the unmistakable ones first: a later one sees which lines are taken ([`Found::is_used`]).
const FORMATS: &[Format] = &[
    Format { name: "fio", detect: fio::detect, read: fio::read },
    Format { name: "iostat's JSON", detect: iostat_json::detect, read: iostat_json::read },
    Format { name: "watch's CSV", detect: watch_csv::detect, read: watch_csv::read },
    Format { name: "dstat", detect: dstat::detect, read: dstat::read },
    Format { name: "bonnie++", detect: bonnie_output::detect, read: bonnie_output::read },
    Format { name: "sd-card-bench", detect: sd_card_bench::detect, read: sd_card_bench::read },
    Format { name: "iozone", detect: iozone::detect, read: iozone::read },
    Format { name: "iostat", detect: iostat_text::detect, read: iostat_text::read },
    Format { name: "hdparm", detect: hdparm::detect, read: hdparm::read },
    Format { name: "ioping", detect: ioping::detect, read: ioping::read },
    Format { name: "CrystalDiskMark and KDiskMark", detect: disk_mark::detect, read: disk_mark::read },
    Format { name: "sysbench fileio", detect: sysbench::detect, read: sysbench::read },
    Format { name: "f3", detect: f3::detect, read: f3::read },
    Format { name: "elbencho", detect: elbencho::detect, read: elbencho::read },
    Format { name: "elbencho's records", detect: elbencho_records::detect, read: elbencho_records::read },
    Format { name: "yabs", detect: yabs::detect, read: yabs::read },
    Format { name: "a summary of fio for Kubernetes", detect: kubernetes::detect, read: kubernetes::read },
    Format { name: "H2testw", detect: h2testw::detect, read: h2testw::read },
    Format { name: "PiBenchmarks", detect: pi_benchmarks::detect, read: pi_benchmarks::read },
    Format { name: "ior and mdtest", detect: ior::detect, read: ior::read },
    Format { name: "smartctl's and nvme's JSON", detect: device_health::detect, read: device_health::read },
    Format { name: "the Phoronix Test Suite", detect: phoronix::detect, read: phoronix::read },
    Format { name: "pg_test_fsync", detect: pg_test_fsync::detect, read: pg_test_fsync::read },
    Format { name: "blkparse", detect: blkparse::detect, read: blkparse::read },
    Format { name: "dd", detect: dd::detect, read: dd::read },
    Format { name: "a table", detect: table::detect, read: table::read },
];

/// Reads the output of other tools. Bytes that are handed over are decoded where they lie; what is kept of them is bounded
/// (`Found::push`, `series.rs`), whatever they hold. `name` is what the file is called; it only names runs that carry no name themselves.
///
/// # Errors
/// [`ImportError`] where the bytes are no text or too many. A text in which nothing is understood is no error: `runs` is
/// empty then, and `not_understood` holds all of it.
pub fn import(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Imported, ImportError> {
    import_within(name, bytes.into(), MAX_FIGURES)
}

/// As [`import()`], with at most so many figures kept: of several files that are read together, each has its share.
///
/// # Errors
/// As [`import()`].
pub fn import_within(name: &str, bytes: Vec<u8>, most_figures: usize) -> Result<Imported, ImportError> {
    let text = Text::decode(bytes)?;
    let mut found = Found::new(name, &text, most_figures);
    for format in FORMATS.iter().filter(|f| (f.detect)(&text)) {
        let before = found.runs.len();
        (format.read)(&text, &mut found);
        if found.runs.len() == before {
            found.empty_formats.push(format.name);
        }
    }
    found.runs.iter_mut().for_each(|run| link::doubt(&text, run));
    Ok(found.finish(&text))
}
