//! The seam between what is asked and who carries it out.

use model::{Direction, IoPriority, Ns};

/// What a block operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// Reads `len` bytes at `offset`.
    #[default]
    Read,
    /// Writes `len` bytes at `offset`.
    Write,
    /// Writes `len` bytes at `offset`, then fdatasync: one operation, one latency.
    WriteSync,
    /// fsync of the whole target; transfers nothing, closes a round.
    Fsync,
    /// fdatasync of the whole target; transfers nothing.
    Fdatasync,
    /// Discards `len` bytes at `offset`; transfers nothing, its result is `len`.
    Trim,
    /// Makes `len` bytes at `offset` zero without sending them; its result is `len`.
    WriteZeroes,
}

impl OpKind {
    /// Whether it carries data to the target.
    #[inline]
    pub fn sends_data(self) -> bool {
        matches!(self, Self::Write | Self::WriteSync)
    }
}

/// What the engine's loop asks of an operation, of whatever kind it is.
pub trait Request: Copy + Default {
    /// Index of its buffer, which identifies it while it is in flight.
    fn buffer(&self) -> u32;

    /// Gives it a buffer; the loop does, before it is handed over.
    fn set_buffer(&mut self, index: u32);

    /// Bytes that it is to transfer.
    fn len(&self) -> u32;

    /// Whether it transfers nothing.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When it should start; `None`: as soon as there is room.
    fn intended_ns(&self) -> Option<Ns>;

    /// What its data are stamped with: the offset that they go to, or the number of their file.
    fn content_key(&self) -> u64;

    /// The direction that it is counted in.
    fn direction(&self) -> Direction;

    /// Whether its buffer holds data that are to be made before.
    fn sends_data(&self) -> bool {
        false
    }

    /// Whether its bytes come from its buffer or go there.
    fn has_data(&self) -> bool {
        true
    }

    /// Of a sync: whether it closes a round of writes, where there are rounds.
    fn closes_round(&self) -> bool {
        false
    }
}

/// What the loop asks of an operation that has it in fields of its own.
#[macro_export]
macro_rules! in_fields {
    () => {
        #[inline]
        fn buffer(&self) -> u32 {
            self.buffer
        }

        #[inline]
        fn set_buffer(&mut self, index: u32) {
            self.buffer = index;
        }

        #[inline]
        fn len(&self) -> u32 {
            self.len
        }

        #[inline]
        fn intended_ns(&self) -> Option<Ns> {
            self.intended_ns
        }
    };
}
pub use in_fields;

/// One block operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockOp {
    /// What it does.
    pub kind: OpKind,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for syncs.
    pub len: u32,
    /// Index of the buffer in the pool that the caller of the device owns. The engine's loop sets it; sources leave 0.
    pub buffer: u32,
    /// When the operation should start. `None`: as soon as there is room (closed loop); latency then counts from the
    /// moment it was handed to the device.
    pub intended_ns: Option<Ns>,
    /// Its own priority. `None`: that of its stream.
    pub priority: Option<IoPriority>,
}

impl Request for BlockOp {
    in_fields!();

    #[inline]
    fn content_key(&self) -> u64 {
        self.offset
    }

    #[inline]
    fn direction(&self) -> Direction {
        // By a branch that is foreseen, and only then by a table.
        if self.kind == OpKind::Read {
            return Direction::Read;
        }
        match self.kind {
            OpKind::Read => Direction::Read,
            OpKind::Write | OpKind::WriteSync => Direction::Write,
            OpKind::Trim => Direction::Trim,
            OpKind::WriteZeroes => Direction::WriteZeroes,
            OpKind::Fsync | OpKind::Fdatasync => Direction::Sync,
        }
    }

    #[inline]
    fn sends_data(&self) -> bool {
        self.kind.sends_data()
    }

    #[inline]
    fn has_data(&self) -> bool {
        !matches!(self.kind, OpKind::Trim | OpKind::WriteZeroes)
    }

    #[inline]
    fn closes_round(&self) -> bool {
        self.kind == OpKind::Fsync
    }
}

/// What a source answers when it is asked for the next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<Op> {
    /// Do this now.
    Op(Op),
    /// Nothing before this moment.
    WaitUntil(Ns),
    /// Nothing before this moment, and the worker is to spend the time computing, as an application between two
    /// operations. Only with nothing in flight.
    SpinUntil(Ns),
    /// Nothing until an operation in flight has completed.
    WaitForCompletion,
    /// Nothing any more.
    Done,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpResult {
    /// When its completion was seen.
    pub at_ns: Ns,
    /// Bytes transferred, or the errno.
    pub result: Result<u32, i32>,
}

/// Gives the engine's loop one operation after the other.
pub trait Source {
    /// The kind of operation.
    type Op;

    /// The next operation at the moment `now`.
    fn next(&mut self, now: Ns) -> Next<Self::Op>;

    /// Hears that an operation has completed.
    fn on_completion(&mut self, op: &Self::Op, outcome: OpResult);

    /// What closes the stream, one operation after the other, once nothing is in flight any more: asked for whether the
    /// source was done or the phase's time was, not after a failure or an interruption.
    fn closing_op(&mut self) -> Option<Self::Op> {
        None
    }
}

impl<S: Source> Source for &mut S {
    type Op = S::Op;

    #[inline]
    fn next(&mut self, now: Ns) -> Next<S::Op> {
        S::next(self, now)
    }

    #[inline]
    fn on_completion(&mut self, op: &S::Op, outcome: OpResult) {
        S::on_completion(self, op, outcome);
    }

    fn closing_op(&mut self) -> Option<S::Op> {
        S::closing_op(self)
    }
}
