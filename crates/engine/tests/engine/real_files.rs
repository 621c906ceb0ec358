//! The rig of real files, without any right: the build's file system and /dev/shm.

use crate::phases::*;
use engine::{Control, FileOptions, FileTarget, NullRig, Rig};
use model::{DataProof, DirectProof, EngineKind, FailureKind, StopCause, TargetKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A directory on the file system of the build, which is usually a disk.
fn disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn every_phase_runs_in(directory: &Path) {
    let mut rig = open(directory, true, options(filesystem_of(directory))).unwrap();
    assert_eq!(rig.readable_bytes(), 0);
    for phase in all(8 * MIB) {
        let record = run(&mut rig, &phase);
        println!("{}", shown(&phase, &record));
        assert!(record.operations > 0, "{}", phase.name);
        assert!(record.errors.is_empty(), "{}: {:?}", phase.name, record.errors);
        assert_eq!(record.direct.is_some(), phase.access == model::Access::Direct, "{}", phase.name);
        assert_eq!(record.data.is_some(), !phase.is_write(), "{}", phase.name);
        if let Some(data) = &record.data {
            assert!(matches!(data, DataProof::Real(_)), "{}: {data:?}", phase.name);
        }
        if phase.cold {
            assert_eq!(record.cold.as_ref().unwrap().phase_read_bytes, 8 * MIB);
        }
        rig.flush().unwrap();
    }
    assert_eq!(rig.readable_bytes(), 8 * MIB);
    assert!(rig.bytes_written() > 8 * MIB);
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0, "something was left behind");
}

#[test]
fn every_phase_runs_on_the_builds_file_system() {
    every_phase_runs_in(disk().path());
}

#[test]
fn every_phase_runs_on_tmpfs_and_is_no_direct_io_there() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        println!("SKIPPED: /dev/shm cannot be written to");
        return;
    };
    every_phase_runs_in(directory.path());
    if filesystem_of(directory.path()) != "tmpfs" {
        println!("SKIPPED: /dev/shm is not a tmpfs");
        return;
    }
    let mut rig = open(directory.path(), true, options("tmpfs")).unwrap();
    assert!(rig.max_bytes() <= 512 * MIB, "half of the memory that is available");
    run(&mut rig, &layout(4 * MIB));
    let record = run(&mut rig, &seq_read(4 * MIB));
    assert!(matches!(record.direct, Some(DirectProof::NoDevice(_))), "{:?}", record.direct);
    let cold = run(&mut rig, &buffered_read(4 * MIB)).cold.unwrap();
    assert_eq!(
        cold.resident_pages_before,
        Some(4 * MIB / sys::page_size()),
        "tmpfs pages have nowhere to go: {}",
        cold.method
    );
}

#[test]
fn threads_serve_where_io_uring_must_not() {
    let directory = disk();
    let without = FileOptions { without_io_uring: Some("forbidden by the test".into()), ..options("unknown") };
    let mut rig = open(directory.path(), true, without).unwrap();
    run(&mut rig, &layout(4 * MIB));
    let record = run(&mut rig, &rand_read(4 * MIB, 4));
    assert_eq!(record.engine.kind, EngineKind::PsyncThreads);
    assert!(record.engine.missing.iter().any(|m| m.contains("forbidden by the test")), "{:?}", record.engine.missing);
}

#[test]
fn one_check_a_target() {
    let directory = disk();
    let first = open(directory.path(), true, FileOptions::default()).unwrap();
    let second = open(directory.path(), true, FileOptions::default()).unwrap_err();
    assert_eq!(second.kind, FailureKind::Refused);
    assert!(second.message.contains("another check"), "{second}");
    drop(first);
    open(directory.path(), true, FileOptions::default()).unwrap();
    let file = directory.path().join("data");
    std::fs::write(&file, vec![1; 2 << 20]).unwrap();
    let _first = open(&file, false, FileOptions::default()).unwrap();
    assert_eq!(open(&file, false, FileOptions::default()).unwrap_err().kind, FailureKind::Refused);
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_remedy() {
    let directory = disk();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("tiny"), b"8 bytes!").unwrap();
    rustix_fifo(&path("fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    std::os::unix::fs::symlink("loop", path("loop")).unwrap();
    let cases = [
        ("tiny", FailureKind::Refused, "8 bytes"),
        ("fifo", FailureKind::Refused, "FIFO"),
        ("socket", FailureKind::Refused, "socket"),
        ("missing", FailureKind::Environment, "no such file"),
        ("tiny/below", FailureKind::Environment, "not a directory"),
        ("loop", FailureKind::Environment, "symbolic links"),
        ("/dev/null", FailureKind::Refused, "character device"),
    ];
    for (name, kind, words) in cases {
        let failure = open(&path(name), true, FileOptions::default()).unwrap_err();
        assert_eq!(failure.kind, kind, "{name}: {failure}");
        assert!(failure.message.contains(words), "{name}: {failure}");
        assert!(failure.remedy.is_some(), "{name}");
    }
    assert_eq!(std::fs::read(path("tiny")).unwrap(), b"8 bytes!");
    assert!(!path("missing").exists());
}

fn rustix_fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|s| s.success()), "mkfifo {}", path.display());
}

#[test]
fn a_target_that_is_not_what_it_is_said_to_be_is_an_error() {
    let directory = disk();
    let said = FileTarget { kind: TargetKind::File, ..target(directory.path(), false).unwrap() };
    assert_eq!(engine::FileRig::open(said, FileOptions::default()).unwrap_err().kind, FailureKind::Internal);
}

#[test]
fn a_directory_without_write_permission_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let directory = disk();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    match open(directory.path(), true, FileOptions::default()) {
        Ok(_) => println!("SKIPPED: root may write everywhere"),
        Err(failure) => {
            assert_eq!(failure.kind, FailureKind::Environment);
            assert!(failure.message.contains("no permission to create"), "{failure}");
        }
    }
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_file_is_only_read_and_stays_as_it_was() {
    let directory = disk();
    let path = directory.path().join("data");
    let content: Vec<u8> = (0..4 * MIB).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(&path, &content).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    let mut rig = open(&path, false, options(filesystem_of(directory.path()))).unwrap();
    assert_eq!((rig.max_bytes(), rig.readable_bytes()), (4 * MIB, 4 * MIB));
    for phase in [layout(4 * MIB), seq_write(4 * MIB), sync_write(4 * MIB)] {
        let refused = rig.run(&phase, &Control::default()).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Refused);
    }
    assert_eq!(rig.probe_write(MIB, 1, &Control::default()).unwrap_err().kind, FailureKind::Refused);
    for phase in [seq_read(4 * MIB), buffered_read(4 * MIB), rand_read(4 * MIB, 32)] {
        let record = run(&mut rig, &phase);
        assert!(!matches!(record.data, Some(DataProof::NotReal(_)) | None), "{:?}", record.data);
    }
    assert_eq!(rig.bytes_written(), 0);
    assert!(std::fs::read(&path).unwrap() == content);
}

#[test]
fn holes_are_not_data() {
    let directory = disk();
    let path = directory.path().join("sparse");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(8 * MIB).unwrap();
    file.write_all_at(&vec![5; 65536], 0).unwrap();
    file.sync_all().unwrap();
    let mut rig = open(&path, false, options(filesystem_of(directory.path()))).unwrap();
    let record = run(&mut rig, &seq_read(8 * MIB));
    assert!(matches!(record.data, Some(DataProof::NotReal(_))), "{:?}", record.data);
}

#[test]
fn a_file_that_may_be_overwritten_is_laid_out_first() {
    let directory = disk();
    let path = directory.path().join("victim");
    std::fs::write(&path, vec![0; 4 << 20]).unwrap();
    let mut rig = open(&path, true, options(filesystem_of(directory.path()))).unwrap();
    run(&mut rig, &layout(4 * MIB));
    let record = run(&mut rig, &seq_read(4 * MIB));
    assert!(matches!(record.data, Some(DataProof::Real(_))), "{:?}", record.data);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 4 * MIB);
    assert!(std::fs::read(&path).unwrap().iter().any(|b| *b != 0));
}

#[test]
fn a_layout_without_time_clips_what_follows() {
    let directory = disk();
    let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).unwrap();
    let mut short = layout(1 << 40);
    short.time_limit_ns = 30_000_000;
    short.streams[0].block_mut().region_bytes = rig.max_bytes().min(1 << 40);
    let record = run(&mut rig, &short);
    assert_eq!(record.stop, StopCause::TimeUsed);
    let readable = rig.readable_bytes();
    assert_eq!(readable, record.bytes / MIB * MIB);
    let read = run(&mut rig, &buffered_read(readable + 64 * MIB));
    assert_eq!(read.bytes, readable);
    assert!(matches!(&read.data, Some(DataProof::Real(basis)) if basis.contains("clipped")), "{:?}", read.data);
}

#[test]
fn without_a_layout_there_is_nothing_to_read() {
    let directory = disk();
    let mut rig = open(directory.path(), true, FileOptions::default()).unwrap();
    let failure = rig.run(&seq_read(MIB), &Control::default()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Environment);
    assert!(failure.remedy.unwrap().contains("--budget"));
}

#[test]
fn blocks_that_do_not_suit_direct_io_are_told() {
    let directory = disk();
    let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).unwrap();
    run(&mut rig, &layout(2 * MIB));
    let mut odd = rand_read(2 * MIB, 1);
    odd.streams[0].block_mut().block_size_bytes = 1000;
    match rig.run(&odd, &Control::default()) {
        Err(failure) => assert!(failure.message.contains("multiples of"), "{failure}"),
        Ok(r) => println!("SKIPPED: this file system tells no alignment: {:?}", r.errors),
    }
}

#[test]
fn the_probe_counts_and_leaves_nothing() {
    let directory = disk();
    let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).unwrap();
    let probe = rig.probe_write(4 * MIB, 10_000_000_000, &Control::default()).unwrap();
    assert_eq!(probe.bytes, 4 * MIB);
    assert!(probe.bytes_per_s().unwrap() > 0.0);
    assert!(rig.bytes_written() >= 4 * MIB);
    assert_eq!(rig.readable_bytes(), 0);
    let one = rig.probe_write(64 * MIB, 0, &Control::default()).unwrap();
    assert_eq!(one.bytes, MIB, "at least one block, even without time");
}

#[test]
fn a_stopped_phase_is_still_a_record_and_the_rig_goes_on() {
    let directory = disk();
    let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).unwrap();
    run(&mut rig, &layout(4 * MIB));
    let control = Control::default();
    control.stop();
    for phase in all(4 * MIB).into_iter().skip(1) {
        let record = rig.run(&phase, &control).unwrap();
        assert_eq!(record.stop, StopCause::Interrupted, "{}", phase.name);
    }
    rig.idle(60_000_000_000, &control);
    assert!(run(&mut rig, &rand_read(4 * MIB, 1)).operations > 0);
}

#[test]
fn a_file_cut_short_meanwhile_gives_short_operations_not_a_crash() {
    let directory = disk();
    let path = directory.path().join("shrinking");
    std::fs::write(&path, vec![7; 4 << 20]).unwrap();
    let mut rig = open(&path, false, options(filesystem_of(directory.path()))).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(2 * MIB).unwrap();
    let record = run(&mut rig, &seq_read(4 * MIB));
    assert!(record.short_operations > 0 || !record.errors.is_empty());
}

/// Not a test of its own: what the next test kills. It lays a file out and then waits for its end.
#[test]
fn victim_of_sigkill() {
    let Ok(directory) = std::env::var("NARROWS_TEST_VICTIM_DIRECTORY") else { return };
    let mut rig = open(Path::new(&directory), true, FileOptions::default()).unwrap();
    run(&mut rig, &layout(8 * MIB));
    println!("ready");
    rig.idle(60_000_000_000, &Control::default());
}

#[test]
fn sigkill_leaves_neither_a_file_nor_a_lock() {
    use std::io::{BufRead, BufReader};
    let directory = disk();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "real_files::victim_of_sigkill", "--nocapture"])
        .env("NARROWS_TEST_VICTIM_DIRECTORY", directory.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("ready")), "the victim ended by itself");
    assert_eq!(open(directory.path(), true, FileOptions::default()).unwrap_err().kind, FailureKind::Refused);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    open(directory.path(), true, FileOptions::default()).unwrap();
}

#[test]
fn memory_is_copied_on_every_rig() {
    let directory = disk();
    let mut copy = layout(0);
    copy.set_engine(EngineKind::Memory);
    copy.streams.clear();
    copy.time_limit_ns = 20_000_000;
    let small = FileOptions { memory_available_bytes: Some(64 << 20), ..FileOptions::default() };
    let mut file = open(directory.path(), true, small).unwrap();
    for record in [
        file.run(&copy, &Control::default()).unwrap(),
        NullRig::new(10_000_000, 4 * MIB).run(&copy, &Control::default()).unwrap(),
    ] {
        assert_eq!(record.engine.kind, EngineKind::Memory);
        assert!(record.bytes > 0 && record.direct.is_none());
    }
    assert_eq!(file.bytes_written(), 0);
}

#[test]
fn null_does_nothing_in_every_phase() {
    let mut rig = NullRig::new(10_000_000, 4 * MIB);
    for phase in all(8 * MIB) {
        let record = rig.run(&phase, &Control::default()).unwrap();
        assert_eq!(record.engine.kind, EngineKind::Null);
        assert!(record.operations > 0);
        assert_eq!((record.direct, record.data, record.cold), (None, None, None));
    }
    assert_eq!(rig.bytes_written(), 0);
}
