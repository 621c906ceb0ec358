//! The width of one access.

/// Bytes that one access moves; it is aligned to as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// A byte.
    B1,
    /// 16 bit.
    B2,
    /// 32 bit.
    B4,
    /// 64 bit.
    B8,
    /// 128 bit: SSE2, or a Q register.
    B16,
    /// 256 bit: AVX.
    B32,
    /// 512 bit: AVX-512.
    B64,
}

impl Width {
    /// All of them, ascending.
    pub const ALL: [Self; 7] = [Self::B1, Self::B2, Self::B4, Self::B8, Self::B16, Self::B32, Self::B64];

    /// The widest access that a general register makes.
    pub const WIDEST_GENERAL: Self = if cfg!(target_pointer_width = "64") { Self::B8 } else { Self::B4 };

    /// The widest that every processor of this architecture makes. On AArch64 an access of 16 bytes to device memory may reach the
    /// bus as two of 8, and a hypervisor cannot emulate it: `WIDEST_GENERAL` is for trapped devices.
    pub const WIDEST_COMMON: Self = if cfg!(all(
        not(miri),
        any(
            all(target_arch = "x86_64", target_feature = "sse2"),
            all(target_arch = "aarch64", target_feature = "neon")
        )
    )) {
        Self::B16
    } else {
        Self::WIDEST_GENERAL
    };

    pub const fn bytes(self) -> usize {
        1 << self as usize
    }

    /// The width of so many bytes.
    pub const fn of_bytes(bytes: usize) -> Option<Self> {
        match bytes {
            1 => Some(Self::B1),
            2 => Some(Self::B2),
            4 => Some(Self::B4),
            8 => Some(Self::B8),
            16 => Some(Self::B16),
            32 => Some(Self::B32),
            64 => Some(Self::B64),
            _ => None,
        }
    }

    /// Whether this processor makes such accesses, and the operating system keeps the registers that they need.
    pub fn is_supported(self) -> bool {
        self <= Self::WIDEST_COMMON || crate::access::supports(self)
    }

    /// The widest access that starts at `address`, has no more than `bytes` bytes (at least one), and is no wider than this.
    pub(crate) fn that_fits(self, address: usize, bytes: usize) -> Self {
        let aligned = address.trailing_zeros();
        let short = bytes.max(1).ilog2();
        Self::ALL[(aligned.min(short) as usize).min(self as usize)]
    }
}
