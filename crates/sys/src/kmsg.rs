//! Kernel messages, without waiting (k:Documentation/ABI/testing/dev-kmsg).

use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelMessage {
    /// 0 emergency to 7 debug.
    pub level: u8,
    /// Sequence number; a gap means lost messages.
    pub sequence: u64,
    /// Microseconds on the kernel's log clock (since boot, sleep excluded).
    pub at_us: u64,
    /// The text, without the key-value lines that follow it.
    pub text: String,
}

/// Why messages cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum KernelLogError {
    /// `kernel.dmesg_restrict` is 1 and we lack CAP_SYSLOG, or the device's permissions forbid it.
    #[error("reading /dev/kmsg is not permitted (run as root, or: sysctl -w kernel.dmesg_restrict=0)")]
    NotPermitted,
    /// There is no /dev/kmsg, as in most containers.
    #[error("there is no /dev/kmsg here")]
    Missing,
    /// Any other error of reading.
    #[error("/dev/kmsg: {0}")]
    Other(std::io::Error),
}

/// Reads kernel messages as they come.
#[derive(Debug)]
pub struct KernelLog {
    fd: OwnedFd,
    buffer: Vec<u8>,
}

impl KernelLog {
    /// Starts after the last message that is there now.
    pub fn from_now() -> Result<Self, KernelLogError> {
        Self::open(SeekFrom::End(0))
    }

    /// Starts at the oldest message that the kernel still has.
    pub fn from_start() -> Result<Self, KernelLogError> {
        Self::open(SeekFrom::Start(0))
    }

    fn open(from: SeekFrom) -> Result<Self, KernelLogError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::open("/dev/kmsg", flags, Mode::empty()).map_err(typed)?;
        rustix::fs::seek(&fd, from).map_err(typed)?;
        // CONSOLE_EXT_LOG_MAX is 8 KiB: a shorter buffer gets EINVAL (k:kernel/printk/printk.c).
        let mut log = Self { fd, buffer: vec![0; 16384] };
        // Some sandboxes allow the opening and refuse the reading: learn it now.
        let position_is_kept = matches!(from, SeekFrom::Start(_));
        if !position_is_kept {
            log.drain()?;
        }
        Ok(log)
    }

    /// All messages that have come since the last call; never waits.
    pub fn drain(&mut self) -> Result<Vec<KernelMessage>, KernelLogError> {
        let mut messages = Vec::new();
        loop {
            match rustix::io::read(&self.fd, &mut self.buffer) {
                Ok(0) => break,
                Ok(n) => messages.extend(parse(&self.buffer[..n])),
                Err(Errno::AGAIN) => break,
                // PIPE: messages were overwritten before we read them; the position is now at the oldest one.
                Err(Errno::INTR | Errno::PIPE) => {}
                Err(e) => return Err(typed(e)),
            }
        }
        Ok(messages)
    }
}

fn typed(e: Errno) -> KernelLogError {
    match e {
        Errno::PERM | Errno::ACCESS => KernelLogError::NotPermitted,
        Errno::NOENT | Errno::NODEV | Errno::NXIO => KernelLogError::Missing,
        e => KernelLogError::Other(e.into()),
    }
}

/// `<priority>,<sequence>,<microseconds>,<flags>[,...];<text>\n KEY=value\n`.
fn parse(record: &[u8]) -> Option<KernelMessage> {
    let record = String::from_utf8_lossy(record);
    let (head, body) = record.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let sequence = fields.next()?.parse().ok()?;
    let at_us = fields.next()?.parse().ok()?;
    let text = body.split('\n').next().unwrap_or_default();
    Some(KernelMessage { level: (priority & 7) as u8, sequence, at_us, text: unescape(text) })
}

/// Bytes that are not printable ASCII come as `\xNN`; together they are usually UTF-8.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while i < bytes.len() {
        let code = (bytes[i..].starts_with(b"\\x")).then(|| bytes.get(i + 2..i + 4)).flatten();
        let byte = code.and_then(|c| std::str::from_utf8(c).ok()).and_then(|c| u8::from_str_radix(c, 16).ok());
        match byte {
            Some(b) => {
                out.push(b);
                i += 4;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_parsed() {
        let m =
            parse(b"3,1234,98765432,-;mmc0: running CQE recovery\n SUBSYSTEM=mmc\n DEVICE=+mmc:mmc0:0001\n").unwrap();
        assert_eq!(
            m,
            KernelMessage { level: 3, sequence: 1234, at_us: 98_765_432, text: "mmc0: running CQE recovery".into() }
        );
        // Facility 3 (daemon), level 6; later kernels add fields before the semicolon.
        let m = parse(b"30,339,5140900,-,caller=T1;caf\\xc3\\xa9; a \\x5c\n").unwrap();
        assert_eq!((m.level, m.text.as_str()), (6, "caf\u{e9}; a \\"));
        assert!(parse(b"nonsense").is_none());
        assert!(parse(b"x,1,2,-;t").is_none());
        assert_eq!(unescape("\\x4"), "\\x4");
    }

    #[test]
    fn reading_never_waits() {
        match KernelLog::from_start() {
            Ok(mut log) => match log.drain() {
                Ok(all) => assert!(all.windows(2).all(|w| w[0].sequence < w[1].sequence)),
                Err(e) => println!("SKIPPED: {e}"),
            },
            Err(e) => println!("SKIPPED: {e}"),
        }
    }
}
