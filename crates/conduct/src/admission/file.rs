//! Whether a regular file may be overwritten.

use super::{Decided, Held};
use model::Failure;
use spec::Readiness;

/// Reads are always allowed; the content is kept unless the user gave it up.
pub(super) fn admit(held: &Held<'_>, overwrite: bool) -> Result<Decided, Failure> {
    if !overwrite {
        let why = "read-only: the content of a regular file is kept unless --overwrite is given";
        return Ok((held.open_for_reading()?, Readiness::ReadOnly(why.into()), Vec::new(), None));
    }
    Ok((held.open_for_writing()?, Readiness::Writable, Vec::new(), None))
}
