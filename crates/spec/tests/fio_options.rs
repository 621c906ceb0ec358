//! Options of fio that mean more than a value: zones, working sets, names of files, waiting, checksums.

use model::{IoClass, Order, Plan, TargetKind, VerifyKind};
use spec::{Readiness, RunInputs, TextError, TextErrorKind, TextInputs, TextMachine, Workload, parse_fio};
use std::collections::BTreeMap;

fn read(text: &str, lenient: bool) -> Result<Workload, Vec<TextError>> {
    let (includes, variables) = (BTreeMap::new(), BTreeMap::new());
    let machine = TextMachine { page_size_bytes: 4096, memory_bytes: 2 << 30, processors: 4 };
    parse_fio(&TextInputs {
        file: "my.fio",
        text,
        includes: &includes,
        set: &[],
        variables: &variables,
        machine,
        lenient,
    })
}

fn plan(text: &str) -> Plan {
    let inputs = RunInputs {
        kind: TargetKind::Directory,
        readiness: Readiness::Writable,
        max_bytes: 4 << 30,
        sector_bytes: 512,
        memory_bytes: None,
        seed: 1,
        probe: Default::default(),
    };
    read(text, false)
        .unwrap_or_else(|e| panic!("{text}: {}", e[0]))
        .plan(&inputs)
        .unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn error(text: &str) -> TextError {
    read(text, false).expect_err(text).remove(0)
}

#[test]
fn strided_zones_are_blocks_in_a_row_and_a_stride() {
    let zones = |options: &str| {
        let stream =
            plan(&format!("[a]\nrw=read\nbs=64k\nsize=1g\nzonemode=strided\n{options}")).phases[1].streams[0].clone();
        (stream.block().order, stream.block().run_blocks, stream.limits.total_bytes)
    };
    let strided = |stride_bytes| Order::Strided { stride_bytes };
    // The amount is that of the whole size: fio 3.33 wraps to the first zone until it is done.
    assert_eq!(zones("zonesize=1m\nzoneskip=3m\n"), (strided(4 << 20), 16, Some(1 << 30)));
    assert_eq!(zones("zonesize=1m\nzonerange=2m\nzoneskip=3m\n"), (strided(5 << 20), 16, Some(1 << 30)));
    // A zone that is no whole number of blocks ends with the block in which it does.
    assert_eq!(zones("zonesize=100k\nzoneskip=1m\n"), (strided(1124 << 10), 2, Some(1 << 30)));
    for (text, what) in [
        ("rw=randread\nzonemode=strided\nzonesize=1m\n", "sequential"),
        ("rw=read\nzonemode=strided\n", "zonesize"),
        ("rw=read\nzonesize=1m\n", "zonemode=strided"),
        ("rw=read\nzonemode=strided\nzonesize=2m\nzonerange=1m\n", "at least"),
        ("rw=read\nzonemode=zbd\n", "none, strided"),
    ] {
        let error = error(&format!("[a]\nsize=1m\n{text}"));
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_working_set_is_a_pool_of_the_region() {
    let content = |options: &str| {
        plan(&format!("[a]\nrw=write\nsize=1m\ndedupe_percentage=50\n{options}")).phases[0].streams[0].content
    };
    assert_eq!((content("").pool_percent, content("dedupe_mode=repeat\n").pool_percent), (0, 0));
    assert_eq!(content("dedupe_mode=working_set\n").pool_percent, 5);
    let global = content("dedupe_mode=working_set\ndedupe_working_set_percentage=50\ndedupe_global=1\n");
    assert_eq!((global.pool_percent, global.pool_shared, global.dedupe_percent), (50, true, 50));
}

#[test]
fn files_are_named_by_the_format() {
    let files = |options: &str| -> Vec<Vec<String>> {
        let plan = plan(&format!("[j]\nrw=write\nsize=1m\nnumjobs=2\nnrfiles=2\n{options}"));
        plan.phases[0].streams.iter().map(|s| s.block().files.clone()).collect()
    };
    assert_eq!(files(""), [["j.0.0", "j.0.1"], ["j.1.0", "j.1.1"]]);
    assert_eq!(files("filename_format=$jobname.$filenum.x\n"), [["j.0.x", "j.1.x"], ["j.0.x", "j.1.x"]]);
    assert_eq!(files("filename_format=$jobnum\n"), [["0"], ["1"]]);
    assert!(error("[j]\nfilename_format=$clientuid.x\nsize=1m\n").to_string().contains("clientuid"));
}

#[test]
fn a_job_that_waits_for_all_of_the_last_phase_begins_the_next() {
    let names = |text: &str| -> Vec<String> {
        plan(&format!("[global]\nsize=1m\nrw=write\n{text}")).phases.iter().map(|p| p.name.clone()).collect()
    };
    assert_eq!(names("[w]\nnumjobs=4\n[r]\nwait_for=w\n[s]\nwait_for=r\n"), ["w", "r", "s"]);
    assert_eq!(names("[w]\n[r]\nstonewall\n[s]\nwait_for=w\n"), ["w", "r"], "it ended long before");
    let two = error("[global]\nsize=1m\n[w]\n[v]\n[r]\nwait_for=w\n");
    assert_eq!((two.kind, two.place.line), (TextErrorKind::Unsupported, 6));
    assert!(error("[global]\nsize=1m\n[r]\nwait_for=w\n").to_string().contains("no job 'w'"));
}

#[test]
fn checksums_of_fio_are_comparisons_here_and_said_so() {
    for name in ["crc64", "md5", "sha256", "sha3-512", "crc7"] {
        let plan = plan(&format!("[a]\nrw=write\nsize=1m\nverify={name}\nverify_write_sequence=0\n"));
        assert_eq!(plan.phases[0].streams[0].verify.unwrap().kind, VerifyKind::Stamp, "{name}");
        assert!(plan.notes.iter().any(|n| n.contains(name) && n.contains("every byte")), "{:?}", plan.notes);
        assert!(plan.notes.iter().any(|n| n.starts_with("verify_write_sequence=0")), "{:?}", plan.notes);
    }
}

#[test]
fn priorities_are_those_of_ioprio_set() {
    let priority = |options: &str| {
        let stream = plan(&format!("[a]\nrw=write\nsize=1m\n{options}")).phases[0].streams[0].clone();
        stream.path.io_priority.map(|p| (p.class, p.level))
    };
    assert_eq!(priority(""), None);
    assert_eq!(priority("prioclass=3\nprio=5\n"), Some((IoClass::Idle, 0)));
    assert_eq!(priority("prioclass=1\nprio=2\n"), Some((IoClass::RealTime, 2)));
    assert_eq!(priority("prio=6\n"), Some((IoClass::BestEffort, 6)));
    assert!(error("[a]\nsize=1m\nprio=8\n").to_string().contains("0 to 7"));
}

#[test]
fn an_exit_ends_the_phase_where_fio_would_end_the_same() {
    let ends = |text: &str| -> Vec<bool> {
        let plan = plan(&format!("[global]\nsize=1m\nrw=write\n{text}"));
        plan.phases.iter().flat_map(|p| &p.streams).map(|s| s.limits.ends_phase).collect()
    };
    assert_eq!(ends("exitall\n[a]\n[b]\n"), [true, true]);
    assert_eq!(ends("[a]\nexitall\nexit_what=stonewall\n[b]\nnew_group\n[c]\nstonewall\n"), [true, false, false]);
    assert_eq!(ends("[a]\n[b]\nstonewall\nexitall\nexit_what=all\n"), [false, true]);
    for (text, what) in [
        ("[a]\nexitall\n[b]\nnew_group\n", "one group beside another"),
        ("[a]\nexitall\nexit_what=all\n[b]\nstonewall\n", "later jobs"),
        ("[a]\nexit_what=some\n", "not supported: group"),
    ] {
        let error = error(&format!("[global]\nsize=1m\n{text}"));
        assert!(error.to_string().contains(what), "{error}");
    }
}
