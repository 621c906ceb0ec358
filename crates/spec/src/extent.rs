//! Amounts.

/// An amount that may depend on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Bytes(u64),
    /// Per cent of what the target offers.
    Percent(u32),
}

impl Extent {
    /// In bytes of a target that offers `whole`.
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(p) => (u128::from(whole) * u128::from(p) / 100) as u64,
        }
    }
}

impl Default for Extent {
    fn default() -> Self {
        Self::Bytes(0)
    }
}
