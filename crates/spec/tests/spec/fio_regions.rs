//! What fio's job files do with how much: block sizes, files, regions, amounts. Every expectation is what fio 3.33 did
//! with the same text (bytes and operations of its JSON, offsets of its I/O log).

use model::{BlockSize, Plan, Rate, StreamPlan, TargetKind};
use spec::{Readiness, RunInputs, TextInputs, TextMachine, Workload, parse_fio};
use std::collections::BTreeMap;

fn read(text: &str, set: &[(&str, &str)]) -> Result<Workload, String> {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    parse_fio(&TextInputs {
        file: "my.fio",
        text,
        includes: &BTreeMap::new(),
        set: &set,
        variables: &BTreeMap::new(),
        machine: TextMachine { page_size_bytes: 4096, memory_bytes: 2 << 30, processors: 4 },
        lenient: false,
    })
    .map_err(|errors| errors[0].to_string())
}

fn plan_on(kind: TargetKind, text: &str, set: &[(&str, &str)]) -> Plan {
    let inputs = RunInputs {
        kind,
        readiness: Readiness::Writable,
        max_bytes: 4 << 20,
        sector_bytes: 512,
        memory_bytes: Some(2 << 30),
        seed: 1,
        probe: Default::default(),
        packages: None,
    };
    let workload = read(text, set).unwrap_or_else(|e| panic!("{text}: {e}"));
    workload.plan(&inputs).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn streams(text: &str) -> Vec<StreamPlan> {
    plan_on(TargetKind::Directory, text, &[]).phases.last().unwrap().streams.clone()
}

fn sizes(stream: &StreamPlan) -> BlockSize {
    stream
        .blocks()
        .unwrap()
        .block
        .block_sizes
        .clone()
        .map_or(BlockSize::Fixed { bytes: stream.blocks().unwrap().block.block_size_bytes }, |sizes| {
            sizes.of(stream.blocks().unwrap().block.operation).clone()
        })
}

fn range(min_bytes: u64, max_bytes: u64) -> BlockSize {
    BlockSize::Range { min_bytes, max_bytes, step_bytes: min_bytes }
}

#[test]
fn a_split_counts_before_a_range_and_a_range_before_a_size_wherever_they_stand() {
    let of = |text: &str| sizes(&streams(&format!("{text}\nsize=1m\n"))[0]);
    let fixed = |bytes| BlockSize::Fixed { bytes };
    assert_eq!(of("[global]\nbsrange=4k-16k\n[j]\nrw=write\nbs=64k"), range(4096, 16_384));
    assert!(matches!(of("[j]\nrw=write\nbssplit=4k/50:8k/50\nbs=64k"), BlockSize::Split(_)));
    assert!(matches!(of("[j]\nrw=write\nbssplit=4k/50:8k/50\nbsrange=16k-32k"), BlockSize::Split(_)));
    // Direction by direction.
    assert_eq!(of("[j]\nrw=write\nbsrange=4k-16k,\nbs=64k"), fixed(65_536));
    assert_eq!(of("[j]\nrw=read\nbsrange=4k-16k,\nbs=64k"), range(4096, 16_384));
    assert_eq!(of("[j]\nrw=read\nbssplit=,4k/50:8k/50\nbs=16k"), fixed(16_384));
    assert!(matches!(of("[j]\nrw=write\nbssplit=,4k/50:8k/50\nbs=16k"), BlockSize::Split(_)));
    // Either end first, and the other mark.
    assert_eq!(of("[j]\nrw=write\nbsrange=16k-4k"), range(4096, 16_384));
    assert_eq!(of("[j]\nrw=write\nbsrange=4k:16k"), range(4096, 16_384));
    // Shares that are not said, or said to be 0, are the rest.
    let shares = |text: &str| match of(text) {
        BlockSize::Split(shares) => shares.iter().map(|s| s.weight).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shares("[j]\nrw=write\nbssplit=4k/10:64k/50:32k/"), [10, 50, 40]);
    assert_eq!(shares("[j]\nrw=write\nbssplit=4k/0:64k/50"), [50, 50]);
    for (text, what) in [
        ("bs=4k-16k", "a range belongs to bsrange"),
        ("bs=4k/50:8k/50", "shares to bssplit"),
        ("bsrange=64k", "one size belongs to bs"),
    ] {
        let error = read(&format!("[j]\nsize=1m\n{text}\n"), &[]).unwrap_err();
        assert!(error.starts_with("my.fio:3: ") && error.contains(what), "{error}");
    }
    // The largest is no multiple of the smallest: what is left out is said.
    let plan = plan_on(TargetKind::Directory, "[j]\nrw=write\nsize=1m\nbsrange=4k-10k\n", &[]);
    assert_eq!(sizes(&plan.phases[0].streams[0]), range(4096, 8192));
    assert!(plan.notes.iter().any(|n| n.contains("up to 8192 instead of 10240")), "{:?}", plan.notes);
}

#[test]
fn what_set_says_holds_whatever_the_text_does() {
    let of = |text: &str, key: &str, value: &str| {
        plan_on(TargetKind::Directory, &format!("[j]\nrw=write\nsize=1m\n{text}\n"), &[(key, value)]).phases[0].streams
            [0]
        .clone()
    };
    assert_eq!(sizes(&of("bssplit=4k/50:8k/50", "bs", "64k")), BlockSize::Fixed { bytes: 65_536 });
    assert_eq!(sizes(&of("bssplit=4k/50:8k/50", "bsrange", "1k-2k")), range(1024, 2048));
    assert_eq!(of("rate=1m", "rate_iops", "50").timing.pacing.unwrap().write, Some(Rate::OperationsPerS(50)));
    assert_eq!(of("filename=a", "filename", "b").blocks().unwrap().block.files, ["b"]);
}

#[test]
fn files_are_as_long_as_filesize_and_size_says_how_much_is_done() {
    // Text behind `[j]`; files; region of each; bytes of all.
    for (text, files, region, bytes) in [
        ("filesize=1m\nnrfiles=3", 3, 1 << 20, 3 << 20),
        ("size=1m\nfilesize=512k", 1, 512 << 10, 512 << 10),
        ("filesize=1m\nsize=4m\nnrfiles=2", 2, 1 << 20, 2 << 20),
        ("filesize=1m\nsize=512k\nnrfiles=2", 2, 1 << 20, 512 << 10),
        ("filesize=1m\nsize=256k\nrw=randwrite", 1, 1 << 20, 256 << 10),
        ("filesize=1m\nsize=256k\nio_size=2m", 1, 1 << 20, 2 << 20),
        ("filesize=1m\nsize=50%", 1, 512 << 10, 512 << 10),
        ("filesize=1m\nsize=50%\nnrfiles=2", 2, 512 << 10, 1 << 20),
        ("filesize=1m\nsize=100%", 1, 1 << 20, 1 << 20),
        ("filesize=1m\nsize=50%\nio_size=50%", 1, 512 << 10, 256 << 10),
        ("filesize=1m\noffset=256k", 1, 768 << 10, 768 << 10),
        ("filesize=1m\nsize=512k\noffset=256k", 1, 768 << 10, 512 << 10),
        ("size=1m\nio_size=50%", 1, 1 << 20, 512 << 10),
        ("size=1m\nio_size=2500k", 1, 1 << 20, 2500 << 10),
        ("size=1m\nio_size=700k\nbs=64k", 1, 1 << 20, 704 << 10),
        ("size=1m\nio_size=0\nloops=0", 1, 1 << 20, 1 << 20),
        ("size=1m\noffset=512k", 1, 1 << 20, 1 << 20),
    ] {
        let stream = &streams(&format!("[j]\nrw=write\n{text}\n"))[0];
        assert_eq!(
            (
                stream.blocks().unwrap().block.files.len(),
                stream.blocks().unwrap().block.region_bytes,
                stream.limits.total_bytes
            ),
            (files, region, Some(bytes)),
            "{text}"
        );
    }
}

#[test]
fn a_part_is_one_of_the_file_that_a_job_makes_and_of_the_target_that_there_is() {
    let starts =
        |text: &str| streams(text).iter().map(|s| s.blocks().unwrap().block.region_start_bytes).collect::<Vec<_>>();
    assert_eq!(starts("[j]\nrw=write\nsize=1m\noffset=50%\n"), [512 << 10]);
    assert_eq!(
        starts("[j]\nrw=write\nfilename=x\nfilesize=1m\nsize=25%\noffset_increment=25%\nnumjobs=3\n"),
        [0, 256 << 10, 512 << 10]
    );
    let laid_out = plan_on(TargetKind::Directory, "[j]\nrw=read\nsize=1m\noffset=50%\n", &[]);
    assert_eq!(
        laid_out.phases[0].streams[0].blocks().unwrap().block.region_bytes,
        1536 << 10,
        "no more is written than is read"
    );
    // The target has 4 MiB.
    let on = |text: &str| {
        let stream = plan_on(TargetKind::File, text, &[]).phases[0].streams[0].clone();
        (
            stream.blocks().unwrap().block.region_start_bytes,
            stream.blocks().unwrap().block.region_bytes,
            stream.limits.total_bytes,
        )
    };
    let mib = |n: u64| n << 20;
    assert_eq!(on("[j]\nfilename=/x\nsize=1m\noffset=25%\nrw=read\n"), (mib(1), mib(1), Some(mib(1))));
    assert_eq!(on("[j]\nfilename=/x\nsize=50%\noffset=25%\nrw=read\n"), (mib(1), mib(2), Some(mib(2))));
    assert_eq!(on("[j]\nfilename=/x\nsize=50%\noffset=75%\nrw=read\n"), (mib(3), mib(1), Some(mib(1))));
    assert_eq!(on("[j]\nfilename=/x\noffset=25%\nrw=read\n"), (mib(1), mib(3), Some(mib(3))));
    assert_eq!(on("[j]\nfilename=/x\nio_size=25%\nrw=read\n"), (0, mib(4), Some(mib(1))));
    assert_eq!(on("[j]\nfilename=/x\nsize=2m\nio_size=25%\nrw=randread\n"), (0, mib(2), Some(mib(2) / 4)));
}

#[test]
fn a_file_that_holds_no_block_is_refused_with_its_size() {
    let inputs = RunInputs {
        kind: TargetKind::Directory,
        readiness: Readiness::Writable,
        max_bytes: 1 << 30,
        sector_bytes: 512,
        memory_bytes: None,
        seed: 1,
        probe: Default::default(),
        packages: None,
    };
    for (text, what) in [
        ("size=1m\nnrfiles=1000\nrw=read\n", "phase 'j', job 'j': a region of 1048 bytes holds no block of 4 KiB"),
        ("size=2k\nrw=write\n", "phase 'j', job 'j': a region of 2 KiB holds no block of 4 KiB"),
    ] {
        let error = read(&format!("[j]\n{text}"), &[]).unwrap().plan(&inputs).unwrap_err().to_string();
        assert_eq!(error, what);
    }
}

#[test]
fn a_number_of_operations_ends_a_job_sooner_and_never_later() {
    let ends = |text: &str| {
        let stream = &streams(&format!("[j]\nrw=write\nsize=1m\n{text}\n"))[0];
        (stream.limits.total_operations, stream.limits.total_bytes)
    };
    assert_eq!(ends("number_ios=1000"), (Some(1000), Some(1 << 20)));
    assert_eq!(ends("number_ios=100\nloops=3"), (Some(300), Some(3 << 20)));
    assert_eq!(ends("number_ios=20\nio_size=2m"), (Some(20), Some(2 << 20)));
    assert_eq!(ends("number_ios=1k"), (Some(1024), Some(1 << 20)), "counts have units, too");
}

#[test]
fn names_add_up_and_only_lower_case_is_global() {
    assert_eq!(
        streams("[global]\nfilename=a\nsize=1m\nrw=write\n[j]\nfilename=b:c\n")[0].blocks().unwrap().block.files,
        ["a", "b", "c"]
    );
    let twice = plan_on(TargetKind::Directory, "[j]\nrw=write\nsize=1m\nfilename=a\nfilename=a\n", &[]);
    assert_eq!(twice.phases[0].streams[0].blocks().unwrap().block.files, ["a"]);
    assert!(twice.notes.iter().any(|n| n.contains("'a' is named twice")), "{:?}", twice.notes);
    for (text, what) in [
        ("[j]\ndirectory=/mnt\nfilename=/dev/a\n", "fio would look for it"),
        ("[j]\ndirectory=/a:/b\n", "one directory is supported"),
        ("[j]\nsize=1m\nrate=1m\nrate_iops=5\n", "exclude each other"),
        ("[j]\nsize=1g\nnrfiles=65536\nnumjobs=4096\n", "268435456 files"),
        ("[j]\nsize=1m\nflow=0\n", "0 is not possible"),
        ("[j]\nsize=1m\ndirect=maybe\n", "neither 0 nor 1"),
        ("[j]\nsize=1m\nsync=2\n", "none of none, 0, sync, 1, dsync"),
        ("[j]\nsize=1m\nthinktime=5ns\n", "unknown unit 'ns'"),
        ("[j]\nsize=1m\nruntime=10sec\n", "unknown unit 'sec'"),
    ] {
        let error = read(text, &[]).unwrap_err();
        assert!(error.contains(what), "{text}: {error}");
    }
    let plan = plan_on(TargetKind::Directory, "\u{feff}[Global]\nsize=1m\nrw=write\n[j]\nsize=1m\n", &[]);
    assert_eq!(plan.phases.last().unwrap().streams.len(), 2, "[Global] is a job, as it is to fio");
}

#[test]
fn a_unit_that_fio_documents_and_reads_differently_is_said() {
    let plan = |bs: &str| plan_on(TargetKind::Directory, &format!("[j]\nrw=write\nsize=1m\nbs={bs}\n"), &[]);
    let said = |plan: &Plan| plan.notes.iter().any(|n| n.contains("as fio documents it"));
    let doubtful = plan("4ki");
    assert_eq!(doubtful.phases[0].streams[0].blocks().unwrap().block.block_size_bytes, 4000);
    assert!(said(&doubtful), "{:?}", doubtful.notes);
    for clear in ["4k", "4kb", "4kib", "4K"] {
        assert!(!said(&plan(clear)), "{clear}");
    }
    assert!(!said(&plan_on(TargetKind::Directory, "[j]\nrw=write\nsize=1m\nfilename=a4ki\n", &[])));
}
