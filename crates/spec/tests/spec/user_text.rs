//! The text form: what it says becomes the plan, and mistakes are named with file, line and key.

use model::{
    Access, BlockSize, BufferPages, Buffers, EngineKind, Mix, Operation, Order, Rate, StopRule, TargetKind, VerifyKind,
};
use proptest::prelude::*;
use spec::{Readiness, RunInputs, TextError, TextErrorKind, TextInputs, TextMachine, Workload, parse_workload};
use std::collections::BTreeMap;

fn read_with(text: &str, includes: &[(&str, &str)], set: &[(&str, &str)]) -> Result<Workload, Vec<TextError>> {
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    let includes = owned(includes).into_iter().collect();
    let variables = BTreeMap::new();
    parse_workload(&TextInputs {
        file: "my.toml",
        text,
        includes: &includes,
        set: &owned(set),
        variables: &variables,
        machine: TextMachine { page_size_bytes: 4096, memory_bytes: 1 << 30, processors: 2 },
        lenient: false,
    })
}

fn inputs() -> RunInputs {
    RunInputs {
        kind: TargetKind::Directory,
        readiness: Readiness::Writable,
        max_bytes: 4 << 30,
        sector_bytes: 512,
        memory_bytes: Some(1 << 30),
        seed: 1,
        probe: Default::default(),
        packages: Some(file_trace::package_calls),
    }
}

const TWO_JOBS: &str = r#"
name = "mine"
[defaults]
access = "direct"
time = "10s"

[[phase]]
name = "both"
[[phase.job]]
name = "reader"
order = "zipf:1.2"
block-size = "4KiB/60:64KiB/40"
depth = 16
iops = 500
[[phase.job]]
name = "writer"
operation = "mix"
read-percent = 30
order = "hot-spot:90/10:10/90"
fsync-every = 8
offset = "1GiB"
region = "512MiB"
jobs = 2
separate = true
"#;

#[test]
fn a_text_becomes_its_plan() {
    let plan = read_with(TWO_JOBS, &[], &[]).unwrap().plan(&inputs()).unwrap();
    let phase = plan.phase("both").unwrap();
    assert_eq!((phase.time_limit_ns, phase.stop, phase.access), (10_000_000_000, StopRule::Time, Access::Direct));
    let [reader, first, second] = phase.streams.as_slice() else { panic!("{:?}", phase.streams) };
    assert_eq!(
        (reader.blocks().unwrap().block.order, reader.path.queue_depth),
        (Order::Zipf { theta_milli: 1200 }, 16)
    );
    assert_eq!(reader.blocks().unwrap().block.block_size_bytes, 65_536, "buffers hold the largest");
    assert!(
        matches!(&reader.blocks().unwrap().block.block_sizes.as_ref().unwrap().read, BlockSize::Split(s) if s.len() == 2)
    );
    assert_eq!(reader.timing.pacing.unwrap().read, Some(Rate::OperationsPerS(500)));
    assert_eq!(
        (first.blocks().unwrap().block.operation, first.blocks().unwrap().block.mix),
        (Operation::Write, Some(Mix { read_percent: 30 }))
    );
    assert_eq!(
        (
            first.blocks().unwrap().block.region_start_bytes,
            first.blocks().unwrap().block.region_bytes,
            first.durability.flush.fsync_every
        ),
        (1 << 30, 512 << 20, 8)
    );
    assert_eq!((first.name.as_str(), second.name.as_str()), ("writer-1", "writer-2"));
    assert_ne!(first.group, second.group);
    assert_ne!(first.seed, second.seed);
}

#[test]
fn sweeps_multiply_and_set_replaces() {
    let text = "name='s'\n[defaults]\ntime='1s'\naccess='direct'\n[[phase]]\nname='r-{block-size}-qd{depth}'\n\
                sweep={ block-size=['4KiB','1MiB'], depth=[1,8] }\n";
    let names = |set: &[(&str, &str)]| -> Vec<String> {
        let plan = read_with(text, &[], set).unwrap().plan(&inputs()).unwrap();
        plan.phases.iter().skip(1).map(|p| p.name.clone()).collect()
    };
    assert_eq!(names(&[]), ["r-4k-qd1", "r-4k-qd8", "r-1m-qd1", "r-1m-qd8"]);
    assert_eq!(names(&[("depth", "2,3"), ("r.block-size", "16KiB")]), ["r-16k-qd2", "r-16k-qd3"]);
    let plan = read_with(text, &[], &[("time", "3s")]).unwrap().plan(&inputs()).unwrap();
    assert!(plan.phases.iter().skip(1).all(|p| p.time_limit_ns == 3_000_000_000));
    let errors = read_with(text, &[], &[("dept", "2")]).unwrap_err();
    assert_eq!((errors[0].place.file.as_str(), errors[0].nearest.as_deref()), ("--set", Some("depth")));
}

#[test]
fn includes_are_asked_for_and_come_first() {
    let text = "include = 'base.toml'\nname = 'over'\n[[phase]]\nname = 'mine'\n";
    let errors = read_with(text, &[], &[]).unwrap_err();
    assert_eq!((errors[0].kind, errors[0].key.as_str()), (TextErrorKind::NeedsInclude, "base.toml"));
    let base = "name = 'base'\n[defaults]\ndepth = 4\ntime = '1s'\naccess = 'direct'\n[[phase]]\nname = 'theirs'\n";
    let plan = read_with(text, &[("base.toml", base)], &[]).unwrap().plan(&inputs()).unwrap();
    let names: Vec<&str> = plan.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!((plan.name.as_str(), names), ("over", vec!["layout", "theirs", "mine"]));
    assert_eq!(plan.phase("mine").unwrap().streams[0].path.queue_depth, 4);
    let round = read_with("include = 'a'\n", &[("a", "include = 'a'\n")], &[]).unwrap_err();
    assert!(round[0].to_string().contains("go round"), "{}", round[0]);
}

#[test]
fn more_streams_or_files_than_anybody_has_are_refused_before_they_are_made() {
    for (text, key, said) in [
        ("jobs = 100000000", "jobs", "4096 are possible"),
        ("jobs = 4096\nown-files = 65536", "own-files", "268435456 files"),
        (
            "sweep = { jobs = [4000, 4001, 4002, 4003, 4004, 4005, 4006, 4007, 4008, 4009, 4010, 4011, 4012, 4013, 4014, 4015, 4016, 4017] }",
            "jobs",
            "65536 are possible",
        ),
    ] {
        let errors = read_with(
            &format!("name = \"x\"\n[[phase]]\nname = \"p{{jobs}}\"\n{text}\n")
                .replace("p{jobs}", if text.contains("sweep") { "p{jobs}" } else { "p" }),
            &[],
            &[],
        )
        .expect_err(text);
        assert_eq!((errors[0].place.line, errors[0].key.as_str()), (2, key), "{}", errors[0]);
        assert!(errors[0].to_string().contains(said), "{}", errors[0]);
    }
}

#[test]
fn set_reaches_one_point_of_a_sweep_by_its_name() {
    let text = "name='x'\n[[phase]]\nname='p{depth}'\nsweep={depth=[1, 8]}\naccess='direct'\nregion='4MiB'\n";
    let jobs = |set: &[(&str, &str)]| -> Vec<(String, usize)> {
        let plan = read_with(text, &[], set).unwrap().plan(&inputs()).unwrap();
        let measured = plan.phases.iter().filter(|p| p.name != "layout");
        measured.map(|p| (p.name.clone(), p.streams.len())).collect()
    };
    assert_eq!(jobs(&[("p8.jobs", "3")]), [("p1".to_owned(), 1), ("p8".to_owned(), 3)]);
    assert_eq!(jobs(&[("p.jobs", "2")]), [("p1".to_owned(), 2), ("p8".to_owned(), 2)]);
    let wrong = read_with(text, &[], &[("p9.jobs", "3")]).unwrap_err();
    assert!(wrong[0].to_string().contains("no such phase"), "{}", wrong[0]);
}

#[test]
fn what_a_text_includes_is_looked_for_beside_it() {
    let text = "name='x'\ninclude=['sub/a.toml']\n";
    let (a, b) = (("sub/a.toml", "include=['b.toml']\n"), ("sub/b.toml", "[[phase]]\nname='p'\n"));
    let wanted = read_with(text, &[a], &[]).unwrap_err();
    assert_eq!((wanted[0].key.as_str(), wanted[0].place.file.as_str()), ("sub/b.toml", "sub/a.toml"));
    assert!(read_with(text, &[a, b], &[]).is_ok());
}

#[test]
fn mistakes_name_file_line_key_and_the_nearest() {
    for (text, line, key, said) in [
        ("name='x'\n\n[[phase]]\nname='p'\nblocksize='4k'\n", 5, "blocksize", "nearest supported: block-size"),
        ("name='x'\n[[phase]]\nname='p'\nsize='4k'\n", 4, "size", "nearest supported: region"),
        ("name='x'\n[defaults]\niodepth=4\n[[phase]]\nname='p'\n", 3, "iodepth", "nearest supported: depth"),
        ("name='x'\n[[phase]]\nname='p'\nblock-size='4q'\n", 4, "block-size", "unknown unit 'q'"),
        ("name='x'\n[[phase]]\nname='p'\nregion='99999999999999999999g'\n", 4, "region", "too large"),
        ("name='x'\n[[phase]]\nname='p'\ndepth=0\n", 4, "depth", "0 is not possible"),
        ("name='x'\n[[phase]]\nname='p'\norder='radnom'\n", 4, "order", "expected: sequential"),
        ("name='x'\n[[phase]]\nname='p'\nname='q'\n", 4, "", "duplicate"),
        ("name='x'\ninterval='1ns'\n", 2, "interval", "at least 1 ms"),
        ("name='x'\n[[phase]]\ndepth=1\n", 2, "name", "a phase has a name"),
        ("name='x'\n[[phase]]\nname='p'\n[[phase]]\nname='p'\n", 4, "name", "two phases"),
        ("name='x'\n", 1, "phase", "no phase"),
    ] {
        let errors = read_with(text, &[], &[]).unwrap_err();
        let error = &errors[0];
        assert_eq!(
            (error.place.file.as_str(), error.place.line, error.key.as_str()),
            ("my.toml", line, key),
            "{error}"
        );
        assert!(error.to_string().contains(said), "{said}: {error}");
    }
}

#[test]
fn more_than_there_is_is_refused_with_the_figure() {
    let text = "name='x'\n[[phase]]\nname='p'\naccess='direct'\ndepth=256\nblock-size='4MiB'\njobs=16\ntime='1s'\n";
    let board = RunInputs { memory_bytes: Some(512 << 20), ..inputs() };
    let error = read_with(text, &[], &[]).unwrap().plan(&board).unwrap_err().to_string();
    assert!(error.contains("16 GiB of it") && error.contains("512 MiB are available"), "{error}");
    let large = "name='x'\n[[phase]]\nname='p'\nregion='1TiB'\n";
    let error = read_with(large, &[], &[]).unwrap().plan(&inputs()).unwrap_err().to_string();
    assert!(error.contains("offers 4 GiB"), "{error}");
}

#[test]
fn one_operation_at_a_time_in_memory_is_a_plain_call() {
    let engine = |more: &str, plain_calls| {
        let text = format!("name='x'\n[[phase]]\nname='p'\naccess='direct'\nregion='64MiB'\ntime='1s'\n{more}\n");
        let inputs = RunInputs { probe: spec::Probe { plain_calls, ..Default::default() }, ..inputs() };
        read_with(&text, &[], &[]).unwrap().plan(&inputs).unwrap().phase("p").unwrap().engine
    };
    use spec::PlainCalls::{All, None, Writes};
    assert_eq!(engine("", All), EngineKind::Psync);
    assert_eq!(engine("", None), EngineKind::IoUring);
    assert_eq!(engine("depth=2", All), EngineKind::IoUring);
    assert_eq!(engine("engine='io-uring'", All), EngineKind::IoUring, "what was asked for stays");
    assert_eq!(engine("", Writes), EngineKind::IoUring);
    assert_eq!(engine("operation='write'", Writes), EngineKind::Psync);
    assert_eq!(engine("operation='mix'", Writes), EngineKind::IoUring);
}

#[test]
fn only_copies_by_named_accesses_have_a_region_as_their_target() {
    let copies_region = |keys: &str| {
        read_with(&format!("name='x'\n[[phase]]\nname='p'\ntime='1s'\n{keys}\n"), &[], &[]).unwrap().copies_region()
    };
    assert!(copies_region("copy='4'"));
    assert!(!copies_region("kind='memory-copy'"), "as before: any target, which it does not touch");
    assert!(!copies_region(""));
}

#[test]
fn what_is_verified_is_laid_out_with_stamps() {
    let text = |check: &str, more: &str| {
        format!("name='x'\n[defaults]\nregion='64MiB'\ntime='1s'\nverify={check}\n[[phase]]\nname='p'\n{more}\n")
    };
    let plan = |check: &str, more: &str| read_with(&text(check, more), &[], &[]).unwrap().plan(&inputs());
    let stamped = plan("true", "").unwrap();
    let kinds: Vec<_> = stamped.phases.iter().map(|p| p.streams[0].verify.map(|v| (v.kind, v.read_back))).collect();
    assert_eq!(kinds, [Some((VerifyKind::Stamp, false)), Some((VerifyKind::Stamp, true))]);
    assert!(plan("'off'", "").unwrap().phases.iter().all(|p| p.streams[0].verify.is_none()));
    let error = read_with(&text("'md5'", ""), &[], &[]).unwrap_err()[0].to_string();
    assert!(error.contains("my.toml:5") && error.contains("use crc32c or xxhash"), "{error}");
    let error = plan("'xxhash'", "operation='write'\njobs=2").unwrap_err().to_string();
    assert!(error.contains("use the same bytes at the same time"), "{error}");
    let shifted = plan("'xxhash'", "operation='write'\njobs=2\njob-offset='64MiB'");
    assert!(shifted.is_ok(), "{shifted:?}");
    let simulated = RunInputs { kind: TargetKind::Sim, ..inputs() };
    assert!(read_with(&text("'meta'", ""), &[], &[]).unwrap().plan(&simulated).is_ok());
    let two = text("'meta'", "jobs=2\njob-offset='64MiB'");
    let error = read_with(&two, &[], &[]).unwrap().plan(&simulated).unwrap_err().to_string();
    assert!(error.contains("keeps data in memory"), "{error}");
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = read_with(&text, &[], &[]);
    }

    #[test]
    fn no_value_of_any_key_panics(at in 0usize..200, value in "[0-9a-zA-Z.:/,%-]{0,20}", kind in 0usize..3) {
        let keys = spec::job_keys();
        let key = keys[at % keys.len()].name;
        let text = format!("name='x'\n[[phase]]\nname='p'\n{key}='{value}'\n");
        match read_with(&text, &[], &[]) {
            Ok(workload) => {
                let kind = [TargetKind::Directory, TargetKind::BlockDevice, TargetKind::Sim][kind];
                let _ = workload.plan(&RunInputs { kind, ..inputs() });
            }
            Err(errors) => prop_assert!(errors.iter().all(|e| e.place.line == 4 && e.key == key)),
        }
    }
}

#[test]
fn buffers_lie_where_the_text_says() {
    let read = |value: &str| {
        let text = format!(
            "name = \"mine\"\n[[phase]]\nname = \"a\"\ntime = \"1s\"\nbuffers = \"{value}\"\nbuffer-alignment = \"1MiB\""
        );
        read_with(&text, &[], &[])
    };
    let buffers =
        |value: &str| read(value).unwrap().plan(&inputs()).unwrap().phases.last().unwrap().streams[0].path.buffers;
    assert_eq!(buffers("huge"), Buffers { pages: BufferPages::Huge, alignment_bytes: 1 << 20 });
    assert_eq!(buffers("pages").pages, BufferPages::Ordinary);
    assert_eq!(buffers("reserved").pages, BufferPages::Reserved { page_bytes: None });
    assert_eq!(buffers("reserved:1GiB").pages, BufferPages::Reserved { page_bytes: Some(1 << 30) });
    for bad in ["small", "reserved:3MiB", "reserved:", "huge:2MiB"] {
        assert!(read(bad).is_err(), "{bad}");
    }
}
