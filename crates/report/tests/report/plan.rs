//! The plan before it is carried out: as text and as JSON.

use crate::fixture;
use model::*;
use report::document::{PlanDocument, to_json};
use report::{Style, text};

/// One phase of everything that a plan can say.
#[allow(clippy::too_many_lines, reason = "a table of what there is")]
fn everything() -> Plan {
    let stream = |name: &str| StreamPlan {
        kind: BlockPlan { region_bytes: 1 << 30, ..BlockPlan::default() }.into(),
        path: IoPath { queue_depth: 16, access: Access::Direct, ..IoPath::default() },
        name: name.into(),
        seed: 11,
        ..StreamPlan::default()
    };
    let readers = (0..4u32).map(|copy| StreamPlan {
        kind: BlockPlan {
            order: Order::Zipf { theta_milli: 1_200 },
            operation: Operation::Write,
            mix: Some(Mix { read_percent: 70 }),
            block_sizes: Some(BlockSizes {
                read: BlockSize::Split(vec![
                    BlockShare { bytes: 4096, weight: 60 },
                    BlockShare { bytes: 16_384, weight: 40 },
                ]),
                write: BlockSize::Fixed { bytes: 8192 },
                trim: BlockSize::Fixed { bytes: 4096 },
            }),
            block_size_bytes: 16_384,
            region_start_bytes: u64::from(copy) << 30,
            ..stream("db").blocks().unwrap().block.clone()
        }
        .into(),
        path: IoPath { cpus: vec![copy], ..stream("db").path.clone() },
        timing: Timing {
            pacing: Some(Pacing {
                read: Some(Rate::OperationsPerS(5_000)),
                write: Some(Rate::BytesPerS(10_000_000)),
                trim: None,
                arrivals: Arrivals::Poisson,
            }),
            ..stream("db").timing
        },
        seed: 20 + u64::from(copy),
        group: 1,
        ..stream("db")
    });
    let log = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            files: vec!["log/a".into(), "log/b \u{202e}".into()],
            file_order: FileOrder::Sequential,
            ..stream("log").blocks().unwrap().block.clone()
        }
        .into(),
        path: IoPath {
            engine: EngineKind::Psync,
            access: Access::Buffered,
            queue_depth: 1,
            open_sync: OpenSync::Dsync,
            rw_flags: RwFlags { dontcache: true, ..RwFlags::default() },
            ..stream("log").path.clone()
        },
        durability: Durability {
            flush: Flush { fsync_every: 0, fdatasync_every: 8, fsync_at_end: true },
            ..stream("log").durability
        },
        timing: Timing {
            think: Some(ThinkTime { pause_ns: 1_000_000_000, spin_ns: 20_000_000, after_operations: 64 }),
            start_delay_ns: 2_000_000_000,
            ..stream("log").timing
        },
        limits: Limits { total_bytes: Some(64 << 20), ..stream("log").limits },
        verify: Some(Verify { kind: VerifyKind::Crc32c, read_back: true, stop_at_first: false }),
        content: Content { compress_percent: 50, dedupe_percent: 10, ..Content::default() },
        on_error: ErrorPolicy::Continue,
        ..stream("log")
    };
    let phase = |name: &str, streams: Vec<StreamPlan>| PhasePlan {
        name: name.into(),
        access: Access::Direct,
        streams,
        time_limit_ns: 20_000_000_000,
        warmup: Warmup { min_ns: 500_000_000, share: 0.0, max_ns: 500_000_000 },
        ..PhasePlan::default()
    };
    let write = StreamPlan {
        kind: BlockPlan { operation: Operation::Write, ..stream("").blocks().unwrap().block.clone() }.into(),
        ..stream("")
    };
    Plan {
        name: "everything".into(),
        seed: 7,
        budget_ns: 1_530_000_000_000,
        size: TargetSize { bytes: 4 << 30, reason: "as the workload says".into() },
        interval_ns: 100_000_000,
        quiet_ns: 200_000_000,
        notes: vec!["ioengine=libaio: carried out by io_uring".into()],
        phases: vec![
            PhasePlan {
                kind: PhaseKind::Layout,
                stop: StopRule::RegionOnce,
                time_limit_ns: 60_000_000_000,
                warmup: Warmup::default(),
                ..phase(
                    "layout",
                    vec![StreamPlan {
                        durability: Durability { sync: Sync::FsyncAtEnd, ..write.durability },
                        ..write.clone()
                    }],
                )
            },
            PhasePlan {
                kind: PhaseKind::Precondition,
                stop: StopRule::Amount,
                time_limit_ns: 86_400_000_000_000,
                ..phase(
                    "fill",
                    vec![StreamPlan { limits: Limits { total_bytes: Some(8 << 30), ..write.limits }, ..write.clone() }],
                )
            },
            phase("db-and-log", readers.chain([log]).collect()),
            PhasePlan {
                stop: StopRule::SteadyRounds(SteadyState {
                    round_ns: None,
                    round_bytes: Some(1 << 30),
                    ..SteadyState::default()
                }),
                time_limit_ns: 1_500_000_000_000,
                ..phase(
                    "steady",
                    vec![StreamPlan {
                        kind: BlockPlan { order: Order::RandomReplace, ..write.blocks().unwrap().block.clone() }.into(),
                        ..write.clone()
                    }],
                )
            },
            PhasePlan {
                skip: Some("direct I/O needs block sizes that are multiples of the sector, 4096 bytes".into()),
                ..phase("write-1KiB", vec![write])
            },
        ],
    }
}

/// The text without what it says of memory, which follows from the sizes of the program's own tables.
fn text_but_memory(plan: &Plan, style: &Style) -> String {
    let text = report::plan(plan, None).text(style);
    let (before, rest) = text.split_once("  memory  ").expect("memory is stated");
    let (memory, after) = rest.split_once("  writes  ").expect("what is written is stated");
    for part in ["at most, in ", "of data in flight", "of latencies", "of tables and threads"] {
        assert!(memory.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}: {memory}");
    }
    format!("{before}  writes  {after}")
}

#[test]
fn everything_that_a_plan_can_say() {
    insta::assert_snapshot!(text_but_memory(&everything(), &Style::default()));
}

#[test]
fn the_plan_of_a_check() {
    let style = Style { ascii: true, ..Style::default() };
    insta::assert_snapshot!(text_but_memory(&fixture::sd_card().run.plan, &style));
}

#[test]
fn every_line_fits_and_nothing_acts() {
    let mut hostile = everything();
    hostile.name = fixture::HOSTILE.into();
    hostile.notes.push(fixture::HOSTILE.into());
    hostile.phases[2].name = fixture::HOSTILE.into();
    hostile.phases[2].streams[4].name = fixture::HOSTILE.into();
    for plan in [everything(), hostile, fixture::sd_card().run.plan] {
        for (columns, ascii) in [(40, true), (60, false), (80, false), (80, true), (200, false)] {
            let style = Style { ascii, width: columns, colour: false };
            let text = report::plan(&plan, None).text(&style);
            assert!(!ascii || text.is_ascii(), "{text}");
            for line in text.lines() {
                assert!(!line.chars().any(is_control), "{line:?}");
                // The name of a phase or plan is one word: it may be as long as it is.
                assert!(text::width(line) <= style.columns() || line.contains("<script>"), "{columns}: {line}");
            }
        }
    }
}

#[test]
fn the_document_says_what_it_needs_at_most() {
    let plan = everything();
    let target = fixture::sd_card().run.target;
    let text = to_json(&PlanDocument::new(&target, &plan)).expect("a plan serializes");
    let value: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    let keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    let mut expected =
        ["schema", "target", "plan", "memory_bytes", "bytes_written_at_most", "duration_at_most_s", "notes"];
    expected.sort_unstable();
    let mut keys_sorted = keys.clone();
    keys_sorted.sort_unstable();
    assert_eq!(keys_sorted, expected);
    assert_eq!(value["schema"], "narrows/plan/1");
    assert_eq!(value["memory_bytes"], plan.memory_bytes());
    // Random writes in rounds have a bound; writes beside readers for 20 s are paced at random, and have none.
    assert_eq!(value["bytes_written_at_most"], serde_json::Value::Null);
    assert_eq!(value["duration_at_most_s"], 1530.0);
    let read: Plan = serde_json::from_value(value["plan"].clone()).expect("the plan reads back");
    assert_eq!(read, plan);
}
