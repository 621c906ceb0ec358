//! fio's logs.

use crate::runs::{Access, Operation, Order, phase, plain, refused, run, stream};
use exchange::{ExchangeError, Options};

#[test]
fn files_are_named_and_filled_as_plotting_tools_expect() {
    let files = exchange::fio_logs(&plain(), &Options::default()).unwrap();
    assert_eq!(files.len(), 3 * 4);
    let find = |name: &str| &files.iter().find(|f| f.path.ends_with(name)).unwrap_or_else(|| panic!("{name}")).text;
    let bandwidth = find("direct-4k/randread-iodepth-32-numjobs-1_bw.1.log");
    // The warm-up is left out: the first interval that counts ends 600 ms after the start.
    assert_eq!(bandwidth.lines().next(), Some("600, 4000, 0, 4096, 0"));
    assert_eq!(bandwidth.lines().count(), 15);
    assert!(find("buffered-4k/randwrite-iodepth-1-numjobs-1_iops.1.log").starts_with("600, 1000, 1, 4096, 0\n"));
    assert!(find("direct-4k/randread-iodepth-32-numjobs-1_clat.1.log").starts_with("600, 1000000, 0, 4096, 0\n"));
}

#[test]
fn a_stall_is_a_zero_not_a_gap() {
    let mut stalled = phase("p", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 1)]);
    let interval = &mut stalled.record.as_mut().unwrap().intervals[10];
    (interval.operations, interval.bytes, interval.latency_ns_p50) = (0, 0, None);
    let files = exchange::fio_logs(&run(vec![stalled]), &Options::default()).unwrap();
    assert!(files[0].text.contains("\n1100, 0, 0, 4096, 0\n"), "{}", files[0].text);
    assert_eq!(files[2].text.lines().count(), 14);
}

#[test]
fn a_short_last_interval_is_left_out() {
    let mut phase = phase("p", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 1)]);
    let last = phase.record.as_mut().unwrap().intervals.last_mut().unwrap();
    (last.length_ns, last.operations) = (1_000, 1);
    let files = exchange::fio_logs(&run(vec![phase]), &Options::default()).unwrap();
    assert_eq!(files[1].text.lines().last(), Some("1900, 1000, 0, 4096, 0"));
}

#[test]
fn two_phases_never_share_a_file() {
    let twice = vec![phase("a", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 1)]); 2];
    let files = exchange::fio_logs(&run(twice), &Options::default()).unwrap();
    assert!(files[4].path.starts_with("direct-4k-a"), "{}", files[4].path.display());
}

#[test]
fn refused_series_stay_at_home() {
    let phase = refused(phase("a", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 1)]));
    let run = run(vec![phase]);
    assert!(matches!(exchange::fio_logs(&run, &Options::default()), Err(ExchangeError::NothingRecorded { .. })));
    let kept = Options { keep_refused: true, ..Options::default() };
    assert_eq!(exchange::fio_logs(&run, &kept).unwrap().len(), 4);
}
