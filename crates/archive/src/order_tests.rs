//! The order in which runs ended, and what "latest" and a path mean.

use crate::{Archive, RunRef};
use model::Run;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use test_runs::drawn::{measured_run, so_far};

fn fresh() -> (tempfile::TempDir, Archive) {
    let top = tempfile::tempdir().unwrap();
    let archive = Archive::open(top.path().join("archive"));
    (top, archive)
}

fn at_time(utc: &str, random: u16) -> Run {
    Run { id: crate::run_id(utc, 0, random), ..measured_run(u64::from(random), 1) }
}

#[test]
fn the_latest_run_is_the_one_that_ended_last_whatever_the_clock_says() {
    let (_top, archive) = fresh();
    let latest = |archive: &Archive| archive.resolve_one("latest").unwrap().id;
    let (first, second) = (at_time("20261120T213000Z", 1), at_time("20261121T080000Z", 2));
    archive.save(&second).unwrap();
    archive.save(&first).unwrap();
    assert_eq!(latest(&archive), first.id, "its clock was a day behind");
    // A board without a clock chip, each boot in 1970; several runs, some of the same second.
    let boots: Vec<Run> =
        (3..9).map(|n| at_time(["19700101T000012Z", "19700101T000007Z"][usize::from(n % 2)], n)).collect();
    for run in &boots {
        archive.save(run).unwrap();
        assert_eq!(latest(&archive), run.id);
    }
    // The index, and the counter, are found again from the bundles.
    for name in ["index.jsonl", "counter"] {
        fs::remove_file(archive.side_path(name)).unwrap();
        assert_eq!(latest(&archive), boots.last().unwrap().id, "without {name}");
    }
    archive.reindex().unwrap();
    let after = at_time("19700101T000001Z", 20);
    archive.save(&after).unwrap();
    assert_eq!(latest(&archive), after.id);
    let broken = ["", "x", "99999999999999999999\n", "-5\n", "18446744073709551615\n"];
    for (number, broken) in (30..).zip(broken) {
        fs::write(archive.side_path("counter"), broken).unwrap();
        let run = at_time("19700101T000002Z", number);
        archive.save(&run).unwrap();
        assert_eq!(latest(&archive), run.id, "{broken:?}");
    }
    assert!(archive.ids().unwrap().iter().all(|id| archive.verify(id).unwrap().is_clean()));
}

#[test]
fn of_two_runs_at_once_the_latest_is_the_one_that_ended_last() {
    let (_top, archive) = fresh();
    let (long, short) = (at_time("20261120T213000Z", 1), at_time("20261120T220000Z", 2));
    let begun = archive.begin(&long).unwrap();
    archive.save(&short).unwrap();
    assert_eq!(archive.resolve_one("latest").unwrap().id, short.id);
    begun.finish(&long).unwrap();
    assert_eq!(archive.resolve_one("latest").unwrap().id, long.id);
}

#[test]
fn merged_archives_and_bundles_of_earlier_versions_go_by_time() {
    let (top, archive) = fresh();
    let other = Archive::open(top.path().join("other"));
    let old: Vec<Run> = (0..20).map(|n| at_time(&format!("202501{:02}T000000Z", n + 1), n)).collect();
    old.iter().for_each(|run| drop(other.save(run).unwrap()));
    let own = at_time("20261120T213000Z", 100);
    archive.save(&own).unwrap();
    for run in &old {
        fs::rename(other.run_dir(&run.id), archive.run_dir(&run.id)).unwrap();
    }
    assert_eq!(archive.resolve_one("latest").unwrap().id, own.id, "twenty runs of last year are no later");
    // A bundle without a number has the time of its id; one that claims too much is not believed.
    let newer = at_time("20261122T000000Z", 101);
    let path = other.save(&newer).unwrap();
    for order in [None, Some("18446744073709551615\n"), Some("x"), Some("")] {
        let _ = fs::remove_file(path.join("order"));
        if let Some(text) = order {
            fs::write(path.join("order"), text).unwrap();
        }
        let here = archive.run_dir(&newer.id);
        fs::rename(&path, &here).unwrap();
        assert_eq!(archive.resolve_one("latest").unwrap().id, newer.id, "{order:?}");
        let behind = at_time("19700101T000000Z", 200 + order.map_or(0, |o| o.len() as u16));
        archive.save(&behind).unwrap();
        assert_eq!(archive.resolve_one("latest").unwrap().id, behind.id, "made after it was copied here");
        fs::rename(&here, &path).unwrap();
        archive.delete(&behind.id).unwrap();
        archive.reindex().unwrap();
    }
}

#[test]
fn a_run_that_was_recovered_is_as_late_as_it_began() {
    let (_top, archive) = fresh();
    let lost = at_time("20261120T213000Z", 1);
    let mut partial = archive.begin(&so_far(&lost, 0)).unwrap();
    partial.phase_done(&lost).unwrap();
    drop(partial);
    let next = at_time("20261120T214000Z", 2);
    archive.save(&next).unwrap();
    archive.recover().unwrap();
    assert_eq!(archive.ids().unwrap().len(), 2);
    assert_eq!(archive.resolve_one("latest").unwrap().id, next.id);
}

#[test]
fn a_path_means_that_bundle() {
    let (top, archive) = fresh();
    let run = measured_run(5, 1);
    let mine = archive.save(&run).unwrap();
    let other = Archive::open(top.path().join("other"));
    let theirs = other.save(&run).unwrap();
    fs::write(theirs.join("series.csv"), "altered").unwrap();
    let found = |path: &Path| archive.resolve_one(path.to_str().unwrap()).unwrap();
    assert!(archive.holds(&found(&mine)) && found(&mine).verify().unwrap().is_clean());
    assert!(archive.holds(&found(&mine.join("run.json"))));
    assert!(!archive.holds(&found(&theirs)) && !found(&theirs).verify().unwrap().is_clean());
    // By a link from elsewhere it is still the one of this archive; a link in its place is not.
    let link = top.path().join("link");
    symlink(&mine, &link).unwrap();
    assert!(archive.holds(&RunRef { id: run.id.clone(), path: link.canonicalize().unwrap() }));
    fs::rename(&mine, top.path().join("moved")).unwrap();
    symlink(&theirs, &mine).unwrap();
    assert!(!archive.holds(&found(&theirs)));
    assert!(archive.delete(&run.id).is_err() && theirs.join("run.json").exists());
    // One whose run.json is gone can still be checked by its path.
    fs::remove_file(theirs.join("run.json")).unwrap();
    assert_eq!(found(&theirs).verify().unwrap().missing, ["run.json"]);
}
