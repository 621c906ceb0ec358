//! Whether the kernel holds the wall clock to be right.
#![allow(unsafe_code)]

/// Whether something (ntpd, chronyd, systemd-timesyncd, ptp4l) keeps the wall clock synchronised, as adjtimex(2) tells:
/// the clock state is TIME_ERROR while STA_UNSYNC or STA_CLOCKERR is set (k:kernel/time/ntp.c). `None` if the call is
/// refused, as under some seccomp filters. Reads only.
pub fn clock_synchronised() -> Option<bool> {
    // SAFETY: `timex` is plain data for which all zeros is valid, and modes = 0 asks the kernel to change nothing.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: `state` is a valid, exclusive `timex` of the C library's own layout for the time of the call.
    match unsafe { libc::adjtimex(&mut state) } {
        n if n < 0 => None,
        n => Some(n != libc::TIME_ERROR),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn asking_changes_nothing_and_is_stable() {
        let first = super::clock_synchronised();
        assert_eq!(first, super::clock_synchronised());
    }
}
