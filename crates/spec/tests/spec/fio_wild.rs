//! Job files as practitioners write them (`wild/`): each was once planned otherwise than fio 3.33 carries it out, or refused.

use model::{Access, BlockShare, BlockSize, EngineKind, NS_PER_S, Order, Plan, StreamPlan, TargetKind};
use spec::{Readiness, RunInputs, TextError, TextErrorKind, TextInputs, TextMachine, Workload, parse_fio};
use std::collections::BTreeMap;

const GIB: u64 = 1 << 30;

fn read(text: &str, lenient: bool) -> Result<Workload, Vec<TextError>> {
    let include = ("include-no-variable.inc".to_owned(), include_str!("wild/include-no-variable.inc").to_owned());
    parse_fio(&TextInputs {
        file: "my.fio",
        text,
        includes: &BTreeMap::from([include]),
        set: &[],
        variables: &BTreeMap::new(),
        machine: TextMachine { page_size_bytes: 4096, memory_bytes: 2 << 30, processors: 4 },
        lenient,
    })
}

/// On a target that offers so much.
fn plan_on(kind: TargetKind, max_bytes: u64, text: &str) -> Plan {
    let inputs = RunInputs {
        kind,
        readiness: Readiness::Writable,
        max_bytes,
        sector_bytes: 512,
        memory_bytes: Some(2 << 30),
        seed: 1,
        probe: Default::default(),
        packages: None,
    };
    let workload = read(text, false).unwrap_or_else(|e| panic!("{text}: {}", e[0]));
    workload.plan(&inputs).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn plan(text: &str) -> Plan {
    plan_on(TargetKind::Directory, 16 * GIB, text)
}

/// The stream of the last phase.
fn stream(text: &str) -> StreamPlan {
    plan(text).phases.last().unwrap().streams[0].clone()
}

fn notes(text: &str) -> String {
    plan(text).notes.join("\n")
}

#[test]
fn a_delay_counts_from_the_start_of_the_run() {
    let plan = plan(include_str!("wild/startdelay-after-stonewall.fio"));
    let [_, first, second] = &plan.phases[..] else { panic!("{:?}", plan.phases) };
    assert_eq!((first.streams[0].timing.delay_from_run, second.streams[0].timing.delay_from_run), (false, true));
    // 3 s have passed when the second one begins, of the 4 it waits.
    let begun = second.resumed_after(3 * NS_PER_S);
    assert_eq!((begun.streams[0].timing.start_delay_ns, begun.time_limit_ns), (NS_PER_S, 2 * NS_PER_S));
    // As long as the delay has not passed the last one ends with it; then it takes its own time.
    let late = second.resumed_after(60 * NS_PER_S);
    assert_eq!((late.streams[0].timing.start_delay_ns, late.time_limit_ns), (0, NS_PER_S));
    let windows = 3 * plan.quiet_ns;
    let layout = plan.phases[0].time_limit_ns;
    assert_eq!(plan.budget_ns, layout + windows + 5 * NS_PER_S);
}

#[test]
fn delays_of_streams_beside_each_other_are_each_cut_to_what_is_left() {
    let text = "[global]\nsize=8m\nrw=read\ntime_based\nruntime=10\n[a]\n[b]\nstonewall\nstartdelay=12\n[c]\nstartdelay=4\nruntime=3\n";
    let plan = plan(text);
    let phase = plan.phases.last().unwrap();
    assert_eq!((phase.time_limit_ns, phase.streams[1].limits.time_limit_ns), (22 * NS_PER_S, Some(3 * NS_PER_S)));
    let begun = phase.resumed_after(10 * NS_PER_S);
    let [b, c] = &begun.streams[..] else { panic!() };
    assert_eq!(
        (begun.time_limit_ns, b.timing.start_delay_ns, b.limits.time_limit_ns),
        (12 * NS_PER_S, 2 * NS_PER_S, None)
    );
    assert_eq!((c.timing.start_delay_ns, c.limits.time_limit_ns), (0, Some(3 * NS_PER_S)));
}

#[test]
fn an_offset_in_per_cent_is_rounded_up_to_a_block() {
    let start = |kind, text: &str| {
        plan_on(kind, 512 << 20, text).phases[0].streams[0].blocks().unwrap().block.region_start_bytes
    };
    let device = TargetKind::BlockDevice;
    assert_eq!(start(device, include_str!("wild/offset-percent.fio")), 177_209_344);
    assert_eq!(start(device, include_str!("wild/offset-percent-direct.fio")), 37_584_896);
    let offsets = |options: &str| {
        let text = format!("[j]\nrw=write\nbs=64k\nsize=1m\n{options}");
        let streams = plan_on(device, 512 << 20, &text).phases[0].streams.clone();
        streams.iter().map(|s| s.blocks().unwrap().block.region_start_bytes).collect::<Vec<_>>()
    };
    // Seen with fio 3.33.
    assert_eq!(offsets("offset_increment=7%\nnumjobs=3"), [0, 37_617_664, 75_169_792]);
    assert_eq!(offsets("offset=33%\noffset_align=1m"), [177_209_344]);
    assert_eq!(offsets("offset=33%\noffset_align=4k"), [177_168_384]);
    assert_eq!(offsets("offset=100000"), [100_000], "what is said in bytes stays");
    assert_eq!(offsets("bs=4k,64k\noffset=33%"), [177_209_344], "the block is that of its direction");
}

#[test]
fn an_amount_that_is_larger_than_its_loops_is_not_repeated() {
    let total = |options: &str| stream(&format!("[j]\nrw=write\nbs=4k\n{options}")).limits.total_bytes.unwrap() >> 10;
    assert_eq!(stream(include_str!("wild/io-size-loops.fio")).limits.total_bytes, Some(4 << 20));
    // Each as fio 3.33 moved it.
    for (io_size, size, loops, kib) in [
        ("4m", "1m", 8, 8192),
        ("512k", "1m", 4, 2048),
        ("1536k", "1m", 1, 1536),
        ("4m", "1m", 1, 4096),
        ("3m", "2m", 2, 4096),
        ("2m", "768k", 2, 2304),
        ("2m", "768k", 1, 2048),
        ("128k", "512k", 3, 384),
        ("1026k", "1m", 1, 1024),
        ("1029k", "1m", 1, 1032),
    ] {
        assert_eq!(total(&format!("io_size={io_size}\nsize={size}\nloops={loops}")), kib, "{io_size} {size} {loops}");
    }
    assert_eq!(total("size=1m\nloops=3"), 3072);
    // A pass with gaps moves less than its size.
    for (options, kib) in [("", 128), ("loops=2", 256), ("io_size=192k", 192), ("io_size=512k", 512)] {
        let gaps = stream(&format!("[j]\nrw=write:16k\nbs=16k\nsize=256k\n{options}\n"));
        assert_eq!(gaps.limits.total_bytes, Some(kib << 10), "{options}");
        assert_eq!(
            (gaps.blocks().unwrap().block.order, gaps.blocks().unwrap().block.run_blocks),
            (Order::Strided { stride_bytes: 32 << 10 }, 1)
        );
    }
}

#[test]
fn several_devices_are_several_files_of_a_directory() {
    let text = include_str!("wild/two-devices.fio");
    let files = |kind| {
        let plan = plan_on(kind, 16 * GIB, text);
        let streams = &plan.phases.last().unwrap().streams;
        (streams.iter().map(|s| s.blocks().unwrap().block.files.clone()).collect::<Vec<_>>(), plan.notes.join("\n"))
    };
    assert_eq!(files(TargetKind::Directory).0, [["dev-sdy"], ["dev-sdz"]]);
    let (one, notes) = files(TargetKind::BlockDevice);
    assert_eq!(one, [Vec::<String>::new(), Vec::new()]);
    assert!(notes.contains("all jobs use the target itself"), "{notes}");
    // One job on both, and shares of what there is.
    let both = stream("[j]\nfilename=/dev/sdy:/dev/sdz\nrw=randread\nsize=16m\n");
    assert_eq!(
        (both.blocks().unwrap().block.files.clone(), both.blocks().unwrap().block.region_bytes),
        (vec!["dev-sdy".into(), "dev-sdz".into()], 8 << 20)
    );
    let shared = plan("[global]\nsize=100%\nrw=write\n[a]\nfilename=/dev/sdy\n[b]\nfilename=/dev/sdz\n");
    assert!(shared.phases[0].streams.iter().all(|s| s.blocks().unwrap().block.region_bytes == 8 * GIB));
    // One that is named twice is one.
    let same = plan("[global]\nfilename=/dev/sdy\nsize=16m\nrw=write\n[a]\n[b]\n");
    assert!(same.phases[0].streams.iter().all(|s| s.blocks().unwrap().block.files.is_empty()));
}

#[test]
fn shares_that_sum_to_less_give_the_rest_to_the_largest() {
    let shares = |split: &str| match stream(&format!("[j]\nrw=write\nsize=8m\nbssplit={split}\n"))
        .blocks()
        .unwrap()
        .block
        .block_sizes
        .clone()
    {
        Some(sizes) => match sizes.write {
            BlockSize::Split(shares) => {
                shares.into_iter().map(|BlockShare { bytes, weight }| (bytes >> 10, weight)).collect()
            }
            other => panic!("{other:?}"),
        },
        None => Vec::new(),
    };
    assert!(stream(include_str!("wild/bssplit-99.fio")).blocks().unwrap().block.block_sizes.is_some());
    assert_eq!(shares("4k/60:16k/39"), [(4, 61), (16, 39)]);
    assert_eq!(shares("16k/39:4k/60"), [(16, 39), (4, 61)]);
    assert_eq!(shares("4k/30:16k/30"), [(4, 30), (16, 70)]);
    assert_eq!(shares("4k/10:8k/20:64k/20"), [(4, 10), (8, 20), (64, 70)]);
    assert_eq!(shares("4k/33.3:8k/33.3:64k/33.3"), [(4, 33), (8, 33), (64, 34)]);
}

#[test]
fn a_pattern_is_what_data_are_made_of() {
    let text = |value: &str| format!("[j]\nrw=write\nsize=1m\nbuffer_pattern={value}\n");
    let pattern = |value: &str| String::from(stream(&text(value)).fill_pattern);
    let file: String = stream(include_str!("wild/buffer-pattern.fio")).fill_pattern.into();
    assert_eq!(file, "cafe0123");
    // The files that fio 3.33 wrote.
    for (value, hex) in [
        ("\"abc\"", "616263"),
        ("513", "0102"),
        ("-2", "feffffff"),
        ("0xff\"ab\"", "ff6162"),
        ("0xabc", "0abc"),
        ("0", "00"),
    ] {
        assert_eq!(pattern(value), hex.to_owned(), "{value}");
    }
    let both = stream("[j]\nrw=write\nsize=1m\nzero_buffers\nbuffer_compress_percentage=30\nbuffer_pattern=0xaa\n");
    assert_eq!((both.content.zero, both.content.compress_percent, both.fill_pattern.bytes()), (false, 30, &[0xaa][..]));
    for wrong in ["", "'/etc/passwd'", "\"open", "xyz", "99999999999"] {
        let errors = read(&format!("[j]\nrw=write\nsize=1m\nbuffer_pattern={wrong}\n"), false).expect_err(wrong);
        assert_eq!((errors[0].key.as_str(), errors[0].place.line), ("buffer_pattern", 4));
    }
    let verified = "[j]\nrw=write\nsize=1m\nbuffer_pattern=0xaa\nverify=crc32c\n";
    assert!(stream(verified).fill_pattern.bytes().is_empty() && notes(verified).contains("buffer_pattern"));
}

#[test]
fn a_share_of_a_random_order_goes_on() {
    let percents =
        |options: &str| stream(&format!("[j]\nbs=4k\nsize=8m\n{options}")).blocks().unwrap().block.sequential_percents;
    assert_eq!(stream(include_str!("wild/percentage-random.fio")).blocks().unwrap().block.sequential_percents, [60; 3]);
    assert_eq!(percents("rw=randrw\npercentage_random=0,100"), [100, 0, 0]);
    assert_eq!(percents("rw=randwrite\npercentage_random=,30"), [0, 70, 70]);
    assert_eq!(percents("rw=randread\npercentage_random=100"), [0; 3]);
    assert_eq!(percents("rw=read\npercentage_random=40"), [0; 3], "a sequential order has none");
}

#[test]
fn a_normal_distribution_needs_no_deviation() {
    let order = |text: &str| stream(text).blocks().unwrap().block.order;
    assert_eq!(order(include_str!("wild/distribution-normal.fio")), Order::Normal { deviation_percent: 8 });
    let said = "[j]\nrw=randread\nsize=8m\nrandom_distribution=normal:20\n";
    assert_eq!(order(said), Order::Normal { deviation_percent: 20 });
}

#[test]
fn engines_and_what_goes_with_them() {
    let by = |text: &str| {
        let phase = plan(text).phases.last().unwrap().clone();
        (phase.engine, phase.access)
    };
    assert_eq!(by(include_str!("wild/engine-splice.fio")), (EngineKind::Psync, Access::Buffered));
    assert!(notes(include_str!("wild/engine-splice.fio")).contains("ioengine=splice"));
    assert_eq!(by(include_str!("wild/mmap-direct.fio")), (EngineKind::Mmap, Access::Buffered));
    assert!(notes(include_str!("wild/mmap-direct.fio")).contains("direct=1"));
    for name in ["aio", "linuxaio", "libaio"] {
        let text = format!("[j]\nrw=read\nsize=8m\nioengine={name}\niodepth=8\ndirect=1\n");
        assert_eq!(by(&text), (EngineKind::IoUring, Access::Direct));
    }
}

#[test]
fn numbers_are_yes_and_times_without_a_length_nothing() {
    let five = stream(include_str!("wild/time-based-5.fio"));
    assert_eq!(five.limits.total_bytes, None, "it goes on for its time");
    assert_eq!(plan(include_str!("wild/time-based-5.fio")).phases.last().unwrap().time_limit_ns, NS_PER_S);
    let endless = "[j]\nrw=read\nsize=8m\ntime_based\n";
    assert_eq!(stream(endless).limits.total_bytes, Some(8 << 20));
    assert!(notes(endless).contains("time_based has no effect without runtime"));
    assert!(stream("[j]\nrw=read\nsize=8m\ntime_based=0\nruntime=5\n").limits.total_bytes.is_some());
}

#[test]
fn a_trim_is_as_long_as_it_says_or_several() {
    let trims = |text: &str| plan_on(TargetKind::BlockDevice, 64 * GIB, text).phases[0].streams[0].clone();
    let two = trims(include_str!("wild/trim-2g.fio"));
    assert_eq!((two.blocks().unwrap().block.block_size_bytes, two.limits.total_bytes), (2 * GIB, Some(4 * GIB)));
    assert_eq!(two.buffer_bytes(), 4096, "no data, no memory");
    let eight = trims("[j]\nrw=randtrim\nbs=8g\nsize=32g\niodepth=4\nioengine=libaio\ndirect=1\n");
    assert_eq!(
        (eight.blocks().unwrap().block.block_size_bytes, eight.blocks().unwrap().block.run_blocks),
        (2 * GIB, 4)
    );
    let plan = plan_on(TargetKind::BlockDevice, 64 * GIB, "[j]\nrw=trim\nbs=4g\nsize=32g\n");
    assert!(plan.notes.iter().any(|n| n.contains("each trim of 4294967296 bytes is 2 trims")), "{:?}", plan.notes);
}

#[test]
fn depths_states_masks_and_overlaps() {
    let of = |options: &str| {
        stream(&format!("[j]\nrw=randwrite\nsize=8m\nioengine=libaio\ndirect=1\niodepth=32\n{options}"))
    };
    assert_eq!(of("iodepth_low=8").path.batch_complete, Some(24));
    assert_eq!(of("iodepth_low=32").path.batch_complete, None);
    assert_eq!(of("iodepth_low=8\niodepth_batch_complete_min=4").path.batch_complete, Some(24));
    assert!(of("serialize_overlap=1").blocks().unwrap().block.no_overlap);
    assert!(!of("serialize_overlap=0").blocks().unwrap().block.no_overlap);
    assert_eq!(of("cpumask=5").path.cpus, [0, 2]);
    assert_eq!(of("cpumask=0xf0").path.cpus, [4, 5, 6, 7]);
    assert!(read("[j]\ncpumask=0\n", false).is_err());
    let states = "[j]\nrw=write\nsize=1m\nverify=crc32c\nverify_state_save=0\nverify_state_load=0\nlockmem=0\n";
    assert!(notes(states).contains("verify_state_save"));
}

#[test]
fn an_unset_variable_of_an_included_file_is_named() {
    let error = read(include_str!("wild/include-no-variable.fio"), false).unwrap_err().remove(0);
    let said = "include-no-variable.inc:1: bs: the environment has no variable 'NO_SUCH_SIZE'";
    assert_eq!((error.kind, error.to_string().as_str()), (TextErrorKind::Variable, said));
    // What stands where a name should is not repeated.
    let error = read("[j]\nbs=${pass word=1}\n", false).unwrap_err().remove(0);
    assert!(!error.to_string().contains("pass"), "{error}");
}

#[test]
fn lenient_takes_what_it_leaves_out() {
    let lenient = |options: &str| {
        let text = format!("[j]\nbs=64k\nsize=8m\n{options}");
        assert!(read(&text, false).is_err(), "{options}");
        let workload = read(&text, true).unwrap_or_else(|e| panic!("{options}: {}", e[0]));
        assert!(workload.notes.iter().any(|n| n.starts_with("ignored: my.fio:")), "{options}: {:?}", workload.notes);
        let inputs = RunInputs {
            kind: TargetKind::Directory,
            readiness: Readiness::Writable,
            max_bytes: 16 * GIB,
            sector_bytes: 512,
            memory_bytes: Some(2 << 30),
            seed: 1,
            probe: Default::default(),
            packages: None,
        };
        let plan = workload.plan(&inputs).unwrap_or_else(|e| panic!("{options}: {e}"));
        plan.phases.last().unwrap().streams[0].clone()
    };
    // What does not go with the rest goes, and the rest stays.
    let back = lenient("rw=write:-1k\n");
    assert_eq!((back.blocks().unwrap().block.order, back.changes_data()), (Order::Sequential, true));
    assert_eq!(lenient("rw=randwrite\nzonemode=strided\nzonesize=1m\n").blocks().unwrap().block.order, Order::Random);
    assert!(lenient("rw=read\nzonemode=zbd\nzonesize=1m\nmax_open_zones=4\n").reads());
    assert!(lenient("rw=read\nzonemode=zbd\noffset=524z\n").reads());
    assert!(lenient("rw=randrw\nbsrange=4k-8k\nzonemode=strided\nzonesize=1m\n").reads());
    assert_eq!(lenient("rw=read\nioengine=rbd\npool=x\nrbdname=y\n").path.engine, EngineKind::Psync);
    assert!(lenient("rw=randread\nrandom_distribution=zipf:1.2:0.5\n").blocks().unwrap().block.order == Order::Random);
    assert!(lenient("rw=read\nnice=5\nexec_prerun=sync\nno_such_option=1\n").reads());
}

#[test]
fn a_size_of_zones_alone_means_strided_zones() {
    let text = "[log]\nrw=write\nbs=256k\nfilesize=4g\nsize=256m\nzonesize=32m\nzoneskip=480m\n";
    let found = stream(text);
    let block = found.blocks().unwrap().block;
    assert_eq!((block.order, block.run_blocks), (Order::Strided { stride_bytes: 512 << 20 }, 128));
    assert_eq!((block.region_bytes, found.limits.total_bytes), (4 * GIB, Some(256 << 20)));
    // As in fio, what lies between zones is nothing without zones.
    let plain = stream("[log]\nrw=write\nbs=256k\nsize=256m\nzoneskip=480m\nzonerange=1m\n");
    assert_eq!((plain.blocks().unwrap().block.order, plain.blocks().unwrap().block.run_blocks), (Order::Sequential, 0));
}

#[test]
fn files_of_a_run_are_new_so_that_appending_begins_at_their_start() {
    let text = "[grow]\nrw=write\nbs=16k\nfilesize=1m\ncreate_on_open=1\nfile_append=1\n";
    let found = stream(text);
    assert_eq!((found.blocks().unwrap().block.region_start_bytes, found.limits.total_bytes), (0, Some(1 << 20)));
    assert!(notes(text).contains("file_append has no effect: "), "{}", notes(text));
}

#[test]
fn libblkio_is_io_uring_where_that_is_its_driver() {
    let text = |driver: &str| {
        format!(
            "[a]\nioengine=libblkio\nlibblkio_driver={driver}\nlibblkio_path=/dev/mine ; this one\nrw=randread\nlibblkio_vectored=1\n"
        )
    };
    let workload = read(&text("io_uring"), false).unwrap();
    assert_eq!(workload.target.as_deref(), Some("/dev/mine"));
    let plan = plan_on(TargetKind::BlockDevice, GIB, &text("io_uring"));
    assert_eq!(plan.phases[0].engine, EngineKind::IoUring);
    let error = read(&text("virtio-blk-vfio-pci"), true).expect_err("another driver").remove(0);
    assert!(error.to_string().contains("io_uring"), "{error}");
}

#[test]
fn loops_without_a_map_each_move_the_amount() {
    let total = |options: &str| {
        let found = stream(&format!("[j]\nbs=4k\nsize=256k\nloops=2\n{options}\n"));
        found.limits.total_bytes.unwrap() >> 10
    };
    // Each as fio 3.33 moved it.
    for (options, kib) in [
        ("rw=randwrite\nnorandommap\nio_size=300k", 600),
        ("rw=randrw\nnorandommap\nio_size=2m", 4096),
        ("rw=randwrite\nnorandommap\nio_size=128k", 256),
        ("rw=randwrite\nrandom_distribution=zipf:1.2\nio_size=300k", 600),
        ("rw=randwrite\nrandom_distribution=zoned:50/10:50/90\nio_size=2m", 4096),
        ("rw=randread\nnorandommap", 512),
        // With a map, and in sequence, the passes over the size count.
        ("rw=randwrite\nio_size=300k", 512),
        ("rw=write\nnorandommap\nio_size=2m", 2048),
    ] {
        assert_eq!(total(options), kib, "{options}");
    }
    let sizes = stream("[j]\nrw=randwrite\nbsrange=4k-16k\nsize=256k\nloops=2\nnorandommap\nio_size=2m\n");
    assert_eq!(sizes.limits.total_bytes, Some(4 << 20));
}

#[test]
fn an_alignment_of_its_own_turns_the_map_of_blocks_off() {
    let order =
        |options: &str| stream(&format!("[j]\nrw=randread\nsize=1m\n{options}\n")).blocks().unwrap().block.order;
    // Each as fio 3.33 says it.
    assert_eq!(order("bs=4k\nblockalign=32k"), Order::RandomReplace);
    assert_eq!(
        order("bs=4k,16k\nblockalign=4k"),
        Order::RandomReplace,
        "the blocks of writes count, also where none writes"
    );
    assert_eq!(order("bs=8k\nblockalign=8k"), Order::Random);
    assert_eq!(order("bsrange=8k-32k\nblockalign=8k"), Order::Random);
    assert!(notes("[j]\nrw=randread\nsize=1m\nbs=4k\nba=32k\n").contains("blockalign turns the map of blocks off"));
    let looped = stream("[j]\nrw=randread\nbs=4k\nblockalign=32k\nsize=1m\nloops=2\nio_size=3m\n");
    assert_eq!(looped.limits.total_bytes, Some(6 << 20));
}
