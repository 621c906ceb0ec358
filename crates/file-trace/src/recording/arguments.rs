//! Arguments as strace writes them.

use model::CallFlag;

pub(super) fn names_of(path: &str) -> Vec<String> {
    path.split('/').filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect()
}

/// A number as strace writes it.
pub(super) fn number(text: &str) -> Option<i64> {
    let text = text.split('<').next().unwrap_or(text);
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| n as i64),
        None => text.parse().ok(),
    }
}

/// A text in quotes, with what its escapes stand for; `None` where it is none.
pub(super) fn quoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes().iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            b'\\' => match rest.next()? {
                b'n' => bytes.push(b'\n'),
                b't' => bytes.push(b'\t'),
                b'r' => bytes.push(b'\r'),
                b'v' => bytes.push(11),
                b'f' => bytes.push(12),
                b'x' => {
                    let digits = [rest.next()?, rest.next()?];
                    bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                }
                digit @ b'0'..=b'7' => {
                    let mut value = u32::from(digit - b'0');
                    for _ in 0..2 {
                        match rest.peek() {
                            Some(next @ b'0'..=b'7') => {
                                value = value * 8 + u32::from(next - b'0');
                                rest.next();
                            }
                            _ => break,
                        }
                    }
                    bytes.push(value as u8);
                }
                other => bytes.push(other),
            },
            other => bytes.push(other),
        }
    }
    None
}

pub(super) fn open_flags(text: &str) -> u16 {
    let mut flags = 0;
    for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        flags |= match word {
            "O_WRONLY" => CallFlag::WRITE,
            "O_RDWR" => CallFlag::READ | CallFlag::WRITE,
            "O_RDONLY" => CallFlag::READ,
            "O_CREAT" => CallFlag::CREATE,
            "O_EXCL" => CallFlag::EXCLUSIVE,
            "O_TRUNC" => CallFlag::TRUNCATE,
            "O_SYNC" => CallFlag::SYNC,
            "O_DSYNC" => CallFlag::DSYNC,
            "O_DIRECTORY" => CallFlag::DIRECTORY,
            _ => 0,
        };
    }
    flags
}
