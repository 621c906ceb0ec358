//! The static `narrows` for a guest: built as `cargo xtask static` builds it, or taken from where it was built before.

use super::child;
use super::interrupts::Interrupted;
use super::machine::Arch;
use super::unavailable::Unavailable;
use crate::static_build;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A program, or why there is none.
type Built = Result<Arc<Vec<u8>>, String>;

/// Programs of this session, each built once.
pub struct Programs {
    built: Option<PathBuf>,
    known: Mutex<BTreeMap<Arch, Built>>,
}

impl Programs {
    /// Built by cargo; with a directory, taken from `DIRECTORY/TARGET/release/narrows`.
    pub fn new(built: Option<PathBuf>) -> Self {
        Self { built, known: Mutex::default() }
    }

    /// The program for an architecture.
    ///
    /// # Errors
    /// [`Unavailable`] when this host cannot build for it; else it does not compile, or is not where it should be.
    pub fn get(&self, arch: Arch) -> anyhow::Result<Arc<Vec<u8>>> {
        let target = arch.rust_target();
        let Some(directory) = &self.built else { return self.build(arch) };
        let path = directory.join(target).join("release/narrows");
        let program = std::fs::read(&path).with_context(|| {
            format!("there is no program {}: build it with cargo xtask static --target {target}", path.display())
        })?;
        Ok(Arc::new(program))
    }

    fn build(&self, arch: Arch) -> anyhow::Result<Arc<Vec<u8>>> {
        let target = arch.rust_target();
        // Held while cargo builds: two machines of one architecture build once.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = known.get(&arch) {
            // The same attempt would end in the same way.
            return built.clone().map_err(anyhow::Error::msg);
        }
        if let Some(lacks) = static_build::lacks(target) {
            return Err(Unavailable::because(lacks).into());
        }
        super::progress::say(&format!("building narrows for {target}"));
        let built = static_build::program(target, child::status)
            .and_then(|path| std::fs::read(&path).with_context(|| format!("there is no program {}", path.display())));
        match built {
            Ok(program) => {
                let program = Arc::new(program);
                known.insert(arch, Ok(Arc::clone(&program)));
                Ok(program)
            }
            Err(error) if error.is::<Interrupted>() => Err(error),
            Err(error) => {
                known.insert(arch, Err(format!("{error:#}")));
                bail!(error)
            }
        }
    }
}
