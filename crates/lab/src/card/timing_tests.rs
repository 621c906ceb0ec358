//! Cards of known truth, asked without waiting.

use super::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;

/// 30 ms for a write that continues nothing, 4 MB/s, two open streams: the card of which a guest saw 30.8 writes/s.
const CLASS_4: &str = r#"
title = "a class 4 card"
source = "invented"
capacity = "64MiB"
[read]
rate = "20MB/s"
points = [{ bytes = "4KiB", time = "1ms" }]
[write]
rate = "4MB/s"
points = [{ bytes = "4KiB", time = "30ms" }]
open-streams = 2
erase-block = "4MiB"
"#;

fn card(more: &str) -> Timing {
    let text = format!("{CLASS_4}{more}");
    Timing::new(Card::parse(&text).unwrap_or_else(|e| panic!("{e:#}")), 1, 1.0).unwrap()
}

/// Asks for each at the moment the one before is done; the time of all.
fn one_after_the_other(timing: &mut Timing, operations: impl IntoIterator<Item = Operation>) -> u64 {
    let start = timing.busy_until_ns();
    for operation in operations {
        timing.serve(timing.busy_until_ns(), operation);
    }
    timing.busy_until_ns() - start
}

fn write(offset: u64, len: u64) -> Operation {
    Operation::Write { offset, len, flush: false }
}

fn read(offset: u64, len: u64) -> Operation {
    Operation::Read { offset, len }
}

/// Places of 4 KiB in an order in which none follows another, and none lies in the block of the two before.
fn scattered(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|i| (i * 3 % 16) * 4 * MIB + i * 8192)
}

/// The same operation in the pieces of 512 bytes in which an emulated SD card hands it on.
fn in_sectors(operation: Operation) -> Vec<Operation> {
    match operation {
        Operation::Write { offset, len, flush } => {
            (0..len / 512).map(|i| Operation::Write { offset: offset + i * 512, len: 512, flush }).collect()
        }
        Operation::Read { offset, len } => (0..len / 512).map(|i| read(offset + i * 512, 512)).collect(),
        other => vec![other],
    }
}

#[test]
fn random_writes_take_their_time_and_streams_the_rate() {
    let mut timing = card("");
    assert_eq!(one_after_the_other(&mut timing, scattered(100).map(|o| write(o, 4096))), 3 * S);
    let counts = timing.counts();
    assert_eq!((counts.write_runs, counts.written_bytes, counts.busy_ns), (100, 409_600, 3 * S));

    let mut timing = card("");
    let stream = one_after_the_other(&mut timing, (0..16).map(|i| write(i * MIB, MIB)));
    assert_eq!(timing.counts().write_runs, 1);
    let expected = 30 * MS + (16 * MIB - 4096) * S / 4_000_000;
    assert_eq!(stream, expected);
    let reads = one_after_the_other(&mut timing, scattered(100).map(|o| read(o, 4096)));
    assert_eq!(reads, 100 * MS);
}

#[test]
fn pieces_of_512_bytes_cost_what_the_whole_costs() {
    let points = r#"
title = "points"
source = "invented"
capacity = "64MiB"
[read]
rate = "43MiB/s"
points = [{ bytes = "1KiB", iops = 1574 }, { bytes = "4KiB", iops = 1926 }, { bytes = "16KiB", iops = 726 }]
[write]
rate = "29MiB/s"
points = [{ bytes = "1KiB", iops = 416 }, { bytes = "4KiB", iops = 762 }, { bytes = "16KiB", iops = 457 }]
erase-block = "4MiB"
"#;
    for size in [1024, 4096, 8192, 16384, 65536] {
        for direction in [write, read] {
            let mut whole = Timing::new(Card::parse(points).unwrap(), 1, 1.0).unwrap();
            let mut pieces = whole.clone();
            let operations: Vec<_> = (0..50).map(|i| direction((i * 7 % 50) * MIB, size)).collect();
            let expected = one_after_the_other(&mut whole, operations.iter().copied());
            let split = one_after_the_other(&mut pieces, operations.iter().flat_map(|o| in_sectors(*o)));
            assert_eq!(split, expected, "{size}");
            assert_eq!(whole.counts(), pieces.counts());
        }
    }
}

#[test]
fn a_short_write_that_is_slower_pays_when_it_ends() {
    let text = CLASS_4.replace(
        r#"{ bytes = "4KiB", time = "30ms" }"#,
        r#"{ bytes = "1KiB", time = "50ms" }, { bytes = "4KiB", time = "30ms" }"#,
    );
    let mut timing = Timing::new(Card::parse(&text).unwrap(), 1, 1.0).unwrap();
    // Two streams are open; each of these pays for the one that it closes.
    assert_eq!(one_after_the_other(&mut timing, [write(0, 1024)]), 30 * MS);
    assert_eq!(one_after_the_other(&mut timing, [write(20 * MIB, 1024)]), 30 * MS);
    assert_eq!(one_after_the_other(&mut timing, [write(40 * MIB, 1024)]), 50 * MS);
    // A flush pays for both that are open, once; going on after it costs nothing twice.
    assert_eq!(one_after_the_other(&mut timing, [Operation::Flush]), 40 * MS);
    assert_eq!(one_after_the_other(&mut timing, [Operation::Flush]), 0);
    assert_eq!(one_after_the_other(&mut timing, [write(40 * MIB + 1024, 3072)]), 0);
}

#[test]
fn as_many_streams_as_are_open_stay_sequential() {
    let streams = |count: u64| {
        let mut timing = card("");
        one_after_the_other(
            &mut timing,
            (0..40).flat_map(|i| (0..count).map(move |s| write(s * 8 * MIB + i * 4096, 4096))),
        );
        timing.counts().write_runs
    };
    assert_eq!((streams(1), streams(2)), (1, 2));
    // With one more than that, each write closes the stream that is wanted next.
    assert_eq!(streams(3), 120);
}

#[test]
fn a_write_in_an_open_block_closes_no_other_stream() {
    let mut timing = card("");
    one_after_the_other(&mut timing, [write(0, 4096), write(8 * MIB, 4096)]);
    // In the block of the second: takes its place, and the first goes on.
    assert_eq!(one_after_the_other(&mut timing, [write(8 * MIB + 65536, 4096)]), 30 * MS);
    let continuing = one_after_the_other(&mut timing, [write(4096, 4096)]);
    assert_eq!(continuing, 4096 * S / 4_000_000);
    assert_eq!(timing.counts().write_runs, 3);
    // Opening a block costs extra, where the card says so.
    let text = CLASS_4.replace("erase-block", "open-block = '100ms'\nerase-block");
    let mut timing = Timing::new(Card::parse(&text).unwrap(), 1, 1.0).unwrap();
    assert_eq!(one_after_the_other(&mut timing, [write(0, 4096)]), 130 * MS);
    assert_eq!(one_after_the_other(&mut timing, [write(65536, 4096)]), 30 * MS);
    assert_eq!(one_after_the_other(&mut timing, [write(4 * MIB, 4096)]), 130 * MS);
}

#[test]
fn the_cache_is_fast_until_it_is_full_and_empties_at_rest() {
    let mut timing = card("[cache]\nsize = '8MiB'\nrate = '40MB/s'\ndrain = '2MiB/s'\n");
    let piece = |timing: &mut Timing, i: u64| one_after_the_other(timing, [write(i * MIB, MIB)]);
    piece(&mut timing, 0);
    let (fast, slow) = (MIB * S / 40_000_000, MIB * S / 4_000_000);
    for i in 1..8 {
        assert!(piece(&mut timing, i).abs_diff(fast) <= 1, "{i}");
    }
    assert!(piece(&mut timing, 8).abs_diff(slow) <= 1);
    // Two seconds at rest make room for four pieces.
    let rested = timing.busy_until_ns() + 2 * S;
    let done = timing.serve(rested, write(9 * MIB, MIB));
    assert!((done - rested).abs_diff(fast) <= 1);
    for i in 10..13 {
        assert!(piece(&mut timing, i).abs_diff(fast) <= 1, "{i}");
    }
    assert!(piece(&mut timing, 13).abs_diff(slow) <= 1);
}

#[test]
fn garbage_is_collected_after_so_many_bytes() {
    let mut timing = card("[stall]\nevery = '1MiB'\ntime = '250ms'\n");
    let times: Vec<_> = (0..1024)
        .map(|i| one_after_the_other(&mut timing, [write(i * 4096, 4096)]))
        .filter(|t| *t >= 250 * MS)
        .collect();
    assert_eq!((times.len(), timing.counts().stalls), (4, 4));
    // One request over several thresholds stalls for each.
    one_after_the_other(&mut timing, [write(0, 3 * MIB)]);
    assert_eq!(timing.counts().stalls, 7);
}

#[test]
fn flush_costs_only_after_writes_and_a_discard_by_the_block() {
    let mut timing = card("[commands]\nflush-time = '5ms'\ntrim-time = '2ms'\n");
    assert_eq!(one_after_the_other(&mut timing, [Operation::Flush]), 0);
    one_after_the_other(&mut timing, [write(0, 4096)]);
    assert_eq!(one_after_the_other(&mut timing, [Operation::Flush, Operation::Flush]), 5 * MS);
    let own = Operation::Write { offset: 4096, len: 4096, flush: true };
    assert_eq!(one_after_the_other(&mut timing, [own]), 4096 * S / 4_000_000 + 5 * MS);
    assert_eq!(one_after_the_other(&mut timing, [Operation::Trim { offset: 4 * MIB - 512, len: 1024 }]), 4 * MS);
}

#[test]
fn a_card_is_serial_and_hides_short_gaps_of_one_stream_only() {
    let mut timing = card("");
    assert_eq!(timing.serve(0, write(0, 4096)), 30 * MS);
    // Arrived while the first was served.
    assert_eq!(timing.serve(MS, write(20 * MIB, 4096)), 60 * MS);
    // Arrived later, elsewhere: starts when it arrives.
    assert_eq!(timing.serve(61 * MS, write(40 * MIB, 4096)), 91 * MS);
    // Goes on 400 us later: served as if there had been no gap.
    let piece = 4096 * S / 4_000_000;
    assert_eq!(timing.serve(91 * MS + 400_000, write(40 * MIB + 4096, 4096)), 91 * MS + piece);
    // A longer pause is a pause.
    let late = 91 * MS + piece + 600_000;
    assert_eq!(timing.serve(late, write(40 * MIB + 8192, 4096)), late + piece);
}

#[test]
fn a_spread_keeps_the_mean_and_the_seed_keeps_the_times() {
    let text = format!("spread = 0.5\n{CLASS_4}");
    let times = |seed| -> Vec<u64> {
        let mut timing = Timing::new(Card::parse(&text).unwrap(), seed, 1.0).unwrap();
        scattered(400).map(|o| one_after_the_other(&mut timing, [write(o, 4096)])).collect()
    };
    let first = times(1);
    assert_eq!(first, times(1));
    assert_ne!(first, times(2));
    let mean = first.iter().sum::<u64>() / 400;
    assert!(mean.abs_diff(30 * MS) < 2 * MS, "{mean}");
    assert!(first.iter().all(|t| (15 * MS..45 * MS).contains(t)));
    assert!(first.iter().any(|t| *t < 17 * MS) && first.iter().any(|t| *t > 43 * MS));
}

#[test]
fn slowness_multiplies_everything() {
    let text = format!(
        "{CLASS_4}[cache]\nsize = '1MiB'\nrate = '40MB/s'\ndrain = '1MiB/s'\n[stall]\nevery = '4MiB'\ntime = '1s'\n"
    );
    let operations = || (0..8).map(|i| write(i * MIB, MIB)).chain(scattered(20).map(|o| read(o, 4096)));
    let mut real = Timing::new(Card::parse(&text).unwrap(), 1, 1.0).unwrap();
    let mut slow = Timing::new(Card::parse(&text).unwrap(), 1, 4.0).unwrap();
    let (real, slow) = (one_after_the_other(&mut real, operations()), one_after_the_other(&mut slow, operations()));
    assert!((4 * real).abs_diff(slow) < 100, "{real} {slow}");
}
