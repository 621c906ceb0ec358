//! What became of each frame: received = durable + lost + in flight, at every moment.

use crate::container::{FrameKind, Loss, MAX_STREAMS, StreamName};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counters of one stream. Whoever counts does so once, when it happens.
#[derive(Debug)]
pub struct Account {
    /// Its number, what it is, what it is called.
    pub name: StreamName,
    received: AtomicU64,
    received_bytes: AtomicU64,
    durable: AtomicU64,
    durable_bytes: AtomicU64,
    lost: [AtomicU64; Loss::ALL.len()],
    blocked_ns: AtomicU64,
    /// Whether a producer has it now.
    taken: AtomicBool,
}

/// The counters of a stream at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamCounters {
    /// Its number, what it is, what it is called.
    pub name: StreamName,
    /// Frames that came, lost ones too.
    pub received: u64,
    /// Their bytes, as far as they were seen.
    pub received_bytes: u64,
    /// Frames that are on the storage, flushed.
    pub durable: u64,
    /// Bytes of those frames.
    pub durable_bytes: u64,
    /// Frames that were lost, by reason.
    pub lost: Vec<(Loss, u64)>,
    /// Time for which its producer was not read from, because the ring was full, nanoseconds.
    pub blocked_ns: u64,
}

impl StreamCounters {
    /// Frames that were lost.
    pub fn lost_total(&self) -> u64 {
        self.lost.iter().map(|(_, n)| n).sum()
    }

    /// Frames that are neither durable nor lost.
    pub fn in_flight(&self) -> u64 {
        self.received.saturating_sub(self.durable + self.lost_total())
    }
}

impl Account {
    /// So many frames came, of so many bytes; the number of the first.
    pub fn add_received(&self, frames: u64, bytes: u64) -> u64 {
        self.received_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.received.fetch_add(frames, Ordering::AcqRel)
    }

    /// Frames are lost that were received.
    pub fn add_lost(&self, loss: Loss, count: u64) {
        self.lost[loss as usize].fetch_add(count, Ordering::AcqRel);
    }

    /// A frame is durable.
    pub fn add_durable(&self, bytes: u64) {
        self.durable_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.durable.fetch_add(1, Ordering::AcqRel);
    }

    /// The producer has disconnected: another one of the same name may continue the stream.
    pub fn release(&self) {
        self.taken.store(false, Ordering::Release);
    }

    /// Adds time for which the producer waited.
    pub fn add_blocked(&self, ns: u64) {
        self.blocked_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// All counters. What became of frames is read before how many came, so that the sum is never more than that.
    pub fn counters(&self) -> StreamCounters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        let lost = Loss::ALL.into_iter().map(|loss| (loss, get(&self.lost[loss as usize]))).filter(|(_, n)| *n > 0);
        let lost = lost.collect();
        let durable = get(&self.durable);
        let durable_bytes = get(&self.durable_bytes);
        let (received, received_bytes) = (get(&self.received), get(&self.received_bytes));
        let blocked_ns = get(&self.blocked_ns);
        StreamCounters { name: self.name.clone(), received, received_bytes, durable, durable_bytes, lost, blocked_ns }
    }
}

/// The streams of a recording, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Accounts(Mutex<Vec<Arc<Account>>>);

impl Accounts {
    fn all(&self) -> MutexGuard<'_, Vec<Arc<Account>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stream for a producer: that of its name where nobody has it any more, else one more, its name with a number where it is
    /// taken; `None` where the container takes no more.
    pub fn join(&self, name: &str, kind: FrameKind) -> Option<Arc<Account>> {
        let mut all = self.all();
        let same = |account: &&Arc<Account>| account.name.name == name && account.name.kind == kind;
        if let Some(free) = all.iter().find(same).filter(|account| !account.taken.swap(true, Ordering::AcqRel)) {
            return Some(Arc::clone(free));
        }
        let stream = u16::try_from(all.len()).ok().filter(|n| usize::from(*n) < MAX_STREAMS)?;
        let taken = |name: &str| all.iter().any(|account| account.name.name == name);
        let name = (1..).map(|n| if n == 1 { name.to_owned() } else { format!("{name}-{n}") }).find(|n| !taken(n))?;
        let counter = || AtomicU64::new(0);
        let account = Arc::new(Account {
            name: StreamName { stream, kind, name },
            received: counter(),
            received_bytes: counter(),
            durable: counter(),
            durable_bytes: counter(),
            lost: std::array::from_fn(|_| counter()),
            blocked_ns: counter(),
            taken: AtomicBool::new(true),
        });
        all.push(Arc::clone(&account));
        Some(account)
    }

    /// That of a stream.
    pub fn of(&self, stream: u16) -> Option<Arc<Account>> {
        self.all().get(usize::from(stream)).cloned()
    }

    /// Counters of all streams at this moment.
    pub fn counters(&self) -> Vec<StreamCounters> {
        self.all().iter().map(|account| account.counters()).collect()
    }

    /// All that are known now.
    pub fn names(&self) -> Vec<StreamName> {
        self.all().iter().map(|account| account.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_is_somewhere() {
        let accounts = Accounts::default();
        let account = accounts.join("front", FrameKind::Jpeg).unwrap();
        assert_eq!([account.add_received(1, 10), account.add_received(1, 20), account.add_received(1, 30)], [0, 1, 2]);
        account.add_lost(Loss::RingFull, 1);
        account.add_durable(10);
        let counted = accounts.counters().remove(0);
        assert_eq!((counted.received, counted.durable, counted.lost_total(), counted.in_flight()), (3, 1, 1, 1));
        assert_eq!(counted.lost, vec![(Loss::RingFull, 1)]);
        assert_eq!(accounts.join("front", FrameKind::Jpeg).unwrap().name.name, "front-2");
        account.release();
        let again = accounts.join("front", FrameKind::Jpeg).unwrap();
        assert_eq!((again.name.stream, again.add_received(1, 0)), (0, 3), "it goes on where it was");
        while accounts.join("x", FrameKind::Opaque).is_some() {}
        assert_eq!(accounts.names().len(), MAX_STREAMS);
    }
}
