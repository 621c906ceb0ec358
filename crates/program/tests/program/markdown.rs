//! `--markdown`: whatever a command answers can be pasted into an issue.

use crate::program::Scratch;

/// The lines of an answer as Markdown, which are few and do not act.
fn pasted(scratch: &Scratch, args: &[&str]) -> String {
    let ended = scratch.run(args.iter().chain(&["--markdown"]));
    // What limits the simulated device is not known of a few operations.
    let code = match args[0] {
        "why" => 4,
        "soak" => 1,
        _ => 0,
    };
    assert_eq!(ended.code, code, "{args:?}: {}", ended.stderr);
    assert!(ended.stdout.lines().count() <= 41, "{args:?}: {}", ended.stdout);
    assert!(!ended.stdout.contains('\x1b'), "{args:?}: {:?}", ended.stdout);
    ended.stdout
}

#[test]
fn every_answer_has_it() {
    let scratch = Scratch::new();
    let run = pasted(&scratch, &["run", "latency", "sim:a1-card", "--tag", "one"]);
    assert!(run.starts_with("**narrows run latency ") && run.contains("| read"), "{run}");
    scratch.run(["run", "latency", "sim:class4-card", "--tag", "other"]);
    for (args, parts) in [
        (&["inspect", "sim:a1-card"][..], &["**narrows inspect sim:a1-card**", "link **mmc1** at most 75.0 MB/s"][..]),
        (&["inspect"], &[]),
        (&["check", "sim:a1-card", "--plan"], &["**Plan check**", "- target: ", "layout** not measured"]),
        (&["why", "one"], &["**narrows why sim:a1-card**"]),
        (
            &["compare", "one", "other"],
            &["**narrows compare one -&gt; other**", "| metric | A | B | change | verdict |"],
        ),
        (&["rank", "one", "other"], &["**narrows rank 2 targets**"]),
        (&["runs", "list"], &["run latency sim:a1-card ", "\\[one\\]"]),
        (&["runs", "show", "one"], &["**narrows run latency "]),
        (&["runs", "verify"], &["- "]),
        (&["runs", "wear"], &[]),
        (&["explain", "for-etcd"], &["**What it needs**", "at most 10.0 ms"]),
        (&["explain", "a20-sata-fifo"], &["a20-sata-fifo, layer: ", "**What to do**"]),
        (&["workloads"], &["- depth: "]),
        (&["settings", "list", "."], &["- "]),
    ] {
        let text = pasted(&scratch, args);
        assert!(!text.trim().is_empty(), "{args:?}");
        parts.iter().for_each(|part| assert!(text.contains(part), "{args:?}: {part}: {text}"));
    }
}

#[test]
fn what_soaks_and_recordings_say_has_it() {
    let scratch = Scratch::new();
    let soak = pasted(
        &scratch,
        &["soak", "sim:a1-card,data-fault=lost-write,data-fault-at=20", "--passes", "1", "--size", "32MiB"],
    );
    assert!(soak.starts_with("**narrows soak sim:a1-card"), "{soak}");
    assert!(soak.contains("**Data are wrong in 1 place: ") && soak.contains("Run "), "{soak}");
    let recording = scratch.path().join("cam.nrec").display().to_string();
    let made = ["record", "-o", &recording, "--size", "20MiB", "--generate", "1x100KB@max", "--frames", "5"];
    let made = pasted(&scratch, &made);
    assert!(made.contains("**No frame was lost: 5 frames") && made.contains(": 5 received, 5 durable"), "{made}");
    let whole = pasted(&scratch, &["record", "--verify", "-o", &recording]);
    assert!(whole.starts_with("**Nothing that was acknowledged is missing or altered: 5 frames"), "{whole}");
    assert!(whole.contains("5 frames of 500 kB in "), "{whole}");
}

#[test]
fn what_is_a_text_and_nothing_else_is_a_block_of_code() {
    let scratch = Scratch::new();
    let toml = scratch.run(["workloads", "show", "depth"]).stdout;
    let fenced = scratch.run(["workloads", "show", "depth", "--markdown"]).stdout;
    assert_eq!(fenced, format!("```text\n{}\n```\n", toml.trim_matches('\n')));
}

#[test]
fn each_interval_of_watch_is_two_tables() {
    let made = pasted(&Scratch::new(), &["watch", "--count", "1"]);
    let heads: Vec<&str> = made.lines().filter(|l| l.contains(" % |") && !l.contains("---")).collect();
    assert!(made.starts_with("**since boot, in the mean**\n"), "{made}");
    assert!(heads.len() == 2 && heads[0].starts_with("| | usr % |") && heads[1].starts_with("| | r/s |"), "{made}");
    assert!(made.lines().any(|l| l.starts_with("| machine | ")), "{made}");
}

#[test]
fn it_is_one_form_of_an_answer() {
    let scratch = Scratch::new();
    for (args, said) in [
        (&["inspect", "sim:a1-card", "--json"][..], "two texts"),
        (&["watch", "--count", "1", "--csv"], "exclude each other"),
        (&["run", "latency", "sim:a1-card", "--format", "fio-json"], "two documents"),
    ] {
        let ended = scratch.run(args.iter().chain(&["--markdown"]));
        assert_eq!(ended.code, 2, "{args:?}");
        assert!(ended.stdout.contains(said) || ended.stderr.contains(said), "{args:?}: {}", ended.stderr);
    }
    let failed = scratch.run(["inspect", "/no/such/place", "--markdown"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (2, ""));
}
