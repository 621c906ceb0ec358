//! What an owner asks is answered on the last screen of a terminal of 80 x 24, by the commands that README.md has.

use crate::check::on_a_terminal;
use crate::program::Scratch;

/// Rows of a screen beside the prompt and the shell's line.
const ROWS: usize = 22;

/// What is on the screen, line by line; `None` where no terminal can be made here.
fn screen(scratch: &Scratch, line: &str) -> Option<Vec<String>> {
    let shown = on_a_terminal(scratch, line, "")?.stdout;
    Some(shown.trim_end().lines().map(|l| l.trim_end().to_owned()).collect())
}

/// The lines from the one that begins so.
fn from(screen: &[String], start: &str) -> String {
    let at = screen.iter().rposition(|l| l.starts_with(start)).unwrap_or_else(|| panic!("no {start} in {screen:#?}"));
    screen[at..].join("\n")
}

#[test]
fn a_check_of_a_part_does_not_hide_what_one_before_it_measured() {
    let scratch = Scratch::new();
    for device in ["class4-card", "a1-card", "emmc", "sata-ssd"] {
        scratch.run(["check", &format!("sim:{device}"), "--seed", "1"]);
    }
    let part = scratch.run(["check", "sim:a1-card", "--for", "video", "--seed", "2", "--json"]);
    let newest: serde_json::Value = serde_json::from_str(&part.stdout).expect("JSON");
    let all = ["rank", "sim:class4-card", "sim:a1-card", "sim:emmc", "sim:sata-ssd"];
    let ranked = scratch.json(all.iter().copied().chain(["--json"]), 0);
    let answer = ranked["answer"].as_str().expect("an answer");
    assert!(answer.contains("For a database: sim:sata-ssd, then sim:emmc, then sim:a1-card; not"), "{answer}");
    let taken = ranked["reasons"].to_string();
    let id = newest["run_id"].as_str().or(newest["run"]["id"].as_str()).expect("an id");
    assert!(taken.contains(&format!("the newest check {id}; ")) && taken.contains("random depth 1 write"), "{taken}");
    // The rate that the part measured is the newest one.
    let Some(lines) = screen(&scratch, &all.join(" ")) else { return };
    assert!(lines.len() <= ROWS, "{} lines: {lines:#?}", lines.len());
    let last = from(&lines, "Which to buy: ");
    assert!(last.starts_with("Which to buy: sim:sata-ssd") && last.contains("For video: "), "{last}");
    // Another target under the same name of a file system adds nothing: judge::add_what_lacks.
    let whole = screen(&scratch, &format!("{} --details", all.join(" "))).expect("a terminal");
    assert!(whole.len() > ROWS && whole.join("\n").contains("is best in"), "{whole:#?}");
}

#[test]
fn of_few_runs_it_is_said_that_it_cannot_be_told_and_a_script_gets_4() {
    let scratch = Scratch::new();
    let slower = "sim:a1-card,random-write-points=1KiB:826+4KiB:1400+16KiB:769";
    for (target, tag) in [("sim:a1-card", "before"), (slower, "after")] {
        for seed in ["1", "2", "3"] {
            let few = ["--set", "time=500ms", "--seed", seed];
            scratch.run([&["run", "mix", target, "--tag", tag][..], &few].concat());
        }
    }
    let compared = scratch.json(["compare", "before", "after", "--fail-on", "worse", "--json"], 4);
    let answer = compared["answer"].as_str().expect("an answer");
    assert!(
        answer.starts_with("Cannot tell yet whether it helped: ") && answer.contains(" runs of each side"),
        "{answer}"
    );
    assert_eq!(scratch.run(["compare", "before", "after"]).code, 4, "it is not answered, whoever asks");
    let Some(lines) = screen(&scratch, "compare before after --fail-on worse") else { return };
    assert!(lines.len() <= ROWS, "{lines:#?}");
    let said = from(&lines, "Cannot tell yet whether it helped: ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said, answer, "the last of the screen");
    // What nobody asked about does not contradict it.
    let whole = scratch.run(["compare", "before", "after"]).stdout;
    assert!(!whole.lines().any(|l| l.trim_end().ends_with(" worse") && !l.contains("seems worse")), "{whole}");
    // Single runs cannot tell either.
    let single = ["compare", "sim:a1-card", slower, "--fail-on", "worse", "--json"];
    let answer = scratch.json(single, 4)["answer"].as_str().expect("an answer").to_owned();
    assert!(answer.starts_with("Cannot tell from one run of a side whether it helped: "), "{answer}");
}

#[test]
fn runs_that_are_repeated_end_with_what_they_gave() {
    let scratch = Scratch::new();
    let Some(lines) = screen(&scratch, "run mix sim:a1-card --repeat 3 --set time=500ms") else { return };
    let at = lines.iter().position(|l| l.starts_with("mix: 3 runs")).expect("the title");
    assert!(lines.len() - at <= ROWS, "{lines:#?}");
    let last = from(&lines, "3 runs on sim:a1-card, medians: read100 ");
    assert!(last.ends_with("They have the tag mix: narrows compare mix OTHER"), "{last}");
}

#[test]
fn what_a_fill_knows_counts_in_a_plan_of_a_recording() {
    let scratch = Scratch::new();
    let disk = "sim:sata-ssd,capacity=60GB";
    let plan = ["record", "plan", disk, "--streams", "30x64Mbit", "--json"];
    let before = scratch.json(plan, 0);
    assert_eq!(before["fill_run"], serde_json::Value::Null);
    let before = before["answer"].as_str().expect("an answer");
    assert!(before.contains("known for the first") && before.contains("narrows fill tells"), "{before}");
    assert_eq!(scratch.run(["fill", disk, "--seed", "1"]).code, 0);
    let after = scratch.json(plan, 1);
    assert!(after["fill_run"].is_string(), "{after}");
    let answer = after["answer"].as_str().expect("an answer");
    assert!(answer.starts_with("NO: 30 streams of 8.00 MB/s (64 Mbit/s) are too much: they bring 240 MB/s, and the storage takes no more than 180 MB/s"), "{answer}");
    assert!(answer.contains("(as fill "), "{answer}");
    // A rate between what it takes and 95 % of that is no contradiction.
    let near = scratch.json(["record", "plan", "sim:a1-card", "--streams", "28x16Mbit", "--json"], 1);
    let near = near["answer"].as_str().expect("an answer");
    assert!(near.contains("of which streams may need 95 %") && near.contains("; 27 of them are carried"), "{near}");
    let Some(lines) = screen(&scratch, "record plan sim:a1-card --streams 28x16Mbit") else { return };
    from(&lines, "NO: 28 streams");
}

#[test]
fn why_takes_the_newest_run_that_has_limits_and_says_which() {
    let scratch = Scratch::new();
    scratch.run(["check", "sim:a1-card", "--seed", "1"]);
    let check = scratch.json(["runs", "list", "--json"], 0)["runs"][0]["run_id"].as_str().expect("an id").to_owned();
    let latest = scratch.json(["why", "--json"], 0);
    assert_eq!((latest["run_id"].as_str(), &latest["taken"]), (Some(check.as_str()), &serde_json::Value::Null));
    scratch.run(["soak", "sim:a1-card", "--size", "16MiB", "--passes", "1"]);
    let why = scratch.json(["why", "--json"], 0);
    assert_eq!(why["run_id"], check.as_str());
    let taken = why["taken"].as_str().expect("which run");
    assert!(taken.starts_with(&format!("check {check} on sim:a1-card; the newest run, soak ")), "{taken}");
    // A run that tells no bottleneck by itself is no answer where a check before it has one.
    scratch.run(["run", "mix", "sim:a1-card", "--set", "time=1s", "--seed", "1"]);
    let why = scratch.json(["why", "--json"], 0);
    assert_eq!(why["run_id"], check.as_str(), "{why}");
    assert!(why["taken"].as_str().is_some_and(|taken| taken.contains("the newest run, run ")), "{why}");
    let Some(lines) = screen(&scratch, "why --confirm") else { return };
    let last = from(&lines, "Bottleneck: ");
    assert!(last.contains("Confirmed? the deciding measurement"), "{lines:#?}");
}

#[test]
fn a_soak_says_how_much_of_the_device_it_was_about() {
    let scratch = Scratch::new();
    let soak = |target: &str, code| {
        scratch.json(["soak", target, "--passes", "1", "--json"], code)["answer"]
            .as_str()
            .expect("an answer")
            .to_owned()
    };
    let answer = soak("sim:class4-card", 0);
    assert!(answer.ends_with("over 67 MB of it, 1.7 % of its 4 GB; the rest was not looked at."), "{answer}");
    let answer = soak("sim:class4-card,capacity=64MiB", 0);
    assert!(answer.ends_with("over all its 67 MB."), "{answer}");
    let near_end = "sim:class4-card,data-fault=lost-write,data-fault-at=62";
    let answer = soak(near_end, 1);
    assert!(answer.contains(&format!("(a fake): narrows rate {near_end} --capacity quick tells.")), "{answer}");
    let answer = soak("sim:class4-card,data-fault=lost-write,data-fault-at=5", 1);
    assert!(answer.contains("Keep no data on it"), "{answer}");
    let said = scratch.run(["soak", "sim:class4-card", "--passes", "1"]).stderr;
    assert!(said.contains("in simulated time"), "{said}");
}

#[test]
fn a_newcomer_finds_a_fake_and_is_told_that_a_size_was_not_checked() {
    let scratch = Scratch::new();
    let help = scratch.run(["check", "sim:help"]).stdout;
    assert!(
        help.contains("FAKE (counterfeit)") && help.contains("narrows rate sim:a1-card,wraps-at=8GiB --capacity quick"),
        "{help}"
    );
    let help = scratch.json(["check", "sim:help", "--json"], 0);
    for fault in help["faults"].as_array().expect("faults") {
        let name = fault["name"].as_str().expect("a name");
        let used = if name.contains("throttle") { vec!["check", name] } else { vec!["soak", name, "--plan"] };
        // Each is a device that there is.
        let ended = scratch.run(used);
        assert!(
            !ended.stderr.contains("no simulated device") && !ended.stderr.contains("is not a parameter"),
            "{name}: {}",
            ended.stderr
        );
    }
    if let Some(lines) = screen(&scratch, "check sim:help") {
        assert!(
            lines.len() <= ROWS && lines.last().is_some_and(|l| l.starts_with("A fake card to try: ")),
            "{lines:#?}"
        );
    }
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "whether it is a fake was not checked: narrows rate sim:a1-card --capacity quick";
    for command in ["check", "rate"] {
        assert!(flat(scratch.run([command, "sim:a1-card", "--seed", "1"]).stdout).contains(said), "{command}");
    }
    let measured = scratch.run(["rate", "sim:a1-card", "--seed", "1", "--capacity", "quick", "--budget", "20s"]);
    assert!(!measured.stdout.contains("was not checked"), "{}", measured.stdout);
}

#[test]
fn uses_are_called_as_screens_call_them_and_a_good_card_needs_no_next_step() {
    let scratch = Scratch::new();
    for word in ["os", "an operating system", "root-fs"] {
        let good = scratch.run(["check", "sim:a1-card", "--for", word, "--seed", "1"]);
        assert_eq!(good.code, 0, "{word}: {}", good.stderr);
        let said = good.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("Yes, good for an operating system: "), "{word}: {said}");
        assert!(!said.contains("Next step: measure") && !said.contains("another port"), "{word}: {said}");
    }
    let bad = scratch.json(["check", "sim:class4-card", "--for", "database", "--seed", "1", "--json"], 1);
    assert!(bad["answer"].as_str().is_some_and(|a| a.starts_with("No, not good for a database")), "{bad}");
    assert!(bad["next_step"].is_object(), "{bad}");
    let refused = scratch.run(["check", "sim:a1-card", "--for", "cooking"]);
    assert!(refused.code == 2 && refused.stderr.contains("root-fs (an operating system)"), "{}", refused.stderr);
    let Some(lines) = screen(&scratch, "check sim:a1-card --for os --seed 1") else { return };
    assert!(lines.last().is_some_and(|l| l.trim() == "Next step: none is needed for that."), "{lines:#?}");
}

/// What stands on the last screen, in one line; `None` where no terminal can be made here.
fn last_screen(scratch: &Scratch, line: &str) -> Option<String> {
    let shown = on_a_terminal(scratch, line, "")?.stdout;
    let lines: Vec<&str> = shown.trim_end().lines().collect();
    let is_wide = lines.iter().find(|l| l.chars().count() > 80 && !l.contains(&*scratch.path().to_string_lossy()));
    assert_eq!(is_wide, None, "{line}: 80 columns");
    let last = &lines[lines.len().saturating_sub(ROWS)..];
    Some(last.iter().flat_map(|l| l.split_whitespace()).collect::<Vec<_>>().join(" "))
}

#[test]
fn each_question_is_answered_on_the_last_screen() {
    let scratch = Scratch::new();
    for device in ["class4-card", "a1-card", "a2-card-no-queue", "emmc", "sata-ssd", "nvme"] {
        let sim = format!("sim:{device}");
        let asked = [
            // Is it fine?
            (format!("check {sim} --seed 1"), "for an operating system"),
            (format!("check {sim} --seed 1 --for root-fs"), "good for an operating system: "),
            // What holds it back?
            ("why".to_owned(), "Bottleneck: "),
            ("why".to_owned(), "Next step: "),
            // Is it fake?
            (format!("rate {sim} --seed 1 --capacity quick --budget 20s"), "It is as large as it says, "),
            // Can it record N streams?
            (format!("record plan {sim} --streams 2x16Mbit"), "Yes: 2 streams of 2.00 MB/s (16 Mbit/s) are carried"),
            // How long will it live?
            (format!("runs wear {sim} --per-day 5GB"), "it lasts "),
            (format!("runs wear {sim} --per-day 5GB"), "an estimate"),
            // Will it survive?
            (format!("soak {sim} --size 16MiB --passes 1"), "Nothing was wrong: "),
        ];
        for (line, says) in asked {
            let Some(screen) = last_screen(&scratch, &line) else { return };
            assert!(screen.contains(says), "{line}: no '{says}' in\n{screen}");
        }
    }
    // Which to buy?
    let all = "rank sim:class4-card sim:a1-card sim:a2-card-no-queue sim:emmc sim:sata-ssd sim:nvme";
    let Some(screen) = last_screen(&scratch, all) else { return };
    assert!(screen.contains("Which to buy: sim:nvme, for every use"), "{screen}");
    assert!(screen.contains("For an operating system and application class A1: sim:nvme, then "), "{screen}");
    assert!(screen.contains("not sim:class4-card ("), "{screen}");
    // How long does an installation take?
    let few = "--set package-count=12 --set packages-removed=5";
    let Some(screen) = last_screen(&scratch, &format!("run packages sim:a1-card {few}")) else { return };
    assert!(screen.contains("Installing 12 packages takes ") && screen.contains(" of it the storage, "), "{screen}");
    // Did it help?
    let compared =
        "compare --repeat 6 'mix sim:sata-ssd' --with depth=1,32 --set read-percent=100 --primary read100.iops";
    let Some(screen) = last_screen(&scratch, compared) else { return };
    assert!(screen.contains("Yes, depth 32 instead of 1 helped: read100 IOPS x 9.0"), "{screen}");
    assert!(screen.contains(" IOPS to "), "from which number to which: {screen}");
    // A fake, and a card that loses data.
    for (line, says) in [
        ("rate sim:a1-card,wraps-at=8GiB --capacity quick --budget 20s", "A fake: it says 32 GB"),
        (
            "soak sim:a1-card,data-fault=lost-write,data-fault-at=20 --size 16MiB --passes 4",
            "Data are wrong in 1 place",
        ),
    ] {
        let Some(screen) = last_screen(&scratch, line) else { return };
        assert!(screen.contains(says), "{line}: {screen}");
    }
}

#[test]
fn several_targets_end_with_a_verdict_of_each_in_a_line() {
    let scratch = Scratch::new();
    let names = ["sim:a1-card", "sim:class4-card", "sim:nvme", "sim:emmc"];
    let line = |rest: &str| format!("check {} --seed 1{rest}", names.join(" "));
    let Some(lines) = screen(&scratch, &line("")) else { return };
    let at = lines.iter().position(|l| l.starts_with("narrows check 4 targets")).expect("the title");
    assert!(lines.len() - at <= ROWS, "{} lines: {lines:#?}", lines.len() - at);
    for (line, name) in lines[lines.len() - 4..].iter().zip(names) {
        assert!(line.starts_with(&format!("{name}: ")) && line.contains("good for"), "{name}: {line}");
    }
    assert!(lines[lines.len() - 5].starts_with("Which to buy: "), "{lines:#?}");
    assert!(lines.iter().any(|l| l.contains("sequential read")), "the numbers beside each other: {lines:#?}");
    let asked = screen(&scratch, &line(" --for root-fs")).expect("a terminal");
    let class4 = asked.iter().find(|l| l.starts_with("sim:class4-card: ")).expect("its verdict");
    assert!(class4.contains("no, 33.") && class4.contains("A1 asks for 500"), "{class4}");
    let document = scratch.json(["check", "sim:class4-card", "sim:nvme", "/nowhere", "--seed", "1", "--json"], 3);
    let answer = document["answer"].as_str().expect("an answer");
    assert!(answer.ends_with("/nowhere: not checked.") && answer.contains("sim:nvme: good for"), "{answer}");
}

#[test]
fn a_path_and_a_run_end_with_what_they_are() {
    let scratch = Scratch::new();
    let Some(lines) = screen(&scratch, "inspect sim:nvme") else { return };
    let last = lines.join(" ");
    let answer = scratch.json(["inspect", "sim:nvme", "--json"], 0)["answer"].as_str().expect("an answer").to_owned();
    assert!(last.ends_with(&answer) && answer.contains("the lowest ceiling is that of"), "{answer}\n{last}");
    let lines = screen(&scratch, "run mix sim:a1-card --seed 1 --set time=500ms").expect("a terminal");
    assert!(lines.len() <= ROWS + 2, "{lines:#?}");
    from(&lines, "9 phases, from ");
}
