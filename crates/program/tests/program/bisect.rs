//! `compare --bisect` and `--until-sure`: what `git bisect run` needs, and `git bisect run` itself over 64 commits.

use crate::program::{Ended, Scratch};
use std::fs;
use std::path::Path;

const WORKLOAD: &str = "name = \"reads\"\n[[phase]]\nname = \"reads\"\noperation = \"read\"\norder = \"random\"\naccess = \"direct\"\n\
    block-size = \"4KiB\"\ndepth = 1\ntime = \"300ms\"\nregion = \"16MiB\"\nlaid-out = true\n";

/// A device whose reads take about `us`; 5 % of noise from run to run, by its number.
fn device(us: f64, number: u64) -> String {
    // The sum of 12 uniform numbers is normal as far as this needs (SplitMix64).
    let mut state = number;
    let sum: f64 = (0..12)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z >> 11) as f64 / (1u64 << 53) as f64
        })
        .sum();
    let noise = 1.0 + 0.05 * (sum - 6.0);
    format!("sim:nvme,seed={number},read-overhead={:.2}us", us * noise)
}

fn runs(scratch: &Scratch, tag: &str, us: f64, numbers: std::ops::Range<u64>) {
    fs::write(scratch.path().join("reads.toml"), WORKLOAD).unwrap();
    for number in numbers {
        let ended = scratch.run(["run", "reads.toml", &device(us, number), "--tag", tag]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
}

fn bisected(scratch: &Scratch, args: &[&str]) -> Ended {
    scratch.run(["compare"].iter().chain(args).chain(&["--bisect", "--primary", "reads.iops"]).copied())
}

#[test]
fn good_bad_and_cannot_tell_have_their_codes() {
    let scratch = Scratch::new();
    runs(&scratch, "good", 70.0, 0..10);
    runs(&scratch, "same", 70.0, 10..20);
    runs(&scratch, "slow", 90.0, 20..30);
    runs(&scratch, "once", 90.0, 30..31);
    let of = |b: &str, margin: &str| bisected(&scratch, &["good", b, "--margin", margin]).code;
    assert_eq!((of("same", "10"), of("slow", "10"), of("once", "10")), (0, 1, 125));
    // Faster is good, and what a margin that is too small for the noise leaves open is neither.
    assert_eq!(bisected(&scratch, &["slow", "good", "--margin", "10"]).code, 0);
    assert_eq!(of("same", "0.5"), 125);
    // What failed tells nothing of the change: any other code would be "bad" to git.
    for wrong in [
        vec!["good", "nothing"],
        vec!["good"],
        vec!["good", "same", "--nonsense"],
        vec!["good", "same", "--alpha", "7"],
    ] {
        let ended = bisected(&scratch, &wrong);
        assert!(ended.code == 125 && !ended.stderr.is_empty(), "{wrong:?}: {} {}", ended.code, ended.stderr);
    }
}

#[test]
fn runs_are_made_until_the_verdict_is_clear_and_no_more() {
    let scratch = Scratch::new();
    runs(&scratch, "good", 70.0, 0..12);
    let until = |us: f64, most: &str, more: &[&str]| {
        let b = format!("reads.toml sim:nvme,read-overhead={us}us");
        let args = ["good", b.as_str(), "--until-sure", most, "--margin", "10", "--json"];
        let ended = bisected(&scratch, &[&args[..], more].concat());
        let document: serde_json::Value = serde_json::from_str(&ended.stdout).expect("one document");
        (ended.code, document["b"]["runs"].as_array().map_or(0, Vec::len), document)
    };
    let (code, made, document) = until(95.0, "20", &[]);
    assert_eq!((code, made), (1, 4), "clear at the first look");
    assert_eq!(document["schema"], "narrows/compare/1");
    assert!(document["question"]["alpha"].as_f64().unwrap() < 0.0101, "five looks share the error rate");
    let (code, made, _) = until(70.0, "20", &[]);
    assert!(code == 0 && made <= 20, "{code} after {made}");
    let (code, made, _) = until(70.0, "6", &["--margin", "0.1"]);
    assert_eq!((code, made), (125, 6));
    // All of them are kept.
    let kept = scratch.json(["runs", "--json"], 0)["runs"].as_array().unwrap().len();
    assert!(kept >= 12 + 4 + 6, "{kept}");
    let refused =
        scratch.run(["compare", "good", "reads.toml", "--until-sure", "3", "--repeat", "2", "--with", "depth=1,2"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    // A tag is no workload: what is wanted in its place is said.
    let tag = scratch.run(["compare", "good", "bad", "--until-sure", "3"]);
    assert!(tag.code == 2 && tag.stderr.contains("makes the runs of side B, 'WORKLOAD TARGET'"), "{}", tag.stderr);
}

fn git(directory: &Path, scratch: &Scratch, args: &[&str]) -> Ended {
    let mut command = scratch.around("git");
    for (name, value) in [("AUTHOR", "a"), ("COMMITTER", "c")] {
        command.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), "x@example.org");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    Ended::of(command.args(args).current_dir(directory).output().expect("git runs"))
}

/// 64 commits of a device's time; at one of them reads become 20 % slower. 19 of 20 are found: `NARROWS_BISECTS=20` shows it.
#[test]
fn git_bisect_finds_the_commit_in_the_noise() {
    let scratch = Scratch::new();
    let Ok(version) = scratch.around("git").arg("--version").output() else {
        println!("SKIPPED: there is no git on this machine");
        return;
    };
    assert!(version.status.success());
    let rounds: u64 = std::env::var("NARROWS_BISECTS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut found = 0;
    for round in 0..rounds {
        let directory = scratch.path().join(format!("repository-{round}"));
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("reads.toml"), WORKLOAD).unwrap();
        let good = format!("good-{round}");
        runs(&scratch, &good, 70.0, round * 100_000..round * 100_000 + 20);
        let planted = 5 + (round * 29 + 17) % 57;
        assert_eq!(git(&directory, &scratch, &["init", "-q"]).code, 0);
        for commit in 0..64u64 {
            // What a commit is, and with which noise its runs are.
            let us = if commit >= planted { 84.0 } else { 70.0 };
            let devices = (0..12).map(|i| device(us, (round * 100 + commit + 1) * 1_000 + i) + "\n");
            fs::write(directory.join("devices"), devices.collect::<String>()).unwrap();
            git(&directory, &scratch, &["add", "."]);
            assert_eq!(git(&directory, &scratch, &["commit", "-qm", &format!("commit {commit}")]).code, 0);
        }
        let script = format!(
            "tag=c-$(git rev-parse --short=12 HEAD)\nwhile read device; do {binary} run reads.toml \"$device\" --tag $tag --json >/dev/null || exit 125\n\
             done <devices\nexec {binary} compare {good} $tag --bisect --margin 10 --primary reads.iops --json >/dev/null\n",
            binary = crate::program::BINARY
        );
        fs::write(directory.join(".git/step.sh"), script).unwrap();
        let first = git(&directory, &scratch, &["rev-list", "--max-parents=0", "HEAD"]).stdout;
        git(&directory, &scratch, &["bisect", "start", "HEAD", first.trim()]);
        let said = git(&directory, &scratch, &["bisect", "run", "sh", ".git/step.sh"]);
        let named =
            said.stdout.contains(&format!("commit {planted}\n")) && said.stdout.contains("is the first bad commit");
        found += u64::from(named);
        if !named {
            println!("round {round}, planted {planted}: {}\n{}", said.stdout, said.stderr);
        }
    }
    assert!(found * 20 >= rounds * 19, "{found} of {rounds}");
}
