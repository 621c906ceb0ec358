//! What dd prints when it ends: GNU in any language, BusyBox, toybox, BSD.
//!
//! Languages differ in words and in their order; the form is one. A whole number of bytes with a word for them; the same
//! number rounded, in parentheses; a time with a word for seconds; a rate in bytes a second. All of it must be there, and
//! all of it must agree, as far as the digits printed tell: a line of another tool has one or the other, never all. The rate
//! printed has two or three digits; the one imported is bytes divided by seconds.

use super::dd_command::{Cache, Command};
use super::localized::{decimal, plain};
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

/// What may be lost between bytes, seconds and their rate beside the last digit of it: seconds are rounded, too.
const AGREES: f64 = 0.012;
/// What BSD prints without the rounded number of bytes.
const BSD: &str = "bytes transferred in";
/// Below this GNU's dd prints no rounded number of bytes.
const ROUNDED_FROM: f64 = 1000.0;

/// A result as printed.
struct Result {
    bytes: f64,
    bytes_text: String,
    seconds: f64,
    seconds_text: String,
    /// The rate as printed, where it is not that of the bytes and seconds beside it.
    other_rate: Option<String>,
}

/// Whether any line looks like a result.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(number, line)| {
        segments(line).any(|s| parse(s).is_some() || is_records(s) && wrapped(text, number + 1).is_some())
    })
}

/// The result that begins in a line and ends in the next: mails and pages break what is longer than they are wide.
fn wrapped(text: &Text, number: usize) -> Option<Result> {
    let next = text.line(number + 1).trim_matches(|c: char| c.is_whitespace() || c == '>');
    // The end of a broken line may look like a result that does not agree.
    if next.is_empty() || parse(next).is_some_and(|result| result.other_rate.is_none()) {
        return None;
    }
    parse(&format!("{} {next}", text.line(number).trim_end()))
}

/// Reads all results. dd prints how many records went in and out, then the result; what comes before the records is
/// progress (`status=progress`), and so is what the cursor went back over.
pub(super) fn read(text: &Text, found: &mut Found) {
    let has_records = text.lines().any(|(_, line)| segments(line).any(is_records));
    let mut records = 0_u32;
    let mut last_records = None;
    let mut command: Option<(usize, Command)> = None;
    // The last line of it.
    let mut command_end = 0;
    let mut cache = Cache::default();
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        cache.note_cache_drop(line);
        if let Some(at) = Command::of(line) {
            (command, command_end) = (Some((number, at)), number);
        } else if let Some((_, begun)) = &mut command
            && command_end + 1 == number
            && begun.continues(line)
        {
            command_end = number;
            found.used(number);
            continue;
        }
        for segment in segments(line) {
            if is_records(segment) {
                records += 1;
                last_records = Some(number);
                found.used(number);
                continue;
            }
            let is_next =
                last_records.is_some_and(|last| last + 1 == number) || command.is_some() && command_end + 1 == number;
            let broken = || wrapped(text, number).filter(|_| is_next);
            let (result, lines) = match parse(segment) {
                Some(result) => (result, 1),
                None => match broken() {
                    Some(result) => (result, 2),
                    None => continue,
                },
            };
            found.used_range(number, number + lines - 1);
            if has_records && records == 0 {
                continue;
            }
            records = records.saturating_sub(2);
            if !has_records && line.trim_end_matches('\r').contains('\r') {
                continue;
            }
            let known = command.take();
            if let Some(rate) = &result.other_rate {
                let (bytes, seconds) = (&result.bytes_text, &result.seconds_text);
                let why =
                    format!("inconsistent: {bytes} bytes in {seconds} s are not {rate}; one of them is misprinted");
                found.not_understood(number, why);
                continue;
            }
            let first_line = known.as_ref().map(|(n, _)| *n).or(last_records).unwrap_or(number);
            if let Some((at, _)) = &known {
                found.used(*at);
            }
            let known = known.map(|(_, c)| c);
            let run = run(&result, found.file, known.as_ref(), &mut cache, first_line.min(number));
            found.push(run);
        }
    }
}

fn run(result: &Result, file: &str, command: Option<&Command>, cache: &mut Cache, first_line: usize) -> ImportedRun {
    let target = command.and_then(Command::target).map(str::to_owned);
    let mut run = ImportedRun::new("dd", target.as_deref().unwrap_or(file), first_line);
    let test = command.and_then(Command::direction).unwrap_or("dd");
    let metric = |quantity: &str, unit, better, value, original| {
        ImportedMetric::new(format!("{test}.{quantity}"), unit, better, value, 1, original)
    };
    let (bytes, seconds) = (Original::new(&*result.bytes_text, "bytes"), Original::new(&*result.seconds_text, "s"));
    let rate = Original::new(format!("{} bytes / {} s", result.bytes_text, result.seconds_text), "bytes/s");
    let rate_value = result.bytes / result.seconds;
    let doubt = command.and_then(|c| cache.doubt(c));
    let metrics = [
        metric("throughput_bytes_per_s", Unit::BytesPerS, Some(Better::Higher), rate_value, rate)
            .map(|m| m.doubted(doubt.clone())),
        metric("bytes", Unit::Bytes, None, result.bytes, bytes),
        metric("elapsed_s", Unit::S, None, result.seconds, seconds),
    ];
    run.push(test, metrics.into_iter().flatten().collect());
    run.duration_ns = Some((result.seconds * 1e9) as u64).filter(|_| result.seconds < 1e9);
    match command {
        Some(command) => {
            run.target = target;
            run.remark(format!("command: {}", command.text()));
            if command.direction().is_none() {
                run.remark("neither its input nor its output is storage: this is not the speed of a disk");
            }
        }
        None => {
            run.remark("without the command, the direction is not known");
            run.remark("without the command it cannot be told whether the page cache was measured");
        }
    }
    doubt.iter().for_each(|d| run.remark(d.text()));
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
    let (line, rounded) = without_rounded(&line)?;
    let spans = numbers(&line);
    let [.., (bytes_at, bytes_text), (seconds_at, seconds_text), (rate_at, rate_text)] = spans.as_slice() else {
        return None;
    };
    let between = |at: usize, text: &str, next: usize| line[at + text.len()..next].trim().to_owned();
    let words = between(*bytes_at, bytes_text, *seconds_at);
    let is_word = words.starts_with(char::is_alphabetic) && words.chars().count() <= 60;
    if !is_whole(bytes_text) || !is_word || words.contains(['/', ':', '=', '%', '|']) {
        return None;
    }
    let unit_text = line[rate_at + rate_text.len()..].trim();
    let unit = rate_unit(unit_text)?;
    let rest = between(*seconds_at, seconds_text, *rate_at);
    let (bytes, seconds, rate): (f64, _, _) = (bytes_text.parse().ok()?, decimal(seconds_text)?, decimal(rate_text)?);
    let bracketed = rest.ends_with('(');
    if !is_seconds(&rest) || bytes <= 0.0 || seconds <= 0.0 {
        return None;
    }
    let whole = match (&rounded, bracketed) {
        (None, true) => format!("bytes {}", words.strip_prefix("bytes").unwrap_or_default().trim()) == BSD && unit.bare,
        (Some(rounded), false) => rounded.iter().all(|text| is_rounded(text, bytes)),
        (None, false) => bytes < ROUNDED_FROM && words.ends_with(','),
        (Some(_), true) => false,
    };
    // `M/s` without a word for bytes is toybox's, beside `(1.0 G)`.
    if !whole || (!unit.has_bytes && !words.contains("copied")) {
        return None;
    }
    let measured = bytes / seconds;
    let agrees = scales(unit.power).iter().any(|scale| {
        // Half of the last digit printed.
        let digit = 10_f64.powi(-(rate_text.split([',', '.']).nth(1).map_or(0, str::len) as i32)) * scale;
        (rate * scale - measured).abs() <= AGREES * measured + 0.55 * digit
    });
    // Nothing above a few bytes can be told from a zero.
    let is_precise = rate > 0.0 || unit.power <= 1;
    let (bytes_text, seconds_text) = (bytes_text.clone(), seconds_text.clone());
    let other_rate = (!agrees || !is_precise).then(|| format!("{rate_text} {}", unit_text.trim_end_matches(')')));
    Some(Result { bytes, bytes_text, seconds, seconds_text, other_rate })
}

/// The line without `(20 MB, 19 MiB)` behind the number of bytes, and what stood there; `None` where there are several such.
fn without_rounded(line: &str) -> Option<(String, Option<Vec<String>>)> {
    let mut out = String::with_capacity(line.len());
    let mut rounded = None;
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('(') {
        let Some((inside, behind)) = after.split_once(')') else { break };
        out.push_str(before);
        if inside.contains('/') {
            out.push_str(&format!("({inside})"));
        } else if rounded.is_none() {
            rounded = Some(inside.replace(", ", "\n").lines().map(str::to_owned).collect());
            out.push(' ');
        } else {
            return None;
        }
        rest = behind;
    }
    out.push_str(rest);
    Some((out, rounded))
}

/// Whether `19 MiB`, `20.0MB` or `1.0 G` is that number of bytes, rounded.
fn is_rounded(text: &str, bytes: f64) -> bool {
    let text = text.trim();
    let digits_end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits_end);
    let (unit, Some(value)) = (unit.trim(), decimal(digits)) else { return false };
    let digit = 10_f64.powi(-(digits.split([',', '.']).nth(1).map_or(0, str::len) as i32));
    let Some(power) = prefix_power(unit) else { return false };
    unit.chars().count() <= 4
        && scales(power).iter().any(|scale| (value * scale - bytes).abs() <= AGREES * bytes + 1.01 * digit * scale)
        && value > 0.0
}

/// The unit of a rate.
struct RateUnit {
    power: i32,
    /// Whether it names bytes, with or without a prefix.
    has_bytes: bool,
    /// `bytes/sec`: nothing is rounded.
    bare: bool,
}

/// `MB/s`, `kB/s)`, `МБ/с`, `MB/秒`, `bytes/sec)`, `M/s`: what is before the slash, and a second behind it.
fn rate_unit(text: &str) -> Option<RateUnit> {
    let text = text.trim_end_matches([')', '.', ',', ';']);
    let (unit, time) = text.trim_start_matches('(').split_once('/')?;
    let unit = unit.trim();
    if !is_seconds(time) || unit.chars().count() > 8 {
        return None;
    }
    let bare = matches!(unit.to_lowercase().as_str(), "bytes" | "byte" | "octets" | "b" | "б");
    let power = if bare { 0 } else { prefix_power(unit)? };
    let has_bytes = bare || unit.ends_with(['B', 'Б', 'o', 'b']);
    (has_bytes || power > 0).then_some(RateUnit { power, has_bytes, bare: bare && unit.len() > 2 })
}

/// Whether a word is that for seconds in some language; separators and a bracket may stand around it.
fn is_seconds(text: &str) -> bool {
    let word = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | '.')).to_lowercase();
    let starts = ["sec", "sek", "сек", "seg", "秒", "초"];
    matches!(word.as_str(), "s" | "с" | "sn" | "saniye" | "másodperc" | "giây" | "δευτερόλεπτα")
        || starts.iter().any(|s| word.starts_with(s))
            && word.chars().count() <= 10
            && word.chars().all(char::is_alphabetic)
}

/// Of `MB`, `kB`, `MiB`, `МБ`, `M`, `B` how many times a thousand stands before the bytes; `None` for another unit.
fn prefix_power(unit: &str) -> Option<i32> {
    let mut chars = unit.chars();
    let power = match chars.next()? {
        'k' | 'K' | 'к' | 'К' => 1,
        'M' | 'm' | 'М' => 2,
        'G' | 'g' | 'Г' => 3,
        'T' | 't' | 'Т' => 4,
        'P' => 5,
        'B' | 'b' | 'Б' => return chars.next().is_none().then_some(0),
        _ => return None,
    };
    matches!(chars.as_str(), "" | "B" | "iB" | "b" | "Б" | "иБ" | "o" | "io").then_some(power)
}

/// What a prefix may stand for: GNU's are powers of 1000, BusyBox's of 1024. Telling them apart is not needed: what is
/// rounded only confirms.
fn scales(power: i32) -> [f64; 2] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misprinted_rate_is_told() {
        for line in [
            "20000000 bytes (20 MB, 19 MiB) copied, 0.0218116 s, 91 MB/s",
            "20000000 bytes transferred in 0.500000 secs (41000000 bytes/sec)",
            "20000000 bytes (20 MB, 19 MiB) copied, 2000 s, 0.0 GB/s",
        ] {
            assert!(parse(line).is_some_and(|r| r.other_rate.is_some()), "{line}");
        }
    }

    #[track_caller]
    fn assert_reads(line: &str, bytes: f64, seconds: f64) {
        let result = parse(line).unwrap_or_else(|| panic!("not read: {line}"));
        assert_eq!((result.bytes, result.seconds, result.other_rate), (bytes, seconds, None), "{line}");
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
        assert_reads("1073741824 bytes (1.0 G) copied, 4.264 s, 240 M/s", 1_073_741_824.0, 4.264);
        assert_reads("скопировано 20000000 байт (20 MB, 19 MiB), 0,5 s, 40,0 MB/s", 2e7, 0.5);
        assert_reads("5 bytes copied, 0.000302 s, 16.6 kB/s", 5.0, 0.000302);
    }

    #[test]
    fn what_is_no_result() {
        for line in [
            "real 0m54,775s",
            "1024+0 records in",
            "20000000 bytes (20 MB, 19 MiB) copied, 0.0218116 s",
            "0 bytes copied, 0.0001 s, 0.0 kB/s",
            "Timing buffered disk reads: 64 MB in 3.05 seconds = 20.98 MB/sec",
            "12 34 56/s",
            "tmpfs          tmpfs      12G  2.1M   12G   1% /dev/shm",
            "[2023-02-11 08:01:10] CPU #0: 2.00 kH/s",
            "aa12de  31457280  online  0       aio:///dev/sdx",
            "1073741824 bytes written in 5.00 seconds (204.80 MiB/sec).",
            "1073741824 bytes (1.1 GB) received in 5.00 seconds (215 MB/s)",
            "1048576 bytes received in 0.53 secs (1.9 Mbytes/sec)",
            "104857600 bytes transferred in 9 seconds (11.11 MB/s)",
            "sent 1000 bytes  received 500 bytes  1500.00 bytes/sec",
            "We moved 500000 bytes of data, 5 s, 100 kB/s",
            "1000 файлов, 10 с, 100 Б/с",
            "500 rows copied in 1 s, 500 B/s",
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
}
