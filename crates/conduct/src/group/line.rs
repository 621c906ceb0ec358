//! A rank's connection to the meeting: a thread that hears and shows that the rank is there, and what it knows of the meeting's
//! clock and of times in which this process stood still.

use super::meeting::silence_ns;
use super::message::{Agreed, FromRank, Lines, ToRank, line, parsed, shown};
use crate::Interrupts;
use engine::Control;
use model::Ns;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sys::monotonic_ns;

/// How often the thread looks at the clock; a rank whose looks lie further apart than [`STOPPED_NS`] stood still.
const LOOK: Duration = Duration::from_millis(100);
const STOPPED_NS: Ns = 500_000_000;
/// How often the meeting hears of it.
const PING_NS: Ns = 500_000_000;
/// Monotonic clocks of two machines drift apart by this much at most (adjtimex(2) allows 500 parts in a million).
const DRIFT_PER_MILLION: Ns = 500;
/// Messages that wait to be taken.
const MOST_WAITING: usize = 64;
/// A line of the meeting is no longer than this and so much for each rank.
const MOST_BYTES: (usize, usize) = (64 << 10, 8 << 10);

/// Why a rank leaves that was asked to end.
pub const INTERRUPTED: &str = "it was interrupted";

/// How the meeting's clock stands to this machine's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReading {
    /// So much is added to the own clock.
    pub ahead_ns: i64,
    /// How far off that may be: half a round trip.
    pub error_ns: Ns,
    /// When it was read.
    pub at_ns: Ns,
}

impl ClockReading {
    /// From a question sent at `sent`, answered with `theirs`, and heard at `heard`.
    pub fn of(sent: Ns, theirs: Ns, heard: Ns) -> Self {
        let half = heard.saturating_sub(sent) / 2;
        let ahead = i128::from(theirs) - i128::from(sent + half);
        let ahead_ns = i64::try_from(ahead).unwrap_or(if ahead < 0 { i64::MIN } else { i64::MAX });
        Self { ahead_ns, error_ns: half, at_ns: heard }
    }

    /// How far off it may be by now.
    pub fn error_at(&self, now: Ns) -> Ns {
        self.error_ns + now.saturating_sub(self.at_ns) / 1_000_000 * DRIFT_PER_MILLION
    }
}

/// What both threads of a rank know.
#[derive(Debug, Default)]
struct Known {
    clock: Option<ClockReading>,
    /// Questions for the time that are not answered.
    asked: VecDeque<(u32, Ns)>,
    asked_last: u32,
    /// When this process stood still, by its own clock.
    stopped: Vec<(Ns, Ns)>,
    ended: Option<String>,
    /// This rank has left by itself.
    left: bool,
}

#[derive(Debug)]
enum Heard {
    Clock,
    Goes(u32, Agreed),
}

/// A connection of a rank that is welcome.
#[derive(Debug)]
pub struct Line {
    to: Arc<Mutex<TcpStream>>,
    heard: Receiver<Heard>,
    known: Arc<Mutex<Known>>,
    interrupts: Interrupts,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(to: &Mutex<TcpStream>, message: &FromRank) -> io::Result<()> {
    let line = line(message).map_err(io::Error::other)?;
    locked(to).write_all(&line)
}

/// The thread.
struct Ear {
    from: TcpStream,
    to: Arc<Mutex<TcpStream>>,
    tell: SyncSender<Heard>,
    known: Arc<Mutex<Known>>,
    lines: Lines,
    most: usize,
    silence_ns: u64,
}

impl Line {
    /// Of a connection whose other end said what is in `lines`. What ends the group ends the phase.
    ///
    /// # Errors
    /// Those of the socket; the system gives no thread.
    pub fn open(
        socket: TcpStream,
        lines: Lines,
        ranks: u32,
        interrupts: Interrupts,
        control: &Control,
    ) -> io::Result<Self> {
        socket.set_read_timeout(Some(LOOK))?;
        let silence_ns = silence_ns(ranks);
        socket.set_write_timeout(Some(Duration::from_nanos(silence_ns)))?;
        let to = Arc::new(Mutex::new(socket.try_clone()?));
        let known = Arc::new(Mutex::new(Known::default()));
        let (tell, heard) = sync_channel(MOST_WAITING);
        let most = MOST_BYTES.0 + MOST_BYTES.1 * ranks as usize;
        let ear = Ear { from: socket, to: Arc::clone(&to), tell, known: Arc::clone(&known), lines, most, silence_ns };
        let (stop, waits) = (control.stop_flag(), interrupts.clone());
        std::thread::Builder::new().name("group".into()).spawn(move || {
            let known = Arc::clone(&ear.known);
            // Who waits sees that nothing more comes only when it is known why.
            let _tell = ear.tell.clone();
            let why = ear.listen();
            let mut known = locked(&known);
            // That the connection ends after this rank has left is no end of the group.
            if known.left {
                return;
            }
            known.ended.get_or_insert(why);
            interrupts.end_flag().store(true, std::sync::atomic::Ordering::Relaxed);
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        })?;
        Ok(Self { to, heard, known, interrupts: waits })
    }

    /// Says something.
    ///
    /// # Errors
    /// Why the group has ended.
    pub fn say(&self, message: &FromRank) -> Result<(), String> {
        self.ended().map_or(Ok(()), Err)?;
        send(&self.to, message).map_err(|e| self.ended().unwrap_or_else(|| gone(&e.to_string())))
    }

    /// Waits until all have come to this point.
    ///
    /// # Errors
    /// Why the group has ended.
    pub fn wait(&self, point: u32) -> Result<Agreed, String> {
        loop {
            match self.next()? {
                Heard::Goes(at, agreed) if at == point => return Ok(agreed),
                _ => {}
            }
        }
    }

    fn next(&self) -> Result<Heard, String> {
        loop {
            match self.heard.recv_timeout(LOOK) {
                Ok(heard) => return Ok(heard),
                Err(RecvTimeoutError::Timeout) => {
                    self.ended().map_or(Ok(()), Err)?;
                    if self.interrupts.end() {
                        self.leave(Some(INTERRUPTED));
                        return Err(INTERRUPTED.to_owned());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.ended().unwrap_or_else(|| gone("the connection was closed")));
                }
            }
        }
    }

    /// Reads the meeting's clock some times, and gives the best reading.
    ///
    /// # Errors
    /// Why the group has ended.
    pub fn read_clock(&self, times: u32) -> Result<ClockReading, String> {
        // Answers to earlier questions.
        while self.heard.try_recv().is_ok() {}
        for _ in 0..times {
            let ping = ping(&mut locked(&self.known));
            self.say(&ping)?;
            while !matches!(self.next()?, Heard::Clock) {}
        }
        locked(&self.known).clock.ok_or_else(|| gone("it has no clock"))
    }

    /// The best reading so far.
    pub fn clock(&self) -> Option<ClockReading> {
        locked(&self.known).clock
    }

    /// When this process stood still since the last call, by its own clock.
    pub fn take_stopped(&self) -> Vec<(Ns, Ns)> {
        std::mem::take(&mut locked(&self.known).stopped)
    }

    /// Leaves; why, where it is before the end.
    pub fn leave(&self, why: Option<&str>) {
        let mut known = locked(&self.known);
        if !std::mem::replace(&mut known.left, true) {
            // Where the group has ended already, that is said of another.
            let why = why.filter(|_| known.ended.is_none()).map(shown);
            drop(known);
            // Who is gone needs no goodbye.
            let _ = send(&self.to, &FromRank::Leaves(why));
        }
    }

    /// Why the group has ended.
    pub fn ended(&self) -> Option<String> {
        locked(&self.known).ended.clone()
    }
}

fn gone(why: &str) -> String {
    format!("rank 0, where the group meets, is gone ({why})")
}

/// The next question for the time.
fn ping(known: &mut Known) -> FromRank {
    known.asked_last = known.asked_last.wrapping_add(1);
    if known.asked.len() >= MOST_WAITING {
        known.asked.pop_front();
    }
    known.asked.push_back((known.asked_last, monotonic_ns()));
    FromRank::Ping(known.asked_last)
}

impl Ear {
    /// Hears until the group ends; why it did.
    fn listen(mut self) -> String {
        let (mut heard_ns, mut looked_ns, mut said_ns) = (monotonic_ns(), monotonic_ns(), 0);
        let mut buffer = vec![0; 16 << 10];
        loop {
            let read = self.from.read(&mut buffer);
            let now = monotonic_ns();
            if now - looked_ns > STOPPED_NS {
                locked(&self.known).stopped.push((looked_ns, now));
                // Nothing could be heard meanwhile.
                heard_ns = now;
            }
            looked_ns = now;
            match read {
                Ok(0) => return gone("the connection was closed"),
                Ok(read) => {
                    heard_ns = now;
                    if let Err(why) = self.take(&buffer[..read], now) {
                        return why;
                    }
                }
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
                    ) => {}
                Err(e) => return gone(&e.to_string()),
            }
            if now - heard_ns > self.silence_ns {
                return format!(
                    "rank 0, where the group meets, hangs: it sent nothing for {} s",
                    self.silence_ns / 1_000_000_000
                );
            }
            if now - said_ns > PING_NS {
                said_ns = now;
                let ping = ping(&mut locked(&self.known));
                if let Err(e) = send(&self.to, &ping) {
                    return gone(&e.to_string());
                }
            }
        }
    }

    fn take(&mut self, bytes: &[u8], now: Ns) -> Result<(), String> {
        self.lines.push(bytes, self.most).map_err(|e| gone(&e))?;
        while let Some(line) = self.lines.next(self.most).map_err(|e| gone(&e))? {
            match parsed::<ToRank>(&line).map_err(|e| gone(&e))? {
                ToRank::Pong(number, theirs) => {
                    let mut known = locked(&self.known);
                    let Some(place) = known.asked.iter().position(|(asked, _)| *asked == number) else { continue };
                    let (_, sent) = known.asked[place];
                    known.asked.drain(..=place);
                    let reading = ClockReading::of(sent, theirs, now);
                    if known.clock.is_none_or(|old| reading.error_ns <= old.error_at(now)) {
                        known.clock = Some(reading);
                    }
                    drop(known);
                    // Nobody may be waiting for it.
                    let _ = self.tell.try_send(Heard::Clock);
                }
                ToRank::Goes(point, agreed) => {
                    // A rank waits for one point at a time, so that there is room.
                    if self.tell.send(Heard::Goes(point, *agreed)).is_err() {
                        return Err("this rank has left".to_owned());
                    }
                }
                ToRank::Ended(why) => return Err(shown(&why)),
                ToRank::Drawn(_) | ToRank::Welcome { .. } => return Err(gone("it greets twice")),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_the_meeting_is_known_to_half_a_round_trip() {
        let reading = ClockReading::of(1_000, 500_100, 1_200);
        assert_eq!((reading.ahead_ns, reading.error_ns), (499_000, 100));
        assert_eq!(ClockReading::of(10_000, 500, 10_200).ahead_ns, -9_600);
        // After a second it may have drifted by half a millisecond.
        assert_eq!(reading.error_at(1_200 + 1_000_000_000), 100 + 500_000);
    }
}
