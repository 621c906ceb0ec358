//! Reading bytes of a container, and why it cannot be read.

use crate::container::ContainerError;
use crate::store::Store;
use std::io;

/// Why a container cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is none, or not one for this program.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The storage failed.
    #[error("reading at {offset}: {source}")]
    Io {
        offset: u64,
        /// What it said.
        source: io::Error,
    },
}

/// So many bytes of the storage; what lies behind its end is zero.
pub(crate) fn read<S: Store>(store: &S, offset: u64, length: usize) -> Result<Vec<u8>, ReadError> {
    let mut bytes = vec![0; length];
    // Behind the end there is nothing that could be a record.
    store.read_at(offset, &mut bytes).map_err(|source| ReadError::Io { offset, source })?;
    Ok(bytes)
}
