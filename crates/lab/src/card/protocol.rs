//! Numbers and messages of the NBD protocol (NetworkBlockDevice/nbd, doc/proto.md); all of them big-endian.

/// "NBDMAGIC": the server's first word.
pub const MAGIC: u64 = 0x4e42_444d_4147_4943;
/// "IHAVEOPT": the newstyle handshake, and the head of every option.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Head of a reply to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Head of a request.
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Head of a simple reply.
pub const REPLY_MAGIC: u32 = 0x6744_6698;

/// Handshake flags, the server's and the client's: fixed newstyle; no 124 zeros after EXPORT_NAME.
pub const FIXED_NEWSTYLE: u16 = 1;
/// See [`FIXED_NEWSTYLE`].
pub const NO_ZEROES: u16 = 2;

pub mod option {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const LIST: u32 = 3;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
}

/// Types of replies to options.
pub mod reply {
    pub const ACK: u32 = 1;
    pub const SERVER: u32 = 2;
    pub const INFO: u32 = 3;
    pub const ERR_UNSUP: u32 = (1 << 31) + 1;
    pub const ERR_INVALID: u32 = (1 << 31) + 3;
    pub const ERR_UNKNOWN: u32 = (1 << 31) + 6;
    pub const ERR_TOO_BIG: u32 = (1 << 31) + 9;
}

/// Kinds of information about an export.
pub mod info {
    pub const EXPORT: u16 = 0;
    pub const NAME: u16 = 1;
    pub const DESCRIPTION: u16 = 2;
    pub const BLOCK_SIZE: u16 = 3;
}

/// Transmission flags.
pub mod flag {
    pub const HAS_FLAGS: u16 = 1;
    pub const SEND_FLUSH: u16 = 1 << 2;
    pub const SEND_FUA: u16 = 1 << 3;
    pub const SEND_TRIM: u16 = 1 << 5;
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
}

pub mod command {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const DISC: u16 = 2;
    pub const FLUSH: u16 = 3;
    pub const TRIM: u16 = 4;
    pub const WRITE_ZEROES: u16 = 6;
}

pub mod command_flag {
    pub const FUA: u16 = 1;
    pub const NO_HOLE: u16 = 2;
}

/// Errors of a reply; the protocol fixes their numbers, whatever the errnos of a system are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// Not permitted: the card is worn out.
    Perm = 1,
    /// Input or output error.
    Io = 5,
    /// The request makes no sense.
    Inval = 22,
    /// A write beyond the end.
    NoSpc = 28,
}

/// Most bytes of one request: the default that clients may assume (doc/proto.md, "Block size constraints").
pub const MAX_BYTES: u32 = 32 << 20;
/// Most bytes of an option: the protocol asks for room for names of 4,096.
pub const MAX_OPTION_BYTES: u32 = 8192;
/// Size of the head of a request.
pub const REQUEST_BYTES: usize = 28;
/// Size of the head of a simple reply.
pub const REPLY_BYTES: usize = 16;

/// The head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Flags of the command.
    pub flags: u16,
    pub command: u16,
    /// The client's name for it.
    pub cookie: u64,
    /// Byte offset of the request.
    pub offset: u64,
    /// How many bytes.
    pub len: u32,
}

impl Request {
    /// From its bytes; `None` if they do not begin as a request does.
    pub fn parse(bytes: &[u8; REQUEST_BYTES]) -> Option<Self> {
        (number(bytes, 0, 4) == u64::from(REQUEST_MAGIC)).then(|| Self {
            flags: number(bytes, 4, 2) as u16,
            command: number(bytes, 6, 2) as u16,
            cookie: number(bytes, 8, 8),
            offset: number(bytes, 16, 8),
            len: number(bytes, 24, 4) as u32,
        })
    }
}

/// A big-endian number of `size` bytes at `at`.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The head of a simple reply; 0 is success.
pub fn simple_reply(error: Option<Errno>, cookie: u64) -> [u8; REPLY_BYTES] {
    let mut reply = [0; REPLY_BYTES];
    reply[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    reply[4..8].copy_from_slice(&error.map_or(0, |error| error as u32).to_be_bytes());
    reply[8..].copy_from_slice(&cookie.to_be_bytes());
    reply
}

/// A reply to an option.
pub fn option_reply(option: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let mut reply = Vec::with_capacity(20 + data.len());
    reply.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    reply.extend(option.to_be_bytes());
    reply.extend(kind.to_be_bytes());
    reply.extend((data.len() as u32).to_be_bytes());
    reply.extend(data);
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_words_are_their_letters() {
        assert_eq!((&MAGIC.to_be_bytes(), &OPTION_MAGIC.to_be_bytes()), (b"NBDMAGIC", b"IHAVEOPT"));
    }

    #[test]
    fn a_request_is_read_from_its_bytes() {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..4].copy_from_slice(&[0x25, 0x60, 0x95, 0x13]);
        bytes[5] = 1;
        bytes[7] = 6;
        bytes[15] = 9;
        bytes[20] = 1;
        bytes[26] = 2;
        let expected = Request { flags: 1, command: 6, cookie: 9, offset: 1 << 24, len: 512 };
        assert_eq!(Request::parse(&bytes), Some(expected));
        bytes[0] = 0;
        assert_eq!(Request::parse(&bytes), None);
        assert_eq!(simple_reply(Some(Errno::NoSpc), 9)[4..8], [0, 0, 0, 28]);
    }
}
