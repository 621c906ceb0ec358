//! Whether the kernel's vector of auxiliary values can be read.

#![allow(unsafe_code)]

use std::path::Path;

/// PR_GET_AUXV of prctl(2), from Linux 6.4 on.
const PR_GET_AUXV: libc::c_int = 0x4155_5856;

/// Whether the page size and the like are known to rustix, which panics where they are not: it asks the kernel, and of one before
/// Linux 6.4 reads `/proc/self/auxv`.
pub fn is_auxv_readable() -> bool {
    is_auxv_told_by_call() || is_auxv_at(Path::new("/proc/self/auxv"))
}

fn is_auxv_at(path: &Path) -> bool {
    std::fs::File::open(path).is_ok()
}

fn is_auxv_told_by_call() -> bool {
    let mut vector = [0 as libc::c_ulong; 128];
    let none: libc::c_ulong = 0;
    // SAFETY: the kernel writes no more than the bytes that it is told of, which the array has.
    let told = unsafe { libc::prctl(PR_GET_AUXV, vector.as_mut_ptr(), size_of_val(&vector), none, none) };
    told > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_or_the_call_is_enough() {
        assert!(is_auxv_readable());
        assert!(!is_auxv_at(Path::new("/no/such/proc/self/auxv")));
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
        let mut parts = release.split('.').map_while(|part| part.parse::<u32>().ok());
        let newer = (parts.next(), parts.next()) >= (Some(6), Some(4));
        assert!(!newer || is_auxv_told_by_call(), "{release}");
    }
}
