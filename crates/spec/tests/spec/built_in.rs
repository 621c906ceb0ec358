//! Every built-in workload has a plan on every kind of target.

use model::{PhaseKind, SteadyState, StopRule, TargetKind};
use spec::{Readiness, ResolveError, RunInputs, workload_text, workloads};

fn inputs(kind: TargetKind) -> RunInputs {
    RunInputs {
        kind,
        readiness: Readiness::Writable,
        max_bytes: 8 << 30,
        sector_bytes: 512,
        memory_bytes: Some(2 << 30),
        seed: 7,
        probe: Default::default(),
        packages: Some(file_trace::package_calls),
    }
}

/// Whether some of it is done to files as a whole.
fn needs_directory(workload: &spec::Workload) -> bool {
    let plan = workload.plan(&inputs(TargetKind::Directory)).unwrap();
    // Or appends to files beside other jobs.
    if workload.name == "responsive" {
        return true;
    }
    plan.phases.iter().any(|phase| phase.operates_on_files() || phase.replays_calls())
}

#[test]
fn each_is_described_and_has_a_plan_everywhere() {
    let all = workloads();
    let names: Vec<&str> = all.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "check",
            "sweep",
            "depth",
            "mix",
            "steady",
            "kdiskmark",
            "fill",
            "bursts",
            "bonnie",
            "files",
            "ior-easy",
            "ior-hard",
            "mdtest-easy",
            "mdtest-hard",
            "packages",
            "boot",
            "latency",
            "responsive",
            "stream",
            "copy",
            "copy-memory",
            "copy-calls"
        ]
    );
    for workload in &all {
        assert!(workload_text(&workload.name).is_some_and(|t| t.contains("[[phase]]")));
        assert!(workload.answers.ends_with('?') && !workload.title.is_empty(), "{}", workload.name);
        for kind in
            [TargetKind::Directory, TargetKind::File, TargetKind::BlockDevice, TargetKind::Null, TargetKind::Sim]
        {
            // A simulated card has a file system for calls that are made again.
            let simulated = kind == TargetKind::Sim && workload.name == "packages"
                || matches!(kind, TargetKind::Sim | TargetKind::Null) && workload.name == "responsive";
            if kind != TargetKind::Directory && !simulated && needs_directory(workload) {
                let refused = workload.plan(&inputs(kind)).unwrap_err().to_string();
                assert!(refused.contains("director"), "{refused}");
                continue;
            }
            let plan = workload.plan(&inputs(kind)).unwrap_or_else(|e| panic!("{} on {kind:?}: {e}", workload.name));
            assert!(plan.check(512, Some(2 << 30)).is_empty());
            assert!(plan.size.bytes <= 8 << 30);
            assert_eq!(plan, workload.plan(&inputs(kind)).unwrap(), "the same inputs give the same plan");
            let json = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<model::Plan>(&json).unwrap(), plan);
        }
    }
}

#[test]
fn reads_of_a_new_file_come_after_its_layout() {
    for workload in workloads() {
        let plan = workload.plan(&inputs(TargetKind::Directory)).unwrap();
        let reads = plan.phases.iter().flat_map(|p| &p.streams).filter(|s| s.reads());
        let furthest = reads
            .map(|s| s.blocks().unwrap().block.region_start_bytes + s.blocks().unwrap().block.region_bytes)
            .max()
            .unwrap_or(0);
        if let "bonnie" | "ior-easy" | "ior-hard" = workload.name.as_str() {
            // What is read is what a phase that is measured has written.
            let writes = plan.phases.iter().filter(|p| p.is_write()).flat_map(|p| &p.streams);
            let written = writes.filter_map(|s| Some(s.blocks()?.block.region_end())).max().unwrap_or(0);
            assert!(plan.phases.iter().all(|p| p.kind != PhaseKind::Layout) && written >= furthest);
            continue;
        }
        let layout_at = plan.phases.iter().position(|p| p.kind == PhaseKind::Layout);
        let read_at = plan.phases.iter().position(|p| p.streams.iter().any(|s| s.reads()));
        assert!(read_at.is_none_or(|r| layout_at.is_some_and(|l| l < r)), "{}", workload.name);
        let layout = layout_at.map(|at| &plan.phases[at]);
        let covered = layout
            .map_or(0, |p| p.streams.iter().filter_map(|s| Some(s.blocks()?.block.region_bytes)).max().unwrap_or(0));
        assert!(covered >= furthest, "{}: {covered} < {furthest}", workload.name);
    }
}

#[test]
fn a_target_that_is_only_read_keeps_its_data() {
    for workload in workloads().into_iter().filter(|w| !needs_directory(w)) {
        let reason = "it is mounted".into();
        let inputs = RunInputs { readiness: Readiness::ReadOnly(reason), ..inputs(TargetKind::BlockDevice) };
        match workload.plan(&inputs) {
            Ok(plan) => {
                assert!(plan.phases.iter().all(|p| p.skip.is_some() || !p.is_write()), "{}", workload.name);
                assert_eq!(plan.bytes_written_at_most(), Some(0));
            }
            Err(ResolveError::NothingLeft { reason, .. }) => assert_eq!(reason, "it is mounted"),
            Err(other) => panic!("{}: {other}", workload.name),
        }
    }
}

#[test]
fn what_the_sector_forbids_is_left_out_of_the_sweep() {
    let all = workloads();
    let sweep = all.iter().find(|w| w.name == "sweep").unwrap();
    let plan = sweep.plan(&RunInputs { sector_bytes: 4096, ..inputs(TargetKind::BlockDevice) }).unwrap();
    let left_out: Vec<&str> = plan.phases.iter().filter(|p| p.skip.is_some()).map(|p| p.name.as_str()).collect();
    assert_eq!(left_out.len(), 8, "{left_out:?}");
    assert!(left_out.iter().all(|n| n.ends_with("-1k")), "{left_out:?}");
    assert_eq!(plan.phases.iter().filter(|p| p.skip.is_none() && p.kind == PhaseKind::Measure).count(), 56);
}

#[test]
fn steady_goes_by_the_test_specification() {
    let all = workloads();
    let steady = all.iter().find(|w| w.name == "steady").unwrap();
    let plan = steady.plan(&inputs(TargetKind::BlockDevice)).unwrap();
    let precondition = plan.phase("precondition").unwrap();
    assert_eq!(precondition.kind, PhaseKind::Precondition);
    assert_eq!(
        precondition.bytes_written_at_most(),
        Some(2 * precondition.streams[0].blocks().unwrap().block.region_bytes)
    );
    assert!(matches!(
        plan.phase("steady-write").unwrap().stop,
        StopRule::SteadyRounds(s) if s == SteadyState { round_ns: s.round_ns, round_bytes: s.round_bytes, ..SteadyState::default() }
    ));
    // All of a device, and a file of 1 GiB in a directory.
    let region = |kind| steady.plan(&inputs(kind)).unwrap().size.bytes;
    assert_eq!(region(TargetKind::BlockDevice), inputs(TargetKind::BlockDevice).max_bytes);
    assert!(region(TargetKind::Directory) <= 1 << 30);
}

#[test]
fn tasks_of_ior_take_turns_in_one_file_and_leave_no_gap() {
    let all = workloads();
    let hard = all.iter().find(|w| w.name == "ior-hard").unwrap();
    assert!(hard.shared_file && !all.iter().find(|w| w.name == "ior-easy").unwrap().shared_file);
    let plan = hard.plan(&inputs(TargetKind::Directory)).unwrap();
    for phase in &plan.phases {
        let mut blocks = Vec::new();
        for stream in &phase.streams {
            let block = stream.blocks().unwrap().block;
            let stride = block.stride_with_gaps().unwrap();
            assert_eq!((block.block_size_bytes, stride), (47_008, 4 * 47_008));
            let count = (block.region_bytes - 47_008) / stride + 1;
            assert_eq!(stream.limits.total_bytes, Some(count * 47_008), "each of its blocks once");
            blocks.extend((0..count).map(|n| block.region_start_bytes + n * stride));
        }
        blocks.sort_unstable();
        assert!(blocks.iter().zip(0..).all(|(at, number)| *at == number * 47_008), "{}", phase.name);
        assert!(blocks.len() > 10_000 && blocks.len() % 4 == 0);
    }
}
