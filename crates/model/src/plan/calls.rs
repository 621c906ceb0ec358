//! Calls on files in as little memory as they take: four bytes each, or eight with the moments of a recording,
//! instead of 56, since most follow from the one before.

use super::{CallKind, FileCall, NO_NUMBER};

/// Calls in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackedCalls {
    bytes: Vec<u8>,
    count: usize,
    predecessor: Predecessor,
}

/// A place among packed calls, from their beginning on.
#[derive(Clone, Debug, Default)]
pub struct CallCursor {
    at: usize,
    predecessor: Predecessor,
}

/// What the next call is expected by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Predecessor {
    call: FileCall,
    /// The last descriptor.
    handle: u32,
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

impl Predecessor {
    /// The next call, of this kind, as it is most often: only what differs is kept.
    fn expected(&self, kind: CallKind) -> FileCall {
        let last = self.call;
        let goes_on = kind == last.kind;
        let moves = matches!(kind, CallKind::Read | CallKind::Write);
        FileCall {
            kind,
            thread: last.thread,
            path: last.path,
            second: NO_NUMBER,
            handle: match kind {
                CallKind::Open => self.handle.wrapping_add(1),
                _ if moves || matches!(kind, CallKind::Close | CallKind::Fsync | CallKind::SyncRange) => self.handle,
                _ => NO_NUMBER,
            },
            offset: if goes_on && moves { last.offset.wrapping_add(last.bytes) } else { 0 },
            bytes: if goes_on { last.bytes } else { 0 },
            at_ns: last.at_ns,
            ..FileCall::default()
        }
    }

    fn now(&mut self, call: FileCall) {
        self.call = call;
        if call.handle != NO_NUMBER {
            self.handle = call.handle;
        }
    }
}

/// The kind takes so many bits of the two bytes that a call begins with; above them there is one for each part that is not as expected.
const KIND_BITS: u32 = 5;

impl PackedCalls {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn last(&self) -> Option<FileCall> {
        (self.count > 0).then_some(self.predecessor.call)
    }

    /// Adds one.
    pub fn push(&mut self, call: FileCall) {
        let expected = self.predecessor.expected(call.kind);
        // Numbers are kept as differences, of which that to what is not there (the largest one) is small, too.
        let number = |is: u32, expected: u32| folded(is.wrapping_sub(expected) as i32 as i64);
        let parts = [
            u64::from(call.thread ^ expected.thread),
            u64::from(call.flags ^ expected.flags),
            number(call.path, expected.path),
            number(call.second, expected.second),
            number(call.handle, expected.handle),
            folded(call.offset.wrapping_sub(expected.offset) as i64),
            folded(call.bytes.wrapping_sub(expected.bytes) as i64),
            folded(call.at_ns.wrapping_sub(expected.at_ns) as i64),
            call.pause_ns ^ expected.pause_ns,
        ];
        // In the order of declaration, which is that of the table.
        let marks = |marks, (bit, part): (usize, &u64)| marks | u16::from(*part != 0) << (KIND_BITS as usize + bit);
        let head = parts.iter().enumerate().fold(call.kind as u16, marks);
        self.bytes.extend(head.to_le_bytes());
        for mut number in parts.into_iter().filter(|part| *part != 0) {
            while number > 0x7f {
                self.bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            self.bytes.push(number as u8);
        }
        self.predecessor.now(call);
        self.count += 1;
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = FileCall> + '_ {
        let mut cursor = CallCursor::default();
        std::iter::from_fn(move || cursor.take(self))
    }

    /// Gives back memory that is not used.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }
}

impl CallCursor {
    /// The call at this place, and goes on; `None` at the end.
    pub fn take(&mut self, calls: &PackedCalls) -> Option<FileCall> {
        let bytes = &calls.bytes;
        let head = u16::from_le_bytes([*bytes.get(self.at)?, *bytes.get(self.at + 1)?]);
        self.at += 2;
        let mut bit = KIND_BITS;
        let mut next = || {
            let is_there = head >> bit & 1 == 1;
            bit += 1;
            let mut number = 0u64;
            let mut shift = 0;
            while let Some(byte) = bytes.get(self.at).filter(|_| is_there) {
                self.at += 1;
                number |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            number
        };
        let kind = KINDS.get(usize::from(head & ((1 << KIND_BITS) - 1))).copied().unwrap_or_default();
        let expected = self.predecessor.expected(kind);
        let call = FileCall {
            kind,
            thread: expected.thread ^ next() as u16,
            flags: expected.flags ^ next() as u16,
            path: expected.path.wrapping_add(unfolded(next()) as u32),
            second: expected.second.wrapping_add(unfolded(next()) as u32),
            handle: expected.handle.wrapping_add(unfolded(next()) as u32),
            offset: expected.offset.wrapping_add(unfolded(next()) as u64),
            bytes: expected.bytes.wrapping_add(unfolded(next()) as u64),
            at_ns: expected.at_ns.wrapping_add(unfolded(next()) as u64),
            pause_ns: expected.pause_ns ^ next(),
        };
        self.predecessor.now(call);
        Some(call)
    }
}

impl FromIterator<FileCall> for PackedCalls {
    fn from_iter<I: IntoIterator<Item = FileCall>>(calls: I) -> Self {
        let mut all = Self::default();
        calls.into_iter().for_each(|call| all.push(call));
        all.shrink();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(many.bytes.len() < 5_000, "{}", many.bytes.len());
        assert_eq!(PackedCalls::default().last(), None);
    }
}
