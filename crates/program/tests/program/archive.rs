//! `narrows runs` on real bundles.

use crate::program::Scratch;
use std::fs;

fn check(scratch: &Scratch) -> String {
    scratch.json(["check", "sim:sata-ssd", "--json"], 0)["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_bundle_has_the_files_that_were_promised() {
    let scratch = Scratch::new();
    let id = check(&scratch);
    let bundle = scratch.archive().join("runs").join(&id);
    for file in ["run.json", "series.csv", "system.csv", "latency.csv", "SHA256SUMS"] {
        assert!(fs::metadata(bundle.join(file)).is_ok_and(|m| m.len() > 0), "{file}");
    }
    assert!(scratch.archive().join("index.jsonl").exists());
    assert!(scratch.archive().join(format!("reports/{id}.html")).exists());
    let run: serde_json::Value = serde_json::from_slice(&fs::read(bundle.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["id"], id.as_str());
    assert_eq!(run["schema"], "narrows/bundle/1");
}

#[test]
fn list_show_tag_delete() {
    let scratch = Scratch::new();
    let (first, second) = (check(&scratch), check(&scratch));
    let list = scratch.json(["runs", "list", "--json"], 0);
    assert_eq!(list["runs"].as_array().unwrap().len(), 2);

    assert_eq!(scratch.run(["runs", "tag", &first, "before"]).code, 0);
    assert_eq!(scratch.json(["runs", "show", "before", "--json"], 0)["run_id"], first.as_str());
    assert!(scratch.run(["runs", "show", &second]).stdout.contains(&second));
    assert_eq!(scratch.run(["runs", "tag", "-d", &first, "before"]).code, 0);
    assert_eq!(scratch.run(["runs", "show", "before"]).code, 2);

    assert_eq!(scratch.run(["runs", "delete", &first]).code, 0);
    let list = scratch.json(["runs", "--json"], 0);
    assert_eq!(list["runs"][0]["run_id"], second.as_str());
    assert!(!scratch.archive().join(format!("reports/{first}.html")).exists());
}

#[test]
fn a_card_can_be_had_as_markdown() {
    let scratch = Scratch::new();
    let id = check(&scratch);
    let ended = scratch.run(["runs", "show", &id, "--markdown"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("| sequential") && ended.stdout.contains(&id), "{}", ended.stdout);
}

#[test]
fn where_a_bundle_lies_is_a_line_for_a_shell() {
    let scratch = Scratch::new();
    let id = check(&scratch);
    let bundle = scratch.archive().join("runs").join(&id).display().to_string();
    assert_eq!(scratch.run(["runs", "path", "latest"]).stdout, format!("{bundle}\n"));
    let document = scratch.json(["runs", "path", &id, "--json"], 0);
    assert_eq!((&document["action"], &document["results"][0]["result"]), (&"path".into(), &bundle.as_str().into()));
    assert_eq!(document["results"][0]["subject"], id.as_str());
    assert_eq!(scratch.run(["runs", "path", "no-such-run"]).code, 2);
    assert_eq!(scratch.run(["runs", "path"]).code, 2);
}

#[test]
fn an_altered_bundle_is_noticed() {
    let scratch = Scratch::new();
    let id = check(&scratch);
    assert_eq!(scratch.run(["runs", "verify"]).code, 0);
    let series = scratch.archive().join("runs").join(&id).join("series.csv");
    let mut text = fs::read_to_string(&series).unwrap();
    text.push_str("one more line\n");
    fs::write(&series, text).unwrap();
    let ended = scratch.run(["runs", "verify", &id]);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(ended.stdout.contains("series.csv"), "{}", ended.stdout);
}

#[test]
fn an_index_can_be_lost() {
    let scratch = Scratch::new();
    let id = check(&scratch);
    fs::remove_file(scratch.archive().join("index.jsonl")).unwrap();
    assert_eq!(scratch.json(["runs", "--json"], 0)["runs"][0]["run_id"], id.as_str());
    assert_eq!(scratch.run(["runs", "reindex"]).code, 0);
    assert!(scratch.archive().join("index.jsonl").exists());
}

#[test]
fn the_page_can_be_written_again_and_forbids_the_network() {
    let scratch = Scratch::new();
    check(&scratch);
    let page = scratch.path().join("page.html");
    assert_eq!(scratch.run(["report", "latest", "-o", page.to_str().unwrap()]).code, 0);
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"));
    assert!(!html.contains("src=\"http") && !html.contains("@import"), "the page loads nothing");
}

#[test]
fn several_runs_have_a_page_together_where_it_is_asked_for() {
    let scratch = Scratch::new();
    for seed in ["1", "2"] {
        scratch.json(["check", "sim:a1-card", "--json", "--seed", seed, "--tag", "pair"], 0);
    }
    let refused = scratch.json(["report", "pair", "--json"], 2);
    assert!(refused["remedy"].as_str().is_some_and(|r| r.contains("-o FILE")), "{refused}");
    let page = scratch.path().join("pair.html");
    // A run that is named twice stands once.
    let document = scratch.json(["report", "pair", "latest", "-o", page.to_str().unwrap(), "--json"], 0);
    assert_eq!(document["run_ids"].as_array().map(Vec::len), Some(2));
    let html = fs::read_to_string(&page).unwrap();
    for id in document["run_ids"].as_array().unwrap() {
        assert!(html.contains(id.as_str().unwrap()));
    }
}

#[test]
fn paths_of_a_relative_archive_can_be_opened_from_anywhere() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:a1-card", "--archive", "here", "--json"], 0);
    let page = document["report"].as_str().unwrap();
    assert!(page.starts_with('/') && std::path::Path::new(page).exists(), "{page}");
}

#[test]
fn a_path_means_that_bundle_and_no_other_of_its_id() {
    let scratch = Scratch::new();
    let id = check(&scratch);
    let mine = scratch.archive().join("runs").join(&id);
    let other = scratch.path().join("usb/runs").join(&id);
    fs::create_dir_all(&other).unwrap();
    for file in fs::read_dir(&mine).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), other.join(file.file_name())).unwrap();
    }
    fs::write(other.join("series.csv"), "altered").unwrap();
    let path = other.to_str().unwrap();
    let verified = scratch.run(["runs", "verify", path]);
    assert_eq!(verified.code, 1, "{}", verified.stdout);
    assert!(verified.stdout.contains(path) && verified.stdout.contains("altered: series.csv"), "{}", verified.stdout);
    assert_eq!(scratch.run(["runs", "verify", mine.to_str().unwrap()]).code, 0);
    assert_eq!(scratch.run(["runs", "verify", &id]).code, 0);
    let both = scratch.json(["runs", "verify", &id, path, "--json"], 1);
    assert!(both.to_string().contains(path), "{both}");
    for arguments in
        [vec!["delete", path], vec!["delete", &id, path], vec!["tag", path, "mine"], vec!["tag", "-d", path, "mine"]]
    {
        let refused = scratch.run(["runs"].iter().chain(&arguments));
        assert_eq!(refused.code, 3, "{arguments:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("outside of the archive") && refused.stderr.contains("usb"),
            "{}",
            refused.stderr
        );
        assert!(mine.join("run.json").exists() && other.join("run.json").exists(), "{arguments:?}");
    }
    // Its page has a place of its own only where it is given one.
    let page = fs::read(scratch.archive().join(format!("reports/{id}.html"))).unwrap();
    assert_eq!(scratch.run(["report", path]).code, 4, "it cannot be read");
    fs::copy(mine.join("series.csv"), other.join("series.csv")).unwrap();
    assert_eq!(scratch.run(["report", path]).code, 2);
    assert_eq!(fs::read(scratch.archive().join(format!("reports/{id}.html"))).unwrap(), page);
    assert_eq!(scratch.run(["report", path, "-o", "page.html"]).code, 0);
    assert!(!scratch.run(["runs", "show", path]).stdout.contains("reports/"));
    assert_eq!(scratch.run(["runs", "delete", mine.join("run.json").to_str().unwrap()]).code, 0);
    assert!(!mine.exists() && other.exists());
}

#[test]
fn a_foreign_id_leads_to_no_file() {
    let scratch = Scratch::with_its_archive_inside();
    let id = check(&scratch);
    let bundle = scratch.path().join("handed-over");
    fs::rename(scratch.archive().join("runs").join(&id), &bundle).unwrap();
    let text = fs::read_to_string(bundle.join("run.json")).unwrap();
    for foreign in ["../../../owned", "/tmp/narrows-owned", "..", "x", ""] {
        let aim = scratch.path().join("owned.html");
        let mut run: serde_json::Value = serde_json::from_str(&text).unwrap();
        run["id"] = foreign.into();
        fs::write(bundle.join("run.json"), run.to_string()).unwrap();
        for arguments in [
            vec!["report", "./handed-over"],
            vec!["runs", "show", "./handed-over"],
            vec!["export", "./handed-over", "-f", "csv"],
        ] {
            let ended = scratch.run(&arguments);
            assert_eq!(ended.code, 4, "{foreign}: {arguments:?}: {}", ended.stderr);
        }
        assert!(!aim.exists() && !std::path::Path::new("/tmp/narrows-owned.html").exists());
    }
}

#[test]
fn what_a_killed_program_left_goes_at_the_next_start() {
    let scratch = Scratch::new();
    let id = check(&scratch);
    let left =
        ["reports/x-1.html.tmp", "reports/.x-1.html.7-0.tmp", "experiments/x-1.json.tmp", "experiments/x-1.lock"];
    for command in [vec!["check", "sim:a1-card", "--budget", "20s"], vec!["report", &id], vec!["runs", "recover"]] {
        for name in left {
            let path = scratch.archive().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "half a page").unwrap();
        }
        assert_eq!(scratch.run(&command).code, 0);
        for name in left {
            assert!(!scratch.archive().join(name).exists(), "{command:?}: {name}");
        }
    }
}

/// Without any run: what this machine's disks were given since it was started, who wrote it, and nothing that is not known.
#[test]
fn how_long_disks_last_is_an_estimate_from_what_is_written_and_by_whom() {
    let scratch = Scratch::new();
    let document = scratch.json(["runs", "wear", "--json"], 0);
    assert_eq!(document["schema"], "narrows/wear/1");
    for disk in document["disks"].as_array().unwrap() {
        let (writing, years) = (&disk["writing"], &disk["years_left"]);
        assert!(
            writing.is_null() || writing["seen"] == "boot" && writing["bytes_per_s"].as_f64() >= Some(0.0),
            "{disk}"
        );
        let told = disk["readings"].as_array().unwrap().iter().any(|reading| reading["used_percent"].is_number());
        let assumed = disk["assumed_writes"].is_array();
        assert!(years.is_null() || (told || assumed) && writing.is_object(), "{disk}");
        assert!(!(assumed && matches!(disk["medium"].as_str(), Some("virtual" | "rotating"))), "{disk}");
    }
    let writers: Vec<u64> =
        document["writers"].as_array().unwrap().iter().map(|w| w["written_bytes"].as_u64().unwrap()).collect();
    assert!(writers.len() <= 5 && writers.is_sorted_by(|a, b| a >= b), "{document}");
    let text = scratch.run(["runs", "wear"]).stdout;
    assert!(text.contains("Who writes") || writers.is_empty(), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// An SD card has no counter of its wear: what is assumed of it is said, and what is missing with the command that gives it.
#[test]
fn how_long_a_card_lasts_is_estimated_from_what_is_written_to_it() {
    let scratch = Scratch::new();
    let wear = |disk: &str, more: &[&str]| scratch.json([&["runs", "wear", disk, "--json"], more].concat(), 0);
    let unseen = wear("sim:a1-card", &[]);
    let answer = unseen["answer"].as_str().unwrap();
    assert!(answer.ends_with("say it: narrows runs wear sim:a1-card --per-day 5GB"), "{answer}");
    let card = wear("sim:a1-card", &["--per-day", "5GB"]);
    let disk = &card["disks"][0];
    assert_eq!((&disk["medium"], &disk["writing"]["seen"]), (&"card".into(), &"said".into()));
    assert_eq!(disk["assumed_writes"], serde_json::json!([300, 3000]));
    let years: Vec<f64> = disk["years_left"].as_array().unwrap().iter().map(|y| y.as_f64().unwrap()).collect();
    // 32 GB, 300 and 3,000 times, at 5 GB a day.
    let days = 32_000_000_000.0 * 300.0 / 5e9;
    assert!((years[0] * 365.25 / days - 1.0).abs() < 1e-6 && (years[1] / years[0] - 10.0).abs() < 1e-6, "{disk}");
    // What is asked about is last, and names the assumption.
    scratch.run(["check", "sim:nvme", "--seed", "1"]);
    let text = scratch.run(["runs", "wear", "sim:a1-card", "--per-day", "5GB"]).stdout;
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.ends_with(card["answer"].as_str().unwrap()), "{text}");
    assert!(flat.contains("lasts 5.3 to 53 years at 5 GB written a day as you say, an estimate"), "{text}");
    // A directory, a bare name and a node of the disk of this machine are the same disk.
    let here = scratch.json(["runs", "wear", "--json"], 0);
    let disks = here["disks"].as_array().unwrap();
    for name in disks.iter().filter_map(|disk| disk["name"].as_str()) {
        for asked in [name.to_owned(), format!("/dev/{name}")] {
            assert_eq!(wear(&asked, &[])["disks"][0]["name"], name, "{asked}");
        }
    }
    for (disk, more, words) in [
        ("nosuch", &[][..], "no disk 'nosuch' is here"),
        ("sim:nosuch", &[], "no simulated device"),
        ("null:", &[], "keeps no data"),
        ("sim:a1-card", &["--per-day", "x"], "--per-day"),
        ("sim:a1-card", &["--per-day", "0"], "--per-day"),
    ] {
        let error = scratch.json([&["runs", "wear", disk, "--json"], more].concat(), 2);
        assert!(error["message"].as_str().unwrap().contains(words) && error["remedy"].is_string(), "{error}");
    }
}
