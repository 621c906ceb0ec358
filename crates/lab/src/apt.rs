//! apt with a state of its own: the host's sources, keys and proxies, but other lists, another architecture, and nothing that
//! acts on the host.

use super::child;
use super::interrupts::Interrupted;
use super::machine::Arch;
use super::progress::Line;
use super::space::Full;
use super::unavailable::Unavailable;
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// How long lists and what was resolved by them count as fresh.
pub const FRESH_FOR: Duration = Duration::from_secs(24 * 3600);

/// A file of sources of apt.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// `list` or `sources`: the form of its text.
    pub extension: &'static str,
    pub text: String,
}

/// apt with a state of its own.
pub struct Apt {
    directory: PathBuf,
}

impl Apt {
    /// Sets the state up for an architecture, with these sources instead of the host's if there are any.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn prepare(directory: &Path, arch: Arch, sources: &[SourceFile]) -> anyhow::Result<Self> {
        let make = |path: &str| {
            let path = directory.join(path);
            fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))
        };
        ["lists/partial", "cache/archives/partial", "parts"].into_iter().try_for_each(make)?;
        fs::write(directory.join("status"), "").context("cannot write apt's status")?;
        // The host's settings count (proxies, retries), but not its hooks, which would act on the host.
        for entry in fs::read_dir("/etc/apt/apt.conf.d").into_iter().flatten().flatten() {
            let _ = fs::copy(entry.path(), directory.join("parts").join(entry.file_name()));
        }
        let hooks = ["APT::Update::Pre-Invoke", "APT::Update::Post-Invoke", "APT::Update::Post-Invoke-Success"];
        let more = ["DPkg::Post-Invoke", "DPkg::Pre-Install-Pkgs", "Acquire::IndexTargets::deb::DEP-11"];
        let clear: String = hooks.iter().chain(&more).map(|key| format!("#clear {key};\n")).collect();
        fs::write(directory.join("parts/zz-lab"), clear).context("cannot write apt's settings")?;
        let at = directory.to_str().context("the lab's directory has a name that is not UTF-8")?;
        let arch = arch.debian();
        // No other user is needed to download, nobody installs anything.
        let mut text = format!(
            "APT::Architecture \"{arch}\";\nAPT::Architectures {{ \"{arch}\"; }};\nAPT::Sandbox::User \"\";\n\
             Dir::Etc::parts \"{at}/parts\";\nDir::State::lists \"{at}/lists\";\nDir::State::status \"{at}/status\";\n\
             Dir::Cache \"{at}/cache\";\nAcquire::Languages \"none\";\nAcquire::Retries \"2\";\n\
             Acquire::http::Timeout \"20\";\nAcquire::https::Timeout \"20\";\nAPT::Get::List-Cleanup \"false\";\n\
             APT::Update::Error-Mode \"any\";\n"
        );
        if !sources.is_empty() {
            write_sources(&directory.join("sources"), sources).context("cannot write apt's sources")?;
            text.push_str(&format!("Dir::Etc::sourcelist \"/dev/null\";\nDir::Etc::sourceparts \"{at}/sources\";\n"));
        }
        fs::write(directory.join("apt.conf"), text).context("cannot write apt's settings")?;
        Ok(Self { directory: directory.to_owned() })
    }

    fn command(&self, program: &str) -> anyhow::Result<Command> {
        let mut command = tool(program, "apt")?;
        command.env("APT_CONFIG", self.directory.join("apt.conf")).env("LC_ALL", "C");
        Ok(command)
    }

    /// Renews the lists if they are old or it is asked for; whether it did.
    ///
    /// # Errors
    /// apt cannot be run, or failed.
    pub fn renew(&self, now: bool, notes: &mut Vec<String>) -> anyhow::Result<bool> {
        let mark = self.directory.join("renewed");
        let age = fs::metadata(&mark).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if !now && age.is_some_and(|age| age < FRESH_FOR) {
            return Ok(false);
        }
        super::progress::print_status("renewing the lists of packages");
        let mut command = self.command("apt-get")?;
        command.args(["update", "-q"]);
        match output_of(command, "apt-get update", || {}) {
            Err(error) if error.is::<Interrupted>() || error.is::<Full>() => return Err(error),
            Ok(_) => fs::write(&mark, "").context("cannot write the mark of renewed lists")?,
            // One source of several may be broken; whether the rest is enough shows when a package is looked up.
            Err(error) => notes.push(format!("the lists of packages are not all fresh: {error:#}")),
        }
        Ok(true)
    }

    /// All lists that it would fetch, and what those that are there say of themselves.
    ///
    /// # Errors
    /// apt cannot be run, or failed.
    pub fn targets(&self) -> anyhow::Result<String> {
        let mut command = self.command("apt-get")?;
        command.args(["indextargets", "Created-By: Packages"]);
        let output = output_of(command, "apt-get indextargets", || {})?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What is known of a package; `None` if there is none.
    ///
    /// # Errors
    /// apt cannot be run.
    pub fn show(&self, package: &str) -> anyhow::Result<Option<PackageRecord>> {
        let mut command = self.command("apt-cache")?;
        command.args(["show", "--no-all-versions", package]);
        // It fails for a package that there is not.
        let output = child::output(command, || {})?;
        Ok(parse_shown(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Names of all packages of kernels.
    ///
    /// # Errors
    /// apt cannot be run.
    pub fn names(&self) -> anyhow::Result<Vec<String>> {
        let mut command = self.command("apt-cache")?;
        command.args(["pkgnames", "linux-image-"]);
        let output = output_of(command, "apt-cache pkgnames", || {})?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// A package that stands in for another name, as those do that were renamed when their interface changed.
    ///
    /// # Errors
    /// apt cannot be run.
    pub fn provider(&self, name: &str) -> anyhow::Result<Option<String>> {
        let mut command = self.command("apt-cache")?;
        command.args(["showpkg", name]);
        let output = child::output(command, || {})?;
        Ok(parse_provider(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Downloads into a directory of its own, so that its name is known, and moves it.
    ///
    /// # Errors
    /// apt cannot be run, or failed.
    pub fn download(&self, package: &str, to: &Path) -> anyhow::Result<String> {
        let scratch = self.directory.join("download");
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
        let mut command = self.command("apt-get")?;
        command.args(["download", "-q", package]).current_dir(&scratch);
        let mut line = Line::new(package, true);
        let arrived = || bytes_in(&scratch) + bytes_in(&self.directory.join("cache/archives/partial"));
        output_of(command, "apt-get download", || line.tick(|| format!("{} MB", arrived() / 1_000_000)))?;
        let downloaded = fs::read_dir(&scratch)?.flatten().find(|e| e.path().extension().is_some_and(|x| x == "deb"));
        let downloaded = downloaded.with_context(|| format!("apt-get download {package} left no file"))?;
        let name = downloaded.file_name().to_string_lossy().into_owned();
        fs::rename(downloaded.path(), to.join(&name)).with_context(|| format!("cannot keep {name}"))?;
        Ok(name)
    }
}

/// Sources, and none that were there before.
fn write_sources(directory: &Path, sources: &[SourceFile]) -> std::io::Result<()> {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory)?;
    for (i, source) in sources.iter().enumerate() {
        fs::write(directory.join(format!("{i}.{}", source.extension)), &source.text)?;
    }
    Ok(())
}

/// Size of the files in a directory.
fn bytes_in(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|e| e.metadata().ok()).filter(|m| m.is_file()).map(|m| m.len()).sum()
}

/// A tool of Debian.
///
/// # Errors
/// There is none, and with it no kernel; the package that has it.
pub fn tool(program: &str, package: &str) -> Result<Command, Unavailable> {
    let path = child::on_path(program).ok_or_else(|| {
        Unavailable::because(format!(
            "there is no {program} (package {package}): the lab takes its kernels from Debian's packages"
        ))
    })?;
    Ok(child::command(&path))
}

/// What a command printed; `meanwhile` is called while it runs.
///
/// # Errors
/// It cannot be run, it was interrupted, or it failed: its last words.
pub fn output_of(command: Command, name: &str, meanwhile: impl FnMut()) -> anyhow::Result<Output> {
    let output = child::output(command, meanwhile).with_context(|| format!("could not run {name}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        if let Some(line) = said.lines().find(|l| l.contains("No space left")) {
            return Err(Full::from_message(line).into());
        }
        let errors: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).collect();
        bail!("{name}: {}", errors.iter().rev().take(3).rev().copied().collect::<Vec<_>>().join("; "));
    }
    Ok(output)
}

/// The first of the packages that `apt-cache showpkg` lists as providing another.
pub fn parse_provider(text: &str) -> Option<String> {
    let providers = text.lines().skip_while(|l| !l.starts_with("Reverse Provides:")).skip(1);
    providers.map_while(|l| l.split_whitespace().next()).next().map(str::to_owned)
}

/// What `apt-cache show` says of one package.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PackageRecord {
    /// Name of the package.
    pub name: String,
    pub version: String,
    /// What it depends on, as it stands there.
    pub depends: String,
    /// Of the file.
    pub sha256: String,
    /// Of the file.
    pub size_bytes: u64,
    /// Size when unpacked.
    pub installed_bytes: u64,
}

/// The first paragraph of `apt-cache show`.
pub fn parse_shown(text: &str) -> Option<PackageRecord> {
    let mut shown = PackageRecord::default();
    for line in text.lines().take_while(|l| !l.is_empty()) {
        let Some((key, value)) = line.split_once(": ") else { continue };
        match key {
            "Package" => shown.name = value.to_owned(),
            "Version" => shown.version = value.to_owned(),
            "Depends" => shown.depends = value.to_owned(),
            "SHA256" => shown.sha256 = value.to_owned(),
            "Size" => shown.size_bytes = value.parse().unwrap_or(0),
            // Policy: in units of 1024 bytes.
            "Installed-Size" => shown.installed_bytes = value.parse::<u64>().unwrap_or(0) << 10,
            _ => {}
        }
    }
    (!shown.name.is_empty() && !shown.sha256.is_empty()).then_some(shown)
}
