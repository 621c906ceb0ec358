//! What numbers of other tools are worth: `narrows import --for` and `narrows rate FILE`.

use crate::program::Scratch;
use std::fs;

/// Writes of 2,300 bytes, each with an fdatasync, as the check of etcd's documentation has it.
fn etcd(p99_us: u32) -> String {
    format!(
        "mytest: (g=0): rw=write, bs=(R) 2300B-2300B, (W) 2300B-2300B, (T) 2300B-2300B, ioengine=sync, iodepth=1\nfio-3.33\n\
         Starting 1 process\n\nmytest: (groupid=0, jobs=1): err= 0: pid=7: Sat Nov 21 12:10:32 2026\n  \
         write: IOPS=300, BW=674KiB/s (690kB/s)(22.0MiB/33422msec); 0 zone resets\n    clat (usec): min=5, max=90, avg=12.50, stdev= 3.10\n     \
         lat (usec): min=5, max=90, avg=12.90, stdev= 3.10\n  fsync/fdatasync/sync_file_range:\n    \
         sync (usec): min=900, max=21000, avg=3300.00, stdev=900.00\n    sync percentiles (usec):\n     \
         | 50.00th=[ 3200], 99.00th=[{p99_us}], 99.90th=[19000]\n  cpu          : usr=0.50%, sys=1.20%, ctx=20000, majf=0, minf=10\n"
    )
}

#[test]
fn etcd_is_answered_from_the_syncs_of_fio() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("slow.txt"), etcd(13_200)).unwrap();
    fs::write(scratch.path().join("fast.txt"), etcd(4_100)).unwrap();
    fs::write(scratch.path().join("other.txt"), "67108864 bytes (67 MB, 64 MiB) copied, 0.5 s, 134 MB/s\n").unwrap();
    let slow = scratch.json(["import", "slow.txt", "--for", "etcd", "--json"], 1);
    assert_eq!(slow["met"], false, "{slow}");
    let fit = &slow["fit"][0];
    assert_eq!((&fit["for"], &fit["value"], &fit["threshold"]), (&"etcd".into(), &13.2e6.into(), &10e6.into()));
    assert_eq!((&fit["metric"], &fit["run_id"]), (&"mytest.sync.latency_ns_p99".into(), &slow["runs"][0]["run_id"]));
    let answer = slow["answer"].as_str().unwrap();
    assert!(answer.starts_with("No") && answer.contains("p99 of fdatasync 13.2 ms, etcd asks for 10.0 ms"), "{answer}");
    assert_eq!(scratch.json(["import", "fast.txt", "--for", "etcd", "--json"], 0)["met"], true);
    let other = scratch.json(["import", "other.txt", "--for", "etcd", "--json"], 4);
    let answer = other["answer"].as_str().unwrap();
    assert!(other["met"].is_null() && answer.starts_with("Not known"), "{other}");
    let would = "; a fio job with --rw=write --bs=2300 --fdatasync=1 would tell, or narrows check TARGET --for etcd.";
    assert!(answer.ends_with(would), "{answer}");
    let system = scratch.json(["import", "other.txt", "--for", "root-fs", "--json"], 4);
    let answer = system["answer"].as_str().unwrap();
    for job in [
        "--rw=randwrite --bs=4k --iodepth=1",
        "--rw=randread --bs=4k --iodepth=1",
        "one run of fio with 3 jobs",
        "--for root-fs",
    ] {
        assert!(answer.contains(job), "{job}: {answer}");
    }
    // No job of fio shows how small operations feel beside a copy.
    let feel = scratch.json(["import", "other.txt", "--for", "responsive", "--json"], 4);
    let answer = feel["answer"].as_str().unwrap();
    assert!(answer.ends_with("narrows check TARGET --for responsive measures that."), "{answer}");
    assert!(scratch.run(["import", "slow.txt", "--for", "etcd"]).stdout.contains("No, not good for etcd"));
    assert_eq!(scratch.run(["import", "slow.txt", "--for", "nonsense"]).code, 2);
}

#[test]
fn classes_are_rated_from_a_paste() {
    let scratch = Scratch::new();
    let rows = |read: &str, write: &str| {
        format!(
            "CrystalDiskMark 6.0.0 x64 (C) 2007-2017 hiyohiyo\n   Sequential Read (Q= 32,T= 1) :    95.125 MB/s\n  \
             Sequential Write (Q= 32,T= 1) :    62.250 MB/s\n  Random Read 4KiB (Q=  1,T= 1) :     {read} IOPS]\n \
             Random Write 4KiB (Q=  1,T= 1) :     {write} IOPS]\n"
        )
    };
    fs::write(scratch.path().join("good.txt"), rows("7.125 MB/s [   1739.5", "4.000 MB/s [    976.6")).unwrap();
    fs::write(scratch.path().join("slow.txt"), rows("7.125 MB/s [   1739.5", "1.000 MB/s [    244.1")).unwrap();
    let class = |file: &str, name: &str, code: i32| {
        let document = scratch.json(["rate", file, "--class", name, "--json"], code);
        document["ratings"][0].clone()
    };
    let a1 = class("good.txt", "A1", 0);
    assert_eq!(
        (&a1["class"], &a1["indication"], &a1["met"]),
        (&"A1".into(), &"above".into(), &serde_json::Value::Null)
    );
    assert_eq!(class("slow.txt", "A1", 1)["indication"], "below");
    assert_eq!(class("good.txt", "V30", 0)["indication"], "above");
    // A mean just above what the slowest second must hold decides nothing.
    assert!(class("good.txt", "V60", 4)["indication"].is_null());
    assert_eq!(class("good.txt", "V90", 1)["indication"], "below");
    // What the page cache may have made decides nothing either.
    let dd = "$ dd if=/dev/zero of=/mnt/c/f bs=1M count=64\n64+0 records in\n64+0 records out\n67108864 bytes (67 MB, 64 MiB) copied, 0.032 s, 2.1 GB/s\n";
    fs::write(scratch.path().join("dd.txt"), dd).unwrap();
    let v30 = class("dd.txt", "V30", 4);
    assert!(v30["reasons"].to_string().contains("page-cache"), "{v30}");
}
