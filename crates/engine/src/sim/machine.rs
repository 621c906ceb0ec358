//! The simulated machine: its stations, its clock, and the way of a command past the page cache.
//!
//! Faults that are injected, and must be survived by what is above: EIO of single operations and of ranges, short
//! transfers, stalls, throttling, a second user, stolen CPU time. What happens to data is [`super::SimData`]'s.

use super::jitter::Jitter;
use super::page_cache::PageCache;
use super::station::{Busy, Pool, after_stalls};
use model::{CPU_QUOTA_PERIOD_NS, Ns, SampleSeries, SimModel, SystemSample};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::mpsc::SyncSender;
use sys::errno::{EIO, ENOSPC};

/// Writes at the start of an erase block open a stream only from this size on: smaller ones are random writes that
/// happen to lie there.
const STREAM_OPENING_BYTES: u64 = 64 << 10;
/// Simulated time between two samples.
pub(super) const SAMPLE_NS: Ns = 250_000_000;

/// Which thread submits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The worker, on CPU 0.
    Worker = 0,
    /// The kernel's writeback, on CPU 1 where there is one.
    Writeback = 1,
}

/// What a completion was of, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Traffic {
    Read,
    Write,
    Flush,
    /// Reaches no disk: page cache hits and memory copies, and the caller's end of commands counted by themselves.
    None,
}

/// An operation's buffer and result.
pub(super) type Caller = (u32, Result<u32, i32>);

/// Something that ends at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) at: Ns,
    /// Keeps the order of submission among events of one moment.
    pub(super) sequence: u64,
    pub(super) traffic: Traffic,
    pub(super) since: Ns,
    pub(super) bytes: u64,
    /// Who waits for it; `None` for commands inside the machine.
    pub(super) caller: Option<Caller>,
}

/// Where the account of CPU 0's waiting stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pub(super) at: Ns,
    pub(super) worked: Ns,
    pub(super) disk: Ns,
    pub(super) waited: Ns,
}

/// Sums of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    pub(super) ns: u64,
}

/// Times of the last kind of command, so that a stream computes them once.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    key: (bool, bool, u64),
    cpu_ns: Ns,
    transfer: f64,
    command: f64,
}

#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) model: SimModel,
    pub(super) now: Ns,
    pub(super) cpu: [Busy; 2],
    /// The worker's time in user mode: memory copies.
    pub(super) user: Busy,
    /// CPU time of commands, of which the interrupts are a share.
    pub(super) command_cpu_ns: Ns,
    pub(super) disk: Busy,
    pub(super) pages: PageCache,
    pub(super) reads: Counted,
    pub(super) writes: Counted,
    pub(super) flushes: Counted,
    pub(super) samples: SampleSeries,
    /// Where samples also go as they are taken.
    pub(super) feed: Option<SyncSender<SystemSample>>,
    pub(super) waiting: Waiting,
    pub(super) events: BinaryHeap<Reverse<Event>>,
    next_sample: Ns,
    sequence: u64,
    pub(super) slots: Pool,
    pub(super) units: Pool,
    transfer_free: Ns,
    /// When the cap lets the next read and the next write pass.
    passes: [Ns; 2],
    /// The period of the processor quota that is under way, and what was used in it.
    quota: (Ns, Ns),
    jitter: Jitter,
    times: Times,
    cache_level: f64,
    cache_at: Ns,
    /// Ends of the open write streams, the most recently used last.
    streams: Vec<u64>,
    operations: u64,
    /// Whether operations failed that were to: one, each n-th, those in the range; and whether one was short.
    pub(super) came: [bool; 4],
    steal_factor: f64,
    share_factor: f64,
}

impl Machine {
    pub(super) fn new(model: SimModel) -> Self {
        Self {
            pages: PageCache::new(&model.host),
            events: BinaryHeap::with_capacity(4096),
            next_sample: SAMPLE_NS,
            slots: Pool::new(model.host.queue_depth),
            units: Pool::new(model.media.units),
            jitter: Jitter::new(model.media.jitter_sigma, model.seed),
            // No command has this length.
            times: Times { key: (false, false, u64::MAX), ..Times::default() },
            streams: Vec::with_capacity(model.media.open_streams as usize + 1),
            steal_factor: 1.0 / (1.0 - model.host.steal),
            share_factor: 1.0 / (1.0 - model.foreign_share),
            model,
            ..Self::default()
        }
    }

    /// Moves the clock, taking the samples that are due on the way.
    pub(super) fn advance(&mut self, to: Ns) {
        while self.next_sample <= to {
            self.now = self.next_sample;
            let sample = self.sample(self.next_sample);
            if let Some(feed) = &self.feed {
                // Whoever took them may have gone.
                let _ = feed.send(sample.clone());
            }
            self.samples.push(sample);
            self.next_sample += SAMPLE_NS;
        }
        self.now = self.now.max(to);
    }

    /// Puts the end of something on the calendar that began at `since`.
    pub(super) fn schedule(&mut self, at: Ns, traffic: Traffic, since: Ns, bytes: u64, caller: Option<Caller>) {
        self.sequence += 1;
        self.events.push(Reverse(Event { at, sequence: self.sequence, traffic, since, bytes, caller }));
    }

    /// The next event, if it happens not after `until`; the clock moves to it and the counters know it.
    pub(super) fn next_event(&mut self, until: Ns) -> Option<Event> {
        if self.events.peek()?.0.at > until {
            return None;
        }
        let event = self.events.pop()?.0;
        self.advance(event.at);
        let counted = match event.traffic {
            Traffic::Read => &mut self.reads,
            Traffic::Write => &mut self.writes,
            Traffic::Flush => &mut self.flushes,
            Traffic::None => return Some(event),
        };
        // What the block layer splits counts as what it became.
        counted.operations += self.model.pieces(event.bytes).1;
        counted.bytes += event.bytes;
        counted.ns += event.at - event.since;
        Some(event)
    }

    /// CPU time stretched by what the hypervisor takes.
    pub(super) fn stretched(&self, cpu_ns: f64) -> Ns {
        (cpu_ns * self.steal_factor) as Ns
    }

    /// The fate of the next operation: its result, and counts it.
    pub(super) fn outcome(&mut self, write: bool, offset: u64, len: u32) -> Result<u32, i32> {
        self.operations += 1;
        let n = self.operations;
        let end = offset + u64::from(len);
        let faults = &self.model.faults;
        let every = |each: Option<u64>| each.is_some_and(|each| n.is_multiple_of(each));
        let in_range = faults.eio_bytes > 0
            && offset < faults.eio_start_bytes.saturating_add(faults.eio_bytes)
            && end > faults.eio_start_bytes;
        let (at, each, short) = (faults.eio_at == Some(n), every(faults.eio_every), every(faults.short_every));
        for (came, comes) in self.came.iter_mut().zip([at, each, in_range, short]) {
            *came |= comes;
        }
        if in_range || at || each {
            return Err(EIO);
        }
        if end > self.model.media.capacity_bytes {
            let room = self.model.media.capacity_bytes.saturating_sub(offset) as u32;
            return if write && room == 0 { Err(ENOSPC) } else { Ok(room) };
        }
        // Whole sectors, as a device transfers them.
        if short { Ok(len / 2 / 512 * 512) } else { Ok(len) }
    }

    /// Work of `cpu_ns` at full speed on a core, from `start` on; returns when it is done. Heat makes it longer, and a
    /// quota lets the worker run for a part of each period only.
    pub(super) fn work_on(&mut self, lane: Lane, start: Ns, cpu_ns: Ns) -> Ns {
        let speed = self.model.cpu_speed_at(start);
        let mut left = if speed < 1.0 { (cpu_ns as f64 / speed) as Ns } else { cpu_ns };
        let mut now = start;
        if lane == Lane::Worker && self.model.host.cpu_quota > 0.0 {
            let granted = ((CPU_QUOTA_PERIOD_NS as f64 * self.model.host.cpu_quota) as Ns).max(1);
            loop {
                let period = now / CPU_QUOTA_PERIOD_NS;
                if period != self.quota.0 {
                    self.quota = (period, 0);
                }
                let end = (period + 1) * CPU_QUOTA_PERIOD_NS;
                let run = left.min(granted.saturating_sub(self.quota.1)).min(end - now);
                self.cpu[lane as usize].add(now, now + run);
                self.quota.1 += run;
                now += run;
                left -= run;
                if left == 0 {
                    return now;
                }
                now = end;
            }
        }
        self.cpu[lane as usize].add(now, now + left);
        now + left
    }

    /// When the cap lets a command pass that is there at `at`.
    fn passed(&mut self, write: bool, len: u64, at: Ns) -> Ns {
        let Some(cap) = self.model.cap else { return at };
        let per = |rate: Option<u64>, amount: u64| rate.map_or(0, |r| (amount as f64 * 1e9 / r as f64) as Ns);
        let start = at.max(self.passes[usize::from(write)]);
        self.passes[usize::from(write)] = start + per(cap.operations_per_s, 1).max(per(cap.bytes_per_s, len));
        start
    }

    /// An operation past the page cache, submitted at `at`; returns when all commands that it becomes have ended. The
    /// disk's counters learn of it by the event that the caller schedules.
    pub(super) fn command(&mut self, lane: Lane, write: bool, offset: u64, len: u64, at: Ns) -> Ns {
        let (piece, pieces) = self.model.pieces(len);
        let mut end = at;
        for i in 0..pieces {
            let done = i * piece;
            end = end.max(self.one_command(lane, write, offset + done, piece.min(len - done), at));
        }
        end
    }

    fn one_command(&mut self, lane: Lane, write: bool, offset: u64, len: u64, at: Ns) -> Ns {
        let random = write && !self.continues_stream(offset, len);
        let key = (write, random, len);
        if self.times.key != key {
            let (transfer, command) = self.model.device_ns(write, random, len);
            let cpu_ns = self.stretched(self.model.cpu_ns(len));
            self.times =
                Times { key, cpu_ns, transfer: transfer * self.share_factor, command: command * self.share_factor };
        }
        let times = self.times;
        let cpu_start = at.max(self.cpu[lane as usize].end);
        let before = self.cpu[lane as usize].spent();
        let ready = self.work_on(lane, cpu_start, times.cpu_ns);
        self.command_cpu_ns += self.cpu[lane as usize].spent() - before;

        let ready = self.passed(write, len, ready);
        let start = self.slots.take(ready);
        let slower = 1.0 / self.model.speed_at(start);
        let mut transfer_start = start.max(self.transfer_free);
        if write {
            transfer_start = self.admitted_by_cache(transfer_start, len);
        }
        let stalls = self.model.stalls;
        self.transfer_free = after_stalls(stalls, transfer_start, (times.transfer * slower + 0.5) as Ns);
        let unit_start = self.units.take(self.transfer_free);
        let work = (times.command * slower * self.jitter.draw() + 0.5) as Ns;
        let end = after_stalls(stalls, unit_start, work);
        self.units.give_back(end);
        self.slots.give_back(end);
        self.disk.add(start, end);
        end
    }

    /// Whether a write continues an open stream or opens one; remembers its end.
    fn continues_stream(&mut self, offset: u64, len: u64) -> bool {
        let media = &self.model.media;
        if media.random_write.is_none() && media.erase_penalty_ns == 0 {
            return true;
        }
        let block = media.erase_block_bytes.max(1);
        let known = self.streams.iter().rposition(|end| *end == offset);
        let opens = offset.is_multiple_of(block) && len >= STREAM_OPENING_BYTES;
        // A stream that is not open takes the place of the one that was used the longest time ago.
        let full = self.streams.len() == media.open_streams as usize;
        if let Some(index) = known.or(full.then_some(0)) {
            self.streams.remove(index);
        }
        self.streams.push(offset + len);
        known.is_some() || opens
    }

    /// When the write cache has room for a write that is there at `at`.
    fn admitted_by_cache(&mut self, at: Ns, len: u64) -> Ns {
        let Some(cache) = self.model.media.cache else { return at };
        let drain = cache.drain_bytes_per_s as f64 / 1e9;
        self.cache_level = (self.cache_level - (at - self.cache_at.min(at)) as f64 * drain).max(0.0);
        let lacking = self.cache_level + len as f64 - cache.bytes as f64;
        let mut admitted = at;
        if lacking > 0.0 {
            admitted += (lacking / drain) as Ns;
            self.cache_level -= lacking;
        }
        self.cache_level += len as f64;
        self.cache_at = admitted;
        admitted
    }

    /// A flush asked for at `at`: waits for all commands before it, and nothing proceeds meanwhile.
    pub(super) fn flush(&mut self, at: Ns) -> Ns {
        let mut start = at.max(self.disk.end).max(self.transfer_free);
        if let Some(cache) = self.model.media.cache.filter(|c| c.volatile) {
            let drain = cache.drain_bytes_per_s as f64 / 1e9;
            let level = (self.cache_level - start.saturating_sub(self.cache_at) as f64 * drain).max(0.0);
            start += (level / drain) as Ns;
            self.cache_level = 0.0;
            self.cache_at = start;
        }
        let end = after_stalls(self.model.stalls, start, self.model.media.flush_ns);
        self.transfer_free = end;
        self.disk.add(start, end);
        self.schedule(end, Traffic::Flush, start, 0, None);
        end
    }
}
