//! Modules of ours for the guests' kernels (`lab/modules/NAME.c`), for what no stock module does: compiled against Debian's
//! packages of headers, which are unpacked like all others and never installed.

use super::machine::Arch;
use super::packages::{PackageLists, Store};
use super::unavailable::Unavailable;
use super::{apt, child, lock};
use anyhow::{Context, bail};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Names of the modules that there are sources of.
///
/// # Errors
/// The directory cannot be read.
pub fn names(sources: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(sources).with_context(|| format!("cannot read {}", sources.display()))?;
    let names = entries.flatten().filter_map(|e| e.file_name().to_str()?.strip_suffix(".c").map(str::to_owned));
    Ok(names.collect())
}

/// For which kernel, and where what is made is kept.
pub struct ModuleBuilder<'a> {
    /// Packages of headers come from it.
    pub store: &'a Store,
    /// Directory of the modules' sources: `lab/modules`.
    pub sources: &'a Path,
    /// A directory below `target/lab`.
    pub cache: &'a Path,
    /// Architecture of the guest, and from where its kernel is.
    pub lists: PackageLists,
    /// Its kernel, as `uname -r` says it.
    pub release: &'a str,
}

impl ModuleBuilder<'_> {
    /// The file of a module, compiled once for each kernel and text.
    ///
    /// # Errors
    /// [`Unavailable`] where it cannot be compiled on this host; else why it does not compile.
    pub fn module(&self, name: &str) -> anyhow::Result<PathBuf> {
        let source = self.sources.join(format!("{name}.c"));
        let text = fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
        let sum: String = Sha256::digest(&text).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        fs::create_dir_all(self.cache).with_context(|| format!("cannot create {}", self.cache.display()))?;
        let made = self.cache.join(format!("{}-{name}-{sum}", self.release)).join(format!("{name}.ko"));
        let _lock = lock::take(&self.cache.join("lock"), "a module is compiled")?;
        if made.exists() {
            return Ok(made);
        }
        let tree = self.tree()?;
        let work = self.cache.join("work");
        if work.exists() {
            fs::remove_dir_all(&work).with_context(|| format!("cannot clear {}", work.display()))?;
        }
        fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
        fs::write(work.join(format!("{name}.c")), text).context("cannot copy the module's source")?;
        fs::write(work.join("Kbuild"), format!("obj-m := {name}.o\n")).context("cannot write Kbuild")?;
        let mut make = child::command(&needed("make", "make")?);
        make.arg("-C").arg(&tree).arg(format!("M={}", work.display())).arg("modules");
        if child::on_path("gcc-12").is_none() {
            make.arg(format!("CC={}", needed("gcc", "gcc")?.display()));
        }
        apt::output_of(make, &format!("make of the module {name}"), || {})?;
        let directory = made.parent().context("a directory of the module")?;
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
        fs::rename(work.join(format!("{name}.ko")), &made)
            .with_context(|| format!("cannot keep {}", made.display()))?;
        Ok(made)
    }

    /// What `make` is pointed to. Debian's packages name each other by their places below `/usr`; here they are elsewhere.
    fn tree(&self) -> anyhow::Result<PathBuf> {
        let (arch, _) = self.lists;
        if arch != Arch::Amd64 || std::env::consts::ARCH != "x86_64" {
            let reason =
                "modules of ours are compiled on x86-64 for amd64 only: the programs of the kernel's build are there";
            return Err(Unavailable::because(reason).into());
        }
        let (common, kbuild) = packages_of(self.release, arch)?;
        let package = |name: &str| self.store.first_of(self.lists, name).map(|p| p.directory);
        let headers = package(&format!("linux-headers-{}", self.release))?;
        let headers = headers.join("usr/src").join(format!("linux-headers-{}", self.release));
        let common = package(&common)?.join("usr/src").join(&common);
        let kbuild = only_directory(&package(&kbuild)?.join("usr/lib"))?;
        let tree = self.cache.join(format!("tree-{}", self.release));
        if tree.exists() {
            fs::remove_dir_all(&tree).with_context(|| format!("cannot clear {}", tree.display()))?;
        }
        let shared = tree.join("common");
        fs::create_dir_all(&shared).with_context(|| format!("cannot create {}", shared.display()))?;
        let link = |from: &Path, to: &Path| {
            symlink(from, to).with_context(|| format!("cannot link {} to {}", to.display(), from.display()))
        };
        for name in [".config", ".kernelvariables", "Module.symvers", "arch", "include"] {
            link(&headers.join(name), &tree.join(name))?;
        }
        let entries = fs::read_dir(&common).with_context(|| format!("cannot read {}", common.display()))?;
        for entry in entries.flatten().filter(|e| e.file_type().is_ok_and(|kind| !kind.is_symlink())) {
            link(&entry.path(), &shared.join(entry.file_name()))?;
        }
        for name in ["scripts", "tools"] {
            link(&kbuild.join(name), &tree.join(name))?;
            link(&kbuild.join(name), &shared.join(name))?;
        }
        let makefile = format!("include {}\n", shared.join("Makefile").display());
        fs::write(tree.join("Makefile"), makefile).context("cannot write the Makefile")?;
        Ok(tree)
    }
}

/// The packages of headers that all flavours of a kernel share, and of the programs of its build.
fn packages_of(release: &str, arch: Arch) -> anyhow::Result<(String, String)> {
    let Some(version) = release.strip_suffix(&format!("-{}", arch.debian())) else {
        bail!("{release} is not a kernel of the flavour {}", arch.debian());
    };
    let series: Vec<&str> = version.splitn(3, '.').take(2).collect();
    Ok((
        format!("linux-headers-{version}-common"),
        format!("linux-kbuild-{} | linux-kbuild-{version}", series.join(".")),
    ))
}

fn needed(program: &str, package: &str) -> Result<PathBuf, Unavailable> {
    child::on_path(program).ok_or_else(|| {
        Unavailable::because(format!(
            "{program} is not installed; as root: apt-get install -y --no-install-recommends {package}"
        ))
    })
}

fn only_directory(parent: &Path) -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(parent).with_context(|| format!("cannot read {}", parent.display()))?;
    let found = entries.flatten().map(|e| e.path()).find(|p| p.join("scripts").is_dir());
    found.with_context(|| format!("there are no programs of the kernel's build in {}", parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_after_the_kernel() {
        let of = |release| packages_of(release, Arch::Amd64).expect("packages");
        assert_eq!(
            of("6.1.0-56-amd64"),
            ("linux-headers-6.1.0-56-common".into(), "linux-kbuild-6.1 | linux-kbuild-6.1.0-56".into())
        );
        assert_eq!(
            of("6.12.117+deb12-amd64"),
            ("linux-headers-6.12.117+deb12-common".into(), "linux-kbuild-6.12 | linux-kbuild-6.12.117+deb12".into())
        );
        assert!(packages_of("6.1.0-56-armmp", Arch::Armhf).is_err());
    }

    #[test]
    fn each_source_names_the_licence_that_its_symbols_take() {
        let sources = crate::workspace_root().join("lab/modules");
        let names = names(&sources).expect("sources");
        assert!(names.iter().any(|n| n == "lab_nor"), "{names:?}");
        for name in names {
            let text = fs::read_to_string(sources.join(format!("{name}.c"))).expect("a source");
            assert!(text.contains("MODULE_LICENSE(\"Dual MIT/GPL\")"), "{name}");
        }
    }
}
