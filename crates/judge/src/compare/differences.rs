//! In what the sides differ beside what was to be compared: said first, since it may be the cause.

use model::{EnvironmentDifference, JobOptions, LayerKind, Run, TargetKind, job_options};
use std::collections::{BTreeMap, BTreeSet};

/// File systems whose fill levels differ by less, percentage points, are alike.
const FILL_POINTS: f64 = 10.0;

/// Kernel, processors, file system and its options, size of the region, plan: whatever both sides do not share.
pub fn environment_differences(a: &[Run], b: &[Run]) -> Vec<EnvironmentDifference> {
    type Fact = (&'static str, fn(&Run) -> Option<String>);
    let facts: [Fact; 17] = [
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
        ("ranks", |r| r.group.as_ref().map(|g| g.size.to_string())),
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
    let facts = facts
        .iter()
        .map(|(what, fact)| EnvironmentDifference { what: (*what).to_owned(), a: of(a, *fact), b: of(b, *fact) })
        .filter(|d| d.a != d.b && !(d.a.is_empty() && d.b.is_empty()))
        .chain(fill_level(a, b));
    of_jobs(a, b).or_else(|| of_plans(a, b)).into_iter().chain(facts).collect()
}

/// Options in which jobs of one name differ; where each side has one job, of that. What one form of a tool's output writes as `4k`
/// another writes as a range: of different forms only what both write alike is held side by side.
fn of_jobs(a: &[Run], b: &[Run]) -> Option<EnvironmentDifference> {
    const ALIKE: [&str; 2] = ["iodepth", "rw"];
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for (of_a, of_b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
        let (jobs_a, jobs_b) = (job_options::of(of_a), job_options::of(of_b));
        let alone = jobs_a.len() == 1 && jobs_b.len() == 1;
        let pairs = jobs_a.iter().flat_map(|a| jobs_b.iter().map(move |b| (a, b)));
        for ((name, in_a), (_, in_b)) in pairs.filter(|((a, _), (b, _))| alone || a == b) {
            let keys: BTreeSet<&str> = in_a.keys().chain(in_b.keys()).copied().collect();
            let one_form = of_a.plan.name == of_b.plan.name;
            for key in keys.into_iter().filter(|key| one_form || ALIKE.contains(key)) {
                let (value_a, value_b) = (job_options::value(in_a, key), job_options::value(in_b, key));
                if value_a != value_b && !job_options::may_be_unsaid(key, value_a, value_b) {
                    let of = if alone { String::new() } else { format!("{name}: ") };
                    let said = |v: Option<&str>| format!("{of}{key}={}", v.unwrap_or("(not set)"));
                    found.insert((said(value_a), said(value_b)));
                }
            }
        }
    }
    let (a, b): (Vec<String>, Vec<String>) = found.into_iter().unzip();
    (!a.is_empty()).then(|| EnvironmentDifference { what: job_options::DIFFERENCE.to_owned(), a, b })
}

/// Options in which jobs of one name differ, of runs of our own: as [`of_jobs`] has them of other tools'.
fn of_plans(a: &[Run], b: &[Run]) -> Option<EnvironmentDifference> {
    let own = |runs: &[Run]| {
        let mut plans: Vec<BTreeMap<String, JobOptions>> = Vec::new();
        for run in runs.iter().filter(|r| r.target.kind != TargetKind::Foreign) {
            let options: BTreeMap<_, _> = run.phases.iter().flat_map(|p| p.plan.job_options()).collect();
            if !plans.contains(&options) {
                plans.push(options);
            }
        }
        plans
    };
    let (of_a, of_b) = (own(a), own(b));
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for (of_a, of_b) in of_a.iter().flat_map(|a| of_b.iter().map(move |b| (a, b))) {
        let alone = of_a.len() == 1 && of_b.len() == 1;
        for (name, in_a) in of_a {
            let Some(in_b) = of_b.get(name) else { continue };
            for key in in_a.keys().chain(in_b.keys()).filter(|key| in_a.get(*key) != in_b.get(*key)) {
                let of = if alone { String::new() } else { format!("{name}: ") };
                let said = |v: Option<&String>| format!("{of}{key}={}", v.map_or("(not set)", String::as_str));
                found.insert((said(in_a.get(key)), said(in_b.get(key))));
            }
        }
    }
    let (a, b): (Vec<String>, Vec<String>) = found.into_iter().unzip();
    (!a.is_empty()).then(|| EnvironmentDifference { what: job_options::DIFFERENCE.to_owned(), a, b })
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
