//! Which archive a command works on.

use crate::archive_directory;
use crate::args::GlobalArgs;
use archive::Archive;
use model::Failure;

/// The archive of `--archive`, else of the environment.
pub fn open(global: &GlobalArgs) -> Result<Archive, Failure> {
    let directory = match &global.archive {
        Some(directory) => directory.clone(),
        None => archive_directory::usual().ok_or_else(|| {
            Failure::environment("no place for the archive: HOME is not set")
                .remedy("--archive DIR or NARROWS_ARCHIVE=DIR")
        })?,
    };
    // Paths are shown to people who may stand elsewhere, or fetch them over ssh.
    let directory = std::path::absolute(&directory).map_err(|e| {
        Failure::environment(format!("{}: {e}", directory.display()))
            .remedy("the current directory is gone: change to one that exists, or give an absolute --archive DIR")
    })?;
    Ok(Archive::open(directory))
}
