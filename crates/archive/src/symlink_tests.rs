//! Archives and bundles from elsewhere, made to reach what lies outside of them; modes; what killed programs leave.

use crate::{Archive, ArchiveError, Recovered, RunRef};
use model::Run;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use test_runs::drawn::{measured_run, so_far};

/// A directory beside the archive with a file of every kind that an attack could aim at.
struct OutsideDirectory {
    top: tempfile::TempDir,
}

impl OutsideDirectory {
    fn new() -> (Self, Archive) {
        let top = tempfile::tempdir().unwrap();
        let outside = top.path().join("outside");
        fs::create_dir_all(outside.join("deep")).unwrap();
        for name in ["victim", "series.csv", "run.json", "writer.lock", "deep/file", ".x.1-1.tmp", "a.html.tmp"] {
            fs::write(outside.join(name), format!("precious {name}")).unwrap();
        }
        let archive = Archive::open(top.path().join("archive"));
        (Self { top }, archive)
    }

    fn path(&self) -> PathBuf {
        self.top.path().join("outside")
    }

    /// All that is there, with contents, modes and inodes.
    fn content(&self) -> BTreeMap<PathBuf, (u32, u64, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut left = vec![self.path()];
        while let Some(path) = left.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            }
            let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.insert(path, (metadata.mode(), metadata.ino(), content));
        }
        found
    }
}

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// A partial bundle as a crash leaves it.
fn partial(archive: &Archive) -> (Run, PathBuf) {
    let run = measured_run(11, 2);
    let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
    partial.phase_done(&so_far(&run, 1)).unwrap();
    let path = partial.directory().to_owned();
    drop(partial);
    (run, path)
}

/// Everything that a command may do with an archive; what comes of it is not asked.
fn everything(archive: &Archive, id: &str) {
    let _ = archive.recover();
    let _ = archive.list();
    let _ = archive.reindex();
    let _ = archive.verify(id);
    let _ = archive.load(id);
    let _ = archive.load_summary(id);
    let _ = archive.tag_add("t", id);
    let _ = archive.write_report(id, "<html>");
    let _ = archive.write_side_file("experiments/e.json", b"{}");
    let _ = archive.read_side_file("experiments/e.json");
    let _ = archive.list_side_files("experiments");
    let _ = archive.lock_side_file("experiments/e.lock");
    let _ = archive.write_side_file("noise.json", b"{}");
    let _ = archive.remove_side_file("experiments/e.json");
    for found in archive.resolve("latest").into_iter().flatten() {
        let _ = (found.load().is_ok(), found.verify().is_ok());
    }
    let _ = archive.save(&measured_run(12, 1));
    let _ = archive.delete(id);
    let _ = archive.recover();
}

#[test]
fn links_in_an_archive_lead_nowhere() {
    // Each a path in the archive that an attacker made a link to a directory or a file outside.
    let directories =
        ["runs", "reports", "experiments", "runs/ID", "runs/.ID.partial", "runs/.ID.deleted", "runs/ID/raw"];
    let files = [
        "index.jsonl",
        "tags.toml",
        "noise.json",
        "counter",
        "archive.lock",
        "experiments/e.json",
        "experiments/e.lock",
        "reports/ID.html",
        "reports/.ID.html.1-1.tmp",
        "reports/ID.html.tmp",
        "runs/.ID.partial/run.json",
        "runs/.ID.partial/series.csv",
        "runs/.ID.partial/latency.csv",
        "runs/.ID.partial/order",
        "runs/.ID.partial/SHA256SUMS",
        "runs/.ID.partial/writer.lock",
        "runs/.ID.partial/.run.json.1-1.tmp",
        "runs/.ID.partial/raw",
        "runs/ID/run.json",
        "runs/ID/order",
        "runs/ID/SHA256SUMS",
    ];
    for hard in [false, true] {
        let named = directories.iter().filter(|_| !hard).map(|d| (*d, "")).chain(files.iter().map(|f| (*f, "victim")));
        for (inside, aim) in named {
            let (outside, archive) = OutsideDirectory::new();
            let (run, left) = partial(&archive);
            if inside.starts_with("runs/ID") || inside.starts_with("runs/.ID.deleted") {
                archive.recover().unwrap();
            }
            let before = outside.content();
            let link = archive.directory().join(inside.replace("ID", &run.id));
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            if fs::symlink_metadata(&link).is_ok_and(|m| m.is_dir()) {
                fs::rename(&link, outside.top.path().join("moved")).unwrap();
            } else {
                let _ = fs::remove_file(&link);
            }
            match hard {
                true => fs::hard_link(outside.path().join(aim), &link).unwrap(),
                false => symlink(outside.path().join(aim), &link).unwrap(),
            }
            everything(&archive, &run.id);
            assert_eq!(outside.content(), before, "{inside}, hard: {hard}, {}", left.display());
        }
    }
}

#[test]
fn what_a_partial_bundle_says_of_itself_moves_nothing() {
    let ids = [
        "../../outside/deep",
        "/tmp/x",
        "..",
        "",
        "20260101T000000Z-00000000",
        "a/b",
        "x\0y",
        "20260101T000000Z-0000000/",
    ];
    for id in ids {
        let (outside, archive) = OutsideDirectory::new();
        let (run, path) = partial(&archive);
        let before = outside.content();
        let text = fs::read_to_string(path.join("run.json")).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["id"] = id.into();
        fs::write(path.join("run.json"), json.to_string()).unwrap();
        let recovered = archive.recover().unwrap();
        assert!(matches!(recovered[0].outcome, Recovered::Failed(ArchiveError::Corrupt { .. })), "{id}: {recovered:?}");
        assert!(path.is_dir() && archive.ids().unwrap().is_empty(), "{id}: left as it is");
        assert_eq!(outside.content(), before, "{id}");
        // Loaded by its path it has no id that could become the name of a file.
        if id != "20260101T000000Z-00000000" {
            let found = RunRef { id: run.id.clone(), path: path.clone() };
            assert!(found.load().is_err(), "{id}");
        }
        assert!(matches!(archive.write_report(id, "x"), Err(ArchiveError::Unstorable { .. })) || crate::is_run_id(id));
        assert_eq!(outside.content(), before, "{id}");
    }
}

#[test]
fn special_files_in_a_bundle_neither_hang_nor_are_opened() {
    for name in [
        "run.json",
        "series.csv",
        "latency.csv",
        "system.csv",
        "kernel.log",
        "order",
        "SHA256SUMS",
        "writer.lock",
        "raw/x",
    ] {
        let (outside, archive) = OutsideDirectory::new();
        let (run, path) = partial(&archive);
        let before = outside.content();
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&file);
        fifo(&file);
        everything(&archive, &run.id);
        assert_eq!(outside.content(), before, "{name}");
        if let Ok(kept) = fs::symlink_metadata(&file) {
            assert!(kept.file_type().is_fifo(), "{name}");
        }
    }
}

#[test]
fn a_deletion_that_was_cut_off_is_finished_without_following_links() {
    let (outside, archive) = OutsideDirectory::new();
    let (run, _) = partial(&archive);
    archive.recover().unwrap();
    let deleted = archive.directory().join(format!("runs/.{}.deleted", run.id));
    fs::create_dir_all(deleted.join("a/b")).unwrap();
    symlink(outside.path(), deleted.join("a/link")).unwrap();
    symlink(outside.path(), deleted.join("a/b/link")).unwrap();
    let before = outside.content();
    archive.recover().unwrap();
    assert!(!deleted.exists());
    assert_eq!(outside.content(), before);
    // So deep that every level would take a descriptor: an error, not a crash, and the rest goes on.
    let mut deep = deleted.clone();
    for _ in 0..200 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    assert!(archive.recover().is_err());
    fs::remove_dir_all(&deleted).unwrap();
}

#[test]
fn a_new_archive_is_its_owners_alone_and_an_older_one_keeps_its_mode() {
    let modes = |top: &Path| -> BTreeMap<PathBuf, u32> {
        let mut found = BTreeMap::new();
        let mut left = vec![top.to_owned()];
        while let Some(path) = left.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            }
            found.insert(path, metadata.mode() & 0o7777);
        }
        found
    };
    for (made, directory_mode, file_mode) in
        [(None, 0o700, 0o600), (Some(0o2770), 0o2770, 0o660), (Some(0o750), 0o750, 0o640), (Some(0o755), 0o755, 0o644)]
    {
        let top = tempfile::tempdir().unwrap();
        let place = top.path().join("data/archive");
        if let Some(mode) = made {
            fs::create_dir_all(&place).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        }
        let archive = Archive::open(&place);
        let run = measured_run(3, 1);
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        partial.raw("tool.txt", &mut &b"x"[..]).unwrap();
        partial.phase_done(&run).unwrap();
        let while_written = modes(&place);
        partial.finish(&run).unwrap();
        archive.write_report(&run.id, "<html>").unwrap();
        archive.tag_add("t", &run.id).unwrap();
        archive.write_side_file("experiments/e.json", b"{}").unwrap();
        drop(archive.lock_side_file("experiments/e.lock").unwrap());
        for (path, mode) in while_written.into_iter().chain(modes(&place)) {
            // Of a bundle that got its name meanwhile.
            let is_directory = path.extension().is_none_or(|e| e == "partial")
                && !["order", "SHA256SUMS", "counter"].iter().any(|n| path.ends_with(n));
            let wanted = if is_directory { directory_mode } else { file_mode };
            assert_eq!(mode, wanted, "{}: {mode:o}, not {wanted:o}", path.display());
        }
        if made.is_none() {
            assert_eq!(fs::metadata(top.path().join("data")).unwrap().mode() & 0o777, 0o700);
        }
    }
}

#[test]
fn what_a_killed_program_left_is_swept_and_nothing_else() {
    let (outside, archive) = OutsideDirectory::new();
    let run = measured_run(5, 1);
    archive.save(&run).unwrap();
    archive.write_report(&run.id, "<html>").unwrap();
    archive.write_side_file("experiments/e-1.json", b"{}").unwrap();
    let at = |name: &str| archive.directory().join(name.replace("ID", &run.id));
    let left = [
        "reports/.ID.html.4711-0.tmp",
        "reports/ID.html.tmp",
        "reports/.e-20260101T000000Z-00ff.html.1-2.tmp",
        "experiments/.e-1.json.4711-12.tmp",
        "experiments/e-1.json.tmp",
        "experiments/.e-1.restore.json.3-4.tmp",
        "experiments/e-1.lock",
        ".index.jsonl.4711-1.tmp",
        ".tags.toml.4711-1.tmp",
        "index.jsonl.tmp",
        ".counter.9-9.tmp",
        ".noise.json.9-9.tmp",
    ];
    let others = [
        "reports/mine.txt",
        "reports/.mine.txt.1-1.tmp",
        "reports/notes.tmp",
        "reports/.ID.html.swp",
        "experiments/e-1.json.bak",
        "experiments/a b.json.tmp",
        ".mine.1-1.tmp",
        "mine.tmp",
        "mine.lock",
        "reports/e.lock",
    ];
    let make = |names: &[&str]| names.iter().for_each(|n| fs::write(at(n), "x").unwrap());
    make(&left);
    make(&others);
    symlink(outside.path().join("victim"), at("reports/.e.html.1-1.tmp")).unwrap();
    fs::create_dir(at("reports/.d.html.1-1.tmp")).unwrap();
    let before = outside.content();
    // Held by a living writer.
    fs::write(at("reports/.held.html.1-1.tmp"), "x").unwrap();
    let writer = fs::File::open(at("reports/.held.html.1-1.tmp")).unwrap();
    rustix::fs::flock(&writer, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let held = archive.lock_side_file("experiments/running.lock").unwrap().unwrap();
    let starts: [&dyn Fn(); 3] = [
        &|| drop(archive.recover().unwrap()),
        &|| archive.begin(&so_far(&measured_run(6, 1), 0)).unwrap().discard().unwrap(),
        &|| drop(archive.write_report(&run.id, "<html>").unwrap()),
    ];
    for start in starts {
        start();
        for name in left {
            assert!(fs::symlink_metadata(at(name)).is_err(), "{name} stays");
        }
        for name in others {
            assert!(at(name).exists(), "{name} is gone");
        }
        assert!(at("reports/.held.html.1-1.tmp").exists() && at("experiments/running.lock").exists());
        assert!(at("reports/.e.html.1-1.tmp").is_symlink() && at("reports/.d.html.1-1.tmp").is_dir());
        assert_eq!(outside.content(), before);
        make(&left);
    }
    assert!(archive.lock_side_file("experiments/running.lock").unwrap().is_none(), "one process has it");
    drop((writer, held));
    archive.recover().unwrap();
    assert!(!at("reports/.held.html.1-1.tmp").exists() && !at("experiments/running.lock").exists());
}

#[test]
fn a_write_that_fails_leaves_nothing() {
    let (_outside, archive) = OutsideDirectory::new();
    archive.save(&measured_run(5, 1)).unwrap();
    // A directory has the name: the new content is whole, and cannot get it.
    for name in ["noise.json", "experiments/e.json"] {
        fs::create_dir_all(archive.side_path(name).join("x")).unwrap();
        assert!(archive.write_side_file(name, b"{}").is_err());
        let directory = archive.side_path(name);
        let names: Vec<String> = fs::read_dir(directory.parent().unwrap())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(names.iter().all(|n| !n.ends_with(".tmp")), "{names:?}");
    }
}

#[test]
fn many_writers_of_one_page_and_sweepers_do_not_disturb_each_other() {
    let (_outside, archive) = OutsideDirectory::new();
    let id = measured_run(5, 1).id;
    std::thread::scope(|s| {
        for writer in 0..4 {
            let archive = &archive;
            let id = &id;
            s.spawn(move || {
                for i in 0..50 {
                    archive.write_report(id, &format!("{writer}-{i} ").repeat(1000)).unwrap();
                    let page = fs::read_to_string(archive.report_path(id)).unwrap();
                    let word = page.split(' ').next().unwrap().to_owned();
                    assert_eq!(page, format!("{word} ").repeat(1000), "a page is one writer's");
                }
            });
        }
    });
    assert_eq!(fs::read_dir(archive.reports_dir()).unwrap().count(), 1);
}

#[test]
fn checksums_have_one_form() {
    let (_outside, archive) = OutsideDirectory::new();
    let run = measured_run(5, 1);
    let sums = archive.save(&run).unwrap().join("SHA256SUMS");
    let text = fs::read_to_string(&sums).unwrap();
    assert!(archive.verify(&run.id).unwrap().is_clean());
    let mut lines: Vec<&str> = text.lines().collect();
    lines.reverse();
    let upper: String = text.lines().map(|l| l[..64].to_ascii_uppercase() + &l[64..] + "\n").collect();
    let one_letter = text.replacen(|c: char| c.is_ascii_lowercase() && c.is_ascii_hexdigit(), "A", 1);
    let others = [
        upper,
        one_letter,
        text.replace('\n', "\r\n"),
        text.trim_end().to_owned(),
        format!("{text}\n"),
        text.clone() + lines[0] + "\n",
        lines.join("\n") + "\n",
        text.replace("  ", " *"),
    ];
    for other in others {
        assert_ne!(other, text);
        fs::write(&sums, &other).unwrap();
        assert!(!archive.verify(&run.id).is_ok_and(|v| v.is_clean()), "{other}");
    }
    fs::write(&sums, &text).unwrap();
    assert!(archive.verify(&run.id).unwrap().is_clean());
}
