//! Executions that this user started on this machine: what their state says was written by this user. A state that somebody
//! else may have written, as one in an archive that was handed over, is asked about before it is followed.

use super::State;
use settings::{JournalDirectories, Persistence};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};

fn name(state: &State) -> String {
    format!("{}.started", state.id)
}

/// Of everything but the runs that were made.
fn fingerprint(state: &State) -> String {
    Sha256::digest(state.fixed().as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

/// Remembers an execution; where there is no place for that, `--resume` asks about it.
pub fn remember(state: &State) {
    let Ok(directory) = JournalDirectories::of_this_user().write_directory(Persistence::Always) else { return };
    let name = name(state);
    if directory.remove(&name).is_ok()
        && let Ok(Some(mut file)) = directory.create(&name)
    {
        let _ = file.write_all(fingerprint(state).as_bytes());
    }
}

impl State {
    /// Whether this user started it on this machine, as it stands now. What it says was then written by this user.
    pub fn is_own(&self) -> bool {
        let wanted = fingerprint(self);
        let most_bytes = wanted.len() as u64;
        JournalDirectories::of_this_user().read_directories().0.iter().any(|directory| {
            let mut text = String::new();
            let file = directory.existing(&name(self), most_bytes).ok().flatten();
            file.is_some_and(|mut f| f.read_to_string(&mut text).is_ok()) && text == wanted
        })
    }
}

/// Nothing of it is left to do.
pub fn forget(state: &State) {
    for directory in JournalDirectories::of_this_user().read_directories().0 {
        let _ = directory.remove(&name(state));
    }
}
