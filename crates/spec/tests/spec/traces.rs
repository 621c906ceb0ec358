//! Traces of block I/O: what is read of them, where it lies on one target, and what cannot be replayed.

use model::{Access, BlockSize, Operation, Order, Plan, TargetKind, TraceKind, TraceOp};
use spec::{
    Readiness, RunInputs, TextError, TextInputs, TextMachine, Workload, blktrace_text, is_blktrace, is_trace,
    parse_trace,
};
use std::collections::BTreeMap;

/// As fio 3.33 writes it (`--write_iolog`), its file's name made shorter.
const FIO_3: &str = "fio version 3 iolog
20 /t/w.0.0 add
120 /t/w.0.0 open
124 /t/w.0.0 read 61440 4096
976 /t/w.0.0 read 774144 4096
2119 /t/w.0.0 write 491520 4096
17028 /t/w.0.0 sync 1040384 0
27400 /t/w.0.0 write 0 8192
27467 /t/w.0.0 close
";

/// The format of fio's HOWTO, with two files and waits, each from the one before.
const FIO_2: &str = "fio version 2 iolog
/dev/a add
/dev/b add
/dev/a open
/dev/b open
/dev/a write 4096 4096
/dev/a wait 500 0
/dev/b read 1000 100
/dev/b wait 1500 0
/dev/a trim 0 4096
/dev/a datasync 0 0
";

/// The default format of blkparse(1), with its summary.
const BLKPARSE: &str = "  8,16   1        1     0.000000000  2890  Q   W 2048 + 8 [dd]
  8,16   1        2     0.000002005  2890  G   W 2048 + 8 [dd]
  8,16   1        3     0.000009114  2890  D   W 2048 + 8 [dd]
  8,16   0        1     0.001000500  2890  Q  RA 4096 + 256 [cat]
  8,16   0        2     0.002000000  2890  Q FWS 0 [jbd2]
  8,16   1        4     0.002100000     0  C   W 2048 + 8 [0]
  8,16   1        5     0.003000001  2890  Q  DS 8192 + 1024 [fstrim]
CPU1 (8,16):
 Reads Queued:           1,      128KiB\t Writes Queued:           1,        4KiB
";

fn read(text: &str, set: &[(&str, &str)]) -> Result<Workload, Vec<TextError>> {
    let none = BTreeMap::new();
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let machine = TextMachine { page_size_bytes: 4096, memory_bytes: 2 << 30, processors: 4 };
    parse_trace(&TextInputs {
        file: "traces/web.log",
        text,
        includes: &none,
        set: &set,
        variables: &none,
        machine,
        lenient: false,
    })
}

fn plan(text: &str, set: &[(&str, &str)]) -> Plan {
    let inputs = RunInputs {
        kind: TargetKind::Directory,
        readiness: Readiness::Writable,
        max_bytes: 4 << 30,
        sector_bytes: 512,
        memory_bytes: Some(2 << 30),
        seed: 1,
        probe: Default::default(),
        packages: None,
    };
    read(text, set).unwrap_or_else(|e| panic!("{}", e[0])).plan(&inputs).unwrap()
}

fn ops(plan: &Plan) -> Vec<(u64, TraceKind, u64, u32)> {
    let trace = plan.phases.last().unwrap().streams[0].blocks().unwrap().block.trace.as_ref().unwrap();
    trace.ops.0.iter().map(|TraceOp { at_ns, kind, offset, len }| (*at_ns, *kind, *offset, *len)).collect()
}

#[test]
fn iologs_of_fio_become_operations_with_their_moments() {
    use TraceKind::*;
    let three = plan(FIO_3, &[]);
    let expected = [
        (0, Read, 61_440, 4096),
        (852_000, Read, 774_144, 4096),
        (1_995_000, Write, 491_520, 4096),
        (16_904_000, Fsync, 0, 0),
        (27_276_000, Write, 0, 8192),
    ];
    assert_eq!(ops(&three), expected);
    let replay = three.phases.last().unwrap();
    let block = replay.streams[0].blocks().unwrap().block;
    assert_eq!((replay.name.as_str(), replay.access, block.order), ("replay", Access::Direct, Order::Traced));
    assert_eq!((block.operation, block.mix.unwrap().read_percent), (Operation::Write, 50));
    assert_eq!((block.region_bytes, block.block_size_bytes, block.min_block_bytes()), (778_240, 8192, 4096));
    // What it reads is there before, and it writes what it says.
    assert_eq!(three.phases.len(), 2);
    assert_eq!(three.check(512, Some(2 << 30)), []);
    let two = plan(FIO_2, &[("speed", "max"), ("depth", "4")]);
    // The second file lies behind the first, at the next MiB; nothing in it is aligned, so it goes through the page cache.
    let expected = [
        (0, Write, 4096, 4096),
        (500_000, Read, (1 << 20) + 1000, 100),
        (2_000_000, Trim, 0, 4096),
        (2_000_000, Fdatasync, 0, 0),
    ];
    assert_eq!(ops(&two), expected);
    let stream = &two.phases.last().unwrap().streams[0];
    assert_eq!(two.phases.last().unwrap().access, Access::Buffered);
    assert_eq!(
        (stream.path.queue_depth, stream.blocks().unwrap().block.trace.as_ref().unwrap().trace_speed_milli),
        (4, 0)
    );
    assert!(two.notes.iter().any(|n| n.contains("2 files or devices")), "{:?}", two.notes);
}

#[test]
fn what_was_queued_is_read_of_blkparse() {
    use TraceKind::*;
    let queued = plan(BLKPARSE, &[("speed", "2")]);
    let expected = [
        (0, Write, 1 << 20, 4096),
        (1_000_500, Read, 2 << 20, 131_072),
        (2_000_000, Fsync, 0, 0),
        (3_000_001, Trim, 4 << 20, 524_288),
    ];
    assert_eq!(ops(&queued), expected);
    let issued: String = BLKPARSE.lines().filter(|l| !l.contains("  Q ")).map(|l| format!("{l}\n")).collect();
    assert_eq!(ops(&plan(&issued, &[])), [(0, Write, 1 << 20, 4096)]);
    let wrapped = plan(BLKPARSE, &[("region", "1MiB")]);
    assert!(ops(&wrapped).iter().all(|(_, _, offset, len)| offset + u64::from(*len) <= 1 << 20), "{:?}", ops(&wrapped));
    assert!(wrapped.notes.iter().any(|n| n.contains("wrap around")), "{:?}", wrapped.notes);
}

#[test]
fn what_is_no_recording_is_none_and_what_is_wrong_in_one_is_said() {
    for text in [
        "",
        "[job]\nrw=read\n",
        "name = \"x\"\n[[phase]]\n",
        "8,0 1",
        "fio version 4 iolog\n",
        "a,b 1 1 0.0 1 Q W 0 + 8",
    ] {
        assert!(!is_trace(text), "{text}");
    }
    for text in [FIO_2, FIO_3, BLKPARSE] {
        assert!(is_trace(text));
    }
    let says = |text: &str, set: &[(&str, &str)], what: &str| {
        let errors = read(text, set).map(|w| w.name).unwrap_err();
        assert!(errors.iter().any(|e| e.to_string().contains(what)), "{what}: {errors:?}");
    };
    says(
        "fio version 3 iolog\nsoon /a read 0 4096\n1 /a read 0 4096\n",
        &[],
        "traces/web.log:2: 'soon /a read 0 4096' does not begin",
    );
    says("fio version 3 iolog\n1 /a reed 0 4096\n", &[], "is not a line of an iolog");
    says("fio version 3 iolog\n1 /a read x 4096\n2 /a read 0 512\n", &[], "is not a line of an iolog");
    says("fio version 3 iolog\n1 /a read 0 4k\n2 /a read 0 512\n", &[], "is not a line of an iolog");
    says("fio version 2 iolog\n/a wait soon 0\n/a read 0 512\n", &[], "is not a line of an iolog");
    says("fio version 3 iolog\n1 /a open\n", &[], "nothing in it reads or writes");
    says("fio version 3 iolog\n1 /a read 0 99999999999\n", &[], "cannot be replayed");
    says("fio version 3 iolog\n1 /a read 18446744073709551000 4096\n", &[], "cannot be replayed");
    let far: String = (1..=5).map(|n| format!("{n} /{n} read {} 4096\n", (1u64 << 62) - 4096)).collect();
    says(&format!("fio version 3 iolog\n{far}"), &[], "its places lie further apart than");
    says("8,0 1 1 0.0000000001 1 Q W 0 + 8 [x]\n8,0 1 1 0.1 1 Q W 0 + 8 [x]\n", &[], "is not a time");
    says("8,0 1 1 0.1 1 Q W zero + 8 [x]\n8,0 1 1 0.1 1 Q W 0 + 8 [x]\n", &[], "names no sectors");
    for (key, value, what) in [
        ("spead", "1", "nearest supported: speed"),
        ("speed", "0", "0.001 to 1000000"),
        ("depth", "0", "1 to 4096"),
        ("access", "fast", "direct or buffered"),
        ("region", "none", "a size"),
    ] {
        says(FIO_3, &[(key, value)], what);
    }
    // One that was cut off while it was written: the last line is left out, and the plan says so.
    for end in [" 0 8192", "92\n27467"] {
        let plan = plan(&FIO_3[..FIO_3.find(end).unwrap()], &[]);
        assert_eq!(ops(&plan).len(), 4, "{end}");
        assert!(plan.notes.iter().any(|n| n.contains("cut off")), "{:?}", plan.notes);
    }
}

#[test]
fn one_size_is_a_fixed_one() {
    let one = plan("fio version 3 iolog\n0 /a read 0 4096\n9 /a read 8192 4096\n", &[]);
    let block = one.phases.last().unwrap().streams[0].blocks().unwrap().block;
    assert_eq!((block.block_sizes.clone(), block.block_size_bytes, block.operation), (None, 4096, Operation::Read));
    assert_eq!(BlockSize::default(), BlockSize::Fixed { bytes: 4096 });
}

/// Records that blktrace 1.3 wrote of fio on a virtual disk (Linux 6.1), some of them left out, and what blkparse 1.3 says of the same file.
#[test]
fn what_blktrace_wrote_is_what_blkparse_says_of_it() {
    let file = include_bytes!("../blktrace/real.blktrace.0").to_vec();
    assert!(is_blktrace(&file) && !is_blktrace(include_bytes!("../blktrace/real.txt")));
    let ours = blktrace_text(&[file]).unwrap();
    let theirs = include_str!("../blktrace/real.txt");
    let told = |text: &str| -> Vec<Vec<String>> {
        let fields = text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let fields = fields.filter(|f| f.len() > 6 && f[0].contains(',') && ["Q", "D"].contains(&&*f[5]));
        // Without the processor, and without who did it.
        fields.map(|f| [&f[..1], &f[2..7], f.get(7..10).filter(|f| f[1] == "+").unwrap_or(&[])].concat()).collect()
    };
    assert!(told(&ours).len() > 10);
    assert_eq!(told(&ours), told(theirs));
    let ops = |text: &str| {
        plan(text, &[]).phases.last().unwrap().streams[0].blocks().unwrap().block.trace.clone().unwrap().ops.0
    };
    assert_eq!(ops(&ours), ops(theirs));
    assert!(ops(&ours).iter().any(|op| op.kind == TraceKind::Trim));
}
