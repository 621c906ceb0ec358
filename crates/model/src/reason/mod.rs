//! A reason: why a number does not stand, or what has to be known of it, with the data that it was concluded from. Who needs
//! to know why looks at the variant or the code, and never at the words.
//!
//! Documents and bundles hold it as `{"code", "text", "data"}`; `data` is what this version makes of it again, and absent
//! where the words are all there is ([`Reason::Other`]): bundles of before, other tools, and remarks that nobody weighs.

mod json;
mod known;

pub use json::{as_line, as_lines};
pub use known::{ForeignSeen, MissedPace, Reason};

use std::fmt;

const SINCE_BOOT: &str = "average since boot";

impl Reason {
    /// One whose words are all there is.
    pub fn of(code: &str, text: impl Into<String>) -> Self {
        Self::Other { code: Some(code.to_owned()), text: text.into() }
    }

    /// One without a code: what another tool gave in its own words.
    pub fn uncoded(text: impl Into<String>) -> Self {
        Self::Other { code: None, text: text.into() }
    }

    /// That a number is since the machine started, and not of the time that was looked at; of tools that may have been told to leave
    /// that report out, `unless` says how.
    pub fn since_boot(unless: Option<&str>) -> Self {
        Self::uncoded(unless.map_or_else(|| SINCE_BOOT.to_owned(), |how| format!("{SINCE_BOOT}, unless {how}")))
    }

    /// Whether it is [`Self::since_boot`].
    pub fn is_since_boot(&self) -> bool {
        matches!(self, Self::Other { code: None, text } if text.starts_with(SINCE_BOOT))
    }

    /// Whether it has this code.
    pub fn is(&self, code: &str) -> bool {
        self.code() == Some(code)
    }

    /// The first of this code.
    pub fn find<'a>(reasons: impl IntoIterator<Item = &'a Self>, code: &str) -> Option<&'a Self> {
        reasons.into_iter().find(|r| r.is(code))
    }

    /// What it is for in the end.
    pub fn root(&self) -> &Self {
        match self {
            Self::Refused { because, .. }
            | Self::Skipped { because, .. }
            | Self::NotApplicable { because, .. }
            | Self::NotFinite { because, .. } => because.root(),
            own => own,
        }
    }

    /// Whether it can only have made a number worse: what is refused for such reasons alone is a bound of the true value.
    pub fn only_worsens(&self) -> bool {
        matches!(self, Self::Throttled { .. } | Self::Steal { .. } | Self::ForeignTraffic { .. })
    }

    /// Whether for this a number may be better than the device: it is shown, and decides nothing.
    pub fn may_be_too_good(&self) -> bool {
        matches!(self.code(), Some("direct-unproven" | "loop-cache" | "no-device" | "no-flushes" | "data-unproven"))
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::uncoded(text)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code() {
            Some(code) => write!(f, "{code}: {}", self.text()),
            None => f.write_str(&self.text()),
        }
    }
}

/// Their codes, with commas between.
pub fn joined_codes(reasons: &[Reason]) -> String {
    reasons.iter().filter_map(Reason::code).collect::<Vec<_>>().join(", ")
}

/// All of them in one line.
pub fn joined(reasons: &[Reason]) -> String {
    reasons.iter().map(Reason::to_string).collect::<Vec<_>>().join("; ")
}
