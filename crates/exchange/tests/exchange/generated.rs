//! Whatever a run holds, what leaves is valid or a typed error.

use crate::csv::parse;
use crate::runs::generated;
use exchange::Options;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Component;

fn safe(path: &std::path::Path) -> bool {
    path.components().all(|c| matches!(c, Component::Normal(_)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_run_gives_a_valid_document_or_an_error(seed in any::<u64>(), keep_refused: bool, bins: bool) {
        let run = generated(seed);
        let options = Options { phases: Vec::new(), keep_refused, bins };
        if let Ok(text) = exchange::fio_json(&run, &options) {
            let document: Value = serde_json::from_str(&text).expect("JSON");
            prop_assert_eq!(document["narrows"]["phases"].as_array().unwrap().len(), run.phases.len());
            prop_assert!(!document["jobs"].as_array().unwrap().is_empty());
            prop_assert_eq!(text, exchange::fio_json(&run, &options).unwrap());
        }
        for file in exchange::fio_json_files(&run, &options).unwrap_or_default() {
            prop_assert!(safe(&file.path), "{}", file.path.display());
            prop_assert!(serde_json::from_str::<Value>(&file.text).is_ok());
        }
        let logs = exchange::fio_logs(&run, &options).unwrap_or_default();
        let mut paths: Vec<_> = logs.iter().map(|f| f.path.clone()).collect();
        for file in &logs {
            prop_assert!(safe(&file.path), "{}", file.path.display());
            for line in file.text.lines() {
                let cells: Vec<u64> = line.split(", ").map(|c| c.parse().expect("a number")).collect();
                prop_assert_eq!(cells.len(), 5);
            }
        }
        paths.sort();
        paths.dedup();
        prop_assert_eq!(paths.len(), logs.len(), "two files of one name");
        if let Ok(text) = exchange::csv(std::slice::from_ref(&run), &options) {
            let lines = parse(&text);
            prop_assert!(lines.iter().all(|l| l.len() == lines[0].len()));
            prop_assert_eq!(lines.len() - 1, run.metrics().count());
        }
        if let Ok(text) = exchange::hlog(&run, &options) {
            prop_assert!(text.lines().all(|l| l.starts_with('#') || l.starts_with("Tag=")), "{}", text);
        }
        let _ = exchange::iozone(&run, &options);
    }
}
