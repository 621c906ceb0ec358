//! One cell of the table of parity.

/// One cell: what all contestants do.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// As fio calls it.
    pub rw: &'static str,
    pub block: &'static str,
    pub depth: u32,
}
