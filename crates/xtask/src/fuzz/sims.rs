//! Strings and texts of simulated devices: read, inspected, and a short phase carried out on them.

use super::imports::{files, kind};
use super::{Fuzzer, mutate::hash};
use engine::{Control, Rig, SimRig};
use model::{
    Access, BlockPlan, EngineKind, IoPath, Limits, NS_PER_S, Operation, Order, PhasePlan, StopRule, StreamPlan,
};
use std::path::Path;

/// Operations of a phase.
const OPERATIONS: u64 = 300;

struct Sims;

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Sims))
}

/// Some hundred operations.
fn phase(operation: Operation, region_bytes: u64) -> PhasePlan {
    let stream = StreamPlan {
        kind: BlockPlan { operation, order: Order::Random, region_bytes, ..BlockPlan::default() }.into(),
        path: IoPath { queue_depth: 4, ..IoPath::default() },
        limits: Limits { total_operations: Some(OPERATIONS), ..Limits::default() },
        ..StreamPlan::default()
    };
    PhasePlan {
        name: "p".to_owned(),
        engine: EngineKind::Sim,
        access: Access::Direct,
        streams: vec![stream],
        time_limit_ns: 3600 * NS_PER_S,
        stop: StopRule::Amount,
        ..PhasePlan::default()
    }
    .alike()
}

impl Fuzzer for Sims {
    fn corpus(&self) -> Vec<Vec<u8>> {
        let names = spec::sim_models().unwrap_or_default();
        let mut all: Vec<Vec<u8>> = names.iter().map(|m| format!("sim:{}", m.name).into_bytes()).collect();
        // Every key, with a value of some kind.
        let keys = spec::sim_keys().iter().enumerate();
        all.extend(keys.map(|(i, key)| {
            let value = ["1", "4KiB", "10ms", "50%", "100MB/s", "true"][i % 6];
            format!("sim:nvme,{}={value}", key.name).into_bytes()
        }));
        all.extend(files(&["crates/spec/sims"], |p| p.extension().is_some_and(|e| e == "toml")));
        all
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "sim:",
            "nvme",
            "a1-card",
            "sata-ssd",
            "emmc",
            ",",
            "=",
            "cache=4GiB",
            "read-ahead=128KiB",
            "cpus=",
            "size=",
            "1ns",
            "10ms",
            "1TB/s",
            "0B",
            "16EiB",
            "100%",
            "max-sectors=",
            "queue=",
            "link=",
            "temperature=",
            "seed=",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let text = String::from_utf8_lossy(input);
        let model = match spec::parse_sim(&text) {
            Ok(model) => model,
            Err(error) => return Ok(hash(kind(&error.to_string()).as_bytes())),
        };
        let region_bytes = model.media.capacity_bytes.min(1 << 20) & !4095;
        let mut rig = SimRig::new(model, NS_PER_S);
        let (stack, environment) = (rig.stack(), rig.environment());
        let assessment = diagnose::findings_of_stack(&stack, &environment, None);
        let ids: Vec<&str> = assessment.findings.iter().map(|f| f.id.as_str()).collect();
        let mut stops = String::new();
        for operation in [Operation::Write, Operation::Read] {
            if region_bytes > 0 {
                let record = rig.run(&phase(operation, region_bytes), &Control::default());
                stops.push_str(&record.map_or_else(|e| kind(&e.message), |r| format!("{:?}", r.stop)));
            }
        }
        Ok(hash(format!("{} {ids:?} {stops}", stack.layers.len()).as_bytes()))
    }
}
