//! The documentation names every workload, key and option that there is.

const LANGUAGE: &str = include_str!("../../../../docs/design/workloads.md");
const FIO: &str = include_str!("../../../../docs/fio-options.md");
const WORKLOADS: &str = include_str!("../../../../docs/workloads.md");

#[test]
fn every_key_has_its_row() {
    let job = spec::job_keys().iter().map(|k| (k.name, k.expects, k.meaning));
    for (name, expects, meaning) in job.chain(spec::top_keys().iter().map(|k| (k.name, k.expects, k.meaning))) {
        let row = format!("| `{name}` | {expects} | {meaning} |");
        assert!(LANGUAGE.contains(&row), "docs/design/workloads.md lacks\n{row}");
    }
}

#[test]
fn every_fio_option_is_listed() {
    for option in spec::fio_options() {
        assert!(LANGUAGE.contains(&format!("`{option}`")), "docs/design/workloads.md lacks {option}");
    }
}

#[test]
fn every_name_of_fio_is_taken_or_has_its_reason() {
    let (taken, refused) = FIO.split_once("## Not taken").unwrap();
    for (name, _) in spec::fio_names() {
        let named = format!("`{name}`");
        // What is refused says so, without a value that says no.
        let text = format!("[j]\nsize=1m\n{name}=sometimes\n");
        let place = if fio_refuses(&text) { refused } else { taken };
        assert!(place.contains(&named), "docs/fio-options.md lacks {name}, or has it in another table");
    }
    for row in refused.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert!(cells.len() == 2 && cells[1].trim().len() > 3, "no reason: {row}");
    }
}

/// Whether an option is known and not taken, whatever it says.
fn fio_refuses(text: &str) -> bool {
    let (includes, variables) = (Default::default(), Default::default());
    let machine = spec::TextMachine { page_size_bytes: 4096, memory_bytes: 1 << 30, processors: 1 };
    let inputs = spec::TextInputs {
        file: "j",
        text,
        includes: &includes,
        set: &[],
        variables: &variables,
        machine,
        lenient: false,
    };
    let errors = spec::parse_fio(&inputs).err().unwrap_or_default();
    errors.iter().any(|e| e.kind == spec::TextErrorKind::Unsupported && e.what.starts_with("is not supported"))
}

#[test]
fn every_workload_has_its_question() {
    for workload in spec::workloads() {
        let heading = format!("## {}", workload.name);
        assert!(WORKLOADS.contains(&heading), "docs/workloads.md lacks {heading}");
        assert!(WORKLOADS.contains(&workload.answers), "docs/workloads.md lacks {}", workload.answers);
    }
}
