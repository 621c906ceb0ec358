//! Results of a guest become files on the host, and its runs become runs of the host's archive.

use super::machine::Transport;
use anyhow::{Context, bail, ensure};
use archive::Archive;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where results may have arrived.
pub struct ResultPaths<'a> {
    /// File of the virtio-serial port.
    pub port: &'a Path,
    /// Lines of base64 from the console.
    pub console: &'a [String],
    /// The images by name.
    pub images: &'a BTreeMap<String, PathBuf>,
}

/// Unpacks what a guest left in `/lab/out` into a directory, which is made.
///
/// # Errors
/// Nothing arrived, or not all of it.
pub fn unpack(transport: &Transport, arrived: &ResultPaths<'_>, into: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(into).with_context(|| format!("cannot create {}", into.display()))?;
    let (file, flags) = match transport {
        Transport::VirtioSerial => (arrived.port.to_owned(), "-xf"),
        Transport::Disk { image, .. } => {
            (arrived.images.get(image).with_context(|| format!("there is no image {image}"))?.clone(), "-xf")
        }
        Transport::Console => {
            let packed = into.join(".results.tar.gz");
            let bytes = from_base64(&arrived.console.concat()).context("results on the console are damaged")?;
            fs::write(&packed, bytes).with_context(|| format!("cannot write {}", packed.display()))?;
            (packed, "-xzf")
        }
    };
    let size = fs::metadata(&file).map(|m| m.len()).unwrap_or(0);
    let hint =
        if *transport == Transport::VirtioSerial { " (is the module virtio_console among its modules?)" } else { "" };
    ensure!(size > 0, "the guest sent no results{hint}");
    // Nobody needs the guest's owners, and only root could set them.
    let output = Command::new("tar")
        .args(["--no-same-owner", "-C"])
        .arg(into)
        .arg(flags)
        .arg(&file)
        .output()
        .context("could not run tar")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("the guest's results cannot be unpacked: {}", said.lines().next().unwrap_or("tar failed"));
    }
    Ok(())
}

/// RFC 4648, section 4; anything that is no digit of it is an error.
fn from_base64(text: &str) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0u32);
    for c in text.trim_end_matches('=').bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => bail!("{:?} is not a digit of base64", char::from(c)),
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    Ok(out)
}

/// What the lab itself has in `/lab/out`.
const OURS: [&str; 5] = ["archive", "stdout", "stderr", "setup.log", "dmesg"];

/// Copies what a command left in `/lab/out` for itself into a directory that is named as the session's; where that is.
///
/// # Errors
/// It cannot be copied.
pub fn keep_files(out: &Path, into: &Path) -> anyhow::Result<Option<PathBuf>> {
    let entries = fs::read_dir(out).with_context(|| format!("cannot read {}", out.display()))?;
    let names = entries.flatten().map(|e| e.file_name()).filter(|name| {
        let name = name.to_string_lossy();
        !name.starts_with('.') && !OURS.contains(&name.as_ref())
    });
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return Ok(None);
    }
    let kept = into.join(out.file_name().unwrap_or_default());
    if kept.exists() {
        fs::remove_dir_all(&kept).with_context(|| format!("cannot clear {}", kept.display()))?;
    }
    fs::create_dir_all(&kept).with_context(|| format!("cannot create {}", kept.display()))?;
    for name in names {
        let (from, to) = (out.join(&name), kept.join(&name));
        if from.is_dir() {
            copy_directory(&from, &to)?;
        } else {
            fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
        }
    }
    Ok(Some(kept))
}

/// What of a guest's archive is now in the host's.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ImportedRuns {
    /// Runs that were not there before.
    pub runs: Vec<String>,
    /// Paths of the pages that came with the runs.
    pub reports: Vec<PathBuf>,
}

/// Copies a directory with all that is in it.
///
/// # Errors
/// It cannot be read, or the copy not written.
pub fn copy_directory(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), &to).with_context(|| format!("cannot write {}", to.display()))?;
        }
    }
    Ok(())
}

/// Copies runs with their pages and tags. A run that is there already stays as it is: bundles never change.
///
/// # Errors
/// A bundle does not verify, or the host's archive cannot be written.
pub fn import_results(guest: &Path, host: &Archive) -> anyhow::Result<ImportedRuns> {
    let from = Archive::open(guest);
    let mut brought = ImportedRuns::default();
    for id in from.ids().context("the guest's archive cannot be read")? {
        if host.run_dir(&id).exists() {
            continue;
        }
        let verification = from.verify(&id).with_context(|| format!("run {id} of the guest"))?;
        ensure!(verification.is_clean(), "run {id} was damaged between the guest and here: {verification:?}");
        // As the archive writes its own: a reader never sees half of one.
        let to = host.run_dir(&id);
        let partial = to.with_file_name(format!(".{id}.partial"));
        if let Err(error) = copy_directory(&from.run_dir(&id), &partial) {
            let _ = fs::remove_dir_all(&partial);
            return Err(error.context(format!("run {id} cannot be kept in {}", host.directory().display())));
        }
        fs::rename(&partial, &to).with_context(|| format!("cannot keep run {id} in {}", host.directory().display()))?;
        brought.runs.push(id);
    }
    for (tag, ids) in from.tags().unwrap_or_default() {
        for id in ids.iter().filter(|id| host.run_dir(id).exists()) {
            host.tag_add(&tag, id).with_context(|| format!("tag {tag}"))?;
        }
    }
    for entry in fs::read_dir(from.reports_dir()).into_iter().flatten().flatten() {
        fs::create_dir_all(host.reports_dir()).context("cannot create the directory of pages")?;
        let to = host.reports_dir().join(entry.file_name());
        // Pages are drawn from runs, and may be drawn anew: that they are of emulated hardware is said on them.
        let page =
            fs::read_to_string(entry.path()).with_context(|| format!("cannot read {}", entry.path().display()))?;
        fs::write(&to, super::page::marked(&page)).with_context(|| format!("cannot write {}", to.display()))?;
        brought.reports.push(to);
    }
    brought.reports.sort();
    if !brought.runs.is_empty() {
        host.reindex().context("the host's index")?;
    }
    Ok(brought)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_the_rfc_has_it() {
        // RFC 4648, section 10.
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(from_base64(text).expect(text), bytes.as_bytes());
        }
        assert!(from_base64("Zm9v\u{7}").is_err());
    }

    #[test]
    fn what_a_command_left_is_kept_and_what_is_ours_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let (out, kept) = (directory.path().join("q35-7-0"), directory.path().join("kept"));
        fs::create_dir_all(out.join("archive/runs")).expect("an archive");
        fs::write(out.join("stdout"), "x").expect("a file");
        assert_eq!(keep_files(&out, &kept).expect("read"), None);
        fs::create_dir(out.join("traces")).expect("a directory");
        fs::write(out.join("traces/one"), "1").expect("a file");
        fs::write(out.join("two"), "2").expect("a file");
        let at = keep_files(&out, &kept).expect("kept").expect("something");
        assert_eq!(at, kept.join("q35-7-0"));
        assert_eq!(fs::read_to_string(at.join("traces/one")).expect("one"), "1");
        assert!(at.join("two").exists() && !at.join("stdout").exists() && !at.join("archive").exists());
    }

    #[test]
    fn results_come_by_the_port_and_by_the_console() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("out")).expect("out");
        fs::write(at("out/stdout"), "hello\n").expect("a file");
        let tar = |flags: &str, file: &str| {
            let status = Command::new("tar").arg("-C").arg(at("out")).arg(flags).arg(at(file)).arg(".").status();
            assert!(status.expect("tar").success());
        };
        tar("-cf", "port");
        tar("-czf", "packed");
        let output = Command::new("base64").arg(at("packed")).output().expect("base64");
        let lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        let images = BTreeMap::from([("spare".to_owned(), at("port"))]);
        let (port, none) = (at("port"), at("none"));
        let by_port = ResultPaths { port: &port, console: &[], images: &images };
        let by_console = ResultPaths { port: &none, console: &lines, images: &images };
        let disk = Transport::Disk { image: "spare".into(), device: "/dev/sdb".into() };
        for (i, (transport, arrived)) in
            [(Transport::VirtioSerial, &by_port), (Transport::Console, &by_console), (disk, &by_port)]
                .iter()
                .enumerate()
        {
            let into = at(&format!("in{i}"));
            unpack(transport, arrived, &into).expect("whole results");
            assert_eq!(fs::read_to_string(into.join("stdout")).expect("stdout"), "hello\n");
        }
        let nothing = unpack(&Transport::VirtioSerial, &by_console, &at("in9")).expect_err("no file").to_string();
        assert!(nothing.contains("no results"), "{nothing}");
    }
}
