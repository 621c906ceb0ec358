//! Random changes of an input that keep enough of its form to get past the first check: words, numbers, lines and fields
//! are changed as such, and parts of one input come into another.

use crate::truth::draw::Draw;
use std::collections::BTreeSet;

/// An input grows no further than this.
pub const MAX_BYTES: usize = 128 << 10;
/// Words that are taken from the corpus.
const MAX_WORDS: usize = 4096;
/// Changes of one input, at most.
const MAX_CHANGES: u64 = 8;
/// How often a line is repeated, at most.
const MAX_REPEATED: u64 = 2000;

/// What breaks things that read numbers and texts.
const HARD: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "127",
    "128",
    "255",
    "256",
    "4095",
    "4096",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e308",
    "1e-308",
    "1e400",
    "-0",
    "0.1",
    "nan",
    "inf",
    "-inf",
    "0x10",
    "1k",
    "1G",
    "16E",
    "100%",
    "101%",
    "1,5",
    "1.234,5",
    "",
    " ",
    "\t",
    "\r",
    "\n",
    "\n\n",
    "\0",
    "\"",
    "'",
    "\\",
    "/",
    "../..",
    "..",
    ".",
    ",",
    ";",
    ":",
    "=",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "<script>",
    "&lt;",
    "\u{1b}[31m",
    "\u{feff}",
    "\u{202e}",
    "ä",
    "漢",
    "𝄞",
    "\u{fffd}",
    "%s",
    "$(x)",
    "`x`",
    "=cmd()",
    "@x",
    "null",
    "true",
    "[]",
    "{}",
    "[[",
    "{{",
    "2026-11-22T10:00:00Z",
    "0000-00-00",
    "99:99:99",
];

/// FNV-1a (Fowler, Noll, Vo): a name for an input, and a number for an outcome.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

/// Makes inputs of others.
pub struct Mutator {
    draw: Draw,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// With words of the format, and those that the corpus holds.
    pub fn new(seed: u64, words: &[&str], corpus: &[Vec<u8>]) -> Self {
        let mut all: BTreeSet<Vec<u8>> = words.iter().chain(HARD).map(|w| w.as_bytes().to_vec()).collect();
        'inputs: for input in corpus {
            for word in input.split(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'%' | b'/'))) {
                if (2..32).contains(&word.len()) {
                    all.insert(word.to_vec());
                }
                if all.len() >= MAX_WORDS {
                    break 'inputs;
                }
            }
        }
        Self { draw: Draw::of(seed, "fuzz", 0), words: all.into_iter().collect() }
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.draw.bits() % (limit.max(1) as u64)) as usize
    }

    /// A new input.
    pub fn next(&mut self, pool: &[Vec<u8>]) -> Vec<u8> {
        let mut input = pool[self.below(pool.len())].clone();
        let changes = 1 + self.draw.bits() % MAX_CHANGES;
        for _ in 0..changes {
            self.change(&mut input, pool);
            input.truncate(MAX_BYTES);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, pool: &[Vec<u8>]) {
        match self.below(16) {
            0 => self.flip(input),
            1 => {
                let range = self.range(input, 16);
                input.drain(range);
            }
            2 => {
                let range = self.range(input, input.len());
                input.drain(range);
            }
            3 | 4 => {
                let at = self.below(input.len() + 1);
                let word = self.word();
                input.splice(at..at, word);
            }
            5 | 6 => {
                let range = self.token(input);
                let word = self.word();
                input.splice(range, word);
            }
            7 | 8 => {
                let range = self.number(input);
                let number = self.hard();
                input.splice(range, number);
            }
            9 => self.lines(input),
            10 => self.repeat(input),
            11 | 12 => {
                // A part of another input, whole lines of it as often as not.
                let other = &pool[self.below(pool.len())];
                let range = if self.below(2) == 0 { self.line(other) } else { self.range(other, 200) };
                let part = other[range].to_vec();
                let at = if self.below(2) == 0 { self.line(input).start } else { self.below(input.len() + 1) };
                input.splice(at..at, part);
            }
            13 => {
                let at = self.below(input.len() + 1);
                input.truncate(at);
            }
            14 => {
                let (a, b) = (self.token(input), self.token(input));
                let copied = input[a].to_vec();
                input.splice(b, copied);
            }
            _ => {
                let at = self.below(input.len() + 1);
                let word = self.word();
                let count = 1 + self.below(300);
                let long: Vec<u8> = word.iter().copied().cycle().take(word.len() * count).collect();
                input.splice(at..at, long);
            }
        }
    }

    fn flip(&mut self, input: &mut [u8]) {
        let at = self.below(input.len());
        let bits = self.draw.bits();
        if let Some(byte) = input.get_mut(at) {
            *byte = if bits & 1 == 0 { *byte ^ (1 << ((bits >> 1) & 7)) } else { (bits >> 8) as u8 };
        }
    }

    fn word(&mut self) -> Vec<u8> {
        let at = self.below(self.words.len());
        self.words[at].clone()
    }

    fn hard(&mut self) -> Vec<u8> {
        match self.below(3) {
            0 => (self.draw.bits() >> self.below(64)).to_string().into_bytes(),
            _ => HARD[self.below(HARD.len())].as_bytes().to_vec(),
        }
    }

    fn range(&mut self, input: &[u8], most: usize) -> std::ops::Range<usize> {
        let start = self.below(input.len() + 1);
        let length = self.below(most.min(input.len() - start) + 1);
        start..start + length
    }

    /// A word, number or sign that begins at or after a random place.
    fn token(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-') || !b.is_ascii();
        let from = self.below(input.len() + 1);
        let start = (from..input.len()).find(|i| is_word(&input[*i])).unwrap_or(from);
        let end = (start..input.len()).find(|i| !is_word(&input[*i])).unwrap_or(input.len());
        start..end
    }

    /// A number that begins at or after a random place.
    fn number(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let from = self.below(input.len() + 1);
        let start = (from..input.len()).find(|i| input[*i].is_ascii_digit()).unwrap_or(from);
        let end =
            (start..input.len()).find(|i| !(input[*i].is_ascii_digit() || input[*i] == b'.')).unwrap_or(input.len());
        start..end
    }

    /// The line around a random place, with its end.
    fn line(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let at = self.below(input.len() + 1);
        let start = input[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let end = input[at..].iter().position(|b| *b == b'\n').map_or(input.len(), |i| at + i + 1);
        start..end
    }

    /// Takes a line away, doubles it, or puts it elsewhere.
    fn lines(&mut self, input: &mut Vec<u8>) {
        let range = self.line(input);
        let line = input[range.clone()].to_vec();
        if self.below(3) > 0 {
            input.drain(range);
        }
        if self.below(3) > 0 {
            let to = self.line(input).start;
            input.splice(to..to, line);
        }
    }

    /// Repeats a line, or a few bytes, many times.
    fn repeat(&mut self, input: &mut Vec<u8>) {
        let range = if self.below(2) == 0 { self.line(input) } else { self.range(input, 32) };
        let part = input[range.clone()].to_vec();
        let count = (1 + self.draw.bits() % MAX_REPEATED) as usize;
        let count = count.min(MAX_BYTES / part.len().max(1) / 4);
        let many: Vec<u8> = part.iter().copied().cycle().take(part.len() * count).collect();
        input.splice(range.end..range.end, many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_inputs_again() {
        let corpus = vec![b"a = 1\nb = 2\n".to_vec(), b"[x]\n".to_vec()];
        let made = |seed| {
            let mut mutator = Mutator::new(seed, &["word"], &corpus);
            (0..200).map(|_| mutator.next(&corpus)).collect::<Vec<_>>()
        };
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
        let inputs = made(3);
        assert!(inputs.iter().all(|i| i.len() <= MAX_BYTES));
        assert!(inputs.iter().filter(|i| **i != corpus[0] && **i != corpus[1]).count() > 150);
    }

    #[test]
    fn nothing_at_all_can_be_changed_too() {
        let corpus = vec![Vec::new()];
        let mut mutator = Mutator::new(7, &[], &corpus);
        assert!((0..500).any(|_| !mutator.next(&corpus).is_empty()));
    }
}
