//! The same promise for frames that are written from where they lie, beside others that are copied.

use super::*;
use crate::LENT_BYTES;

/// Half of them are long enough for blocks of their own; their ends lie anywhere in one.
fn large_cameras(seed: u64, frames: u64) -> Generated {
    let cameras = Generated { jitter: 0.5, frames: Some(frames), ..Generated::parse("2x70KB@60", seed).unwrap() };
    let lent = |n: &u64| cameras.bytes(0, *n) >= LENT_BYTES;
    assert!((2..frames).contains(&((0..frames).filter(lent).count() as u64)));
    cameras
}

fn large_geometry(segments: u64, when_full: WhenFull) -> Geometry {
    let bytes = (1 << 20) + segments * (512 << 10) + 4096;
    Geometry::fit(bytes, 512, 128 << 10, Some(512 << 10), when_full).unwrap()
}

#[test]
fn at_every_moment_what_was_acknowledged_is_there() {
    let recorded = record(large_geometry(12, WhenFull::Stop), large_cameras(3, 16), 4 << 20, 0);
    assert!(recorded.counted.iter().all(|c| c.durable == 16 && c.received == 16), "{:?}", recorded.counted);
    let moments = recorded.log.moments.len();
    (0..=moments).for_each(|upto| (0..4).for_each(|luck| recorded.check(upto, luck)));
}

#[test]
fn a_failed_write_or_flush_loses_nothing() {
    for seed in 0..4 {
        let recorded = record(large_geometry(40, WhenFull::Stop), large_cameras(seed, 20), 4 << 20, 30);
        assert!(recorded.counted.iter().all(|c| c.durable == 20), "{:?}", recorded.counted);
        let moments = recorded.log.moments.len();
        (0..=moments).step_by(4).for_each(|upto| (0..2).for_each(|luck| recorded.check(upto, luck)));
    }
}

/// A ring that is as full as it may be while the container goes round.
#[test]
fn what_goes_round_loses_nothing() {
    let recorded = record(large_geometry(12, WhenFull::Wrap), large_cameras(5, 120), 1 << 20, 0);
    let moments = recorded.log.moments.len();
    (0..=moments).step_by(25).for_each(|upto| recorded.check(upto, 1));
    assert!(recorded.counted.iter().all(|c| c.durable > 60), "{:?}", recorded.counted);
}

/// Where the blocks of the device are longer than those that long frames start on, all is copied, and whole.
#[test]
fn of_longer_blocks_nothing_is_written_from_where_it_lies() {
    let bytes = (1 << 20) + 12 * (512 << 10) + 8192;
    let geometry = Geometry::fit(bytes, 8192, 128 << 10, Some(512 << 10), WhenFull::Stop).unwrap();
    assert_eq!(geometry.block_bytes, 8192);
    let recorded = record(geometry, large_cameras(3, 12), 4 << 20, 0);
    assert!(recorded.counted.iter().all(|c| c.durable == 12), "{:?}", recorded.counted);
    let moments = recorded.log.moments.len();
    (0..=moments).step_by(5).for_each(|upto| recorded.check(upto, 2));
    for moment in &recorded.log.moments {
        let DiskEvent::Write { offset, bytes } = &moment.happened else { continue };
        assert!(offset.is_multiple_of(8192) && bytes.len().is_multiple_of(8192), "{offset}, {}", bytes.len());
    }
}
