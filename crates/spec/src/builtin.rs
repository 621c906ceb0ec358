//! The workloads that come with the program: texts in the same language as the user's.

use crate::job::Workload;
use crate::text_error::{TextError, TextErrorKind, TextPosition};
use crate::text_inputs::TextInputs;
use crate::workload::parse_workload;

const TEXTS: &[(&str, &str)] = &[
    ("check", include_str!("../workloads/check.toml")),
    ("sweep", include_str!("../workloads/sweep.toml")),
    ("depth", include_str!("../workloads/depth.toml")),
    ("mix", include_str!("../workloads/mix.toml")),
    ("steady", include_str!("../workloads/steady.toml")),
    ("kdiskmark", include_str!("../workloads/kdiskmark.toml")),
    ("fill", include_str!("../workloads/fill.toml")),
    ("bursts", include_str!("../workloads/bursts.toml")),
    ("bonnie", include_str!("../workloads/bonnie.toml")),
    ("files", include_str!("../workloads/files.toml")),
    ("ior-easy", include_str!("../workloads/ior-easy.toml")),
    ("ior-hard", include_str!("../workloads/ior-hard.toml")),
    ("mdtest-easy", include_str!("../workloads/mdtest-easy.toml")),
    ("mdtest-hard", include_str!("../workloads/mdtest-hard.toml")),
    ("packages", include_str!("../workloads/packages.toml")),
    ("boot", include_str!("../workloads/boot.toml")),
    ("latency", include_str!("../workloads/latency.toml")),
    ("responsive", include_str!("../workloads/responsive.toml")),
    ("stream", include_str!("../workloads/stream.toml")),
    ("copy", include_str!("../workloads/copy.toml")),
    ("copy-memory", include_str!("../workloads/copy-memory.toml")),
    ("copy-calls", include_str!("../workloads/copy-calls.toml")),
];

/// Studies are no phases: texts of their own kinds.
const STUDIES: &[(&str, &str)] =
    &[("frames", include_str!("../workloads/frames.toml")), ("layers", include_str!("../workloads/layers.toml"))];

/// Name, title and question of each study.
pub fn studies() -> impl Iterator<Item = [&'static str; 3]> {
    STUDIES.iter().map(|(name, text)| {
        let said = |key| text.lines().find_map(|line: &str| line.strip_prefix(key)?.split('"').nth(1));
        [name, said("title").unwrap_or_default(), said("answers").unwrap_or_default()]
    })
}

fn texts() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    TEXTS.iter().chain(STUDIES)
}

/// The text of a built-in workload.
pub fn workload_text(name: &str) -> Option<&'static str> {
    texts().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The built-in workload that is most like `name`.
pub fn nearest_workload(name: &str) -> Option<String> {
    crate::keys::nearest(name, texts().map(|(n, _)| *n))
}

/// All built-in workloads that have phases: their names, titles and questions.
pub fn workloads() -> Vec<Workload> {
    // They are part of the program; a test reads each of them.
    let read = |(name, _): &(&'static str, _)| {
        built_in(name, &[]).unwrap_or_else(|e| panic!("built-in workload {name}: {e:?}"))
    };
    TEXTS.iter().map(read).collect()
}

/// A built-in workload, with other values for some keys.
///
/// # Errors
/// What is wrong with the values; that there is no such workload.
pub fn built_in(name: &str, set: &[(String, String)]) -> Result<Workload, Vec<TextError>> {
    let text = workload_text(name).ok_or_else(|| {
        let place = TextPosition { file: name.to_owned(), line: 0 };
        vec![place.error(TextErrorKind::Unknown, name, "no such workload").with_nearest(nearest_workload(name))]
    })?;
    parse_workload(&TextInputs { set, ..TextInputs::own(name, text) })
}
