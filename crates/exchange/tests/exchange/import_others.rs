//! Outputs of bonnie++, iozone, iostat, dool, dd, hdparm, ioping and sd-card-bench, and plain tables.
//!
//! `foreign/` holds what Debian's programs printed on a machine of this project (bonnie++ 2.00a, iostat 12.6.1, dool 1.3.8,
//! dd of coreutils 9.1, hdparm 9.65, ioping 1.3, sysbench 1.0.20, f3 8.0), and, for programs that are no packages (iozone, sd-card-bench, CrystalDiskMark, KDiskMark, BusyBox's dd) or need a kernel that traces (blkparse), files of
//! their layout with figures of our own.

use exchange::{Imported, ImportedRun, import};

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/exchange/foreign/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn read(name: &str) -> Imported {
    import(name, fixture(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn text(text: &str) -> Imported {
    import("text", text.as_bytes()).unwrap()
}

#[track_caller]
fn assert_value(run: &ImportedRun, id: &str, wanted: f64) {
    let metric = run.metrics().find(|m| m.metric.id == id).unwrap_or_else(|| {
        panic!("no {id} among {:?}", run.metrics().map(|m| &m.metric.id).collect::<Vec<_>>());
    });
    let value = metric.metric.value.unwrap_or_else(|| panic!("{id} is null: {:?}", metric.metric.reasons));
    assert!((value - wanted).abs() <= 1e-9 * wanted.abs(), "{id}: {value}, not {wanted}");
}

#[track_caller]
fn assert_null(run: &ImportedRun, id: &str) {
    let metric = run.metrics().find(|m| m.metric.id == id).unwrap_or_else(|| panic!("no {id}"));
    assert_eq!(metric.metric.value, None, "{id}");
    assert!(!metric.metric.reasons.is_empty(), "{id} is null without a reason");
}

#[track_caller]
fn assert_absent(run: &ImportedRun, id: &str) {
    assert!(run.metrics().all(|m| m.metric.id != id), "{id} was not measured");
}

#[test]
fn bonnie_text_and_its_line_are_one_run() {
    let imported = read("bonnie/2.00a-text-and-line.txt");
    let [run] = imported.runs.as_slice() else { panic!("{} runs", imported.runs.len()) };
    assert_eq!((run.source_format, run.source_version.as_deref(), run.first_line), ("bonnie-csv", Some("2.00a"), 1));
    assert_value(run, "putc.throughput_bytes_per_s", 415.0 * 1024.0);
    assert_value(run, "putc.cpu_percent", 31.0);
    assert_value(run, "putc.latency_ns_max", 189e6);
    assert_null(run, "put-block.throughput_bytes_per_s");
    // The text says 1024, which is the number of files.
    assert_value(run, "seq-create.ops_per_s", 1623.0);
    let unit = |id: &str| run.metrics().find(|m| m.metric.id == id).map(|m| m.metric.unit);
    assert_eq!(unit("seq-create.ops_per_s"), Some(model::Unit::FilesPerS), "files are not I/O operations");
    assert_value(run, "ran-delete.latency_ns_max", 16_024e3);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
}

#[test]
fn bonnie_text_of_version_2_alone_has_no_rates_of_files() {
    let whole = String::from_utf8(fixture("bonnie/2.00a-text-and-line.txt")).unwrap();
    let table: String = whole.lines().filter(|l| !l.starts_with("1.98")).map(|l| format!("> {l}\n")).collect();
    let imported = text(&table);
    let [run] = imported.runs.as_slice() else { panic!("{} runs", imported.runs.len()) };
    assert_value(run, "putc.throughput_bytes_per_s", 415.0 * 1024.0);
    assert_null(run, "seq-create.ops_per_s");
    assert_value(run, "seq-create.latency_ns_max", 20_203e3);
}

#[test]
fn bonnie_lines_with_halves_left_out() {
    let imported = read("bonnie/2.00a-lines.csv");
    assert_eq!(imported.runs.len(), 6);
    assert_absent(&imported.runs[1], "putc.throughput_bytes_per_s");
    assert_value(&imported.runs[1], "seq-create.latency_ns_max", 8_841e3);
    assert_absent(&imported.runs[2], "seq-create.latency_ns_max");
    assert_value(&imported.runs[4], "ran-create.ops_per_s", 640.0);
    assert_absent(&imported.runs[5], "getc.throughput_bytes_per_s");
    assert_value(&imported.runs[5], "put-block.latency_ns_max", 4_086e3);
}

#[test]
fn the_published_lines_of_piix_and_ahci() {
    let [piix, ahci] = [include_str!("studies/piix.bonnie.csv"), include_str!("studies/ahci.bonnie.csv")].map(text);
    assert_value(&piix.runs[0], "seq-create.ops_per_s", 17299.0);
    assert_value(&ahci.runs[0], "seq-create.ops_per_s", 28173.0);
    assert_value(&piix.runs[0], "get-block.latency_ns_max", 137e6);
    assert_value(&ahci.runs[0], "ran-stat.latency_ns_max", 61e3);
    let cpu = ahci.runs[0].metrics().find(|m| m.metric.id == "putc.cpu_percent").unwrap();
    assert_eq!(cpu.metric.better, None);
}

#[test]
fn bonnie_1_03_with_skipped_tests_in_both_forms() {
    let table = "\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
a long name      1G           31164  60 13485  29           32838  36  56.7   0
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16    94  40 +++++ +++ 15510  66   204  86 +++++ +++   906  83
";
    let line =
        "a long name,1G,,,31164,60,13485,29,,,32838,36,56.7,0,16,94,40,+++++,+++,15510,66,204,86,+++++,+++,906,83\n";
    for (input, runs) in
        [(table.to_owned(), 1), (line.to_owned(), 1), (format!("{table}{line}"), 1), (format!("{line}{table}"), 2)]
    {
        let imported = text(&input);
        assert_eq!(imported.runs.len(), runs, "{input}");
        for run in &imported.runs {
            assert_eq!(run.name, "a long name");
            assert_absent(run, "putc.throughput_bytes_per_s");
            assert_value(run, "put-block.throughput_bytes_per_s", 31164.0 * 1024.0);
            assert_absent(run, "getc.cpu_percent");
            assert_value(run, "seeks.ops_per_s", 56.7);
            assert_null(run, "seq-stat.ops_per_s");
            assert_value(run, "ran-delete.ops_per_s", 906.0);
        }
    }
}

#[test]
fn iozone_tests_that_were_skipped() {
    let imported = read("iozone/3.434-skipped-tests.txt");
    let [run] = imported.runs.as_slice() else { panic!("{} runs", imported.runs.len()) };
    assert_value(run, "102400k.1k.random-read.throughput_bytes_per_s", 1574.0 * 1024.0);
    assert_value(run, "102400k.4k.random-write.throughput_bytes_per_s", 132.0 * 1024.0);
    assert_absent(run, "102400k.4k.backward-read.throughput_bytes_per_s");
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let wide = read("iozone/3.508-gap-in-the-middle.txt");
    assert_value(&wide.runs[0], "102400k.4k.random-read.throughput_bytes_per_s", 7704.0 * 1024.0);
    assert_value(&wide.runs[0], "102400k.4k.rewrite.throughput_bytes_per_s", 4200.0 * 1024.0);
    assert_absent(&wide.runs[0], "102400k.4k.read.throughput_bytes_per_s");
    assert_eq!(wide.runs[0].target.as_deref(), Some("/mnt/card/x"));
}

#[test]
fn iozone_table_without_its_command_is_read_by_the_heading() {
    let whole = String::from_utf8(fixture("iozone/3.434-skipped-tests.txt")).unwrap();
    let bare: String = whole.lines().filter(|l| !l.contains("Command line")).map(|l| format!("{l}\n")).collect();
    let run = &text(&bare).runs[0];
    assert_value(run, "102400k.1k.random-write.throughput_bytes_per_s", 99.0 * 1024.0);
    assert_absent(run, "102400k.1k.stride-read.throughput_bytes_per_s");
}

#[test]
fn iozone_operations_and_report() {
    let run = &read("iozone/ops.txt").runs[0];
    assert_value(run, "102400k.4k.random-write.ops_per_s", 33.0);
    assert_value(run, "102400k.4k.random-write.throughput_bytes_per_s", 33.0 * 4096.0);
    let both = read("iozone/table-and-report.txt");
    let [run] = both.runs.as_slice() else { panic!("{} runs", both.runs.len()) };
    assert_eq!(run.metrics().count(), 4);
    assert_value(run, "64k.64k.rewrite.throughput_bytes_per_s", 444.0 * 1024.0);
}

#[test]
fn sd_card_bench_with_its_raw_output() {
    let imported = read("sd-card-bench/report.txt");
    assert_eq!(
        imported.runs.iter().map(|r| r.source_format).collect::<Vec<_>>(),
        ["sd-card-bench", "iozone", "iozone"]
    );
    let report = &imported.runs[0];
    assert_value(report, "boot.elapsed_s", 26.7);
    assert_value(report, "random-write-16k.iops", 2.0);
    assert_value(report, "sequential-read.throughput_bytes_per_s", 43.0 * 1_048_576.0);
    assert_value(report, "install-2.elapsed_s", 470.0);
    assert_eq!(report.metrics().find(|m| m.metric.id == "boot.elapsed_s").unwrap().metric.n, 4);
}

#[test]
fn iostat_in_every_form() {
    let reports = read("iostat/12.6-t.txt");
    assert!(reports.runs[0].groups.iter().map(|g| g.name.as_str()).eq(["report[1]", "report[2]"]));
    assert_eq!(reports.runs[0].environment.hostname.as_deref(), Some("box"));
    let ids = |imported: &Imported| -> std::collections::BTreeSet<String> {
        imported.runs[0].metrics().map(|m| m.metric.id.clone()).filter(|id| !id.contains(".cpu.")).collect()
    };
    let [human, german, json] = ["iostat/12.6-x-h.txt", "iostat/12.6-x-m-german.txt", "iostat/12.6-x.json"].map(read);
    assert_eq!(ids(&human), ids(&json));
    assert_eq!(ids(&german), ids(&json));
    for imported in [&reports, &human, &german, &json] {
        assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
        assert_eq!(imported.runs.len(), 1);
    }
}

#[test]
fn iostat_rows_without_headings_between_are_later_reports() {
    let imported = text(
        "Device: tps kB_read/s kB_wrtn/s kB_read kB_wrtn\nmmcblk1 214.00 10296.19 69.67 132409 896\nmmcblk1 2.00 67.20 0.00 1344 0\n",
    );
    let run = &imported.runs[0];
    assert_value(run, "report[1].mmcblk1.read.throughput_bytes_per_s", 10296.19 * 1024.0);
    assert_value(run, "report[2].mmcblk1.read.bytes", 1344.0 * 1024.0);
}

#[test]
fn iostat_of_long_ago_wraps_long_names() {
    let imported = text(
        "Linux 2.6.18 (old) \t01/02/2008\n\nDevice:            tps   Blk_read/s   Blk_wrtn/s   Blk_read   Blk_wrtn\n/dev/cciss/c0d0p1-and-more\n                  1.00         8.00        16.00        100        200\n",
    );
    assert_value(&imported.runs[0], "report[1]./dev/cciss/c0d0p1-and-more.write.throughput_bytes_per_s", 8192.0);
}

#[test]
fn dool_columns_by_their_groups() {
    let run = &read("dstat/dool-1.3.8.csv").runs[0];
    assert_value(run, "sample[2].dsk/total.read_bytes_per_s", 185_434_112.0);
    assert_value(run, "sample[2].io/total.write_ops_per_s", 21.0);
    assert_value(run, "sample[2].memory-usage.used_bytes", 1_023_422_464.0);
    assert_eq!(run.source_version.as_deref(), Some("dool 1.3.8"));
}

#[test]
fn dd_in_many_languages_and_without_progress() {
    assert_eq!(read("dd/languages.txt").runs.len(), 4);
    let progress = read("dd/progress.txt");
    let [run] = progress.runs.as_slice() else { panic!("{} runs", progress.runs.len()) };
    assert_value(run, "copy.elapsed_s", 4.1207);
    assert!(progress.not_understood.is_empty(), "{:?}", progress.not_understood);
    let busybox = read("dd/busybox.txt");
    assert_value(&busybox.runs[0], "write.throughput_bytes_per_s", 20_971_520.0 / 2.192);
    assert_value(&busybox.runs[1], "read.throughput_bytes_per_s", 20_971_520.0 / 0.609612);
    assert_eq!(busybox.runs[1].target.as_deref(), Some("/data/x"));
}

#[test]
fn hdparm_megabytes_are_powers_of_two() {
    let run = &read("hdparm/9.65.txt").runs[0];
    assert_eq!(run.target.as_deref(), Some("/dev/sda"));
    assert_value(run, "hdparm.cached_read.throughput_bytes_per_s", 4950.70 * 1_048_576.0);
    assert_value(run, "hdparm.buffered_read.throughput_bytes_per_s", 632.64 * 1_048_576.0);
}

#[test]
fn ioping_says_rates_and_latencies_in_units_of_its_own() {
    let imported = read("ioping/1.3-read.txt");
    let run = &imported.runs[0];
    assert_eq!(run.target.as_deref(), Some(". (ext4 /dev/vda 252.0 GiB)"));
    assert_value(run, "ioping.read.iops", 3350.0);
    assert_value(run, "ioping.read.throughput_bytes_per_s", 13.1 * 1_048_576.0);
    assert_value(run, "ioping.read.latency_ns_min", 292.6e3);
    assert_value(run, "ioping.read.latency_ns_mean", 298.7e3);
    assert_value(run, "ioping.read.latency_ns_max", 308.2e3);
    assert_eq!(imported.not_understood.len(), 1, "the raw line of -p: {:?}", imported.not_understood);
    let write = &read("ioping/1.3-write.txt").runs[0];
    assert_value(write, "ioping.write.latency_ns_mean", 3.47e6);
    let rapid = &read("ioping/1.3-rapid.txt").runs[0];
    assert_value(rapid, "ioping.read.iops", 12_900.0);
    assert_value(rapid, "ioping.read.latency_ns_max", 7.92e6);
    // Until 0.8 there was no size among the requests, and one unit for all latencies.
    let old = text(
        "--- /tmp (ext4 /dev/sda1) ioping statistics ---\n5 requests completed in 4000.6 ms, 4380 iops, 17.1 MiB/s\nmin/avg/max/mdev = 0.2/0.3/0.4/0.0 ms\n",
    );
    assert_value(&old.runs[0], "ioping.read.iops", 4380.0);
    assert_value(&old.runs[0], "ioping.read.latency_ns_mean", 0.3e6);
    assert!(old.not_understood.is_empty());
    let cut = text("--- /tmp (ext4 /dev/sda1) ioping statistics ---\n");
    assert!(cut.runs.is_empty() && cut.not_understood[0].why.contains("no rate"), "{cut:?}");
}

#[test]
fn a_table_of_cards() {
    let imported = text(include_str!("studies/sd-cards.csv"));
    assert_eq!(imported.runs.len(), 8);
    let card = &imported.runs[7];
    assert_eq!(card.target.as_deref(), Some("Samsung eMMC 8GB"));
    assert_value(card, "read_iops_1k", 5191.0);
    assert_value(card, "install_1_s", 178.0);
    assert!(card.metrics().all(|m| m.metric.better.is_none()));
    assert_absent(card, "made");
}

#[test]
fn a_table_with_decimal_commas_and_holes() {
    let imported = text("card;rate;time\r\nA;1,5;n/a\r\nB;2,5;3\r\nC;x;4\r\nD;1\r\n");
    assert_eq!(imported.runs.len(), 3);
    assert_value(&imported.runs[0], "rate", 1.5);
    assert_null(&imported.runs[0], "time");
    assert_null(&imported.runs[2], "rate");
    assert_eq!(imported.not_understood.iter().map(|n| n.line).collect::<Vec<_>>(), [4, 5]);
}

#[test]
fn one_number_of_a_table_tells_which_mark_groups_digits() {
    let imported = text("disk;read;iops\nA;123,4;1.000\nB;99,5;12.500\n");
    assert_value(&imported.runs[0], "read", 123.4);
    assert_value(&imported.runs[1], "iops", 12500.0);
    let imported = text("disk,bytes,few\nA,\"12,345,678\",\"1,234\"\nB,\"1,234.5\",7\n");
    assert_value(&imported.runs[0], "bytes", 12_345_678.0);
    assert_value(&imported.runs[0], "few", 1234.0);
    assert_value(&imported.runs[1], "bytes", 1234.5);
    // Nothing tells whether this is one or a thousand.
    assert!(text("disk,x\nA,\"1,234\"\nB,\"5,678\"\n").runs.is_empty());
}

#[test]
fn of_a_table_of_thousands_of_rows_every_so_many_are_kept() {
    let rows = |n: usize| (0..n).map(|i| format!("r{i},{i}\n")).collect::<String>();
    assert_eq!(text(&format!("name,v\n{}", rows(4096))).runs.len(), 4096);
    let imported = text(&format!("name,v\n{}", rows(4097)));
    assert_eq!(imported.runs.len(), 2049);
    assert_value(&imported.runs[1], "v", 2.0);
    let [heading] = imported.not_understood.as_slice() else { panic!("{:?}", imported.not_understood) };
    assert!(heading.line == 1 && heading.why.starts_with("4097 rows of 1 figures"), "{heading:?}");
}

#[test]
fn dool_of_several_devices_names_them_again() {
    let head = "\"dool 1.3.8 CSV output\"\n\"Host:\",\"box\",,,,\"User:\",\"root\"\n";
    let table = "\"dsk/sda\",,\"dsk/total\",,\"dsk/total\",,\"sda\"\n\
                 \"dsk/sda:read\",\"dsk/sda:writ\",\"dsk/total:read\",\"dsk/total:writ\",\"#read\",\"#writ\",\"sda:util\"\n\
                 1024.5,2048,3072,4096,5,6,7.5\n8,-9,10,11,nan,13,14\n";
    let imported = text(&format!("{head}{table}"));
    let [run] = imported.runs.as_slice() else { panic!("{:?}", imported.not_understood) };
    assert_value(run, "sample[1].dsk/sda.read_bytes_per_s", 1024.5);
    assert_value(run, "sample[1].dsk/total.write_bytes_per_s", 4096.0);
    assert_value(run, "sample[1].dsk/total.read_ops_per_s", 5.0);
    assert_value(run, "sample[1].sda.util_percent", 7.5);
    assert_value(run, "sample[2].dsk/total.write_ops_per_s", 13.0);
    assert_absent(run, "sample[2].dsk/sda.write_bytes_per_s");
    let [line] = imported.not_understood.as_slice() else { panic!("{:?}", imported.not_understood) };
    assert_eq!((line.line, line.why.contains("'-9'"), line.why.contains("'nan'")), (6, true, true), "{}", line.why);
}

#[test]
fn iostat_of_processors_alone() {
    let report = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           5,25    0,00    2,50    1,25    0,00   91,00\n\n";
    let imported = text(&format!("Linux 6.1.0 (box) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n{report}{report}"));
    let [run] = imported.runs.as_slice() else { panic!("{:?}", imported.not_understood) };
    assert_value(run, "report[1].cpu.user_percent", 5.25);
    assert_value(run, "report[2].cpu.idle_percent", 91.0);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    // Without its first line it may be of another program.
    assert!(text(report).runs.is_empty());
}

#[test]
fn what_is_not_understood_is_refused_whole() {
    for words in [
        "just,some,words\n",
        "1,2,3\n4,5,6\n",
        "hello\n",
        "a,b\n",
        "Timing cached reads: broken\n",
        "1.98,2.00a,vm,1\n",
    ] {
        let imported = text(words);
        assert!(imported.runs.is_empty(), "{words}: {:?}", imported.runs);
        assert!(!imported.not_understood.is_empty(), "{words}");
    }
}

#[test]
fn crystal_and_kdiskmark_rows_are_tests_with_rate_operations_and_latency() {
    let imported = read("crystaldiskmark/8.0.4.txt");
    let [run] = imported.runs.as_slice() else { panic!("{} runs", imported.runs.len()) };
    assert_eq!((run.source_format, run.source_version.as_deref()), ("crystaldiskmark", Some("8.0.4")));
    assert_value(run, "crystaldiskmark.seq1m-q8t1.read.throughput_bytes_per_s", 3_500_125_000.0);
    assert_value(run, "crystaldiskmark.rnd4k-q32t16.write.iops", 366_271.9);
    assert_value(run, "crystaldiskmark.rnd4k-q1t1.write.latency_ns_mean", 29_100.0);
    assert_value(run, "crystaldiskmark.seq1m-q8t1.mix.throughput_bytes_per_s", 3_100_500_000.0);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let imported = read("crystaldiskmark/6.0.0.txt");
    assert_value(&imported.runs[0], "crystaldiskmark.seq-q32t1.write.throughput_bytes_per_s", 62_250_000.0);
    assert_value(&imported.runs[0], "crystaldiskmark.rnd4k-q8t8.read.iops", 2319.3);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let imported = read("kdiskmark/3.0.0.txt");
    let run = &imported.runs[0];
    assert_eq!((run.source_format, run.source_version.as_deref()), ("kdiskmark", Some("3.0.0")));
    assert_value(run, "kdiskmark.seq1m-q8t1.read.throughput_bytes_per_s", 512e6);
    assert_value(run, "kdiskmark.seq1m-q8t1.write.iops", 469.2);
    // A test that was left out is printed with zeros.
    assert_absent(run, "kdiskmark.seq1m-q1t1.write.throughput_bytes_per_s");
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
}

#[test]
fn sysbench_has_rates_by_direction_and_latencies_of_all() {
    let imported = read("sysbench/1.0.20-rndrw.txt");
    let [run] = imported.runs.as_slice() else { panic!("{} runs", imported.runs.len()) };
    assert_eq!((run.source_format, run.source_version.as_deref()), ("sysbench", Some("1.0.20")));
    assert_eq!(run.duration_ns, Some(3_087_700_000));
    assert_value(run, "fileio-random-r-w.read.iops", 4039.72);
    assert_value(run, "fileio-random-r-w.write.throughput_bytes_per_s", 42.08 * 1_048_576.0);
    assert_value(run, "fileio-random-r-w.latency_ns_max", 89.55e6);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let imported = read("sysbench/1.0.20-seqrd-histogram.txt");
    let run = &imported.runs[0];
    assert_value(run, "fileio-sequential-read.read.iops", 26_500.36);
    assert_absent(run, "fileio-sequential-read.write.iops");
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let nothing = text("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nCreating files for the test...\n");
    assert!(nothing.runs.is_empty() && nothing.not_understood[0].why.contains("sysbench"), "{nothing:?}");
}

#[test]
fn f3_has_a_rate_and_what_was_lost() {
    let imported = read("f3/8.0-write.txt");
    assert_value(&imported.runs[0], "f3.write.throughput_bytes_per_s", 68.15 * 1_048_576.0);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let imported = read("f3/8.0-read.txt");
    let run = &imported.runs[0];
    assert_value(run, "f3.read.throughput_bytes_per_s", 74.63 * 1_048_576.0);
    assert_value(run, "f3.read.ok_bytes", 1_073_741_824.0);
    assert_value(run, "f3.read.lost_bytes", 0.0);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let nothing = text("F3 write 8.0\nCopyright (C) 2010 Digirati Internet LTDA.\n\nNo space!\n");
    assert!(nothing.runs.is_empty() && nothing.not_understood.iter().any(|n| n.why.contains("f3")), "{nothing:?}");
}

#[test]
fn blkparse_totals_are_counts() {
    let imported = read("blkparse/1.3.0-summary.txt");
    let [run] = imported.runs.as_slice() else { panic!("{} runs", imported.runs.len()) };
    assert_eq!((run.source_format, run.target.as_deref()), ("blkparse", Some("sda")));
    assert_value(run, "blkparse.read.completed", 60.0);
    assert_value(run, "blkparse.write.queued", 1_257_000.0);
    assert_value(run, "blkparse.read.completed_bytes", 240.0 * 1024.0);
    assert_value(run, "blkparse.write.completed_bytes", 5_030_000.0 * 1024.0);
    assert_value(run, "blkparse.write.throughput_bytes_per_s", 46_340.0 * 1024.0);
    assert_value(run, "blkparse.write.requeued", 75.0);
}

#[test]
fn a_second_session_of_dool_in_one_file_is_a_run_of_its_own() {
    let session = |host: &str, rows: &str| {
        format!(
            "\"Host:\",\"{host}\",,,,\"User:\",\"u\"\n\"Cmdline:\",\"dool -d\",,,,\"Date:\",\"x\"\n\
             \"dsk/total\",\"\"\n\"read\",\"writ\"\n{rows}"
        )
    };
    let whole = format!(
        "\"dool 1.3.8 CSV output\"\n\"Author:\",\"a\",,,,\"URL:\",\"b\"\n{}\n\n{}",
        session("one", "1000.0,2000.0\n3.0,4.0\n"),
        session("one", "5000.0,6000.0\n7.0,8.0\n9.0,10.0\n")
    );
    let imported = text(&whole);
    assert_eq!(imported.runs.len(), 2, "{imported:?}");
    for (run, samples) in imported.runs.iter().zip([2, 3]) {
        let since_boot: Vec<&str> = run
            .metrics()
            .filter(|m| m.metric.reasons.iter().any(|r| r.is_since_boot()))
            .map(|m| m.metric.id.as_str())
            .collect();
        assert!(!since_boot.is_empty() && since_boot.iter().all(|id| id.starts_with("sample[1].")), "{since_boot:?}");
        assert!(run.metrics().any(|m| m.metric.id.starts_with(&format!("sample[{samples}]."))), "{samples}");
    }
}

#[test]
fn a_bonnie_table_that_is_not_read_leaves_its_line_one_run() {
    let whole = String::from_utf8(fixture("bonnie/2.00a-text-and-line.txt")).unwrap();
    // A figure far wider than its column, in a row where tests were skipped.
    let wide = whole.replace("415k  31 +++++ +++ +++++ +++", "415k  31 123456789012345k 123456");
    assert_ne!(wide, whole);
    let imported = text(&wide);
    assert_eq!(imported.runs.len(), 1, "{:?}", imported.runs);
    assert_value(&imported.runs[0], "seq-create.ops_per_s", 1623.0);
    assert!(!imported.not_understood.is_empty());
}

#[test]
fn a_latency_of_zero_beside_no_io_is_null() {
    let report = "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  %util\n\
                  sda              0.00      0.00     0.00   0.00    0.00     0.00    5.00     20.00     0.00   0.00    1.50     4.00   0.10\n";
    let imported = text(&format!("Linux 6.1.0 (host) \t11/24/2026 \t_x86_64_\t(2 CPU)\n\n{report}"));
    let run = &imported.runs[0];
    let await_of = |side: &str| run.metrics().find(|m| m.metric.id.ends_with(&format!("sda.{side}.await_ns"))).unwrap();
    assert_eq!((await_of("read").metric.value, await_of("write").metric.value), (None, Some(1.5e6)));
    assert!(await_of("read").metric.reasons.iter().any(|r| r.is("no-operations")), "{:?}", await_of("read"));
}

#[test]
fn hdparm_tells_how_much_it_read() {
    let imported = text("\n/dev/sda:\n Timing buffered disk reads:   2 MB in  3.00 seconds = 682.67 kB/sec\n");
    assert_value(&imported.runs[0], "hdparm.buffered_read.bytes", 2.0 * 1_048_576.0);
    assert_value(&imported.runs[0], "hdparm.buffered_read.throughput_bytes_per_s", 682.67 * 1024.0);
}

#[test]
fn what_fio_could_not_verify_is_named_where_there_is_no_result() {
    let document = "crc32c: verify failed at file /x offset 8192, length 4096 (requested block: offset=8192, length=4096, flags=8)\n\
                    {\n \"fio version\" : \"fio-3.33\",\n \"jobs\" : [ { \"jobname\" : \"v\", \"error\" : 84 } ]\n}\n";
    let imported = text(document);
    assert!(imported.runs.is_empty(), "{:?}", imported.runs);
    let why: Vec<&str> = imported.not_understood.iter().map(|n| n.why.as_str()).collect();
    assert!(why.iter().any(|w| w.contains("data did not come back") && w.contains("offset 8192")), "{why:?}");
}
