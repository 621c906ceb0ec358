//! Round trips of generated runs, and bundles that are wrong in some way.

use crate::{Archive, ArchiveError, Recovered, RunRef, load_bundle};
use model::{Metric, Run, StopRule, Unit};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use test_runs::Draw;
use test_runs::drawn::{measured_run, run, so_far};

fn archive() -> (tempfile::TempDir, Archive) {
    let directory = tempfile::tempdir().unwrap();
    let archive = Archive::open(directory.path().join("deep/archive"));
    (directory, archive)
}

fn saved(run: &Run) -> (tempfile::TempDir, Archive, std::path::PathBuf) {
    let (directory, archive) = archive();
    let path = archive.save(run).unwrap();
    (directory, archive, path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_saved_is_loaded(seed in any::<u64>()) {
        let run = run(seed);
        let (_directory, archive, path) = saved(&run);
        prop_assert_eq!(&archive.load(&run.id).unwrap(), &run);
        prop_assert_eq!(&load_bundle(&path).unwrap(), &run);
        prop_assert!(archive.verify(&run.id).unwrap().is_clean());
        prop_assert!(archive.recover().unwrap().is_empty());
    }

    #[test]
    fn a_partial_run_grows_to_the_same_bundle(seed in any::<u64>(), count in 1usize..5) {
        let run = measured_run(seed, count);
        let (_directory, archive) = archive();
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        for phases in 1..=count {
            partial.phase_done(&so_far(&run, phases)).unwrap();
            let seen = load_bundle(partial.directory()).unwrap();
            prop_assert_eq!(&seen, &so_far(&run, phases));
        }
        let path = partial.finish(&run).unwrap();
        prop_assert_eq!(load_bundle(&path).unwrap(), run);
    }

    /// Any file with a piece overwritten, removed or repeated: an error with a file in it or a run, never a panic;
    /// and `verify` notices.
    #[test]
    fn damage_is_an_error_or_a_run_and_verify_sees_it(seed in any::<u64>()) {
        let (_directory, archive, path) = saved(&measured_run(seed, 2));
        let d = &mut Draw(seed ^ 2);
        let mut files: Vec<_> = fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        let file = &files[d.below(files.len() as u64) as usize];
        let before = fs::read(file).unwrap();
        let mut content = before.clone();
        let at = d.below(content.len() as u64 + 1) as usize;
        let end = (at + d.below(40) as usize).min(content.len());
        match d.below(3) {
            0 => content.truncate(at),
            1 => content[at..end].fill(d.bits() as u8),
            _ => content.extend_from_within(at..end),
        }
        fs::write(file, &content).unwrap();
        let id = path.file_name().unwrap().to_str().unwrap();
        match archive.load(id) {
            Ok(_) => {}
            Err(e) => prop_assert!(e.to_string().contains(id), "{e}"),
        }
        if content != before {
            prop_assert!(!archive.verify(id).is_ok_and(|v| v.is_clean()));
        }
        prop_assert_eq!(archive.list().unwrap().len(), 1);
    }
}

#[test]
fn what_json_cannot_say_becomes_absent() {
    let mut run = measured_run(1, 1);
    let warmup = run.phases[0].plan.warmup;
    run.phases[0].plan.stop = StopRule::EarlyWhenSteady { half_width_ratio: f64::NAN };
    run.phases[0].metrics = vec![Metric::measured("a.b", Unit::Ratio, None, 1.0, 1)];
    run.phases[0].metrics[0].value = Some(f64::INFINITY);
    let (_directory, archive, _) = saved(&run);
    let loaded = archive.load(&run.id).unwrap();
    assert_eq!(loaded.phases[0].metrics[0].value, None);
    assert_eq!(loaded.phases[0].plan.stop, StopRule::EarlyWhenSteady { half_width_ratio: 0.0 });
    assert_eq!(loaded.phases[0].plan.warmup, warmup);
    assert!(loaded.remarks.iter().any(|r| r.contains("stored as 0")));
}

fn with(name: &str, content: &str) -> ArchiveError {
    let (_directory, archive, path) = saved(&measured_run(7, 1));
    fs::write(path.join(name), content).unwrap();
    archive.load(path.file_name().unwrap().to_str().unwrap()).unwrap_err()
}

#[track_caller]
fn assert_corrupt(error: &ArchiveError, file: &str, at: Option<u64>) {
    match error {
        ArchiveError::Corrupt { path, line, .. } => {
            assert!(path.ends_with(file), "{error}");
            assert_eq!(*line, at, "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn errors_name_the_file_and_the_line() {
    let series = crate::table::Form::header(&crate::series::SeriesForm);
    assert_corrupt(&with("series.csv", ""), "series.csv", Some(1));
    assert_corrupt(&with("series.csv", "a,b\n"), "series.csv", Some(1));
    assert_corrupt(
        &with("series.csv", &format!("{series}phase-0,1,2,3,4,,,\nphase-0,x,2,3,4,,,\n")),
        "series.csv",
        Some(3),
    );
    assert_corrupt(&with("series.csv", &format!("{series}phase-0,1,2\n")), "series.csv", Some(2));
    assert_corrupt(&with("series.csv", &format!("{series}other,1,2,3,4,,,\n")), "series.csv", None);
    let latency = crate::latency::header();
    let row = |rest: &str| with("latency.csv", &format!("{latency}{rest}"));
    assert_corrupt(&row("phase-0,,read,9,8,1,9\n"), "latency.csv", Some(2));
    assert_corrupt(&row("phase-0,,read,1,2,1,\n"), "latency.csv", Some(2));
    let overflow = format!("phase-0,,read,1,1,{0},9\nphase-0,,read,2,2,{0},\n", u64::MAX);
    assert_corrupt(&row(&overflow), "latency.csv", Some(3));
    assert_corrupt(&row("phase-0,,read,5,5,1,9\nphase-0,,read,5,5,1,\n"), "latency.csv", Some(3));
    // Lines of one histogram need not follow one another, but must ascend.
    let scattered = "phase-0,,read,5,5,1,9\nphase-0,0,read,5,5,1,9\nphase-0,,read,5,5,1,\n";
    assert_corrupt(&row(scattered), "latency.csv", Some(4));
    for stream in ["x", "-1", "1.5", "99999999999999999999"] {
        assert_corrupt(&row(&format!("phase-0,{stream},read,5,5,1,9\n")), "latency.csv", Some(2));
    }
    assert_corrupt(&row("phase-0,0,mixed,5,5,1,9\n"), "latency.csv", Some(2));
    // A stream and a direction that run.json does not know.
    for unknown in ["phase-0,4000000000,read,5,5,1,9\n", "phase-0,0,none-such,5,5,1,9\n"] {
        assert!(matches!(row(unknown), ArchiveError::Corrupt { .. }));
    }
    assert_corrupt(&with("run.json", "{\n\"schema\": 1"), "run.json", Some(2));
    assert_corrupt(&with("run.json", &"[".repeat(100_000)), "run.json", Some(1));
    let other = r#"{"schema":"narrows/bundle/9","id":"x","phases":[]}"#;
    assert!(matches!(with("run.json", other), ArchiveError::UnknownSchema { .. }));
    let phases = format!(r#"{{"schema":"narrows/bundle/1","id":"x","phases":[{}0]}}"#, "0,".repeat(5000));
    assert_corrupt(&with("run.json", &phases), "run.json", None);
}

#[test]
fn bundles_of_versions_that_did_not_tell_streams_apart_load() {
    let mut run = measured_run(8, 2);
    run.phases.iter_mut().for_each(|p| p.record.as_mut().unwrap().streams.clear());
    let (_directory, archive, path) = saved(&run);
    let id = path.file_name().unwrap().to_str().unwrap();
    let new = fs::read_to_string(path.join("latency.csv")).unwrap();
    assert!(new.lines().all(|l| l.starts_with("phase,stream,") || l.split(',').nth(1) == Some("")), "{new}");
    let old: String = new.lines().map(|l| l.replacen(",stream", "", 1).replacen(",,", ",", 1) + "\n").collect();
    assert!(old.starts_with("phase,direction,bucket_low_ns,"));
    fs::write(path.join("latency.csv"), old).unwrap();
    let loaded = archive.load(id).unwrap();
    for (mine, theirs) in run.phases.iter().zip(&loaded.phases) {
        let latency = |p: &model::PhaseRun| p.record.as_ref().unwrap().latency.clone();
        assert!(latency(mine) == latency(theirs) && latency(mine).count() > 0);
    }
}

#[test]
fn directions_without_lines_take_no_memory() {
    // 300,000 directions in run.json would be 11 GB if each took its histogram at once.
    let mut run = measured_run(7, 1);
    let record = run.phases[0].record.as_mut().unwrap();
    let direction = model::DirectionSummary {
        direction: model::Direction::Read,
        operations: 0,
        bytes: 0,
        counted_operations: 0,
        counted_bytes: 0,
        latency: model::Histogram::default(),
    };
    let mut stream: model::StreamSummary = test_runs::drawn::stream(7);
    stream.directions = vec![direction; 300_000];
    record.streams = vec![stream];
    let (_directory, archive, path) = saved(&run);
    let loaded = archive.load(path.file_name().unwrap().to_str().unwrap()).unwrap();
    assert_eq!(loaded.phases[0].record.as_ref().unwrap().streams[0].directions.len(), 300_000);
}

#[test]
fn system_columns_of_a_stranger_are_checked() {
    let (_directory, archive, path) = saved(&measured_run(7, 1));
    let id = path.file_name().unwrap().to_str().unwrap();
    let fixed = crate::table::Form::header(&crate::system::Layout::default()).trim_end().to_owned();
    for (columns, cells) in [("cpu:7:khz", "1"), ("disk:sda:reads", "1"), ("cpu:99999999999999999999:khz", "1")] {
        let blanks = ",".repeat(fixed.matches(',').count());
        fs::write(path.join("system.csv"), format!("{fixed},{columns}\n0{blanks},{cells}\n")).unwrap();
        assert_corrupt(&archive.load(id).unwrap_err(), "system.csv", Some(1));
    }
    // A column that a later version adds is passed over.
    let blanks = ",".repeat(fixed.matches(',').count());
    fs::write(path.join("system.csv"), format!("{fixed},fan_rpm\n5{blanks},900\n")).unwrap();
    assert_eq!(archive.load(id).unwrap().samples[0].at_ns, 5);
}

#[test]
fn a_bundle_leads_nowhere() {
    let (directory, archive, path) = saved(&measured_run(7, 1));
    let id = path.file_name().unwrap().to_str().unwrap();
    let secret = directory.path().join("secret");
    fs::write(&secret, "x").unwrap();
    fs::remove_file(path.join("series.csv")).unwrap();
    std::os::unix::fs::symlink(&secret, path.join("series.csv")).unwrap();
    assert!(matches!(archive.load(id), Err(ArchiveError::Io { .. })));
    assert_eq!(archive.verify(id).unwrap().unreadable.len(), 1);
    fs::remove_file(path.join("series.csv")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path.join("series.csv"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert_corrupt(&archive.load(id).unwrap_err(), "series.csv", None);
    fs::write(path.join("SHA256SUMS"), format!("{}  ../../secret\n", "0".repeat(64))).unwrap();
    assert_corrupt(&archive.verify(id).unwrap_err(), "SHA256SUMS", Some(1));
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    let (_directory, archive, path) = saved(&measured_run(7, 1));
    let id = path.file_name().unwrap().to_str().unwrap();
    // Sparse: it takes no space. A table is read row by row, and no row is that long.
    fs::File::options().write(true).open(path.join("series.csv")).unwrap().set_len(3 << 30).unwrap();
    let header_and_intervals = 1 + 5;
    assert_corrupt(&archive.load(id).unwrap_err(), "series.csv", Some(header_and_intervals + 1));
    fs::File::options().write(true).open(path.join("run.json")).unwrap().set_len(3 << 30).unwrap();
    let error = archive.load(id).unwrap_err();
    assert!(matches!(error, ArchiveError::TooLarge { .. }), "{error}");
}

#[test]
fn a_missing_table_is_a_remark() {
    let (_directory, archive, path) = saved(&measured_run(7, 1));
    for name in ["series.csv", "system.csv", "latency.csv"] {
        fs::remove_file(path.join(name)).unwrap();
    }
    let run = archive.load(path.file_name().unwrap().to_str().unwrap()).unwrap();
    assert_eq!(run.remarks.iter().filter(|r| r.contains("is missing")).count(), 3);
    assert!(run.samples.is_empty());
}

#[test]
fn verify_tells_altered_missing_and_extra_files() {
    let (_directory, archive, path) = saved(&measured_run(7, 1));
    let id = path.file_name().unwrap().to_str().unwrap();
    fs::write(path.join("latency.csv"), "x").unwrap();
    fs::remove_file(path.join("system.csv")).unwrap();
    fs::create_dir(path.join("raw")).unwrap();
    fs::write(path.join("raw/fio.json"), "{}").unwrap();
    let found = archive.verify(id).unwrap();
    assert_eq!(found.altered, ["latency.csv"]);
    assert_eq!(found.missing, ["system.csv"]);
    assert_eq!(found.extra, ["raw/fio.json"]);
    assert!(found.to_string().ends_with("intact; altered: latency.csv; missing: system.csv; extra: raw/fio.json"));
    fs::remove_file(path.join("SHA256SUMS")).unwrap();
    assert_eq!(archive.verify(id).unwrap().missing, ["SHA256SUMS"]);
}

#[test]
fn the_latest_run_of_one_second_is_the_one_written_last() {
    let (_directory, archive) = archive();
    for (fraction, random) in [(0xffff, 0), (0, 1)] {
        let run = Run { id: crate::run_id("20261121T080000Z", fraction, random), ..measured_run(3, 1) };
        archive.save(&run).unwrap();
        // Clocks of file systems tick every few milliseconds.
        let written = fs::File::options().append(true).open(archive.run_dir(&run.id).join("run.json")).unwrap();
        let seconds = if random == 1 { 2_000 } else { 1_000 };
        written.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
    }
    assert!(archive.resolve_one("latest").unwrap().id.ends_with("-00000001"));
}

#[test]
fn names_lead_to_runs() {
    let (_directory, archive) = archive();
    assert!(matches!(archive.resolve("latest"), Err(ArchiveError::NotFound { .. })));
    assert!(archive.list().unwrap().is_empty());
    assert!(!archive.directory().exists(), "reading creates nothing");
    let mut ids = Vec::new();
    for (time, random) in [("20261120T213000Z", 0x9c21), ("20261121T080000Z", 0xffff)] {
        let run = Run { id: crate::run_id(time, 0x7f3a, random), ..measured_run(3, 1) };
        archive.save(&run).unwrap();
        ids.push(run.id);
    }
    let one = |text: &str| archive.resolve_one(text).map(|r| r.id);
    assert_eq!(one("latest").unwrap(), ids[1]);
    assert_eq!(one("20261120").unwrap(), ids[0]);
    assert_eq!(one("7f3a9").unwrap(), ids[0]);
    assert_eq!(one(&ids[1]).unwrap(), ids[1]);
    assert_eq!(one(archive.run_dir(&ids[0]).to_str().unwrap()).unwrap(), ids[0]);
    assert_eq!(one(archive.run_dir(&ids[0]).join("run.json").to_str().unwrap()).unwrap(), ids[0]);
    assert!(matches!(one("2026"), Err(ArchiveError::Ambiguous { count: 2, .. })));
    assert!(matches!(one("7f3a"), Err(ArchiveError::Ambiguous { count: 2, .. })));
    for nothing in ["", "nope", "../..", "/", "é"] {
        assert!(matches!(one(nothing), Err(ArchiveError::NotFound { .. })), "{nothing}");
    }
    archive.tag_add("both", &ids[0]).unwrap();
    archive.tag_add("both", &ids[1]).unwrap();
    archive.tag_add("new", &ids[1]).unwrap();
    assert_eq!(one("new").unwrap(), ids[1]);
    assert_eq!(archive.resolve("both").unwrap().len(), 2);
    assert!(matches!(one("both"), Err(ArchiveError::Ambiguous { count: 2, .. })));
    assert_eq!(archive.tag_remove("both", Some(&ids[1])).unwrap(), 1);
    assert_eq!(one("both").unwrap(), ids[0]);
    for bad in ["", "2026", "latest", "a/b", "a b", "deadbeef", &"a".repeat(65)] {
        assert!(matches!(archive.tag_add(bad, &ids[0]), Err(ArchiveError::BadTag { .. })), "{bad}");
    }
    assert!(matches!(archive.tag_add("x", "20200101T000000Z-00000000"), Err(ArchiveError::NotFound { .. })));
    archive.write_report(&ids[1], "<html>").unwrap();
    archive.delete(&ids[1]).unwrap();
    assert!(!archive.report_path(&ids[1]).exists());
    assert!(!archive.tags().unwrap().contains_key("new"));
    assert_eq!(archive.list().unwrap().into_iter().map(|e| e.id).collect::<Vec<_>>(), [ids[0].clone()]);
    let RunRef { id, path } = archive.resolve_one("latest").unwrap();
    assert_eq!((id, path), (ids[0].clone(), archive.run_dir(&ids[0])));
}

#[test]
fn the_index_mends_itself() {
    let (_directory, archive) = archive();
    let runs: Vec<Run> =
        (0..3).map(|i| Run { id: crate::run_id("20261120T213000Z", 0, i), ..measured_run(u64::from(i), 1) }).collect();
    runs.iter().for_each(|r| drop(archive.save(r).unwrap()));
    let index = archive.directory().join("index.jsonl");
    let sound = fs::read(&index).unwrap();
    let list = archive.list().unwrap();
    assert_eq!(list.len(), 3);
    assert_eq!(list[1].run.as_ref().unwrap().target, runs[1].target.name);
    let broken: [&[u8]; 5] = [b"", b"nonsense\n", &sound[..sound.len() - 5], b"\xff\xfe", &sound[1..]];
    for content in broken {
        fs::write(&index, content).unwrap();
        assert_eq!(archive.list().unwrap(), list);
        assert_eq!(fs::read(&index).unwrap(), sound);
    }
    fs::remove_file(&index).unwrap();
    assert_eq!(archive.list().unwrap(), list);
    // A bundle that came by copying, and one that went.
    fs::rename(archive.run_dir(&runs[0].id), archive.directory().join("elsewhere")).unwrap();
    assert_eq!(archive.list().unwrap().len(), 2);
    fs::rename(archive.directory().join("elsewhere"), archive.run_dir(&runs[0].id)).unwrap();
    assert_eq!(archive.list().unwrap(), list);
    // One that cannot be read is listed with its problem.
    fs::write(archive.run_dir(&runs[2].id).join("run.json"), "{").unwrap();
    assert_eq!(archive.reindex().unwrap(), 3);
    assert!(archive.list().unwrap()[2].problem.is_some());
}

#[test]
fn two_writers_do_not_disturb_each_other() {
    let (_directory, archive) = archive();
    std::thread::scope(|s| {
        for writer in 0..4u16 {
            let archive = &archive;
            s.spawn(move || {
                for i in 0..8 {
                    let run = Run { id: crate::run_id("20261120T213000Z", 0, writer * 100 + i), ..measured_run(5, 1) };
                    archive.save(&run).unwrap();
                    archive.tag_add(&format!("writer-{writer}"), &run.id).unwrap();
                    archive.list().unwrap();
                    archive.recover().unwrap();
                }
            });
        }
    });
    assert_eq!(archive.list().unwrap().len(), 32);
    assert_eq!(fs::read_to_string(archive.directory().join("index.jsonl")).unwrap().lines().count(), 32);
    assert!(archive.tags().unwrap().values().all(|ids| ids.len() == 8));
}

fn only_entries(path: &Path) -> usize {
    fs::read_dir(path).unwrap().count()
}

#[test]
fn a_live_run_is_left_alone_and_an_empty_one_goes() {
    let (_directory, archive) = archive();
    let run = measured_run(9, 2);
    let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
    assert!(matches!(archive.recover().unwrap()[0].outcome, Recovered::InProgress));
    assert!(matches!(archive.begin(&run), Err(ArchiveError::Exists { .. })));
    partial.phase_done(&so_far(&run, 1)).unwrap();
    assert!(matches!(archive.recover().unwrap()[0].outcome, Recovered::InProgress));
    drop(partial);
    let recovered = archive.recover().unwrap();
    assert!(matches!(recovered[0].outcome, Recovered::Truncated { .. }), "{recovered:?}");
    let loaded = archive.load(&run.id).unwrap();
    assert_eq!(loaded.state, model::RunState::Truncated);
    assert_eq!(loaded.phases, so_far(&run, 1).phases);
    archive.delete(&run.id).unwrap();
    drop(archive.begin(&so_far(&run, 0)).unwrap());
    archive.begin(&so_far(&run, 0)).unwrap().discard().unwrap();
    assert_eq!(only_entries(&archive.directory().join("runs")), 0);
}

#[test]
fn phases_of_one_name_are_refused_before_anything_is_measured() {
    let (_directory, archive) = archive();
    let mut run = measured_run(9, 2);
    run.plan.phases[1].name = run.plan.phases[0].name.clone();
    assert!(matches!(archive.begin(&run), Err(ArchiveError::Unstorable { .. })));
    assert!(!archive.directory().exists());
}

#[test]
fn an_archive_that_cannot_be_written_says_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Archive::open(file.join("archive")).begin(&measured_run(1, 1)).unwrap_err();
    assert!(error.remedy().unwrap().contains("--archive"), "{error}");
    assert_eq!(error.kind().exit_code(), 3);
    let full = ArchiveError::Io { action: "write", path: "/a".into(), source: rustix::io::Errno::NOSPC.into() };
    assert!(full.is_full() && full.remedy().unwrap().contains("free space"));
    let remedy = |action, errno: rustix::io::Errno| {
        ArchiveError::Io { action, path: "/a".into(), source: errno.into() }.remedy()
    };
    assert!(remedy("open the lock", rustix::io::Errno::MFILE).unwrap().contains("ulimit -n"));
    assert!(remedy("open", rustix::io::Errno::NFILE).unwrap().contains("fs.file-max"));
    assert!(remedy("create the directory", rustix::io::Errno::NOENT).unwrap().contains("--archive"));
    assert_eq!(remedy("read", rustix::io::Errno::NOENT), None, "a file that is missing is no matter of the place");
}

#[test]
fn foreign_bytes_are_kept_and_covered_by_the_checksums() {
    let (_directory, archive) = archive();
    let run = run(5);
    let mut partial = archive.begin(&run).unwrap();
    for name in ["", ".hidden", "../out", "a/b", "a\nb"] {
        assert!(matches!(partial.raw(name, &mut &b"x"[..]), Err(ArchiveError::Unstorable { .. })), "{name:?}");
    }
    partial.raw("fio output.txt", &mut &b"\xff\0\r\nx"[..]).unwrap();
    let path = partial.finish(&run).unwrap();
    let raw = path.join("raw/fio output.txt");
    assert_eq!(fs::read(&raw).unwrap(), b"\xff\0\r\nx");
    assert_eq!(archive.load(&run.id).unwrap(), run);
    assert!(archive.verify(&run.id).unwrap().is_clean());
    fs::write(&raw, b"y").unwrap();
    assert_eq!(archive.verify(&run.id).unwrap().altered, ["raw/fio output.txt"]);
}
