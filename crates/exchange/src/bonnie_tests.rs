//! The twelve tests of bonnie++, as the lines that are read and those that are written name them.

/// How many tests there are.
pub(crate) const TESTS: usize = 12;
/// Of these, the first six are of one big file, the others of many small files.
pub(crate) const IO_TESTS: usize = 6;

/// The tests in bonnie++'s order.
pub(crate) const NAMES: [&str; TESTS] = [
    "putc",
    "put-block",
    "rewrite",
    "getc",
    "get-block",
    "seeks",
    "seq-create",
    "seq-stat",
    "seq-delete",
    "ran-create",
    "ran-stat",
    "ran-delete",
];

/// Tests before the seeks are printed in K/s, and K is 1024 bytes.
pub(crate) fn is_throughput(test: usize) -> bool {
    test < 5
}
