//! Operations on files over the generic loop: what is made is there, what is removed is gone, and nothing else is touched.

use crate::phases::{open, options};
use engine::{Control, FilesDevice, NullRig, Rig, SimRig, StreamConfig, run_worker};
use engine::{DataGenerator, NoData, PhaseShared};
use model::{
    Direction, Durability, EngineKind, FailureKind, FileKind, FileOperation, FilesPlan, Flush, Limits, PhaseKind,
    PhasePlan, PhaseRecord, StopCause, StopRule, StreamPlan, Warmup,
};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use sys::{BufferPool, Epoch};
use workload::FileStream;

fn phase(files: Vec<FilesPlan>) -> PhasePlan {
    let stream = |files: FilesPlan| StreamPlan { kind: files.into(), seed: 5, ..StreamPlan::default() };
    PhasePlan {
        name: "p".into(),
        kind: PhaseKind::Measure,
        engine: EngineKind::Files,
        streams: files.into_iter().map(stream).collect(),
        time_limit_ns: 60_000_000_000,
        stop: StopRule::RegionOnce,
        warmup: Warmup { min_ns: 0, share: 0.0, max_ns: 0 },
        ..PhasePlan::default()
    }
    .alike()
}

fn files(file_operation: FileOperation, file_count: u64, file_set: u32) -> FilesPlan {
    FilesPlan { file_operation, file_count, file_set, ..FilesPlan::default() }
}

fn names(directory: &Path) -> BTreeSet<String> {
    std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

/// The directory of the run, which is there from its first operation on files.
fn own(target: &Path) -> std::path::PathBuf {
    let name = names(target).into_iter().find(|n| n.starts_with(".narrows-files-")).expect("a directory of its own");
    target.join(name)
}

fn run(rig: &mut impl Rig, files: Vec<FilesPlan>) -> PhaseRecord {
    rig.run(&phase(files), &Control::default()).unwrap()
}

#[test]
fn files_are_made_looked_up_and_removed_and_others_are_left_alone() {
    use FileOperation::*;
    let target = tempfile::tempdir().unwrap();
    std::fs::write(target.path().join("0.0"), "theirs").unwrap();
    let mut rig = open(target.path(), true, options("unknown")).unwrap();
    let made = run(&mut rig, vec![FilesPlan { file_bytes: 5000, file_shuffle: true, ..files(Create, 40, 0) }]);
    assert_eq!((made.operations, made.bytes, made.stop), (40, 200_000, StopCause::RegionDone));
    assert_eq!((made.engine.kind, made.latency.count(), rig.bytes_written()), (EngineKind::Files, 40, 200_000));
    let own = own(target.path());
    let expected: BTreeSet<String> = (0..40).map(|i| format!("0.{i}")).collect();
    assert_eq!(names(&own), expected);
    let contents: BTreeSet<Vec<u8>> = names(&own).iter().map(|n| std::fs::read(own.join(n)).unwrap()).collect();
    assert!(contents.len() == 40 && contents.iter().all(|c| c.len() == 5000), "files of one length that all differ");
    // A second stream has files of its own, and directories are a set of their own.
    let both = run(&mut rig, vec![files(Create, 10, 1), files(Mkdir, 7, 2)]);
    assert_eq!((both.operations, both.streams.len(), names(&own).len()), (17, 2, 57));
    for looked_up in [files(Stat, 40, 0), files(Open, 40, 0), files(StatDir, 7, 2)] {
        let record = run(&mut rig, vec![looked_up.clone()]);
        assert_eq!((record.operations, record.bytes, record.errors.len()), (looked_up.file_count, 0, 0));
    }
    // More than there are: as many as there are.
    assert_eq!(run(&mut rig, vec![files(Stat, 100, 0)]).operations, 40);
    let gone = run(&mut rig, vec![FilesPlan { file_shuffle: true, ..files(Delete, 40, 0) }, files(Rmdir, 7, 2)]);
    assert_eq!((gone.operations, names(&own).len()), (47, 10));
    let nothing = rig.run(&phase(vec![files(Stat, 1, 0)]), &Control::default()).unwrap_err();
    assert!(nothing.message.contains("no files were made"), "{nothing}");
    rig.flush().unwrap();
    drop(rig);
    assert_eq!(names(target.path()), BTreeSet::from(["0.0".to_owned()]));
    assert_eq!(std::fs::read(target.path().join("0.0")).unwrap(), b"theirs");
}

/// All names below a directory, by their paths from there.
fn below(directory: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            all.extend(below(&entry.path()).into_iter().map(|path| format!("{name}/{path}")));
        }
        all.insert(name);
    }
    all
}

#[test]
fn trees_are_made_listed_and_removed() {
    use FileOperation::*;
    let target = tempfile::tempdir().unwrap();
    let mut rig = open(target.path(), true, options("unknown")).unwrap();
    let tree = |operation| FilesPlan { directory_files: 4, directory_levels: 3, ..files(operation, 50, 6) };
    assert_eq!(run(&mut rig, vec![FilesPlan { file_shuffle: true, ..tree(Create) }]).operations, 50);
    let own = own(target.path());
    let made = below(&own);
    // 13 directories of the last level, 2 above them, and 1 above those.
    let (files, directories): (Vec<_>, Vec<_>) = made.iter().partition(|path| own.join(path).is_file());
    assert_eq!((files.len(), directories.len()), (50, 16), "{made:?}");
    assert!(made.contains("6.0/6.1/6.2/6.49") && made.contains("6.0/6.0/6.0/6.0"), "{made:?}");
    let by_directory = |operation| FilesPlan { file_by_directory: true, ..tree(operation) };
    assert_eq!(run(&mut rig, vec![by_directory(Stat)]).operations, 50);
    let listed = run(&mut rig, vec![tree(List)]);
    assert_eq!((listed.operations, listed.bytes, listed.errors.len()), (13, 0, 0));
    for operation in [Stat, Open, Rename, Stat, Rename] {
        let record = run(&mut rig, vec![tree(operation)]);
        assert_eq!((record.operations, record.errors.len()), (50, 0), "{operation:?}");
    }
    assert_eq!(below(&own), made, "renamed, and renamed back");
    assert_eq!(run(&mut rig, vec![by_directory(Delete)]).operations, 50);
    assert_eq!(below(&own).len(), 16, "directories stay until the set is made anew");
    assert_eq!(run(&mut rig, vec![tree(Create)]).operations, 50);
    drop(rig);
    assert!(names(target.path()).is_empty());
}

#[test]
fn files_and_directories_get_other_names_and_other_contents() {
    use FileOperation::*;
    let target = tempfile::tempdir().unwrap();
    let mut rig = open(target.path(), true, options("unknown")).unwrap();
    let of = |operation| FilesPlan { file_bytes: 700, ..files(operation, 9, 0) };
    run(&mut rig, vec![of(Create), files(Mkdir, 5, 1)]);
    let own = own(target.path());
    let inodes = || -> Vec<u64> { names(&own).iter().map(|n| own.join(n).metadata().unwrap().ino()).collect() };
    let first = inodes();
    assert_eq!(run(&mut rig, vec![of(Rename), files(RenameDir, 5, 1)]).operations, 14);
    assert!(names(&own).iter().all(|name| name.ends_with(".moved")), "{:?}", names(&own));
    assert_eq!(run(&mut rig, vec![of(ReadFile), files(StatDir, 5, 1)]).errors.len(), 0);
    let replaced = run(&mut rig, vec![of(Replace)]);
    assert_eq!((replaced.operations, replaced.bytes), (9, 9 * 700));
    let second = inodes();
    let other = first.iter().zip(&second).filter(|(a, b)| a != b).count();
    assert_eq!((first.len(), second.len(), other), (14, 14, 9), "each file is another one");
    // A journal and the file itself, as often as is asked; the journal is gone.
    let before = rig.bytes_written();
    let mut transactions = phase(vec![of(Journal)]);
    transactions.streams[0].limits = Limits { total_operations: Some(30), ..Limits::default() };
    transactions.streams[0].durability = Durability { sync: model::Sync::FdatasyncEach, ..Durability::default() };
    let record = rig.run(&PhasePlan { stop: StopRule::Amount, ..transactions }, &Control::default()).unwrap();
    assert_eq!((record.operations, record.bytes, record.errors.len()), (30, 30 * 1400, 0));
    assert_eq!(rig.bytes_written() - before, 30 * 1400);
    assert_eq!(inodes(), second, "they are written in place");
    let lengths = |name: &String| own.join(name).metadata().unwrap().len();
    assert_eq!(names(&own).iter().map(lengths).filter(|len| *len == 700).count(), 9);
    // Reading is not writing.
    run(&mut rig, vec![of(ReadFile)]);
    assert_eq!(rig.bytes_written() - before, 30 * 1400);
    // One that was broken off leaves names of both kinds: which is whose is not said, and all goes.
    let mut some = phase(vec![of(Rename)]);
    some.streams[0].limits = Limits { total_operations: Some(4), ..Limits::default() };
    rig.run(&PhasePlan { stop: StopRule::Amount, ..some }, &Control::default()).unwrap();
    assert!(rig.run(&phase(vec![of(Stat)]), &Control::default()).is_err());
    assert_eq!(run(&mut rig, vec![files(Rmdir, 5, 1)]).errors.len(), 0);
    drop(rig);
    assert!(names(target.path()).is_empty());
}

#[test]
fn what_was_cut_short_is_made_anew_and_removed_at_the_end() {
    use FileOperation::*;
    let target = tempfile::tempdir().unwrap();
    let mut rig = open(target.path(), true, options("unknown")).unwrap();
    let limited = |files: FilesPlan, operations| {
        let mut phase = phase(vec![files]);
        phase.streams[0].limits = Limits { total_operations: Some(operations), ..Limits::default() };
        PhasePlan { stop: StopRule::Amount, ..phase }
    };
    let control = Control::default();
    assert_eq!(rig.run(&limited(files(Create, 30, 0), 20), &control).unwrap().operations, 20);
    assert_eq!(run(&mut rig, vec![files(Stat, 30, 0)]).operations, 20);
    assert_eq!(rig.run(&limited(files(Delete, 30, 0), 5), &control).unwrap().operations, 5);
    // Which are left is not said: they cannot be looked up, but are no hindrance.
    assert!(rig.run(&phase(vec![files(Stat, 30, 0)]), &control).is_err());
    assert_eq!(run(&mut rig, vec![files(Create, 30, 0)]).operations, 30);
    control.stop();
    let stopped = rig.run(&phase(vec![files(Delete, 30, 0)]), &control).unwrap();
    assert_eq!((stopped.stop, stopped.operations), (StopCause::Interrupted, 0));
    drop(rig);
    assert!(names(target.path()).is_empty());
}

#[test]
fn what_a_killed_run_left_is_removed_and_what_others_put_there_is_not() {
    let target = tempfile::tempdir().unwrap();
    let of = |name: &str| target.path().join(format!(".narrows-files-{name}"));
    for name in ["1-1", "2-2", "3-3"] {
        std::fs::create_dir(of(name)).unwrap();
        std::fs::write(of(name).join("0.17"), "").unwrap();
        std::fs::create_dir(of(name).join("4.0")).unwrap();
    }
    // A tree, in which somebody keeps something, too.
    for (name, file) in [("1-1", "5.0.new"), ("2-2", "theirs")] {
        std::fs::create_dir_all(of(name).join("5.0/5.1")).unwrap();
        std::fs::write(of(name).join("5.0/5.1").join(file), "").unwrap();
        std::fs::write(of(name).join("5.0/5.1/5.17.journal"), "").unwrap();
    }
    // One in which somebody keeps something, one that a run has in its hands, and one that is another's link.
    std::fs::write(of("2-2").join("00.17"), "kept").unwrap();
    std::fs::write(of("2-2").join("notes"), "kept").unwrap();
    let held = sys::open_directory(&of("3-3")).unwrap();
    assert_eq!(sys::lock_exclusively(&held, std::time::Duration::ZERO).unwrap(), sys::Locked::Held);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("0.0"), "kept").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), of("4-4")).unwrap();
    let mut rig = open(target.path(), true, options("unknown")).unwrap();
    run(&mut rig, vec![files(FileOperation::Create, 1, 0)]);
    drop(rig);
    assert!(!of("1-1").exists());
    assert_eq!(
        below(&of("2-2")),
        BTreeSet::from(["00.17", "notes", "5.0", "5.0/5.1", "5.0/5.1/theirs"].map(str::to_owned))
    );
    assert_eq!(names(&of("3-3")), BTreeSet::from(["0.17".to_owned(), "4.0".to_owned()]));
    assert!(elsewhere.path().join("0.0").exists());
}

#[test]
fn too_many_files_and_targets_without_a_file_system_are_refused_before_anything_is_made() {
    let target = tempfile::tempdir().unwrap();
    let mut rig = open(target.path(), true, options("unknown")).unwrap();
    for (many, said) in [
        (files(FileOperation::Mkdir, 1 << 32, 0), ["free inodes", "offers"]),
        (FilesPlan { file_bytes: 1 << 26, ..files(FileOperation::Create, 1 << 20, 0) }, ["free inodes", "offers"]),
    ] {
        let failure = rig.run(&phase(vec![many]), &Control::default()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Environment);
        assert!(said.iter().any(|s| failure.message.contains(s)), "{failure}");
    }
    assert!(names(target.path()).is_empty());
    let create = phase(vec![files(FileOperation::Create, 1, 0)]);
    let mut simulated = SimRig::new(spec::parse_sim("emmc").unwrap(), 100_000_000);
    let file = target.path().join("file");
    std::fs::write(&file, vec![0; 2 << 20]).unwrap();
    let mut of_file = open(&file, true, options("unknown")).unwrap();
    for failure in [
        NullRig::new(100_000_000, 1 << 20).run(&create, &Control::default()).unwrap_err(),
        simulated.run(&create, &Control::default()).unwrap_err(),
        of_file.run(&create, &Control::default()).unwrap_err(),
    ] {
        assert_eq!(failure.kind, FailureKind::Refused);
        assert!(failure.message.contains("no directory") && failure.remedy.is_some(), "{failure}");
    }
}

#[test]
fn a_failed_operation_is_a_completion_with_its_errno() {
    let target = tempfile::tempdir().unwrap();
    std::fs::write(target.path().join("7.1"), "theirs").unwrap();
    let directory = Arc::new(sys::open_directory(target.path()).unwrap());
    let one = |files: FilesPlan, on_error| {
        let mut device =
            FilesDevice::new(Epoch::start(), directory.clone(), &files, true, BufferPool::new(1, 100).unwrap());
        let phase = phase(vec![files.clone()]);
        let stream = StreamPlan { on_error, ..phase.streams[0].clone() };
        let settings = StreamConfig::of(&phase, &stream, 100_000_000);
        let barrier = PhaseShared::new(1, &phase.stop);
        let mut source = FileStream::new(&stream, &files, true, None);
        let control = Control::default();
        match files.file_bytes {
            0 => run_worker(&mut device, &mut source, &mut NoData, &settings, &barrier, &control).unwrap(),
            _ => run_worker(&mut device, &mut source, &mut Some(DataGenerator::new(1)), &settings, &barrier, &control)
                .unwrap(),
        }
    };
    use model::ErrorPolicy::{Continue, Stop};
    let record = one(files(FileOperation::Create, 3, 7), Stop);
    assert_eq!((record.operations, record.stop, &record.errors["EEXIST"]), (1, StopCause::Failed, &1));
    let record = one(FilesPlan { file_bytes: 100, ..files(FileOperation::Create, 4, 7) }, Continue);
    assert_eq!((record.operations, record.bytes, &record.errors["EEXIST"]), (2, 200, &2));
    let record = one(files(FileOperation::Stat, 9, 7), Continue);
    assert_eq!((record.operations, &record.errors["ENOENT"]), (4, &5));
    assert_eq!(std::fs::read(target.path().join("7.1")).unwrap(), b"theirs");
}

#[test]
fn files_of_several_lengths_are_read_whole_and_links_are_made() {
    use FileOperation::{Create, Delete, ReadFile, Stat};
    let target = tempfile::tempdir().unwrap();
    let mut rig = open(target.path(), true, options("unknown")).unwrap();
    let sized = |operation| FilesPlan { file_bytes: 900, file_bytes_least: Some(100), ..files(operation, 50, 0) };
    let made = run(&mut rig, vec![sized(Create)]);
    let own = own(target.path());
    let lengths: Vec<u64> = names(&own).iter().map(|n| std::fs::metadata(own.join(n)).unwrap().len()).collect();
    assert!(lengths.iter().all(|n| (100..=900).contains(n)), "{lengths:?}");
    assert!(lengths.iter().collect::<BTreeSet<_>>().len() > 20, "they differ: {lengths:?}");
    assert_eq!(made.bytes, lengths.iter().sum::<u64>());
    let shuffled = FilesPlan { file_shuffle: true, ..sized(ReadFile) };
    let read = run(&mut rig, vec![shuffled]);
    assert_eq!((read.operations, read.bytes, read.errors.len()), (50, made.bytes, 0));
    for (file_kind, set) in [(FileKind::HardLink, 1), (FileKind::Symlink, 2)] {
        let links = |operation, count| FilesPlan { file_kind, ..files(operation, count, set) };
        assert_eq!(run(&mut rig, vec![links(Create, 30)]).operations, 30);
        let link = std::fs::symlink_metadata(own.join(format!("{set}.7"))).unwrap();
        assert_eq!(link.file_type().is_symlink(), file_kind == FileKind::Symlink);
        let names_of_one = link.nlink();
        assert_eq!(names_of_one, if file_kind == FileKind::HardLink { 31 } else { 1 });
        assert_eq!(run(&mut rig, vec![links(Stat, 30)]).errors.len(), 0);
        assert_eq!(run(&mut rig, vec![links(Delete, 30)]).operations, 30);
        // Once more: what is left of the first time is in nobody's way.
        assert_eq!(run(&mut rig, vec![links(Create, 30)]).operations, 30);
    }
    drop(rig);
    assert!(names(target.path()).is_empty(), "{:?}", names(target.path()));
}

#[test]
fn what_was_made_is_synced_at_the_end_where_that_is_asked_for() {
    let target = tempfile::tempdir().unwrap();
    let mut rig = open(target.path(), true, options("unknown")).unwrap();
    let mut plan = phase(vec![files(FileOperation::Create, 20, 0)]);
    let flush = Flush { fsync_at_end: true, ..Flush::default() };
    plan.streams[0].durability = Durability { flush, ..Durability::default() };
    let record = rig.run(&plan, &Control::default()).unwrap();
    let directions: Vec<(Direction, u64)> =
        record.streams[0].directions.iter().map(|d| (d.direction, d.operations)).collect();
    assert_eq!((record.operations, directions), (20, vec![(Direction::Write, 20), (Direction::Sync, 1)]));
    // They are known to be there: the sync is none of them.
    assert_eq!(run(&mut rig, vec![files(FileOperation::Delete, 20, 0)]).operations, 20);
}
