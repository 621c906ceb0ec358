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
