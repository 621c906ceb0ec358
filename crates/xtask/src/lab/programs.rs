//! The static `narrows` for a guest: built as `cargo xtask static` builds it, or taken from where it was built before.

use super::machine::Arch;
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// Programs of this session, each built once.
pub struct Programs {
    built: Option<PathBuf>,
    known: Mutex<BTreeMap<Arch, Vec<u8>>>,
}

impl Programs {
    /// Built by cargo; with a directory, taken from `DIRECTORY/TARGET/release/narrows`.
    pub fn new(built: Option<PathBuf>) -> Self {
        Self { built, known: Mutex::default() }
    }

    /// The program for an architecture.
    ///
    /// # Errors
    /// It cannot be built, or is not where it should be.
    pub fn get(&self, arch: Arch) -> anyhow::Result<Vec<u8>> {
        // Held while cargo builds: two machines of one architecture build once.
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(program) = known.get(&arch) {
            return Ok(program.clone());
        }
        let path = match &self.built {
            Some(directory) => directory.join(arch.rust_target()).join("release/narrows"),
            None => {
                super::progress::say(&format!("building narrows for {}", arch.rust_target()));
                crate::static_build::program(arch.rust_target())?
            }
        };
        let program = std::fs::read(&path).with_context(|| format!("there is no program {}", path.display()))?;
        known.insert(arch, program.clone());
        Ok(program)
    }
}
