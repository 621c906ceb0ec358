//! Whatever a file holds, importing it ends, without a panic, and every metric is a number.

use exchange::{ImportError, Imported, import};
use proptest::prelude::*;

/// Real outputs of this repository's fixtures, of all formats.
fn outputs() -> Vec<Vec<u8>> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exchange/foreign");
    let mut all = Vec::new();
    let mut directories = vec![std::path::PathBuf::from(directory)];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("fixtures").map(|e| e.expect("an entry").path()) {
            if entry.is_dir() {
                directories.push(entry);
            } else {
                all.push((entry.clone(), std::fs::read(&entry).expect("a fixture")));
            }
        }
    }
    all.sort();
    all.into_iter().map(|(_, bytes)| bytes).filter(|b| b.len() < 40_000).collect()
}

fn check(imported: &Imported, lines: usize) -> Result<(), TestCaseError> {
    for run in &imported.runs {
        prop_assert!(run.metrics().count() > 0);
        let mut ids: Vec<&str> = run.metrics().map(|m| m.metric.id.as_str()).collect();
        for m in run.metrics() {
            let Some(value) = m.metric.value.or(m.metric.rejected_value) else {
                // Too fast to measure: null, with the reason.
                prop_assert!(!m.metric.reasons.is_empty(), "{}", m.metric.id);
                continue;
            };
            prop_assert!(value.is_finite() && (0.0..1e18).contains(&value), "{}: {value}", m.metric.id);
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), count, "two metrics of one id");
        prop_assert!((1..=lines).contains(&run.first_line));
    }
    for rest in &imported.not_understood {
        prop_assert!(rest.line >= 1 && rest.lines >= 1 && rest.line + rest.lines - 1 <= lines, "{rest:?}");
    }
    Ok(())
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| **b == b'\n').count() + 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        if let Ok(imported) = import("f", bytes.as_slice()) {
            prop_assert!(imported.runs.is_empty() || !bytes.is_empty());
        }
    }

    #[test]
    fn cut_anywhere(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let all = outputs();
        let whole = which.get(&all);
        let cut = &whole[..at.index(whole.len() + 1)];
        if let Ok(imported) = import("f", cut) {
            check(&imported, lines(cut))?;
        }
    }

    #[test]
    fn numbers_and_marks_replaced(
        which in any::<prop::sample::Index>(),
        places in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..12), 1..12),
    ) {
        const INSTEAD: [&str; 12] =
            ["nan", "-inf", "99999999999999999999999", "-1", "", ";", "{", "}", "\"", "1e308", "\n", "\u{fffd}"];
        let all = outputs();
        let mut text = which.get(&all).clone();
        for (place, instead) in places {
            let at = place.index(text.len());
            // The number that begins at or after the place, or the one byte there.
            let start = (at..text.len()).find(|i| text[*i].is_ascii_digit()).unwrap_or(at);
            let end = (start..text.len()).find(|i| !text[*i].is_ascii_digit() && text[*i] != b'.').unwrap_or(text.len());
            text.splice(start..end.max(start + 1), INSTEAD[instead].bytes());
        }
        if let Ok(imported) = import("f", text.as_slice()) {
            check(&imported, lines(&text))?;
        }
    }

    #[test]
    fn two_files_in_one(a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>(), between in "[ -~\n]{0,60}") {
        let all = outputs();
        let text = [a.get(&all).as_slice(), b"\n", between.as_bytes(), b"\n", b.get(&all).as_slice()].concat();
        if let Ok(imported) = import("f", text.as_slice()) {
            check(&imported, lines(&text))?;
        }
    }
}

#[test]
fn deep_nesting_and_long_lines_end() {
    for text in ["{\"fio version\":".repeat(20_000), "{\"a\":[".repeat(50_000), "a: (groupid=".repeat(20_000)] {
        assert_eq!(import("f", text.as_bytes()).unwrap().runs, []);
    }
    let open = "{\"x\n".repeat(50_000);
    assert_eq!(import("f", open.as_bytes()).unwrap().runs, []);
}

#[test]
fn what_is_no_text_is_refused() {
    assert_eq!(import("f", b"").unwrap_err(), ImportError::Empty);
    assert!(matches!(import("f", b"\x7fELF\x02\x01\x00"), Err(ImportError::Binary(_))));
    assert!(matches!(import("f", [0x1f, 0x8b, 8]), Err(ImportError::Packed("gzip"))));
}

#[test]
fn what_nobody_knows_is_listed() {
    let imported = import("f", b"hello\n\nworld\n").unwrap();
    assert_eq!(imported.runs, []);
    let [rest] = &imported.not_understood[..] else { panic!("{:?}", imported.not_understood) };
    assert_eq!((rest.line, rest.lines, rest.text.as_str()), (1, 3, "hello"));
}
