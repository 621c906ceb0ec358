//! What an owner asks is answered on the last screen of a terminal of 80 x 24, by the commands that README.md has.

use crate::check::on_a_terminal;
use crate::program::Scratch;

/// Rows of a screen beside the prompt and the shell's line.
const ROWS: usize = 22;

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
