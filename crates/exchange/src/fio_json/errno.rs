//! Numbers of the errors that storage gives, the same on every architecture that Linux has today but for a few old ones
//! (k:include/uapi/asm-generic/errno-base.h and errno.h).

/// Input or output error; stands for names that are not known here.
pub(crate) const EIO: i32 = 5;

const NUMBERS: [(&str, i32); 30] = [
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", EIO),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("ENODEV", 19),
    ("EINVAL", 22),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("EROFS", 30),
    ("ENOSYS", 38),
    ("ENODATA", 61),
    ("ETIME", 62),
    ("ENOLINK", 67),
    ("EBADMSG", 74),
    ("EOVERFLOW", 75),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
    ("ENOMEDIUM", 123),
    ("ECANCELED", 125),
];

/// The number of an error by its name.
pub(crate) fn number(name: &str) -> i32 {
    NUMBERS.iter().find(|(n, _)| *n == name).map_or(EIO, |(_, number)| *number)
}
