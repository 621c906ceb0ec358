//! HdrHistogram logs, read back by the crate's own reader.

use crate::runs::{Access, Operation, Order, phase, plain, refused, run, split_directions, stream};
use exchange::{ExchangeError, Options};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

/// Tag, start and length in seconds, histogram.
fn read(log: &str) -> Vec<(String, f64, f64, Histogram<u64>)> {
    IntervalLogIterator::new(log.as_bytes())
        .filter_map(|entry| match entry.unwrap() {
            LogEntry::Interval(line) => {
                let bytes = base64_decode(line.encoded_histogram());
                let histogram = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                let tag = line.tag().map(|t| t.as_str().to_owned()).unwrap_or_default();
                Some((tag, line.start_timestamp().as_secs_f64(), line.duration().as_secs_f64(), histogram))
            }
            _ => None,
        })
        .collect()
}

fn base64_decode(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let mut bits = 0u32;
    let mut n = 0;
    for digit in text.bytes().filter(|b| *b != b'=') {
        bits = bits << 6 | DIGITS.iter().position(|d| *d == digit).expect("a digit of base 64") as u32;
        n += 6;
        if n >= 8 {
            n -= 8;
            bytes.push((bits >> n) as u8);
        }
    }
    bytes
}

#[test]
fn a_line_for_each_phase() {
    let log = exchange::hlog(&plain(), &Options::default()).unwrap();
    assert!(log.starts_with("#[Histogram log format version 1.3]\n"), "{log}");
    assert!(log.contains("#[StartTime: 1795210200.000 (seconds since epoch)]\n"), "{log}");
    let lines = read(&log);
    assert_eq!(lines.len(), 3);
    let (tag, start, length, histogram) = &lines[0];
    assert_eq!((tag.as_str(), *start, *length), ("rand-read-qd32", 1.5, 1.5));
    assert_eq!(histogram.len(), 1500);
    assert!((histogram.value_at_quantile(0.5) as f64 / 1e6 - 1.0).abs() < 0.01);
    assert!((histogram.max() as f64 / 50e6 - 1.0).abs() < 0.001);
}

#[test]
fn a_line_for_each_job_and_direction_beside_the_phase() {
    use model::Direction::{Read, Sync, Write};
    let mut p = phase("p", Access::Direct, vec![stream(Operation::Write, Order::Random, 4096, 8); 2]);
    for (i, s) in p.plan.streams.iter_mut().enumerate() {
        (s.name, s.group) = (format!("job {i}"), i as u32 + 1);
        s.block_mut().mix = Some(model::Mix { read_percent: 50 });
        s.durability.flush.fsync_every = 8;
    }
    split_directions(&mut p, &[(Read, 0.5), (Write, 0.5), (Sync, 0.04)]);
    p.record.as_mut().unwrap().streams[1].started_ns += 250_000_000;
    let lines = read(&exchange::hlog(&run(vec![p]), &Options::default()).unwrap());
    let tags: Vec<&str> = lines.iter().map(|l| l.0.as_str()).collect();
    let parts = |job: &str| ["", ".read", ".write", ".sync"].map(|d| format!("p.{job}{d}"));
    let want: Vec<String> = [vec!["p".to_owned()], parts("job-0").to_vec(), parts("job-1").to_vec()].concat();
    assert_eq!(tags, want);
    assert_eq!((lines[1].3.len(), lines[2].3.len(), lines[4].3.len()), (750, 375, 30));
    assert_eq!((lines[2].3.max() / 1_000, lines[6].1), (500, 1.75));
}

#[test]
fn a_refused_phase_is_a_comment() {
    let mut phases = plain().phases;
    phases[1] = refused(phases[1].clone());
    let run_with = run(phases);
    let log = exchange::hlog(&run_with, &Options::default()).unwrap();
    assert!(log.contains("#[refused: rand-write-qd1: foreign-traffic: 40 % by others]\n"), "{log}");
    assert_eq!(read(&log).len(), 2);
    let kept = Options { keep_refused: true, ..Options::default() };
    assert_eq!(read(&exchange::hlog(&run_with, &kept).unwrap()).len(), 3);
    let none = run(vec![refused(phase("a", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 1)]))]);
    assert!(matches!(exchange::hlog(&none, &Options::default()), Err(ExchangeError::NothingRecorded { .. })));
}
