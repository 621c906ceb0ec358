//! What became of the settings that a search kept.

use crate::{Better, TuneGain};
use serde::Serialize;

/// What else sets a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetBy {
    /// `/etc/udev/rules.d/99-z.rules:1`, or the name of a program that runs.
    pub by: String,
    /// What it sets; `null` of a program.
    pub value: Option<String>,
    /// Whether it is known to set this one; a rule may have conditions that only udev knows.
    pub is_certain: bool,
}

/// A value that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptSetting {
    /// Empty where no setting of this program has this file.
    pub name: String,
    /// The search that kept it.
    pub search: String,
    /// udev, sysctl, tmpfiles, modprobe, tuned or systemd.
    pub mechanism: &'static str,
    /// The file that keeps it, with the line.
    pub kept_by: String,
    /// The value's file; empty where what the line names is not here.
    pub path: String,
    pub kept: String,
    /// What is in effect; `null` where it cannot be read.
    pub now: Option<String>,
    /// Why it cannot be read.
    pub why_not: Option<String>,
    pub in_effect: bool,
    /// What else sets it.
    pub set_by: Vec<SetBy>,
}

/// Whether a search's settings are still a gain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeptTrial {
    /// The search that kept them.
    pub search: String,
    pub target: String,
    /// What was to become better, as it was asked for.
    #[serde(rename = "for")]
    pub asked: String,
    /// `null` where nothing was measured.
    pub metric: Option<String>,
    pub better: Option<Better>,
    /// Of the kept values over those before.
    pub gain: Option<TuneGain>,
    /// `true` where the gain is shown, `false` where a loss is, else `null`.
    pub is_gain: Option<bool>,
    /// Why nothing was measured.
    pub why_not: Option<String>,
    /// Tags of its runs in the archive.
    pub tags: Vec<String>,
}

/// All that is kept on a machine, as it is now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TuneVerification {
    pub settings: Vec<KeptSetting>,
    pub trials: Vec<KeptTrial>,
}

impl TuneVerification {
    /// Whether all is in effect, and nothing of it is shown to be a loss.
    pub fn is_as_kept(&self) -> bool {
        self.settings.iter().all(|kept| kept.in_effect) && self.trials.iter().all(|trial| trial.is_gain != Some(false))
    }
}
