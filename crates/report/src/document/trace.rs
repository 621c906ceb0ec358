//! What `narrows trace --json` prints.

use serde::Serialize;

/// A recording that was made.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(tag = "schema", rename = "narrows/trace/1")]
pub struct TraceDocument<'a> {
    pub file: &'a str,
    /// The directory whose files are the ones to do it on again; or the device.
    pub root: &'a str,
    /// Calls on files.
    pub calls: u64,
    /// Processes and threads that made them.
    pub threads: u64,
    /// Requests of the device.
    pub requests: u64,
    /// Requests that the kernel had no room for.
    pub lost: u64,
    /// Exit code of the command; 128 and the number of the signal that ended it.
    pub exit_code: Option<i32>,
}
