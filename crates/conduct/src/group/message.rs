//! What the ranks of a group and their meeting say to each other: lines of JSON over TCP, each of bounded length. They carry
//! numbers, and texts that are only shown; nothing in them is a path, a command or a plan.

use model::{Active, Ns, RankLimit, RankOutcome, RankShare, ServerCalls, Together};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Longest line before it is known that the other end has the token, bytes.
pub const STRANGER_BYTES: usize = 1024;
/// Longest line of a rank, bytes.
pub const RANK_BYTES: usize = 64 << 10;
/// Longest text that a rank sends to be shown, characters.
const TEXT_CHARS: usize = 300;
/// More ranks than these do not meet.
pub const MOST_RANKS: u32 = 65_536;

/// Who wants to be a rank, and the proof that it has the token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    pub rank: u32,
    pub size: u32,
    /// Version of the program.
    pub version: String,
    /// What its machine is called, to be shown.
    pub machine: String,
    /// SHA-256 of what was asked.
    pub asked: String,
    /// Drawn by the rank, for the proof of the other end.
    pub drawn: String,
    pub proof: String,
}

impl Hello {
    /// The parts that its proof is of; `drawn` by the other end.
    pub fn parts<'a>(&'a self, numbers: &'a str, drawn: &'a str) -> [&'a str; 7] {
        ["rank", numbers, &self.version, &self.machine, &self.asked, &self.drawn, drawn]
    }

    /// Its numbers, as the proof has them.
    pub fn numbers(&self) -> String {
        format!("{}/{}", self.rank, self.size)
    }
}

/// What a rank says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromRank {
    Hello(Hello),
    /// It is there, and wants to know the time.
    Ping(u32),
    /// It has come to a point, and brings what is needed there.
    Arrives(u32, Brought),
    /// It goes; why, where it is before the end.
    Leaves(Option<String>),
}

/// What a rank hears.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToRank {
    /// The first that a connection hears: what was drawn for its proof.
    Drawn(String),
    /// It is a rank of this group; the proof that this end has the token.
    Welcome { group: String, proof: String },
    /// The time, nanoseconds.
    Pong(u32, Ns),
    /// All have come to the point.
    Goes(u32, Box<Agreed>),
    /// The group has ended; why.
    Ended(String),
}

/// What is had of a target before there is a plan, so that all make the same one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFacts {
    pub max_bytes: u64,
    pub sector_bytes: u64,
    pub memory_bytes: Option<u64>,
    pub probe_bytes_per_s: Option<f64>,
    pub probe_round_bytes_per_s: Option<f64>,
    pub used_ns: Ns,
    pub written_bytes: u64,
    /// Seed of the plan, of which rank 0's counts.
    pub seed: u64,
}

impl TargetFacts {
    /// What holds for both: a seed of the first.
    #[must_use]
    pub fn both(self, other: Self) -> Self {
        let least = |a: Option<f64>, b: Option<f64>| Some(a?.min(b?));
        Self {
            max_bytes: self.max_bytes.min(other.max_bytes),
            sector_bytes: self.sector_bytes.max(other.sector_bytes),
            memory_bytes: self.memory_bytes.into_iter().chain(other.memory_bytes).min(),
            probe_bytes_per_s: least(self.probe_bytes_per_s, other.probe_bytes_per_s),
            probe_round_bytes_per_s: least(self.probe_round_bytes_per_s, other.probe_round_bytes_per_s),
            used_ns: self.used_ns.max(other.used_ns),
            written_bytes: self.written_bytes.max(other.written_bytes),
            seed: self.seed,
        }
    }
}

/// What a rank brings to a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Brought {
    /// What tells the object of its target apart from those of others.
    Object(u64),
    /// What tells its file or device apart from those of others, on whichever machine; `None` of a directory.
    File(Option<u64>),
    /// Nothing; all wait for each other.
    Here,
    /// Nothing: it waits while the others do what they bring.
    Waits,
    Facts(TargetFacts),
    /// SHA-256 of its plan.
    Plan(String),
    /// What is left of its budget.
    Ready(Ns),
    /// How long it takes at most until it hears that it may start: half of its round trip.
    Starts(Ns),
    /// When it was active.
    Done(Active),
    /// What it did while all were.
    Share(RankShare),
    /// What its command came to.
    Outcome(RankOutcome),
    /// What limited it, by phase.
    Limits(Vec<Option<RankLimit>>),
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreed {
    /// Whether the rank is the one that locks its object, and how many ranks have the same.
    Object {
        locks: bool,
        ranks: u32,
    },
    /// Ranks whose file is that of another rank, too: all of them for rank 0, for each other rank the first that has its file.
    SameFile(Vec<u32>),
    Here,
    Facts(TargetFacts),
    Ready(Ns),
    /// The moment at which all start.
    Starts(Ns),
    Together(Together),
    /// Those of all for rank 0; none for the others.
    Shares(Vec<RankShare>),
    /// Likewise.
    Outcomes(Vec<RankOutcome>),
    /// Likewise, by rank, with what each calls its machine.
    Limits {
        limits: Vec<Vec<Option<RankLimit>>>,
        machines: Vec<String>,
    },
}

/// A limit of another rank, with texts for others to show.
pub fn shown_limit(limit: RankLimit) -> RankLimit {
    RankLimit {
        statement: shown(&limit.statement),
        calls: limit.calls.map(|calls| ServerCalls { operation: shown(&calls.operation), ..calls }),
        ..limit
    }
}

/// A text for others to show: one line of bounded length, without characters that act on a terminal.
pub fn shown(text: &str) -> String {
    model::sanitize(&text.chars().take(TEXT_CHARS).collect::<String>()).into_owned()
}

/// A message as a line.
///
/// # Errors
/// None that is known: there are no maps with other keys than texts.
pub fn line(message: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut line = serde_json::to_vec(message).map_err(|e| e.to_string())?;
    line.push(b'\n');
    Ok(line)
}

/// The message of a line.
///
/// # Errors
/// It is none.
pub fn parsed<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|e| format!("not a message of a group: {e}"))
}

/// Takes bytes as they come, and gives lines.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
}

impl Lines {
    /// Adds what came.
    ///
    /// # Errors
    /// A line is longer than `most`.
    pub fn push(&mut self, bytes: &[u8], most: usize) -> Result<(), String> {
        self.bytes.extend_from_slice(bytes);
        let open = self.bytes.iter().rev().take_while(|b| **b != b'\n').count();
        if open > most {
            return Err(format!("a message of more than {most} bytes"));
        }
        Ok(())
    }

    /// The next whole line, without its end.
    ///
    /// # Errors
    /// It is longer than `most`.
    pub fn next(&mut self, most: usize) -> Result<Option<Vec<u8>>, String> {
        let Some(end) = self.bytes.iter().position(|b| *b == b'\n') else { return Ok(None) };
        if end > most {
            return Err(format!("a message of more than {most} bytes"));
        }
        let rest = self.bytes.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        line.pop();
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_and_none_is_longer_than_it_may_be() {
        let mut lines = Lines::default();
        lines.push(b"{\"a\"", 8).unwrap();
        assert_eq!(lines.next(8), Ok(None));
        lines.push(b":1}\nx\n", 8).unwrap();
        assert_eq!(lines.next(8), Ok(Some(b"{\"a\":1}".to_vec())));
        assert_eq!(lines.next(8), Ok(Some(b"x".to_vec())));
        assert_eq!(lines.next(8), Ok(None));
        assert!(lines.push(&[b'x'; 9], 8).unwrap_err().contains("more than 8 bytes"));
        let mut lines = Lines::default();
        lines.push(b"123456789\n", 8).unwrap();
        assert!(lines.next(8).is_err());
    }

    #[test]
    fn messages_are_what_they_were_and_nothing_else_is_one() {
        let messages = [
            FromRank::Ping(3),
            FromRank::Arrives(7, Brought::Ready(5)),
            FromRank::Leaves(Some("no space".into())),
            FromRank::Arrives(1, Brought::Object(9)),
            FromRank::Arrives(2, Brought::File(None)),
        ];
        for message in messages {
            let text = line(&message).unwrap();
            assert_eq!(parsed::<FromRank>(&text), Ok(message));
        }
        for bad in [&b"{}"[..], b"", b"\xff", b"{\"hello\":{\"rank\":1}}", b"{\"arrives\":[1,{\"path\":\"/etc\"}]}"] {
            assert!(parsed::<FromRank>(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_holds_for_both_is_the_lesser_target_and_the_first_seed() {
        let facts = TargetFacts {
            max_bytes: 10,
            sector_bytes: 512,
            memory_bytes: None,
            probe_bytes_per_s: Some(2.0),
            probe_round_bytes_per_s: None,
            used_ns: 1,
            written_bytes: 5,
            seed: 1,
        };
        let other =
            TargetFacts { max_bytes: 8, sector_bytes: 4096, memory_bytes: Some(3), seed: 2, used_ns: 4, ..facts };
        let both = facts.both(other);
        assert_eq!((both.max_bytes, both.sector_bytes, both.memory_bytes), (8, 4096, Some(3)));
        assert_eq!((both.seed, both.used_ns, both.probe_round_bytes_per_s), (1, 4, None));
    }

    #[test]
    fn a_text_from_elsewhere_is_one_harmless_line() {
        assert_eq!(shown("a\nb\x1b[2J"), "a\\nb\\x1b[2J");
        assert_eq!(shown(&"x".repeat(1000)).len(), 300);
    }
}
