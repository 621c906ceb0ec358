//! Outputs of elbencho, yabs, kbench, dbench, kubestr, H2testw, PiBenchmarks, ior, mdtest and pg_test_fsync: files of their layout (as their
//! sources and public reports have it) with figures of our own.

use super::import_wild::{assert_value, one, text, wild};

const MIB: f64 = 1_048_576.0;

#[test]
fn elbencho_as_text() {
    let imported = wild("unsupported-format/elbencho.txt");
    let run = one(&imported);
    assert_eq!(
        (run.source_format, run.target.as_deref(), run.duration_ns),
        ("elbencho", Some("/srv/t/f1"), Some(8_192_000_000))
    );
    assert_value(run, "read.throughput_bytes_per_s", 524_288_000.0);
    assert_value(run, "read.iops", 500.0);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let table = "\
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
MKDIRS      Elapsed time     :        10ms        20ms
            Dirs/s           :        1000         900
            Dirs total       :          10          18
---
WRITE       Elapsed time     :    1m4.000s    1m8.000s
            Files/s          :          50          40
            IOPS             :         150         100
            Throughput MiB/s :         150         100
            Total MiB        :        6400        6800
            IO latency       : [ min=12us avg=1.50ms max=2.00s ]
---
RWMIX70     Elapsed time     :      1.000s      2.000s
            IOPS write       :         310         300
            IOPS read        :         710         700
            IOPS total       :        1020        1000
            MiB/s write      :          11          10
            MiB/s read       :          31          30
            MiB/s total      :          42          40
---
";
    let run = text(table);
    let run = one(&run);
    assert_value(run, "mkdirs.files_per_s", 900.0);
    assert_value(run, "write.throughput_bytes_per_s", 100.0 * MIB);
    assert_value(run, "write.latency_ns_mean", 1.5e6);
    assert_value(run, "write.latency_ns_max", 2e9);
    assert_value(run, "rwmix70.read.iops", 700.0);
    assert_value(run, "rwmix70.write.throughput_bytes_per_s", 10.0 * MIB);
    // A rate that its bytes and its time contradict is none.
    assert!(text(&table.replace("6800", "9800")).runs[0].metrics().all(|m| !m.metric.id.starts_with("write.")));
}

#[test]
fn elbencho_as_records() {
    let csv = "ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,direct IO,random,operation,time ms [first],\
        time ms [last],entries/s [first],entries/s [last],IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],CPU% [first],CPU% [last],\
        IO lat us [min],IO lat us [avg],IO lat us [max],rwmix read IOPS [last],rwmix read MiB/s [last],version,command\n\
        2024-05-01T10:00:00+0000,a,file,1,1,4,,,1073741824,4096,1,1,READ,1000,2000,,,9000,8000,35,31,5,6,80,120,900,,,3.0-1,\"elbencho\" \"-r\" \"--direct\" \"/x/f\"\n";
    let imported = text(csv);
    let run = one(&imported);
    assert_eq!((run.source_version.as_deref(), run.target.as_deref()), (Some("3.0-1"), Some("/x/f")));
    assert_value(run, "read.iops", 8000.0);
    assert_value(run, "read.throughput_bytes_per_s", 31.0 * MIB);
    assert_value(run, "read.latency_ns_mean", 120e3);
    let json = r#"{"phase_type":"READ","phase_id":"1","config":{"threads":"4","block_size":"4096","version":"3.0-1","command":"\"elbencho\" \"-r\" \"\/x\/f\" "},"first_done":{"elapsed_time_ms":"900","iops":"9"},"last_done":{"elapsed_time_ms":"1000","iops":"8000","bytes\/s":"32768000","latency":{"IO":{"min_us":"80","avg_us":"120","max_us":"900"}}}}
{"phase_type":"WRITE","last_done":{"elapsed_time_ms":"1000","iops":"7"}}
"#;
    let imported = text(json);
    assert_eq!(imported.runs.len(), 2, "{imported:?}");
    assert_value(&imported.runs[0], "read.throughput_bytes_per_s", 32_768_000.0);
    assert_value(&imported.runs[0], "read.latency_ns_max", 900e3);
    assert!(imported.runs[0].remarks.iter().any(|r| r.contains("without --direct")));
    assert_value(&imported.runs[1], "write.iops", 7.0);
}

#[test]
fn kbench_has_three_tables() {
    let imported = wild("unsupported-format/kbench.txt");
    let run = one(&imported);
    assert_eq!(run.target.as_deref(), Some("vol_a"));
    for (id, value) in [
        ("random.read.iops", 10_240.0),
        ("random.write.iops", 5120.0),
        ("sequential.read.iops", 20_480.0),
        ("sequential.write.iops", 8192.0),
        ("random.read.throughput_bytes_per_s", 104_857_600.0),
        ("random.write.throughput_bytes_per_s", 52_428_800.0),
        ("random.read.latency_ns_mean", 250_000.0),
        ("random.write.latency_ns_mean", 410_000.0),
    ] {
        assert_value(run, id, value);
    }
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let table =
        "# IOPS (Read/Write)\n#         Random:             76,440 / 612\n#     Sequential:             76,442 / 610\n";
    assert_eq!(text(&format!("{table}\n{table}")).runs.len(), 2);
    assert_eq!(text("IOPS (Read/Write)\nRandom: none / many\n").runs, []);
}

#[test]
fn dbench_and_kubestr() {
    let summary = "==================\n= Dbench Summary =\n==================\nRandom Read/Write IOPS: 75.7k/59.7k. BW: 523MiB/s / 500MiB/s\n\
        Average Latency (usec) Read/Write: 183.07/76.91\nSequential Read/Write: 536MiB/s / 512MiB/s\nMixed Random Read/Write IOPS: 43.1k/14.4k\n";
    let imported = text(summary);
    let run = one(&imported);
    assert_value(run, "random.read.iops", 75_700.0);
    assert_value(run, "random.write.throughput_bytes_per_s", 500.0 * MIB);
    assert_value(run, "random.write.latency_ns_mean", 76_910.0);
    assert_value(run, "sequential.read.throughput_bytes_per_s", 536.0 * MIB);
    assert_value(run, "mixed.write.iops", 14_400.0);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let kubestr = "FIO test results:\n  \nFIO version - fio-3.36\nGlobal options - ioengine=libaio verify=0 direct=1 gtod_reduce=1\n\n\
        JobName: read_iops\n  blocksize=4K filesize=2G iodepth=64 rw=randread\nread:\n  IOPS=4516.090332 BW(KiB/s)=18081\n  \
        iops: min=3948 max=5351 avg=4545.344727\n  bw(KiB/s): min=15792 max=21405 avg=18182.035156\n\nJobName: write_iops\n  \
        blocksize=4K filesize=2G iodepth=64 rw=randwrite\nwrite:\n  IOPS=1384.712402 BW(KiB/s)=5555\n";
    let imported = text(kubestr);
    let run = one(&imported);
    assert_eq!(run.source_version.as_deref(), Some("fio-3.36"));
    assert_value(run, "read_iops.read.iops", 4516.090332);
    assert_value(run, "write_iops.write.throughput_bytes_per_s", 5555.0 * 1024.0);
}

#[test]
fn h2testw_in_both_languages() {
    let good = "Warning: Only 29920 of 29921 MByte tested.\nTest finished without errors.\nYou can now delete the test files *.h2w or verify \
        them again.\nWriting speed: 10.1 MByte/s\nReading speed: 18.5 MByte/s\nH2testw v1.4\n";
    let imported = text(good);
    let run = one(&imported);
    assert_value(run, "h2testw.write.throughput_bytes_per_s", 10.1 * MIB);
    assert_value(run, "h2testw.read.throughput_bytes_per_s", 18.5 * MIB);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let bad = "The media is likely to be defective.\n3.7 GByte OK (7759462 sectors)\n26.2 GByte DATA LOST (54945382 sectors)\n\
        Details:26.0 GByte overwritten (54525952 sectors)\n0 KByte slightly changed (< 8 bit/sector, 0 sectors)\n\
        Writing speed: 6.21 MByte/s\nReading speed: 12.3 MByte/s\nH2testw v1.4\n";
    let two = text(&format!("{good}\n{bad}"));
    assert_eq!(two.runs.len(), 2, "{two:?}");
    assert_value(&two.runs[1], "h2testw.read.lost_bytes", 54_945_382.0 * 512.0);
    assert_value(&two.runs[1], "h2testw.read.changed_bytes", 0.0);
    assert_value(&two.runs[1], "h2testw.read.throughput_bytes_per_s", 12.3 * MIB);
    let german = text("Test fehlerfrei beendet.\nSchreibrate: 6,21 MByte/s\nLeserate: 12,3 MByte/s\nH2testw v1.4\n");
    assert_value(one(&german), "h2testw.write.throughput_bytes_per_s", 6.21 * MIB);
    assert_eq!(text("Writing speed: 250 words/min\nWriting speed: 28.2 MB/s\n").runs, []);
}

#[test]
fn pi_benchmarks_say_kb_and_mean_kib() {
    let table = "     Category                  Test                      Result     \n\
        ---------------------------------------------------------------------------\n\
        HDParm                    Disk Read                 40.97 MB/s               \n\
        DD                        Disk Write                17.4 MB/s                \n\
        FIO                       4k random read            2807 IOPS (11228 KB/s)   \n\
        IOZone                    4k random write           3287 KB/s                \n\n       Score: 1000\n";
    let imported = text(table);
    let run = one(&imported);
    assert_value(run, "pibenchmarks.hdparm.disk-read.throughput_bytes_per_s", 40.97 * MIB);
    assert_value(run, "pibenchmarks.dd.disk-write.throughput_bytes_per_s", 17.4e6);
    assert_value(run, "pibenchmarks.fio.4k-random-read.iops", 2807.0);
    assert_value(run, "pibenchmarks.fio.4k-random-read.throughput_bytes_per_s", 11_228.0 * 1024.0);
    assert_value(run, "pibenchmarks.iozone.4k-random-write.throughput_bytes_per_s", 3287.0 * 1024.0);
    assert_eq!(text("Category  Test  Result\nFood  apples  5\n").runs, []);
}

#[test]
fn yabs_as_text_and_as_json() {
    let table = "fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vda3):\n---------------------------------\n\
        Block Size | 4k            (IOPS) | 64k           (IOPS)\n  ------   | ---            ----  | ----           ----\n\
        Read       | 388.78 MB/s  (97.1k) | 1.23 GB/s    (19.2k)\nWrite      | 389.81 MB/s  (97.4k) | 1.23 GB/s    (19.3k)\n\
        Total      | 778.59 MB/s (194.6k) | 2.46 GB/s    (38.5k)\n           |                      |\n\
        Block Size | 512k          (IOPS) | 1m            (IOPS)\n  ------   | ---            ----  | ----           ----\n\
        Read       | 409.39 MB/s    (799) | 518.80 MB/s    (506)\nWrite      | 431.14 MB/s    (842) | 553.35 MB/s    (540)\n";
    let imported = text(table);
    let run = one(&imported);
    assert_eq!(run.target.as_deref(), Some("/dev/vda3"));
    assert_value(run, "mixed-4k.read.iops", 97_100.0);
    assert_value(run, "mixed-4k.read.throughput_bytes_per_s", 388.78 * 1024e3);
    assert_value(run, "mixed-1m.write.iops", 540.0);
    assert!(imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    assert!(text(&table.replace("(97.1k)", "(12)")).runs[0].metrics().all(|m| m.metric.id != "mixed-4k.read.iops"));
    let json = "{\n\t\"version\": \"v2022-08-17\",\n\t\"os\": {\"kernel\": \"5.4.0\"},\n\t\"fio\": [{\"bs\": \"4k\", \"speed_r\": 165590, \"iops_r\": 41397, \
        \"speed_w\": 166027, \"iops_w\": 41506, \"speed_rw\": 331617, \"iops_rw\": 82903}]\n}\n";
    let imported = text(json);
    let run = one(&imported);
    assert_value(run, "mixed-4k.write.iops", 41_506.0);
    assert_value(run, "mixed-4k.read.throughput_bytes_per_s", 165_590.0 * 1024.0);
    assert_eq!(run.environment.kernel.as_deref(), Some("5.4.0"));
}

#[test]
fn ior_and_mdtest() {
    let ior = "IOR-3.4.0+dev: MPI Coordinated Test of Parallel I/O\nOptions:\napi                 : POSIX\ntest filename       : /mnt/t/f\n\
        Results:\n\naccess    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n\
        ------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----\n\
        write     1499.68    59.99      0.480781    25600      25600      0.300237   0.500064   0.483573   0.500107   0\n\
        Max Write: 1499.68 MiB/sec (1572.53 MB/sec)\nFinished            : x\n";
    let imported = text(ior);
    let run = one(&imported);
    assert_eq!(run.target.as_deref(), Some("/mnt/t/f"));
    assert_value(run, "write[0].throughput_bytes_per_s", 1499.68 * MIB);
    assert_value(run, "write[0].iops", 59.99);
    assert_value(run, "max-write.throughput_bytes_per_s", 1499.68 * MIB);
    assert_eq!(text("Max Write: 1499.68 MiB/sec (9.53 MB/sec)\n").runs, []);
    let mdtest = "mdtest-3.4.0+dev was launched with 10 total task(s) on 3 node(s)\nCommand line used: mdtest '-a' 'POSIX'\n10 tasks, 33340 files\n\n\
        SUMMARY rate: (of 1 iterations)\n   Operation                      Max            Min           Mean        Std Dev\n   \
        ---------                      ---            ---           ----        -------\n   File creation             :       2943.697       \
        2943.674       2943.686          0.006\n   File stat                 :          0.000          0.000          0.000          0.000\n   \
        Tree creation                 496.015        496.015        496.015          0.000\n-- finished at 04/29/2021 23:28:22 --\n";
    let imported = text(mdtest);
    let run = one(&imported);
    assert_eq!((run.source_version.as_deref(), run.first_line), (Some("mdtest-3.4.0+dev"), 1));
    assert_value(run, "file-creation.files_per_s", 2943.686);
    assert_value(run, "tree-creation.files_per_s", 496.015);
    assert!(run.metrics().all(|m| !m.metric.id.starts_with("file-stat")));
}

#[test]
fn mdtest_tells_rates_and_times_apart() {
    let table = |heading: &str, rows: &str| {
        format!(
            "{heading}: (of 2 iterations)\n   Operation        Max        Min       Mean    Std Dev\n   ---------        ---        ---       ----    -------\n{rows}"
        )
    };
    let rates = "   File creation     812.500    790.250    801.375     11.125\n   File removal        0.000      0.000      0.000      0.000\n";
    let times = "   File creation      12.654     12.308     12.481      0.173\n";
    for (rate, time) in [("SUMMARY rate", "SUMMARY time"), ("SUMMARY rate (in ops/sec)", "SUMMARY time (in ops/sec)")] {
        let both = format!("{}\n{}-- finished at 01/02/2025 03:04:05 --\n", table(rate, rates), table(time, times));
        let imported = text(&both);
        let run = one(&imported);
        assert_value(run, "file-creation.files_per_s", 801.375);
        assert_value(run, "file-creation.elapsed_s", 12.481);
        assert_value(run, "file-creation.elapsed_s_max", 12.654);
        assert_eq!(run.metrics().count(), 6, "{run:?}");
        // One launch after the other: each is a run of its own.
        assert_eq!(
            text(&format!("{both}mdtest-4.1.0+dev was launched with 4 total task(s) on 1 node(s)\n{both}")).runs.len(),
            2
        );
    }
}

#[test]
fn smartctl_and_nvme_tell_facts_of_a_device() {
    let smartctl = r#"{"smartctl": {"version": [7, 4], "exit_status": 0},
 "device": {"name": "/dev/nvme0", "type": "nvme", "protocol": "NVMe"}, "model_name": "Disk 512GB", "serial_number": "S3CRET",
 "user_capacity": {"bytes": 512110190592}, "smart_status": {"passed": true},
 "nvme_smart_health_information_log": {"critical_warning": 0, "percentage_used": 2, "data_units_written": 1000, "media_errors": 0},
 "temperature": {"current": 44}, "power_on_time": {"hours": 10}}
"#;
    let imported = text(smartctl);
    let run = one(&imported);
    assert_eq!((run.target.as_deref(), run.name.as_str()), (Some("/dev/nvme0"), "Disk 512GB"));
    for (id, value) in [
        ("device.size_bytes", 512_110_190_592.0),
        ("device.used_percent", 2.0),
        ("device.written_bytes", 512e6),
        ("device.temperature_celsius", 44.0),
        ("device.power_on_s", 36_000.0),
    ] {
        assert_value(run, id, value);
    }
    assert!(!format!("{run:?}").contains("S3CRET"), "a serial number is nobody's business");
    let log = "$ nvme smart-log /dev/nvme0 -o json\n{\"critical_warning\":0,\"temperature\":303,\"avail_spare\":100,\"percent_used\":3,\n\
        \"data_units_read\":\"2,752,848\",\"power_cycles\":\"7\",\"power_on_hours\":\"20\"}\n";
    let imported = text(log);
    let run = one(&imported);
    assert_value(run, "device.temperature_celsius", 30.0);
    assert_value(run, "device.read_bytes", 2_752_848.0 * 512_000.0);
    let disk = r#"{"smartctl": {}, "device": {"name": "/dev/sda"}, "ata_smart_attributes": {"table": [{"id": 5, "raw": {"value": 8}}]}}"#;
    assert_value(one(&text(disk)), "device.reallocated_sectors", 8.0);
}

#[test]
fn phoronix_storage_tests_as_xml_and_from_the_terminal() {
    let xml = "<?xml version=\"1.0\"?>\n<PhoronixTestSuite>\n  <Result><Identifier>pts/fio-2.1.0</Identifier><Title>Flexible IO Tester</Title>\n\
        <Description>Type: Random Read - Block Size: 4KB</Description><Scale>MB/s</Scale><Data><Entry><Identifier>disk a</Identifier>\n\
        <Value>501</Value><RawString>500:502</RawString></Entry><Entry><Identifier>disk b</Identifier><Value>99.5</Value></Entry></Data></Result>\n\
        <Result><Identifier>pts/compress-7zip-1.10.0</Identifier><Description>Rating</Description><Scale>MIPS</Scale><Data><Entry>\n\
        <Identifier>disk a</Identifier><Value>5</Value></Entry></Data></Result>\n</PhoronixTestSuite>\n";
    let imported = text(xml);
    assert_eq!(imported.runs.len(), 2, "{imported:?}");
    assert_value(&imported.runs[0], "fio.type-random-read-block-size-4kb.throughput_bytes_per_s", 501.0 * MIB);
    assert_eq!((imported.runs[0].metrics().count(), imported.runs[1].name.as_str()), (1, "disk b"));
    let terminal = "Flexible IO Tester 3.35:\n    pts/fio-2.1.0 [Type: Sequential Write - Direct: Yes]\n    Test 1 of 1\n    Type: Sequential Write:\n        \
        500\n        502\n\n    Average: 501 IOPS\n    Deviation: 0.20%\n";
    assert_value(one(&text(terminal)), "fio.type-sequential-write-direct-yes.iops", 501.0);
    assert_eq!(text("Average: 501 MB/s\nlocal/x [y]\n").runs, []);
}

#[test]
fn pg_test_fsync_says_how_often_a_write_is_durable() {
    let imported = wild("../pg_test_fsync/15.txt");
    assert!(imported.runs.len() == 1 && imported.not_understood.is_empty(), "{:?}", imported.not_understood);
    let run = &imported.runs[0];
    assert_value(run, "pg_test_fsync.one_write.fdatasync.iops", 298.417);
    assert_value(run, "pg_test_fsync.one_write.fdatasync.latency_ns_mean", 3.351e6);
    assert_value(run, "pg_test_fsync.two_writes.open_sync.iops", 70.021);
    assert_value(run, "pg_test_fsync.sizes.4_4kb_open_sync_writes.latency_ns_mean", 28.562e6);
    assert_value(run, "pg_test_fsync.descriptors.write_close_fsync.iops", 138.207);
    let not_synced = run.groups.iter().find(|g| g.name == "pg_test_fsync.not_synced.write").unwrap();
    assert!(not_synced.metrics.iter().all(|m| m.metric.reasons[0].is("page-cache")), "{not_synced:?}");
    assert_eq!(run.groups.len(), 14, "a way that is not there is no rate of 0");
    // Before 9.3 no time stood beside the rate.
    let old = text("Compare file sync methods using one 8kB write:\n        fsync      141.9 ops/sec\n");
    assert_value(&old.runs[0], "pg_test_fsync.one_write.fsync.iops", 141.9);
    assert_eq!(old.runs[0].groups[0].metrics.len(), 1);
    let cut = text("Compare file sync methods using one 8kB write:\n");
    assert!(cut.runs.is_empty() && cut.not_understood[0].why.contains("no rate"), "{cut:?}");
}
