//! Operations on files: what a text asks for, which files phases share, and what is made before.

use model::{EngineKind, FileOperation, PhaseKind, Plan, StopRule, TargetKind, Work};
use spec::{Readiness, RunInputs, TextInputs, TextMachine, Workload, parse_fio, parse_workload};
use std::collections::BTreeMap;

fn inputs(kind: TargetKind) -> RunInputs {
    RunInputs {
        kind,
        readiness: Readiness::Writable,
        max_bytes: 4 << 30,
        sector_bytes: 512,
        memory_bytes: Some(2 << 30),
        seed: 1,
        probe: Default::default(),
        packages: None,
    }
}

fn read(file: &str, text: &str) -> Workload {
    let none = BTreeMap::new();
    let machine = TextMachine { page_size_bytes: 4096, memory_bytes: 2 << 30, processors: 4 };
    let inputs = TextInputs { file, text, includes: &none, set: &[], variables: &none, machine, lenient: false };
    let read = if file.ends_with(".fio") { parse_fio(&inputs) } else { parse_workload(&inputs) };
    read.unwrap_or_else(|e| panic!("{text}: {}", e[0]))
}

fn plan(file: &str, text: &str) -> Plan {
    read(file, text).plan(&inputs(TargetKind::Directory)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refusal(text: &str, kind: TargetKind) -> String {
    read("t.toml", text).plan(&inputs(kind)).map(|p| format!("{p:?}")).unwrap_err().to_string()
}

/// Phases as name, kind, and for each stream: operation, files, set, bytes.
fn shown(plan: &Plan) -> Vec<String> {
    let of = |p: &model::PhasePlan| {
        let streams: Vec<String> = p
            .streams
            .iter()
            .map(|s| {
                let f = s.files().expect("a stream of files");
                format!("{} {} of set {}, {} B", f.file_operation.name(), f.file_count, f.file_set, f.file_bytes)
            })
            .collect();
        assert_eq!(p.engine, EngineKind::Files);
        assert!(p.operates_on_files() && !p.moves_data() && Work::of(p).is_none() && p.shape().is_none());
        format!("{}{}: {}", p.name, if p.kind == PhaseKind::Layout { " (layout)" } else { "" }, streams.join("; "))
    };
    plan.phases.iter().map(of).collect()
}

#[test]
fn phases_share_their_files_and_what_is_missing_is_made_before() {
    let text = r#"
        [defaults]
        own-files = 100
        file-size = "4KiB"
        [[phase]]
        name = "create"
        operation = "create"
        [[phase]]
        name = "stat"
        operation = "stat"
        file-order = "random"
        [[phase]]
        name = "delete"
        operation = "delete"
        [[phase]]
        name = "again"
        operation = "delete"
        jobs = 2
        [[phase]]
        name = "dirs"
        operation = "stat-dir"
        time = "1s"
    "#;
    let plan = plan("t.toml", text);
    assert_eq!(
        shown(&plan),
        [
            "create: create 100 of set 0, 4096 B",
            "stat: stat 100 of set 0, 4096 B",
            "delete: delete 100 of set 0, 4096 B",
            "again-files (layout): create 100 of set 0, 4096 B; create 100 of set 1, 4096 B",
            "again: delete 100 of set 0, 4096 B; delete 100 of set 1, 4096 B",
            "dirs-files (layout): mkdir 100 of set 2, 4096 B",
            "dirs: stat-dir 100 of set 2, 4096 B",
        ]
    );
    assert_eq!((plan.phases[0].stop, plan.phases[6].stop), (StopRule::Amount, StopRule::Time));
    assert_eq!(plan.bytes_written_at_most(), Some(3 * 100 * 4096));
    assert!(plan.phases[0].is_write() && !plan.phases[1].is_write());
    let stored = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), plan);
}

#[test]
fn what_cannot_be_is_said_with_the_reason() {
    let phase = |rest: &str| format!("[[phase]]\nname = \"p\"\noperation = \"create\"\n{rest}");
    for (rest, said) in [
        ("", "there are no files; say how many (own-files"),
        ("own-files = 5\ndepth = 4", "use jobs side by side"),
        ("own-files = 5\nfile-size = \"1GiB\"", "write larger ones by blocks"),
        ("own-files = 5\nloops = 2", "each is there once"),
        ("own-files = 5\nverify = \"stamp\"", "not verified"),
        ("own-files = 5\nsteady-round = \"1s\"", "no steady state"),
    ] {
        let refusal = refusal(&phase(rest), TargetKind::Directory);
        assert!(refusal.contains(said), "{said}: {refusal}");
    }
    for (kind, said) in [
        (TargetKind::Null, "null: has no file system"),
        (TargetKind::Sim, "a simulated device has no file system"),
        (TargetKind::BlockDevice, "need a directory as the target"),
        (TargetKind::File, "need a directory as the target"),
    ] {
        let refusal = refusal(&phase("own-files = 5"), kind);
        assert!(refusal.contains(said), "{said}: {refusal}");
    }
    let beside = "[[phase]]\nname = \"p\"\nregion = \"1MiB\"\n[[phase.job]]\noperation = \"stat\"\nown-files = 2\n\
                  [[phase.job]]\noperation = \"read\"\n";
    assert!(refusal(beside, TargetKind::Directory).contains("not done side by side"));
    let zero = TextInputs {
        file: "t.toml",
        text: &phase("own-files = 0"),
        includes: &BTreeMap::new(),
        set: &[],
        variables: &BTreeMap::new(),
        machine: TextMachine { page_size_bytes: 4096, memory_bytes: 2 << 30, processors: 4 },
        lenient: false,
    };
    assert!(parse_workload(&zero).unwrap_err()[0].to_string().contains("0 is not possible"));
}

#[test]
fn fios_engines_of_files_and_directories() {
    let text = "[global]\nfilesize=4k\nnrfiles=70000\nopenfiles=1\ncreate_on_open=1\n\
                [t0]\nioengine=filecreate\n[t1]\nioengine=filecreate\n\
                [look]\nstonewall\nioengine=filestat\nstat_type=statx\nnrfiles=3\nruntime=2\ntime_based\n\
                [gone]\nstonewall\nioengine=dirdelete\nnrfiles=4\nnumjobs=2\nunlink=0\n";
    let plan = plan("f.fio", text);
    assert_eq!(
        shown(&plan),
        [
            "t0: create 70000 of set 0, 0 B; create 70000 of set 1, 0 B",
            "look-files (layout): create 3 of set 2, 4096 B",
            "look: stat 3 of set 2, 4096 B",
            "gone-files (layout): mkdir 4 of set 3, 0 B; mkdir 4 of set 4, 0 B",
            "gone: rmdir 4 of set 3, 0 B; rmdir 4 of set 4, 0 B",
        ]
    );
    assert!(plan.notes.iter().any(|n| n.starts_with("ioengine=filecreate: ")), "{:?}", plan.notes);
    assert_eq!(FileOperation::StatDir.maker(), FileOperation::Mkdir);
}

#[test]
fn fallocate_and_ftruncate_move_no_data() {
    let text = "[global]\ndirectory=/scratch\nfilename=one\nsize=1m\nruntime=1\ntime_based\n\
                [reserve]\nioengine=falloc\nrw=randwrite\n[punch]\nioengine=falloc\nrw=randtrim\n\
                [cut]\nstonewall\nioengine=ftruncate\nrw=write\n[read]\nstonewall\nioengine=sync\nrw=read\n";
    let plan = plan("f.fio", text);
    let engines: Vec<(EngineKind, bool)> = plan.phases.iter().map(|p| (p.engine, p.moves_data())).collect();
    use EngineKind::*;
    assert_eq!(engines, [(Fallocate, false), (Ftruncate, false), (IoUring, true), (Psync, true)]);
    assert!(plan.phases[..2].iter().all(|p| Work::of(p).is_none() && !p.operates_on_files()));
    let reads = "[j]\nioengine=falloc\nrw=read\nsize=1m\nfilename=one\n";
    let refused = read("f.fio", reads).plan(&inputs(TargetKind::Directory)).unwrap_err().to_string();
    assert!(refused.contains("read nothing"), "{refused}");
    let device = "[j]\nioengine=ftruncate\nrw=write\nsize=1m\nfilename=/dev/sdx\n";
    let refused = read("f.fio", device).plan(&inputs(TargetKind::BlockDevice)).unwrap_err().to_string();
    assert!(refused.contains("for files that the run makes"), "{refused}");
}
