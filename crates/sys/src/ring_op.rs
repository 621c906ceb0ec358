//! What a ring is asked to do, and what became of it.

/// What a buffer is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingOp {
    /// Read `len` bytes at `offset` into the buffer.
    Read,
    /// Write `len` bytes of the buffer at `offset`.
    Write,
    /// The same, then fdatasync, as one operation of two linked entries.
    WriteThenDatasync,
    /// fsync of the file; the buffer is only the operation's name.
    Fsync,
    /// fdatasync of the file; the same.
    Datasync,
}

/// One completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingCompletion {
    /// The operation's buffer.
    pub buffer: u32,
    /// Bytes transferred, or the negative errno.
    pub result: i32,
}
