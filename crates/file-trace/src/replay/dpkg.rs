//! The machine's own dpkg, in a root of its own below the target.
//!
//! Nothing outside is written: the root, dpkg's knowledge and its log lie in the directory of the run, which is named by its open
//! descriptor. Scripts of packages are not run, since they would need a whole system below the root: archives that were named are made
//! anew without them.

use super::MadeData;
use super::archive::write_package;
use model::{
    EngineKind, EngineRecord, Failure, PackageEntry, PackagePart, PhasePlan, PhaseRecord, RealPackages, StopCause,
    WorkerUsage,
};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sys::{Epoch, ThreadUsage};

/// What is made in the run's directory, beside what other phases have there.
pub const ROOT: &str = "dpkg-root";
pub const ARCHIVES: &str = "dpkg-archives";

/// Whether the phase is to end.
type Stopped<'a> = &'a dyn Fn() -> bool;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// How often a command that runs is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// What is kept of what it says.
const MAX_OUTPUT: u64 = 64 << 10;

/// A phase that dpkg does.
pub struct Dpkg<'a> {
    pub phase: &'a PhasePlan,
    pub real: &'a RealPackages,
    /// The directory of the run, as other processes name it.
    here: PathBuf,
}

/// What to do without it.
const WITHOUT_DPKG: &str = "the model needs no dpkg: leave --real and package-manager out";

/// Whether this machine has it, where what it is run with is looked for.
pub fn dpkg_is_there(phase: &PhasePlan) -> Result<(), Failure> {
    if std::env::split_paths(PATH).any(|directory| directory.join("dpkg").is_file()) {
        return Ok(());
    }
    let message = format!("{}: dpkg is not installed on this machine", phase.name);
    Err(Failure::environment(message).remedy(WITHOUT_DPKG))
}

impl<'a> Dpkg<'a> {
    /// In the directory of the run.
    pub fn new(phase: &'a PhasePlan, real: &'a RealPackages, own: impl AsFd) -> Self {
        let here = format!("/proc/{}/fd/{}", std::process::id(), own.as_fd().as_raw_fd()).into();
        Self { phase, real, here }
    }

    fn failed(&self, what: impl std::fmt::Display) -> Failure {
        Failure::environment(format!("{}: {what}", self.phase.name))
    }

    fn dpkg(&self) -> Command {
        let root = self.here.join(ROOT);
        let mut command = Command::new("dpkg");
        command.args(["--force-all", "--path-include=*"]);
        command.arg(if self.real.unsafe_io { "--force-unsafe-io" } else { "--no-force-unsafe-io" });
        command.arg(format!("--root={}", root.display())).arg(format!("--log={}/var/log/dpkg.log", root.display()));
        command
    }

    /// Runs a command to its end. `None`: it was stopped.
    fn finish(&self, mut command: Command, stopped: Stopped<'_>) -> Result<Option<String>, Failure> {
        if stopped() {
            return Ok(None);
        }
        let program = command.get_program().to_string_lossy().into_owned();
        command.env_clear().env("PATH", PATH).env("LC_ALL", "C").env("DPKG_COLORS", "never");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        sys::end_with_parent(&mut command);
        let mut child = command.spawn().map_err(|e| {
            let failure = self.failed(format!("{program} cannot be started ({e})"));
            failure.remedy(WITHOUT_DPKG)
        })?;
        let (said, errors) = (output_of(child.stdout.take()), output_of(child.stderr.take()));
        let ended = loop {
            match child.try_wait().map_err(|e| self.failed(e))? {
                Some(status) => break status,
                None if stopped() => {
                    stop(&mut child);
                    return Ok(None);
                }
                None => std::thread::sleep(POLL_INTERVAL),
            }
        };
        let joined = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
        let (said, errors) = (joined(said), joined(errors));
        if !ended.success() {
            let last: Vec<&str> = errors.lines().rev().take(3).collect();
            return Err(self.failed(format!("{program} ended with {ended}: {}", last.join("; "))));
        }
        Ok(Some(said))
    }

    /// The root, and the archives, before the first part.
    pub fn prepare(&self, directory: &File, data: &mut MadeData<'_>, stopped: Stopped<'_>) -> Result<(), Failure> {
        let io = |e: io::Error| self.failed(e);
        let (root, archives) = (self.here.join(ROOT), self.here.join(ARCHIVES));
        if root.exists() {
            return Ok(());
        }
        if self.real.part != PackagePart::Install {
            return Err(needs_preinstall(self.phase));
        }
        for below in ["info", "updates", "parts", "triggers"] {
            fs::create_dir_all(root.join("var/lib/dpkg").join(below)).map_err(io)?;
        }
        fs::create_dir_all(root.join("var/log")).map_err(io)?;
        for file in ["status", "available"] {
            File::create(root.join("var/lib/dpkg").join(file)).map_err(io)?;
        }
        fs::create_dir(&archives).map_err(io)?;
        match &self.real.archives {
            Some(named) => self.without_scripts(Path::new(named), &archives, stopped)?,
            None => {
                let owner = sys::effective_ids();
                for package in self.real.made.0.iter().take_while(|_| !stopped()) {
                    let file = File::create(archives.join(format!("{}.deb", package.name))).map_err(io)?;
                    let mut out = BufWriter::with_capacity(1 << 20, file);
                    write_package(&mut out, package, data, owner).and_then(|()| out.flush()).map_err(io)?;
                }
            }
        }
        sys::sync_file_system(directory).map_err(io)
    }

    /// Archives that were named, without the scripts in them.
    fn without_scripts(&self, from: &Path, to: &Path, stopped: Stopped<'_>) -> Result<(), Failure> {
        let named = package_archives(from).map_err(|e| self.failed(format!("{}: {e}", from.display())))?;
        if named.is_empty() {
            return Err(self.failed(format!("{} holds no archive (*.deb)", from.display())));
        }
        let io = |e: io::Error| self.failed(e);
        for (index, archive) in named.iter().enumerate() {
            let whole = to.join("whole");
            let new = to.join(format!("{index:05}.deb"));
            let mut unpack = Command::new("dpkg-deb");
            unpack.arg("--raw-extract").arg(archive).arg(&whole);
            let mut pack = Command::new("dpkg-deb");
            pack.args(["--root-owner-group", "-Zgzip", "-z1", "--build"]).arg(&whole).arg(&new);
            if self.finish(unpack, stopped)?.is_none() {
                return Ok(());
            }
            for script in ["preinst", "postinst", "prerm", "postrm", "config", "triggers"] {
                match fs::remove_file(whole.join("DEBIAN").join(script)) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(self.failed(e)),
                    _ => {}
                }
            }
            check_contents(&whole).map_err(io)?;
            self.finish(pack, stopped)?;
            fs::remove_dir_all(&whole).map_err(io)?;
        }
        Ok(())
    }

    /// The packages of this part: their archives and names.
    fn packages(&self, stopped: Stopped<'_>) -> Result<Vec<(PathBuf, String)>, Failure> {
        let archives = self.here.join(ARCHIVES);
        let all = self.real.part == PackagePart::Install;
        if self.real.archives.is_none() {
            let wanted = self.real.made.0.iter().filter(|package| all || package.is_removed);
            return Ok(wanted.map(|p| (archives.join(format!("{}.deb", p.name)), p.name.clone())).collect());
        }
        let there = package_archives(&archives).map_err(|e| self.failed(e))?;
        let count = if all { there.len() } else { self.real.removed as usize };
        let mut wanted = Vec::new();
        for archive in there.into_iter().take(count) {
            let mut ask = Command::new("dpkg-deb");
            ask.args(["--show", "--showformat=${Package}:${Architecture}"]).arg(&archive);
            let name = self.finish(ask, stopped)?.unwrap_or_default();
            wanted.push((archive, name.trim_end_matches(":all").to_owned()));
        }
        Ok(wanted)
    }

    /// What of it is written at least: archives before the first part, and what is unpacked; of named archives their lengths.
    pub fn bytes(&self) -> u64 {
        let all = self.real.part == PackagePart::Install;
        if self.real.archives.is_some() {
            let archives = package_archives(&self.here.join(ARCHIVES)).unwrap_or_default();
            let length = |archive: &PathBuf| fs::metadata(archive).map_or(0, |held| held.len());
            return if all { archives.iter().map(length).sum() } else { 0 };
        }
        let wanted = self.real.made.0.iter().filter(|package| all || package.is_removed);
        let files = wanted.flat_map(|package| &package.entries);
        let bytes: u64 = files.map(|(_, what)| if let PackageEntry::File(bytes) = what { *bytes } else { 0 }).sum();
        match self.real.part {
            PackagePart::Install => 2 * bytes,
            PackagePart::Remove => 0,
            PackagePart::Reinstall => bytes,
        }
    }

    /// The part itself, with how long it took.
    pub fn run(&self, epoch: Epoch, stopped: Stopped<'_>) -> Result<PhaseRecord, Failure> {
        let packages = self.packages(stopped)?;
        let version = self.finish(self.version(), stopped)?.unwrap_or_default();
        let before = sys::children_usage();
        let started_ns = epoch.elapsed_ns();
        let mut commands = Vec::new();
        if self.real.part == PackagePart::Remove {
            let mut remove = self.dpkg();
            remove.arg("--remove").args(packages.iter().map(|(_, name)| name));
            commands.push(remove);
        } else {
            let (mut unpack, mut configure) = (self.dpkg(), self.dpkg());
            unpack.arg("--unpack").args(packages.iter().map(|(archive, _)| archive));
            configure.args(["--configure", "--pending"]);
            commands.extend([unpack, configure]);
        }
        let mut stop = StopCause::RegionDone;
        for command in commands {
            if self.finish(command, stopped)?.is_none() {
                stop = StopCause::Interrupted;
                break;
            }
        }
        let ended_ns = epoch.elapsed_ns();
        let version = version.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let features = vec![format!("dpkg {}", version.unwrap_or_default())];
        Ok(PhaseRecord {
            started_ns,
            ended_ns,
            operations: packages.len() as u64,
            stop,
            usage: used_since(&before),
            engine: EngineRecord { kind: EngineKind::Files, features, ..EngineRecord::default() },
            ..PhaseRecord::default()
        })
    }

    fn version(&self) -> Command {
        let mut version = Command::new("dpkg");
        version.arg("--version");
        version
    }
}

fn used_since(before: &ThreadUsage) -> WorkerUsage {
    let after = sys::children_usage();
    WorkerUsage {
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        ..WorkerUsage::default()
    }
}

/// Archives of a directory, in the order of their names.
fn package_archives(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        found.extend(Some(path).filter(|path| path.extension().is_some_and(|ending| ending == "deb")));
    }
    found.sort();
    Ok(found)
}

/// Makes what an archive holds harmless before dpkg, which follows links also out of its root, unpacks it: symbolic links that do not lead
/// straight down lead to `nowhere`, what is neither file, directory nor link goes, and nobody's rights are lent.
fn check_contents(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let held = entry.metadata()?;
        if held.is_dir() {
            check_contents(&path)?;
        } else if held.is_symlink() {
            let leads_down = fs::read_link(&path)?.components().all(|part| matches!(part, Component::Normal(_)));
            if !leads_down {
                fs::remove_file(&path)?;
                symlink("nowhere", &path)?;
            }
        } else if !held.is_file() {
            fs::remove_file(&path)?;
        } else if held.mode() & 0o7000 != 0 {
            fs::set_permissions(&path, fs::Permissions::from_mode(held.mode() & 0o777))?;
        }
    }
    Ok(())
}

/// What the archives of a directory take, unpacked and as they are: they are compressed to a quarter at most.
pub fn room_for(archives: &str) -> u64 {
    let named = package_archives(Path::new(archives)).unwrap_or_default();
    named.iter().filter_map(|archive| fs::metadata(archive).ok()).map(|held| held.len().saturating_mul(5)).sum()
}

/// What comes through a pipe, read as it comes so that nobody waits for it.
fn output_of(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let Some(mut pipe) = pipe else { return String::new() };
        let mut said = Vec::new();
        let _ = (&mut pipe).take(MAX_OUTPUT).read_to_end(&mut said);
        let _ = io::copy(&mut pipe, &mut io::sink());
        String::from_utf8_lossy(&said).into_owned()
    })
}

/// Ends a command and what it started.
fn stop(child: &mut Child) {
    sys::kill_group(child.id());
    let _ = child.wait();
}

/// Packages of which nobody knows what an earlier phase left.
pub fn needs_preinstall(phase: &PhasePlan) -> Failure {
    let message = format!("{}: no packages were installed before", phase.name);
    Failure::environment(message).remedy("let the phase that installs them run first")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_archive_holds_leads_nowhere_else_and_lends_no_rights() {
        let top = tempfile::tempdir().unwrap();
        let below = top.path().join("usr/lib");
        fs::create_dir_all(&below).unwrap();
        for (target, name) in [("/etc", "out"), ("../../../etc", "up"), ("lib.so.1", "same"), ("a/../../x", "mixed")] {
            symlink(target, below.join(name)).unwrap();
        }
        let tool = below.join("tool");
        fs::write(&tool, b"x").unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o4755)).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(below.join("socket")).unwrap();
        check_contents(top.path()).unwrap();
        let leads = |name: &str| fs::read_link(below.join(name)).unwrap().display().to_string();
        assert_eq!(["out", "up", "same", "mixed"].map(leads), ["nowhere", "nowhere", "lib.so.1", "nowhere"]);
        assert_eq!(fs::metadata(&tool).unwrap().mode() & 0o7777, 0o755);
        assert!(fs::symlink_metadata(below.join("socket")).is_err());
    }
}
