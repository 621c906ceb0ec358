//! What a simulated device delivers, in closed form: the answers that a measurement of it must give.

use model::{Access, BlockStream, NS_PER_S, Ns, Operation, Order, SimModel, Sync};
use std::ops::Deref;

/// What keeps the rate from being higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimLimit {
    /// Each of the operations in flight waits for its own latency: more depth would help.
    Latency,
    /// The host hands over one command (or a few) at a time.
    HostQueue,
    /// All units of the device are at work.
    Units,
    /// The media's bandwidth.
    Media,
    /// The link's bandwidth.
    Link,
    /// The processor: cost of commands, or the copy to and from the page cache.
    Cpu,
    /// The write cache is full and drains.
    CacheDrain,
    Flush,
    /// A cap set on purpose.
    Cap,
}

/// The long-run answer for one stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimTruth {
    /// Operations per second (a write and its fdatasync are one; the fsync of a round is none).
    pub operations_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency of an operation, nanoseconds; `None` for buffered streams, whose calls differ among themselves.
    pub latency_ns_mean: Option<f64>,
    pub limit: SimLimit,
    /// Bytes of continuous writing from an empty write cache after which the rate falls to
    /// `exhausted_bytes_per_s`; `None` where it does not fall.
    pub cliff_bytes: Option<u64>,
    /// Rate once the write cache is full.
    pub exhausted_bytes_per_s: Option<f64>,
}

/// The times of one command, after all that slows the device down.
struct Demands {
    cpu: f64,
    transfer: f64,
    command: f64,
    /// Time between two commands at the cap.
    capped: f64,
    /// Bandwidth that bounds the transfer is the link's.
    by_link: bool,
}

impl SimTruth {
    /// What one stream gets alone on the device at the speed of the moment `at_ns` (throttling), with room in the
    /// write cache. Jitter leaves the mean as it is; near a knee of the depth curve it costs a few percent that this
    /// bound does not contain.
    pub fn of(model: &SimModel, stream: BlockStream<'_>, access: Access, at_ns: Ns) -> Self {
        let device = Device(model);
        match (access, stream.block.operation) {
            (Access::Direct, _) => device.direct(stream, at_ns),
            (Access::Buffered, Operation::Read) => device.buffered_read(stream, at_ns),
            (Access::Buffered, _) if stream.durability.sync == Sync::FdatasyncEach => {
                device.buffered_sync_write(stream, at_ns)
            }
            (Access::Buffered, _) => device.buffered_write(stream, at_ns),
        }
    }
}

/// The device that the parameters describe.
struct Device<'a>(&'a SimModel);

impl Deref for Device<'_> {
    type Target = SimModel;

    fn deref(&self) -> &SimModel {
        self.0
    }
}

impl Device<'_> {
    /// Seconds per second that the device works for us.
    fn device_share(&self, at_ns: Ns) -> f64 {
        let working = self.stalls.map_or(1.0, |s| 1.0 - s.duration_ns as f64 / s.period_ns as f64);
        self.speed_at(at_ns) * (1.0 - self.foreign_share) * working
    }

    fn demands(&self, write: bool, random: bool, len: u64, at_ns: Ns) -> Demands {
        let (transfer, command) = self.device_ns(write, random, len);
        let share = self.device_share(at_ns);
        Demands {
            cpu: self.cpu_ns(len) / (1.0 - self.host.steal) / self.cpu_speed_at(at_ns),
            transfer: transfer / share,
            command: command / share,
            capped: self.capped_ns(len),
            by_link: self.link.payload_bytes_per_s() < self.curve(write, random).bytes_per_s as f64,
        }
    }

    /// Processor time that the worker may use, in processors.
    fn granted(&self) -> f64 {
        if self.host.cpu_quota > 0.0 { self.host.cpu_quota.min(1.0) } else { 1.0 }
    }

    /// Time between two commands of `len` bytes at the cap, nanoseconds; 0 without one.
    fn capped_ns(&self, len: u64) -> f64 {
        let per = |rate: Option<u64>, amount: f64| rate.map_or(0.0, |r| amount * 1e9 / r as f64);
        self.cap.map_or(0.0, |c| per(c.operations_per_s, 1.0).max(per(c.bytes_per_s, len as f64)))
    }

    /// Commands per second of a stream of depth `depth`, and what bounds them: the smallest of the bounds of a closed
    /// chain of stations.
    fn closed(&self, d: &Demands, flush: f64, depth: u32) -> (f64, SimLimit) {
        let depth = f64::from(depth);
        let queue = f64::from(self.host.queue_depth);
        let device = d.transfer + d.command + flush;
        let serial = if d.by_link { SimLimit::Link } else { SimLimit::Media };
        let mut bounds = vec![
            (depth / (d.cpu + device), SimLimit::Latency),
            (queue / device, SimLimit::HostQueue),
            (self.granted() / d.cpu.max(1e-3), SimLimit::Cpu),
            (1.0 / d.capped.max(1e-3), SimLimit::Cap),
            (1.0 / (d.transfer + flush).max(1e-3), if flush > d.transfer { SimLimit::Flush } else { serial }),
        ];
        if d.command > 0.0 {
            bounds.push((f64::from(self.media.units) / d.command, SimLimit::Units));
        }
        let (per_ns, mut limit) = bounds.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, serial));
        // Where most of a serial command is its transfer, it is the transfer that bounds it.
        if matches!(limit, SimLimit::Latency | SimLimit::HostQueue) && d.transfer > 0.8 * (d.cpu + device) {
            limit = serial;
        }
        (per_ns * 1e9, limit)
    }

    fn direct(&self, stream: BlockStream<'_>, at_ns: Ns) -> SimTruth {
        let len = stream.block.block_size_bytes;
        let write = stream.block.operation == Operation::Write;
        let (piece, pieces) = self.pieces(len);
        let d = self.demands(write, stream.block.order != Order::Sequential, piece, at_ns);
        let flush = if stream.durability.sync == Sync::FdatasyncEach { self.flush_ns(len, at_ns) } else { 0.0 };
        let depth = u32::try_from(u64::from(stream.path.queue_depth) * pieces).unwrap_or(u32::MAX);
        let (per_s, limit) = self.closed(&d, flush / pieces as f64, depth);
        let per_s = per_s / pieces as f64;
        let bytes_per_s = per_s * len as f64;
        let mut truth = SimTruth {
            operations_per_s: per_s,
            bytes_per_s,
            latency_ns_mean: Some(f64::from(stream.path.queue_depth) * 1e9 / per_s),
            limit,
            cliff_bytes: None,
            exhausted_bytes_per_s: None,
        };
        if let (true, Some(cache)) = (write, self.media.cache) {
            let drain = cache.drain_bytes_per_s as f64;
            if drain < bytes_per_s {
                truth.cliff_bytes = Some((cache.bytes as f64 / (1.0 - drain / bytes_per_s)) as u64);
                truth.exhausted_bytes_per_s = Some(drain);
            }
        }
        truth
    }

    /// CPU time of one buffered call, nanoseconds, as long as the quota lasts.
    fn call_ns(&self, len: u64, at_ns: Ns) -> f64 {
        let copy = len as f64 * 1e9 / self.host.page_cache_bytes_per_s as f64;
        (self.host.cpu_per_command_ns as f64 + copy) / (1.0 - self.host.steal) / self.cpu_speed_at(at_ns)
    }

    /// Two read-ahead windows are under way at most: the next one is asked for when the reader arrives at a window, so
    /// that window i + 1 is asked for when window i - 1 has been copied.
    fn buffered_read(&self, stream: BlockStream<'_>, at_ns: Ns) -> SimTruth {
        let len = stream.block.block_size_bytes;
        let (per_s, limit) = if stream.block.order == Order::Sequential {
            let window = self.host.read_ahead_bytes;
            let d = self.demands(false, false, window, at_ns);
            let windows = len as f64 / window as f64;
            let reader = self.call_ns(len, at_ns) / windows + d.cpu;
            let device = d.transfer + d.command;
            let serial = if d.by_link { SimLimit::Link } else { SimLimit::Media };
            let (period, limit) = [
                (reader / self.granted(), SimLimit::Cpu),
                (d.capped, SimLimit::Cap),
                ((reader + device) / 2.0, SimLimit::Latency),
                (device / f64::from(self.host.queue_depth), SimLimit::HostQueue),
                (d.transfer, serial),
                (d.command / f64::from(self.media.units), SimLimit::Units),
            ]
            .into_iter()
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((device, serial));
            let limit = if limit == SimLimit::HostQueue && d.transfer > 0.8 * device { serial } else { limit };
            (1e9 / (period * windows), limit)
        } else {
            let d = self.demands(false, true, len, at_ns);
            (1e9 / (d.cpu + d.transfer + d.command + self.call_ns(len, at_ns)), SimLimit::Latency)
        };
        SimTruth {
            operations_per_s: per_s,
            bytes_per_s: per_s * len as f64,
            latency_ns_mean: None,
            limit,
            cliff_bytes: None,
            exhausted_bytes_per_s: None,
        }
    }

    /// Copy, write and flush, one after the other.
    fn buffered_sync_write(&self, stream: BlockStream<'_>, at_ns: Ns) -> SimTruth {
        let len = stream.block.block_size_bytes;
        let d = self.demands(true, stream.block.order != Order::Sequential, len, at_ns);
        let device = d.transfer + d.command + self.flush_ns(len, at_ns);
        let call = self.call_ns(len, at_ns);
        let time = (call + d.cpu + device).max((call + d.cpu) / self.granted()).max(d.capped);
        SimTruth {
            operations_per_s: 1e9 / time,
            bytes_per_s: len as f64 * 1e9 / time,
            latency_ns_mean: Some(time),
            limit: if call + d.cpu > device { SimLimit::Cpu } else { SimLimit::Latency },
            cliff_bytes: None,
            exhausted_bytes_per_s: None,
        }
    }

    /// A flush after `len` bytes were written, nanoseconds.
    fn flush_ns(&self, len: u64, at_ns: Ns) -> f64 {
        let volatile = self.media.cache.filter(|c| c.volatile);
        let working = self.device_share(at_ns) / self.speed_at(at_ns) / (1.0 - self.foreign_share);
        (self.media.flush_ns as f64) / working + volatile.map_or(0.0, |c| len as f64 * 1e9 / c.drain_bytes_per_s as f64)
    }

    /// Rounds: copy, writeback beside it above the background limit, and an fsync that waits for the rest.
    fn buffered_write(&self, stream: BlockStream<'_>, at_ns: Ns) -> SimTruth {
        let len = stream.block.block_size_bytes;
        let round = stream.durability.round_bytes.unwrap_or(stream.block.region_bytes).max(len);
        let chunk = self.host.writeback_bytes;
        let d = self.demands(true, false, chunk, at_ns);
        let (per_s, serial) = self.closed(&d, 0.0, u32::MAX);
        let writeback = per_s * chunk as f64 / 1e9;
        let copy = len as f64 / self.call_ns(len, at_ns) * self.granted();
        let head = round.min(self.host.dirty_background_bytes) as f64;
        let round_bytes = round as f64;
        let (time, limit) = if copy >= writeback {
            (head / copy + round_bytes / writeback, serial)
        } else {
            (round_bytes / copy + head / writeback, SimLimit::Cpu)
        };
        let bytes_per_s = round_bytes / (time + self.media.flush_ns as f64) * NS_PER_S as f64;
        SimTruth {
            operations_per_s: bytes_per_s / len as f64,
            bytes_per_s,
            latency_ns_mean: None,
            limit,
            cliff_bytes: None,
            exhausted_bytes_per_s: None,
        }
    }
}
