//! The promise: no frame at or before the acknowledged one is missing or altered, whenever the power goes, and whatever the
//! storage had done by then of what was not flushed. Every moment of a recorded log is tried.

use crate::container::{Geometry, Identity, Pins, SharedPins, Superblock, WhenFull};
use crate::damage::Damage;
use crate::input::{Generated, GeneratedSource};
use crate::reader::Container;
use crate::ring::Ring;
use crate::run::{DEPTH, run_on_device};
use crate::{Accounts, Store, StreamCounters, WriterSettings};
use engine::{Completion, Device, DeviceError};
use model::Ns;
use model::random::mix;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::sync::Arc;
use workload::{BlockOp, OpKind};

mod lent;

const PIECE: usize = 64 << 10;
const EIO: i32 = 5;

/// What happened on the way to the medium, in order.
#[derive(Clone, Debug)]
enum DiskEvent {
    /// A write was handed over: from now on any part of it may be on the medium.
    Write { offset: u64, bytes: Vec<u8> },
    /// A flush ended well: of the writes so far these are certain.
    Flushed { writes: Vec<usize> },
    /// Somebody else pinned segments, durably, and the writer heard of it.
    Pinned(Pins),
}

/// One moment: what happened, and how many frames of each stream had been acknowledged before.
#[derive(Clone, Debug)]
struct CrashPoint {
    happened: DiskEvent,
    durable: Vec<u64>,
}

#[derive(Debug, Default)]
struct Log {
    moments: Vec<CrashPoint>,
    writes: usize,
    /// Writes that have ended well, by their number in the log.
    ended: Vec<usize>,
}

/// A disk that takes its time, ends operations in any order, and fails as told.
struct Disk {
    log: Rc<RefCell<Log>>,
    accounts: Arc<Accounts>,
    buffers: Vec<Vec<u8>>,
    /// By when they end, and their buffers.
    flying: BTreeMap<(Ns, u32), PendingOp>,
    now: Ns,
    seed: u64,
    drawn: u64,
    fails_every: u64,
    /// What is pinned after so many writes.
    pins_at: Vec<(usize, Pins)>,
    pins: SharedPins,
}

#[derive(Clone, Debug)]
struct PendingOp {
    result: Result<u32, i32>,
    flight: OpState,
}

#[derive(Clone, Debug)]
enum OpState {
    Write(usize),
    Flush(Vec<usize>),
}

impl Disk {
    fn new(accounts: &Arc<Accounts>, seed: u64, fails_every: u64) -> Self {
        Self {
            log: Rc::default(),
            accounts: Arc::clone(accounts),
            buffers: vec![vec![0; PIECE]; DEPTH as usize],
            flying: BTreeMap::new(),
            now: 0,
            seed,
            drawn: 0,
            fails_every,
            pins_at: Vec::new(),
            pins: SharedPins::default(),
        }
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.seed ^ mix(self.drawn))
    }

    fn note(&self, happened: DiskEvent) {
        let durable = self.accounts.counters().iter().map(|c| c.durable).collect();
        self.log.borrow_mut().moments.push(CrashPoint { happened, durable });
    }
}

impl Device for Disk {
    type Op = BlockOp;

    fn now(&self) -> Ns {
        self.now
    }

    fn buffer(&mut self, index: u32) -> &mut [u8] {
        &mut self.buffers[index as usize]
    }

    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        let writes = self.log.borrow().writes;
        if let Some(at) = self.pins_at.iter().position(|(at, _)| *at <= writes) {
            let (_, pins) = self.pins_at.remove(at);
            self.note(DiskEvent::Pinned(pins.clone()));
            self.pins.set(pins);
        }
        for op in ops {
            let takes = 100_000 + self.draw() % 5_000_000;
            let fails = self.fails_every > 0 && self.draw().is_multiple_of(self.fails_every);
            let result = if fails { Err(EIO) } else { Ok(op.len) };
            let flight = if op.kind == OpKind::Write {
                let bytes = self.buffers[op.buffer as usize][..op.len as usize].to_vec();
                self.note(DiskEvent::Write { offset: op.offset, bytes });
                self.log.borrow_mut().writes += 1;
                OpState::Write(self.log.borrow().writes - 1)
            } else {
                OpState::Flush(self.log.borrow().ended.clone())
            };
            self.flying.insert((self.now + takes, op.buffer), PendingOp { result, flight });
        }
        Ok(())
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        while let Some((&(at, buffer), _)) = self.flying.first_key_value() {
            if at > self.now && (out.len() >= min || at > until) {
                break;
            }
            self.now = self.now.max(at);
            let Some(PendingOp { result, flight }) = self.flying.remove(&(at, buffer)) else { break };
            match flight {
                OpState::Write(number) if result.is_ok() => self.log.borrow_mut().ended.push(number),
                OpState::Flush(writes) if result.is_ok() => self.note(DiskEvent::Flushed { writes }),
                _ => {}
            }
            out.push(Completion { buffer, result, at_ns: self.now });
        }
        if out.len() < min && until < Ns::MAX / 4 {
            self.now = self.now.max(until);
        }
        Ok(())
    }
}

/// The medium at a moment: what is certain, and of the rest what chance left of it, in parts of 512 bytes.
fn image(container: &[u8], moments: &[CrashPoint], seed: u64) -> Vec<u8> {
    let mut certain: HashSet<usize> = HashSet::new();
    for moment in moments {
        if let DiskEvent::Flushed { writes } = &moment.happened {
            certain.extend(writes);
        }
    }
    let mut bytes = container.to_vec();
    let pins = moments.iter().rev().find_map(|m| match &m.happened {
        DiskEvent::Pinned(pins) => Some(pins),
        _ => None,
    });
    if let (Some(pins), Ok(Some(superblock))) = (pins, Superblock::decode(container)) {
        put(&mut bytes, &Superblock { pins: pins.clone(), ..superblock });
    }
    let writes = moments.iter().filter_map(|m| match &m.happened {
        DiskEvent::Write { offset, bytes } => Some((*offset as usize, bytes)),
        DiskEvent::Flushed { .. } | DiskEvent::Pinned(_) => None,
    });
    for (number, (offset, written)) in writes.enumerate() {
        let (luck, certain) = (mix(seed ^ mix(number as u64)), certain.contains(&number));
        for (part, sector) in written.chunks(512).enumerate() {
            let arrives = certain
                || match luck % 4 {
                    0 => false,
                    1 => true,
                    // Torn behind a place, or anywhere.
                    2 => part as u64 * 512 < (luck >> 8) % written.len() as u64,
                    _ => mix(luck ^ part as u64) & 1 == 0,
                };
            if arrives {
                bytes[offset + part * 512..][..sector.len()].copy_from_slice(sector);
            }
        }
    }
    bytes
}

/// Both copies of a superblock.
fn put(container: &mut [u8], superblock: &Superblock) {
    for at in [0, superblock.geometry.second_superblock() as usize] {
        container[at..at + 4096].copy_from_slice(&superblock.encode());
    }
}

struct Recorded {
    container: Vec<u8>,
    log: Log,
    counted: Vec<StreamCounters>,
    /// The pictures of each camera.
    made: Vec<Vec<Vec<u8>>>,
    geometry: Geometry,
}

fn record(geometry: Geometry, cameras: Generated, ring_bytes: usize, fails_every: u64) -> Recorded {
    record_with(geometry, cameras, ring_bytes, fails_every, Vec::new())
}

fn record_with(
    geometry: Geometry,
    cameras: Generated,
    ring_bytes: usize,
    fails_every: u64,
    pins_at: Vec<(usize, Pins)>,
) -> Recorded {
    let identity = Identity { uuid: [7; 16], epoch: 1 };
    let superblock =
        Superblock { identity, generation: 1, geometry, created_ns: 1, pins: Pins::default(), gives_back: false };
    let mut container = vec![0; geometry.container_bytes as usize];
    put(&mut container, &superblock);
    let accounts = Arc::new(Accounts::default());
    let ring = Ring::new(ring_bytes).unwrap();
    let frame_source = GeneratedSource::new(cameras, ring, geometry.largest_frame(), &accounts);
    let disk = Disk { pins_at, ..Disk::new(&accounts, cameras.seed, fails_every) };
    let pins = disk.pins.clone();
    let log = Rc::clone(&disk.log);
    let settings = WriterSettings {
        identity,
        geometry,
        next_segment: 0,
        next_batch: 0,
        max_latency_ns: 20_000_000,
        ring_bytes: ring_bytes as u64,
        clock_start_ns: 1_700_000_000_000_000_000,
        piece_bytes: PIECE as u64,
        priority: None,
        pins,
        keep_times: false,
        room: None,
    };
    let ran = run_on_device(disk, settings, Arc::clone(&accounts), frame_source, || {}).unwrap();
    assert!(ran.written.segments > 1, "{:?}", ran.written);
    let log = std::mem::take(&mut *log.borrow_mut());
    let make = |camera: u32, number: u64| {
        let mut picture = vec![0; cameras.bytes(camera, number)];
        cameras.make(camera, number, &mut picture);
        picture
    };
    let made = |camera: u32| (0..cameras.frames.unwrap_or(0)).map(|number| make(camera, number)).collect();
    let made = (0..cameras.streams).map(made).collect();
    Recorded { container, log, counted: accounts.counters(), made, geometry }
}

impl Recorded {
    /// What was promised of each stream after so many moments must be there.
    fn check(&self, upto: usize, seed: u64) {
        let moments = &self.log.moments[..upto];
        let bytes = image(&self.container, moments, seed);
        let container = Container::open(bytes.as_slice()).unwrap();
        let promised = self
            .log
            .moments
            .get(upto)
            .map_or_else(|| self.counted.iter().map(|c| c.durable).collect(), |next| next.durable.clone());
        let mut found: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
        // The oldest segments may have been overwritten in part.
        let kept = container.retained();
        container
            .frames(None, &mut |name, frame, bytes| {
                if let Some(bytes) = bytes {
                    let (camera, number) = (name.stream, frame.entry.sequence);
                    let made = &self.made[usize::from(camera)][number as usize];
                    assert!(made == bytes, "camera {camera}, frame {number} is another");
                    if frame.batch >= kept.from {
                        found.entry(camera).or_default().push(number);
                    }
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        for (camera, promised) in promised.iter().enumerate() {
            let mut numbers = found.remove(&(camera as u16)).unwrap_or_default();
            let there = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), there, "camera {camera}: frames are there twice");
            if self.geometry.when_full == WhenFull::Stop {
                // None was lost, so the first so many are those that were acknowledged.
                assert!(
                    (0..*promised).eq(numbers.iter().copied().take(*promised as usize)),
                    "moment {upto}, camera {camera}: {promised} were promised"
                );
            } else if *promised > 0 {
                let last = promised - 1;
                let from = numbers.first().copied().unwrap_or(0);
                assert!((from..=last).eq(numbers.iter().copied().filter(|n| *n <= last)), "moment {upto}: a hole");
                assert!(numbers.contains(&last), "moment {upto}: the last promised is missing");
            }
        }
        let verified = container.verify(&|_| {}).unwrap();
        assert_eq!(verified.damage, [], "moment {upto}, seed {seed}: what was not promised is not damage");
        let (segment, batch) = container.next_numbers().unwrap();
        assert!(container.segments().iter().all(|s| s.header.segment < segment && s.header.first_batch <= batch));
    }
}

fn cameras(seed: u64, frames: u64) -> Generated {
    Generated { jitter: 0.5, frames: Some(frames), ..Generated::parse("3x30KB@60", seed).unwrap() }
}

fn geometry(segments: u64, when_full: WhenFull) -> Geometry {
    let bytes = (1 << 20) + segments * (256 << 10) + 4096;
    Geometry::fit(bytes, 512, 64 << 10, Some(256 << 10), when_full).unwrap()
}

/// Every prefix of the log, with four fates of what was not flushed.
#[test]
fn at_every_moment_of_a_recording_what_was_acknowledged_is_there() {
    for seed in 0..2 {
        let recorded = record(geometry(24, WhenFull::Stop), cameras(seed, 40), 4 << 20, 0);
        assert!(recorded.counted.iter().all(|c| c.durable == 40 && c.received == 40), "{:?}", recorded.counted);
        let moments = recorded.log.moments.len();
        (0..=moments).for_each(|upto| (0..4).for_each(|luck| recorded.check(upto, luck)));
    }
}

/// The same where writes and flushes fail now and then: what was not acknowledged goes elsewhere.
#[test]
fn a_failed_write_or_flush_loses_nothing() {
    for seed in 0..6 {
        let recorded = record(geometry(60, WhenFull::Stop), cameras(seed, 30), 4 << 20, 40);
        assert!(recorded.counted.iter().all(|c| c.durable == 30), "{:?}", recorded.counted);
        let moments = recorded.log.moments.len();
        (0..=moments).step_by(3).for_each(|upto| (0..2).for_each(|luck| recorded.check(upto, luck)));
    }
}

/// The frames of the segments that are pinned there, as camera and number.
fn pinned_frames(bytes: &[u8]) -> BTreeSet<(u16, u64)> {
    let container = Container::open(bytes).unwrap();
    let pins = container.superblock.pins.clone();
    let held: Vec<Range<u64>> = container
        .segments()
        .iter()
        .filter(|segment| pins.is_pinned(segment.header.segment))
        .map(|segment| segment.header.first_batch..segment.until_batch)
        .collect();
    let mut frames = BTreeSet::new();
    let mut visit = |name: &crate::StreamName, frame: &crate::FrameLocation, bytes: Option<&[u8]>| {
        if bytes.is_some() && frame.acknowledged && held.iter().any(|batches| batches.contains(&frame.batch)) {
            frames.insert((name.stream, frame.entry.sequence));
        }
        ControlFlow::Continue(())
    };
    container.frames(None, &mut visit).unwrap();
    frames
}

/// Segments are pinned while it is recorded, and more of them later; the ring goes round them.
#[test]
fn what_is_pinned_stays_while_the_ring_goes_round() {
    let pins = |ranges: &[Range<u64>]| Pins::default().with(ranges).unwrap();
    for (seed, fails_every) in [(0, 0), (1, 0), (2, 90)] {
        let (first, second) = (pins(std::slice::from_ref(&(1..3))), pins(&[1..3, 34..35]));
        let pins_at = vec![(60, first.clone()), (240, second.clone())];
        let recorded = record_with(geometry(14, WhenFull::Wrap), cameras(seed, 260), 640 << 10, fails_every, pins_at);
        assert!(recorded.counted.iter().all(|c| c.durable == 260), "{:?}", recorded.counted);
        let moments = &recorded.log.moments;
        let pinned = |wanted: &Pins| {
            let at = moments.iter().position(|m| matches!(&m.happened, DiskEvent::Pinned(pins) if pins == wanted));
            let at = at.unwrap() + 1;
            (at, pinned_frames(&image(&recorded.container, &moments[..at], 1)))
        };
        let promised = [pinned(&first), pinned(&second)];
        assert!(promised.iter().all(|(_, frames)| frames.len() > 10), "seed {seed}: {promised:?}");
        for upto in (0..=moments.len()).step_by(11) {
            recorded.check(upto, seed);
            let bytes = image(&recorded.container, &moments[..upto], seed);
            let there = pinned_frames(&bytes);
            for (_, frames) in promised.iter().filter(|(at, _)| *at <= upto) {
                assert!(frames.is_subset(&there), "seed {seed}, moment {upto}: {:?}", frames.difference(&there));
            }
        }
        // A frame of a pinned segment that is changed is damage, however old it is; a segment that is gone as well.
        let whole = image(&recorded.container, moments, 0);
        let container = Container::open(whole.as_slice()).unwrap();
        let oldest = container.segments()[0].header.segment;
        assert_eq!((oldest, container.superblock.pins.segments()), (1, 3));
        let at = recorded.geometry.offset_of(oldest) as usize;
        let damage = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            Container::open(bytes.as_slice()).unwrap().verify(&|_| {}).unwrap()
        };
        assert!(matches!(&damage(at).damage[..], [Damage::Pinned { from: 1, until: 2 }]), "{:?}", damage(at).damage);
        assert!(!damage(at).is_intact() && !damage(at + 4096 + 40).is_intact());
        assert!(matches!(&damage(at + 9000).damage[..], [Damage::Frame { .. }]), "{:?}", damage(at + 9000).damage);
    }
}

/// Where too little is left that may be overwritten, it stops and says so.
#[test]
fn a_ring_that_is_all_pinned_stops() {
    let pins = Pins::default().with(std::slice::from_ref(&(0..7))).unwrap();
    let recorded = record_with(geometry(14, WhenFull::Wrap), cameras(3, 260), 640 << 10, 0, vec![(45, pins.clone())]);
    let bytes = image(&recorded.container, &recorded.log.moments, 0);
    let container = Container::open(bytes.as_slice()).unwrap();
    assert_eq!(container.verify(&|_| {}).unwrap().damage, []);
    assert!((0..7).all(|n| container.segments().iter().any(|segment| segment.header.segment == n)));
    for counted in &recorded.counted {
        assert!(counted.durable > 0 && counted.in_flight() == 0, "{counted:?}");
        assert!(counted.lost_total() > 0, "{counted:?}");
    }
}

#[test]
fn a_ring_of_segments_holds_the_newest_without_a_hole() {
    for seed in 0..3 {
        let recorded = record(geometry(12, WhenFull::Wrap), cameras(seed, 150), 640 << 10, 0);
        assert!(recorded.counted.iter().all(|c| c.durable == 150), "{:?}", recorded.counted);
        let moments = recorded.log.moments.len();
        (0..=moments).step_by(5).for_each(|upto| (0..2).for_each(|luck| recorded.check(upto, luck)));
    }
}

/// A storage that only fails: everything is lost, and said to be.
#[test]
fn what_the_storage_never_took_is_counted_as_lost() {
    let recorded = record(geometry(24, WhenFull::Stop), cameras(1, 40), 4 << 20, 1);
    for counted in &recorded.counted {
        assert_eq!((counted.durable, counted.in_flight()), (0, 0), "{counted:?}");
        assert_eq!(counted.lost_total(), counted.received);
    }
}

#[test]
fn a_full_container_stops_and_says_how_many_had_no_place() {
    let recorded = record(geometry(4, WhenFull::Stop), cameras(1, 60), 4 << 20, 0);
    for counted in &recorded.counted {
        assert!(counted.durable > 0 && counted.lost_total() > 0 && counted.in_flight() == 0, "{counted:?}");
    }
}

/// Of what was acknowledged and is damaged afterwards each is told, and nothing else.
#[test]
fn damage_is_told_and_superblocks_are_not_needed() {
    let recorded = record(geometry(24, WhenFull::Stop), cameras(1, 40), 4 << 20, 0);
    let whole = image(&recorded.container, &recorded.log.moments, 0);
    let frames = |bytes: &[u8]| {
        let mut all = Vec::new();
        let container = Container::open(bytes).unwrap();
        container
            .frames(None, &mut |_, frame, _| {
                all.push(frame.entry);
                ControlFlow::Continue(())
            })
            .unwrap();
        (all, container.verify(&|_| {}).unwrap().damage)
    };
    let (all, damage) = frames(&whole);
    assert_eq!((all.len(), damage), (120, vec![]));
    let second = recorded.geometry.second_superblock() as usize;
    for (places, expected) in [
        (vec![0], Damage::Superblock { offset: 0 }),
        (vec![second], Damage::Superblock { offset: second as u64 }),
        (vec![0, second], Damage::BothSuperblocks),
    ] {
        let mut bytes = whole.clone();
        places.iter().for_each(|at| bytes[at + 100] ^= 1);
        let (found, damage) = frames(&bytes);
        assert_eq!((found.len(), damage), (120, vec![expected]));
    }
    let hit = all[50];
    let mut bytes = whole.clone();
    bytes[hit.payload.offset as usize + 5] ^= 0x40;
    let (_, damage) = frames(&bytes);
    assert!(matches!(&damage[..], [Damage::Frame { sequence, .. }] if *sequence == hit.sequence), "{damage:?}");
    // The head of a batch: all that it held is missing.
    let mut bytes = whole.clone();
    let batch = (0..whole.len()).step_by(4096).filter(|at| whole[*at..].starts_with(b"NARRWBAT")).nth(3).unwrap();
    bytes[batch + 50] ^= 1;
    let (_, damage) = frames(&bytes);
    assert!(damage.contains(&Damage::Batches { epoch: 1, from: 3, until: 4 }), "{damage:?}");
    assert!(Container::open(&whole[..whole.len() / 2]).is_err());
    assert!(Container::open(&[0u8; 100_000][..]).is_err());
    assert_eq!(whole.as_slice().length().unwrap(), whole.len() as u64);
}
