//! `narrows/inspect/1`.

use super::capture::CaptureEntry;
use crate::Inspection;
use model::{BRANCH_DEPTH, DiskSummary, Environment, Fact, Finding, Layer, LayerKind, Layers, Mount, Undecided};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What `narrows inspect --json` prints: the path of a target, or all disks.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/inspect/1")]
pub struct InspectDocument<'a> {
    /// The target as it was asked for; null for all disks.
    pub target: Option<&'a str>,
    /// The captured tree; null for this machine.
    pub root: Option<&'a str>,
    /// The path, its lowest ceiling and what holds, in a sentence; null for all disks.
    pub answer: Option<String>,
    /// The mount that the target lies on; null for devices.
    pub mount: Option<&'a Mount>,
    /// From the file system (or the device) down to controller and host; empty for all disks.
    pub layers: Vec<InspectLayer<'a>>,
    /// The lowest ceiling of the path; null where none is known.
    pub ceiling: Option<InspectCeiling<'a>>,
    /// Named conditions that hold.
    pub findings: &'a [Finding],
    /// Conditions that can neither be named nor ruled out, with what is missing.
    pub unknown: &'a [Undecided],
    /// What could not be seen, and how to get it.
    pub missing: &'a [String],
    /// The facts that are null, with what they would be read from.
    pub not_known: Vec<UnknownFact<'a>>,
    /// The machine.
    pub environment: &'a Environment,
    /// All disks; null where a target was asked for.
    pub disks: Option<&'a [DiskSummary]>,
    /// The capture that was made; null without `--capture`.
    pub capture: Option<&'a CaptureEntry>,
}

#[derive(Clone, Debug, Serialize)]
pub struct InspectLayer<'a> {
    pub kind: LayerKind,
    pub name: &'a str,
    /// Depth in the tree of layers: a layer's parent is the nearest earlier one with a smaller depth; null for the host.
    pub depth: Option<u32>,
    /// The kernel driver that serves it.
    pub driver: Option<&'a str>,
    /// What was read about it; null where it was looked for and not found.
    pub facts: BTreeMap<&'a str, Cow<'a, Fact>>,
    /// The most that it can carry.
    pub ceiling_bytes_per_s: Option<u64>,
    /// Where that comes from.
    pub ceiling_source: Option<&'a str>,
    /// Block device number, `8:0`.
    pub device: Option<String>,
}

/// A fact that was looked for and not found: the file is not there, is not ours to read, or says nothing that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownFact<'a> {
    pub kind: LayerKind,
    /// Name of the layer.
    pub layer: &'a str,
    /// Name of the fact.
    pub fact: &'a str,
    /// Kernel file, record or specification; null for facts of simulated layers only.
    pub read_from: Option<&'static str>,
}

fn not_known<'a>(seen: &Inspection<'a>) -> Vec<UnknownFact<'a>> {
    let of_layer = |l: &'a Layer| {
        let null = l.facts.iter().filter(|(_, value)| value.is_null());
        null.map(|(fact, _)| UnknownFact { kind: l.kind, layer: &l.name, fact, read_from: (seen.read_from)(fact) })
    };
    seen.stack.layers.iter().flat_map(of_layer).collect()
}

/// The lowest ceiling.
#[derive(Clone, Debug, Serialize)]
pub struct InspectCeiling<'a> {
    /// Name of the layer.
    pub layer: &'a str,
    pub kind: LayerKind,
    /// Line rate.
    pub bytes_per_s: u64,
    /// Where it comes from.
    pub source: Option<&'a str>,
}

impl<'a> InspectDocument<'a> {
    /// The document of a target.
    pub fn of_target(seen: &Inspection<'a>, capture: Option<&'a CaptureEntry>) -> Self {
        let ceiling = seen.stack.lowest_ceiling().and_then(|l| {
            let bytes_per_s = l.ceiling_bytes_per_s?;
            Some(InspectCeiling { layer: &l.name, kind: l.kind, bytes_per_s, source: l.ceiling_source.as_deref() })
        });
        Self {
            target: Some(seen.target),
            root: seen.root,
            answer: Some(crate::inspect::answer(seen)),
            mount: seen.stack.mount.as_ref(),
            layers: (0..seen.stack.layers.len()).map(|at| InspectLayer::new(&seen.stack.layers, at)).collect(),
            ceiling,
            findings: seen.findings,
            unknown: seen.unknown,
            missing: seen.missing,
            not_known: not_known(seen),
            environment: seen.environment,
            disks: None,
            capture,
        }
    }

    /// The document of all disks.
    pub fn of_disks(
        disks: &'a [DiskSummary],
        root: Option<&'a str>,
        environment: &'a Environment,
        capture: Option<&'a CaptureEntry>,
    ) -> Self {
        Self {
            target: None,
            root,
            answer: None,
            mount: None,
            layers: Vec::new(),
            ceiling: None,
            findings: &[],
            unknown: &[],
            missing: &environment.missing,
            not_known: Vec::new(),
            environment,
            disks: Some(disks),
            capture,
        }
    }
}

impl<'a> InspectLayer<'a> {
    fn new(layers: &'a Layers, at: usize) -> Self {
        let (layer, depth) = (&layers[at], layers.depth(at));
        let depth_fact = depth.map(|depth| (BRANCH_DEPTH, Cow::Owned(depth.into())));
        let facts = layer.facts.iter().map(|(name, fact)| (name.as_str(), Cow::Borrowed(fact)));
        Self {
            kind: layer.kind,
            name: &layer.name,
            depth,
            driver: layer.driver.as_deref(),
            facts: facts.chain(depth_fact).collect(),
            ceiling_bytes_per_s: layer.ceiling_bytes_per_s,
            ceiling_source: layer.ceiling_source.as_deref(),
            device: layer.device.map(|d| d.to_string()),
        }
    }
}
