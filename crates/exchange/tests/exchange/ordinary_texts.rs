//! Ordinary texts (manuals, logs, tables, chats, what other commands print) hold no result of a storage tool, whatever the
//! numbers in them are. `cargo xtask fuzz ordinary-texts` draws more of them.

use exchange::import;
use test_runs::OrdinaryText;

#[test]
fn no_ordinary_text_holds_a_result() {
    for seed in 1..=600_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 16
        };
        let text = OrdinaryText(next).text(40);
        let imported = import("text", text.as_bytes()).unwrap();
        assert_eq!(imported.runs, [], "seed {seed}:\n{text}");
    }
}

/// What the fuzzer found.
#[test]
fn a_rate_among_other_words_is_no_report_of_a_card() {
    for line in [
        "Sequential: 70336.998 MB/s read 630680 IOPS cached 1 B",
        "Sequential: 41 MB/s read",
        "Sequential: 4 MB/s read, 9 MB/s write of it",
    ] {
        assert_eq!(import("text", format!("Notes of today.\n{line}\n").as_bytes()).unwrap().runs, [], "{line}");
    }
}

#[test]
fn prose_with_commas_is_no_table() {
    for text in [
        "We bought three of them, they were cheap.\nThe first one died, 12\nThe second one, 13\n",
        "Hallo zusammen, ich habe da mal eine Frage zu meiner neuen Platte hier, bitte\nAlso, 5, 6\nUnd, 7, 8\n",
    ] {
        assert_eq!(import("text", text.as_bytes()).unwrap().runs, [], "{text}");
    }
}
