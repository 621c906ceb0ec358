//! Packages and a boot: on a directory, and on simulated cards, of which the usual numbers predict how long they take.

use crate::program::Scratch;
use serde_json::Value;
use std::collections::BTreeMap;

const CARDS: &str = include_str!("../../../judge/fixtures/sd-cards.csv");

/// All metrics of a run that stand, or would but for somebody else's traffic.
fn figures(scratch: &Scratch, args: &[&str]) -> BTreeMap<String, f64> {
    let ended = scratch.run(args.iter().chain(&["--json"]));
    assert!(matches!(ended.code, 0 | 4), "{}{}", ended.stdout, ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).expect("a document");
    let phases = run["phases"].as_array().unwrap().iter().flat_map(|phase| phase["metrics"].as_array().unwrap());
    let value = |metric: &Value| metric["value"].as_f64().or(metric["rejected_value"].as_f64());
    phases.filter_map(|metric| Some((metric["id"].as_str()?.to_owned(), value(metric)?))).collect()
}

const FEW: [&str; 4] = ["--set", "package-count=12", "--set", "packages-removed=5"];

#[test]
fn packages_come_and_go_in_a_directory_and_nothing_is_left() {
    let scratch = Scratch::new();
    let target = scratch.target();
    std::fs::write(target.join("mine"), b"mine").unwrap();
    let args = [&["run", "packages", target.to_str().unwrap(), "--set", "speed=max"], &FEW[..]].concat();
    let figures = figures(&scratch, &args);
    for phase in ["install", "remove", "reinstall"] {
        assert!(figures[&format!("{phase}.time_s")] > 0.0, "{figures:?}");
        assert!(!figures.contains_key(&format!("{phase}.in_calls_s")), "it does not pause");
    }
    let names: Vec<_> = std::fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["mine"]);
    let refused = |more: &[&str], said: &str| {
        let ended = scratch.run(["run", "packages", target.to_str().unwrap()].iter().chain(more));
        assert!(ended.code == 2 && ended.stderr.contains(said), "{} {}", ended.code, ended.stderr);
    };
    refused(&["--set", "packages-removed=500"], "500 of 400 packages removed");
    refused(&["--set", "package-count=100000"], "1 to 4000 are possible");
    refused(&["--set", "package-archives=/nowhere"], "package-manager=dpkg");
    refused(&["--set", "speed=-1"], "how many times as fast");
    let ended = scratch.run(["run", "files", target.to_str().unwrap(), "--real"]);
    assert!(ended.code == 2 && ended.stderr.contains("files installs no packages"), "{}", ended.stderr);
}

/// What the run would refuse the plan refuses, before anything is written.
#[test]
fn a_plan_is_refused_for_what_the_run_would_be() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let path = target.to_str().unwrap();
    let refused = |what: &str, target: &str, set: &[&str], said: &str| {
        for plan in [&["--plan"][..], &[]] {
            let args = [&["run", what, target], set, plan].concat();
            let ended = scratch.run(args);
            assert!(ended.code == 3 && ended.stderr.contains(said), "{what} {set:?} {}: {}", ended.code, ended.stderr);
            assert!(ended.stderr.lines().count() > 1, "a remedy: {}", ended.stderr);
        }
    };
    refused("packages", "sim:class4-card,capacity=64MB", &[], "880.6 MiB of files; sim:class4-card holds 61.0 MiB");
    refused("packages", "null:", &[], "has no file system");
    // 64 TB are more than where this is tested has.
    let much = ["--set", "file-count=1000000", "--set", "file-size=64MiB"];
    refused("files", path, &much, "");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

/// The first sentence of a card, in one line.
fn sentence(scratch: &Scratch, args: &[&str]) -> String {
    let ended = scratch.run(args);
    assert!(matches!(ended.code, 0 | 4), "{}{}", ended.stdout, ended.stderr);
    ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How long, how much of it is the storage's, and how much are pauses of which processor.
#[test]
fn the_first_sentence_says_what_the_storage_takes_and_what_the_pauses() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().unwrap();
    // Simulated: on the studied board.
    let said = sentence(&scratch, &[&["run", "packages", "sim:a1-card"][..], &FEW].concat());
    let all = figures(&scratch, &[&["run", "packages", "sim:a1-card"][..], &FEW].concat());
    let (took, calls) = (all["install.time_s"], all["install.in_calls_s"]);
    let seconds = |before: &str| {
        let rest = said.split(before).nth(1).unwrap_or_else(|| panic!("{before}: {said}"));
        rest.split(' ').next().unwrap().parse::<f64>().unwrap_or_else(|e| panic!("{before}: {e}: {said}"))
    };
    let near = |said: f64, is: f64| (said / is - 1.0).abs() < 0.01;
    assert!(
        near(seconds("Installing 12 packages takes "), took) && near(seconds(" s: "), calls),
        "{took} {calls}: {said}"
    );
    assert!(near(seconds(" of it the storage, "), took - calls) && said.contains("pauses as of an RK3399"), "{said}");
    assert!(said.contains(". Removing 5 takes ") && said.contains(", installing 5 again takes "), "{said}");
    let boot = sentence(&scratch, &["run", "boot", "sim:a1-card"]);
    assert!(boot.contains("It takes ") && boot.contains(" the pauses of the recording"), "{boot}");
    assert!(!said.contains("--real"), "no dpkg writes to what is simulated: {said}");
    // With pauses that were asked for, and without any, which is what another processor than that gets unless it is asked.
    let with = sentence(&scratch, &[&["run", "packages", target, "--set", "speed=100"][..], &FEW].concat());
    assert!(with.contains("pauses as of an RK3399 (NanoPi M4) 100 times as fast; --real"), "{with}");
    let without = sentence(&scratch, &[&["run", "packages", target, "--set", "speed=max"][..], &FEW].concat());
    assert!(without.contains(" of it the storage, without pauses of a processor; --real"), "{without}");
    // What others beside this test took of the processors is not the storage's.
    assert_eq!(without.contains("all of it the storage"), !without.contains("waited for a processor"), "{without}");
    if cfg!(target_arch = "x86_64") {
        let plan = scratch.json([&["run", "packages", target, "--plan", "--json"][..], &FEW].concat(), 0);
        assert!(plan.to_string().contains("without the pauses of the studied board's processor"), "{plan}");
    }
}

#[test]
fn what_only_removes_says_that_nothing_was_installed() {
    let scratch = Scratch::new();
    let (text, target) = (scratch.path().join("remove.toml"), scratch.target());
    std::fs::write(
        &text,
        "[[phase]]\nname = \"remove\"\n[[phase.job]]\npackages = \"remove\"\npackage-count = 9\npackages-removed = 3\n",
    )
    .unwrap();
    let ended = scratch.run(["run", text.to_str().unwrap(), target.to_str().unwrap(), "--set", "speed=max"]);
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(ended.code != 0 && said.contains("no packages were installed before"), "{} {said}", ended.code);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn simulated_cards_are_near_what_was_published_of_them() {
    let scratch = Scratch::new();
    // As published: a first installation of 400, 150 removed and installed again, a boot.
    for (card, published) in [("class4-card", [1070.0, 149.0, 470.0, 26.7]), ("a1-card", [161.0, 28.0, 57.0, 16.2])] {
        let target = format!("sim:{card}");
        let all = figures(&scratch, &["run", "packages", &target]);
        let boot = figures(&scratch, &["run", "boot", &target])["boot.time_s"];
        let ours = ["install", "remove", "reinstall"].map(|phase| all[&format!("{phase}.time_s")]);
        for (ours, published) in ours.into_iter().chain([boot]).zip(published) {
            assert!((0.7..1.3).contains(&(ours / published)), "{card}: {ours} s, published {published} s");
        }
        let again = scratch.run(["run", "packages", &target]);
        assert!(!again.stdout.contains("gaps without a completion"), "its syncs are meant: {}", again.stdout);
        assert_eq!(figures(&scratch, &["run", "packages", &target])["install.time_s"], all["install.time_s"], "again");
    }
}

/// Kendall's tau without ties, of its sign only.
fn sign(pairs: &[(f64, f64)]) -> f64 {
    let all = pairs.iter().enumerate().flat_map(|(i, a)| pairs[..i].iter().map(move |b| (a.0 - b.0) * (a.1 - b.1)));
    all.map(f64::signum).sum::<f64>().signum()
}

#[test]
fn what_predicts_the_installation_has_the_sign_that_the_published_numbers_have() {
    let scratch = Scratch::new();
    let text = scratch.path().join("cards.toml");
    let mut toml = "name = \"cards\"\n[defaults]\naccess = \"direct\"\nregion = \"64MiB\"\n".to_owned();
    for (name, operation, sizes, time) in
        [("read", "read", "order = \"random\"", "2s"), ("write", "write", "order = \"random\"", "30s")]
    {
        toml += &format!(
            "[[phase]]\nname = \"{name}-{{block-size}}\"\nsweep = {{ block-size = [\"1KiB\", \"4KiB\", \"16KiB\"] }}\n[[phase.job]]\n\
             operation = \"{operation}\"\n{sizes}\ntime = \"{time}\"\n"
        );
    }
    toml +=
        "[[phase]]\nname = \"seq-read\"\n[[phase.job]]\noperation = \"read\"\nblock-size = \"1MiB\"\ntime = \"5s\"\n";
    toml +=
        "[[phase]]\nname = \"seq-write\"\n[[phase.job]]\noperation = \"write\"\nblock-size = \"1MiB\"\ntime = \"5s\"\n";
    toml += "[[phase]]\nname = \"install\"\n[[phase.job]]\npackages = \"install\"\npackage-count = 100\npackages-removed = 0\n";
    std::fs::write(&text, toml).unwrap();
    let mut lines = CARDS.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let (mut simulated, mut published) = (Vec::new(), Vec::new());
    for line in lines {
        let row: BTreeMap<&str, f64> =
            heads.iter().zip(&line).filter_map(|(head, text)| Some((*head, text.parse().ok()?))).collect();
        let points = |way: &str| {
            ["1k", "4k", "16k"]
                .map(|size| format!("{}iB:{}", size.to_uppercase(), row[&*format!("{way}_iops_{size}")]))
                .join("+")
        };
        let target = format!(
            "sim:class4-card,capacity=2GB,read-points={},random-write-points={},read-bandwidth={}MB/s,write-bandwidth={}MB/s",
            points("read"),
            points("write"),
            row["seq_read_mb_s"] * 1.05,
            row["seq_write_mb_s"] * 1.05
        );
        simulated.push(figures(&scratch, &["run", text.to_str().unwrap(), &target]));
        published.push(row);
    }
    assert_eq!(simulated.len(), 8);
    let runs = scratch.json(["runs", "list", "--json"], 0);
    let ids: Vec<&str> = runs["runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap()).collect();
    let asked = ["rank", "--json", "--predict", "install_s", "--predictors", "write-*.iops"];
    let ranked = scratch.json(asked.iter().chain(&ids), 0);
    assert_eq!(ranked["predicted"], "install_s");
    let told = ranked["prediction"].as_array().unwrap();
    assert!(told.len() == 3 && told.iter().all(|one| one["tau"].as_f64().unwrap() < -0.4), "{told:?}");
    for (ours, theirs) in [
        ("read-1k.iops", "read_iops_1k"),
        ("read-4k.iops", "read_iops_4k"),
        ("read-16k.iops", "read_iops_16k"),
        ("write-1k.iops", "write_iops_1k"),
        ("write-4k.iops", "write_iops_4k"),
        ("write-16k.iops", "write_iops_16k"),
        ("seq-read.throughput_bytes_per_s", "seq_read_mb_s"),
        ("seq-write.throughput_bytes_per_s", "seq_write_mb_s"),
    ] {
        let of = |all: Vec<(f64, f64)>| sign(&all);
        let simulated = of(simulated.iter().map(|m| (m[ours], m["install.time_s"])).collect());
        let published = of(published.iter().map(|row| (row[theirs], row["install_1_s"])).collect());
        assert_eq!((simulated, published), (-1.0, -1.0), "{ours}");
    }
}

/// What is advised works, and what has no effect on packages is not advised.
#[test]
fn a_bound_that_is_too_small_says_what_keeps_to_it() {
    let scratch = Scratch::new();
    let refused = scratch.json(["run", "packages", "sim:a1-card", "--max-write", "300MB", "--json"], 3);
    let remedy = refused["remedy"].as_str().unwrap();
    assert!(remedy.starts_with("--set package-count=") && !remedy.contains("region="), "{remedy}");
    let (less, more) = remedy.split_once(", or ").unwrap();
    let less: Vec<&str> = less.split(' ').chain(["--max-write", "300MB"]).collect();
    let more: Vec<&str> = more.split(';').next().unwrap().split(' ').collect();
    for advised in [less, more] {
        scratch.json([&["run", "packages", "sim:a1-card", "--plan", "--json"][..], &advised].concat(), 0);
    }
    // Of blocks it is the region, where that bounds them.
    let refused = scratch.json(["run", "fill", "sim:a1-card", "--max-write", "300MB", "--json"], 3);
    let remedy = refused["remedy"].as_str().unwrap();
    let less: Vec<&str> = remedy.split(", or ").next().unwrap().split(' ').collect();
    assert!(less[1].starts_with("region="), "{remedy}");
    let bounded = [&["run", "fill", "sim:a1-card", "--plan", "--max-write", "300MB", "--json"][..], &less].concat();
    scratch.json(bounded, 0);
}
