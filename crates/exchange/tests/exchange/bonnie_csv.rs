//! bonnie++'s line, out and in again.

use crate::runs;
use exchange::{ExchangeError, Options, bonnie_csv, import};
use model::Run;
use std::collections::BTreeMap;

fn imported(text: &[u8]) -> Run {
    let imported = import("a.csv", text).unwrap();
    assert_eq!((imported.runs.len(), imported.not_understood.as_slice()), (1, [].as_slice()));
    imported.runs[0].to_run("20261121T000000Z-00000000", "0", "a.csv")
}

fn values(run: &Run) -> BTreeMap<String, Option<f64>> {
    run.metrics().map(|m| (m.id.clone(), m.value)).collect()
}

#[test]
fn what_was_imported_goes_out_with_the_same_figures() {
    for text in [include_bytes!("studies/piix.bonnie.csv").as_slice(), include_bytes!("studies/ahci.bonnie.csv")] {
        let run = imported(text);
        let line = bonnie_csv(&run, &Options::default()).unwrap();
        let fields: Vec<&str> = line.trim_end().split(',').collect();
        assert_eq!((fields.len(), fields[0], fields[5], fields[21]), (50, "1.98", "4G", "384"), "{line}");
        assert_eq!(values(&imported(line.as_bytes())), values(&run));
    }
}

#[test]
fn what_was_too_fast_or_not_run_stays_so() {
    let line = b"1.98,2.00a,vm,1,1795276895,8M,,8192,5,415,31,+++++,+++,,,589,29,+++++,+++,+++++,+++,,,,,,,,,,,,,,,,,,\
        189ms,83us,,198ms,9us,72056us,,,,,,\n";
    let run = imported(line);
    let out = bonnie_csv(&run, &Options::default()).unwrap();
    assert!(out.contains(",415,31,+++++,+++,,,589,29,+++++,+++,+++++,+++,"), "{out}");
    assert_eq!(values(&imported(out.as_bytes())), values(&run));
}

#[test]
fn a_run_of_something_else_has_no_such_line() {
    let run = runs::plain();
    assert!(matches!(bonnie_csv(&run, &Options::default()), Err(ExchangeError::NothingRecorded { .. })));
}
