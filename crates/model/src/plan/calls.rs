//! Calls on files in as little memory as they take: some ten bytes each instead of 56, since most are like the one before.

use super::{CallKind, FileCall};

/// Calls in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackedCalls {
    bytes: Vec<u8>,
    count: usize,
    last: FileCall,
}

/// A place among packed calls, from their beginning on.
#[derive(Clone, Debug, Default)]
pub struct CallCursor {
    at: usize,
    last: FileCall,
}

const KINDS: [CallKind; 21] = [
    CallKind::Open,
    CallKind::Close,
    CallKind::Read,
    CallKind::Write,
    CallKind::Fsync,
    CallKind::Fdatasync,
    CallKind::SyncRange,
    CallKind::SyncFs,
    CallKind::Truncate,
    CallKind::Allocate,
    CallKind::Stat,
    CallKind::List,
    CallKind::Rename,
    CallKind::Link,
    CallKind::Symlink,
    CallKind::Unlink,
    CallKind::Mkdir,
    CallKind::Rmdir,
    CallKind::Chmod,
    CallKind::Chown,
    CallKind::Utimes,
];

/// A difference as a number that is small where it is, of either sign.
fn folded(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

impl PackedCalls {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The last one.
    pub fn last(&self) -> Option<FileCall> {
        (self.count > 0).then_some(self.last)
    }

    /// Adds one.
    pub fn push(&mut self, call: FileCall) {
        let (bytes, last) = (&mut self.bytes, self.last);
        let mut put = |mut number: u64| {
            while number > 0x7f {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        };
        // In the order of declaration, which is that of the table.
        put(call.kind as u64);
        put(call.thread.into());
        put(call.flags.into());
        put(folded(i64::from(call.path) - i64::from(last.path)));
        // What is not there is the largest number.
        put(call.second.wrapping_add(1).into());
        put(call.handle.wrapping_add(1).into());
        put(call.offset);
        put(call.bytes);
        put(folded(call.at_ns.wrapping_sub(last.at_ns) as i64));
        put(call.pause_ns);
        (self.last, self.count) = (call, self.count + 1);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = FileCall> + '_ {
        let mut cursor = CallCursor::default();
        std::iter::from_fn(move || cursor.take(self))
    }
}

impl CallCursor {
    /// The call at this place, and goes on; `None` at the end.
    pub fn take(&mut self, calls: &PackedCalls) -> Option<FileCall> {
        let bytes = &calls.bytes;
        if self.at >= bytes.len() {
            return None;
        }
        let mut next = || {
            let (mut number, mut shift) = (0u64, 0);
            while let Some(byte) = bytes.get(self.at) {
                self.at += 1;
                number |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            number
        };
        let last = self.last;
        let kind = KINDS.get(next() as usize).copied().unwrap_or_default();
        let (thread, flags) = (next() as u16, next() as u16);
        let path = (i64::from(last.path) + unfolded(next())) as u32;
        let (second, handle) = ((next() as u32).wrapping_sub(1), (next() as u32).wrapping_sub(1));
        let (offset, length) = (next(), next());
        let at_ns = last.at_ns.wrapping_add(unfolded(next()) as u64);
        let pause_ns = next();
        self.last = FileCall { at_ns, pause_ns, offset, bytes: length, path, second, handle, thread, flags, kind };
        Some(self.last)
    }
}

impl FromIterator<FileCall> for PackedCalls {
    fn from_iter<I: IntoIterator<Item = FileCall>>(calls: I) -> Self {
        let mut all = Self::default();
        calls.into_iter().for_each(|call| all.push(call));
        all.bytes.shrink_to_fit();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NO_NUMBER;

    #[test]
    fn what_is_packed_comes_out_again() {
        assert!(KINDS.iter().enumerate().all(|(number, kind)| *kind as usize == number));
        let plain = FileCall { second: NO_NUMBER, handle: NO_NUMBER, ..FileCall::default() };
        let most = FileCall {
            at_ns: u64::MAX,
            pause_ns: u64::MAX,
            offset: u64::MAX,
            bytes: u64::MAX,
            path: u32::MAX,
            second: u32::MAX - 1,
            handle: u32::MAX - 1,
            thread: u16::MAX,
            flags: u16::MAX,
            kind: CallKind::Utimes,
        };
        let like = FileCall { at_ns: 1000, path: 70_000, handle: 3, bytes: 4096, kind: CallKind::Write, ..plain };
        let calls = [plain, most, plain, like, FileCall { at_ns: 999, path: 69_999, ..like }, FileCall::default()];
        let packed: PackedCalls = calls.into_iter().collect();
        assert_eq!(packed.iter().collect::<Vec<_>>(), calls);
        assert_eq!((packed.len(), packed.is_empty(), packed.last()), (6, false, Some(FileCall::default())));
        let many: PackedCalls = (0..1000).map(|i| FileCall { at_ns: i * 500, offset: i * 4096, ..like }).collect();
        assert!(many.bytes.len() < 17_000, "{}", many.bytes.len());
        assert_eq!(PackedCalls::default().last(), None);
    }
}
