//! Random numbers of the kernel.

use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

/// A number nobody can foresee.
///
/// # Errors
/// The kernel gives none (getrandom(2)).
pub fn random_u64() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(u64::from_le_bytes(bytes))
}
