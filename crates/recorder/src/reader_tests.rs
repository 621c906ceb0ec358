//! Opening a container of a terabyte: what is read of it, and how long that takes.

use crate::container::{
    Geometry, Identity, Pins, SegmentFooter, SegmentHeader, SegmentStream, StreamName, Superblock, WhenFull,
};
use crate::reader::Container;
use crate::store::Store;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Instant;

const TERABYTE: u64 = 1_000_000_000_000;
const BATCHES: u64 = 60;

fn geometry() -> Geometry {
    Geometry::fit(TERABYTE, 4096, 1 << 20, None, WhenFull::Wrap).unwrap()
}

fn superblock() -> Superblock {
    let identity = Identity { uuid: [3; 16], epoch: 1 };
    Superblock {
        identity,
        generation: 1,
        geometry: geometry(),
        created_ns: 1,
        pins: Pins::default(),
        gives_back: false,
    }
}

/// The first block of a segment of a container that is full, and wraps, and its last one; the newest has none.
fn marks(segment: u64) -> (Vec<u8>, Option<Vec<u8>>) {
    let identity = superblock().identity;
    let first_batch = segment * BATCHES;
    let streams = vec![StreamName { name: "front".into(), ..StreamName::default() }];
    let header = SegmentHeader {
        identity,
        segment,
        first_batch,
        started_ns: 1,
        reach: 3,
        pinned: 0,
        geometry: geometry(),
        streams,
    };
    let held =
        SegmentStream { frames: BATCHES, bytes: BATCHES << 20, lost: 0, first_ns: segment, last_ns: segment + 1 };
    let footer =
        SegmentFooter { identity, segment, first_batch, batches: BATCHES, end: 1 << 20, sum: 0, streams: vec![held] };
    let sealed = segment + 1 < 2 * geometry().segments;
    (header.encode().to_vec(), sealed.then(|| footer.encode().to_vec()))
}

/// Every segment was written twice, and the last one is not sealed.
fn segment_in(slot: u64) -> u64 {
    geometry().segments + slot
}

/// Such a container, made up as it is read.
struct GeneratedContainer {
    reads: Cell<u64>,
    bytes: Cell<u64>,
}

impl Store for &GeneratedContainer {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.reads.set(self.reads.get() + 1);
        self.bytes.set(self.bytes.get() + into.len() as u64);
        into.fill(0);
        let geometry = geometry();
        let mut put = |record: &[u8]| into[..4096].copy_from_slice(record);
        if offset == 0 || offset == geometry.second_superblock() {
            put(&superblock().encode());
        } else if let Some(inside) = offset.checked_sub(geometry.first_segment) {
            let slot = inside / geometry.segment_bytes;
            let place = inside % geometry.segment_bytes;
            let (header, footer) = marks(segment_in(slot));
            match (place, footer) {
                (0, _) => put(&header),
                (place, Some(footer)) if place == geometry.segment_bytes - geometry.block_bytes => put(&footer),
                _ => {}
            }
        }
        Ok(into.len())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(TERABYTE)
    }
}

#[test]
fn of_a_terabyte_two_blocks_a_segment_and_the_last_segment_are_read() {
    let made_up = GeneratedContainer { reads: Cell::new(0), bytes: Cell::new(0) };
    let container = Container::open(&made_up).unwrap();
    let segments = geometry().segments;
    assert_eq!(container.segments().len() as u64, segments);
    let last = 2 * segments - 1;
    assert_eq!(container.next_numbers().unwrap(), (last + 1, last * BATCHES));
    let (reads, bytes) = (made_up.reads.get(), made_up.bytes.get());
    assert!(reads <= 2 * segments + 100 && bytes <= 2 * segments * 4096 + (80 << 20), "{reads} reads, {bytes} bytes");
    assert_eq!(container.streams().unwrap()[0].held.frames, (segments - 1) * BATCHES);
}

/// The same on a real file (sparse), past what is cached; `RECORDER_DIR` says where. Prints the time.
#[test]
#[ignore = "writes 120 MB into a sparse file of a terabyte"]
fn a_terabyte_in_a_file_is_opened_quickly() {
    let directory = std::env::var_os("RECORDER_DIR").unwrap_or_else(|| ".".into());
    let file = tempfile::tempfile_in(directory).unwrap();
    file.set_len(TERABYTE).unwrap();
    let geometry = geometry();
    for at in [0, geometry.second_superblock()] {
        file.write_all_at(&superblock().encode(), at).unwrap();
    }
    for slot in 0..geometry.segments {
        let (header, footer) = marks(segment_in(slot));
        let offset = geometry.offset_of(slot);
        file.write_all_at(&header, offset).unwrap();
        if let Some(footer) = footer {
            file.write_all_at(&footer, offset + geometry.segment_bytes - geometry.block_bytes).unwrap();
        }
    }
    file.sync_all().unwrap();
    sys::drop_cached(&file, 0, TERABYTE).unwrap();
    let open = |file: &File| {
        let start = Instant::now();
        let container = Container::open(file.try_clone().unwrap()).unwrap();
        assert_eq!(container.next_numbers().unwrap().0, 2 * geometry.segments);
        start.elapsed()
    };
    let (cold, warm) = (open(&file), open(&file));
    println!("{} segments: {cold:?} from the disk, {warm:?} from memory", geometry.segments);
}
