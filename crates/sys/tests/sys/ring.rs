//! The ring's promises: no buffer is lent or reused while the kernel may touch it, waits end, refusals are typed.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sys::{BufferPool, MemoryArea, PushError, Ring, RingCompletion, RingError, RingOp, RingOptions, WritePart};

const BYTES: usize = 4096;

fn ring(options: RingOptions) -> Option<Ring> {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&[7; 4 * BYTES]).expect("its content");
    match Ring::new(file.into(), BufferPool::new(4, BYTES).expect("a pool"), options) {
        Ok(ring) => Some(ring),
        Err(error @ (RingError::Missing | RingError::Forbidden { .. } | RingError::Memory { .. })) => {
            println!("SKIPPED: {error}; {}", error.remedy());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn finish(ring: &mut Ring, count: usize) -> Vec<RingCompletion> {
    let mut done = Vec::new();
    let start = Instant::now();
    while done.len() < count {
        ring.enter(1, Some(1_000_000_000)).expect("enter");
        ring.complete(usize::MAX, |c| done.push(c));
        assert!(start.elapsed() < Duration::from_secs(20), "only {done:?} completed");
    }
    done
}

#[test]
fn a_buffer_in_flight_is_neither_lent_nor_reused() {
    let Some(mut ring) = ring(RingOptions::default()) else { return };
    ring.buffer_mut(1).expect("a free buffer").fill(0);
    ring.push(RingOp::Read, 1, 0, BYTES as u32).expect("push");
    assert!(ring.buffer_mut(1).is_none());
    assert_eq!(ring.push(RingOp::Read, 1, 0, 512), Err(PushError::InFlight(1)));
    assert_eq!(ring.in_flight(), 1);
    assert!(ring.buffer_mut(0).is_some());
    assert_eq!(finish(&mut ring, 1), [RingCompletion { buffer: 1, result: BYTES as i32 }]);
    assert!(ring.buffer_mut(1).expect("free again").iter().all(|b| *b == 7));
    assert_eq!(ring.in_flight(), 0);
}

#[test]
fn impossible_operations_are_refused() {
    let Some(mut ring) = ring(RingOptions::default()) else { return };
    assert_eq!(ring.push(RingOp::Read, 4, 0, 512), Err(PushError::NoSuchBuffer(4)));
    assert!(ring.buffer_mut(4).is_none());
    let len = BYTES as u32 + 1;
    assert_eq!(ring.push(RingOp::Write, 0, 0, len), Err(PushError::TooLong { len, buffer_bytes: BYTES }));
    assert_eq!(ring.in_flight(), 0);
}

#[test]
fn a_wait_for_nothing_ends_in_time() {
    let Some(mut ring) = ring(RingOptions::default()) else { return };
    ring.enter(1, Some(2_000_000)).expect("enter");
    ring.enter(0, None).expect("a poll");
    ring.complete(usize::MAX, |c| panic!("{c:?} out of nothing"));
}

#[test]
fn a_failed_write_answers_for_its_cancelled_sync() {
    let bare = RingOptions {
        register_buffers: false,
        register_file: false,
        register_ring: false,
        inline_on_memory: false,
        ..RingOptions::default()
    };
    for options in [RingOptions::default(), bare] {
        let Some(mut ring) = ring(options) else { return };
        // Beyond the largest offset of a file: EINVAL.
        ring.push(RingOp::WriteThenDatasync, 0, 1 << 63, 512).expect("push");
        ring.push(RingOp::WriteThenDatasync, 2, 0, BYTES as u32).expect("push");
        let mut done = finish(&mut ring, 2);
        done.sort_by_key(|c| c.buffer);
        assert_eq!(done[0], RingCompletion { buffer: 0, result: -22 });
        assert_eq!(done[1], RingCompletion { buffer: 2, result: BYTES as i32 });
        // Every buffer can be used again, many times over.
        for round in 0..100u64 {
            for buffer in 0..4 {
                ring.push(RingOp::Read, buffer, round % 4 * BYTES as u64, BYTES as u32).expect("push");
            }
            assert!(finish(&mut ring, 4).iter().all(|c| c.result == BYTES as i32));
        }
    }
}

#[test]
fn what_is_left_out_is_not_claimed() {
    let Some(all) = ring(RingOptions::default()) else { return };
    // Whatever this kernel grants is either in use or missing with a reason.
    for feature in ["registered-file", "registered-buffers", "registered-ring", "defer-taskrun", "single-issuer"] {
        let used = all.features().iter().any(|f| f == feature);
        let missing = all.missing().iter().any(|m| m.starts_with(&format!("{feature}: ")));
        assert!(used || missing, "{feature}: {:?} {:?}", all.features(), all.missing());
    }
    let without = RingOptions { register_buffers: false, ..RingOptions::default() };
    let Some(ring) = ring(without) else { return };
    assert!(!ring.features().iter().any(|f| f == "registered-buffers"));
}

/// A write that sends its own buffer and pieces of an area, which are kept until it has ended, and no longer.
#[test]
fn a_write_is_gathered_from_a_buffer_and_from_pieces() {
    let Some(mut ring) = ring(RingOptions::default()) else { return };
    let area = MemoryArea::new(64 << 10).expect("an area");
    let piece = |length: usize, content: u8| {
        let mut piece = area.take(length, 512, Duration::ZERO).expect("room");
        piece.bytes_mut().fill(content);
        piece.clear_rest();
        Arc::new(piece)
    };
    let (one, other) = (piece(1024, 1), piece(1000, 2));
    ring.buffer_mut(2).expect("a free buffer").fill(9);
    let mut parts = vec![
        WritePart::Buffer(512),
        WritePart::Piece(Arc::clone(&one), 512..1024),
        WritePart::Buffer(512),
        WritePart::Piece(Arc::clone(&other), 0..1024),
    ];
    let len = parts.iter().map(WritePart::bytes).sum::<usize>();
    assert!(ring.gather(2, &mut parts) && parts.is_empty());
    drop((one, other));
    ring.push(RingOp::Write, 2, 0, len as u32).expect("push");
    assert!(area.used().0 >= 2048 && !ring.gather(2, &mut parts));
    assert_eq!(finish(&mut ring, 1), [RingCompletion { buffer: 2, result: len as i32 }]);
    assert_eq!(area.used().0, 0);
    ring.push(RingOp::Read, 0, 0, len as u32).expect("push");
    finish(&mut ring, 1);
    let read = &ring.buffer_mut(0).expect("free")[..len];
    assert_eq!(read, [vec![9; 512], vec![1; 512], vec![9; 512], vec![2; 1000], vec![0; 24]].concat());
    // What the buffer does not have is not sent, and what will not be sent is given back.
    assert!(!ring.gather(1, &mut vec![WritePart::Piece(piece(512, 3), 0..512), WritePart::Buffer(BYTES + 1)]));
    assert!(ring.gather(1, &mut vec![WritePart::Piece(piece(512, 3), 0..512)]));
    assert!(area.used().0 > 0 && ring.buffer_mut(1).is_some());
    assert_eq!(area.used().0, 0);
}
