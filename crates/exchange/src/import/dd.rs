//! What dd prints when it ends: GNU in any language, BusyBox, BSD.
//!
//! Languages differ in words and in their order, so a result is told by its numbers: a whole number of bytes, and at the end
//! of the line a time and a rate that agree with it. The rate printed has two or three digits; the one imported is bytes
//! divided by seconds.

use super::localized::{decimal, plain};
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

/// How far the printed rate may be from bytes through seconds: it is rounded to two digits at worst.
const AGREES: f64 = 0.06;

/// A result as printed.
struct Result {
    bytes: f64,
    bytes_text: String,
    seconds: f64,
    seconds_text: String,
}

/// Whether any line looks like a result.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| segments(line).any(|s| parse(s).is_some()))
}

/// Reads all results. dd prints how many records went in and out, then the result; what comes before the records is
/// progress (`status=progress`), and so is what the cursor went back over.
pub(super) fn read(text: &Text, found: &mut Found) {
    let has_records = text.lines().any(|(_, line)| segments(line).any(is_records));
    let mut records = 0_u32;
    let mut last_records = None;
    let mut command: Option<(usize, &str)> = None;
    for (number, line) in text.lines() {
        if found.is_used(number) {
            continue;
        }
        if let Some(at) = dd_command(line) {
            command = Some((number, at));
        }
        for segment in segments(line) {
            if is_records(segment) {
                records += 1;
                last_records = Some(number);
                found.used(number);
                continue;
            }
            let Some(result) = parse(segment) else { continue };
            found.used(number);
            if has_records && records == 0 {
                continue;
            }
            records = records.saturating_sub(2);
            if !has_records && line.trim_end_matches('\r').contains('\r') {
                continue;
            }
            let known = command.take();
            let first_line = known.map(|(n, _)| n).or(last_records).unwrap_or(number);
            let name = known.and_then(|(_, c)| target(c)).unwrap_or_else(|| found.file.to_owned());
            found.push(run(&result, name, known.map(|(_, c)| c), first_line.min(number)));
            if let Some((at, _)) = known {
                found.used(at);
            }
        }
    }
}

fn run(result: &Result, name: String, command: Option<&str>, first_line: usize) -> ImportedRun {
    let mut run = ImportedRun::new("dd", name, first_line);
    let test = command.and_then(direction).unwrap_or("dd");
    let metric = |quantity: &str, unit, better, value, original| {
        ImportedMetric::new(format!("{test}.{quantity}"), unit, better, value, 1, original)
    };
    let (bytes, seconds) = (Original::new(&*result.bytes_text, "bytes"), Original::new(&*result.seconds_text, "s"));
    let rate = Original::new(format!("{} bytes / {} s", result.bytes_text, result.seconds_text), "bytes/s");
    let rate_value = result.bytes / result.seconds;
    let metrics = [
        metric("throughput_bytes_per_s", Unit::BytesPerS, Some(Better::Higher), rate_value, rate),
        metric("bytes", Unit::Bytes, None, result.bytes, bytes),
        metric("elapsed_s", Unit::S, None, result.seconds, seconds),
    ];
    run.push(test, metrics.into_iter().flatten().collect());
    run.duration_ns = Some((result.seconds * 1e9) as u64).filter(|_| result.seconds < 1e9);
    match command {
        Some(command) => {
            run.target = target(command);
            run.remark(format!("command: {command}"));
            if direction(command).is_none() {
                run.remark("neither its input nor its output is storage: this is not the speed of a disk");
            }
        }
        None => run.remark("without the command, reading and writing cannot be told apart"),
    }
    run
}

/// What the cursor wrote over itself.
fn segments(line: &str) -> impl Iterator<Item = &str> {
    line.split('\r').map(str::trim).filter(|s| !s.is_empty())
}

/// `1024+0 records out`, in any language: a number, plus, a number.
fn is_records(segment: &str) -> bool {
    let numbers = segment.split(|c: char| !(c.is_ascii_digit() || c == '+')).filter(|w| !w.is_empty());
    let is_pair = |word: &&str| {
        word.split_once('+').is_some_and(|(whole, part)| {
            !whole.is_empty() && !part.is_empty() && part.bytes().chain(whole.bytes()).all(|b| b.is_ascii_digit())
        })
    };
    // A prompt may stand before it.
    numbers.filter(|word| is_pair(word)).count() == 1 && segment.chars().count() < 160
}

/// Reads a result out of a segment.
fn parse(segment: &str) -> Option<Result> {
    let line = plain(segment);
    // A terminal may show the prompt before it.
    let spans = numbers(&line);
    let [.., (seconds_at, seconds_text), (rate_at, rate_text)] = spans.as_slice() else { return None };
    let (bytes_at, bytes_text) = spans.iter().find(|(at, text)| *at < *seconds_at && is_whole(text))?;
    let unit = line[rate_at + rate_text.len()..].trim_start();
    let between = line[seconds_at + seconds_text.len()..*rate_at].trim();
    // Seconds and nothing else but a separator stand between the two.
    if !unit.contains('/') || between.is_empty() || between.chars().count() > 14 || between.contains('/') {
        return None;
    }
    let bytes: f64 = bytes_text.parse().ok()?;
    let (seconds, rate) = (decimal(seconds_text)?, decimal(rate_text)?);
    if bytes_at == seconds_at || bytes <= 0.0 || seconds <= 0.0 {
        return None;
    }
    // Nothing separates the bytes of GNU and BusyBox from the word for them but what is in parentheses.
    let measured = bytes / seconds;
    let agrees = scales(unit).iter().any(|scale| {
        let printed = rate * scale;
        // Half of the last digit printed, where there are few.
        let digit = 10_f64.powi(-(rate_text.split([',', '.']).nth(1).map_or(0, str::len) as i32)) * scale;
        (printed - measured).abs() <= AGREES * measured || (printed - measured).abs() <= digit
    });
    let bytes_text = bytes_text.clone();
    agrees.then(|| Result { bytes, bytes_text, seconds, seconds_text: seconds_text.clone() })
}

/// What the prefix of a rate may stand for: GNU's are powers of 1000, BusyBox's of 1024. Telling them apart is not needed:
/// the rate only confirms.
fn scales(unit: &str) -> [f64; 2] {
    let power = match unit.trim_start_matches('(').chars().next() {
        Some('k' | 'K' | 'к' | 'К') => 1,
        Some('M' | 'm' | 'М') => 2,
        Some('G' | 'g' | 'Г') => 3,
        Some('T' | 't' | 'Т') => 4,
        Some('P') => 5,
        _ => 0,
    };
    [1000_f64.powi(power), 1024_f64.powi(power)]
}

/// All numbers of a line with where they begin.
fn numbers(line: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut open: Option<usize> = None;
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let mut close = |from: usize, to: usize| {
        let text = line[from..to].trim_end_matches(['.', ',']);
        let before = line[..from].chars().next_back();
        // Digits inside a word (`sda1`, `0m54`) and versions are no numbers.
        let is_word = before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | ':' | '/'));
        if !is_word && text.starts_with(|c: char| c.is_ascii_digit()) {
            out.push((from, text.to_owned()));
        }
    };
    for (at, c) in line.char_indices() {
        match (is_part(c), open) {
            (true, None) if c.is_ascii_digit() => open = Some(at),
            (false, Some(from)) => {
                close(from, at);
                open = None;
            }
            _ => {}
        }
    }
    if let Some(from) = open {
        close(from, line.len());
    }
    out
}

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The command in a line, from `dd` on: after a prompt, `time`, `sudo`.
fn dd_command(line: &str) -> Option<&str> {
    let at = line
        .match_indices("dd ")
        .map(|(at, _)| at)
        .find(|at| !line[..*at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))?;
    let command = line[at..].trim();
    (command.contains(" if=") || command.contains(" of=")).then_some(command)
}

fn operand<'c>(command: &'c str, name: &str) -> Option<&'c str> {
    command.split_whitespace().find_map(|word| word.strip_prefix(name)).filter(|value| !value.is_empty())
}

/// Whether a path is storage: not a source of zeros or the bin.
fn is_storage(path: &str) -> bool {
    !matches!(path, "/dev/zero" | "/dev/null" | "/dev/urandom" | "/dev/random" | "/dev/full" | "/dev/stdout" | "-")
}

/// What was measured: writing if the output is storage, else reading, else nothing.
fn direction(command: &str) -> Option<&'static str> {
    match (operand(command, "if=").filter(|p| is_storage(p)), operand(command, "of=").filter(|p| is_storage(p))) {
        (None, Some(_)) => Some("write"),
        (Some(_), None) => Some("read"),
        (Some(_), Some(_)) => Some("copy"),
        (None, None) => None,
    }
}

fn target(command: &str) -> Option<String> {
    let path = |name| operand(command, name).filter(|p| is_storage(p));
    path("of=").or_else(|| path("if=")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_reads(line: &str, bytes: f64, seconds: f64) {
        let result = parse(line).unwrap_or_else(|| panic!("not read: {line}"));
        assert_eq!((result.bytes, result.seconds), (bytes, seconds), "{line}");
    }

    #[test]
    fn languages() {
        assert_reads("20000000 bytes (20 MB, 19 MiB) copied, 0.0218116 s, 917 MB/s", 2e7, 0.0218116);
        assert_reads("20000000 bytes (20 MB) copied, 0.0218116 seconds, 917 MB/s", 2e7, 0.0218116);
        assert_reads("20000000 Bytes (20 MB, 19 MiB) kopiert, 0,0157663 s, 1,3 GB/s", 2e7, 0.0157663);
        assert_reads("20000000 octets (20 MB, 19 MiB) copiés, 0,00439713 s, 4,5\u{202f}GB/s", 2e7, 0.00439713);
        assert_reads("20000000 字节 (20 MB, 19 MiB) 已复制，0.0243644 s，821 MB/s", 2e7, 0.0243644);
        assert_reads("скопійовано 20000000 байтів (20 MB, 19 MiB), 0,0108919 s, 1,8 GB/s", 2e7, 0.0108919);
        assert_reads("20000000 バイト (20 MB) コピーされました、 0.5 秒、 40.0 MB/秒", 2e7, 0.5);
        assert_reads("3000000000 Bytes (3,0 GB, 2,8 GiB) kopiert, 190,048 s, 15,8 MB/s", 3e9, 190.048);
        assert_reads("20971520 bytes (20.0MB) copied, 2.192000 seconds, 9.1MB/s", 20971520.0, 2.192);
        assert_reads("20000000 bytes transferred in 0.500000 secs (40000000 bytes/sec)", 2e7, 0.5);
        assert_reads("5 bytes copied, 0.000302 s, 16.6 kB/s", 5.0, 0.000302);
    }

    #[test]
    fn what_is_no_result() {
        for line in [
            "real 0m54,775s",
            "1024+0 records in",
            "20000000 bytes (20 MB, 19 MiB) copied, 0.0218116 s",
            "20000000 bytes (20 MB, 19 MiB) copied, 0.0218116 s, 91 MB/s",
            "0 bytes copied, 0.0001 s, 0.0 kB/s",
            "Timing buffered disk reads: 64 MB in 3.05 seconds = 20.98 MB/sec",
            "12 34 56/s",
            "",
        ] {
            assert!(parse(line).is_none(), "{line}");
        }
        assert!(
            is_records("输入了 19+1 块记录")
                && is_records("me@box10:/srv/hw10# 记录了19+1 的读入")
                && is_records("19+1 records in")
        );
        assert!(!is_records("c++") && !is_records("20000000 bytes") && !is_records("1+2+3") && !is_records("1+0 2+0"));
    }

    #[test]
    fn commands() {
        let command = dd_command("root@box:~# time dd if=/dev/zero bs=1M of=/mnt/x count=4").unwrap();
        assert_eq!((direction(command), target(command).as_deref()), (Some("write"), Some("/mnt/x")));
        assert_eq!(direction("dd if=/dev/zero bs=1M | md5sum"), None);
        assert_eq!(direction("dd if=x of=/dev/null"), Some("read"));
        assert_eq!(dd_command("add if=1"), None);
    }
}
