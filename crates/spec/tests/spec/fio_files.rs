//! fio's job files: what they say becomes the plan; what is not supported is named.

use model::{
    Access, Arrivals, BlockSize, BufferPages, EngineKind, ErrorPolicy, Mix, Operation, Order, PhaseKind, Plan, Rate,
    SteadyState, StopRule, TargetKind, VerifyKind,
};
use proptest::prelude::*;
use spec::{Readiness, RunInputs, TextError, TextErrorKind, TextInputs, TextMachine, Workload, parse_fio};
use std::collections::BTreeMap;

fn read_with(text: &str, includes: &[(&str, &str)], lenient: bool) -> Result<Workload, Vec<TextError>> {
    let owned = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    parse_fio(&TextInputs {
        file: "dir/my.fio",
        text,
        includes: &owned(includes),
        set: &[],
        variables: &owned(&[("SIZE", "64m"), ("DEV", "/dev/loop7")]),
        machine: TextMachine { page_size_bytes: 4096, memory_bytes: 2 << 30, processors: 4 },
        lenient,
    })
}

fn read(text: &str) -> Workload {
    read_with(text, &[], false).unwrap_or_else(|e| panic!("{text}: {}", e[0]))
}

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

fn plan(text: &str) -> Plan {
    read(text).plan(&inputs(TargetKind::Directory)).unwrap()
}

fn errors(text: &str) -> Vec<TextError> {
    read_with(text, &[], false).expect_err(text)
}

#[test]
fn sections_inherit_and_stonewalls_make_phases() {
    let plan = plan(
        "[global]\nioengine=libaio ; one engine\nsize=${SIZE}\ndirect=1\nbs=8k\n\n[fill]\nrw=write\n\n[beside]\nrw=randread\niodepth=16\n\n\
         [global]\nbs=4k # from here on\n[after]\nstonewall\nrw=randrw\nrwmixread=70\nnumjobs=3\ngroup_reporting\nruntime=2m\ntime_based\n",
    );
    assert_eq!(plan.name, "my");
    let names: Vec<&str> = plan.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["layout", "fill", "after"]);
    let [fill, beside] = plan.phases[1].streams.as_slice() else { panic!() };
    assert_eq!(
        (
            fill.blocks().unwrap().block.block_size_bytes,
            fill.blocks().unwrap().block.region_bytes,
            fill.limits.total_bytes
        ),
        (8192, 64 << 20, Some(64 << 20))
    );
    assert_eq!(
        (beside.blocks().unwrap().block.order, beside.path.queue_depth, beside.name.as_str()),
        (Order::Random, 16, "beside")
    );
    assert_eq!((plan.phases[1].engine, plan.phases[1].access), (EngineKind::IoUring, Access::Direct));
    assert_eq!(plan.phases[1].stop, StopRule::Amount);
    let after = &plan.phases[2];
    assert_eq!((after.stop, after.time_limit_ns, after.streams.len()), (StopRule::Time, 120_000_000_000, 3));
    assert!(
        after
            .streams
            .iter()
            .all(|s| s.blocks().unwrap().block.mix == Some(Mix { read_percent: 70 })
                && s.group == after.streams[0].group)
    );
    assert_eq!(after.streams[1].blocks().unwrap().block.files, ["after.1.0"], "each copy has its own file");
    let jobs: Vec<(String, usize)> = after.jobs().into_iter().map(|j| (j.name, j.streams.len())).collect();
    assert_eq!(jobs, [("after".to_owned(), 3)], "clones that are reported together are one job with one name");
    assert_eq!(plan.phases[1].jobs().len(), 2);
    assert_ne!(fill.group, beside.group);
    assert!(plan.notes.iter().any(|n| n.contains("libaio") && n.contains("io_uring")), "{:?}", plan.notes);
}

#[test]
fn group_reporting_joins_sections_of_the_first_group_too() {
    let together = plan("[global]\nsize=64m\ngroup_reporting\n[a]\nrw=read\n[b]\nrw=write\n[c]\nnew_group\nrw=read\n");
    let jobs: Vec<(String, Vec<usize>)> =
        together.phases.last().unwrap().jobs().into_iter().map(|j| (j.name, j.streams)).collect();
    assert_eq!(jobs, [("a".to_owned(), vec![0, 1]), ("c".to_owned(), vec![2])]);
}

#[test]
fn sizes_triples_ranges_and_splits() {
    let stream = |text: &str| plan(&format!("[j]\nsize=64m\n{text}\n")).phases.last().unwrap().streams[0].clone();
    let s = stream("rw=rw\nbs=4k,16k");
    let sizes = s.blocks().unwrap().block.block_sizes.clone().unwrap();
    assert_eq!(
        (sizes.read, sizes.write.clone(), sizes.trim),
        (BlockSize::Fixed { bytes: 4096 }, BlockSize::Fixed { bytes: 16_384 }, BlockSize::Fixed { bytes: 16_384 })
    );
    let s = stream("rw=randwrite\nbsrange=1k-16k");
    let range = BlockSize::Range { min_bytes: 1024, max_bytes: 16_384, step_bytes: 1024 };
    assert_eq!(
        (s.blocks().unwrap().block.block_size_bytes, s.blocks().unwrap().block.block_sizes.clone().unwrap().write),
        (16_384, range)
    );
    let s = stream("rw=randread\nbssplit=4k/50:64k/:8k/30");
    let BlockSize::Split(shares) = s.blocks().unwrap().block.block_sizes.clone().unwrap().read else { panic!() };
    let shares: Vec<(u64, u32)> = shares.iter().map(|s| (s.bytes, s.weight)).collect();
    assert_eq!(shares, [(4096, 50), (65_536, 20), (8192, 30)]);
    assert_eq!(stream("kb_base=1000\nbs=1ki\nrw=read").blocks().unwrap().block.block_size_bytes, 1024);
    assert_eq!(stream("bs=$pagesize*2").blocks().unwrap().block.block_size_bytes, 8192);
    assert_eq!(stream("bs=(2+2)*1k").blocks().unwrap().block.block_size_bytes, 4096);
    assert_eq!(stream("size=25%").blocks().unwrap().block.region_bytes, 1 << 30);
    let s = stream("io_size=1g\nloops=2\noffset=4m");
    assert_eq!((s.blocks().unwrap().block.region_start_bytes, s.limits.total_bytes), (4 << 20, Some(1 << 30)));
}

#[test]
fn orders_pacing_syncs_and_the_rest() {
    let stream = |text: &str| plan(&format!("[j]\nsize=64m\n{text}\n")).phases.last().unwrap().streams[0].clone();
    assert_eq!(stream("bs=4k\nrw=read:-8k").blocks().unwrap().block.order, Order::Reverse);
    assert_eq!(stream("bs=4k\nrw=read:12k").blocks().unwrap().block.order, Order::Strided { stride_bytes: 16_384 });
    assert_eq!(stream("rw=randread:8").blocks().unwrap().block.run_blocks, 8);
    assert_eq!(stream("rw=randread\nnorandommap").blocks().unwrap().block.order, Order::RandomReplace);
    assert_eq!(
        stream("rw=randread\nrandom_distribution=zipf:1.2").blocks().unwrap().block.order,
        Order::Zipf { theta_milli: 1200 }
    );
    assert_eq!(
        stream("rw=randread\nrandom_distribution=pareto:0.9").blocks().unwrap().block.order,
        Order::Pareto { h_milli: 900 }
    );
    assert_eq!(
        stream("rw=randread\nrandom_distribution=normal:10").blocks().unwrap().block.order,
        Order::Normal { deviation_percent: 10 }
    );
    let s = stream("rw=randread\nrandom_distribution=zoned:60/10:30/20:8/30:2/40");
    assert_eq!((s.blocks().unwrap().block.order, s.blocks().unwrap().block.zones.len()), (Order::Zoned, 4));
    let pacing = stream("rw=rw\nrate=1m,500k\nrate_process=poisson").timing.pacing.unwrap();
    assert_eq!((pacing.read, pacing.write), (Some(Rate::BytesPerS(1 << 20)), Some(Rate::BytesPerS(500 << 10))));
    assert_eq!(pacing.arrivals, Arrivals::Poisson);
    let s = stream(
        "rw=write\nfsync=32\nend_fsync=1\nthinktime=500\nthinktime_blocks=4\ncontinue_on_error=all\nstartdelay=3",
    );
    assert_eq!(
        (s.durability.flush.fsync_every, s.durability.flush.fsync_at_end, s.on_error),
        (32, true, ErrorPolicy::Continue)
    );
    assert_eq!(
        (s.timing.think.unwrap().pause_ns, s.timing.think.unwrap().after_operations, s.timing.start_delay_ns),
        (500_000, 4, 3_000_000_000)
    );
    let on_error = |what: &str| stream(&format!("rw=rw\ncontinue_on_error={what}")).on_error;
    assert_eq!(["io", "read", "all", "1"].map(on_error), [ErrorPolicy::Continue; 4]);
    assert_eq!(["none", "verify", "0"].map(on_error), [ErrorPolicy::Stop; 3], "verify is not about failed operations");
    assert!(stream("rw=trimwrite").blocks().unwrap().block.trim_before_write);
    assert_eq!(stream("rw=randtrim").blocks().unwrap().block.operation, Operation::Trim);
    let verify = stream("rw=write\nverify=crc32c-intel\nverify_fatal=1").verify.unwrap();
    assert_eq!((verify.kind, verify.read_back, verify.stop_at_first), (VerifyKind::Crc32c, true, true));
    let s = stream("rw=write\nbuffer_compress_percentage=40\ndedupe_percentage=10\ncpus_allowed=0-2");
    assert_eq!((s.content.compress_percent, s.content.dedupe_percent, s.path.cpus), (40, 10, vec![0, 1, 2]));
    assert_eq!(stream("iodepth=16").path.queue_depth, 1, "psync has no queue, and the notes say so");
    assert!(plan("[j]\nsize=1m\niodepth=16\n").notes.iter().any(|n| n.contains("depth 1")));
}

#[test]
fn ramp_and_runtime_add_up_and_steady_state_is_rounds() {
    let phase = |text: &str| plan(&format!("[j]\nsize=64m\n{text}\n")).phases.last().unwrap().clone();
    let p = phase("runtime=10\ntime_based\nramp_time=5");
    assert_eq!((p.time_limit_ns, p.warmup.min_ns, p.warmup.max_ns), (15_000_000_000, 5_000_000_000, 5_000_000_000));
    let p = phase("rw=randwrite\nss=iops_slope:0.3%\nss_dur=60\nruntime=10m");
    let rounds = StopRule::SteadyRounds(SteadyState {
        round_ns: Some(1_000_000_000),
        window_rounds: 60,
        range_permille: u32::MAX,
        slope_permille: 3,
        most_rounds: 600,
        ..SteadyState::default()
    });
    assert_eq!(p.stop, rounds);
}

#[test]
fn targets_come_from_the_file() {
    let device = read("[j]\nfilename=${DEV}\nrw=randread\ndirect=1\n");
    assert_eq!((device.target.as_deref(), device.changes_data()), (Some("/dev/loop7"), false));
    let plan = device.plan(&inputs(TargetKind::BlockDevice)).unwrap();
    assert_eq!(plan.phases.len(), 1, "a device is not written over to be read");
    assert_eq!(plan.phases[0].streams[0].blocks().unwrap().block.region_bytes, 4 << 30);
    let named = read("[j]\ndirectory=/srv/data\nfilename=a:b\\:c\nsize=2m\nrw=read\n");
    assert_eq!(named.target.as_deref(), Some("/srv/data"));
    let plan = named.plan(&inputs(TargetKind::Directory)).unwrap();
    assert_eq!(
        (
            plan.phases[1].streams[0].blocks().unwrap().block.files.clone(),
            plan.phases[1].streams[0].blocks().unwrap().block.region_bytes
        ),
        (vec!["a".into(), "b:c".into()], 1 << 20)
    );
    assert_eq!(plan.phases[0].kind, PhaseKind::Layout);
    assert_eq!(plan.phases[0].streams[0].blocks().unwrap().block.files, ["a", "b:c"]);
    let two = read("[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n");
    assert!(two.second_target.unwrap().contains("my.fio:3: filename: '/dev/sdb' is a second target"));
    let outside = read("[j]\nfilename=../x:y\nsize=1m\n").plan(&inputs(TargetKind::Directory)).unwrap_err();
    assert!(outside.to_string().contains("not below the target"), "{outside}");
}

#[test]
fn what_is_not_supported_is_named_and_lenient_lists_it() {
    for (text, line, key, said) in [
        ("[j]\nsize=1m\nwait_for=other\n", 3, "wait_for", "no job 'other'"),
        ("[j]\nzonemode=zbd\n", 2, "zonemode", "none, strided"),
        ("[j]\nioengine=rados\n", 2, "ioengine", "io_uring, libaio"),
        ("[j]\niodpeth=4\n", 2, "iodpeth", "nearest supported: iodepth"),
        ("[j]\nlockmem=1g\n", 2, "lockmem", "nothing comes near"),
    ] {
        let error = &errors(text)[0];
        assert_eq!(
            (error.place.file.as_str(), error.place.line, error.key.as_str()),
            ("dir/my.fio", line, key),
            "{error}"
        );
        assert!(error.to_string().contains(said), "{said}: {error}");
        let lenient = read_with(text, &[], true).unwrap_or_else(|e| panic!("{}", e[0]));
        assert!(lenient.notes.iter().any(|n| n.contains("ignored") && n.contains(key)), "{:?}", lenient.notes);
    }
}

#[test]
fn mistakes_name_their_line_also_when_lenient() {
    for (text, line, said) in [
        ("[j]\nbs=4q\n", 2, "unknown unit"),
        ("[j]\nsize=99999999999999999999g\n", 2, "too large"),
        ("[j]\nsize=(8p*4096)\n", 2, "too large"),
        ("[j]\nbs=0\n", 2, "0 bytes"),
        ("[j]\nnumjobs=1000000\n", 2, "jobs"),
        ("[j]\nrwmixread=120\n", 2, "above 100"),
        // What the text says is no reason to leave it out.
        ("[j]\nruntime=supported\n", 2, "supported"),
        ("[j]\nfsync=unsupported\n", 2, "supported"),
        ("[j]\nsync=is supported\n", 2, "none of none"),
        ("[j]\nsize=${NOPE}\n", 2, "no variable 'NOPE'"),
        ("[j]\nbssplit=4k/70:8k/70\n", 2, "sum to 140"),
        ("[j\nbs=4k\n", 1, "is not a section"),
        ("bs=4k\n[j]\n", 1, "before the first section"),
        ("[global]\nbs=4k\n", 1, "no job"),
    ] {
        for lenient in [false, true] {
            let errors = read_with(text, &[], lenient).expect_err(text);
            assert_eq!(errors[0].place.line, line, "{text}: {}", errors[0]);
            assert!(errors[0].to_string().contains(said), "{said}: {}", errors[0]);
        }
    }
}

#[test]
fn includes_are_asked_for() {
    let text = "[global]\ninclude base.inc\n[j]\nrw=write\n";
    let missing = errors(text);
    assert_eq!(
        (missing[0].kind, missing[0].key.as_str(), missing[0].place.line),
        (TextErrorKind::NeedsInclude, "base.inc", 2)
    );
    let workload = read_with(text, &[("base.inc", "size=4m\nbs=16k\n")], false).unwrap();
    let plan = workload.plan(&inputs(TargetKind::Directory)).unwrap();
    assert_eq!(plan.phases[0].streams[0].blocks().unwrap().block.block_size_bytes, 16_384);
    assert!(
        read_with(text, &[("base.inc", "include base.inc\n")], false).unwrap_err()[0].to_string().contains("go round")
    );
    let nested = read_with("[j]\ninclude a/b.inc\n", &[("a/b.inc", "include c.inc\n")], false).unwrap_err();
    assert_eq!(nested[0].key, "a/c.inc", "beside the text that includes it");
    let wrong = read_with(text, &[("base.inc", "\nbs=x\n")], false).unwrap_err();
    assert_eq!((wrong[0].place.file.as_str(), wrong[0].place.line), ("base.inc", 2));
}

#[test]
fn a_block_that_no_sector_divides_and_more_jobs_than_memory_are_refused() {
    let refused = |text: &str| read(text).plan(&inputs(TargetKind::BlockDevice)).unwrap_err().to_string();
    assert!(refused("[j]\ndirect=1\nbs=1000\n").contains("multiples of the sector, 512"));
    let large = refused("[j]\ndirect=1\nioengine=io_uring\nbs=4m\niodepth=256\nnumjobs=16\n");
    assert!(large.contains("16 GiB of it"), "{large}");
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,300}") {
        let _ = read_with(&text, &[], true);
    }

    #[test]
    fn no_value_of_any_option_panics(at in 0usize..200, value in "[0-9a-zA-Z.:/,%()$*+-]{0,24}", lenient: bool) {
        let options = spec::fio_options();
        let option = options[at % options.len()];
        match read_with(&format!("[global]\nsize=8m\n[j]\n{option}={value}\n"), &[], lenient) {
            Ok(workload) => {
                for kind in [TargetKind::Directory, TargetKind::BlockDevice, TargetKind::Sim] {
                    if let Ok(plan) = workload.plan(&inputs(kind)) {
                        let _ = (plan.memory_bytes(), plan.bytes_written_at_most());
                    }
                }
            }
            Err(errors) => prop_assert!(errors.iter().all(|e| e.place.line == 4), "{:?}", errors),
        }
    }
}

#[test]
fn a_name_replaces_that_of_the_section() {
    let plan = plan("[global]\nsize=4m\n[a]\nname=first one\nrw=read\n[b]\nstonewall\nrw=write\n");
    let names: Vec<&str> = plan.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["layout", "first-one", "b"]);
    assert_eq!(plan.phases[1].streams[0].name, "first one");
    let of_none = read("[global]\nname=all\nsize=4m\n[a]\nrw=write\n").plan(&inputs(TargetKind::Directory)).unwrap();
    assert_eq!(of_none.phases[0].streams[0].name, "a", "a name in [global] is that of no job");
    assert!(errors("[a]\nname=\n")[0].to_string().contains("my.fio:2: name: needs a value"));
}

#[test]
fn arithmetic_may_stand_where_marks_separate_sizes() {
    let sizes = |text: &str| plan(text).phases[0].streams[0].blocks().unwrap().block.block_size_bytes;
    assert_eq!(sizes("[a]\nrw=write\nsize=1m\nbs=(4k/2)\n"), 2048);
    assert_eq!(sizes("[a]\nrw=write\nsize=1m\nbsrange=(1k-512)-(2k*2)\n"), 4096);
    for (text, what) in
        [("(4k/0)", "divides by 0"), ("", "needs a value"), (",", "needs a value"), ("(4k", "not closed")]
    {
        let error = errors(&format!("[a]\nrw=read\nsize=1m\nbs={text}\n"))[0].to_string();
        assert!(error.contains("my.fio:4: bs") && error.contains(what), "{error}");
    }
}

#[test]
fn gaps_follow_the_base_of_the_units() {
    let order = |base: u32| {
        plan(&format!("[a]\nkb_base={base}\nrw=write:4k\nbs=4k\nsize=1g\n")).phases[0].streams[0]
            .blocks()
            .unwrap()
            .block
            .order
    };
    assert_eq!(order(1024), Order::Strided { stride_bytes: 8192 });
    assert_eq!(order(1000), Order::Strided { stride_bytes: 8000 });
}

#[test]
fn buffers_lie_where_the_job_says() {
    let buffers = |text: &str| {
        plan(&format!("[a]\nrw=read\nsize=64m\nbs=1m\ndirect=1\n{text}")).phases.last().unwrap().streams[0].path.buffers
    };
    let reserved = |page_bytes| BufferPages::Reserved { page_bytes };
    assert_eq!(buffers("").pages, BufferPages::Huge);
    for ordinary in ["malloc", "mmap", "shm", "mmapshared"] {
        assert_eq!(buffers(&format!("mem={ordinary}")).pages, BufferPages::Ordinary);
    }
    assert_eq!(buffers("iomem=mmaphuge:/huge/x").pages, reserved(None));
    // In whatever order they stand.
    for text in ["hugepage-size=4m\nmem=shmhuge", "mem=shmhuge\nhugepage-size=4m"] {
        assert_eq!(buffers(text).pages, reserved(Some(4 << 20)));
    }
    assert_eq!(buffers("iomem_align=64k").alignment_bytes, 64 << 10);
    for bad in ["mem=cudamalloc", "mem=", "iomem_align=3k", "hugepage-size=0"] {
        assert!(!errors(&format!("[a]\nrw=read\nsize=64m\n{bad}")).is_empty(), "{bad}");
    }
}
