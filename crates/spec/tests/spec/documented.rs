//! The documentation names every workload, key and option that there is.

const LANGUAGE: &str = include_str!("../../../../docs/design/workloads.md");
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
fn every_workload_has_its_question() {
    for workload in spec::workloads() {
        let heading = format!("## {}", workload.name);
        assert!(WORKLOADS.contains(&heading), "docs/workloads.md lacks {heading}");
        assert!(WORKLOADS.contains(&workload.answers), "docs/workloads.md lacks {}", workload.answers);
    }
}
