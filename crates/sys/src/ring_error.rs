//! Why a ring cannot be had, or takes an operation not, and what to do about it.

use crate::errno_name;

/// Why an operation was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// The ring has no such file.
    #[error("there is no file {0}")]
    NoSuchFile(u32),
    /// The pool has no such buffer.
    #[error("there is no buffer {0}")]
    NoSuchBuffer(u32),
    /// The kernel still uses the buffer.
    #[error("buffer {0} is in flight")]
    InFlight(u32),
    /// More bytes than the buffer has.
    #[error("{len} bytes do not fit into buffers of {buffer_bytes}")]
    TooLong {
        /// Bytes asked for.
        len: u32,
        /// Size of the buffers.
        buffer_bytes: usize,
    },
    /// The submission queue is full: enter first.
    #[error("the submission queue is full")]
    Full,
}

/// io_uring cannot be used here.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The kernel has no io_uring (before 5.1, or built without CONFIG_IO_URING).
    #[error("this kernel has no io_uring (ENOSYS)")]
    Missing,
    /// The kernel has it and forbids it: `kernel.io_uring_disabled`, a security module, or a container's seccomp filter.
    #[error("io_uring is forbidden here ({})", errno_name(*errno))]
    Forbidden {
        /// EPERM or EACCES.
        errno: i32,
    },
    /// Not enough memory, or not enough of it may be locked (before 5.12 rings count against RLIMIT_MEMLOCK).
    #[error("no memory for a ring of {entries} entries ({})", errno_name(*errno))]
    Memory {
        /// Entries of the submission queue.
        entries: u32,
        /// ENOMEM or EAGAIN.
        errno: i32,
    },
    /// Another failure of a call.
    #[error("{call}: {}", errno_name(*errno))]
    Call { call: &'static str, errno: i32 },
}

impl RingError {
    /// What the user can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Missing => "use a kernel from 5.1 on with CONFIG_IO_URING=y",
            // k:Documentation/admin-guide/sysctl/kernel.rst, io_uring_disabled; Docker's default seccomp profile has
            // refused the calls since 25.0.
            Self::Forbidden { .. } => {
                "sysctl -w kernel.io_uring_disabled=0; in a container also allow the io_uring_* calls in its seccomp \
                 profile"
            }
            Self::Memory { .. } => "raise the limit of locked memory: ulimit -l unlimited (LimitMEMLOCK= in a unit)",
            Self::Call { .. } => "report this with the kernel's version",
        }
    }

    pub(crate) fn setup(entries: u32, errno: i32) -> Self {
        match errno {
            libc::ENOSYS => Self::Missing,
            libc::EPERM | libc::EACCES => Self::Forbidden { errno },
            libc::ENOMEM | libc::EAGAIN => Self::Memory { entries, errno },
            errno => Self::Call { call: "io_uring_setup", errno },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_names_the_remedy() {
        let error = RingError::setup(64, libc::EPERM);
        assert_eq!(error.to_string(), "io_uring is forbidden here (EPERM)");
        assert!(error.remedy().contains("sysctl -w kernel.io_uring_disabled=0"));
        assert!(matches!(RingError::setup(64, libc::ENOSYS), RingError::Missing));
        assert!(matches!(RingError::setup(64, libc::ENOMEM), RingError::Memory { entries: 64, .. }));
    }
}
