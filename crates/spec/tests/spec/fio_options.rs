//! Options of fio that mean more than a value: zones, working sets, names of files, waiting, checksums.

use model::{
    Access, EngineKind, IoClass, IoPriority, LatencyTarget, Numa, NumaMemory, NumaNodes, Order, PhaseKind, Plan,
    PriorityShare, Rate, StopRule, Sync, TargetKind, VerifyKind,
};
use spec::{
    Readiness, ResolveError, RunInputs, TextError, TextErrorKind, TextInputs, TextMachine, Workload, parse_fio,
};
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
    planned(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn planned(text: &str) -> Result<Plan, ResolveError> {
    let inputs = RunInputs {
        kind: TargetKind::Directory,
        readiness: Readiness::Writable,
        max_bytes: 4 << 30,
        sector_bytes: 512,
        memory_bytes: None,
        seed: 1,
        probe: Default::default(),
        packages: None,
    };
    read(text, false).unwrap_or_else(|e| panic!("{text}: {}", e[0])).plan(&inputs)
}

fn error(text: &str) -> TextError {
    read(text, false).expect_err(text).remove(0)
}

#[test]
fn strided_zones_are_blocks_in_a_row_and_a_stride() {
    let zones = |options: &str| {
        let stream =
            plan(&format!("[a]\nrw=read\nbs=64k\nsize=1g\nzonemode=strided\n{options}")).phases[1].streams[0].clone();
        (stream.blocks().unwrap().block.order, stream.blocks().unwrap().block.run_blocks, stream.limits.total_bytes)
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
        ("rw=read\nzonemode=none\nzonesize=1m\n", "exclude each other"),
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
        plan.phases[0].streams.iter().map(|s| s.blocks().unwrap().block.files.clone()).collect()
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
fn shares_of_requests_with_priorities_are_those_of_fio() {
    let shares = |options: &str| -> Vec<String> {
        let text = format!("[a]\nrw=randrw\nsize=8m\ndirect=1\nioengine=libaio\n{options}");
        let stream = plan(&text).phases.last().unwrap().streams[0].clone();
        let say = |s: &PriorityShare| {
            let IoPriority { class, level, hint } = s.priority;
            let bytes = s.block_bytes.map_or(String::new(), |b| format!("{b} "));
            format!("{:?} {bytes}{} {class:?}:{level}:{hint}", s.operation, s.percent)
        };
        stream.path.priority_shares.iter().map(say).collect()
    };
    assert_eq!(shares("cmdprio_percentage=20\n"), ["Read 20 RealTime:0:0", "Write 20 RealTime:0:0"]);
    assert_eq!(
        shares("cmdprio_percentage=20,0\ncmdprio_class=2\ncmdprio=3\ncmdprio_hint=1\n"),
        ["Read 20 BestEffort:3:1"]
    );
    assert_eq!(
        shares("bssplit=64k/40:1024k/60,1024k/100\ncmdprio_bssplit=64k/100:1024k/0,1024k/0\ncmdprio_class=1\n"),
        ["Read 65536 100 RealTime:0:0"]
    );
    assert_eq!(
        shares("cmdprio_bssplit=64k/25/1/1:64k/75/3/2,4k/10/2/0/3\n"),
        ["Read 65536 25 RealTime:1:0", "Read 65536 75 Idle:0:0", "Write 4096 10 BestEffort:0:3"]
    );
    for (options, what) in [
        ("cmdprio_percentage=101\n", "above 100 %"),
        ("cmdprio_class=4\n", "not a class"),
        ("cmdprio=8\n", "0 to 7"),
        ("cmdprio_hint=1024\n", "0 to 1023"),
        ("cmdprio_bssplit=64k\n", "SIZE/PERCENT/CLASS/LEVEL"),
        ("cmdprio_bssplit=64k/10/0/1\n", "class 0"),
        ("cmdprio_bssplit=4k/10\ncmdprio_percentage=5\n", "exclude each other"),
    ] {
        let error = error(&format!("[a]\nsize=1m\n{options}"));
        assert!(error.to_string().contains(what), "{error}");
    }
    let complaint = |options: &str| {
        let text = format!("[a]\nrw=write\nsize=1m\n{options}");
        planned(&text).map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(complaint("ioengine=io_uring\ndirect=1\ncmdprio_bssplit=4k/60:4k/40/2/1\n"), "");
    assert!(complaint("ioengine=io_uring\ndirect=1\ncmdprio_bssplit=4k/60:4k/41\n").contains("101 %"));
    assert!(complaint("ioengine=io_uring\ncmdprio_percentage=5\n").contains("direct=1"));
    assert!(complaint("ioengine=psync\ndirect=1\ncmdprio_percentage=5\n").contains("io_uring"));
}

#[test]
fn a_search_for_a_depth_is_that_of_fio() {
    let phase = |options: &str| plan(&format!("[a]\nrw=randread\nsize=1m\niodepth=128\nioengine=libaio\n{options}"));
    let limits = |options: &str| phase(options).phases.last().unwrap().streams[0].limits;
    let asked = "latency_target=500000\nlatency_window=5000000\nlatency_percentile=99.9\n";
    let target =
        LatencyTarget { latency_ns: 500_000_000, window_ns: 5_000_000_000, percent_milli: 99_900, goes_on: false };
    assert_eq!(limits(asked).latency_target, Some(target));
    assert_eq!(limits(asked).total_bytes, None, "it is not the size that ends the search");
    // Eight doublings, eight halvings, a window that counts; each as long again at most.
    assert_eq!(phase(asked).phases.last().unwrap().time_limit_ns, 34 * 5_000_000_000);
    let goes_on = limits(&format!("{asked}latency_run=1\n"));
    assert_eq!((goes_on.latency_target.unwrap().goes_on, goes_on.total_bytes), (true, Some(1 << 20)));
    assert_eq!(limits("latency_window=1000\n").latency_target, None, "a window alone looks for nothing");
    assert_eq!(limits("max_latency=20ms\n").max_latency_ns, Some(20_000_000));
    for (text, what) in [
        ("latency_window=0\n", "0 is not possible"),
        ("latency_percentile=much\n", "not a number"),
        ("max_latency=1,2\n", "all directions"),
    ] {
        let error = error(&format!("[a]\nsize=1m\n{text}"));
        assert!(error.to_string().contains(what), "{error}");
    }
    let planned = |options: &str| planned(&format!("[a]\nrw=read\nsize=1m\nlatency_target=1ms\n{options}"));
    assert!(planned("latency_percentile=101\n").unwrap_err().to_string().contains("0 to 100 %"));
    let steady = planned("runtime=60\nsteadystate=iops:5%\nsteadystate_duration=5\n").unwrap_err();
    assert!(steady.to_string().contains("ends by itself"), "{steady}");
}

#[test]
fn a_group_beside_others_ends_alone() {
    let text = "[global]\nsize=1m\nrw=write\n[a]\nexitall\nnumjobs=2\n[b]\nnew_group\n";
    let limits: Vec<_> = plan(text).phases[0].streams.iter().map(|s| s.limits).collect();
    assert!(limits.iter().all(|l| !l.ends_phase));
    assert_eq!(limits.iter().map(|l| l.ends_group).collect::<Vec<_>>(), [true, true, false]);
    assert!(limits[0].exit_group == limits[1].exit_group && limits[2].exit_group == 0 && limits[0].exit_group > 0);
}

#[test]
fn flows_floors_sequences_and_backlogs_are_what_fio_means() {
    let stream = |options: &str| plan(&format!("[a]\nrw=randwrite\nsize=1m\n{options}")).phases[0].streams[0].clone();
    let flow = stream("flow=8\nflow_id=3\nflow_sleep=1000\n").timing.flow.unwrap();
    assert_eq!((flow.weight, flow.id, flow.sleep_ns), (8, 3, 1_000_000));
    assert_eq!(stream("flow_sleep=1000\n").timing.flow, None, "only a weight takes part");
    assert_eq!(stream("rate_min=64k\n").limits.least_rate, Some(Rate::BytesPerS(64 << 10)));
    assert_eq!(stream("rate_iops_min=5\n").limits.least_rate, Some(Rate::OperationsPerS(5)));
    let listed = stream("random_distribution=sequence:2,0,1\nrandom_sequence_stride=1\n");
    assert_eq!(
        (listed.blocks().unwrap().block.order, listed.blocks().unwrap().block.sequence.clone()),
        (Order::Sequence { advances: true }, vec![2, 0, 1])
    );
    assert_eq!(stream("verify=crc32c\nverify_backlog=7\n").blocks().unwrap().block.verify_backlog, 7);
    assert_eq!(stream("verify=meta\nverify_pattern=0xaa\n").verify.unwrap().kind, VerifyKind::Stamp);
    assert_eq!(stream("verify=pattern\nverify_pattern=0xaa\n").verify.unwrap().kind, VerifyKind::Stamp);
    for (text, what) in [
        ("rate_min=1k,2k\n", "one least rate"),
        ("flow=0\n", "0 is not possible"),
        ("random_distribution=sequence:\n", "whole number"),
    ] {
        let error = error(&format!("[a]\nsize=1m\n{text}"));
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn nodes_and_memory_policies_are_read() {
    let numa =
        |options: &str| plan(&format!("[a]\nrw=write\nsize=1m\n{options}")).phases[0].streams[0].path.numa.clone();
    assert_eq!(numa(""), Numa::default());
    assert_eq!(
        numa("numa_cpu_nodes=0-1\nnuma_mem_policy=interleave:all\n"),
        Numa { cpu_nodes: Some(NumaNodes(vec![0, 1])), memory: Some(NumaMemory::Interleave(NumaNodes(Vec::new()))) }
    );
    assert_eq!(numa("numa_mem_policy=prefer:1\n").memory, Some(NumaMemory::Prefer(1)));
    assert_eq!(numa("numa_mem_policy=default\n").memory, None);
    for policy in ["prefer:0-1", "bind", "local:0", "some"] {
        let error = error(&format!("[a]\nsize=1m\nnuma_mem_policy={policy}\n"));
        assert!(error.to_string().contains("numa_mem_policy"), "{error}");
    }
}

#[test]
fn engines_that_compute_or_map_are_carried_out_by_ours_and_said_so() {
    let burn = plan("[a]\nioengine=cpuio\ncpuload=25\ncpuchunks=1000\ntime_based\nruntime=1\n");
    let stream = &burn.phases.last().unwrap().streams[0];
    let think = stream.timing.think.unwrap();
    assert_eq!((think.spin_ns, think.pause_ns, think.after_operations), (1_000_000, 4_000_000, 1));
    assert!(burn.notes.iter().any(|n| n.starts_with("ioengine=cpuio")), "{:?}", burn.notes);
    assert!(error("[a]\nioengine=cpuio\nsize=1m\n").to_string().contains("cpuload"));
    let pmem = plan("[a]\nioengine=libpmem\ndirect=1\nsync=1\nrw=write\nsize=1m\n");
    let phase = &pmem.phases[0];
    assert_eq!(
        (phase.engine, phase.access, phase.streams[0].durability.sync),
        (EngineKind::Mmap, Access::Buffered, Sync::FdatasyncEach)
    );
    assert!(pmem.notes.iter().any(|n| n.starts_with("ioengine=libpmem")), "{:?}", pmem.notes);
}

#[test]
fn latencies_can_be_what_must_be_steady() {
    let text = "[a]\nrw=write\nsize=1m\nruntime=60\nsteadystate=lat:5%\nss_dur=30\nss_interval=10\n";
    let rounds = plan(text).phases[0].stop;
    let StopRule::SteadyRounds(rounds) = rounds else { panic!("{rounds:?}") };
    let read = (rounds.round_ns, rounds.window_rounds, rounds.by_latency, rounds.most_rounds);
    assert_eq!(read, (Some(10_000_000_000), 3, true, 6));
    assert!(error("[a]\nsize=1m\nss_interval=1ms\n").to_string().contains("a second"));
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
        ("[a]\nexitall\nexit_what=all\n[b]\nstonewall\n", "later jobs"),
        ("[a]\nexit_what=some\n", "not supported: group"),
    ] {
        let error = error(&format!("[global]\nsize=1m\n{text}"));
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn what_a_later_phase_is_to_find_again_is_not_laid_out_in_between() {
    let text = "[global]\nsize=1m\nfilename=x\nverify=crc32c\n[w]\nrw=write\ndo_verify=0\n[r]\nstonewall\nrw=read\n";
    let kinds: Vec<PhaseKind> = plan(text).phases.iter().map(|p| p.kind).collect();
    assert_eq!(kinds, [PhaseKind::Layout, PhaseKind::Measure, PhaseKind::Measure]);
    // Without data to be found again, the first pass over a new file allocates.
    let kinds: Vec<PhaseKind> = plan(&text.replace("verify=crc32c\n", "")).phases.iter().map(|p| p.kind).collect();
    assert_eq!(kinds, [PhaseKind::Measure, PhaseKind::Layout, PhaseKind::Measure]);
}
