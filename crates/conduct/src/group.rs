//! A group: copies of this program, started by a launcher on one machine or many, that begin each phase together and give one
//! answer.
//!
//! Rank 0 listens at the meeting place (`server`); every rank, rank 0 too, connects there and shows that it has the token
//! (`token`). The meeting is a state machine (`meeting`): all wait at one point after the other, each brings what is needed
//! there, and each hears what follows (`message`). A rank that dies, hangs or leaves early ends the group for all, with its name.
//!
//! No wall clock is needed and no file is shared: each rank reads the meeting's clock before a phase, by questions and answers
//! over its connection, and knows it to half a round trip; all start at one moment of it.

pub mod launcher;
mod line;
mod meeting;
mod message;
mod opening;
mod server;
mod token;

pub use message::TargetFacts;
pub use opening::{open, plan};
pub use token::Token;

use crate::{Interrupts, random_u64};
use engine::{Control, Sharing};
use line::Line;
use message::{Agreed, Brought, FromRank, Hello, Lines, RANK_BYTES, ToRank, parsed};
use model::{
    Active, Failure, GroupAnswer, GroupPhase, GroupPlace, Ns, Plan, RankLimit, RankOutcome, RankShare, Together,
};
use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};
use sys::monotonic_ns;

/// Questions for the time before each phase; the fastest answer counts.
const QUESTIONS: u32 = 5;
/// How long an address may take to answer, and the meeting to take a rank that has shown its token.
const REACHED: Duration = Duration::from_secs(2);
const WELCOME: Duration = Duration::from_secs(15);
/// Descriptors that a run needs beside those of its group.
const DESCRIPTORS: u64 = 512;
/// The goodbyes of the others are waited for so long.
const GOODBYES: Duration = Duration::from_secs(8);

/// Where this process stands in a group, and where the group meets.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub rank: u32,
    pub size: u32,
    /// Name or address of the host of rank 0; an IPv6 address may stand in brackets.
    pub host: String,
    pub port: u16,
    pub token: Token,
    /// How long the others may take to come.
    pub patience: Duration,
    /// What this machine is called, to be shown to the others.
    pub machine: String,
    /// Its phases are done by 1, 2, 4, ... ranks.
    pub scale: bool,
    /// What was asked of it, in a text that must be the same for all.
    pub asked: String,
}

/// A rank of a group that has met.
#[derive(Debug)]
pub struct Group {
    rank: u32,
    size: u32,
    id: String,
    token: Token,
    scale: bool,
    line: Line,
    point: Cell<u32>,
    place: RefCell<GroupPlace>,
    _host: Option<Host>,
}

/// The thread of the meeting, of rank 0. Who meets here is told that it is over before this process ends.
#[derive(Debug)]
struct Host(std::thread::JoinHandle<()>);

impl Drop for Host {
    fn drop(&mut self) {
        let began = Instant::now();
        while !self.0.is_finished() && began.elapsed() < GOODBYES {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The host and the port of `HOST:PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`.
///
/// # Errors
/// It is none of these.
pub fn meeting_place(text: &str) -> Result<(String, u16), String> {
    let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let (host, port) = parts
        .filter(|(host, port)| !host.is_empty() && *port > 0)
        .ok_or_else(|| format!("'{text}' is not HOST:PORT, for example node1:7411 or [fd00::1]:7411"))?;
    let bare = host.strip_prefix('[').map_or(Some(host), |host| host.strip_suffix(']'));
    match bare {
        Some(bare) if host.starts_with('[') || !bare.contains(':') => Ok((bare.to_owned(), port)),
        _ => Err(format!("'{text}': write an IPv6 address in brackets, for example [fd00::1]:7411")),
    }
}

impl Invitation {
    /// Meets the others. What ends the group from then on ends the phase, too.
    ///
    /// # Errors
    /// The place cannot be listened at or reached, a rank never came, one came twice, or asks something else, or is of another
    /// version; the token is another.
    pub fn meet(self, interrupts: &Interrupts, control: &Control) -> Result<Group, Failure> {
        let mut host = None;
        let mut own = None;
        if self.rank == 0 {
            server::allow_descriptors(u64::from(self.size) + DESCRIPTORS);
            let listener = server::listen(&self.host, self.port).map_err(|e| self.cannot_listen(&e))?;
            own = Some(server::own_address(&listener).map_err(|e| self.cannot_listen(&e))?);
            let id = format!("{:016x}", random_u64()?);
            let patience_ns = u64::try_from(self.patience.as_nanos()).unwrap_or(u64::MAX);
            let meeting = meeting::Meeting::new(self.token.clone(), id, self.size, monotonic_ns(), patience_ns);
            host = Some(Host(server::start(listener, meeting).map_err(|e| self.cannot_listen(&e))?));
        }
        let (socket, drawn, lines) = self.connect(own, interrupts)?;
        let (id, lines) = self.greet(&socket, &drawn, lines).map_err(|why| self.refused(&why))?;
        let Self { rank, size, token, scale, .. } = self;
        let line = Line::open(socket, lines, size, interrupts.clone(), control)
            .map_err(|e| Failure::environment(format!("the connection to the group's meeting: {e}")))?;
        let place = GroupPlace { id: id.clone(), rank, size, machines: Vec::new(), phases: Vec::new(), ended: None };
        Ok(Group { rank, size, id, token, scale, line, point: Cell::new(0), place: RefCell::new(place), _host: host })
    }

    fn cannot_listen(&self, error: &io::Error) -> Failure {
        let at = format!("rank 0 cannot listen at port {}: {error}", self.port);
        if error.kind() == io::ErrorKind::AddrInUse {
            return Failure::refused(format!("{at}; another group meets there, or another program has it"))
                .remedy("--meet HOST:PORT   with another port, the same for all ranks");
        }
        Failure::environment(at).remedy("--meet HOST:PORT   with a host and a port that rank 0 may listen at")
    }

    fn refused(&self, why: &str) -> Failure {
        // Its meeting is that of rank 0 itself, which ended it because of another rank.
        if self.rank == 0 {
            return failure(why);
        }
        Failure::refused(format!("the group at {}:{} does not take rank {}: {why}", self.host, self.port, self.rank))
            .remedy("the same version, command, size and token for all ranks, and a number of its own for each")
    }

    /// Reaches the meeting, by whichever of its addresses answers; rank 0 may still have to come. With what it says first.
    fn connect(&self, own: Option<SocketAddr>, interrupts: &Interrupts) -> Result<(TcpStream, String, Lines), Failure> {
        let began = Instant::now();
        let mut why = String::new();
        while began.elapsed() < self.patience && !interrupts.end() {
            // Names may be known only once the host is there.
            let addresses = match own {
                Some(own) => Ok(vec![own]),
                None => (self.host.as_str(), self.port).to_socket_addrs().map(Iterator::collect),
            };
            match addresses {
                Ok(addresses) => {
                    for address in addresses {
                        match reached(address) {
                            Ok(Some(reached)) => return Ok(reached),
                            Ok(None) => return Err(self.refused("what listens there is no group's meeting")),
                            Err(e) => why = format!("{address}: {}", in_words(&e)),
                        }
                    }
                }
                Err(e) => why = e.to_string(),
            }
            std::thread::sleep(server::RETRY);
        }
        let waited = began.elapsed().as_secs();
        let what = format!("rank 0 was not met at {}:{} within {waited} s ({why})", self.host, self.port);
        Err(Failure::environment(what)
            .remedy("--meet HOST:PORT   where rank 0 runs, and where a firewall lets this machine through"))
    }

    /// Shows that it has the token, and has it shown. The group's id, and what came after that.
    fn greet(&self, socket: &TcpStream, theirs: &str, mut lines: Lines) -> Result<(String, Lines), String> {
        let text = |e: io::Error| e.to_string();
        socket.set_read_timeout(Some(WELCOME)).map_err(text)?;
        let draw = || random_u64().map_err(|e| e.message);
        let mut hello = Hello {
            rank: self.rank,
            size: self.size,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: message::shown(&self.machine),
            asked: token::digest(self.asked.as_bytes()),
            drawn: format!("{:016x}{:016x}", draw()?, draw()?),
            proof: String::new(),
        };
        hello.proof = self.token.proof(&hello.parts(&hello.numbers(), theirs));
        let drawn = hello.drawn.clone();
        (&mut &*socket).write_all(&message::line(&FromRank::Hello(hello))?).map_err(text)?;
        let welcome = next(socket, &mut lines).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => "it closed the connection: another token".to_owned(),
            _ => text(e),
        })?;
        match welcome {
            ToRank::Welcome { group, proof } if self.token.proves(&["meeting", &group, &drawn], &proof) => {
                Ok((message::shown(&group), lines))
            }
            ToRank::Ended(why) => Err(message::shown(&why)),
            _ => Err("who listens there does not have the token".to_owned()),
        }
    }
}

/// A connection to an address, what was drawn there for the proof, and what came after that; `None` where it is no meeting. Whoever
/// does not say anything is asked again: the kernel of a busy host may have forgotten the connection.
fn reached(address: SocketAddr) -> io::Result<Option<(TcpStream, String, Lines)>> {
    let socket = TcpStream::connect_timeout(&address, REACHED)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(REACHED))?;
    let mut lines = Lines::default();
    Ok(match next(&socket, &mut lines) {
        Ok(ToRank::Drawn(drawn)) => Some((socket, drawn, lines)),
        Ok(_) => None,
        Err(e) if e.kind() == io::ErrorKind::InvalidData => None,
        Err(e) => return Err(e),
    })
}

/// The next message of a connection that has no thread yet.
fn next(mut socket: &TcpStream, lines: &mut Lines) -> io::Result<ToRank> {
    let invalid = |e: String| io::Error::new(io::ErrorKind::InvalidData, e);
    let mut buffer = [0; 4096];
    loop {
        if let Some(line) = lines.next(RANK_BYTES).map_err(invalid)? {
            return parsed(&line).map_err(invalid);
        }
        match socket.read(&mut buffer) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed")),
            Ok(read) => lines.push(&buffer[..read], RANK_BYTES).map_err(invalid)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

impl Group {
    /// This rank, and how many there are.
    pub fn place(&self) -> (u32, u32) {
        (self.rank, self.size)
    }

    /// What all runs of the group have in common.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it has in common with the others below one directory. Nothing of its name comes from another rank.
    fn sharing(&self) -> Sharing {
        let drawn = |what: &str| self.token.proof(&[what, &self.id]);
        let mut name = drawn("name");
        name.truncate(32);
        Sharing { name, mark: drawn("mark"), rank: self.rank, ranks: self.size }
    }

    /// What is known so far, for the run.
    pub fn so_far(&self) -> GroupPlace {
        GroupPlace { ended: self.line.ended(), ..self.place.borrow().clone() }
    }

    /// Why it has ended, where it has.
    pub fn ended(&self) -> Option<String> {
        self.line.ended()
    }

    /// Comes to the next point, and waits for all others there.
    fn at(&self, brought: Brought) -> Result<Agreed, Failure> {
        let point = self.point.replace(self.point.get() + 1);
        let went = self.line.say(&FromRank::Arrives(point, brought)).and_then(|()| self.line.wait(point));
        went.map_err(|why| failure(&why))
    }

    /// Waits for all.
    ///
    /// # Errors
    /// The group has ended; why. So of all that follow.
    pub fn wait(&self) -> Result<(), Failure> {
        self.at(Brought::Here).map(drop)
    }

    /// Whether this rank is the one that locks what it works on, of all ranks for which `object` is the same, and how many they are.
    pub fn object(&self, object: u64) -> Result<(bool, u32), Failure> {
        match self.at(Brought::Object(object))? {
            Agreed::Object { locks, ranks } => Ok((locks, ranks)),
            other => Err(unexpected(&other)),
        }
    }

    /// Ranks whose file or device is that of another rank, too: all of them in rank 0, in each other rank the first that has its own.
    pub fn same_file(&self, file: Option<u64>) -> Result<Vec<u32>, Failure> {
        match self.at(Brought::File(file))? {
            Agreed::SameFile(ranks) => Ok(ranks),
            other => Err(unexpected(&other)),
        }
    }

    /// What all know of their targets together.
    pub fn facts(&self, facts: TargetFacts) -> Result<TargetFacts, Failure> {
        match self.at(Brought::Facts(facts))? {
            Agreed::Facts(facts) => Ok(facts),
            other => Err(unexpected(&other)),
        }
    }

    /// That all have the same plan.
    pub fn same_plan(&self, plan: &Plan) -> Result<(), Failure> {
        let text = serde_json::to_vec(plan).map_err(|e| Failure::internal(e.to_string()))?;
        self.at(Brought::Plan(token::digest(&text))).map(drop)
    }

    /// The least that is left of the budget to any.
    pub fn ready(&self, left_ns: Ns) -> Result<Ns, Failure> {
        match self.at(Brought::Ready(left_ns))? {
            Agreed::Ready(left_ns) => Ok(left_ns),
            other => Err(unexpected(&other)),
        }
    }

    /// Waits until all start; in simulated time nobody waits for a moment of the clock.
    pub fn start(&self, simulated: bool) -> Result<(), Failure> {
        let clock = match simulated {
            true => None,
            false => Some(self.line.read_clock(QUESTIONS).map_err(|why| failure(&why))?),
        };
        match self.at(Brought::Starts(clock.map_or(0, |c| c.error_ns)))? {
            Agreed::Starts(at) => {
                if let Some(clock) = clock {
                    let at = at.saturating_add_signed(clock.ahead_ns.saturating_neg());
                    // What is not a moment that can come soon is not waited for.
                    let left = at.saturating_sub(monotonic_ns());
                    std::thread::sleep(Duration::from_nanos(left.min(1_000_000_000)));
                }
                self.line.take_stopped();
                Ok(())
            }
            other => Err(unexpected(&other)),
        }
    }

    /// A phase is done: `active` by the run's clock, which shows `now`. What all did together, and by how much the group's clock
    /// is ahead of the run's.
    pub fn done(&self, active: Active, now: Ns, simulated: bool) -> Result<(Together, Active, i64), Failure> {
        let mut active = active;
        // Each simulated device has a time of its own: a phase begins at one moment of it.
        let mut ahead_ns = i64::try_from(active.started_ns).map_or(0, i64::wrapping_neg);
        if !simulated {
            let own = monotonic_ns();
            let clock = self.line.clock().ok_or_else(|| failure("the meeting's clock is not known"))?;
            let run_ahead = i64::try_from(own.saturating_sub(now)).unwrap_or(i64::MAX);
            ahead_ns = run_ahead.saturating_add(clock.ahead_ns);
            active.error_ns = clock.error_at(own);
            let to_group = |ns: Ns| ns.saturating_add_signed(clock.ahead_ns);
            active.stopped = self.line.take_stopped().into_iter().map(|(a, b)| (to_group(a), to_group(b))).collect();
            // More than these are not told apart.
            active.stopped.truncate(256);
        }
        for time in [&mut active.started_ns, &mut active.counted_ns, &mut active.ended_ns] {
            *time = time.saturating_add_signed(ahead_ns);
        }
        match self.at(Brought::Done(active.clone()))? {
            Agreed::Together(together) => Ok((together, active, ahead_ns)),
            other => Err(unexpected(&other)),
        }
    }

    /// Tells what this rank did while all were active, and notes the phase.
    pub fn share(&self, phase: &str, together: &Together, share: RankShare) -> Result<GroupPhase, Failure> {
        match self.at(Brought::Share(share.clone()))? {
            Agreed::Shares(shares) => {
                let phase = judge::group::phase(together, phase, if self.rank == 0 { shares } else { vec![share] });
                self.place.borrow_mut().phases.push(phase.clone());
                Ok(phase)
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Waits while others do a phase.
    ///
    /// # Errors
    /// The group has ended.
    pub fn sit_out(&self, phase: &str) -> Result<(), Failure> {
        // Its start, its end, what was written made durable, and the shares.
        for brought in [Brought::Waits, Brought::Waits, Brought::Here, Brought::Waits] {
            self.at(brought)?;
        }
        self.line.take_stopped();
        self.place.borrow_mut().phases.push(GroupPhase { name: phase.to_owned(), ..GroupPhase::default() });
        Ok(())
    }

    /// Tells what limited this rank in each phase of the group, and notes what limited the others.
    pub fn limits(&self, own: Vec<Option<RankLimit>>) -> Result<(), Failure> {
        let own: Vec<_> = own.into_iter().map(|limit| limit.map(message::shown_limit)).collect();
        let agreed = self.at(Brought::Limits(own.clone()))?;
        let mut place = self.place.borrow_mut();
        let all = match agreed {
            Agreed::Limits { limits, machines } => {
                place.machines = machines.iter().map(|m| message::shown(m)).collect();
                limits
            }
            _ => vec![own],
        };
        for (number, phase) in place.phases.iter_mut().enumerate() {
            for (share, limits) in phase.shares.iter_mut().zip(&all) {
                share.limit = limits.get(number).cloned().flatten();
            }
        }
        Ok(())
    }

    /// A command that is no run is done: waits until all are, and says what it came to on each. It began and ended at these moments
    /// of this machine's monotonic clock; `at_once` says whether the answer rests on that all did it at one time.
    ///
    /// # Errors
    /// The group has ended.
    pub fn outcome(&self, own: RankOutcome, (began, ended): (Ns, Ns), at_once: bool) -> Result<GroupAnswer, Failure> {
        let ahead = self.line.clock().map_or(0, |clock| clock.ahead_ns);
        let [started_ns, ended_ns] = [began, ended].map(|ns| ns.saturating_add_signed(ahead));
        let statement = message::shown(&own.statement);
        let own = RankOutcome { rank: self.rank, statement, started_ns, ended_ns, ..own };
        let ranks = match self.at(Brought::Outcome(own.clone()))? {
            Agreed::Outcomes(ranks) if self.rank == 0 => ranks,
            Agreed::Outcomes(_) => vec![own],
            other => return Err(unexpected(&other)),
        };
        self.finish();
        let error_ns = self.line.clock().map_or(0, |clock| clock.error_ns);
        let active = |r: &RankOutcome| Active {
            started_ns: r.started_ns,
            counted_ns: r.started_ns,
            ended_ns: r.ended_ns,
            ..Active::default()
        };
        let overlap = || judge::group::together(&ranks.iter().map(active).collect::<Vec<_>>()).overlap_percent;
        let overlap_percent = (at_once && self.rank == 0).then(overlap);
        Ok(GroupAnswer { id: self.id.clone(), rank: self.rank, size: self.size, error_ns, overlap_percent, ranks })
    }

    /// Ends the group for all, with a reason.
    pub fn leave(&self, why: &str) {
        self.line.leave(Some(why));
    }

    /// It is done, as the others are.
    pub fn finish(&self) {
        self.line.leave(None);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.line.leave(Some("it ended before the others"));
    }
}

/// Nothing was measured yet: what ends a group later ends a run, which is kept.
fn failure(why: &str) -> Failure {
    Failure::environment(format!("the group ended: {why}")).remedy("start all ranks again once that is repaired")
}

/// Why a place was not reached; a time that is over has several names.
fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    }
}

fn unexpected(agreed: &Agreed) -> Failure {
    Failure::internal(format!("the meeting answered something else: {agreed:?}"))
}

#[cfg(test)]
#[path = "group/group_tests.rs"]
mod tests;
