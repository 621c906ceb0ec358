//! fio's job files: read, planned for every kind of target, and the plan shown.

use super::imports::{files, kind};
use super::{Fuzzer, mutate::hash};
use model::TargetKind;
use spec::{Readiness, RunInputs, TextInputs, TextMachine, Workload};
use std::collections::BTreeMap;
use std::path::Path;

struct Jobs;

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Jobs))
}

const MACHINE: TextMachine = TextMachine { page_size_bytes: 4096, memory_bytes: 1 << 30, processors: 4 };
/// Targets that a plan is made for.
const KINDS: [TargetKind; 4] = [TargetKind::Directory, TargetKind::BlockDevice, TargetKind::Sim, TargetKind::Null];

/// Plans a workload for every kind of target, and shows the plan; what came of it.
pub fn plans(workload: &Workload) -> String {
    let mut outcomes = String::new();
    for (kind_of_target, max_bytes) in KINDS.into_iter().zip([4 << 30, 1 << 40, 1 << 20, 0]) {
        let inputs = RunInputs {
            kind: kind_of_target,
            readiness: Readiness::Writable,
            max_bytes,
            sector_bytes: 512,
            memory_bytes: Some(1 << 30),
            seed: 1,
            probe: spec::Probe::default(),
            packages: conduct::package_model(),
        };
        match workload.plan(&inputs) {
            Ok(plan) => {
                let text = report::plan(&plan, None).text(&report::Style::default());
                outcomes.push_str(&format!(
                    "{} {:?} {}",
                    plan.phases.len().min(8),
                    plan.bytes_written_at_most().is_some(),
                    text.is_empty()
                ));
            }
            Err(error) => outcomes.push_str(&kind(&error.to_string())),
        }
    }
    outcomes
}

/// A text to be read, with what it may include.
pub fn inputs<'t>(
    file: &'t str,
    text: &'t str,
    includes: &'t BTreeMap<String, String>,
    none: &'t BTreeMap<String, String>,
) -> TextInputs<'t> {
    TextInputs { file, text, includes, set: &[], variables: none, machine: MACHINE, lenient: false }
}

impl Fuzzer for Jobs {
    fn corpus(&self) -> Vec<Vec<u8>> {
        let mut all =
            files(&["crates/xtask/fuzz/fio-jobs", "tests", "docs"], |p| p.extension().is_some_and(|e| e == "fio"));
        all.push(b"[global]\nioengine=libaio\ndirect=1\nsize=1g\n[a]\nrw=randrw\nrwmixread=70\nbs=4k,8k\niodepth=32\nnumjobs=4\nruntime=10\ntime_based\n".to_vec());
        all.push(b"[w]\nrw=write\nbssplit=4k/60:64k/40\nfilesize=1m\nnrfiles=8\nverify=crc32c\nstonewall\n[r]\nrw=randread\nrandom_distribution=zipf:1.2\nrate_iops=500\nthinktime=10ms\n".to_vec());
        all.push(b"[x]\nrw=read:128k\noffset=10%\nsize=50%\nss=iops:5%\nss_dur=30s\nlatency_target=5ms\n".to_vec());
        all
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "[global]\n",
            "[job]\n",
            "stonewall\n",
            "rw=",
            "randrw",
            "trimwrite",
            "bs=",
            "bsrange=4k-64k",
            "bssplit=",
            "size=",
            "io_size=",
            "filesize=",
            "nrfiles=",
            "numjobs=",
            "iodepth=",
            "verify=",
            "crc32c",
            "ioengine=",
            "io_uring",
            "psync",
            "runtime=",
            "ramp_time=",
            "rate=",
            "rate_iops=",
            "loops=",
            "offset=",
            "offset_increment=",
            "number_ios=",
            "random_distribution=zoned:50/5:30/15:20/80",
            "zipf:1.2",
            "pareto:0.2",
            "normal:50",
            "filename=",
            "directory=",
            "thinktime=",
            "steadystate=iops:5%",
            "kb_base=1000",
            "include x",
            "${HOME}",
            "$mb_memory",
            "cpus_allowed=0-3",
            "group_reporting",
            "new_group",
            "startdelay=",
            "percentage_random=50",
            "rwmixread=",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let text = String::from_utf8_lossy(input);
        let none = BTreeMap::new();
        let includes = BTreeMap::from([("x".to_owned(), "rw=write\n".to_owned())]);
        let mut outcome = String::new();
        for lenient in [false, true] {
            match spec::parse_fio(&TextInputs { lenient, ..inputs("job.fio", &text, &includes, &none) }) {
                Ok(workload) => outcome.push_str(&plans(&workload)),
                Err(errors) if errors.is_empty() => return Err("refused without a reason".to_owned()),
                Err(errors) => outcome.push_str(&kind(&errors[0].to_string())),
            }
        }
        Ok(hash(outcome.as_bytes()))
    }
}
