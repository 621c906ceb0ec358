//! The bytes of docs/design/container.md, and that nothing that was changed is believed.

use super::*;
use proptest::prelude::*;

fn identity() -> Identity {
    Identity { uuid: std::array::from_fn(|i| i as u8), epoch: 3 }
}

fn geometry() -> Geometry {
    Geometry::fit(1 << 30, 512, 1 << 20, None, WhenFull::Wrap).unwrap()
}

fn streams() -> Vec<StreamName> {
    let of = |stream, kind, name: &str| StreamName { stream, kind, name: name.into() };
    vec![of(0, FrameKind::Jpeg, "front"), of(1, FrameKind::Opaque, "лидар")]
}

fn superblock() -> Superblock {
    Superblock {
        identity: identity(),
        generation: 7,
        geometry: geometry(),
        created_ns: 1_700_000_000_000_000_000,
        pins: Pins::default(),
        gives_back: false,
    }
}

fn pinned() -> Superblock {
    Superblock { pins: Pins::default().with(&[3..6, 18..19]).unwrap(), ..superblock() }
}

fn header() -> SegmentHeader {
    SegmentHeader {
        identity: identity(),
        segment: 18,
        first_batch: 900,
        started_ns: 1_700_000_000_500_000_000,
        reach: 2,
        pinned: 0,
        geometry: geometry(),
        streams: streams(),
    }
}

fn footer() -> SegmentFooter {
    let held = SegmentStream { frames: 10, bytes: 1234, lost: 2, first_ns: 5, last_ns: 99 };
    let streams = vec![held, SegmentStream::default()];
    SegmentFooter {
        identity: identity(),
        segment: 18,
        first_batch: 900,
        batches: 4,
        end: 81920,
        sum: 0xfeed_beef,
        streams,
    }
}

fn batch() -> BatchHeader {
    let introduced = introduction(&streams()[1]);
    let payload =
        |offset, bytes: &[u8]| PayloadLocation { offset, length: bytes.len() as u32, sum: crc32c::crc32c(bytes) };
    let frame = FrameEntry { stream: 0, sequence: 41, capture_ns: 11, arrival_ns: 12, payload: payload(384, b"frame") };
    BatchHeader {
        identity: identity(),
        segment: 18,
        batch: 901,
        acknowledged: 899,
        closed_ns: 1_700_000_000_600_000_000,
        rewritten: true,
        length: 4096,
        entries: vec![
            Entry::Stream { stream: 1, payload: payload(320, &introduced) },
            Entry::Lost { stream: 0, sequence: 40, count: 1, loss: Loss::RingFull },
            Entry::Frame(frame),
        ],
    }
}

/// What does not change is what other programs read: these are the sums in the document.
#[test]
fn records_are_the_bytes_of_the_document() {
    let last = |record: &[u8], at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
    let sums = [
        last(&superblock().encode(), 4092),
        last(&pinned().encode(), 4092),
        last(&header().encode(), 4092),
        last(&footer().encode(), 4092),
        last(&batch().encode(), 124),
    ];
    let said = include_str!("../../../../docs/design/container.md");
    for (what, sum) in
        ["superblock", "superblock with pins", "segment header", "segment footer", "batch"].into_iter().zip(sums)
    {
        assert!(said.contains(&format!("| {what} | `{sum:08x}` |")), "{what}: {sum:08x}");
    }
    assert_eq!(
        &superblock().encode()[..36],
        b"NARRWREC\x01\0\0\0\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x03\0\0\0\x07\0\0\0"
    );
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(Superblock::decode(&superblock().encode()), Ok(Some(superblock())));
    assert_eq!(Superblock::decode(&pinned().encode()), Ok(Some(pinned())));
    let too_many = Superblock { pins: Pins::default().with(std::slice::from_ref(&(0..20))).unwrap(), ..superblock() };
    assert_eq!(Superblock::decode(&too_many.encode()), Ok(None), "more than there are");
    assert_eq!(SegmentHeader::decode(&header().encode()), Some(header()));
    assert_eq!(SegmentFooter::decode(&footer().encode()), Some(footer()));
    let bytes = batch().encode();
    let (read, sum) = BatchHeader::decode(&bytes).unwrap();
    assert_eq!((read, sum.to_le_bytes()), (batch(), bytes[124..128].try_into().unwrap()));
    assert_eq!(StreamName::introduced(&introduction(&streams()[1])), Some(streams()[1].clone()));
    let long = StreamName { name: "ä".repeat(40), ..streams()[0].clone() };
    assert_eq!(StreamName::introduced(&introduction(&long)).unwrap().name, "ä".repeat(30));
}

#[test]
fn a_later_version_is_named_and_refused() {
    let mut bytes = superblock().encode();
    bytes[8] = 4;
    assert_eq!(Superblock::decode(&bytes), Ok(None), "the sum is wrong");
    fields::seal(&mut bytes);
    assert_eq!(Superblock::decode(&bytes), Err(ContainerError::Version { found: 4 }));
    // Who knows of no pins must not overwrite what they keep.
    assert_eq!((superblock().encode()[8], pinned().encode()[8]), (1, 2));
}

#[test]
fn a_geometry_that_cannot_be_is_none() {
    let wrong = |change: fn(&mut Geometry)| {
        let mut superblock = superblock();
        change(&mut superblock.geometry);
        assert_eq!(Superblock::decode(&superblock.encode()), Ok(None), "{superblock:?}");
    };
    wrong(|g| g.block_bytes = 0);
    wrong(|g| g.block_bytes = 4097);
    wrong(|g| g.segment_bytes = 0);
    wrong(|g| g.segments = 0);
    wrong(|g| g.segments = u64::MAX);
    wrong(|g| g.first_segment = u64::MAX / 4096 * 4096);
    wrong(|g| g.container_bytes = 4096);
}

proptest! {
    /// A flipped bit anywhere, and any bytes at all: never another record, never a panic.
    #[test]
    fn what_was_changed_is_no_record(at in 0usize..4096 * 8, noise: Vec<u8>) {
        let flip = |bytes: &mut [u8]| {
            let at = at % (bytes.len() * 8);
            bytes[at / 8] ^= 1 << (at % 8);
        };
        let (mut a, mut b, mut c, mut d) = (superblock().encode(), header().encode(), footer().encode(), batch().encode());
        [&mut a[..], &mut b[..], &mut c[..], &mut d[..]].into_iter().for_each(flip);
        prop_assert_eq!(Superblock::decode(&a), Ok(None));
        prop_assert_eq!(SegmentHeader::decode(&b), None);
        prop_assert_eq!(SegmentFooter::decode(&c), None);
        prop_assert_eq!(BatchHeader::decode(&d), None);
        let _ = (Superblock::decode(&noise), SegmentHeader::decode(&noise), BatchHeader::decode(&noise));
        let _ = (SegmentFooter::decode(&noise), StreamName::introduced(&noise));
    }
}
