//! Text of strace: `strace -f -ttt -T -o FILE COMMAND`, as strace 4 to 6 write it, and what `narrows trace` writes, which has the same form.
//!
//! strace(1): a number of the process where there are several (-f), the time (-ttt, -tt), the call with its arguments, what it gave back, and how
//! long it took (-T). A call that another process's comes between is told in two parts, `<unfinished ...>` and `<... NAME resumed>`.

use super::calls::CallTime;
use super::processes::Call;
use std::collections::HashMap;

const DAY_NS: u64 = 86_400_000_000_000;

/// What a line says.
#[derive(Debug)]
pub(super) enum Line<'t> {
    Call(Call<'t>),
    /// A process is no more.
    Exited(u32, CallTime),
    /// Nothing of use: a signal, a part of a call, what strace says of itself.
    Nothing,
}

/// Reads lines, one after the other.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Calls that have not come back, by process: when they started, and their beginning.
    unfinished: HashMap<u32, (u64, String)>,
    threads: HashMap<u32, u16>,
    /// Of times of the day: days that have gone by, and the last one.
    days: u64,
    last_ns: u64,
}

/// A line taken apart: the process, the time, the rest.
struct Parts<'t> {
    process: u32,
    at_ns: Option<u64>,
    rest: &'t str,
}

fn decimal_ns(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.')?;
    if !(1..=9).contains(&part.len()) || !part.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part: u64 = format!("{part:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
}

/// Seconds since the epoch, or the time of the day.
fn time_ns(text: &str) -> Option<u64> {
    let Some((hours, rest)) = text.split_once(':') else { return decimal_ns(text) };
    let (minutes, seconds) = rest.split_once(':')?;
    let minutes = hours.parse::<u64>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok()?)?;
    let seconds = match seconds.contains('.') {
        true => decimal_ns(seconds)?,
        false => seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?,
    };
    minutes.checked_mul(60_000_000_000)?.checked_add(seconds)
}

fn parts(line: &str) -> Parts<'_> {
    let mut rest = line.trim();
    let mut process = 0;
    if let Some(tail) = rest.strip_prefix("[pid") {
        if let Some((id, tail)) = tail.split_once(']') {
            (process, rest) = (id.trim().parse().unwrap_or(0), tail.trim_start());
        }
    } else if let Some((id, tail)) = rest.split_once(' ')
        && let Ok(id) = id.parse()
    {
        (process, rest) = (id, tail.trim_start());
    }
    let time = rest.split_once(' ').and_then(|(time, tail)| Some((time_ns(time)?, tail.trim_start())));
    match time {
        Some((at_ns, rest)) => Parts { process, at_ns: Some(at_ns), rest },
        None => Parts { process, at_ns: None, rest },
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Whether a line is one of strace's calls.
pub(super) fn is_call(line: &str) -> bool {
    let rest = parts(line).rest;
    rest.split_once('(').is_some_and(|(name, tail)| {
        is_name(name) && (tail.contains(") = ") || tail.contains("<unfinished ...>") || tail.contains(")  "))
    })
}

/// The arguments, and what follows the parenthesis that ends them.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut start = 0;
    let mut depth = 0i32;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text[start..at].trim();
                if !last.is_empty() || !all.is_empty() {
                    all.push(last);
                }
                return Some((all, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth -= 1,
            // A path beside a descriptor may hold anything.
            b'<' if at > 0 && (bytes[at - 1].is_ascii_digit() || text[..at].ends_with("AT_FDCWD")) => {
                at += text[at..].find('>')?;
            }
            b',' if depth == 0 => {
                all.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

impl Reader {
    fn thread(&mut self, process: u32) -> Option<u16> {
        let next = u16::try_from(self.threads.len()).ok()?;
        Some(*self.threads.entry(process).or_insert(next))
    }

    /// A time in order: of those of the day, midnight is passed.
    fn in_order(&mut self, at_ns: u64) -> u64 {
        if at_ns < DAY_NS {
            if at_ns + DAY_NS / 2 < self.last_ns {
                self.days += 1;
            }
            self.last_ns = at_ns;
            return self.days.saturating_mul(DAY_NS).saturating_add(at_ns);
        }
        at_ns
    }

    /// Reads a line. Calls that came back in two parts are put together in `room`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn line<'t>(&mut self, line: &'t str, room: &'t mut String) -> Result<Line<'t>, &'static str> {
        let Parts { process, at_ns, rest } = parts(line);
        if rest.is_empty() || rest.starts_with("---") || rest.starts_with('#') || line.starts_with("strace:") {
            return Ok(Line::Nothing);
        }
        let at_ns = at_ns.ok_or("no time; strace -f -ttt -T -o FILE COMMAND writes them")?;
        let at_ns = self.in_order(at_ns);
        let thread = self.thread(process).ok_or("more than 65,536 processes")?;
        if rest.starts_with("+++") {
            return Ok(Line::Exited(process, CallTime { thread, start_ns: at_ns, end_ns: at_ns }));
        }
        if let Some(beginning) = rest.strip_suffix("<unfinished ...>") {
            self.unfinished.insert(process, (at_ns, beginning.trim_end().to_owned()));
            return Ok(Line::Nothing);
        }
        let (start_ns, text) = match rest.strip_prefix("<... ") {
            None => (at_ns, rest),
            Some(resumed) => {
                let end = resumed.split_once(" resumed>").ok_or("not a line of strace")?.1;
                let Some((start_ns, beginning)) = self.unfinished.remove(&process) else {
                    // It began before the recording did.
                    return Ok(Line::Nothing);
                };
                *room = beginning + end;
                (start_ns, room.as_str())
            }
        };
        let (name, tail) = text.split_once('(').filter(|(name, _)| is_name(name)).ok_or("not a line of strace")?;
        let (arguments, tail) = arguments(tail).ok_or("its arguments have no end")?;
        let result = tail.trim_start().strip_prefix('=').ok_or("it does not say what came back")?.trim();
        let took = result.rsplit_once('<').and_then(|(_, took)| decimal_ns(took.strip_suffix('>')?)).unwrap_or(0);
        let mut words = result.split_whitespace();
        let given = words.next().unwrap_or("?");
        let given = given.split('<').next().unwrap_or(given);
        let result = match given.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| n as i64),
            None => given.parse().ok(),
        };
        // What did not come back: the process ended in it.
        let Some(result) = result else { return Ok(Line::Nothing) };
        let error = if result == -1 { words.next().filter(|word| word.starts_with('E')) } else { None };
        let when = CallTime { thread, start_ns, end_ns: start_ns.saturating_add(took) };
        Ok(Line::Call(Call { process, when, name, arguments, result, error }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> (u32, u64, String, Vec<String>, i64, Option<String>) {
        let mut room = String::new();
        match Reader::default().line(line, &mut room).unwrap() {
            Line::Call(c) => (
                c.process,
                c.when.end_ns - c.when.start_ns,
                c.name.to_owned(),
                c.arguments.iter().map(|a| (*a).to_owned()).collect(),
                c.result,
                c.error.map(str::to_owned),
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_taken_apart_whatever_stands_in_them() {
        let plain =
            call("812 1764144000.000001 openat(AT_FDCWD, \"a, (b) \\\"c\\\".txt\", O_RDONLY|O_CLOEXEC) = 3 <0.000012>");
        assert_eq!((plain.0, plain.1, plain.2.as_str(), plain.4), (812, 12_000, "openat", 3));
        assert_eq!(plain.3, ["AT_FDCWD", "\"a, (b) \\\"c\\\".txt\"", "O_RDONLY|O_CLOEXEC"]);
        let failed =
            call("[pid   7] 12:00:01.5 stat(\"x\", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000001>");
        assert_eq!((failed.0, failed.4, failed.5.as_deref()), (7, -1, Some("ENOENT")));
        let told = call("1764144000.0 openat(AT_FDCWD</home/a, b>, \"c\", O_RDONLY) = 3</home/a, b/c> <0.000009>");
        assert_eq!((told.3[0].as_str(), told.4), ("AT_FDCWD</home/a, b>", 3));
        let nested = call("1764144000.0 writev(3, [{iov_base=\"a,)\", iov_len=3}, {iov_base=\"\", iov_len=0}], 2) = 3");
        assert_eq!((nested.3.len(), nested.1), (3, 0));
        assert_eq!(
            call("1764144000.0 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f1200000000").4,
            0x7f12_0000_0000
        );
        assert_eq!(call("1764144000.0 sync() = 0").3.len(), 0);
        for beyond in ["0:0:28372694322 ", "0:999999999999999999:0 ", "99999999999.0 ", "18446744073709551615:0:0.0 "] {
            assert_eq!(parts(beyond).at_ns, None, "{beyond}");
        }
        let mut late = Reader { days: u64::MAX, last_ns: DAY_NS - 1, ..Reader::default() };
        assert_eq!(late.in_order(DAY_NS - 1), u64::MAX);
    }

    #[test]
    fn calls_in_two_parts_are_put_together_and_midnight_is_passed() {
        let mut reader = Reader::default();
        let mut room = String::new();
        let first = "5 23:59:59.900000 fsync(3 <unfinished ...>";
        assert!(matches!(reader.line(first, &mut room), Ok(Line::Nothing)));
        let Ok(Line::Call(c)) = reader.line("5 00:00:00.100000 <... fsync resumed>) = 0 <0.200000>", &mut room) else {
            panic!()
        };
        assert_eq!((c.name, c.arguments.as_slice(), c.result), ("fsync", &["3"][..], 0));
        assert_eq!((c.when.start_ns, c.when.end_ns - c.when.start_ns), (86_399_900_000_000, 200_000_000));
        let mut again = String::new();
        let Ok(Line::Exited(5, when)) = reader.line("5 00:00:00.2 +++ exited with 0 +++", &mut again) else { panic!() };
        assert_eq!(when.start_ns, DAY_NS + 200_000_000);
        let mut lost = String::new();
        assert!(matches!(reader.line("6 00:00:00.3 <... read resumed>\"\", 5) = 0", &mut lost), Ok(Line::Nothing)));
        for (line, what) in
            [("5 close(3) = 0", "no time"), ("5 00:00:01.0 what", "not a line"), ("5 00:00:01.0 close(3", "no end")]
        {
            let mut room = String::new();
            assert!(reader.line(line, &mut room).unwrap_err().contains(what), "{line}");
        }
    }
}
