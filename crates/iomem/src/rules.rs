//! What a device allows.

use crate::{Error, Width};

/// Which accesses a device allows. Neutral but for the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRules {
    /// The widest access.
    pub widest: Width,
    /// The narrowest access. With more than a byte, what does not start and end on one is refused, unless reads are idempotent.
    pub narrowest: Width,
    /// Whether a read changes the device.
    pub reads: ReadEffect,
    /// The order of the bytes in its words.
    pub words: WordOrder,
    /// By which instructions.
    pub mode: Mode,
}

/// Whether a read changes the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadEffect {
    /// It may: nothing is read but what was asked for.
    #[default]
    Once,
    /// It does not, as with memory: head and tail are read by one access each, of the word that they lie in, where that is within
    /// the region.
    Idempotent,
}

/// The order of the bytes in a device's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordOrder {
    /// A byte has the same address for the device and for the processor, of whatever byte order that is.
    #[default]
    AsAddressed,
    /// In each word of this width the bytes are the other way round: a big-endian device on a little-endian bus, and the reverse.
    /// Only whole words are copied.
    Swapped(Width),
}

/// By which instructions the middle of a copy is made; head and tail are single accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One load or store an access.
    #[default]
    Plain,
    /// Blocks of 64 bytes by several registers, so that a bus or a write-combining buffer makes bursts of them: four SSE2 registers,
    /// two `ldp` of Q registers, four `ldm` of four registers,
    /// eight loads of RISC-V's. The accesses are of [`Mode::BURST_WIDTH`].
    Burst,
    /// The same past the caches: `movntdqa` and `movntdq`, `ldnp` and `stnp`. Reads of write-combining memory, and copies that
    /// are larger than the caches.
    Streaming,
    /// x86's `rep movsb`: bytes to uncached memory, whole cache lines to cached memory.
    Repeat,
}

impl Mode {
    /// The width of an access in a burst.
    pub const BURST_WIDTH: Width = Width::WIDEST_COMMON;

    /// Whether this processor has it.
    pub fn is_supported(self) -> bool {
        match self {
            Self::Plain | Self::Burst => true,
            Self::Streaming => crate::access::streams(),
            Self::Repeat => cfg!(all(target_arch = "x86_64", not(miri))),
        }
    }
}

impl AccessRules {
    /// Accesses up to this width.
    pub const fn up_to(widest: Width) -> Self {
        Self { widest, narrowest: Width::B1, reads: ReadEffect::Once, words: WordOrder::AsAddressed, mode: Mode::Plain }
    }

    /// Only accesses of a byte.
    pub const fn bytes() -> Self {
        Self::up_to(Width::B1)
    }

    /// Words of this width alone.
    pub const fn words(width: Width) -> Self {
        Self { narrowest: width, ..Self::up_to(width) }
    }

    /// Bursts of the widest registers.
    pub const fn burst() -> Self {
        Self { mode: Mode::Burst, ..Self::up_to(Mode::BURST_WIDTH) }
    }

    /// Bursts past the caches.
    pub const fn streaming() -> Self {
        Self { mode: Mode::Streaming, ..Self::burst() }
    }

    /// The same, on a device that is memory: reading it twice does no harm.
    pub const fn idempotent(self) -> Self {
        Self { reads: ReadEffect::Idempotent, ..self }
    }

    /// The same, with the bytes of each word of this width the other way round.
    pub const fn swapped(self, word: Width) -> Self {
        Self { words: WordOrder::Swapped(word), ..self }
    }

    /// The narrowest access that start and end must be aligned to.
    pub(crate) fn unit(&self) -> Width {
        match self.words {
            WordOrder::AsAddressed => self.narrowest,
            WordOrder::Swapped(word) => self.narrowest.max(word),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if !self.widest.is_supported() {
            return Err(Error::Unsupported(self.widest));
        }
        if self.widest < self.unit() {
            return Err(Error::Contradiction(self.widest));
        }
        if self.mode.is_supported() { Ok(()) } else { Err(Error::NoSuchMode) }
    }
}
