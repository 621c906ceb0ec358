//! What each layer of a path costs, as text: `[layers]` and its keys; and the work at one level as a workload. docs/guide/layers.md
//! describes what is done with it.

use crate::job::Workload;
use crate::keys::keys;
use crate::study::{read_study, within};
use crate::text_error::TextError;
use crate::text_inputs::TextInputs;
use crate::toml_values::has_table;
use crate::values::{bytes, flag, time, whole};
use crate::workload::parse_workload;
use model::{LayersStudy, LevelAccess, Ns};

keys! {
    /// The keys of `[layers]`.
    LAYERS_KEYS of LayersStudy:
    "rounds", "1 to 100", |to, text| to.rounds = within(text, whole(text)?, 1, 100)?, "How often each level is measured.";
    "time", "200ms or more", |to, text| to.time_ns = within(text, time(text)?, 200_000_000, Ns::MAX)?, "How long each kind of work takes at a level.";
    "region", "8MiB to 1TiB", |to, text| to.bytes = within(text, bytes(text)?, 8 << 20, 1 << 40)?, "How much is read, and written to a file of ours.";
    "block-size", "512 to 1MiB", |to, text| to.block_bytes = within(text, bytes(text)?, 512, 1 << 20)?, "Size of the single reads and writes.";
    "depth", "1 to 256", |to, text| to.depth = within(text, whole(text)?, 1, 256)?, "Large operations in flight past the page cache.";
    "writes", "true, false", |to, text| to.writes = flag(text)?, "Whether a file of ours is also written to.";
    "rest", "a duration", |to, text| to.rest_ns = time(text)?, "How long the machine is looked at in each round while nothing of ours runs.";
}

/// Whether a text in TOML asks what layers cost.
pub fn is_layers(text: &str) -> bool {
    has_table(text, "[layers]")
}

/// Reads such a text, with other values for some keys; what it does not say is as in the text that is built in.
///
/// # Errors
/// What is wrong with it, all of it.
pub fn parse_layers(file: &str, text: &str, set: &[(String, String)]) -> Result<LayersStudy, Vec<TextError>> {
    let (study, errors) = read_study("layers", LAYERS_KEYS, file, text, set)?;
    if errors.is_empty() { Ok(study) } else { Err(errors) }
}

/// One kind of work at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelWork {
    /// The file is written once.
    Fill,
    /// Single reads, for a time.
    RandRead,
    /// Large reads, once.
    SeqRead,
    /// Single writes that are durable when they end.
    RandWrite,
    /// Large writes, flushed, once.
    SeqWrite,
}

impl LevelWork {
    pub fn is_write(self) -> bool {
        matches!(self, Self::Fill | Self::RandWrite | Self::SeqWrite)
    }
}

/// One kind of work at one level on `bytes` from `start` on. Nothing is read twice, so that no cache below answers.
///
/// # Errors
/// None with a study that was read.
pub fn level_workload(
    study: &LayersStudy,
    work: LevelWork,
    access: LevelAccess,
    (start, bytes): (u64, u64),
) -> Result<Workload, Vec<TextError>> {
    let (access, is_buffered, depth) = match access {
        LevelAccess::Buffered => ("buffered", true, 1),
        LevelAccess::Direct => ("direct", false, study.depth),
    };
    let LayersStudy { time_ns, block_bytes, .. } = study;
    let single =
        format!("order = \"random\"\nblock-size = {block_bytes}\namount = \"100%\"\nat-most = \"{time_ns}ns\"\n");
    let large = format!("block-size = \"1MiB\"\ndepth = {depth}\nloops = 1\nat-most = \"{time_ns}ns\"\n");
    let phase = match work {
        LevelWork::Fill => {
            "name = \"fill\"\noperation = \"write\"\nblock-size = \"1MiB\"\nloops = 1\nfsync-at-end = true\n".to_owned()
        }
        LevelWork::RandRead => format!("name = \"rand-read\"\ncold = {is_buffered}\n{single}"),
        LevelWork::SeqRead => format!("name = \"seq-read\"\ncold = {is_buffered}\n{large}"),
        LevelWork::RandWrite => format!("name = \"rand-write\"\noperation = \"write\"\ndurable = true\n{single}"),
        LevelWork::SeqWrite => {
            let flushed = if is_buffered { "durable = \"round\"" } else { "fsync-at-end = true" };
            format!("name = \"seq-write\"\noperation = \"write\"\n{flushed}\n{large}")
        }
    };
    let text = format!(
        "name = \"layers\"\ntitle = \"one level of a path\"\nquiet = \"0s\"\ninterval = \"100ms\"\n\
         [defaults]\nregion = {bytes}\noffset = {start}\naccess = \"{access}\"\n[[phase]]\n{phase}"
    );
    parse_workload(&TextInputs::own("layers", &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_that_is_built_in_says_what_is_usual_and_mistakes_are_named() {
        let text = crate::workload_text("layers").unwrap();
        assert!(is_layers(text) && !is_layers("[frames]"));
        let study = parse_layers("layers", "[layers]", &[]).unwrap();
        assert_eq!(parse_layers("layers", text, &[]).unwrap(), study);
        assert_eq!((study.rounds, study.block_bytes, study.writes), (5, 4096, true));
        let set = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        assert_eq!(parse_layers("x", "[layers]\nrounds = 5\n", &set("layers.depth", "8")).unwrap().depth, 8);
        for (key, value) in [("deep", "1"), ("depth", "0"), ("region", "1MiB"), ("writes", "maybe"), ("time", "1ms")] {
            assert_eq!(parse_layers("x", "[layers]", &set(key, value)).unwrap_err().len(), 1, "{key}");
        }
        assert!(parse_layers("x", "[layers]\n[[phase]]\n", &[]).is_err());
    }

    #[test]
    fn the_work_of_a_level_is_the_same_at_each_but_for_the_access() {
        let study = parse_layers("layers", "[layers]", &[]).unwrap();
        for access in [LevelAccess::Buffered, LevelAccess::Direct] {
            for (work, name) in [
                (LevelWork::Fill, "fill"),
                (LevelWork::RandRead, "rand-read"),
                (LevelWork::SeqRead, "seq-read"),
                (LevelWork::RandWrite, "rand-write"),
                (LevelWork::SeqWrite, "seq-write"),
            ] {
                let workload = level_workload(&study, work, access, (4096, 64 << 20)).unwrap();
                let names: Vec<_> = workload.phases.iter().map(|phase| phase.name.as_str()).collect();
                assert_eq!(names, [name]);
            }
        }
    }
}
