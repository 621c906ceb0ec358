//! Names of error numbers, as people and kernel documents write them.

pub use libc::{
    EAGAIN, EBADF, ECANCELED, EEXIST, EINTR, EINVAL, EIO, EISDIR, ENAMETOOLONG, ENODEV, ENOENT, ENOMEDIUM, ENOSPC,
    ENOTDIR, ENOTEMPTY, ENXIO, EOPNOTSUPP, ETIME, ETIMEDOUT,
};

/// The name of an errno (`EIO`), or `errno 1234` for one that storage never gives. The numbers are those of the machine
/// this runs on (they differ between architectures, for example on MIPS).
pub fn errno_name(errno: i32) -> String {
    for (number, name) in NAMES {
        if *number == errno {
            return (*name).to_owned();
        }
    }
    format!("errno {errno}")
}

/// The errno's name, else the error in words.
pub fn error_name(error: &std::io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), errno_name)
}

/// What to do where the kernel refuses to open something (EACCES, EPERM): root is not told to become root.
pub fn permission_remedy() -> &'static str {
    permission_remedy_of(rustix::process::geteuid().is_root())
}

fn permission_remedy_of(is_root: bool) -> &'static str {
    match is_root {
        false => "run as its owner or as root",
        true => {
            "root is refused, too: by the rules of a container, by SELinux or AppArmor, or by a server that takes root for nobody \
             (root_squash); run it where they do not hold"
        }
    }
}

macro_rules! names {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name))),*] };
}

const NAMES: &[(i32, &str)] = names!(
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG EBADF EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV
    ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK
    ENAMETOOLONG ENOSYS ENOTEMPTY ELOOP ENODATA ETIME ENOLINK EPROTO EBADMSG EOVERFLOW EILSEQ EUSERS EOPNOTSUPP ETIMEDOUT
    ECONNRESET ECONNREFUSED EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE
    ENOTCONN EHOSTDOWN ECONNABORTED ESHUTDOWN ECANCELED ENOKEY EKEYEXPIRED EKEYREJECTED EHWPOISON
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_machines_own() {
        assert_eq!(errno_name(5), "EIO");
        assert_eq!(errno_name(28), "ENOSPC");
        assert_eq!(errno_name(123_456), "errno 123456");
    }

    #[test]
    fn root_is_not_told_to_become_root() {
        assert!(permission_remedy_of(false).contains("as root"));
        assert!(
            permission_remedy_of(true).contains("rules of a container")
                && !permission_remedy_of(true).contains("as root")
        );
    }
}
