//! What a key that there is not was meant to be.

use crate::fio::our_key;
use crate::job_key::job_keys;
use crate::keys::{names, nearest};

/// The key that is meant by one that there is not, or one of `others`.
pub(crate) fn nearest_key(key: &str, others: impl IntoIterator<Item = &'static str>) -> Option<String> {
    // Who comes from fio writes its names.
    our_key(key).or_else(|| nearest(key, others.into_iter().chain(names(job_keys()))))
}
