//! fio's outputs, as fio 3.33 printed them here (`foreign/fio`), and small ones in the layout of other versions.

use exchange::{Imported, ImportedRun, import};
use model::{MetricStatus, RunState};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("foreign/fio/", $name))
    };
}

const THREE_FORMS: &str = fixture!("three-forms.txt");

fn one(text: &str) -> ImportedRun {
    let Imported { mut runs, not_understood, .. } = import("file", text.as_bytes()).unwrap();
    assert_eq!(runs.len(), 1, "{not_understood:?}");
    runs.remove(0)
}

fn value(run: &ImportedRun, id: &str) -> f64 {
    let found = run.metrics().find(|m| m.metric.id == id);
    let ids = || run.metrics().map(|m| m.metric.id.clone()).collect::<Vec<_>>();
    found.unwrap_or_else(|| panic!("no {id} in {:?}", ids())).metric.value.expect("measured")
}

fn has(run: &ImportedRun, part: &str) -> bool {
    run.metrics().any(|m| m.metric.id.contains(part))
}

/// The JSON, the terse lines and the text of the fixture.
fn forms() -> (String, String, String) {
    let start = THREE_FORMS.find("\n{").unwrap() + 1;
    let end = THREE_FORMS.find("\n}\n").unwrap() + 3;
    let terse: String = THREE_FORMS.lines().filter(|l| l.starts_with("3;")).map(|l| format!("{l}\n")).collect();
    (THREE_FORMS[start..end].to_owned(), terse, THREE_FORMS[end..].to_owned())
}

#[test]
fn the_forms_of_one_run_agree() {
    let (json, terse, normal) = forms();
    let (json, terse, normal) = (one(&json), one(&terse), one(&normal));
    assert_eq!([json.source_format, terse.source_format, normal.source_format], ["fio-json", "fio-terse", "fio-text"]);
    for m in json.metrics() {
        let exact = m.metric.value.unwrap();
        for other in [&terse, &normal] {
            // Terse lines have no syncs.
            let Some(twin) = other.metrics().find(|t| t.metric.id == m.metric.id) else {
                assert!(m.metric.id.contains(".sync.") && other.source_format == "fio-terse", "{}", m.metric.id);
                continue;
            };
            let printed = twin.metric.value.unwrap();
            // Microseconds and three digits are what those forms print.
            let slack = if m.metric.id.contains("_ns_") { 1000.0 } else { 1024.0 };
            assert!((printed - exact).abs() <= 0.01 * exact + slack, "{}: {printed} for {exact}", m.metric.id);
        }
    }
    assert!(!has(&json, ".trim.") && !has(&json, "fill.read"), "a direction that was not used has no metrics");
    assert!(value(&json, "mix.sync.latency_ns_mean") > 0.0);
}

#[test]
fn one_run_in_three_forms_is_one_run() {
    let run = one(THREE_FORMS);
    assert_eq!(run.source_format, "fio-json");
    assert_eq!(run.source_version.as_deref(), Some("fio-3.33"));
    assert_eq!(run.target.as_deref(), Some("data"));
    assert!(run.started.as_deref().is_some_and(|s| s.starts_with("2026-")));
    assert_eq!(run.remarks.iter().filter(|r| r.contains("it is one run")).count(), 2, "{:?}", run.remarks);
}

#[test]
fn every_terse_version_and_the_buckets_of_json_plus() {
    for (text, version) in [
        (fixture!("terse-2.txt"), None),
        (fixture!("terse-4.txt"), Some("fio-3.33")),
        (fixture!("terse-5.txt"), Some("fio-3.33")),
    ] {
        let run = one(text);
        assert_eq!((run.source_format, run.source_version.as_deref()), ("fio-terse", version));
        assert!(value(&run, "mix.read.iops") > 0.0 && value(&run, "fill.write.latency_ns_p99") >= 1000.0);
        assert!(!has(&run, ".trim."));
        let fields: Vec<&str> = text.lines().nth(1).unwrap().split(';').collect();
        let cpu = fields.iter().rposition(|f| f.len() > 7 && f.ends_with('%')).unwrap();
        assert_eq!(value(&run, "fill.cpu_system_percent"), fields[cpu].trim_end_matches('%').parse::<f64>().unwrap());
    }
    let plus = one(fixture!("plus.json"));
    assert_eq!(value(&plus, "rr.read.throughput_bytes_per_s") % 1.0, 0.0);
    assert!(value(&plus, "rr.read.latency_ns_p999") >= value(&plus, "rr.read.latency_ns_p50"));
}

#[test]
fn clients_stay_apart_and_their_sum_is_marked() {
    for text in [fixture!("client.json.txt"), fixture!("client.txt")] {
        let run = one(text);
        let names: Vec<&str> = run.groups.iter().map(|g| g.name.as_str()).collect();
        assert_eq!(names, ["a", "a-2", "All clients"]);
        assert_eq!(
            run.environment.hostname.is_some(),
            run.source_format == "fio-text" || text.contains("\"hostname\"")
        );
        let sum = value(&run, "All clients.read.throughput_bytes_per_s");
        assert!(sum > value(&run, "a.read.throughput_bytes_per_s"));
        assert!(!has(&run, "All clients.read.latency_ns_p99"));
        assert!(run.remarks.iter().any(|r| r.contains("sum over the other jobs")));
    }
}

#[test]
fn jobs_of_several_hosts_carry_the_host() {
    let job = |name: &str, host: &str, iops: u32| {
        format!(
            r#"{{"jobname":"j","hostname":"{host}","read":{{"iops":{iops},"bw_bytes":{iops}000,"runtime":1000,"total_ios":{iops}}},"x":"{name}"}}"#
        )
    };
    let jobs = [job("1", "alpha", 10), job("2", "beta", 20), job("3", "beta", 30)].join(",");
    let run = one(&format!("hostname=alpha, be=0\n{{\"fio version\":\"fio-3.7\",\"client_stats\":[{jobs}]}}\n"));
    assert_eq!(value(&run, "alpha:j.read.iops"), 10.0);
    assert_eq!(value(&run, "beta:j.read.iops"), 20.0);
    assert_eq!(value(&run, "beta:j-2.read.iops"), 30.0);
    assert_eq!(run.environment.hostname, None);
}

#[test]
fn percentiles_of_whole_latencies_disabled_ones_and_both_directions_as_one() {
    let run = one(fixture!("lat-percentiles.txt"));
    let p99 = run.metrics().find(|m| m.metric.id == "lp.read.latency_ns_p99").unwrap();
    assert!(p99.metric.reasons.iter().all(|r| !r.is("completion")), "{:?}", p99.metric.reasons);
    assert!(p99.metric.reasons.iter().any(|r| r.is("few-operations")), "256 operations");
    assert_eq!(p99.metric.n, 256);
    let run = one(fixture!("disabled.txt"));
    assert!(has(&run, "nolat.read.iops") && !has(&run, "latency"));
    assert!(value(&one(fixture!("mixed.txt")), "uni.mixed.iops") > 0.0);
}

#[test]
fn a_job_that_failed_at_once_has_no_rates() {
    let imported = import("file", fixture!("error.txt").as_bytes()).unwrap();
    assert_eq!(imported.runs, []);
    assert!(imported.not_understood.iter().any(|n| n.why.contains("error 28")), "{:?}", imported.not_understood);
}

#[test]
fn rates_of_a_job_that_failed_on_its_way_say_so() {
    let (json, ..) = forms();
    let run = one(&json.replacen("\"error\" : 0", "\"error\" : 5", 1));
    assert_eq!(run.state, RunState::Failed);
    let failed: Vec<&str> = run
        .metrics()
        .filter(|m| m.metric.failure().is_some())
        .map(|m| m.metric.id.split('.').next().unwrap())
        .collect();
    assert!(!failed.is_empty() && failed.iter().all(|job| *job == failed[0]), "{failed:?}");
    assert!(run.metrics().any(|m| m.metric.failure().is_none()), "the other job stands");
}

const VERSION_2: &str = "\
old: (g=0): rw=randrw, bs=8K-8K/8K-8K/8K-8K, ioengine=libaio, iodepth=4
...
fio-2.1.3
Starting 3 processes

old: (groupid=0, jobs=3): err= 0: pid=77: Mon Jan  4 10:00:00 2016
  read : io=800.0MB, bw=81920KB/s, iops=10240, runt= 10000msec
    slat (usec): min=3, max=900, avg= 7.00, stdev= 2.00
    clat (msec): min=1, max=12K, avg=30.50, stdev= 9.00
     lat (msec): min=1, max=12K, avg=30.51, stdev= 9.00
    clat percentiles (msec):
     |  1.00th=[    2],  5.00th=[    3], 50.00th=[   28], 90.00th=[   40],
     | 99.00th=[  130]
    bw (KB  /s): min= 5000, max=30000, per=33.34%, avg=27306.00, stdev=1000.00
  write: io=8192.0KB, bw=838860B/s, iops=102, runt= 10000msec
    clat (usec): min=10, max=20, avg=15.00, stdev= 1.00
     lat (usec): min=11, max=21, avg=16.00, stdev= 1.00
    lat (usec) : 20=99.00%, 50=1.00%
  cpu          : usr=1.50%, sys=2.25%, ctx=1, majf=0, minf=1
  IO depths    : 1=0.1%, 2=0.1%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued    : total=r=102400/w=1024/d=0, short=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=800.0MB, aggrb=81920KB/s, minb=81920KB/s, maxb=81920KB/s, mint=10000msec, maxt=10000msec
  WRITE: io=8192.0KB, aggrb=819KB/s, minb=819KB/s, maxb=819KB/s, mint=10000msec, maxt=10000msec

Disk stats (read/write):
  sdz: ios=1/2, merge=0/0, ticks=1/2, in_queue=3, util=9.00%
";

#[test]
fn units_of_version_2_are_powers_of_1024() {
    let imported = import("file", VERSION_2.as_bytes()).unwrap();
    assert_eq!(imported.not_understood, []);
    let run = &imported.runs[0];
    assert_eq!(value(run, "old.read.throughput_bytes_per_s"), 81_920.0 * 1024.0);
    assert_eq!(value(run, "old.write.throughput_bytes_per_s"), 838_860.0);
    assert_eq!(value(run, "old.read.latency_ns_mean"), 30_510_000.0);
    assert_eq!(value(run, "old.read.latency_ns_max"), 12e9, "K is a thousand here");
    assert_eq!(value(run, "old.read.latency_ns_p99"), 130e6);
    assert_eq!(value(run, "old.write.latency_ns_mean"), 16_000.0);
    assert_eq!(value(run, "old.cpu_percent"), 3.75);
    let original = &run.metrics().next().unwrap().original;
    assert_eq!((original.value.as_str(), original.unit.as_str()), ("10240", "1/s"));
    assert_eq!(run.duration_ns, Some(10_000_000_000));
}

#[test]
fn json_of_version_2_is_in_microseconds_and_kib() {
    let text = r#"{
  "fio version" : "fio-2.2.10",
  "jobs" : [ { "jobname" : "a", "groupid" : 0, "error" : 0,
      "read" : { "io_bytes" : 4096, "bw" : 2048, "iops" : 512, "runtime" : 2000,
        "slat" : {"min" : 0, "max" : 0, "mean" : 0.00, "stddev" : 0.00},
        "clat" : {"min" : 10, "max" : 900, "mean" : 50.25, "stddev" : 3.00,
          "percentile" : {"1.000000" : 11, "99.000000" : 120, "0.00" : 0}},
        "lat" : {"min" : 11, "max" : 901, "mean" : nan, "stddev" : 3.00} },
      "write" : { "io_bytes" : 0, "bw" : 0, "iops" : 0, "runtime" : 0,
        "lat" : {"min" : 0, "max" : 0, "mean" : 0.00, "stddev" : 0.00} } } ] }"#;
    let imported = import("file", text.as_bytes()).unwrap();
    let run = &imported.runs[0];
    assert_eq!(value(run, "a.read.throughput_bytes_per_s"), 2_097_152.0);
    assert_eq!(value(run, "a.read.completion_latency_ns_mean"), 50_250.0);
    assert_eq!(value(run, "a.read.latency_ns_p99"), 120_000.0);
    assert_eq!(value(run, "a.read.latency_ns_max"), 901_000.0);
    assert!(!has(run, "a.write") && !has(run, "a.read.latency_ns_mean"));
    let [rest] = &imported.not_understood[..] else { panic!("{:?}", imported.not_understood) };
    assert_eq!(rest.line, 8);
    assert!(rest.why.contains("nan"), "{}", rest.why);
}

#[test]
fn a_cut_document_gives_what_stands_whole() {
    let (json, _, normal) = forms();
    let cut = &json[..json.find("\"jobname\" : \"fill\"").unwrap() + 400];
    let imported = import("file", cut.as_bytes()).unwrap();
    let run = &imported.runs[0];
    assert_eq!(run.state, RunState::Truncated);
    assert!(has(run, "mix.read.latency_ns_p99"));
    assert!(imported.not_understood.iter().any(|n| n.why.contains("cut off")), "{:?}", imported.not_understood);
    // Two documents, the first cut: the second is whole.
    let both = import("file", format!("{cut}\n{json}").as_bytes()).unwrap();
    assert_eq!(both.runs.len(), 2);
    assert_eq!((both.runs[0].state, both.runs[1].state), (RunState::Truncated, RunState::Complete));
    let cut = &normal[..normal.find("clat percentiles").unwrap() + 60];
    let run = one(cut);
    assert_eq!(run.state, RunState::Truncated);
    assert!(has(&run, "mix.read.iops") && !has(&run, "latency_ns_p99"));
}

#[test]
fn a_capture_of_a_terminal() {
    let (json, _, normal) = forms();
    let text = format!(
        "$ ls\r\ndata\r\n$ fio --filename=/dev/sdq j.fio\r\nj: (g=0): rw=read\r\nfio-3.33\r\nStarting 1 process\r\nJobs: 1\rJobs: 1\r\n^Cfio: terminating on signal 2\r\n{}$ fio again\r\n{json}\n$ cat x\n{json}",
        normal.replace('\n', "\r\n")
    );
    let imported = import("capture", text.as_bytes()).unwrap();
    assert_eq!(imported.runs.len(), 1, "the text and both documents are of one run");
    let run = &imported.runs[0];
    assert_eq!(run.state, RunState::Interrupted);
    assert!(run.remarks.iter().any(|r| r.contains("signal 2")));
    assert!(imported.not_understood.iter().any(|n| n.text == "$ ls"), "{:?}", imported.not_understood);
    let run = one(&normal.replace("\n\n", "\n").replacen(
        "mix: (groupid",
        "$ fio --filename=/dev/sdq j.fio\nmix: (groupid",
        1,
    ));
    assert_eq!(run.target.as_deref(), Some("/dev/sdq"));
}

#[test]
fn runs_of_the_same_jobs_on_other_targets_are_other_runs() {
    let (_, _, normal) = forms();
    let other = normal.replace("IOPS=", "IOPS=1");
    let text = format!("Testing /mnt/a\n{normal}\nTesting /mnt/b\n{other}");
    let names: Vec<String> = import("f", text.as_bytes()).unwrap().runs.into_iter().map(|r| r.name).collect();
    assert_eq!(names, ["Testing /mnt/a", "Testing /mnt/b"]);
}

#[test]
fn latencies_longer_than_the_run_are_refused() {
    let text = VERSION_2.replace("min=1, max=12K, avg=30.51", "min=700000K, max=700012K, avg=700001000.51");
    let run = one(&text);
    let mean = &run.metrics().find(|m| m.metric.id == "old.read.latency_ns_mean").unwrap().metric;
    assert_eq!((mean.status, mean.value), (MetricStatus::Refused, None));
    assert!(mean.rejected_value.is_some() && mean.reasons[0].is("impossible"));
    assert_eq!(value(&run, "old.read.latency_ns_p99"), 130e6, "of completion latencies, which are possible");
}

#[test]
fn sums_of_groups_serve_where_their_jobs_are_missing() {
    let text = &VERSION_2[VERSION_2.find("Run status").unwrap()..];
    let run = one(text);
    assert_eq!(value(&run, "group0.read.throughput_bytes_per_s"), 81_920.0 * 1024.0);
    assert!(!has(&one(VERSION_2), "group0"));
}

#[test]
fn names_that_come_twice_are_numbered() {
    let text = VERSION_2.replace("Run status", "old: (groupid=0, jobs=1): err= 0: pid=78:\n  read : io=1.0MB, bw=1024KB/s, iops=7, runt= 1000msec\n  cpu          : usr=1.00%, sys=1.00%, ctx=1\n\nRun status");
    let run = one(&text);
    assert_eq!(value(&run, "old-2.read.iops"), 7.0);
    assert!(run.remarks.iter().any(|r| r.contains("none of them is the whole")));
}

#[test]
fn semicolons_in_a_jobs_name_do_not_shift_its_fields() {
    let files = [(fixture!("terse-2.txt"), 1), (fixture!("terse-4.txt"), 2), (fixture!("terse-5.txt"), 2)];
    for (plain, name) in files {
        let mut line: Vec<&str> = plain.lines().find(|l| l.len() > 100).unwrap().split(';').collect();
        let job = line[name].to_owned();
        let wanted = one(&line.join(";"));
        line[name] = "4k;qd=1;7;8";
        let run = one(&line.join(";"));
        let values = |run: &ImportedRun, job: &str| -> Vec<(String, Option<f64>)> {
            run.metrics().map(|m| (m.metric.id.replacen(job, "", 1), m.metric.value)).collect()
        };
        assert_eq!(values(&run, "4k;qd=1;7;8"), values(&wanted, &job), "{plain}");
    }
}

#[test]
fn states_in_the_course_of_a_run_are_no_runs() {
    let state = |ms: u64, runtime: u64, operations: u64| {
        let iops = operations * 1000 / runtime;
        format!(
            r#"{{"fio version": "fio-3.33", "timestamp_ms": {ms}, "jobs": [{{"jobname": "a", "error": 0, "read": {{
               "io_bytes": {}, "bw_bytes": {}, "iops": {iops}, "runtime": {runtime}, "total_ios": {operations}}}}}]}}
"#,
            operations * 4096,
            iops * 4096
        )
    };
    let begin = 1_795_291_214_000;
    let while_it_went_on =
        [state(begin + 1004, 1000, 9000), state(begin + 2005, 2001, 15000), state(begin + 3002, 2999, 24000)].concat();
    let run = one(&while_it_went_on);
    assert_eq!(value(&run, "a.read.iops"), 8002.0);
    assert!(run.remarks.iter().any(|r| r.contains("from line 1, 3 on; it is one run")), "{:?}", run.remarks);
    // The same figures of three runs after one another.
    let runs = [state(begin + 1004, 1000, 9000), state(begin + 4005, 2001, 15000), state(begin + 9002, 2999, 24000)];
    assert_eq!(import("text", runs.concat().as_bytes()).unwrap().runs.len(), 3);
}
