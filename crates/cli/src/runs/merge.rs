//! `narrows runs merge FROM...`: runs of other machines, by path or by ssh.

use crate::output::Output;
use archive::{Adopted, Archive, RunRef, find_bundles, is_run_id};
use model::Failure;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Bundles that one command of ssh fetches: their names must fit in its arguments.
const AT_ONCE: usize = 100;
/// A list of bundles is never longer.
const MOST_LISTED_BYTES: usize = 64 << 20;

/// What came of all sources.
#[derive(Default)]
struct Merged {
    added: usize,
    here: usize,
    /// Runs that were not taken, and why.
    left: Vec<(String, String)>,
}

/// Executes the command.
pub fn command(archive: &Archive, from: &[OsString], output: &Output) -> Result<ExitCode, Failure> {
    let mut merged = Merged::default();
    for source in from {
        match remote(source) {
            Some((host, path)) => fetch(archive, host, path, &mut merged)?,
            None => local(archive, Path::new(source), &mut merged)?,
        }
    }
    let failed: Vec<String> = merged.left.iter().map(|(id, _)| id.clone()).collect();
    let total = (
        "merged".to_owned(),
        format!("{} added, {} already here, {} not taken", merged.added, merged.here, failed.len()),
    );
    let lines: Vec<(String, String)> = merged.left.into_iter().chain([total]).collect();
    super::finish("merge", &lines, &failed, output);
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn local(archive: &Archive, path: &Path, merged: &mut Merged) -> Result<(), Failure> {
    let bundles = find_bundles(path)?;
    if bundles.is_empty() {
        return Err(Failure::usage(format!("there is no run in {}", path.display()))
            .remedy("name an archive, or a directory of bundles"));
    }
    if path.canonicalize().ok() == archive.directory().canonicalize().ok() {
        return Err(Failure::usage(format!("{} is the archive that the runs are to be merged into", path.display()))
            .remedy("--archive DIR names another one"));
    }
    take(archive, &bundles, &Archive::open(path), merged)
}

fn take(archive: &Archive, bundles: &[RunRef], of: &Archive, merged: &mut Merged) -> Result<(), Failure> {
    let mut added = BTreeSet::new();
    for bundle in bundles {
        match archive.adopt(bundle)? {
            Adopted::Added => drop(added.insert(bundle.id.clone())),
            Adopted::Duplicate => merged.here += 1,
            other => merged.left.push((bundle.id.clone(), other.to_string())),
        }
    }
    archive.end_merge(of, &added)?;
    merged.added += added.len();
    Ok(())
}

/// Host and path of `HOST:PATH`, as scp and rsync take it: no slash before the colon, and nothing of that name here.
fn remote(from: &OsStr) -> Option<(&str, &str)> {
    let (host, path) = from.to_str()?.split_once(':')?;
    (!host.is_empty() && !host.contains('/') && !Path::new(from).exists()).then_some((host, path))
}

/// Fetches what is not here into a place of its own, and takes it over from there.
fn fetch(archive: &Archive, host: &str, path: &str, merged: &mut Merged) -> Result<(), Failure> {
    let plain = |text: &str, more: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    // The other side's shell sees the path.
    if host.starts_with('-')
        || !plain(host, "-._@[]:%")
        || path.is_empty()
        || path.starts_with('-')
        || !plain(path, "-._~/+=@,")
    {
        let message = format!("{host}:{path}: host and path may hold letters, digits and -._~/+=@, only");
        return Err(Failure::usage(message).remedy("copy the archive here first: rsync -a HOST:PATH DIR"));
    }
    let path = path.trim_end_matches('/');
    let listed = ssh(host, &["ls", "-1", &format!("{path}/runs")])?;
    let ids: Vec<&str> = listed.lines().map(str::trim).filter(|id| is_run_id(id)).collect();
    if ids.is_empty() {
        return Err(
            Failure::usage(format!("there is no run in {host}:{path}/runs")).remedy("HOST:PATH names an archive")
        );
    }
    let missing: Vec<&str> = ids.iter().copied().filter(|id| !archive.has(id)).collect();
    // Whether those that are here are the same is told by their SHA256SUMS.
    let here: Vec<&str> = ids.iter().copied().filter(|id| archive.has(id)).collect();
    let Some(incoming) = archive.incoming()? else {
        return Err(
            Failure::refused("another process is merging into this archive").remedy("run it again when it is done")
        );
    };
    let runs = incoming.archive().run_dir("").display().to_string();
    for some in missing.chunks(AT_ONCE) {
        let from: Vec<String> = some.iter().map(|id| format!("{host}:{path}/runs/{id}")).collect();
        scp(&from, &runs)?;
        let bundles: Vec<RunRef> =
            find_bundles(Path::new(&runs))?.into_iter().filter(|b| some.contains(&b.id.as_str())).collect();
        let _ = scp(&[format!("{host}:{path}/tags.toml")], &incoming.archive().directory().display().to_string());
        take(archive, &bundles, incoming.archive(), merged)?;
    }
    for some in here.chunks(AT_ONCE) {
        let files: Vec<String> = some.iter().map(|id| format!("{path}/runs/{id}/SHA256SUMS")).collect();
        let theirs = ssh(host, &["cat"].into_iter().chain(files.iter().map(String::as_str)).collect::<Vec<_>>())?;
        let ours: String = some
            .iter()
            .map(|id| std::fs::read_to_string(archive.run_dir(id).join("SHA256SUMS")).unwrap_or_default())
            .collect();
        match theirs == ours {
            true => merged.here += some.len(),
            false => compare_each(archive, host, path, some, merged)?,
        }
    }
    Ok(())
}

/// Of some that are not all the same: which are not.
fn compare_each(archive: &Archive, host: &str, path: &str, ids: &[&str], merged: &mut Merged) -> Result<(), Failure> {
    for id in ids {
        let theirs = ssh(host, &["cat", &format!("{path}/runs/{id}/SHA256SUMS")])?;
        let ours = std::fs::read_to_string(archive.run_dir(id).join("SHA256SUMS")).unwrap_or_default();
        match theirs == ours {
            true => merged.here += 1,
            false => merged.left.push(((*id).to_owned(), Adopted::Conflict.to_string())),
        }
    }
    Ok(())
}

/// What a command says on another machine.
fn ssh(host: &str, command: &[&str]) -> Result<String, Failure> {
    let mut ssh = Command::new("ssh");
    ssh.args(["-o", "BatchMode=yes", "--", host]).args(command);
    let said = run(ssh, host)?;
    if said.len() > MOST_LISTED_BYTES {
        return Err(Failure::invalid(format!("{host} lists more runs than can be")));
    }
    String::from_utf8(said).map_err(|_| Failure::invalid(format!("{host} says what is no text")))
}

fn scp(from: &[String], to: &str) -> Result<(), Failure> {
    let mut scp = Command::new("scp");
    scp.args(["-rpq", "-o", "BatchMode=yes", "--"]).args(from).arg(to);
    run(scp, from.first().map_or("", String::as_str)).map(drop)
}

fn run(mut command: Command, host: &str) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output().map_err(|e| {
        Failure::environment(format!("{name} cannot be run: {e}"))
            .remedy("install OpenSSH's client, or copy the archive here first")
    })?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed").to_owned();
    Err(Failure::environment(format!("{host}: {last}"))
        .remedy(format!("ssh {} must work without a question", host.split(':').next().unwrap_or(host))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_stands_before_the_first_colon_and_a_path_stays_one() {
        let of = |text: &'static str| remote(OsStr::new(text));
        assert_eq!(of("board:.local/share/narrows"), Some(("board", ".local/share/narrows")));
        assert_eq!(of("me@board:/a:b"), Some(("me@board", "/a:b")));
        assert_eq!((of("/a:b"), of("./a:b"), of("plain"), of(":x")), (None, None, None, None));
    }
}
