//! `narrows runs merge FROM...`: runs of other machines, by path or by ssh.

use super::deletion;
use crate::output::Output;
use archive::{Adopted, Archive, RunRef, find_bundles, is_run_id};
use model::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Bundles that one command of ssh fetches: their names must fit in its arguments.
const AT_ONCE: usize = 100;
/// A list of bundles is never longer.
const MOST_LISTED_BYTES: u64 = 64 << 20;
/// Of what ssh says of an error.
const MOST_ERROR_BYTES: u64 = 16 << 10;

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
    // Archives of many machines may lie below it, each with tags of its own.
    let mut archives: BTreeMap<PathBuf, Vec<RunRef>> = BTreeMap::new();
    for bundle in bundles {
        let of = bundle.path.parent().filter(|runs| runs.ends_with("runs")).and_then(Path::parent).unwrap_or(path);
        archives.entry(of.to_owned()).or_default().push(bundle);
    }
    if path.canonicalize().ok() == archive.directory().canonicalize().ok() {
        return Err(Failure::usage(format!("{} is the archive that the runs are to be merged into", path.display()))
            .remedy("--archive DIR names another one"));
    }
    archives.iter().try_for_each(|(of, bundles)| take(archive, bundles, &Archive::open(of), merged))
}

/// Takes over bundles, the tags of those that are new, and what people acknowledged of events among them.
fn take(archive: &Archive, bundles: &[RunRef], of: &Archive, merged: &mut Merged) -> Result<(), Failure> {
    let mut added = BTreeSet::new();
    for bundle in bundles {
        conduct::room_in_archive(archive, deletion::size(&bundle.path))?;
        match archive.adopt(bundle)? {
            Adopted::Added => drop(added.insert(bundle.id.clone())),
            Adopted::Duplicate => merged.here += 1,
            other => merged.left.push((bundle.id.clone(), other.to_string())),
        }
    }
    archive.end_merge(of, &added)?;
    if let Err(failure) = conclusions::history::merge_acknowledged(archive, of) {
        merged.left.push(("acknowledged events".to_owned(), failure.to_string()));
    }
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
        // Once as they come, and once as they are kept.
        conduct::room_in_archive(archive, 2 * size_bytes(host, path, some)?)?;
        let from: Vec<String> = some.iter().map(|id| format!("{host}:{path}/runs/{id}")).collect();
        scp(&from, &runs)?;
        let bundles: Vec<RunRef> =
            find_bundles(Path::new(&runs))?.into_iter().filter(|b| some.contains(&b.id.as_str())).collect();
        for of_all in ["tags.toml", "acknowledged.json"] {
            // An archive may have none.
            let _ = scp(&[format!("{host}:{path}/{of_all}")], &incoming.archive().directory().display().to_string());
        }
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

/// What bundles take on another machine.
fn size_bytes(host: &str, path: &str, ids: &[&str]) -> Result<u64, Failure> {
    let places: Vec<String> = ids.iter().map(|id| format!("{path}/runs/{id}")).collect();
    let said = ssh(host, &["du", "-sk"].into_iter().chain(places.iter().map(String::as_str)).collect::<Vec<_>>())?;
    let kib = said.lines().filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kib.fold(0, u64::saturating_add).saturating_mul(1024))
}

/// What a command says on another machine.
fn ssh(host: &str, command: &[&str]) -> Result<String, Failure> {
    let mut ssh = Command::new("ssh");
    ssh.args(["-o", "BatchMode=yes", "--", host]).args(command);
    let said = run(ssh, host)?;
    String::from_utf8(said).map_err(|_| Failure::invalid(format!("{host} says what is no text")))
}

fn scp(from: &[String], to: &str) -> Result<(), Failure> {
    let mut scp = Command::new("scp");
    scp.args(["-rpq", "-o", "BatchMode=yes", "--"]).args(from).arg(to);
    run(scp, from.first().map_or("", String::as_str)).map(drop)
}

/// Runs a program to its end; its output has a bound, whatever the other machine sends.
fn run(mut command: Command, host: &str) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let cannot = |e: std::io::Error| {
        Failure::environment(format!("{name} cannot be run: {e}"))
            .remedy("install OpenSSH's client, or copy the archive here first")
    };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cannot)?;
    let (mut said, mut errors) = (Vec::new(), Vec::new());
    if let (Some(out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) {
        std::thread::scope(|scope| {
            // Read to its end beside: a program that cannot write an error waits.
            scope.spawn(|| {
                let _ = err.by_ref().take(MOST_ERROR_BYTES).read_to_end(&mut errors);
                let _ = std::io::copy(&mut err, &mut std::io::sink());
            });
            let read = out.take(MOST_LISTED_BYTES + 1).read_to_end(&mut said);
            if said.len() as u64 > MOST_LISTED_BYTES {
                let _ = child.kill();
            }
            read.map_err(cannot)
        })?;
    }
    let status = child.wait().map_err(cannot)?;
    if said.len() as u64 > MOST_LISTED_BYTES {
        return Err(Failure::invalid(format!("{host} sends more than {MOST_LISTED_BYTES} bytes in answer to {name}")));
    }
    if status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&errors);
    let last = errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed").to_owned();
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
