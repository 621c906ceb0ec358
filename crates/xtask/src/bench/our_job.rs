//! A fio job as narrows makes it: what a benchmark measures beside fio itself.

use anyhow::Context;
use engine::{FileOptions, FileRig, FileTarget};
use model::PhasePlan;
use spec::{Readiness, RunInputs, TextInputs, TextMachine};
use std::collections::BTreeMap;
use std::path::Path;

/// The rig on a file or loop device of the benchmark's own, and the phase that measures.
pub fn opened(text: &str, path: &Path) -> anyhow::Result<(FileRig, PhasePlan)> {
    let (none, variables) = (BTreeMap::new(), BTreeMap::new());
    let inputs = TextInputs {
        file: "bench.fio",
        text,
        includes: &none,
        set: &[],
        variables: &variables,
        machine: TextMachine { page_size_bytes: sys::page_size(), memory_bytes: 1 << 30, processors: 2 },
        // fio's own batching of completions has no meaning beyond the minimum here.
        lenient: true,
    };
    let workload = spec::parse_fio(&inputs).map_err(|e| anyhow::anyhow!("{e:?}"))?;
    let file = sys::open_existing(path, sys::OpenMode::ReadWrite)?;
    let kind = engine::classify(&file, path).map_err(|e| anyhow::anyhow!("{e}"))?;
    let target = FileTarget { path: path.to_owned(), file, claims: Vec::new(), kind, writable: true };
    let rig = FileRig::open(target, FileOptions::default()).map_err(|e| anyhow::anyhow!("{e}"))?;
    let plan = workload.plan(&RunInputs {
        kind,
        readiness: Readiness::Writable,
        max_bytes: rig.max_bytes(),
        sector_bytes: rig.sector_bytes(),
        memory_bytes: None,
        seed: 1,
        probe: Default::default(),
        packages: None,
    })?;
    let phase = plan.phases.into_iter().find(PhasePlan::measures_target).context("nothing is measured")?;
    Ok((rig, phase))
}
