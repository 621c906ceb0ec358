//! Operations on files, as a user asks for them.

use crate::program::Scratch;

const TEXT: &str = r#"
name = "mail"
quiet = "20ms"
[defaults]
own-files = 300
[[phase]]
name = "create"
operation = "create"
file-size = "4KiB"
durable = true
[[phase]]
name = "stat"
operation = "stat"
file-order = "random"
[[phase]]
name = "delete"
operation = "delete"
"#;

fn entries(directory: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn files_are_counted_as_files_and_nothing_is_left_behind() {
    let scratch = Scratch::new();
    let (target, text) = (scratch.target(), scratch.path().join("mail.toml"));
    std::fs::write(&text, TEXT).unwrap();
    std::fs::write(target.join("0.0"), "theirs").unwrap();
    let arguments = ["run", text.to_str().unwrap(), target.to_str().unwrap()];
    let plan = scratch.run(arguments.iter().chain(&["--plan"]));
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    for said in ["create 300 files of 4 KiB", "fsync of each", "stat 300 files in random order", "delete 300 files"] {
        assert!(plan.stdout.replace("\n     ", " ").contains(said), "{said}: {}", plan.stdout);
    }
    assert_eq!(entries(&target), ["0.0"]);
    let run = scratch.json(arguments.iter().chain(&["--json"]), 0);
    let phases = run["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["create", "stat", "delete"]);
    for phase in phases {
        // On a busy machine a number is refused, and kept as that.
        assert!(phase["status"] == "measured" || phase["status"] == "refused", "{phase}");
        let figure = |m: &serde_json::Value| m["value"].as_f64().or(m["rejected_value"].as_f64()).unwrap();
        let metrics = phase["metrics"].as_array().unwrap();
        let of = |quantity: &str| metrics.iter().find(|m| m["id"].as_str().unwrap().ends_with(quantity));
        let rate = of(".files_per_s").unwrap();
        assert!(figure(rate) > 0.0 && rate["unit"] == "files_per_s", "{rate}");
        assert!(figure(of(".latency_ns_p50").unwrap()) > 0.0);
        assert!(of("bytes_per_s").is_none() && of(".iops").is_none());
    }
    assert_eq!(entries(&target), ["0.0"]);
    assert_eq!(std::fs::read(target.join("0.0")).unwrap(), b"theirs");
    let card = scratch.run(arguments);
    let row = card.stdout.lines().find(|l| l.trim_start().starts_with("create ")).unwrap_or_default();
    assert!(card.code == 0 && (row.contains(" files/s") || row.contains("refused")), "{}", card.stdout);
    assert!(!card.stdout.contains("IOPS  ") || !row.contains("MB/s"), "{}", card.stdout);
}

#[test]
fn what_has_no_file_system_is_refused_with_the_reason() {
    let scratch = Scratch::new();
    let text = scratch.path().join("mail.toml");
    std::fs::write(&text, TEXT).unwrap();
    for (target, reason) in
        [("null:", "null: has no file system"), ("sim:emmc", "a simulated device has no file system")]
    {
        let error = scratch.json(["run", text.to_str().unwrap(), target, "--json"], 3);
        assert!(error["message"].as_str().unwrap().contains(reason), "{error}");
    }
    let absurd = TEXT.replace("300", "4000000000");
    std::fs::write(&text, absurd).unwrap();
    let ended = scratch.run(["run", text.to_str().unwrap(), scratch.target().to_str().unwrap()]);
    assert_ne!(ended.code, 0);
    let said = ["free inodes", "offers", "of memory"];
    assert!(said.iter().any(|s| ended.stderr.contains(s)), "{}{}", ended.stdout, ended.stderr);
    assert!(entries(&scratch.target()).is_empty());
}

/// bonnie++'s phases on a real file system, and the line that its readers take.
#[test]
fn the_phases_of_bonnie_give_its_line() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let set = |text: &str| ["--set".to_owned(), text.to_owned()];
    let small = ["region=16MiB", "cold=false", "file-count=200", "file-lengths=100-900", "seeks.operations=50"]
        .map(set)
        .concat();
    let arguments: Vec<String> = ["run", "bonnie", target.to_str().unwrap(), "--json"].map(str::to_owned).to_vec();
    let run = scratch.json([arguments.clone(), small].concat(), 0);
    let phases = run["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|p| p["name"].as_str().unwrap()).collect();
    // What put-block wrote is what is read: nothing is laid out in between.
    let expected = [
        "putc",
        "put-block",
        "rewrite",
        "getc",
        "get-block",
        "seeks",
        "seq-create",
        "seq-stat",
        "seq-delete",
        "ran-create",
        "ran-stat",
        "ran-delete",
    ];
    assert_eq!(names, expected);
    let metric = |phase: usize, quantity: &str| {
        let metrics = phases[phase]["metrics"].as_array().unwrap();
        let found = metrics.iter().find(|m| m["id"] == format!("{}.{quantity}", expected[phase]));
        let found = found.unwrap_or_else(|| panic!("{quantity}: {}", phases[phase]));
        found["value"].as_f64().or(found["rejected_value"].as_f64()).unwrap()
    };
    let (read, written) = (metric(2, "read.iops"), metric(2, "write.iops"));
    assert!((0.9..1.1).contains(&(read / written)), "each block is read and written: {read} {written}");
    assert!(metric(5, "read.iops") > 3.0 * metric(5, "write.iops"), "one in ten is written back");
    let exported = scratch.run(["export", "latest", "--format", "bonnie-csv", "--keep-refused"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let fields: Vec<&str> = exported.stdout.trim().split(',').collect();
    assert_eq!((fields.len(), fields[0]), (50, "1.98"));
    assert!((26..38).step_by(2).all(|at| fields[at].parse::<f64>().is_ok_and(|n| n > 0.0)), "{fields:?}");
    let kib = |at: usize| fields[at].parse::<f64>().unwrap();
    let counted_once = metric(2, "read.throughput_bytes_per_s") / 1024.0;
    assert!((kib(13) / counted_once - 1.0).abs() < 0.01, "{} {counted_once}", kib(13));
    assert!(entries(&target).is_empty(), "{:?}", entries(&target));
}

/// mdtest's operations, trees, threads, syncs and transactions on a real file system; each is done, and all goes.
#[test]
fn the_phases_of_files_are_all_carried_out() {
    let scratch = Scratch::new();
    let target = scratch.target();
    std::fs::write(target.join("0.0"), "theirs").unwrap();
    let set = |text: &str| ["--set".to_owned(), text.to_owned()];
    let small = ["file-count=130", "time=60ms", "region=1MiB", "quiet=10ms"].map(set).concat();
    let arguments: Vec<String> = ["run", "files", target.to_str().unwrap()].map(str::to_owned).to_vec();
    let plan = scratch.run([arguments.clone(), small.clone(), vec!["--plan".to_owned()]].concat());
    let said = plan.stdout.replace("\n     ", " ");
    for words in ["in 3 directories, 8 deep", "replace 130 files", "directory synced", "rename 130 directories"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let run = scratch.json([arguments, small, vec!["--json".to_owned()]].concat(), 0);
    let phases = run["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 32, "{phases:?}");
    for phase in phases {
        assert!(phase["status"] == "measured" || phase["status"] == "refused", "{phase}");
        let metrics = phase["metrics"].as_array().unwrap();
        let rate = |m: &&serde_json::Value| {
            m["id"].as_str().is_some_and(|id| id.ends_with(".files_per_s") || id.ends_with(".iops"))
        };
        let rate = metrics.iter().find(rate).unwrap_or_else(|| panic!("no rate: {phase}"));
        assert!(rate["value"].as_f64().or(rate["rejected_value"].as_f64()).is_some_and(|n| n > 0.0), "{phase}");
        assert_eq!(phase["errors"], serde_json::json!({}), "{phase}");
    }
    let cold = phases.iter().find(|p| p["name"] == "file-stat-cold").unwrap();
    if !rustix::process::geteuid().is_root() {
        assert!(cold["status"] == "refused" && cold.to_string().contains("it takes root"), "{cold}");
    }
    assert_eq!(entries(&target), ["0.0"]);
}
