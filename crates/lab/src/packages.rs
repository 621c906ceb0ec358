//! Debian packages, fetched as the user and unpacked below `target/lab`; nothing is installed.
//!
//! apt has a state of its own there, with the host's sources and keys: whatever mirrors, proxies and pins the host uses are
//! used here too. A kernel may come from the backports of the host's release, which have a state beside that one: nothing else
//! changes by them. The lists are renewed once a day. apt checks what it downloads against signed lists; the sum is kept and
//! checked again whenever a package is unpacked from the cache.

use super::apt::{Apt, FRESH_FOR, PackageRecord, output_of, tool};
use super::backports;
use super::interrupts::Interrupted;
use super::machine::{Arch, Archive};
use super::mistakes::did_you_mean;
use super::space::Full;
use super::unavailable::Unavailable;
use super::{lock, space};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// What must stay free on the disk beside a package.
const SPARE_BYTES: u64 = 256 << 20;

/// The store below `target/lab`.
pub struct Store {
    directory: PathBuf,
    /// Held while a package is fetched. Whose lists it was tried to renew: once is enough, and without a network it takes its
    /// time.
    renewed: Mutex<BTreeSet<PackageLists>>,
}

/// Lists of packages: whose, and from where.
pub type PackageLists = (Arch, Archive);

/// A package on disk.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name; for a meta package that of the package it stands for.
    pub name: String,
    pub version: String,
    /// Where it is unpacked.
    pub directory: PathBuf,
    /// What is worth knowing about how it was found.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    name: String,
    version: String,
    file: String,
    sha256: String,
    resolved_unix_s: u64,
}

impl Store {
    /// The store in a directory, which need not be there yet.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), renewed: Mutex::default() }
    }

    /// A package of an archive, unpacked; a meta package of the kernel means the newest of its series.
    ///
    /// # Errors
    /// [`Unavailable`] when it is neither in the cache nor to be had, or a tool of Debian is missing; else what stands in the
    /// way on this host: a full disk, a place that cannot be written to.
    pub fn get(&self, lists: PackageLists, asked: &str) -> anyhow::Result<Package> {
        let packages = self.directory.join("packages");
        fs::create_dir_all(&packages).with_context(|| space::refused(&packages))?;
        // One at a time: two runs that start together download once.
        let mut renewed = self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        let _lock = lock::take(&self.directory.join("packages.lock"), "packages are fetched")?;
        let mut notes = Vec::new();
        let entry = self.resolved(lists, asked, &mut renewed, &mut notes)?;
        if asked.starts_with("linux-image-") && entry.name != asked {
            notes.push(format!("{asked} is {} {}", entry.name, entry.version));
        }
        let directory = self.unpacked(&entry)?;
        Ok(Package { name: entry.name, version: entry.version, directory, notes })
    }

    /// The first of these alternatives (`a | b`, as Debian writes them) that is to be had: what a release has in its name.
    ///
    /// # Errors
    /// Those of [`Self::get`] for the first of them.
    pub fn first_of(&self, lists: PackageLists, alternatives: &str) -> anyhow::Result<Package> {
        let mut names = alternatives.split('|').map(str::trim);
        let first = self.get(lists, names.next().unwrap_or_default());
        names.fold(first, |found, name| match found {
            Err(error) if error.is::<Unavailable>() => self.get(lists, name).map_err(|_| error),
            found => found,
        })
    }

    fn resolved(
        &self,
        lists: PackageLists,
        asked: &str,
        renewed: &mut BTreeSet<PackageLists>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Entry> {
        let manifest_path = self.directory.join("packages/manifest.json");
        let mut manifest: BTreeMap<String, Entry> = match fs::read(&manifest_path) {
            // A manifest that cannot be read costs a download, nothing else.
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(_) => BTreeMap::new(),
        };
        let key = format!("{}/{asked}", name_of(lists));
        // What stands in for one name may have been fetched for another.
        manifest.retain(|_, entry| self.file(entry).exists());
        let kept = manifest.get(&key).cloned();
        if let Some(entry) = kept.as_ref().filter(|e| is_fresh(e.resolved_unix_s)) {
            return Ok(entry.clone());
        }
        let cached: Vec<Entry> = manifest.values().cloned().collect();
        let apt = self.apt(lists, renewed, notes);
        match apt.and_then(|apt| self.fetched(&apt, (lists, renewed), asked, &cached, notes)) {
            Ok(entry) => {
                manifest.insert(key, entry.clone());
                let text = serde_json::to_vec_pretty(&manifest).context("the manifest of packages")?;
                fs::write(&manifest_path, text).with_context(|| format!("cannot write {}", manifest_path.display()))?;
                Ok(entry)
            }
            // Nothing that the cache could help with.
            Err(error) if error.is::<Interrupted>() || error.is::<Full>() => Err(error),
            Err(error) => match kept {
                Some(entry) => {
                    notes.push(format!("{asked}: taken from the cache, because it could not be asked for: {error:#}"));
                    Ok(entry)
                }
                None if error.chain().any(|cause| cause.is::<std::io::Error>()) => Err(error),
                None => {
                    let because: Vec<String> = notes.drain(..).chain([format!("{error:#}")]).collect();
                    let (lists, because) = (name_of(lists), because.join("; "));
                    let remedy = "the lab needs the network, or a cache from an earlier run";
                    Err(Unavailable::because(format!("{asked} ({lists}) cannot be had: {because}; {remedy}")).into())
                }
            },
        }
    }

    /// The state of apt that has these lists.
    fn apt(
        &self,
        (arch, archive): PackageLists,
        renewed: &mut BTreeSet<PackageLists>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Apt> {
        let state = |archive| self.directory.join("apt").join(name_of((arch, archive)));
        let release = Apt::prepare(&state(Archive::Release), arch, &[])?;
        if archive == Archive::Release {
            return Ok(release);
        }
        // Which of the host's sources are Debian's, and of which release, is in their lists.
        let of_release = (arch, Archive::Release);
        if !renewed.contains(&of_release) && release.renew(false, notes)? {
            renewed.insert(of_release);
        }
        Apt::prepare(&state(archive), arch, &backports::sources(&release.targets()?)?)
    }

    /// Asks apt, and downloads what is not in the cache.
    fn fetched(
        &self,
        apt: &Apt,
        (lists, renewed): (PackageLists, &mut BTreeSet<PackageLists>),
        asked: &str,
        cached: &[Entry],
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Entry> {
        if !renewed.contains(&lists) && apt.renew(false, notes)? {
            renewed.insert(lists);
        }
        match self.fetched_by_lists(apt, asked, cached, notes) {
            // Lists of this morning may name a file that the mirror has replaced since.
            Err(error) if !renewed.contains(&lists) && !error.is::<Interrupted>() && !error.is::<Full>() => {
                apt.renew(true, notes)?;
                renewed.insert(lists);
                self.fetched_by_lists(apt, asked, cached, notes)
            }
            other => other,
        }
    }

    fn fetched_by_lists(
        &self,
        apt: &Apt,
        asked: &str,
        cached: &[Entry],
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Entry> {
        let mut shown = match apt.show(asked)? {
            Some(shown) => shown,
            None => {
                let (other, why) = self.instead_of(apt, asked)?;
                notes.push(format!("{asked} is gone; {why} {other}"));
                apt.show(&other)?.with_context(|| format!("there is no package {other}"))?
            }
        };
        if let Some(real) = kernel_behind(&shown) {
            shown = apt.show(&real)?.with_context(|| format!("{} depends on {real}, which is gone", shown.name))?;
        }
        let resolved_unix_s = unix_now();
        if let Some(kept) = cached.iter().find(|k| (&k.name, &k.sha256) == (&shown.name, &shown.sha256)) {
            return Ok(Entry { resolved_unix_s, ..kept.clone() });
        }
        let needed = shown.size_bytes + shown.installed_bytes + SPARE_BYTES;
        space::require(&self.directory, needed, &shown.name)?;
        super::progress::print_status(&format!("downloading {} ({:.1} MB)", shown.name, shown.size_bytes as f64 / 1e6));
        let file = apt.download(&shown.name, &self.directory.join("packages"))?;
        let entry = Entry { name: shown.name, version: shown.version, file, sha256: shown.sha256, resolved_unix_s };
        self.verify(&entry)?;
        Ok(entry)
    }

    /// What stands in for a package that is gone, and as what.
    fn instead_of(&self, apt: &Apt, asked: &str) -> anyhow::Result<(String, &'static str)> {
        let kernels = apt.names()?;
        if let Some(newest) = newest_of_series(asked, &kernels) {
            return Ok((newest, "the newest of its series is"));
        }
        if let Some(provider) = apt.provider(asked)? {
            return Ok((provider, "it is provided by"));
        }
        let meant = did_you_mean(asked, kernels.iter().map(String::as_str));
        bail!("there is no package {asked} in these sources{meant}")
    }

    fn file(&self, entry: &Entry) -> PathBuf {
        self.directory.join("packages").join(&entry.file)
    }

    /// # Errors
    /// The file differs from what was downloaded; it is removed, so that the next run fetches it again.
    fn verify(&self, entry: &Entry) -> anyhow::Result<()> {
        let path = self.file(entry);
        let sum = sha256(&path)?;
        if sum != entry.sha256 {
            let _ = fs::remove_file(&path);
            bail!("{}: its SHA-256 is {sum}, not {}; removed, run again", path.display(), entry.sha256);
        }
        Ok(())
    }

    fn unpacked(&self, entry: &Entry) -> anyhow::Result<PathBuf> {
        let stem = entry.file.strip_suffix(".deb").unwrap_or(&entry.file);
        let directory = self.directory.join("unpacked").join(stem);
        // The sum is written last: a directory without it is the rest of an interrupted run.
        let mark = directory.join(".unpacked-from");
        if fs::read_to_string(&mark).is_ok_and(|sum| sum == entry.sha256) {
            return Ok(directory);
        }
        self.verify(entry)?;
        if directory.exists() {
            fs::remove_dir_all(&directory).with_context(|| format!("cannot clear {}", directory.display()))?;
        }
        fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let mut command = tool("dpkg-deb", "dpkg")?;
        command.arg("-x").arg(self.file(entry)).arg(&directory);
        output_of(command, "dpkg-deb", || {})?;
        fs::write(&mark, &entry.sha256).with_context(|| format!("cannot write {}", mark.display()))?;
        Ok(directory)
    }
}

/// What they are called in the manifest, and where apt keeps them.
fn name_of((arch, archive): PackageLists) -> String {
    match archive {
        Archive::Release => arch.debian().to_owned(),
        Archive::Backports => format!("{}-backports", arch.debian()),
    }
}

fn unix_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

fn is_fresh(since_unix_s: u64) -> bool {
    unix_now().checked_sub(since_unix_s).is_some_and(|age| age < FRESH_FOR.as_secs())
}

/// SHA-256 of a file, in hexadecimal.
fn sha256(path: &Path) -> anyhow::Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).with_context(|| format!("cannot read {}", path.display()))? {
            0 => break,
            n => hash.update(&buffer[..n]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The kernel that a meta package stands for.
fn kernel_behind(shown: &PackageRecord) -> Option<String> {
    // A kernel's own package depends on tools, never on another kernel.
    let names = shown.depends.split(',').filter_map(|d| d.split_whitespace().next());
    names.filter(|n| n.starts_with("linux-image-")).map(str::to_owned).next()
}

/// `linux-image-6.1.0-20-amd64` as series (`6.1`, `amd64`) and the numbers that its members differ in.
fn series(package: &str) -> Option<((String, String), Vec<u64>)> {
    let rest = package.strip_prefix("linux-image-")?;
    // The flavour begins with the first part that does not begin with a digit; a backport's version has letters inside
    // (`6.12.90+deb12.1`).
    let parts: Vec<&str> = rest.split('-').collect();
    let of_version = parts.iter().take_while(|part| part.starts_with(|c: char| c.is_ascii_digit())).count();
    let (version, flavour) = parts.split_at(of_version);
    let version = version.join("-");
    let numbers: Vec<u64> = version.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    let series = format!("{}.{}", numbers.first()?, numbers.get(1)?);
    Some(((series, flavour.join("-")), numbers))
}

/// The newest package of the same series and flavour.
fn newest_of_series(asked: &str, names: &[String]) -> Option<String> {
    let (wanted, _) = series(asked)?;
    let of_series = names.iter().filter_map(|name| Some((name, series(name)?)));
    of_series.filter(|(_, (s, _))| *s == wanted).max_by_key(|(_, (_, n))| n.clone()).map(|(name, _)| name.clone())
}

#[cfg(test)]
mod tests {
    use super::super::apt::{parse_provider, parse_shown};
    use super::*;

    const META: &str = "Package: linux-image-amd64\nVersion: 6.1.1-1\nInstalled-Size: 13\n\
        Depends: linux-image-6.1.0-50-amd64 (= 6.1.1-1), x\nSize: 1484\nSHA256: 5bdf\n\nPackage: other\nSHA256: 0\n";

    #[test]
    fn a_meta_package_leads_to_its_kernel() {
        let shown = parse_shown(META).expect("a package");
        assert_eq!(
            (shown.name.as_str(), shown.size_bytes, shown.installed_bytes),
            ("linux-image-amd64", 1484, 13 << 10)
        );
        assert_eq!(kernel_behind(&shown).as_deref(), Some("linux-image-6.1.0-50-amd64"));
        let real = parse_shown("Package: linux-image-6.1.0-50-amd64\nDepends: kmod, linux-base (>= 4.3)\nSHA256: 1\n");
        assert_eq!(kernel_behind(&real.expect("a package")), None);
        assert_eq!(parse_shown("N: Unable to locate package x\n"), None);
    }

    #[test]
    fn a_package_that_was_renamed_is_found_by_what_it_provides() {
        let said = "Package: libext2fs2\nVersions: \n\nReverse Depends: \n  e2fsprogs,libext2fs2 1.47\nDependencies: \n\
            Provides: \nReverse Provides: \nlibext2fs2t64 1.47.2-3+b3 (= 1.47.2-3+b3)\n";
        assert_eq!(parse_provider(said).as_deref(), Some("libext2fs2t64"));
        assert_eq!(parse_provider("Package: libc6\nProvides: \nReverse Provides: \n"), None);
        assert_eq!(parse_provider(""), None);
    }

    #[test]
    fn a_kernel_that_is_gone_is_replaced_within_its_series() {
        let names = [
            "linux-image-6.1.0-9-amd64",
            "linux-image-6.1.0-50-amd64",
            "linux-image-6.1.0-51-rt-amd64",
            "linux-image-6.1.0-52-cloud-amd64",
            "linux-image-6.12.1-amd64",
            "linux-image-6.1.0-60-amd64-dbg",
            "linux-image-6.12.90+deb12-amd64",
            "linux-image-6.12.90+deb12.1-amd64",
            "linux-image-6.12.95+deb12-rt-amd64",
            "linux-image-6.12.95+deb12-amd64-unsigned",
            "linux-image-6.12-amd64",
        ]
        .map(str::to_owned);
        let newest = |asked| newest_of_series(asked, &names);
        assert_eq!(newest("linux-image-6.1.0-20-amd64").as_deref(), Some("linux-image-6.1.0-50-amd64"));
        assert_eq!(newest("linux-image-6.1.0-20-rt-amd64").as_deref(), Some("linux-image-6.1.0-51-rt-amd64"));
        assert_eq!(newest("linux-image-6.12.43+deb12-amd64").as_deref(), Some("linux-image-6.12.90+deb12.1-amd64"));
        assert_eq!(newest("linux-image-6.12.43+deb12-rt-amd64").as_deref(), Some("linux-image-6.12.95+deb12-rt-amd64"));
        assert_eq!(newest("linux-image-5.10.0-20-amd64"), None);
        assert_eq!(newest("linux-image-amd64"), None);
    }

    #[test]
    fn a_package_that_changed_on_disk_is_not_used() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::new(directory.path());
        fs::create_dir(directory.path().join("packages")).expect("packages");
        fs::write(directory.path().join("packages/x.deb"), "abc").expect("x.deb");
        // FIPS 180-2, appendix B.1.
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let mut entry = Entry {
            name: "x".into(),
            version: "1".into(),
            file: "x.deb".into(),
            sha256: sum.into(),
            resolved_unix_s: unix_now(),
        };
        store.verify(&entry).expect("as it was");
        assert!(is_fresh(entry.resolved_unix_s) && !is_fresh(0) && !is_fresh(u64::MAX));
        entry.sha256 = sum.replace('b', "c");
        let error = store.verify(&entry).expect_err("another sum").to_string();
        assert!(error.contains("removed"), "{error}");
        assert!(!store.file(&entry).exists());
    }
}
