//! A stream that copies memory: between two buffers, or from or to the region that is its target.

use super::is_default;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A copy, in the worker's own thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyPlan {
    /// Bytes of each piece that is copied, an operation each.
    pub copy_bytes: u32,
    /// By which accesses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub copy_by: CopyMethod,
    /// The accesses that count are those that write.
    #[serde(default, skip_serializing_if = "is_default")]
    pub copy_writes: bool,
    /// Goes round in so many bytes; 0: in all that there are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub copy_set_bytes: u64,
}

impl Default for CopyPlan {
    fn default() -> Self {
        Self { copy_bytes: 1 << 20, copy_by: CopyMethod::Memcpy, copy_writes: false, copy_set_bytes: 0 }
    }
}

/// By which accesses a copy is made. As text, a number is a width in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CopyMethod {
    /// The C library's memcpy: as it likes.
    #[default]
    Memcpy,
    /// A read or write call: the kernel's driver copies.
    Call,
    /// Single aligned accesses of so many bytes.
    Plain(u32),
    /// Blocks of 64 bytes by the widest registers.
    Burst,
    /// The same past the caches.
    Streaming,
    /// x86's `rep movsb`.
    Repeat,
}

impl CopyMethod {
    /// Bytes of an access, where the method says.
    pub fn width_bytes(self) -> Option<u32> {
        match self {
            Self::Plain(bytes) => Some(bytes),
            Self::Repeat => Some(1),
            Self::Memcpy | Self::Call | Self::Burst | Self::Streaming => None,
        }
    }

    /// What it is, without the width.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memcpy => "memcpy",
            Self::Call => "call",
            Self::Plain(_) => "plain",
            Self::Burst => "burst",
            Self::Streaming => "streaming",
            Self::Repeat => "repeat",
        }
    }
}

impl fmt::Display for CopyMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(bytes) => write!(f, "{bytes}"),
            named => f.write_str(named.name()),
        }
    }
}

impl From<CopyMethod> for String {
    fn from(method: CopyMethod) -> Self {
        method.to_string()
    }
}

impl TryFrom<String> for CopyMethod {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for CopyMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = [Self::Memcpy, Self::Call, Self::Burst, Self::Streaming, Self::Repeat];
        let width = || text.parse().ok().filter(|n: &u32| n.is_power_of_two() && *n <= 64).map(Self::Plain);
        let found = named.into_iter().find(|m| m.name() == text).or_else(width);
        found.ok_or_else(|| {
            format!("'{text}' is neither memcpy, call, burst, streaming, repeat nor a width of 1 to 64 bytes")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_as_they_are_written() {
        for text in ["memcpy", "call", "burst", "streaming", "repeat", "1", "2", "4", "8", "16", "32", "64"] {
            assert_eq!(text.parse::<CopyMethod>().unwrap().to_string(), text);
        }
        for text in ["", "0", "3", "128", "-1", "9223372036854775808", "Memcpy"] {
            assert!(text.parse::<CopyMethod>().is_err(), "{text}");
        }
    }
}
