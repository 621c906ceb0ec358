//! Reads fio job files and prints, as a Markdown table, what becomes of each: how docs/fio-examples.md is made.
//!
//! `cargo run -p narrows-spec --example job_files -- FILE...`

use model::TargetKind;
use spec::{Readiness, RunInputs, TextInputs, TextMachine, parse_fio};
use std::collections::BTreeMap;

fn outcome(name: &str, text: &str) -> (&'static str, String) {
    let (includes, variables) = (BTreeMap::new(), BTreeMap::new());
    let inputs = TextInputs {
        file: name,
        text,
        includes: &includes,
        set: &[],
        variables: &variables,
        machine: TextMachine { page_size_bytes: 4096, memory_bytes: 16 << 30, processors: 4 },
        lenient: false,
    };
    let workload = match parse_fio(&inputs) {
        Ok(workload) => workload,
        Err(errors) => {
            let mut reasons: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
            if errors.len() > 3 {
                reasons.push(format!("and {} more", errors.len() - 3));
            }
            return ("refused", reasons.join("<br>"));
        }
    };
    let device = workload.target.as_ref().is_some_and(|t| t.starts_with("/dev/"));
    let run = RunInputs {
        kind: if device { TargetKind::BlockDevice } else { TargetKind::Directory },
        readiness: Readiness::Writable,
        max_bytes: 1 << 40,
        sector_bytes: 512,
        memory_bytes: Some(8 << 30),
        seed: 1,
        probe: Default::default(),
        packages: None,
    };
    match workload.plan(&run) {
        Ok(plan) => {
            let streams: usize = plan.phases.iter().map(|p| p.streams.len()).sum();
            let notes = plan.notes.iter().map(|n| format!("<br>{n}")).collect::<String>();
            ("accepted", format!("{} phases, {streams} streams{notes}", plan.phases.len()))
        }
        Err(error) => ("refused", error.to_string().replace('\n', "<br>")),
    }
}

fn main() {
    println!("| file | outcome | plan, or reason |\n|---|---|---|");
    for path in std::env::args().skip(1) {
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        match std::fs::read(&path) {
            Ok(bytes) => {
                let (outcome, detail) = outcome(&name, &String::from_utf8_lossy(&bytes));
                println!("| {name} | {outcome} | {} |", detail.replace('|', "\\|"));
            }
            Err(error) => println!("| {name} | unreadable | {error} |"),
        }
    }
}
