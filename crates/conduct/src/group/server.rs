//! The sockets of a meeting: one thread of rank 0, which listens, reads and writes for all ranks and never waits for one.

use super::meeting::{Answers, Connection, Meeting};
use super::message::{Lines, RANK_BYTES, STRANGER_BYTES, ToRank, line, parsed};
use crate::random_u64;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;
use sys::monotonic_ns;

/// How often it is looked whether a rank is silent.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// What waits to be sent to one rank at most, beside a message of all shares.
const MOST_WAITING: usize = 1 << 20;
/// The number of the listener among those of the connections.
const LISTENER: Connection = 0;
/// Connections that are taken in one go, so that those that are there are heard, too.
const MOST_AT_ONCE: usize = 256;

/// After a connection that could not be taken; the others wait so long.
const PAUSE: Duration = Duration::from_millis(10);

/// Connections that the kernel holds until they are taken; it has a bound of its own (listen(2), somaxconn).
const BACKLOG: i32 = 4096;

struct Peer {
    socket: TcpStream,
    lines: Lines,
    waiting: Vec<u8>,
    /// It is told that there is room again.
    asks_to_write: bool,
    closes: bool,
}

/// The thread's state.
struct Server {
    epoll: OwnedFd,
    listener: TcpListener,
    peers: BTreeMap<Connection, Peer>,
    next: Connection,
    meeting: Meeting,
}

/// Listens at the meeting place. Where it is a name, at all addresses: what a host calls itself is often 127.0.1.1 to itself
/// alone.
///
/// # Errors
/// Those of bind(2); the port is in use.
pub fn listen(host: &str, port: u16) -> io::Result<TcpListener> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let wildcard = || {
        TcpListener::bind(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))).or_else(|e| match e.kind() {
            io::ErrorKind::AddrInUse => Err(e),
            _ => TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))),
        })
    };
    match bare.parse::<IpAddr>() {
        // An address of a service that leads here is none of this machine.
        Ok(address) => TcpListener::bind(SocketAddr::from((address, port))).or_else(|e| match e.kind() {
            io::ErrorKind::AddrNotAvailable => wildcard(),
            _ => Err(e),
        }),
        Err(_) => wildcard(),
    }
}

/// Where rank 0 itself reaches its listener.
///
/// # Errors
/// The listener has no address.
pub fn own_address(listener: &TcpListener) -> io::Result<SocketAddr> {
    let mut address = listener.local_addr()?;
    if address.ip().is_unspecified() {
        let loopback: IpAddr = if address.is_ipv6() { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
        address.set_ip(loopback);
    }
    Ok(address)
}

/// Has the kernel allow this process so many descriptors, as far as it may ask for them (getrlimit(2), RLIMIT_NOFILE): a thousand
/// ranks are more than the usual limit.
pub fn allow_descriptors(wanted: u64) {
    let limit = getrlimit(Resource::Nofile);
    if let Some(current) = limit.current.filter(|current| *current < wanted) {
        let allowed = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted)).max(current);
        // Without them ranks wait in the kernel's queue, and are told which never came.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum: limit.maximum });
    }
}

/// Starts the thread. It ends when all ranks have left, or nobody is left to be told that the group has ended.
///
/// # Errors
/// The kernel has no epoll(7), or gives no thread.
pub fn start(listener: TcpListener, meeting: Meeting) -> io::Result<std::thread::JoinHandle<()>> {
    listener.set_nonblocking(true)?;
    // All ranks come at one moment: who finds the kernel's queue full believes to be connected, and waits.
    rustix::net::listen(&listener, BACKLOG)?;
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    let server = Server { epoll, listener, peers: BTreeMap::new(), next: LISTENER + 1, meeting };
    std::thread::Builder::new().name("meeting".into()).spawn(move || server.serve())
}

impl Server {
    fn serve(mut self) {
        let mut events: Vec<Event> = Vec::with_capacity(MOST_AT_ONCE);
        while !self.meeting.is_over(monotonic_ns()) || self.peers.values().any(|p| !p.waiting.is_empty()) {
            events.clear();
            if let Err(e) = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&LOOK))
                && e != rustix::io::Errno::INTR
            {
                // Without it nobody can be heard; the ranks see that the connection ends.
                return;
            }
            let mut out = Answers::default();
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept(&mut out),
                    connection => self.look_at(connection, event.flags, &mut out),
                }
            }
            self.meeting.looks(monotonic_ns(), &mut out);
            while !out.say.is_empty() || !out.close.is_empty() {
                let Answers { say, close } = std::mem::take(&mut out);
                for (connection, message) in say {
                    self.say(connection, &message, &mut out);
                }
                close.into_iter().for_each(|connection| self.close(connection));
            }
        }
    }

    fn accept(&mut self, out: &mut Answers) {
        for _ in 0..MOST_AT_ONCE {
            let (socket, from) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                // Where descriptors are short it is tried again, not at once: those who wait are in the kernel's queue.
                Err(_) => return std::thread::sleep(PAUSE),
            };
            let connection = self.next;
            let ready = socket.set_nonblocking(true).is_ok()
                && socket.set_nodelay(true).is_ok()
                && epoll::add(&self.epoll, &socket, EventData::new_u64(connection), EventFlags::IN).is_ok();
            let Some(drawn) = random_u64().and_then(|a| Ok((a, random_u64()?))).ok().filter(|_| ready) else {
                continue;
            };
            self.next += 1;
            let (lines, waiting) = (Lines::default(), Vec::new());
            self.peers.insert(connection, Peer { socket, lines, waiting, asks_to_write: false, closes: false });
            let drawn = format!("{:016x}{:016x}", drawn.0, drawn.1);
            self.meeting.connects(connection, from.ip().to_canonical().to_string(), drawn, monotonic_ns(), out);
        }
    }

    fn look_at(&mut self, connection: Connection, flags: EventFlags, out: &mut Answers) {
        if flags.contains(EventFlags::OUT) {
            self.write(connection, out);
        }
        if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            self.read(connection, out);
        }
    }

    fn read(&mut self, connection: Connection, out: &mut Answers) {
        let mut buffer = [0; 16 << 10];
        let most = if self.meeting.is_rank(connection) { RANK_BYTES } else { STRANGER_BYTES };
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        let read = match peer.socket.read(&mut buffer) {
            Ok(0) => return self.lose(connection, "the connection was closed", out),
            Ok(read) => read,
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => return,
            Err(e) => return self.lose(connection, &e.to_string(), out),
        };
        if let Err(why) = peer.lines.push(&buffer[..read], most) {
            return self.lose(connection, &why, out);
        }
        while let Some(peer) = self.peers.get_mut(&connection).filter(|p| !p.closes) {
            let next = peer.lines.next(most).and_then(|line| line.map(|line| parsed(&line)).transpose());
            match next {
                Ok(Some(message)) => self.meeting.hears(connection, message, monotonic_ns(), out),
                Ok(None) => return,
                Err(why) => return self.lose(connection, &why, out),
            }
        }
    }

    fn say(&mut self, connection: Connection, message: &ToRank, out: &mut Answers) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        let Ok(line) = line(message) else { return };
        peer.waiting.extend_from_slice(&line);
        if peer.waiting.len() > MOST_WAITING.max(2 * line.len()) {
            return self.lose(connection, "it does not take what is sent", out);
        }
        self.write(connection, out);
    }

    fn write(&mut self, connection: Connection, out: &mut Answers) {
        let Some(peer) = self.peers.get_mut(&connection) else { return };
        while !peer.waiting.is_empty() {
            match peer.socket.write(&peer.waiting) {
                Ok(written) => drop(peer.waiting.drain(..written)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return self.lose(connection, &e.to_string(), out),
            }
        }
        let wants = !peer.waiting.is_empty();
        if wants != peer.asks_to_write {
            peer.asks_to_write = wants;
            let flags = if wants { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
            // A connection that cannot be watched is silent, and is found so.
            let _ = epoll::modify(&self.epoll, &peer.socket, EventData::new_u64(connection), flags);
        }
        if peer.closes && !wants {
            self.peers.remove(&connection);
        }
    }

    /// Closes it once what waits is sent.
    fn close(&mut self, connection: Connection) {
        match self.peers.get_mut(&connection) {
            Some(peer) if !peer.waiting.is_empty() => peer.closes = true,
            _ => drop(self.peers.remove(&connection)),
        }
    }

    fn lose(&mut self, connection: Connection, why: &str, out: &mut Answers) {
        self.peers.remove(&connection);
        self.meeting.gone(connection, why, monotonic_ns(), out);
    }
}

/// Between two attempts to reach the meeting.
pub const RETRY: Duration = Duration::from_millis(100);
