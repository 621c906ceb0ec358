//! The conditions of the catalogue: three-valued predicates over a [`Subject`]: facts, and what was measured.
//!
//! `Ok`: holds, with its evidence. [`NoCase::DoesNotHold`]: does not hold, or does not apply to this path. [`NoCase::Unknown`]: cannot be
//! told, because the named fact or measurement is missing. A condition is a list of what it requires and excludes; the first that is not so
//! ends it.

pub mod ahci;
pub mod copies;
pub mod durability;
pub mod filesystem;
pub mod flash;
pub mod health;
pub mod host;
pub mod mmc;
pub mod mmc_bus;
pub mod nfs;
pub mod nvme;
pub mod paths;
pub mod pcie;
pub mod queue;
pub mod sata;
pub mod sd_card;
pub mod shares;
pub mod stacking;
pub mod usb;

use crate::stack_view::{DiskPath, Missing};
use crate::subject::Subject;
use model::{Confidence, Evidence, Gain};

/// A condition that holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// What mending it would bring, where a ceiling is known.
    pub gain: Option<Gain>,
    /// How sure the condition is; the status of the text may lower it.
    pub confidence: Confidence,
}

/// Why there is no case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCase {
    /// It does not hold, or has no meaning on this path.
    DoesNotHold,
    /// It cannot be told without this.
    Unknown(Missing),
}

impl From<Missing> for NoCase {
    fn from(missing: Missing) -> Self {
        Self::Unknown(missing)
    }
}

/// Three-valued outcome.
pub type Decision = Result<Match, NoCase>;

fn require(is_so: bool) -> Result<(), NoCase> {
    if is_so { Ok(()) } else { Err(NoCase::DoesNotHold) }
}

fn exclude(is_so: bool) -> Result<(), NoCase> {
    require(!is_so)
}

impl Match {
    /// A condition that was read directly.
    pub fn observed(evidence: impl IntoIterator<Item = Evidence>) -> Self {
        Self { evidence: evidence.into_iter().collect(), gain: None, confidence: Confidence::High }
    }

    /// Lowers the confidence.
    pub fn at_most(mut self, confidence: Confidence) -> Self {
        self.confidence = self.confidence.min(confidence);
        self
    }

    /// Adds a predicted gain: the next ceiling over the current value. A ratio of one or less is no gain and is dropped.
    pub fn gain(mut self, metric: &str, ratio: Option<f64>, basis: impl Into<String>) -> Self {
        if let Some(r) = ratio.filter(|r| r.is_finite() && *r > 1.0) {
            let at_most_ratio = Some((r * 100.0).round() / 100.0);
            self.gain = Some(Gain { metric: metric.to_owned(), at_most_ratio, basis: basis.into() });
        }
        self
    }
}

/// Whether a condition holds for any disk of the path; unknown only if it holds for none and is unknown for one.
fn any_disk<'a>(on: &Subject<'a>, condition: impl Fn(&DiskPath<'a>) -> Decision) -> Decision {
    first_case(on.disks().iter().map(condition))
}

/// The same for disks of one transport (`nvme`, `usb`).
fn any_disk_of<'a>(
    on: &Subject<'a>,
    transport: &'static str,
    condition: impl Fn(&DiskPath<'a>) -> Decision,
) -> Decision {
    any_disk(on, |path| {
        require(path.is(transport)?)?;
        condition(path)
    })
}

fn first_case(checks: impl Iterator<Item = Decision>) -> Decision {
    let mut why = NoCase::DoesNotHold;
    for check in checks {
        match check {
            Err(missing) if why == NoCase::DoesNotHold => why = missing,
            Err(_) => {}
            case => return case,
        }
    }
    Err(why)
}
