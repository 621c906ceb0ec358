//! How a session is to be conducted: what a command asks beside the machine and the job.

use super::card::Slot;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How a session is to be conducted.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// Images that outlive the session, by name; the others are made anew.
    pub images: BTreeMap<String, PathBuf>,
    /// The card that is put in, for a machine that has one; without it, the machine's own.
    pub card: Option<Slot>,
    /// Show what the command prints while it does.
    pub live: bool,
    /// Show the line of progress.
    pub progress: bool,
}
