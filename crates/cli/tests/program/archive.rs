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
        scratch.json(["check", "sim:nvme", "--json", "--seed", seed, "--tag", "pair"], 0);
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
fn completions_are_one_document_too() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = scratch.run(["completions", shell]).stdout;
        assert!(script.contains("narrows"), "{shell}");
        assert_eq!(scratch.json(["completions", shell, "--json"], 0)["script"], script.as_str(), "{shell}");
    }
}

#[test]
fn paths_of_a_relative_archive_can_be_opened_from_anywhere() {
    let scratch = Scratch::new();
    let document = scratch.json(["check", "sim:nvme", "--archive", "here", "--json"], 0);
    let page = document["report"].as_str().unwrap();
    assert!(page.starts_with('/') && std::path::Path::new(page).exists(), "{page}");
}
