//! Every built-in workload, shortened, on every kind of target that needs neither root nor devices: a directory, an
//! existing file that may be overwritten, one that may not, `null:` and `sim:`. (Block devices: `real_devices.rs`.)

use crate::phases;
use crate::phases::{MIB, filesystem_of, open, options, workload};
use engine::{Control, NullRig, Rig, SimRig};
use model::{DataProof, PhaseKind, Plan, TargetKind};
use spec::{Readiness, RunInputs};
use std::collections::BTreeMap;

const NAMES: [&str; 8] = ["sweep", "depth", "mix", "steady", "kdiskmark", "bursts", "latency", "stream"];
const INTERVAL_NS: u64 = 20_000_000;

/// As short as it can be and still be itself.
fn plan(name: &str, inputs: &RunInputs) -> Plan {
    let mut set = vec![("time", "60ms"), ("ramp", "0s"), ("interval", "20ms")];
    match name {
        "steady" => set.extend([("steady-round", "30ms"), ("steady-rounds", "6")]),
        "bursts" => set.extend([("think", "10ms"), ("think-after", "8")]),
        "latency" => set.push(("iops", "200")),
        _ => {}
    }
    if name == "steady" || name == "latency" {
        // Not all of its phases have a time of their own.
        set.retain(|(key, _)| name != "steady" || *key != "time");
    }
    let text = spec::workload_text(name).expect("a built-in workload");
    workload(text, &set).plan(inputs).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn inputs(kind: TargetKind, max_bytes: u64) -> RunInputs {
    RunInputs {
        kind,
        readiness: Readiness::Writable,
        max_bytes,
        sector_bytes: 4096,
        memory_bytes: None,
        seed: 5,
        probe: Default::default(),
        packages: Some(file_trace::package_calls),
    }
}

/// Executes a plan; each phase does something, without an error, and reads nothing that is not there.
fn run(rig: &mut dyn Rig, plan: &Plan) {
    for phase in plan.phases.iter().filter(|p| p.skip.is_none()) {
        let name = format!("{}: {}", plan.name, phase.name);
        let record = rig.run(phase, &Control::default()).unwrap_or_else(|f| panic!("{name}: {f}"));
        assert!(record.errors.is_empty(), "{name}: {:?}", record.errors);
        assert_eq!(record.short_operations, 0, "{name}");
        assert!(record.operations > 0 && record.bytes > 0, "{name}: {} operations", record.operations);
        assert!(!matches!(record.data, Some(DataProof::NotReal(_))), "{name}: {:?}", record.data);
        if phase.kind == PhaseKind::Layout {
            let planned: u64 = phase.streams.iter().map(|s| s.blocks().unwrap().block.all_region_bytes()).sum();
            assert_eq!(record.bytes, planned, "{name}");
        }
        rig.flush().unwrap_or_else(|f| panic!("{name}: {f}"));
    }
}

/// Points of a sweep that sectors of 4 KiB, or a region that was made to fit, cannot have; nothing else is left out.
fn assert_only_what_cannot_be_is_left_out(plan: &Plan) {
    for phase in &plan.phases {
        if let Some(reason) = &phase.skip {
            let small = phase.name.ends_with("-1k") && reason.text().contains("4096 bytes");
            let large = phase.name.ends_with("-16m") && reason.text().contains("holds no block");
            assert!(small || large, "{}: {}: {reason}", plan.name, phase.name);
        }
    }
}

#[test]
fn in_a_directory() {
    for name in NAMES {
        let directory = tempfile::tempdir().unwrap();
        let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).expect("a rig");
        let plan = plan(name, &inputs(TargetKind::Directory, rig.max_bytes().min(100 * MIB)));
        assert_only_what_cannot_be_is_left_out(&plan);
        run(&mut rig, &plan);
        assert!(rig.bytes_written() > 0);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "{name}: a name was left");
    }
}

#[test]
fn on_an_existing_file() {
    for name in NAMES {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        let content: Vec<u8> =
            (0..40 * MIB as u32 / 4).flat_map(|i| i.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
        std::fs::write(&path, &content).unwrap();

        // Only read: what would change it is left out, what reads is done, and nothing is changed.
        let mut rig = open(&path, false, options(filesystem_of(directory.path()))).expect("a rig");
        let only_read = RunInputs {
            readiness: Readiness::ReadOnly("not allowed".into()),
            ..inputs(TargetKind::File, rig.max_bytes())
        };
        if !matches!(name, "steady" | "bursts") {
            let plan = plan(name, &only_read);
            assert!(plan.phases.iter().all(|p| p.skip.is_some() || !p.is_write()), "{name}");
            run(&mut rig, &plan);
        }
        drop(rig);
        assert!(std::fs::read(&path).unwrap() == content, "{name} changed a file that it was not allowed to");

        let mut rig = open(&path, true, options(filesystem_of(directory.path()))).expect("a rig");
        let plan = plan(name, &inputs(TargetKind::File, rig.max_bytes()));
        run(&mut rig, &plan);
        assert_eq!(path.metadata().unwrap().len(), 40 * MIB, "{name}: it has grown");
    }
}

#[test]
fn on_null_and_on_simulated_devices() {
    for name in NAMES {
        let mut null = NullRig::new(INTERVAL_NS, 1 << 20);
        let offered = null.readable_bytes();
        // What covers the region before it measures would take hours over so large a region.
        if name != "steady" {
            run(&mut null, &plan(name, &inputs(TargetKind::Null, offered)));
        }
        for model in ["nvme", "class4-card"] {
            let model = spec::sim_models().unwrap().into_iter().find(|m| m.name == model).expect("a simulated device");
            let mut sim = SimRig::new(model, INTERVAL_NS);
            let plan = plan(name, &inputs(TargetKind::Sim, sim.max_bytes().min(200 * MIB)));
            assert_only_what_cannot_be_is_left_out(&plan);
            run(&mut sim, &plan);
        }
    }
}

#[test]
fn jobs_with_files_of_their_own() {
    let text = "[global]\nioengine=io_uring\ndirect=1\nbs=4k\nruntime=60ms\ntime_based=1\n\
        [a]\nrw=randread\nnrfiles=4\nsize=4m\niodepth=4\n\
        [b]\nrw=write\nfilesize=1m\nnrfiles=3\n\
        [c]\nstonewall\nrw=randrw\nnumjobs=3\nsize=1000k\n\
        [d]\nstonewall\nrw=read\nfilename=one:two\nsize=2m\n\
        [e]\nrw=randwrite\nfilename=two\nsize=3m\nfsync=8\nioengine=psync\ndirect=0\n";
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("one"), "the user's own").unwrap();
    let (includes, variables) = (BTreeMap::new(), BTreeMap::new());
    let workload = spec::parse_fio(&spec::TextInputs {
        file: "t.fio",
        text,
        includes: &includes,
        set: &[],
        variables: &variables,
        machine: phases::MACHINE,
        lenient: false,
    });
    let workload = workload.unwrap_or_else(|e| panic!("{e:?}"));
    let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).expect("a rig");
    let plan = workload.plan(&inputs(TargetKind::Directory, rig.max_bytes())).unwrap_or_else(|e| panic!("{e}"));
    run(&mut rig, &plan);
    assert_eq!(std::fs::read(directory.path().join("one")).unwrap(), b"the user's own");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}
