//! Recordings, and what producers send: opened, listed, verified, read frame by frame; pictures and heads of frames.
//!
//! A container is larger than an input may be: an input is a list of changes to the records of one, each of [`CHANGE_BYTES`]: which
//! record (16 bits), where in it (16 bits), and what stands there from then on (8 bytes).

use super::{Fuzzer, mutate::hash};
use recorder::input::{Generated, GeneratedSource, JpegParser, parse_frame_head};
use recorder::{
    Accounts, Container, DEPTH, Geometry, Identity, Matroska, Pins, RECORD_BYTES, Ring, SharedPins, Superblock,
    VideoTimes, WhenFull, WriterSettings,
};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// A container that is small enough to be changed a thousand times a second.
const SEGMENT_BYTES: u64 = 256 << 10;
const PIECE_BYTES: usize = 64 << 10;
/// What a fuzzer may claim to find in a container; more is a loop that does not end.
const MAX_FRAMES: u64 = 1 << 20;

/// Length of a change.
const CHANGE_BYTES: usize = 12;

/// Containers, each with where its records begin.
struct Recordings(Vec<(Vec<u8>, Vec<usize>)>);

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    let stop = recorded(WhenFull::Stop, 20, "9KB");
    let wrap = recorded(WhenFull::Wrap, 60, "12KB");
    let pinned = wrap.clone().and_then(pinned);
    let with_records = |container: Vec<u8>| {
        let is_record = |at: &usize| container[*at..].starts_with(b"NARRW");
        let records = (0..container.len()).step_by(RECORD_BYTES).filter(is_record).collect();
        (container, records)
    };
    Ok(Box::new(Recordings(stop.into_iter().chain(wrap).chain(pinned).map(with_records).collect())))
}

/// Memory as a device of the engine: what is written is there at once.
struct Memory {
    bytes: Rc<RefCell<Vec<u8>>>,
    buffers: Vec<Vec<u8>>,
    done: Vec<engine::Completion>,
    now: u64,
}

impl engine::Device for Memory {
    type Op = workload::BlockOp;

    fn now(&self) -> u64 {
        self.now
    }

    fn buffer(&mut self, index: u32) -> &mut [u8] {
        &mut self.buffers[index as usize]
    }

    fn submit(&mut self, ops: &[workload::BlockOp]) -> Result<(), engine::DeviceError> {
        for op in ops {
            self.now += 100_000;
            if op.kind == workload::OpKind::Write {
                let data = &self.buffers[op.buffer as usize][..op.len as usize];
                self.bytes.borrow_mut()[op.offset as usize..][..data.len()].copy_from_slice(data);
            }
            self.done.push(engine::Completion { buffer: op.buffer, result: Ok(op.len), at_ns: self.now });
        }
        Ok(())
    }

    fn reap(&mut self, _: usize, until: u64, out: &mut Vec<engine::Completion>) -> Result<(), engine::DeviceError> {
        if self.done.is_empty() && until < u64::MAX / 4 {
            self.now = self.now.max(until);
        }
        out.append(&mut self.done);
        Ok(())
    }
}

/// A recording of two cameras.
fn recorded(when_full: WhenFull, frames: u64, frame: &str) -> Option<Vec<u8>> {
    let bytes = (1 << 20) + 5 * SEGMENT_BYTES + 4096;
    let geometry = Geometry::fit(bytes, 512, 1000, Some(SEGMENT_BYTES), when_full).ok()?;
    let identity = Identity { uuid: *b"0123456789abcdef", epoch: 1 };
    let superblock =
        Superblock { identity, generation: 1, geometry, created_ns: 1, pins: Pins::default(), gives_back: false };
    let mut container = vec![0; geometry.container_bytes as usize];
    for at in [0, geometry.second_superblock() as usize] {
        container[at..at + 4096].copy_from_slice(&superblock.encode());
    }
    let container = Rc::new(RefCell::new(container));
    let cameras = Generated { frames: Some(frames), ..Generated::parse(&format!("2x{frame}@50"), 1).ok()? };
    let accounts = Arc::new(Accounts::default());
    let frame_source = GeneratedSource::new(
        cameras,
        Ring::new(1 << 20).expect("memory of a mebibyte"),
        geometry.largest_frame(),
        &accounts,
    );
    let settings = WriterSettings {
        identity,
        geometry,
        next_segment: 0,
        next_batch: 0,
        max_latency_ns: 100_000_000,
        ring_bytes: 1 << 18,
        clock_start_ns: 1,
        piece_bytes: PIECE_BYTES as u64,
        priority: None,
        pins: SharedPins::default(),
        keep_times: false,
        room: None,
    };
    let buffers = vec![vec![0; PIECE_BYTES]; DEPTH as usize];
    let memory = Memory { bytes: Rc::clone(&container), buffers, done: Vec::with_capacity(DEPTH as usize), now: 0 };
    recorder::run_on_device(memory, settings, accounts, frame_source, || {}).ok()?;
    Some(container.take())
}

/// The same with its oldest segments pinned.
fn pinned(mut container: Vec<u8>) -> Option<Vec<u8>> {
    let read = Container::open(container.as_slice()).ok()?;
    let first = read.segments().first()?.header.segment;
    let stretches = [first..first + 1, first + 2..first + 3];
    let superblock = Superblock { pins: Pins::default().with(&stretches)?, ..read.superblock.clone() };
    for at in [0, superblock.geometry.second_superblock() as usize] {
        container[at..at + RECORD_BYTES].copy_from_slice(&superblock.encode());
    }
    Some(container)
}

impl Fuzzer for Recordings {
    fn corpus(&self) -> Vec<Vec<u8>> {
        let mut picture = vec![0; 3000];
        if let Ok(camera) = Generated::parse("1x3KB@1", 1) {
            camera.make(0, 0, &mut picture);
        }
        // Each field of the first records, changed to something.
        let change = |record: u16, at: u16, value: u64| {
            [&record.to_le_bytes()[..], &at.to_le_bytes(), &value.to_le_bytes()].concat()
        };
        let values = [0, 1, u64::MAX, 4096, 1 << 31];
        let places = (0..12u16).flat_map(|record| (8..240u16).step_by(8).map(move |at| (record, at)));
        let changes = places.zip(values.into_iter().cycle()).map(|((record, at), value)| change(record, at, value));
        changes.chain([picture, recorder::input::frame_head(100, 5).to_vec()]).collect()
    }

    fn words(&self) -> &'static [&'static str] {
        &["NARRWREC", "NARRWSEG", "NARRWEND", "NARRWBAT", "NFR1", "\u{ff}"]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let mut outcome = hash(format!("{:?}", JpegParser::default().parse(input)).as_bytes());
        if let Some(head) = input.first_chunk() {
            outcome ^= u64::from(parse_frame_head(head).is_some());
        }
        let film = Matroska::new(Vec::new(), VideoTimes::default()).picture(1, input).map_err(|e| e.to_string());
        outcome ^= hash(format!("{film:?}").as_bytes());
        let chosen = usize::from(input.last().copied().unwrap_or(0)) % self.0.len().max(1);
        let Some((container, records)) = self.0.get(chosen) else { return Ok(outcome) };
        let mut changed = container.clone();
        for change in input.chunks_exact(CHANGE_BYTES) {
            let number = |at: usize| usize::from(u16::from_le_bytes([change[at], change[at + 1]]));
            let at = records[number(0) % records.len()] + number(2) % (RECORD_BYTES - 8);
            changed[at..at + 8].copy_from_slice(&change[4..]);
        }
        // Once as it is, and once with every sum made right: what is behind the sums is to hold, too.
        Ok(outcome ^ read(&changed)? ^ read(&resealed(&changed))?.rotate_left(1))
    }
}

/// Opens, lists, reads and verifies a container; a number that tells outcomes apart.
fn read(input: &[u8]) -> Result<u64, String> {
    let container = match Container::open(input) {
        Ok(container) => container,
        Err(e) => return Ok(hash(e.to_string().as_bytes())),
    };
    let (mut frames, mut whole) = (0u64, 0u64);
    let went = container.frames(None, &mut |_, _, bytes| {
        frames += 1;
        whole += u64::from(bytes.is_some());
        if frames > MAX_FRAMES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if frames > MAX_FRAMES {
        return Err("frames without an end".to_owned());
    }
    let said = format!("{:?} {:?} {:?}", went.is_ok(), container.streams().is_ok(), container.next_numbers().ok());
    let spans = container.spans().map(|spans| spans.len()).ok();
    let verified = container.verify(&|_| {}).map(|v| (v.frames, v.damage.len())).ok();
    Ok(hash(format!("{said} {whole} {spans:?} {verified:?}").as_bytes()))
}

/// The same with the sums of whatever looks like a record.
fn resealed(input: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for at in (0..bytes.len().saturating_sub(RECORD_BYTES - 1)).step_by(RECORD_BYTES) {
        let record = &mut bytes[at..];
        if record.starts_with(b"NARRWBAT") {
            let entries = u32::from_le_bytes(record[72..76].try_into().unwrap_or_default()) as usize;
            let Some(directory) = record.get(128..entries.saturating_mul(64).saturating_add(128)) else { continue };
            let sum = crc32c::crc32c_append(crc32c::crc32c(&record[..124]), directory);
            record[124..128].copy_from_slice(&sum.to_le_bytes());
        } else if record.starts_with(b"NARRW") {
            let sum = crc32c::crc32c(&record[..RECORD_BYTES - 4]);
            record[RECORD_BYTES - 4..RECORD_BYTES].copy_from_slice(&sum.to_le_bytes());
        }
    }
    bytes
}
