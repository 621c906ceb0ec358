//! Several producers by one Unix socket, each with a connection, and acknowledgements back.
//!
//! A producer says its name (magic, length as 16 bits, the name), then sends frames with their length before them. It is sent,
//! when that has changed, how many of its frames are durable and how many are lost, each as 64 bits; all little-endian. One that
//! says another magic hands a ring of shared memory over with its first byte, and sends nothing more until it goes.

use super::bytes::framed;
use super::reading::Reading;
use super::shared::SharedRing;
use super::{Producer, RingFull, stream};
use crate::account::Account;
use crate::container::FrameKind;
use crate::frame_channel::FrameChannel;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use sys::SharedMemory;

/// What a producer says first.
pub const HELLO_MAGIC: [u8; 4] = *b"NFS1";
/// What one says first that hands shared memory over.
pub const SHARED_MAGIC: [u8; 4] = *b"NFM1";
/// Acknowledgements are that old at most.
const ACKNOWLEDGE: Duration = Duration::from_millis(5);
/// A producer that does not take its acknowledgements for so long is not waited for.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// Whoever waits looks at its reason to stop that often.
const POLL_INTERVAL_NS: i64 = 100_000_000;

/// Starts taking producers from a socket until the recording ends.
///
/// # Errors
/// No thread can be had.
pub fn listen(socket: UnixListener, full: RingFull, channel: FrameChannel) -> io::Result<Producer> {
    socket.set_nonblocking(true)?;
    let body = move || {
        let mut producers: Vec<Producer> = Vec::new();
        let connections = Arc::new(Connections::default());
        let mut said = Ok(());
        let ended = |producer: Producer| producer.join().unwrap_or_else(|_| Err("a producer's thread failed".into()));
        let wait = rustix::time::Timespec { tv_sec: 0, tv_nsec: POLL_INTERVAL_NS as _ };
        while !channel.is_stopping() {
            let waits = poll(&mut [PollFd::new(&socket, PollFlags::IN)], Some(&wait));
            if !matches!(waits, Ok(n) if n > 0) {
                continue;
            }
            let Ok((connection, _)) = socket.accept() else { continue };
            // Those that have gone leave nothing behind, however often they come again.
            for gone in producers.extract_if(.., |producer| producer.is_finished()) {
                said = said.and(ended(gone));
            }
            let connection = connections.accepted(connection);
            let channel = channel.clone();
            let serve = move || serve(connection, full, channel);
            producers
                .push(std::thread::Builder::new().name("in socket".into()).spawn(serve).map_err(|e| e.to_string())?);
        }
        producers.into_iter().map(ended).fold(said, Result::and)
    };
    std::thread::Builder::new().name("socket".into()).spawn(body)
}

/// Connections that are still read from.
#[derive(Default)]
struct Connections(Mutex<Vec<OpenConnection>>);

/// A connection that is open.
struct OpenConnection {
    number: u64,
    socket: Arc<UnixStream>,
    /// The producer's name, once it has said it.
    name: Option<String>,
}

/// A connection's place among them, until it is dropped.
struct ConnectionGuard {
    number: u64,
    socket: Arc<UnixStream>,
    among: Arc<Connections>,
}

impl Connections {
    fn all(&self) -> MutexGuard<'_, Vec<OpenConnection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one that was accepted: their numbers are in the order in which they came.
    fn accepted(self: &Arc<Self>, socket: UnixStream) -> ConnectionGuard {
        let mut all = self.all();
        let socket = Arc::new(socket);
        let number = all.last().map_or(0, |last| last.number + 1);
        all.push(OpenConnection { number, socket: Arc::clone(&socket), name: None });
        ConnectionGuard { number, socket, among: Arc::clone(self) }
    }
}

impl ConnectionGuard {
    /// The producer has this name. Where one of it was here before and has gone, all that it sent is read first: the stream is
    /// one, in its order.
    fn named(&self, name: &str, stops: &dyn Fn() -> bool) {
        for open in self.among.all().iter_mut().filter(|open| open.number == self.number) {
            open.name = Some(name.to_owned());
        }
        let before =
            |open: &OpenConnection| open.number < self.number && open.name.as_ref().is_none_or(|other| other == name);
        while self.among.all().iter().any(|open| before(open) && is_gone(&open.socket)) && !stops() {
            std::thread::sleep(ACKNOWLEDGE);
        }
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.among.all().retain(|open| open.number != self.number);
    }
}

fn serve(connected: ConnectionGuard, full: RingFull, channel: FrameChannel) -> Result<(), String> {
    let socket = Arc::clone(&connected.socket);
    let connection = &*socket;
    let failed = |e: io::Error| format!("a producer at the socket: {e}");
    let stop = Arc::clone(&channel.stop);
    let stops = move || stop.load(Ordering::Relaxed);
    let mut reading = Reading::new(connection, &stops);
    let mut hello = [0; 6];
    let (count, memory) = first(connection, &mut hello, &stops).map_err(failed)?;
    if count + reading.read_all(&mut hello[count..]).map_err(failed)? < hello.len() {
        return Ok(());
    }
    let mut name = vec![0; usize::from(u16::from_le_bytes([hello[4], hello[5]]))];
    reading.read_all(&mut name).map_err(failed)?;
    let name = String::from_utf8(name).ok().filter(|n| !n.is_empty() && !n.chars().any(char::is_control));
    let shares = hello[..4] == SHARED_MAGIC;
    let Some(name) = name.filter(|_| shares || hello[..4] == HELLO_MAGIC) else {
        return Err("a producer at the socket did not say its name".to_owned());
    };
    let called = |e: io::Error| format!("{name}: {e}");
    let ring = match (shares, memory) {
        (false, _) => None,
        (true, None) => return Err(format!("{name}: no memory was handed over")),
        (true, Some(memory)) => Some(SharedMemory::of(&memory).and_then(SharedRing::new).map_err(called)?),
    };
    connected.named(&name, &stops);
    let mut sender = stream(channel, &name, FrameKind::Opaque, full)?;
    let account = Arc::clone(sender.account());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| acknowledge(connection, &account, &over));
        let came = match ring {
            None => framed(&mut reading, &[], &mut sender),
            Some(mut ring) => ring.take_all(&mut sender, || is_gone(connection)),
        };
        drop((sender, connected));
        over.store(true, Ordering::Release);
        came.map_err(called)
    })
}

/// The first bytes of a connection, and the memory that came with them.
fn first(connection: &UnixStream, into: &mut [u8], stops: &dyn Fn() -> bool) -> io::Result<(usize, Option<OwnedFd>)> {
    let wait = rustix::time::Timespec { tv_sec: 0, tv_nsec: POLL_INTERVAL_NS as _ };
    while poll(&mut [PollFd::new(connection, PollFlags::IN)], Some(&wait)) == Ok(0) {
        if stops() {
            return Ok((0, None));
        }
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let came = recvmsg(connection, &mut [IoSliceMut::new(into)], &mut control, flags)?;
    let rights = |message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    };
    let memory = control.drain().filter_map(rights).flatten().next();
    Ok((came.bytes, memory))
}

/// Whether the other end was closed.
fn is_gone(connection: &UnixStream) -> bool {
    let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut asked = [PollFd::new(connection, PollFlags::RDHUP)];
    poll(&mut asked, Some(&now)).is_ok_and(|n| n > 0)
}

/// Sends how many frames are durable and lost, until all that came are either.
fn acknowledge(mut connection: &UnixStream, account: &Account, over: &AtomicBool) {
    let _ = connection.set_write_timeout(Some(STOP_TIMEOUT));
    let mut reported = (0, 0);
    let mut changed = Instant::now();
    loop {
        let ends = over.load(Ordering::Acquire);
        let counted = account.counters();
        let now = (counted.durable, counted.lost_total());
        if now != reported {
            (reported, changed) = (now, Instant::now());
            let message = [now.0.to_le_bytes(), now.1.to_le_bytes()].concat();
            if connection.write_all(&message).is_err() {
                return;
            }
        }
        if ends && (counted.in_flight() == 0 || changed.elapsed() > STOP_TIMEOUT) {
            return;
        }
        std::thread::sleep(ACKNOWLEDGE);
    }
}
