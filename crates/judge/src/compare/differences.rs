//! In what the sides differ beside what was to be compared: said first, since it may be the cause.

use model::{EnvironmentDifference, LayerKind, Run};

/// File systems whose fill levels differ by less, percentage points, are alike.
const FILL_POINTS: f64 = 10.0;

/// Kernel, processors, file system and its options, size of the region, plan: whatever both sides do not share.
pub fn environment_differences(a: &[Run], b: &[Run]) -> Vec<EnvironmentDifference> {
    type Fact = (&'static str, fn(&Run) -> Option<String>);
    let facts: [Fact; 16] = [
        ("machine", |r| r.environment.machine.clone()),
        ("host", |r| r.environment.hostname.clone()),
        ("architecture", |r| r.environment.architecture.clone()),
        ("kernel", |r| r.environment.kernel.clone()),
        ("kernel command line", |r| r.environment.kernel_command_line.clone()),
        ("processors", |r| {
            let cpus = &r.environment.cpus;
            let names: Vec<String> = cpus.iter().map(|c| format!("{} x {}", c.count, c.name)).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }),
        ("governor", |r| Some(r.environment.governors.join(", ")).filter(|g| !g.is_empty())),
        ("memory", |r| r.environment.memory_bytes.map(|n| format!("{} MiB", n >> 20))),
        ("virtualisation", |r| r.environment.virtualization.clone()),
        ("target", |r| Some(r.target.name.clone())),
        ("file system", |r| r.target.stack.mount.as_ref().map(|m| m.fstype.clone())),
        ("mount options", |r| r.target.stack.mount.as_ref().map(|m| m.options.join(","))),
        ("drivers", drivers),
        ("workload", |r| Some(r.plan.name.clone())),
        ("size of the region", |r| (r.plan.size.bytes > 0).then(|| format!("{} MiB", r.plan.size.bytes >> 20))),
        ("program", |r| Some(r.program_version.clone())),
    ];
    let of = |runs: &[Run], fact: fn(&Run) -> Option<String>| {
        let mut values: Vec<String> = runs.iter().filter_map(fact).collect();
        values.sort();
        values.dedup();
        values
    };
    facts
        .iter()
        .map(|(what, fact)| EnvironmentDifference { what: (*what).to_owned(), a: of(a, *fact), b: of(b, *fact) })
        .filter(|d| d.a != d.b && !(d.a.is_empty() && d.b.is_empty()))
        .chain(fill_level(a, b))
        .collect()
}

/// How full the file systems were; full ones are slower. Every run writes a little, so that only more than a few points
/// are a difference.
fn fill_level(a: &[Run], b: &[Run]) -> Option<EnvironmentDifference> {
    let of = |runs: &[Run]| -> Vec<f64> {
        let layers = runs.iter().filter_map(|r| r.target.stack.layers.iter().find(|l| l.kind == LayerKind::Filesystem));
        layers.filter_map(|l| l.int("fill_percent")).map(|v| v as f64).collect()
    };
    let (of_a, of_b) = (of(a), of(b));
    let distance = (stats::median(&of_a)? - stats::median(&of_b)?).abs();
    let shown = |mut all: Vec<f64>| -> Vec<String> {
        all.sort_by(f64::total_cmp);
        let mut texts: Vec<String> = all.iter().map(|v| format!("{v:.0} %")).collect();
        texts.dedup();
        texts
    };
    (distance >= FILL_POINTS).then(|| EnvironmentDifference {
        what: "fill level".to_owned(),
        a: shown(of_a),
        b: shown(of_b),
    })
}

fn drivers(run: &Run) -> Option<String> {
    let mut names: Vec<&str> = run.target.stack.layers.iter().filter_map(|l| l.driver.as_deref()).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(" > "))
}
