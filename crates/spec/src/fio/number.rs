//! Numbers of fio's job files: units, keywords, arithmetic. Every overflow is an error.

use crate::text_inputs::TextMachine;

/// Parentheses deeper than this are a mistake.
const DEEPEST: u32 = 32;

/// What numbers are read with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// 1024: `k` is 1024 and `ki` 1000; 1000: the other way round. So says fio's documentation; fio itself (3.33 to 3.41)
    /// does this for `kib` and takes `ki` for `k`: see [`doubtful_unit`].
    pub kb_base: u64,
    pub machine: TextMachine,
}

/// What a part of an expression is worth.
#[derive(Clone, Copy)]
struct Term {
    /// Bytes or nanoseconds with a unit, else as it stands.
    value: i128,
    has_unit: bool,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    units: Units,
    /// Nanoseconds of a bare number, of times; sizes have other suffixes, and counts too: `rate_iops=1k` is 1024 a second.
    bare_ns: Option<i128>,
}

impl Units {
    /// Bytes, or a count: those take the same suffixes.
    pub fn bytes(self, text: &str) -> Result<u64, String> {
        self.value(text, None)
    }

    /// A size or a count as all understand it, without units and arithmetic.
    pub fn plain(self, text: &str) -> Result<String, String> {
        self.bytes(text).map(|n| n.to_string())
    }

    /// Nanoseconds; a bare number is seconds.
    pub fn seconds(self, text: &str) -> Result<u64, String> {
        self.value(text, Some(1_000_000_000))
    }

    /// Nanoseconds; a bare number is microseconds.
    pub fn microseconds(self, text: &str) -> Result<u64, String> {
        self.value(text, Some(1000))
    }

    fn value(self, text: &str, bare_ns: Option<i128>) -> Result<u64, String> {
        let mut parser = Parser { text, at: 0, units: self, bare_ns };
        let term = parser.joined(0, 0)?;
        let bare = bare_ns.filter(|_| !term.has_unit).unwrap_or(1);
        let value = parser.in_range(term.value.checked_mul(bare))?;
        parser.space();
        if parser.at != text.len() {
            return Err(format!("'{text}': '{}' is not understood", &text[parser.at..]));
        }
        if value < 0 {
            return Err(format!("'{text}' is negative"));
        }
        // As everywhere: the sum of two stays in range.
        u64::try_from(value).ok().filter(|v| *v < 1 << 63).ok_or_else(|| format!("'{text}' is too large"))
    }
}

/// The parts of a text between marks that do not stand in parentheses: what does is arithmetic.
pub(super) fn pieces<'a>(text: &'a str, marks: &str) -> Vec<&'a str> {
    let mut open = 0i32;
    text.split(|c| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open <= 0 && marks.contains(c)
    })
    .map(str::trim)
    .collect()
}

/// A unit as in `4ki`, which fio documents as the other base and reads as `4k`.
pub(super) fn doubtful_unit(text: &str) -> Option<&str> {
    let at = text.char_indices().zip(text.chars().skip(1)).find_map(|((at, c), next)| {
        let unit = "kmgtp".contains(c.to_ascii_lowercase()) && next.eq_ignore_ascii_case(&'i');
        let number = || text[..at].ends_with(|c: char| c.is_ascii_digit() || c == ')');
        // A unit is two bytes; what stands in the place of one may be more.
        let last =
            || !text[at + 1..].starts_with("ib") && !text[at + 2..].starts_with(|c: char| c.is_ascii_alphanumeric());
        (unit && number() && last()).then_some(at)
    })?;
    Some(&text[at..at + 2])
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        self.space();
        let next = self.rest().chars().next().filter(|c| wanted.contains(c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Terms and what joins them, from a level of binding on: sums, products, powers.
    fn joined(&mut self, level: usize, depth: u32) -> Result<Term, String> {
        const SIGNS: [&[char]; 3] = [&['+', '-'], &['*', '/', '%'], &['^']];
        let Some(signs) = SIGNS.get(level) else { return self.term(depth) };
        let mut term = self.joined(level + 1, depth)?;
        while let Some(sign) = self.take(signs) {
            // The right one of two powers binds closer, as usual.
            let (right, depth) = if sign == '^' { (level, self.deeper(depth)?) } else { (level + 1, depth) };
            let other = self.joined(right, depth)?;
            term = self.join(term, sign, other)?;
        }
        Ok(term)
    }

    fn join(&self, one: Term, sign: char, other: Term) -> Result<Term, String> {
        let a = one.value;
        let b = other.value;
        let exponent = u32::try_from(other.value);
        let value = match sign {
            '+' | '-' if one.has_unit != other.has_unit && self.bare_ns.is_some() => {
                return Err(format!("'{}' adds a time to a number without a unit", self.text));
            }
            '/' | '%' if b == 0 => return Err(format!("'{}' divides by 0", self.text)),
            '^' if exponent.is_err() => return Err(format!("'{}': an exponent is a number from 0", self.text)),
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            '/' => a.checked_div(b),
            '%' => a.checked_rem(b),
            _ => a.checked_pow(exponent.unwrap_or_default()),
        };
        let has_unit = one.has_unit || (sign != '^' && other.has_unit);
        Ok(Term { value: self.in_range(value)?, has_unit })
    }

    fn in_range(&self, value: Option<i128>) -> Result<i128, String> {
        value.ok_or_else(|| format!("'{}' is too large", self.text))
    }

    fn deeper(&self, depth: u32) -> Result<u32, String> {
        if depth < DEEPEST {
            return Ok(depth + 1);
        }
        Err(format!("'{}': too many parentheses, signs or powers", self.text))
    }

    fn term(&mut self, depth: u32) -> Result<Term, String> {
        if self.take(&['(']).is_some() {
            let value = self.joined(0, self.deeper(depth)?)?;
            self.take(&[')']).ok_or_else(|| format!("'{}': a parenthesis is not closed", self.text))?;
            return self.suffix(value);
        }
        if self.take(&['-']).is_some() {
            let term = self.term(self.deeper(depth)?)?;
            return Ok(Term { value: self.in_range(term.value.checked_neg())?, ..term });
        }
        if self.take(&['$']).is_some() {
            let machine = self.units.machine;
            let known = [
                ("pagesize", machine.page_size_bytes),
                ("mb_memory", machine.memory_bytes >> 20),
                ("ncpus", u64::from(machine.processors)),
            ];
            let Some((name, value)) = known.into_iter().find(|(name, _)| self.rest().starts_with(name)) else {
                return Err(format!("'{}': of variables $pagesize, $mb_memory and $ncpus are known", self.text));
            };
            self.at += name.len();
            return self.suffix(Term { value: i128::from(value), has_unit: false });
        }
        self.space();
        let hexadecimal = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        let (radix, prefix) = if hexadecimal { (16, 2) } else { (10, 0) };
        self.at += prefix;
        let digits: String = self.rest().chars().take_while(|c| c.is_digit(radix)).collect();
        if digits.is_empty() {
            return Err(format!("'{}' is not a number", self.text));
        }
        self.at += digits.len();
        let value = self.in_range(i128::from_str_radix(&digits, radix).ok())?;
        self.suffix(Term { value, has_unit: false })
    }

    fn suffix(&mut self, term: Term) -> Result<Term, String> {
        let word: String = self.rest().chars().take_while(char::is_ascii_alphabetic).collect();
        let unit = word.to_ascii_lowercase();
        let (factor, known) = match self.bare_ns {
            None => {
                let bare = unit.strip_suffix('b').unwrap_or(&unit);
                let (letter, other) = bare.strip_suffix('i').map_or((bare, false), |l| (l, true));
                let base: i128 = if (self.units.kb_base == 1000) == other { 1024 } else { 1000 };
                let power = ["", "k", "m", "g", "t", "p"].iter().position(|l| *l == letter && !(l.is_empty() && other));
                (power.map(|power| base.pow(power as u32)), "k, m, g, t, p, ki, mi, ..")
            }
            Some(_) => {
                // fio takes every other word, `ns` and `sec` too, for microseconds.
                let factors = [("", 1), ("us", 1000), ("usec", 1000), ("ms", 1_000_000), ("msec", 1_000_000)];
                let longer =
                    [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)].map(|(unit, s)| (unit, s * 1_000_000_000));
                let known = factors.into_iter().chain(longer).find(|(name, _)| *name == unit);
                (known.map(|(_, factor)| factor), "d, h, m, s, ms, us")
            }
        };
        if unit == "z" && self.bare_ns.is_none() {
            return Err(format!("'{}': sizes in zones are not supported: of zoned devices none is", self.text));
        }
        let factor = factor.ok_or_else(|| format!("'{}': unknown unit '{word}' (known: {known})", self.text))?;
        self.at += word.len();
        let value = self.in_range(term.value.checked_mul(factor))?;
        Ok(Term { value, has_unit: term.has_unit || !unit.is_empty() })
    }
}

/// Whether a size is counted in zones of a zoned device: `524z`.
pub(super) fn is_in_zones(text: &str) -> bool {
    text.strip_suffix(['z', 'Z']).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(kb_base: u64) -> Units {
        let machine = TextMachine { page_size_bytes: 4096, memory_bytes: 2 << 30, processors: 4 };
        Units { kb_base, machine }
    }

    #[test]
    fn what_is_no_character_of_a_number_is_no_unit() {
        assert_eq!(doubtful_unit("read:128\u{fffd}"), None);
        assert_eq!(doubtful_unit("4\u{212a}i"), None);
        assert_eq!(doubtful_unit("4ki"), Some("ki"));
    }

    #[test]
    fn units_follow_the_base() {
        for (text, binary, decimal) in [
            ("4k", 4096, 4000),
            ("4kb", 4096, 4000),
            ("4KiB", 4000, 4096),
            ("1m", 1 << 20, 1_000_000),
            ("0x10", 16, 16),
        ] {
            assert_eq!(units(1024).bytes(text), Ok(binary), "{text}");
            assert_eq!(units(1000).bytes(text), Ok(decimal), "{text}");
        }
        assert_eq!(units(1024).seconds("2m"), Ok(120_000_000_000));
        assert_eq!(units(1024).seconds("90"), Ok(90_000_000_000));
        assert_eq!(units(1024).microseconds("90"), Ok(90_000));
    }

    #[test]
    fn arithmetic_and_keywords() {
        assert_eq!(units(1024).bytes("(4k*2+512)/2"), Ok(4352));
        assert_eq!(units(1024).bytes("8*$mb_memory"), Ok(8 * 2048));
        assert_eq!(units(1024).bytes("$pagesize"), Ok(4096));
        assert_eq!(units(1024).bytes("$ncpus*2"), Ok(8));
        assert_eq!(units(1024).bytes("(2^20*3)"), Ok(3 << 20));
        assert_eq!(units(1024).bytes("2^3^2"), Ok(512));
        assert_eq!(units(1024).bytes("(1+1)k"), Ok(2048));
        // A bare number keeps its unit in an expression, and a unit behind one is that of all.
        assert_eq!(units(1024).seconds("(10*60)"), Ok(600_000_000_000));
        assert_eq!(units(1024).seconds("(1+1)ms"), Ok(2_000_000));
        assert_eq!(units(1024).microseconds("(2*3)"), Ok(6000));
        assert_eq!(units(1024).seconds("2*3s"), Ok(6_000_000_000));
        assert!(units(1024).seconds("3s+1").unwrap_err().contains("without a unit"));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        for text in [
            "99999999999999999999g",
            "9223372036854775808",
            "(1p*1p)",
            "1/0",
            "1%0",
            "2^64",
            "2^-1",
            "2^99999999999",
            "((((",
            "4kk",
            "",
            "k",
            "-1",
        ] {
            assert!(units(1024).bytes(text).is_err(), "{text}");
        }
        let deep = "(".repeat(5000);
        assert!(units(1024).bytes(&deep).unwrap_err().contains("too many parentheses"));
        assert!(units(1024).bytes(&"-".repeat(5000)).is_err());
        assert!(units(1024).bytes(&"1^".repeat(5000)).is_err());
    }
}
