//! Texts of the largest legal size are read and planned in steps that grow with them, not with their square.
//!
//! No speed is asserted: what took minutes before would only take minutes again, and whoever runs the tests would see it.

use model::TargetKind;
use spec::{Probe, Readiness, RunInputs, TextInputs, TextMachine, Workload, parse_fio, parse_workload};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

fn read(file: &str, text: &str) -> Result<Workload, Vec<spec::TextError>> {
    let none = BTreeMap::new();
    let inputs = TextInputs {
        file,
        text,
        includes: &BTreeMap::new(),
        set: &[],
        variables: &none,
        machine: TextMachine { page_size_bytes: 4096, memory_bytes: 1 << 30, processors: 4 },
        lenient: false,
    };
    if file.ends_with(".fio") { parse_fio(&inputs) } else { parse_workload(&inputs) }
}

fn inputs() -> RunInputs {
    RunInputs {
        kind: TargetKind::Directory,
        readiness: Readiness::Writable,
        max_bytes: 1 << 44,
        sector_bytes: 512,
        memory_bytes: None,
        seed: 1,
        probe: Probe::default(),
        packages: None,
    }
}

#[test]
fn jobs_and_phases_of_one_name_are_numbered() {
    let phases = read("t.fio", &format!("[global]\nstonewall\nsize=1m\n{}", "[job]\nrw=read\n".repeat(4096))).unwrap();
    let plan = phases.plan(&inputs()).unwrap();
    let names: BTreeSet<&str> = plan.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names.len(), plan.phases.len());
    assert!(names.contains("job") && names.contains("job-2") && names.contains("job-4096"));

    let jobs = read("t.fio", &format!("[global]\nsize=1m\n{}", "[a]\nrw=read\n".repeat(2000))).unwrap();
    let plan = jobs.plan(&inputs()).unwrap();
    let measured = plan.phases.iter().find(|p| p.name != "layout").unwrap();
    let names: BTreeSet<&str> = measured.streams.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names.len(), 2000, "the third job of a name was called like the second");
    assert!(names.contains("a") && names.contains("a-2") && names.contains("a-2000"));
}

#[test]
fn a_million_files_are_planned() {
    let mut text = String::from("[global]\nsize=64m\nfilesize=4k\nnrfiles=256\n");
    (0..4096).for_each(|n| write!(text, "[j{n}]\nrw=read\n").unwrap());
    let plan = read("t.fio", &text).unwrap().plan(&inputs()).unwrap();
    let measured = plan.phases.iter().find(|p| p.name != "layout").unwrap();
    assert_eq!(measured.streams.iter().map(|s| s.blocks().unwrap().block.files.len()).sum::<usize>(), 1 << 20);
}

#[test]
fn many_global_sections_and_many_mistakes_are_read() {
    let text = format!("{}[j]\nrw=read\nsize=8kb\n", "[global]\nkb_base=1000\n".repeat(100_000));
    let plan = read("t.fio", &text).unwrap().plan(&inputs()).unwrap();
    assert!(plan.phases.len() > 1);
    let keys: String = (0..100_000).fold(String::from("name = \"k\"\n"), |mut text, n| {
        writeln!(text, "x{n} = 1").unwrap();
        text
    });
    let errors = read("t.toml", &keys).unwrap_err();
    assert!((1..=256).contains(&errors.len()), "{}", errors.len());
    assert_eq!(errors[0].place.line, 2);
}

#[test]
fn a_sweep_of_the_largest_size_is_planned() {
    let list = |count: u32, of: &dyn Fn(u32) -> String| (1..=count).map(of).collect::<Vec<_>>().join(", ");
    let text = format!(
        "name = \"s\"\n[defaults]\nregion = \"1MiB\"\ntime = \"1s\"\naccess = \"direct\"\norder = \"random\"\njobs = 16\n\
         [[phase]]\nname = \"p-{{block-size}}-{{depth}}\"\n[phase.sweep]\nblock-size = [{}]\ndepth = [{}]\n",
        list(64, &|n| format!("\"{}KiB\"", 4 * n)),
        list(64, &|n| n.to_string()),
    );
    let plan = read("t.toml", &text).unwrap().plan(&inputs()).unwrap();
    assert_eq!(plan.phases.iter().filter(|p| p.name.starts_with("p-")).count(), 4096);
}
