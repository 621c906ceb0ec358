//! The table, the CSV, the documents and the full screen of a watcher, over constructed samples.

use model::{
    CpuTicks, DiskCounters, LayerKind, MemorySample, NS_PER_S, Pressure, SystemSample, Temperature, activity,
    activity_since_boot,
};
use report::document::WatchDocument;
use report::{
    CsvOrigin, LiveTitle, Style, WatchCsv, WatchTick, WatchedLayer, live_screen, text, watch_block, watch_csv_header,
    watch_csv_rows, watch_header, watch_layers_line,
};
use serde::Deserialize;
use serde_json::Value;

fn layer(name: &str, kind: LayerKind, title: Option<&str>) -> WatchedLayer {
    WatchedLayer { name: name.into(), kind, title: title.map(str::to_owned) }
}

fn layers() -> Vec<WatchedLayer> {
    vec![
        layer("dm-0", LayerKind::Dm, Some("vg-root")),
        layer("sda2", LayerKind::Partition, None),
        layer("sda", LayerKind::Disk, Some("Samsung SSD 870 EVO 500GB")),
        layer("sdb", LayerKind::Disk, None),
        layer("sdz", LayerKind::Disk, None),
    ]
}

fn disk(name: &str, n: u64) -> DiskCounters {
    DiskCounters {
        name: name.into(),
        reads: 1_000 + 120 * n,
        reads_merged: 40 * n,
        sectors_read: 80_000 + 30_720 * n,
        read_ms: 900 + 84 * n,
        writes: 2_000 + 7 * n,
        writes_merged: 0,
        sectors_written: 160_000 + 14_336 * n,
        write_ms: 4_000 + 140 * n,
        in_flight: n,
        busy_ms: 1_900 + 350 * n,
        weighted_ms: 5_000 + 224 * n,
        discards: None,
        discards_merged: None,
        sectors_discarded: None,
        discard_ms: None,
        flushes: Some(3 * n),
        flush_ms: Some(12 * n),
    }
}

/// The machine after `n` seconds of watching; sdb comes with the second look and sdz never answers.
fn sample(n: u64) -> SystemSample {
    let mut disks: Vec<DiskCounters> = ["dm-0", "sda2", "sda"].iter().map(|name| disk(name, n)).collect();
    if n > 0 {
        disks.push(disk("sdb", n));
    }
    let cpu = CpuTicks {
        user: 1_000 + 10 * n,
        nice: n,
        system: 500 + 20 * n,
        idle: 9_000 + 40 * n,
        iowait: 100 + 25 * n,
        irq: n,
        softirq: 2 * n,
        steal: n,
    };
    SystemSample {
        at_ns: (1_000 + n) * NS_PER_S,
        disks,
        cpus: vec![cpu; 2],
        cpu_khz: vec![Some(1_800_000), Some(2_400_000), None],
        memory: MemorySample { dirty_bytes: Some(12_345_678), writeback_bytes: Some(0), ..MemorySample::default() },
        pressure_io: Some(Pressure { some_us: 50_000_000 + 350_000 * n, full_us: Some(20_000_000 + 300_000 * n) }),
        temperatures: if n.is_multiple_of(2) {
            vec![
                Temperature { name: "cpu-thermal".into(), millidegrees_c: 61_500 },
                Temperature { name: "nvme Composite".into(), millidegrees_c: 48_850 },
            ]
        } else {
            Vec::new()
        },
        interrupts: Some(1_000_000 + 1_434 * n),
        context_switches: None,
        ..SystemSample::default()
    }
}

fn ticks(count: u64) -> Vec<WatchTick> {
    (0..count)
        .map(|n| WatchTick {
            time: format!("2026-11-21T10:53:{:02}.250Z", 35 + n),
            unix_ms: 1_795_258_415_250 + 1_000 * i64::try_from(n).unwrap(),
            since_boot: n == 0,
            suspended_ns: (n > 0).then_some(if n == 2 { 3_600 * NS_PER_S } else { 0 }),
            activity: match n {
                0 => activity_since_boot(&sample(0), 1_000 * NS_PER_S),
                n => activity(&sample(n - 1), &sample(n)),
            },
            sample: sample(n),
        })
        .collect()
}

fn table(style: &Style) -> String {
    let blocks: Vec<String> = ticks(3).iter().map(|t| watch_block(t, &layers(), style)).collect();
    format!("{}\n{}{}", watch_layers_line("/mnt/data", &layers(), style), watch_header(style), blocks.concat())
}

#[test]
fn the_table_in_eighty_columns() {
    insta::assert_snapshot!(table(&Style::default()));
}

#[test]
fn the_table_on_a_wide_terminal() {
    insta::assert_snapshot!(table(&Style { width: 120, ..Style::default() }));
}

#[test]
fn no_line_of_the_table_is_too_wide_and_nothing_acts() {
    let mut hostile = layers();
    hostile[0].name = "dm-0\x1b[2J\n".into();
    hostile[2].title = Some("\x1b]0;title\x07".into());
    for columns in 40..130 {
        let style = Style { width: columns, ascii: columns % 2 == 0, ..Style::default() };
        let text = table(&style);
        for line in text.lines().filter(|l| !l.contains("slept for")) {
            assert!(text::width(line) <= columns.max(52), "{columns}: {line}");
        }
        let block = watch_block(&ticks(2)[1], &hostile, &style) + &watch_layers_line("x", &hostile, &style);
        assert!(!block.contains('\x1b') && !block.contains('\x07'), "{block}");
    }
}

fn csv(flavour: WatchCsv) -> String {
    let origin = CsvOrigin { version: "0.1.0", host: "board", command: "narrows watch", started: "2026-11-21" };
    let totals = ["sda".to_owned()];
    let rows: Vec<String> = ticks(3).iter().map(|t| watch_csv_rows(flavour, t, &layers(), &totals)).collect();
    watch_csv_header(flavour, &layers(), &origin) + &rows.concat()
}

#[test]
fn our_own_columns() {
    insta::assert_snapshot!(csv(WatchCsv::Narrows));
}

/// The names and their order are those that `iostat -x` of sysstat 12 prints (kellyjonbrazil/jc
/// tests/fixtures/ubuntu-20.10/iostat-mx.out, with kB for its -m).
#[test]
fn the_columns_of_iostat() {
    let text = csv(WatchCsv::Iostat);
    let header = text.lines().next().unwrap();
    let cpu = "%user %nice %system %iowait %steal %idle";
    let device = "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz d/s dkB/s \
                  drqm/s %drqm d_await dareq-sz f/s f_await aqu-sz %util";
    assert_eq!(header.replace(',', " "), format!("timestamp {cpu} {device}"));
    insta::assert_snapshot!(text);
}

/// As dstat 0.7.4 prints for `dstat -T -tcdry -D total,sda`, where each disk's columns carry its name.
#[test]
fn the_columns_of_dstat() {
    let text = csv(WatchCsv::Dstat);
    let columns: Vec<usize> = text.lines().skip(5).map(|l| l.split(',').count()).collect();
    assert!(columns.iter().all(|c| *c == columns[0]), "{columns:?}");
    assert_eq!(text.lines().nth(4), Some(""), "readers skip five lines");
    insta::assert_snapshot!(text);
}

#[test]
fn the_full_screen() {
    let title = LiveTitle { target: "/mnt/data", interval: "1 s", path: "dm-0 (vg-root), sda2, sda" };
    let style = Style { width: 100, ..Style::default() };
    let screen = live_screen(&title, &ticks(6), &layers(), &style, 30);
    insta::assert_snapshot!(screen.join("\n"));
}

#[test]
fn the_full_screen_fits_every_window() {
    let title = LiveTitle { target: "/mnt/\x1b[2Jdata", interval: "1 s", path: "" };
    let many: Vec<WatchedLayer> = (0..40).map(|n| layer(&format!("sd{n}"), LayerKind::Disk, None)).collect();
    for (columns, rows) in [(20, 3), (40, 10), (80, 24), (79, 25), (200, 60)] {
        for (ascii, layers) in [(true, layers()), (false, layers()), (false, many.clone())] {
            let style = Style { width: columns, ascii, ..Style::default() };
            let screen = live_screen(&title, &ticks(9), &layers, &style, rows);
            assert!(screen.len() <= rows, "{columns}x{rows}: {}", screen.len());
            for line in &screen {
                assert!(text::width(line) <= columns, "{columns}x{rows}: {line}");
                assert!(!line.contains('\x1b') && (!ascii || line.is_ascii()), "{line}");
            }
        }
    }
    let style = Style::default();
    assert!(live_screen(&title, &[], &layers(), &style, 24).is_empty());
    let few = live_screen(&title, &ticks(2), &many, &style, 12).join("\n");
    assert!(few.contains("more: make the window taller"), "{few}");
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tick {
    schema: String,
    target: Option<String>,
    time: String,
    since_boot: bool,
    interval_s: Option<f64>,
    suspended_s: Option<f64>,
    cpu: Option<Cpu>,
    pressure_io: Option<Share>,
    pressure_cpu: Option<Share>,
    interrupts_per_s: Option<f64>,
    context_switches_per_s: Option<f64>,
    temperatures: Vec<Value>,
    cpu_mhz: Vec<Option<f64>>,
    dirty_bytes: Option<u64>,
    writeback_bytes: Option<u64>,
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_field_names, reason = "the names of the contract")]
struct Cpu {
    user_percent: f64,
    nice_percent: f64,
    system_percent: f64,
    irq_percent: f64,
    iowait_percent: f64,
    steal_percent: f64,
    idle_percent: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Share {
    some_percent: Option<f64>,
    full_percent: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    name: String,
    kind: String,
    state: String,
    reads_per_s: Option<f64>,
    writes_per_s: Option<f64>,
    discards_per_s: Option<f64>,
    flushes_per_s: Option<f64>,
    reads_merged_per_s: Option<f64>,
    writes_merged_per_s: Option<f64>,
    read_bytes_per_s: Option<f64>,
    write_bytes_per_s: Option<f64>,
    discard_bytes_per_s: Option<f64>,
    read_await_ns: Option<f64>,
    write_await_ns: Option<f64>,
    await_ns: Option<f64>,
    flush_await_ns: Option<f64>,
    read_size_bytes: Option<f64>,
    write_size_bytes: Option<f64>,
    queue: Option<f64>,
    in_flight: Option<u64>,
    util_percent: Option<f64>,
}

#[test]
fn a_line_of_json_an_interval_with_the_keys_of_the_contract() {
    let all = ticks(2);
    let lines: Vec<String> =
        all.iter().map(|t| WatchDocument::new(Some("/mnt"), t, &layers()).to_line().unwrap()).collect();
    assert!(lines.iter().all(|l| l.ends_with('\n') && l.trim_end().lines().count() == 1));
    let tick = |n: usize| -> Tick { serde_json::from_str(&lines[n]).unwrap() };
    let (first, second) = (tick(0), tick(1));
    assert_eq!((first.schema.as_str(), first.target.as_deref()), ("narrows/watch/1", Some("/mnt")));
    assert!(first.since_boot && first.interval_s == Some(1_000.0) && first.suspended_s.is_none());
    assert!(!second.since_boot && second.interval_s == Some(1.0) && second.suspended_s == Some(0.0));
    assert_eq!(second.time, "2026-11-21T10:53:36.250Z");
    let cpu = second.cpu.unwrap();
    assert_eq!((cpu.user_percent, cpu.nice_percent, cpu.system_percent, cpu.irq_percent), (10.0, 1.0, 20.0, 3.0));
    assert_eq!((cpu.iowait_percent, cpu.steal_percent, cpu.idle_percent), (25.0, 1.0, 40.0));
    let io = second.pressure_io.unwrap();
    assert_eq!((io.some_percent, io.full_percent), (Some(35.0), Some(30.0)));
    assert!(second.pressure_cpu.is_none() && second.context_switches_per_s.is_none());
    assert_eq!(
        (second.interrupts_per_s, second.dirty_bytes, second.writeback_bytes),
        (Some(1_434.0), Some(12_345_678), Some(0))
    );
    assert_eq!(second.cpu_mhz, [Some(1_800.0), Some(2_400.0), None]);
    assert!(first.temperatures.len() == 2 && second.temperatures.is_empty(), "an old value is not a new one");
    let [dm, _, sda, sdb, sdz] = second.layers.as_slice() else { panic!("{} layers", second.layers.len()) };
    assert_eq!((dm.name.as_str(), dm.kind.as_str(), dm.state.as_str()), ("dm-0", "dm", "watched"));
    assert_eq!((sda.reads_per_s, sda.writes_per_s, sda.flushes_per_s), (Some(120.0), Some(7.0), Some(3.0)));
    assert_eq!((sda.discards_per_s, sda.discard_bytes_per_s), (None, None), "the kernel does not count them");
    assert_eq!((sda.reads_merged_per_s, sda.writes_merged_per_s), (Some(40.0), Some(0.0)));
    assert_eq!((sda.read_bytes_per_s, sda.write_bytes_per_s), (Some(15_728_640.0), Some(7_340_032.0)));
    assert_eq!((sda.read_await_ns, sda.write_await_ns, sda.flush_await_ns), (Some(700_000.0), Some(2e7), Some(4e6)));
    assert_eq!((sda.read_size_bytes, sda.write_size_bytes), (Some(131_072.0), Some(1_048_576.0)));
    assert!(sda.await_ns.is_some_and(|a| (a - 1_763_779.5).abs() < 1.0), "{:?}", sda.await_ns);
    assert_eq!((sda.queue, sda.in_flight, sda.util_percent), (Some(0.224), Some(1), Some(35.0)));
    assert_eq!((sdb.state.as_str(), sdb.reads_per_s, sdb.in_flight), ("first-seen", None, Some(1)));
    assert_eq!((sdz.state.as_str(), sdz.reads_per_s, sdz.in_flight), ("gone", None, None));
}
