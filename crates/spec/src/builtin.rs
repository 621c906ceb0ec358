//! The workloads that come with the program: texts in the same language as the user's.

use crate::job::Workload;
use crate::workload::{TextInputs, TextMachine, parse_workload};
use std::collections::BTreeMap;

const TEXTS: &[(&str, &str)] = &[
    ("sweep", include_str!("../workloads/sweep.toml")),
    ("depth", include_str!("../workloads/depth.toml")),
    ("mix", include_str!("../workloads/mix.toml")),
    ("steady", include_str!("../workloads/steady.toml")),
    ("kdiskmark", include_str!("../workloads/kdiskmark.toml")),
    ("bursts", include_str!("../workloads/bursts.toml")),
    ("latency", include_str!("../workloads/latency.toml")),
    ("stream", include_str!("../workloads/stream.toml")),
];

/// The text of a built-in workload.
pub fn workload_text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The built-in workload that is most like `name`.
pub fn nearest_workload(name: &str) -> Option<String> {
    crate::sim::nearest(name, TEXTS.iter().map(|(n, _)| *n))
}

/// All built-in workloads: their names, titles and questions.
pub fn workloads() -> Vec<Workload> {
    let (includes, variables) = (BTreeMap::new(), BTreeMap::new());
    let read = |(name, text): &(&'static str, &'static str)| {
        let inputs = TextInputs {
            file: name,
            text,
            includes: &includes,
            set: &[],
            variables: &variables,
            machine: TextMachine { page_size_bytes: 4096, memory_bytes: 0, processors: 1 },
            lenient: false,
        };
        // They are part of the program; a test reads each of them.
        parse_workload(&inputs).unwrap_or_else(|e| panic!("built-in workload {name}: {e:?}"))
    };
    TEXTS.iter().map(read).collect()
}
