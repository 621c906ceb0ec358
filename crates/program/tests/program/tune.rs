//! `narrows tune`, as far as it goes without changing a setting of this machine (tests/root/tune.sh has the search); `narrows settings
//! list` and `restore`, and the options of `tune` that they were.

use crate::program::Scratch;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    schema: String,
    target: String,
    settings: Vec<Setting>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    name: String,
    about: String,
    values: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    path: String,
    now: String,
    candidates: Vec<String>,
    fixed: Option<String>,
}

#[test]
fn what_can_be_set_is_listed_as_the_machine_has_it() {
    let scratch = Scratch::new();
    let document = scratch.json(["settings", "list", ".", "--json"], 0);
    assert_eq!(scratch.json(["tune", "--list", ".", "--json"], 0), document, "as it was called before");
    let list: List = serde_json::from_value(document).expect("the contract");
    assert_eq!((list.schema.as_str(), list.target.as_str()), ("narrows/settings/1", "."));
    let swappiness = list.settings.iter().find(|s| s.name == "swappiness").expect("every kernel has it");
    let value = &swappiness.values[0];
    assert_eq!(value.path, "/proc/sys/vm/swappiness");
    assert_eq!(value.now, std::fs::read_to_string(&value.path).unwrap().trim());
    assert!(!value.candidates.contains(&value.now) && !value.candidates.is_empty());
    let root = rustix::process::geteuid().is_root();
    assert!(root || value.fixed.as_ref().is_some_and(|why| why.contains(&value.path)));
    let text = scratch.run(["settings", "list", "."]).stdout;
    assert!(text.contains(&swappiness.about) && text.contains("swappiness"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn what_is_no_place_is_refused() {
    let scratch = Scratch::new();
    for (target, why) in [("sim:a1-card", "is not a machine"), ("null:", "is not a machine"), ("/nowhere", "no such")] {
        let refused = scratch.run(["settings", "list", target]);
        assert_eq!(refused.code, 2, "{target}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{target}: {}", refused.stderr);
    }
}

#[test]
fn an_arm_with_a_setting_that_nobody_has_changes_nothing() {
    let scratch = Scratch::new();
    let text = "[experiment]\nname = \"e\"\nquestion = \"?\"\nworkload = \"latency\"\npairs = 6\n\
                [[arm]]\nname = \"a\"\nsettings = { swapiness = 1 }\n[[arm]]\nname = \"b\"\n";
    let path = scratch.path().join("e.toml");
    std::fs::write(&path, text).unwrap();
    let refused = scratch.run(["run", path.to_str().unwrap(), "."]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("did you mean swappiness?"), "{}", refused.stderr);
}

#[test]
fn nothing_is_restored_where_nothing_was_left_and_all_ways_to_ask_say_so() {
    let scratch = Scratch::new();
    let said = scratch.run(["settings", "restore"]);
    assert!(said.code == 0 && said.stdout.contains("no experiment left anything changed"), "{}", said.stdout);
    for old in [&["tune", "--restore"][..], &["run", "--restore"], &["experiment", "restore"]] {
        let again = scratch.run(old);
        assert_eq!((again.code, &again.stdout), (said.code, &said.stdout), "{old:?}");
    }
}

#[test]
fn what_has_no_settings_is_not_searched() {
    let scratch = Scratch::new();
    for target in ["sim:sata-ssd", "null:"] {
        let refused = scratch.run(["tune", target, "--for", "buffered-read"]);
        assert_eq!(refused.code, 2, "{target}: {}", refused.stderr);
        assert!(refused.stderr.contains("has no settings of the kernel"), "{target}: {}", refused.stderr);
    }
}

#[test]
fn what_is_asked_wrongly_is_said_before_anything_is_measured() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().expect("a path of this test");
    for (arguments, why) in [
        (&["--only", "schedular"][..], "did you mean scheduler?"),
        (&["--for", "nonsense"], "--for nonsense"),
        (&["--budget", "soon"], "--budget"),
        (&["--margin=-1"], "--margin"),
        (&["--report", "-"], "- is stdout"),
        (&["--identify"], "--report"),
    ] {
        let refused = scratch.run([&["tune", target], arguments].concat());
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{arguments:?}: {}", refused.stderr);
    }
}

#[test]
fn a_plan_says_what_is_tried_and_without_root_that_nothing_can_be() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().expect("a path of this test");
    let arguments = ["tune", target, "--for", "rand-read-qd1", "--budget", "5m", "--plan"];
    let short = scratch.run(["tune", target, "--for", "rand-read-qd1", "--budget", "5s"]);
    if !rustix::process::geteuid().is_root() {
        let refused = scratch.run(arguments);
        assert_eq!((refused.code, short.code), (3, 3), "{}", refused.stderr);
        assert!(refused.stderr.contains("run it as root"), "{}", refused.stderr);
        return;
    }
    assert!(short.code == 2 && short.stderr.contains("too short to prove anything"), "{}", short.stderr);
    let plan = scratch.json([&arguments[..], &["--json"]].concat(), 0);
    assert_eq!((&plan["schema"], &plan["for"]), (&"narrows/tune/1".into(), &"rand-read-qd1".into()));
    let candidates = plan["candidates"].as_array().expect("a list");
    let of = |name: &str| candidates.iter().find(|c| c["name"] == name).expect("every kernel has it");
    assert_eq!(of("dirty-expire")["not_tried"]["reason"], "only-buffered-writes");
    let tried: Vec<_> = candidates.iter().filter(|c| c["not_tried"].is_null()).collect();
    assert!(!tried.is_empty() && tried.iter().all(|c| !c["values"].as_array().expect("a list").is_empty()));
    assert!(tried.iter().all(|c| c["risk"] != "loses-data"), "never without --allow-unsafe");
    let text = scratch.run(arguments).stdout;
    assert!(text.starts_with("  Tries ") && text.contains("with noise of 5 % of a measurement: gains of"), "{text}");
    let markdown = scratch.run([&arguments[..], &["--markdown"]].concat()).stdout;
    assert!(
        markdown.starts_with("**Tries ") && markdown.contains("\n**Tried, the first ones first**\n\n- "),
        "{markdown}"
    );
}

/// A state of a search as it is left in the archive.
fn left(scratch: &Scratch, id: &str, change: impl Fn(&mut serde_json::Value)) {
    let directory = scratch.path().join("archive/tune");
    std::fs::create_dir_all(&directory).unwrap();
    let target = scratch.target();
    let mut state = serde_json::json!({
        "schema": "narrows/tune-state/1", "id": id, "target": target, "asked": "rand-read-qd1", "only": [], "allow_unsafe": false, "allow_registers": false,
        "budget_ns": 300_000_000_000u64, "margin_percent": 3.0, "seed": 1,
        "settings": [["/sys/block/none/queue/scheduler", "bfq", ["none"]]], "spent_ns": 1, "bytes_written": 0, "first": null,
        "values": [], "pairs": [], "sides": [], "is_over": false,
    });
    change(&mut state);
    std::fs::write(directory.join(format!("{id}.json")), state.to_string()).unwrap();
}

#[test]
fn a_search_goes_on_only_where_it_was_left_and_the_machine_is_as_it_was() {
    let scratch = Scratch::new();
    let archive = scratch.path().join("archive");
    let archive = archive.to_str().expect("a path of this test");
    let resume = |more: &[&str]| scratch.run([&["tune", "--resume", "--archive", archive], more].concat());
    let nothing = resume(&[]);
    assert!(nothing.code == 2 && nothing.stderr.contains("no search was left unfinished"), "{}", nothing.stderr);
    left(&scratch, "tune-1", |state| state["is_over"] = true.into());
    assert!(resume(&[]).stderr.contains("no search was left unfinished"), "one that came to its end");
    left(&scratch, "tune-2", |_| {});
    let elsewhere = resume(&["/nowhere"]);
    assert!(elsewhere.code == 2 && elsewhere.stderr.contains("no search of /nowhere was left"), "{}", elsewhere.stderr);
    let unsafe_now = resume(&["--allow-unsafe"]);
    assert!(
        unsafe_now.code == 2 && unsafe_now.stderr.contains("begun without --allow-unsafe"),
        "{}",
        unsafe_now.stderr
    );
    let registers = resume(&["--read-registers", "--allow-registers"]);
    assert!(registers.stderr.contains("begun without --allow-registers"), "{}", registers.stderr);
    let given = resume(&["--seed", "3"]);
    assert!(given.code == 2 && given.stderr.contains("--seed"), "{}", given.stderr);
    if rustix::process::geteuid().is_root() {
        let changed = resume(&[]);
        assert!(changed.code == 2 && changed.stderr.contains("no longer holds bfq"), "{}", changed.stderr);
    }
    for (id, break_it, why) in [
        (
            "tune-3",
            Box::new(|state: &mut serde_json::Value| state["schema"] = "narrows/tune-state/9".into())
                as Box<dyn Fn(&mut _)>,
            "not a state of this program",
        ),
        ("tune-4", Box::new(|state: &mut serde_json::Value| state["values"] = "many".into()), "tune-4.json"),
        ("tune-5", Box::new(|state: &mut serde_json::Value| *state = serde_json::Value::Null), "tune-5.json"),
    ] {
        left(&scratch, id, break_it);
        let refused = resume(&[]);
        assert!(refused.code == 3 && refused.stderr.contains(why), "{id}: {} {}", refused.code, refused.stderr);
        assert!(refused.stderr.contains("remove the file"), "{id}: {}", refused.stderr);
    }
}

#[test]
fn where_nothing_is_kept_there_is_nothing_to_verify() {
    let scratch = Scratch::new();
    let target = scratch.target();
    for arguments in [&["tune", "--verify"][..], &["tune", "--verify", target.to_str().expect("a path of this test")]] {
        let refused = scratch.run(arguments);
        assert_eq!(refused.code, 3, "{arguments:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("kept no setting on this machine"), "{}", refused.stderr);
        assert!(refused.stderr.contains("narrows tune TARGET --keep"), "{}", refused.stderr);
    }
    for with in ["--keep", "--undo-kept", "--resume"] {
        let refused = scratch.run(["tune", "--verify", with]);
        assert_eq!(refused.code, 2, "{with}: {}", refused.stderr);
    }
    let page = scratch.run(["tune", "--verify", "--report", "page.html"]);
    assert!(page.code == 2 && page.stderr.contains("--report"), "{}", page.stderr);
    let budget = scratch.run(["tune", "--verify", "--budget", "soon"]);
    assert!(budget.code == 2 && budget.stderr.contains("--budget"), "{}", budget.stderr);
}

fn known_line(name: &str, to: &str) -> serde_json::Value {
    serde_json::json!({
        "schema": "narrows/tune-known/1", "machine": "Cubieboard2", "architecture": "arm", "device": null, "metric": "rand-read-qd1.iops",
        "settings": [{"name": name, "from": "4", "to": to}], "gain": {"ratio": 1.5, "low": 1.4, "high": 1.6, "p": 0.01, "pairs": 8},
    })
}

#[test]
fn what_a_search_proved_is_handed_on_as_one_line() {
    let scratch = Scratch::new();
    let archive = scratch.path().join("archive");
    let export = |more: &[&str]| {
        let archive = archive.to_str().expect("a path of this test");
        scratch.run([&["tune", "--archive", archive, "--export"], more].concat())
    };
    let nothing = export(&[]);
    assert!(nothing.code == 2 && nothing.stderr.contains("no search has ended here"), "{}", nothing.stderr);
    left(&scratch, "tune-1", |state| {
        state["is_over"] = true.into();
        state["known"] = known_line("read-ahead", "512");
    });
    let line = export(&[]);
    assert_eq!((line.code, line.stdout.lines().count()), (0, 1), "{} {}", line.stdout, line.stderr);
    let document: serde_json::Value = serde_json::from_str(&line.stdout).expect("one JSON document");
    assert_eq!(document, known_line("read-ahead", "512"));
    left(&scratch, "tune-2", |state| state["is_over"] = true.into());
    left(&scratch, "tune-3", |_| {});
    for (id, code, why) in
        [("tune-2", 4, "proved no gain"), ("tune-3", 2, "has not ended"), ("tune-4", 2, "there is no search tune-4")]
    {
        let refused = export(&[id]);
        assert_eq!(refused.code, code, "{id}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{id}: {}", refused.stderr);
    }
    assert_eq!(export(&["tune-1"]).stdout, line.stdout, "the one that is named");
}

#[test]
fn what_others_proved_is_tried_first_and_wrong_lines_are_named() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().expect("a path of this test");
    let file = scratch.path().join("known.jsonl");
    let path = file.to_str().expect("a path of this test");
    let arguments = ["tune", target, "--for", "rand-read-qd1", "--budget", "5m", "--plan", "--known", path];
    let missing = scratch.run(arguments);
    assert!(missing.code == 2 && missing.stderr.contains("known.jsonl"), "{}", missing.stderr);
    let line = known_line("merges", "2").to_string();
    for (text, why) in [(format!("{line}\n{{}}\n"), "line 2: its schema"), (format!("\n{line},"), "line 2: trailing")] {
        std::fs::write(&file, text).unwrap();
        let refused = scratch.run(arguments);
        assert!(refused.code == 2 && refused.stderr.contains(why), "{}", refused.stderr);
    }
    std::fs::write(&file, vec![b'\n'; (4 << 20) + 1]).unwrap();
    let large = scratch.run(arguments);
    assert!(large.code == 2 && large.stderr.contains("larger than"), "{}", large.stderr);
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let tried = |plan: &serde_json::Value| -> Vec<String> {
        let candidates = plan["candidates"].as_array().expect("a list").iter();
        candidates
            .filter(|c| c["not_tried"].is_null())
            .map(|c| c["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    let usual = tried(&scratch.json([&arguments[..7], &["--json"]].concat(), 0));
    let last = usual.last().expect("something is tried").clone();
    std::fs::write(&file, format!("{}\n{}\n", known_line(&last, "no value of it"), known_line("nothing", "1")))
        .unwrap();
    let known = tried(&scratch.json([&arguments[..], &["--json"]].concat(), 0));
    assert_eq!(known.first(), Some(&last));
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(sorted(known), sorted(usual), "only the order is another one");
}
