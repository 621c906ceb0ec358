use super::super::{BlockShare, BlockSizes, Pacing, Zone};
use super::*;
use crate::{BlockPlan, IoPath, NS_PER_S, Timing};

fn plan(stream: StreamPlan) -> Plan {
    let phase = PhasePlan {
        name: "p".into(),
        access: Access::Direct,
        streams: vec![stream],
        time_limit_ns: 10 * NS_PER_S,
        ..PhasePlan::default()
    };
    Plan { interval_ns: NS_PER_S / 10, phases: vec![phase], ..Plan::default() }
}

fn stream() -> StreamPlan {
    StreamPlan {
        kind: BlockPlan { region_bytes: 1 << 30, ..BlockPlan::default() }.into(),
        path: IoPath { access: Access::Direct, ..IoPath::default() },
        ..StreamPlan::default()
    }
}

fn complaint(stream: StreamPlan) -> String {
    plan(stream).check(512, None).iter().map(ToString::to_string).collect()
}

#[test]
fn a_plain_plan_can_be_carried_out() {
    assert_eq!(complaint(stream()), "");
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of what there is")]
fn what_cannot_be_is_said() {
    let sizes = |size: BlockSize| Some(BlockSizes { read: size.clone(), write: size.clone(), trim: size });
    for (bad, said) in [
        (
            StreamPlan {
                kind: BlockPlan { block_size_bytes: 1000, ..stream().blocks().unwrap().block.clone() }.into(),
                ..stream()
            },
            "multiples of the sector, 512",
        ),
        (
            StreamPlan {
                kind: BlockPlan { region_start_bytes: 100, ..stream().blocks().unwrap().block.clone() }.into(),
                ..stream()
            },
            "offsets that are multiples",
        ),
        (
            StreamPlan {
                kind: BlockPlan {
                    block_size_bytes: 1 << 40,
                    region_bytes: 1 << 41,
                    ..stream().blocks().unwrap().block.clone()
                }
                .into(),
                ..stream()
            },
            "block size",
        ),
        (StreamPlan { path: IoPath { queue_depth: 0, ..stream().path.clone() }, ..stream() }, "depth 0"),
        (
            StreamPlan {
                kind: BlockPlan { region_start_bytes: u64::MAX - 511, ..stream().blocks().unwrap().block.clone() }
                    .into(),
                ..stream()
            },
            "2^63",
        ),
        (
            StreamPlan {
                kind: BlockPlan { region_bytes: 512, ..stream().blocks().unwrap().block.clone() }.into(),
                ..stream()
            },
            "holds no block",
        ),
        (
            StreamPlan {
                path: IoPath { engine: EngineKind::Psync, queue_depth: 2, ..stream().path.clone() },
                ..stream()
            },
            "one call at a time",
        ),
        (
            StreamPlan { path: IoPath { engine: EngineKind::Mmap, ..stream().path.clone() }, ..stream() },
            "cannot be direct",
        ),
        (
            StreamPlan {
                kind: BlockPlan {
                    order: Order::Zipf { theta_milli: 1000 },
                    ..stream().blocks().unwrap().block.clone()
                }
                .into(),
                ..stream()
            },
            "zipf",
        ),
        (
            StreamPlan {
                kind: BlockPlan { order: Order::Zoned, ..stream().blocks().unwrap().block.clone() }.into(),
                ..stream()
            },
            "100 %",
        ),
        (
            StreamPlan {
                kind: BlockPlan { files: vec!["../etc".into()], ..stream().blocks().unwrap().block.clone() }.into(),
                ..stream()
            },
            "not below",
        ),
        (
            StreamPlan {
                kind: BlockPlan {
                    block_sizes: sizes(BlockSize::Split(vec![])),
                    ..stream().blocks().unwrap().block.clone()
                }
                .into(),
                ..stream()
            },
            "weight",
        ),
        (
            StreamPlan {
                kind: BlockPlan {
                    block_sizes: sizes(BlockSize::Split(vec![BlockShare { bytes: 8192, weight: 1 }])),
                    ..stream().blocks().unwrap().block.clone()
                }
                .into(),
                ..stream()
            },
            "hold no block of 8192",
        ),
        (
            StreamPlan {
                timing: Timing {
                    pacing: Some(Pacing { read: Some(Rate::BytesPerS(0)), ..Pacing::default() }),
                    ..stream().timing
                },
                ..stream()
            },
            "rate",
        ),
    ] {
        let complaint = complaint(bad);
        assert!(complaint.contains(said), "{said}: {complaint}");
    }
    let zones = vec![Zone { access_percent: 90, region_percent: 10 }, Zone { access_percent: 10, region_percent: 90 }];
    assert_eq!(
        complaint(StreamPlan {
            kind: BlockPlan { order: Order::Zoned, zones, ..stream().blocks().unwrap().block.clone() }.into(),
            ..stream()
        }),
        ""
    );
}

#[test]
fn more_memory_than_there_is_is_refused_with_the_figure() {
    let mut plan = plan(StreamPlan {
        kind: BlockPlan { block_size_bytes: 4 << 20, ..stream().blocks().unwrap().block.clone() }.into(),
        path: IoPath { queue_depth: 256, ..stream().path.clone() },
        ..stream()
    });
    let one = plan.phases[0].streams[0].clone();
    plan.phases[0].streams = vec![one; 16];
    assert!(plan.memory_bytes() > 16 << 30);
    let errors = plan.check(512, Some(512 << 20));
    assert!(matches!(&errors[..], [PlanError::Memory { buffers: 17_179_869_184, available: 536_870_912, .. }]));
    assert!(plan.check(512, Some(32 << 30)).is_empty());
}

#[test]
fn sums_do_not_overflow() {
    let mut plan = plan(StreamPlan {
        kind: BlockPlan { block_size_bytes: u64::MAX, ..stream().blocks().unwrap().block.clone() }.into(),
        path: IoPath { queue_depth: u32::MAX, ..stream().path.clone() },
        ..stream()
    });
    let one = plan.phases[0].streams[0].clone();
    plan.phases[0].streams = vec![one; 3];
    plan.phases[0].time_limit_ns = u64::MAX;
    assert_eq!(plan.memory_bytes(), u64::MAX);
    assert_eq!(plan.phases[0].queue_depth(), u32::MAX);
    assert!(!plan.check(512, Some(1 << 30)).is_empty());
}

#[test]
fn a_stored_stream_of_today_loads_and_stays_as_it_is() {
    let json = r#"{"operation":"read","order":"random","block_size_bytes":4096,"queue_depth":1,"region_start_bytes":0,
        "region_bytes":1048576,"sync":"none","round_bytes":null,"seed":3}"#;
    let stream: StreamPlan = serde_json::from_str(json).unwrap();
    let expected = StreamPlan {
        kind: BlockPlan { order: Order::Random, region_bytes: 1 << 20, ..BlockPlan::default() }.into(),
        seed: 3,
        ..StreamPlan::default()
    };
    assert_eq!(stream, expected);
    let again = serde_json::to_value(&stream).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(json).unwrap());
}
