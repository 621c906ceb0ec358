//! The meeting of a group, as a state machine without sockets and clocks: who is there, who has come to the point at which all
//! wait for each other, what follows from what they brought, and what ends the group.

use super::message::{Agreed, Brought, FromRank, Hello, ToRank, shown, shown_limit};
use super::token::Token;
use judge::group::together;
use model::{Active, Ns, RankLimit, RankOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// A connection, by a number that is not used again.
pub type Connection = u64;
/// A rank that is silent for so long is gone: the others end within ten seconds, in groups of up to 200 ranks. In a larger one many ranks
/// may share a processor, and rank 0 has more to read before it comes to each.
///
/// Nanoseconds, of a group of so many ranks.
pub fn silence_ns(ranks: u32) -> Ns {
    6_000_000_000 + 20_000_000 * Ns::from(ranks.saturating_sub(100))
}
/// A connection has so long to show that it has the token.
const STRANGER_NS: Ns = 5_000_000_000;
/// So many connections beside those of the ranks are waited for at once.
const STRANGERS: usize = 64;
/// Where a group ends before all came, those who come so long afterwards are told why: a place where nobody listens tells them nothing.
const LATE_NS: Ns = 2_000_000_000;
/// All start so long after the last is ready, beside the longest round trip: the message has to reach all.
const START_AFTER_NS: Ns = 2_000_000;
/// And so much for each rank that has to be told.
const START_AFTER_NS_EACH: Ns = 20_000;

/// What is to be sent, and which connections are to be closed afterwards.
#[derive(Debug, Default, PartialEq)]
pub struct Answers {
    pub say: Vec<(Connection, ToRank)>,
    pub close: Vec<Connection>,
}

/// A connection whose other end has not shown yet that it has the token.
#[derive(Debug)]
struct Stranger {
    from: String,
    drawn: String,
    since_ns: Ns,
}

#[derive(Debug)]
struct Member {
    connection: Connection,
    from: String,
    machine: String,
    heard_ns: Ns,
    /// What it brought to the point at which all wait.
    brought: Option<Brought>,
    /// It has said that it is done.
    left: bool,
}

/// The meeting of a group.
#[derive(Debug)]
pub struct Meeting {
    token: Token,
    group: String,
    size: u32,
    began_ns: Ns,
    /// How long ranks may take to come.
    patience_ns: Ns,
    strangers: BTreeMap<Connection, Stranger>,
    members: BTreeMap<u32, Member>,
    ranks: BTreeMap<Connection, u32>,
    /// What rank 0 has shown that it asks; all must ask the same.
    asked: Option<(String, String)>,
    point: u32,
    ended: Option<String>,
    ended_ns: Ns,
    /// Ranks that were taken, or told why not.
    came: BTreeSet<u32>,
    /// Connections with a wrong token, and where the last one came from.
    refused: Option<(u32, String)>,
}

impl Meeting {
    pub fn new(token: Token, group: String, size: u32, now: Ns, patience_ns: Ns) -> Self {
        Self {
            token,
            group,
            size,
            began_ns: now,
            patience_ns,
            strangers: BTreeMap::new(),
            members: BTreeMap::new(),
            ranks: BTreeMap::new(),
            asked: None,
            point: 0,
            ended: None,
            ended_ns: 0,
            came: BTreeSet::new(),
            refused: None,
        }
    }

    /// Whether nobody is left who waits for it. One that ended before rank 0, in whose process this is, came itself has to tell that
    /// first; others that come late are told, too, for a moment.
    pub fn is_over(&self, now: Ns) -> bool {
        let late = || now.saturating_sub(self.ended_ns) < LATE_NS && self.came.len() < self.size as usize;
        let came = self.members.len() as u32 == self.size || self.ended.is_some() && self.came.contains(&0) && !late();
        came && self.members.values().all(|m| m.left)
    }

    /// Whether the other end of a connection has shown that it has the token.
    pub fn is_rank(&self, connection: Connection) -> bool {
        self.ranks.contains_key(&connection)
    }

    /// Somebody connects; `drawn` is what its proof has to be of.
    pub fn connects(&mut self, connection: Connection, from: String, drawn: String, now: Ns, out: &mut Answers) {
        if self.strangers.len() >= STRANGERS.max(self.size as usize) {
            out.close.push(connection);
            return;
        }
        out.say.push((connection, ToRank::Drawn(drawn.clone())));
        self.strangers.insert(connection, Stranger { from, drawn, since_ns: now });
    }

    /// A connection said something.
    pub fn hears(&mut self, connection: Connection, message: FromRank, now: Ns, out: &mut Answers) {
        let Some(rank) = self.ranks.get(&connection).copied() else {
            return match message {
                FromRank::Hello(hello) => self.greets(connection, &hello, now, out),
                _ => self.refuse(connection, out),
            };
        };
        let Some(member) = self.members.get_mut(&rank) else { return };
        member.heard_ns = now;
        match message {
            FromRank::Ping(number) => out.say.push((connection, ToRank::Pong(number, now))),
            FromRank::Leaves(None) => member.left = true,
            FromRank::Leaves(Some(why)) => {
                member.left = true;
                let why = format!("{} ended: {}", self.name(rank), shown(&why));
                self.end(why, now, out);
            }
            FromRank::Arrives(point, brought) if point == self.point && member.brought.is_none() => {
                member.brought = Some(brought);
                self.go_if_all_came(now, out);
            }
            FromRank::Arrives(..) | FromRank::Hello(_) => {
                let why = format!(
                    "{} does not do what the others do: this program is wrong, please report it",
                    self.name(rank)
                );
                self.end(why, now, out);
            }
        }
    }

    /// A connection is gone.
    pub fn gone(&mut self, connection: Connection, why: &str, now: Ns, out: &mut Answers) {
        self.strangers.remove(&connection);
        let Some(rank) = self.ranks.remove(&connection) else { return };
        let name = self.name(rank);
        if let Some(member) = self.members.get_mut(&rank).filter(|m| !m.left) {
            member.left = true;
            self.end(format!("{name} is gone ({why})"), now, out);
        }
    }

    /// Time has passed.
    pub fn looks(&mut self, now: Ns, out: &mut Answers) {
        let late = self.strangers.iter().filter(|(_, s)| now.saturating_sub(s.since_ns) > STRANGER_NS);
        let late: Vec<Connection> = late.map(|(connection, _)| *connection).collect();
        late.into_iter().for_each(|connection| self.refuse(connection, out));
        let silent = |m: &Member| !m.left && now.saturating_sub(m.heard_ns) > silence_ns(self.size);
        let silent: Vec<u32> = self.members.iter().filter(|(_, m)| silent(m)).map(|(rank, _)| *rank).collect();
        for rank in silent {
            let why =
                format!("{} hangs: it sent nothing for {} s", self.name(rank), silence_ns(self.size) / 1_000_000_000);
            if let Some(member) = self.members.get_mut(&rank) {
                member.left = true;
                out.close.push(member.connection);
            }
            self.end(why, now, out);
        }
        if (self.members.len() as u32) < self.size && now.saturating_sub(self.began_ns) > self.patience_ns {
            let missing: Vec<u32> = (0..self.size).filter(|rank| !self.members.contains_key(rank)).collect();
            let refused = self.refused.as_ref().map_or(String::new(), |(count, from)| match count {
                1 => format!("; 1 connection did not have the token, from {from}"),
                _ => format!("; {count} connections did not have the token, the last one from {from}"),
            });
            let waited = self.patience_ns / 1_000_000_000;
            self.end(
                format!(
                    "{} never came ({} of {}, {waited} s were waited){refused}",
                    ranks_text(&missing),
                    missing.len(),
                    self.size
                ),
                now,
                out,
            );
        }
    }

    /// Ends the group for all; the first reason counts.
    pub fn end(&mut self, why: String, now: Ns, out: &mut Answers) {
        if self.ended.is_some() {
            return;
        }
        out.say.extend(self.members.values().filter(|m| !m.left).map(|m| (m.connection, ToRank::Ended(why.clone()))));
        (self.ended, self.ended_ns) = (Some(why), now);
    }

    fn refuse(&mut self, connection: Connection, out: &mut Answers) {
        if let Some(stranger) = self.strangers.remove(&connection) {
            let count = self.refused.as_ref().map_or(0, |(count, _)| *count);
            self.refused = Some((count.saturating_add(1), stranger.from));
        }
        out.close.push(connection);
    }

    /// Somebody says which rank it is, and shows that it has the token.
    fn greets(&mut self, connection: Connection, hello: &Hello, now: Ns, out: &mut Answers) {
        let Some(stranger) = self.strangers.get(&connection) else { return };
        if !self.token.proves(&hello.parts(&hello.numbers(), &stranger.drawn), &hello.proof) {
            out.say.push((connection, ToRank::Ended("it has another token".to_owned())));
            return self.refuse(connection, out);
        }
        let from = stranger.from.clone();
        self.strangers.remove(&connection);
        if hello.rank < self.size {
            self.came.insert(hello.rank);
        }
        let who = format!("rank {} ({} at {from})", hello.rank, shown(&hello.machine));
        let asked = (hello.version.clone(), hello.asked.clone());
        let (version, question) = self.asked.get_or_insert(asked).clone();
        let wrong = match self.members.get(&hello.rank) {
            _ if self.ended.is_some() => self.ended.clone(),
            _ if hello.size != self.size => {
                Some(format!("{who} is of {} ranks, and this group of {}", hello.size, self.size))
            }
            _ if hello.rank >= self.size => Some(format!("{who} is none of {}", self.size)),
            _ if hello.version != version => {
                Some(format!("{who} is narrows {}, and another rank {}", shown(&hello.version), shown(&version)))
            }
            _ if hello.asked != question => {
                Some(format!("{who} was asked something else than another rank: the same command is needed on all"))
            }
            Some(first) => Some(format!("rank {} came twice, from {} and {from}", hello.rank, first.from)),
            None => None,
        };
        if let Some(wrong) = wrong {
            out.say.push((connection, ToRank::Ended(wrong.clone())));
            out.close.push(connection);
            return self.end(wrong, now, out);
        }
        self.ranks.insert(connection, hello.rank);
        let machine = shown(&hello.machine);
        self.members
            .insert(hello.rank, Member { connection, from, machine, heard_ns: now, brought: None, left: false });
        let proof = self.token.proof(&["meeting", &self.group, &hello.drawn]);
        out.say.push((connection, ToRank::Welcome { group: self.group.clone(), proof }));
    }

    /// What it is called where people read it.
    fn name(&self, rank: u32) -> String {
        let machine = self.members.get(&rank).map_or("", |m| m.machine.as_str());
        format!("rank {rank} ({machine})")
    }

    /// Where all have come to the point, they go on.
    fn go_if_all_came(&mut self, now: Ns, out: &mut Answers) {
        let all = self.members.len() as u32 == self.size && self.members.values().all(|m| m.brought.is_some());
        if !all || self.ended.is_some() {
            return;
        }
        let brought: Vec<Brought> = self.members.values_mut().filter_map(|m| m.brought.take()).collect();
        match self.agreed(brought, now) {
            Ok(agreed) => {
                let point = self.point;
                let to = self.members.values().map(|m| m.connection);
                out.say.extend(to.zip(agreed).map(|(to, agreed)| (to, ToRank::Goes(point, Box::new(agreed)))));
                self.point += 1;
            }
            Err(why) => self.end(why, now, out),
        }
    }

    /// What follows from what all brought, for each.
    fn agreed(&self, brought: Vec<Brought>, now: Ns) -> Result<Vec<Agreed>, String> {
        let count = brought.len();
        // Those who wait have no part in what the others agree on.
        let taking: Vec<u32> =
            self.members.keys().zip(&brought).filter(|(_, b)| **b != Brought::Waits).map(|(rank, _)| *rank).collect();
        let brought: Vec<Brought> = brought.into_iter().filter(|b| *b != Brought::Waits).collect();
        let same = |agreed: Agreed| Ok(vec![agreed; count]);
        // Those of one kind, or the ranks are not at one point.
        macro_rules! all {
            ($kind:path) => {
                brought
                    .iter()
                    .map(|b| if let $kind(value) = b { Some(value.clone()) } else { None })
                    .collect::<Option<Vec<_>>>()
            };
        }
        let apart = || "the ranks are not at the same point: their plans differ".to_owned();
        match brought.first().ok_or_else(apart)? {
            Brought::Waits => Err(apart()),
            Brought::Here => {
                brought.iter().all(|b| *b == Brought::Here).then(|| same(Agreed::Here)).ok_or_else(apart)?
            }
            Brought::Object(_) => {
                let objects = all!(Brought::Object).ok_or_else(apart)?;
                Ok(same_object(&objects))
            }
            Brought::File(_) => Ok(same_file(&all!(Brought::File).ok_or_else(apart)?)),
            Brought::Facts(_) => {
                let facts = all!(Brought::Facts).ok_or_else(apart)?;
                same(Agreed::Facts(facts[1..].iter().fold(facts[0], |all, next| all.both(*next))))
            }
            Brought::Plan(_) => {
                let plans = all!(Brought::Plan).ok_or_else(apart)?;
                match plans.iter().position(|plan| *plan != plans[0]) {
                    None => same(Agreed::Here),
                    Some(rank) => Err(format!(
                        "the plan of {} is another than that of {}: their targets are not of one kind (narrows run ... --plan shows it)",
                        self.name(rank as u32),
                        self.name(0)
                    )),
                }
            }
            Brought::Ready(_) => {
                let left = all!(Brought::Ready).ok_or_else(apart)?;
                same(Agreed::Ready(left.into_iter().min().unwrap_or(0)))
            }
            Brought::Starts(_) => {
                let longest = all!(Brought::Starts).ok_or_else(apart)?.into_iter().max().unwrap_or(0);
                same(Agreed::Starts(now + START_AFTER_NS + 2 * longest + START_AFTER_NS_EACH * taking.len() as u64))
            }
            Brought::Done(_) => {
                let active: Vec<Active> = all!(Brought::Done).ok_or_else(apart)?;
                let mut together = together(&active);
                together.least_active = taking.get(together.least_active as usize).copied().unwrap_or(0);
                same(Agreed::Together(together))
            }
            Brought::Share(_) => {
                let mut shares = all!(Brought::Share).ok_or_else(apart)?;
                shares.sort_by_key(|s| s.rank);
                Ok(for_the_first(count, Agreed::Shares(shares), Agreed::Shares(Vec::new())))
            }
            Brought::Outcome(_) => {
                let outcomes = all!(Brought::Outcome).ok_or_else(apart)?.into_iter().zip(self.members.iter());
                let named = |(outcome, (rank, member)): (RankOutcome, (&u32, &Member))| RankOutcome {
                    rank: *rank,
                    machine: member.machine.clone(),
                    statement: shown(&outcome.statement),
                    ..outcome
                };
                let outcomes = outcomes.map(named).collect();
                Ok(for_the_first(count, Agreed::Outcomes(outcomes), Agreed::Outcomes(Vec::new())))
            }
            Brought::Limits(_) => {
                let limits = shown_limits(all!(Brought::Limits).ok_or_else(apart)?);
                let machines = self.members.values().map(|m| m.machine.clone()).collect();
                Ok(for_the_first(count, Agreed::Limits { limits, machines }, Agreed::Here))
            }
        }
    }
}

/// Who shares a device or file system with whom: the first of those takes its lock.
fn same_object(objects: &[u64]) -> Vec<Agreed> {
    let of = |(rank, object): (usize, &u64)| Agreed::Object {
        locks: objects.iter().position(|o| o == object) == Some(rank),
        ranks: objects.iter().filter(|o| *o == object).count() as u32,
    };
    objects.iter().enumerate().map(of).collect()
}

/// Limits of all ranks, with texts for others to show.
fn shown_limits(limits: Vec<Vec<Option<RankLimit>>>) -> Vec<Vec<Option<RankLimit>>> {
    limits.into_iter().map(|of_rank| of_rank.into_iter().map(|limit| limit.map(shown_limit)).collect()).collect()
}

/// Who has the file of another rank.
fn same_file(files: &[Option<u64>]) -> Vec<Agreed> {
    let mut ranks: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (file, rank) in files.iter().zip(0..) {
        file.iter().for_each(|file| ranks.entry(*file).or_default().push(rank));
    }
    ranks.retain(|_, ranks| ranks.len() > 1);
    let first = |file: &Option<u64>| ranks.get(file.as_ref()?)?.first().copied();
    let mut agreed: Vec<Agreed> =
        files.iter().map(|file| Agreed::SameFile(first(file).into_iter().collect())).collect();
    let mut all: Vec<u32> = ranks.values().flatten().copied().collect();
    all.sort_unstable();
    agreed[0] = Agreed::SameFile(all);
    agreed
}

/// All for rank 0, none for the others: what comes of `count` ranks is `count` times as long, not its square.
fn for_the_first(count: usize, first: Agreed, others: Agreed) -> Vec<Agreed> {
    let mut agreed = vec![others; count];
    agreed[0] = first;
    agreed
}

/// `rank 3`, `ranks 1, 2 and 7`, `ranks 1, 2, 3, 4 and 40 more`.
pub(super) fn ranks_text(ranks: &[u32]) -> String {
    const NAMED: usize = 8;
    let text = |ranks: &[u32]| ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match ranks {
        [one] => format!("rank {one}"),
        [first @ .., last] if ranks.len() <= NAMED => format!("ranks {} and {last}", text(first)),
        _ => format!("ranks {} and {} more", text(&ranks[..NAMED.min(ranks.len())]), ranks.len().saturating_sub(NAMED)),
    }
}

#[cfg(test)]
#[path = "meeting_tests.rs"]
mod tests;
