//! The static `narrows` for a guest: built as `cargo xtask static` builds it, or taken from where it was built before.

use super::child;
use super::interrupts::Interrupted;
use super::machine::Arch;
use super::unavailable::Unavailable;
use crate::static_build;
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Built by cargo; with a directory, taken from `DIRECTORY/TARGET/dist/narrows`.
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
        let path = directory.join(target).join("dist/narrows");
        let program = std::fs::read(&path).with_context(|| {
            format!("there is no program {}: build it with cargo xtask static --target {target}", path.display())
        })?;
        Ok(Arc::new(program))
    }

    /// Builds for several architectures at a time, which takes less than one after the other. What fails is told when a
    /// program is asked for.
    pub fn build_ahead(&self, archs: &BTreeSet<Arch>) {
        if self.built.is_some() {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let can_be_built = |arch: &Arch| static_build::lacks(arch.rust_target()).is_none();
        let archs: Vec<Arch> = archs.iter().copied().filter(can_be_built).collect();
        if archs.len() > 1
            && let Ok(programs) = build(&archs)
        {
            known.extend(archs.into_iter().zip(programs.into_iter().map(|program| Ok(Arc::new(program)))));
        }
    }

    fn build(&self, arch: Arch) -> anyhow::Result<Arc<Vec<u8>>> {
        // Held while cargo builds: two machines of one architecture build once.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = known.get(&arch) {
            // The same attempt would end in the same way.
            return built.clone().map_err(anyhow::Error::msg);
        }
        if let Some(lacks) = static_build::lacks(arch.rust_target()) {
            return Err(Unavailable::because(lacks).into());
        }
        match build(&[arch]) {
            Ok(programs) => {
                let program = Arc::new(programs.into_iter().next().context("cargo built nothing")?);
                known.insert(arch, Ok(Arc::clone(&program)));
                Ok(program)
            }
            Err(error) if error.is::<Interrupted>() => Err(error),
            Err(error) => {
                known.insert(arch, Err(format!("{error:#}")));
                Err(error)
            }
        }
    }
}

fn build(archs: &[Arch]) -> anyhow::Result<Vec<Vec<u8>>> {
    let targets: Vec<&str> = archs.iter().map(|arch| arch.rust_target()).collect();
    super::progress::print_status(&format!("building narrows for {}", targets.join(" and ")));
    let read = |path: PathBuf| std::fs::read(&path).with_context(|| format!("there is no program {}", path.display()));
    static_build::programs(&targets, child::status)?.into_iter().map(read).collect()
}
