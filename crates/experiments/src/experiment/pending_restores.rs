//! What programs that were cut off left changed on this machine. Only this machine's own journal is obeyed, never a file of
//! an archive.

use super::in_force::still_changed;
use model::Failure;
use settings::{Change, CommandLimits, JournalDirectories, Machine, OrphanedJournals, Tree, find};
use std::path::Path;
use std::time::Duration;

/// What is left changed; looking at it changes nothing.
pub struct PendingRestores {
    found: OrphanedJournals,
    machine: Machine,
}

/// What became of what one execution left changed.
pub struct RestoreReport {
    /// Id of the execution.
    pub experiment: String,
    /// Its arm that was in force.
    pub arm: String,
    /// Whether the machine was started anew since then.
    pub rebooted: bool,
    /// What was put back; empty after a reboot that undid all.
    pub done: Vec<String>,
    /// What is still changed.
    pub failure: Option<Failure>,
}

impl PendingRestores {
    /// Of this machine and user, now.
    pub fn find() -> Self {
        let machine = Machine::of(Path::new("/"));
        Self { found: find(&JournalDirectories::of_this_user(), &machine), machine }
    }

    /// Ids of the executions that left something changed.
    pub fn experiments(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.found.left.iter().map(|j| j.head().experiment.as_str()).collect();
        ids.dedup();
        ids
    }

    /// Journals that are not followed, and why.
    pub fn refused(&self) -> &[String] {
        &self.found.refused
    }

    /// Journals of another machine.
    pub fn of_other_machines(&self) -> &[String] {
        &self.found.of_other_machines
    }

    /// Undoes all of it. `tell` hears of each command before it runs, with the id of the execution that left it.
    pub fn undo(self, tell: &mut dyn FnMut(&str, &Change)) -> Vec<RestoreReport> {
        let tree = Tree::machine();
        let mut out = Vec::new();
        for mut journal in self.found.left {
            let head = journal.head().clone();
            let mut show = |change: &Change| {
                if let Change::Command { .. } = change {
                    tell(&head.experiment, change);
                }
            };
            let patience = CommandLimits { over: &|| false, at_least: Duration::ZERO };
            let undone = journal.undo(&tree, &self.machine, &patience, &mut show);
            out.push(RestoreReport {
                rebooted: !head.machine.is_same_boot(&self.machine),
                failure: (!undone.failed.is_empty()).then(|| still_changed(&undone.failed, &journal.paths())),
                done: undone.done,
                experiment: head.experiment,
                arm: head.arm,
            });
        }
        out
    }
}
