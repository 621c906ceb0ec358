//! Inputs that failed as real reports and pastes did: `foreign/wild/` (its README names the source), and others of each kind.

use exchange::{Imported, ImportedRun, import};

pub fn wild(name: &str) -> Imported {
    let path = format!("{}/tests/exchange/foreign/wild/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    import(name, bytes).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub fn text(text: &str) -> Imported {
    import("text", text.as_bytes()).unwrap()
}

#[track_caller]
pub fn one(imported: &Imported) -> &ImportedRun {
    let [run] = imported.runs.as_slice() else { panic!("{} runs: {:?}", imported.runs.len(), imported) };
    run
}

#[track_caller]
pub fn assert_value(run: &ImportedRun, id: &str, wanted: f64) {
    let metric = run.metrics().find(|m| m.metric.id == id).unwrap_or_else(|| {
        panic!("no {id} among {:?}", run.metrics().map(|m| &m.metric.id).collect::<Vec<_>>());
    });
    let value = metric.metric.value.unwrap_or_else(|| panic!("{id} is null: {:?}", metric.metric.reasons));
    assert!((value - wanted).abs() <= 1e-9 * wanted.abs(), "{id}: {value}, not {wanted}");
}

fn reasons(run: &ImportedRun, id: &str) -> String {
    let metric = run.metrics().find(|m| m.metric.id == id).unwrap_or_else(|| panic!("no {id}"));
    model::reason::joined(&metric.metric.reasons)
}

#[test]
fn no_result_is_invented() {
    for name in ["df-hT.txt", "miner-log.txt", "volume-table.txt", "sysbench-prepare.txt"] {
        assert_eq!(wild(&format!("invented-results/{name}")).runs, [], "{name}");
    }
    let oltp = wild("sysbench-other/oltp-1.1.txt");
    assert_eq!(oltp.runs, []);
    assert!(oltp.not_understood.iter().any(|n| n.why.contains("none of file I/O")), "{:?}", oltp.not_understood);
    let cpu = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nCPU speed:\n    events per second:  1103.19\n\nThroughput:\n    \
        events/s (eps): 1103.2\n\nLatency (ms):\n         min:    0.90\n         avg:    0.91\n         max:    2.40\n";
    assert_eq!(text(cpu).runs, []);
}

#[test]
fn a_misprinted_rate_of_dd_is_inconsistent() {
    let lines = "10+0 records in\n10+0 records out\n10485760 bytes (10 MB, 10 MiB) copied, 0.5 s, 210 MB/s\n";
    let imported = text(lines);
    assert_eq!(imported.runs, []);
    let why: Vec<&str> = imported.not_understood.iter().map(|n| n.why.as_str()).collect();
    assert!(why.iter().any(|w| w.starts_with("inconsistent: 10485760 bytes in 0.5 s are not 210 MB/s")), "{why:?}");
    assert_value(one(&text(&lines.replace("210 MB/s", "21.0 MB/s"))), "dd.throughput_bytes_per_s", 20_971_520.0);
}

#[test]
fn sysbench_of_before_1_0() {
    let imported = wild("sysbench-other/fileio-0.4-rndrw.txt");
    let run = one(&imported);
    assert_eq!(run.source_version.as_deref(), Some("0.4.12"));
    let test = "fileio-random-r-w";
    for (id, value) in [
        ("throughput_bytes_per_s", 32_768_000.0),
        ("read.iops", 1200.0),
        ("write.iops", 800.0),
        ("latency_ns_mean", 420_000.0),
        ("latency_ns_p95", 1_200_000.0),
    ] {
        assert_value(run, &format!("{test}.{id}"), value);
    }
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    // What does not agree with itself is none.
    let path =
        format!("{}/tests/exchange/foreign/wild/sysbench-other/fileio-0.4-rndrw.txt", env!("CARGO_MANIFEST_DIR"));
    let whole = std::fs::read_to_string(path).unwrap();
    assert_eq!(text(&whole.replace("31.25Mb/sec", "41.25Mb/sec")).runs, []);
    assert_eq!(text(&whole.replace("= 11600 Total", "= 11000 Total")).runs, []);
    let cut: String = whole.lines().take(21).map(|l| format!("{l}\n")).collect();
    assert!(cut.ends_with("executed\n"), "{cut}");
    assert_value(one(&text(&cut)), "fileio-random-r-w.write.iops", 800.0);
    let bare: String = whole.lines().skip(1).map(|l| format!("  {l}\n")).collect();
    assert_value(one(&text(&bare)), "fileio.read.iops", 1200.0);
}

#[test]
fn sysbench_1_1_has_rates_on_one_line() {
    let run = text(
        "sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)\n\nDoing sequential read test\n\nThroughput:\n         \
         read:  IOPS=2500.00 39.06 MiB/s (40.96 MB/s)\n         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n         \
         fsync: IOPS=0.00\n\nLatency (ms):\n         avg:                 0.40\n",
    );
    let run = one(&run);
    assert_value(run, "fileio-sequential-read.read.iops", 2500.0);
    assert_value(run, "fileio-sequential-read.read.throughput_bytes_per_s", 39.06 * 1_048_576.0);
    assert_value(run, "fileio-sequential-read.latency_ns_mean", 400_000.0);
    assert!(run.metrics().all(|m| !m.metric.id.contains("write")));
}

#[test]
fn f3_as_people_paste_it() {
    for name in ["read-without-title.txt", "read-old-capital.txt"] {
        let imported = wild(&format!("f3-paste/{name}"));
        let run = one(&imported);
        assert_value(run, "f3.read.ok_bytes", 1_283_457_024.0);
        assert_value(run, "f3.read.lost_bytes", 864_026_624.0);
        assert_value(run, "f3.read.corrupted_bytes", 864_026_624.0);
        assert_value(run, "f3.read.throughput_bytes_per_s", 13_107_200.0);
        assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    }
    assert_value(one(&wild("f3-paste/write-indented.txt")), "f3.write.throughput_bytes_per_s", 5_505_024.0);
    assert_value(one(&text("> Average writing speed: 5.25 MB/s\n")), "f3.write.throughput_bytes_per_s", 5_505_024.0);
    let two =
        text("Average writing speed: 5.25 MB/s\nAverage reading speed: 12.50 MB/s\nAverage writing speed: 6.00 MB/s\n");
    let ids: Vec<&str> = two.runs.iter().flat_map(|r| r.metrics()).map(|m| m.metric.id.as_str()).collect();
    assert_eq!((two.runs.len(), ids.len(), ids[1]), (3, 3, "f3.read.throughput_bytes_per_s"));
    assert_eq!(text("Average reading speed: 250 words a minute\nCreating file a.txt ... done\n").runs, []);
}

#[test]
fn fio_lines_without_their_job() {
    let imported = wild("partial-paste/fio3-no-job-line.txt");
    let run = one(&imported);
    assert_value(run, "job1.read.iops", 812.0);
    assert_value(run, "job1.read.throughput_bytes_per_s", 106e6);
    assert_value(run, "job1.read.latency_ns_mean", 1_228_520.0);
    assert_eq!(run.name, "Sequential, cold:");
    let several = "cold\n  read: IOPS=812, BW=102MiB/s (106MB/s)(1015MiB/10001msec)\n  write: IOPS=812, BW=102MiB/s \
        (106MB/s)(1015MiB/10001msec)\nwarm\n  read : io=3072KB, bw=1024.0KB/s, iops=256, runt=  3000msec\n   READ: bw=102MiB/s \
        (106MB/s), 102MiB/s-102MiB/s (106MB/s-106MB/s), io=1015MiB (1064MB), run=10001-10001msec";
    let several = text(several);
    assert_eq!(several.runs.len(), 2, "{several:?}");
    assert_value(&several.runs[0], "job1.write.iops", 812.0);
    assert_value(&several.runs[1], "job1.read.throughput_bytes_per_s", 1_048_576.0);
    let parted = text(
        "one disk\n  read: IOPS=812, BW=102MiB/s (106MB/s)(1015MiB/10001msec)\n    clat (usec): min=310, max=22140, avg=1228.11, \
         stdev=410.03\n\nand on the other disk\n  write: IOPS=812, BW=102MiB/s (106MB/s)(1015MiB/10001msec)\n",
    );
    let names: Vec<&str> = parted.runs.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["one disk", "and on the other disk"]);
    let group = text(
        "  WRITE: bw=10.4MiB/s (10.9MB/s), 10.4MiB/s-10.4MiB/s (10.9MB/s-10.9MB/s), io=2112KiB (2163kB), run=199-200msec\n",
    );
    assert_value(one(&group), "group0.write.throughput_bytes_per_s", 10.9e6);
}

#[test]
fn crystaldiskmark_without_a_title_and_of_two_drives() {
    let imported = wild("partial-paste/cdm6-no-title.txt");
    let run = one(&imported);
    assert_value(run, "crystaldiskmark.seq-q32t1.read.throughput_bytes_per_s", 201_500_000.0);
    assert_value(run, "crystaldiskmark.seq-q32t1.write.throughput_bytes_per_s", 150_250_000.0);
    assert_value(run, "crystaldiskmark.rnd4k-q1t1.read.iops", 2929.7);
    assert_value(run, "crystaldiskmark.rnd4k-q1t1.write.throughput_bytes_per_s", 20_480_000.0);
    let two = wild("merged-runs/cdm-two-drives.txt");
    assert_eq!(two.runs.len(), 2);
    for (run, read, write) in [(&two.runs[0], 500e6, 400e6), (&two.runs[1], 100e6, 90e6)] {
        assert_value(run, "crystaldiskmark.seq-q32t1.read.throughput_bytes_per_s", read);
        assert_value(run, "crystaldiskmark.seq-q32t1.write.throughput_bytes_per_s", write);
    }
    let row = "   Sequential Read (Q= 32,T= 1) :   201.500 MB/s\n";
    assert_eq!(text(&format!("{row}other drive\n{row}")).runs.len(), 2);
    let eight = text(
        "[Read]\n  SEQ    1MiB (Q=  8, T= 1):  3500.125 MB/s [   3338.0 IOPS] <  2394.66 us>\n\n[Write]\n  SEQ    1MiB (Q=  8, T= 1):  3000.500 MB/s [   2861.5 IOPS] <  2790.12 us>\n",
    );
    assert_value(one(&eight), "crystaldiskmark.seq1m-q8t1.write.throughput_bytes_per_s", 3_000_500_000.0);
    let three = text(
        "           Sequential Read :   469.102 MB/s\n    Random Read 4KB (QD=1) :    28.302 MB/s [  6909.6 IOPS]\n",
    );
    assert_value(one(&three), "crystaldiskmark.rnd4k-q1.read.iops", 6909.6);
    assert_eq!(text("Ratio (read): 12 MB/s\n[Write] your name: 100 MB/s\nRoom (Q=1): 5 MB/s\n").runs, []);
}

#[test]
fn tables_of_bonnie_before_all_of_their_lines() {
    let imported = wild("merged-runs/bonnie-two-at-once.txt");
    assert_eq!(imported.runs.len(), 2, "{imported:?}");
    for (run, rate) in imported.runs.iter().zip([101_000.0, 102_000.0]) {
        assert_eq!(run.source_format, "bonnie-csv");
        assert_value(run, "put-block.throughput_bytes_per_s", rate * 1024.0);
    }
    assert_eq!((imported.runs[0].first_line, imported.runs[1].first_line), (1, 6));
}

#[test]
fn iostat_in_gigabytes_and_with_an_impossible_share() {
    let imported = wild("unsupported-format/iostat-gigabytes.txt");
    let run = one(&imported);
    assert_value(run, "report[1].nvme0n1.tps_ops_per_s", 8000.0);
    assert_value(run, "report[1].nvme0n1.read.throughput_bytes_per_s", 1_610_612_736.0);
    assert_value(run, "report[1].nvme0n1.write.throughput_bytes_per_s", 268_435_456.0);
    let imported = wild("impossible-values/iostat-util.txt");
    let run = one(&imported);
    let util = run.metrics().find(|m| m.metric.id == "report[1].sda.util_percent").unwrap();
    assert_eq!((util.metric.value, util.metric.rejected_value), (None, Some(1840.0)));
    assert!(reasons(run, "report[1].sda.util_percent").contains("above 100 %"));
    assert_value(run, "report[1].sda.read.iops", 4.0);
}

#[test]
fn a_rate_of_dd_that_the_page_cache_may_have_made_says_so() {
    let imported = wild("cache-unsaid/dd-write-no-sync.txt");
    let run = one(&imported);
    assert_value(run, "write.throughput_bytes_per_s", 2_097_152_000.0);
    assert!(run.remarks.iter().any(|r| r.contains("nothing was synced")), "{:?}", run.remarks);
    assert!(reasons(run, "write.throughput_bytes_per_s").contains("page-cache"));
    let both = text(
        "# dd if=/dev/zero of=/srv/f bs=1M count=64 conv=fdatasync\n64+0 records in\n64+0 records out\n67108864 bytes (67 MB, 64 MiB) \
         copied, 0.5 s, 134 MB/s\n# dd if=/srv/f of=/dev/null bs=1M\n64+0 records in\n64+0 records out\n67108864 bytes (67 MB, 64 MiB) \
         copied, 0.0320000 s, 2.1 GB/s\n",
    );
    assert_eq!(both.runs.len(), 2, "{both:?}");
    assert!(
        both.runs[1].remarks.iter().any(|r| r.starts_with("/srv/f was written or read")),
        "{:?}",
        both.runs[1].remarks
    );
    assert!(!both.runs[0].remarks.iter().any(|r| r.contains("page")), "{:?}", both.runs[0].remarks);
    assert!(reasons(&both.runs[1], "read.throughput_bytes_per_s").contains("just before"));
}

#[test]
fn a_rate_above_the_link_that_is_named_is_doubted() {
    let paste = |link: &str| {
        text(&format!(
            "{link}:\n   Sequential Read (Q= 32,T= 1) :   480.000 MB/s\n  Sequential Write (Q= 32,T= 1) :   30.000 MB/s\n"
        ))
    };
    let imported = paste("Old stick on USB 2.0");
    let run = one(&imported);
    assert!(reasons(run, "crystaldiskmark.seq-q32t1.read.throughput_bytes_per_s").contains("above-link: USB 2.0"));
    assert_eq!(reasons(run, "crystaldiskmark.seq-q32t1.write.throughput_bytes_per_s"), "");
    assert!(run.remarks.iter().any(|r| r.contains("USB 2.0")), "{:?}", run.remarks);
    for other in ["SATA III", "USB 2.0 case, USB 3.0 disk", "nothing said"] {
        assert_eq!(reasons(one(&paste(other)), "crystaldiskmark.seq-q32t1.read.throughput_bytes_per_s"), "", "{other}");
    }
}

#[test]
fn ioping_of_before_0_8() {
    let imported = text(
        "--- /dev/sda (device 111.8 Gb) ioping statistics ---\n10 requests completed in 9010.7 ms, 1164 iops, 4.5 mb/s\n\
         min/avg/max/mdev = 0.6/0.9/1.1/0.1 ms\n",
    );
    let run = one(&imported);
    assert_value(run, "ioping.read.throughput_bytes_per_s", 4.5 * 1_048_576.0);
    assert_value(run, "ioping.read.latency_ns_mean", 900_000.0);
}

#[test]
fn lines_that_are_code_of_a_page_are_read() {
    let page = "Twice on the same pool:\n\n`me@nas:~$ dd if=/dev/zero of=/pool/t bs=1M count=2000`  \n`2000+0 records in`  \n\
        `2000+0 records out`  \n`2097152000 bytes (2.1 GB, 2.0 GiB) copied, 8 s, 262 MB/s`\n";
    let imported = text(page);
    let run = one(&imported);
    assert_value(run, "write.throughput_bytes_per_s", 262_144_000.0);
    assert_eq!(run.target.as_deref(), Some("/pool/t"));
    // Code within a sentence is no line of a tool.
    assert_eq!(text("it said `2097152000 bytes (2.1 GB, 2.0 GiB) copied, 8 s, 262 MB/s` and `done`\n").runs, []);
}

#[test]
fn a_bonnie_run_in_comments_is_one_run() {
    let table = "Version  1.03       ------Sequential Output------ --Sequential Input- --Random-\n                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n\
        Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\nbuild-host-1 16000M 51200  90 80000   9 30000   4 50000  70 90000   8 210.5   1\n\
        build-host-17,16000M,51200,90,80000,9,30000,4,50000,70,90000,8,210.5,1,,,,,,,,,,,,,\n";
    let commented: String = table.lines().map(|line| format!("#{line}\n")).collect();
    for text_of_it in [table, &commented] {
        let imported = text(text_of_it);
        let run = one(&imported);
        assert_eq!((run.name.as_str(), run.source_format), ("build-host-17", "bonnie-csv"));
        assert_value(run, "put-block.throughput_bytes_per_s", 80_000.0 * 1024.0);
    }
}

#[test]
fn lines_of_dd_that_a_mail_has_broken_are_joined() {
    let mail = "I tried it again:\n\n$ sudo dd if=/dev/zero of=/mnt/backup/some/where/testfile bs=1M\n> count=500 \\\n   oflag=direct\n\
        500+0 records in\n500+0 records out\n524288000 bytes (524 MB, 500 MiB) copied, 4.19430 s,\n125 MB/s\n\nand then\n\
        500+0 records in\n500+0 records out\n524288000 bytes (524 MB,\n500 MiB) copied, 2.09715 s, 250 MB/s\n";
    let imported = text(mail);
    let [first, second] = imported.runs.as_slice() else { panic!("{imported:?}") };
    assert_eq!(first.target.as_deref(), Some("/mnt/backup/some/where/testfile"));
    assert_value(first, "write.throughput_bytes_per_s", 524_288_000.0 / 4.1943);
    assert!(!reasons(first, "write.throughput_bytes_per_s").contains("page-cache"), "direct is said in a later line");
    assert_value(second, "dd.throughput_bytes_per_s", 524_288_000.0 / 2.09715);
    // A broken line that does not agree is not a result, and a sentence is none of its ends.
    let misprinted = text(&mail.replace("125 MB/s", "12.5 MB/s"));
    assert_eq!(misprinted.runs.len(), 1);
    assert!(misprinted.not_understood.iter().any(|n| n.why.starts_with("inconsistent")), "{misprinted:?}");
    assert_eq!(
        text("524288000 bytes (524 MB, 500 MiB) copied, 4.19430 s,\n125 MB/s\n").runs,
        [],
        "neither records nor a command"
    );
}

/// A text as sbc-bench writes it: of storage it has iostat's averages before and after, and the devices as facts.
#[test]
fn of_sbc_bench_the_averages_since_boot_are_read_and_nothing_else() {
    let iostat = |tps: &str, read: &str, written: &str| {
        format!(
            "Linux 6.9.1 (board) \t03/04/25 \t_aarch64_\t(4 CPU)\n\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           \
             2.50    0.00    1.50    0.25    0.00   95.75\n\nDevice             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    \
             kB_wrtn    kB_dscd\nmmcblk1          {tps}       {read}       {written}         0.00     123456      65432          0\n\n               \
             total        used        free      shared  buff/cache   available\nMem:           3.7Gi       301Mi       3.1Gi       \
             5.0Mi       402Mi       3.4Gi\nSwap:          1.8Gi          0B       1.8Gi\n"
        )
    };
    let text_of_it = format!(
        "sbc-bench v0.9.72 Example Board (Tue, 04 Mar 2025 10:11:12 +0000)\n\n{}\n##########################################################\n\n\
         Checking cpufreq OPP:\n\nCpufreq OPP: 1800    Measured: 1795 (1796.1/1795.7/1795.2)\n\n memcpy performance                                   :   \
         2890.1 MB/s (3, 0.4%)\n C copy backwards                                     :   1511.9 MB/s (0.2%)\n libc memset copy                          \
         :   6220.0 MB/s\naes-128-cbc     175871.35k   514271.21k   892011.05k  1098212.01k  1172400.81k  1178260.82k\nTotal:        6120 MIPS\n\n\
         10:20:01: 1800MHz  4.00 100%   0%  99%   0%   0%   0%  61.0°C\n\n{}\n### PCIe and storage devices:\n\n  * 119.3GB \"EXAMPLE SD128\" UHS \
         SDR104 SD card as /dev/mmcblk1: date 01/2024, man/oem ID: 0x000003/0x5344\n  * 931.5GB \"Example 1TB\" SSD as /dev/nvme0: Speed 8GT/s, \
         Width x2, 1% worn out, drive temp: 41°C\n",
        iostat("3.20", "88.50", "47.25"),
        iostat("1.10", "30.75", "19.50"),
    );
    let imported = text(&text_of_it);
    let [before, after] = imported.runs.as_slice() else { panic!("{imported:?}") };
    for (run, tps, read, written) in [(before, 3.2, 88.5, 47.25), (after, 1.1, 30.75, 19.5)] {
        assert_eq!((run.source_format, run.name.as_str()), ("iostat", "board"));
        assert_value(run, "report[1].mmcblk1.tps_ops_per_s", tps);
        assert_value(run, "report[1].mmcblk1.read.throughput_bytes_per_s", read * 1024.0);
        assert_value(run, "report[1].mmcblk1.write.throughput_bytes_per_s", written * 1024.0);
        assert!(reasons(run, "report[1].mmcblk1.tps_ops_per_s").contains("since boot"));
    }
}
