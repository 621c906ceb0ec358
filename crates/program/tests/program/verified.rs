//! Verified is what came from the device. What only came from memory is said to be that, and the answer is 4.

use crate::program::Scratch;
use serde_json::Value;
use std::path::Path;

/// A workload of our language that writes and verifies; without `access` it goes through the page cache.
fn workload(scratch: &Scratch, more: &str) -> String {
    let path = scratch.path().join("verify.toml");
    let text = format!(
        "name = \"v\"\n[[phase]]\nname = \"write\"\noperation = \"write\"\nregion = \"4MiB\"\nblock-size = \"64KiB\"\n\
         verify = \"stamp\"\n{more}"
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn in_memory(directory: &Path) -> bool {
    // TMPFS_MAGIC (k:include/uapi/linux/magic.h).
    rustix::fs::statfs(directory).is_ok_and(|s| s.f_type as u64 == 0x0102_1994)
}

#[test]
fn what_was_written_through_the_page_cache_is_verified_on_the_device() {
    let scratch = Scratch::new();
    let target = scratch.target();
    if in_memory(&target) {
        return println!("SKIPPED: temporary files lie in memory here");
    }
    for access in ["", "access = \"buffered\"\n", "access = \"direct\"\n", "engine = \"mmap\"\n"] {
        let job = workload(&scratch, access);
        let ended = scratch.run(["run", &job, target.to_str().unwrap(), "--json"]);
        let document: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stderr));
        let verify = &document["phases"][0]["verify"];
        assert_eq!(verify["read_from"]["state"], "device", "{access}: {verify}");
        assert_eq!(verify["read_back"], "complete", "{access}: {verify}");
        assert_eq!(document["verify"]["read_from"], verify["read_from"]);
        let run = document["run_id"].as_str().unwrap();
        let shown = scratch.run(["runs", "show", run]).stdout;
        assert!(shown.contains("from the device: nothing wrong"), "{access}: {shown}");
        // Its figures may be refused on a busy machine; the verification stands.
        assert!(ended.code == 0 || ended.code == 4, "{}", ended.stderr);
    }
}

#[test]
fn where_there_is_no_device_it_was_verified_in_memory_only() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { return println!("SKIPPED: no /dev/shm") };
    if !in_memory(directory.path()) {
        return println!("SKIPPED: /dev/shm is not a tmpfs");
    }
    let scratch = Scratch::new();
    let file = directory.path().join("image");
    std::fs::write(&file, vec![1; 8 << 20]).unwrap();
    for (access, target) in [("", directory.path()), ("access = \"direct\"\n", directory.path()), ("", file.as_path())]
    {
        let job = workload(&scratch, access);
        let mut args = vec!["run", job.as_str(), target.to_str().unwrap()];
        args.extend((target == file).then_some("--overwrite"));
        let ended = scratch.run(&args);
        assert_eq!(ended.code, 4, "{} {}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains("verified in memory only (tmpfs has no device)"), "{}", ended.stdout);
        assert!(!ended.stdout.contains("nothing wrong"), "{}", ended.stdout);
        let list = scratch.json(["runs", "--json"], 0);
        let run = list["runs"][0]["run_id"].as_str().unwrap();
        let document = scratch.json(["runs", "show", run, "--json"], 0);
        let source = &document["verify"]["read_from"];
        assert_eq!(source["state"], "memory", "{document}");
        assert_eq!(source["because"]["no-device"]["file_system"], "tmpfs", "{document}");
    }
}

/// It keeps no data, so it is refused before anything is done; a simulated disk keeps what is verified.
#[test]
fn what_keeps_nothing_is_not_verified() {
    let scratch = Scratch::new();
    let ended = scratch.run(["run", &workload(&scratch, ""), "null:"]);
    assert_eq!(ended.code, 3, "{} {}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("nothing to verify"), "{}", ended.stderr);
    for (target, said) in [("sim:nvme", "nothing wrong"), ("sim:nvme,data-fault=bit-rot,data-fault-at=9", "DATA WRONG")]
    {
        let ended = scratch.run(["run", &workload(&scratch, ""), target]);
        assert_eq!(ended.code, i32::from(said != "nothing wrong"), "{} {}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains(said), "{}", ended.stdout);
    }
}
