//! Reads the bundles of a site: each is verified and what the site shows of it is kept, so that the next time only what changed is read.
//!
//! What was read is kept in the archive of whoever makes the site, not in the site: it has the number by which names become others.

use archive::{Archive, ArchiveError, RunRef, find_bundles, is_run_id};
use jiff::Timestamp;
use model::{CompactSort as _, Failure, LayerKind, Run, SiteProblem, SiteRun, TargetKind, facts};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Form of what is kept.
const VERSION: u32 = 2;
/// Lines of a file of what is kept: each file is read as a whole.
const LINES: usize = 20_000;
/// Threads that read.
const MOST_THREADS: usize = 8;
/// Findings of a run that are kept.
const MOST_FINDINGS: usize = 64;
/// Longer texts of a bundle are cut.
const MOST_CHARS: usize = 120;

/// What was read.
#[derive(Default)]
pub struct SiteRead {
    pub runs: Vec<SiteRun>,
    pub problems: Vec<SiteProblem>,
    /// Bundles that were read anew.
    pub read: usize,
    /// Bundles that lie in several places, each counted once.
    pub duplicates: usize,
}

/// What is known of a bundle.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Known {
    Run(Box<SiteRun>),
    Problem(SiteProblem),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    path: String,
    /// Sizes and times of its files, and its SHA256SUMS.
    stamp: String,
    /// Of its SHA256SUMS alone: the same in every place where it lies.
    sums: String,
    known: Known,
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    program: String,
    identify: bool,
    salt: String,
}

/// What is kept of a site, by the directory that it is written into.
struct Kept {
    folder: String,
    head: Head,
    entries: HashMap<String, Entry>,
}

impl Kept {
    /// What cannot be read, or is of another version, is read anew; the number by which names become others stays as long as it can be read.
    fn of(archive: &Archive, out: &Path, identify: bool) -> Result<Self, Failure> {
        let folder = format!("sites/{}", &hex(&Sha256::digest(out.as_os_str().as_encoded_bytes()))[..16]);
        let text = |name: &str| archive.read_side_file(&format!("{folder}/{name}")).ok().flatten();
        let known: Option<Head> = text("head.json").and_then(|t| serde_json::from_str(&t).ok());
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let salt = match known.as_ref().map(|head| head.salt.clone()).filter(|salt| salt.len() == 32) {
            Some(salt) => salt,
            None => new_salt()?,
        };
        let head = Head { version: VERSION, program, identify, salt };
        let same = known.is_some_and(|k| (k.version, &k.program, k.identify) == (VERSION, &head.program, identify));
        let mut entries = HashMap::new();
        for number in 0.. {
            let Some(lines) = text(&format!("{number}.jsonl")).filter(|_| same) else { break };
            let read = lines.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok());
            entries.extend(read.map(|entry| (entry.path.clone(), entry)));
        }
        Ok(Self { folder, head, entries })
    }

    fn write(&self, archive: &Archive, entries: &[Entry]) -> Result<(), Failure> {
        let cannot = |e: serde_json::Error| Failure::internal(e.to_string());
        let write =
            |name: String, text: &str| archive.write_side_file(&format!("{}/{name}", self.folder), text.as_bytes());
        write("head.json".to_owned(), &serde_json::to_string(&self.head).map_err(cannot)?)?;
        let mut parts = 0;
        for part in entries.chunks(LINES) {
            let mut text = String::new();
            for entry in part {
                text.push_str(&serde_json::to_string(entry).map_err(cannot)?);
                text.push('\n');
            }
            write(format!("{parts}.jsonl"), &text)?;
            parts += 1;
        }
        // Of a site that had more.
        archive.remove_side_file(&format!("{}/{parts}.jsonl", self.folder))?;
        Ok(())
    }
}

/// Reads all bundles below these directories. `out` is where the site will be: bundles there are not looked at twice.
///
/// # Errors
/// A directory cannot be read or holds no bundle; the archive cannot be written.
pub fn read_site(archive: &Archive, directories: &[PathBuf], out: &Path, identify: bool) -> Result<SiteRead, Failure> {
    let mut bundles: Vec<RunRef> = Vec::new();
    for directory in directories {
        let found = find_bundles(directory)?;
        if found.is_empty() {
            return Err(Failure::usage(format!("there is no run in {}", directory.display()))
                .remedy("name archives, or directories that hold archives or bundles"));
        }
        bundles.extend(found);
    }
    bundles.compact_sort_by(|a, b| a.path.cmp(&b.path));
    bundles.dedup_by(|a, b| a.path == b.path);
    let kept = Kept::of(archive, out, identify)?;
    let names = Names { salt: kept.head.salt.clone(), identify };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(MOST_THREADS));
    // Each thread takes the next bundle: those that are known take no time.
    let next = Mutex::new(0..bundles.len());
    let one = || {
        let mut mine: Vec<(usize, Entry, bool)> = Vec::new();
        while let Some(i) = next.lock().ok().and_then(|mut all| all.next()) {
            let (entry, is_new) = entry(&bundles[i], &kept.entries, &names);
            mine.push((i, entry, is_new));
        }
        mine
    };
    let mut all: Vec<(usize, Entry, bool)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
    });
    if all.len() != bundles.len() {
        return Err(Failure::internal("a thread that read bundles ended before it was done"));
    }
    all.sort_unstable_by_key(|(i, _, _)| *i);
    let read = all.iter().filter(|(_, _, is_new)| *is_new).count();
    let entries: Vec<Entry> = all.into_iter().map(|(_, entry, _)| entry).collect();
    if read > 0 || entries.len() != kept.entries.len() {
        kept.write(archive, &entries)?;
    }
    Ok(SiteRead { read, ..sorted_out(entries) })
}

/// Runs once each, and what is wrong. Two bundles of one id that differ are both said: neither is known to be the right one.
fn sorted_out(entries: Vec<Entry>) -> SiteRead {
    let mut out = SiteRead::default();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for entry in entries {
        match entry.known {
            Known::Problem(problem) => out.problems.push(problem),
            Known::Run(run) => match seen.get(&run.id) {
                Some(sums) if *sums == entry.sums => out.duplicates += 1,
                Some(_) => {
                    let why = "another run of this id is among the bundles; the first is counted".to_owned();
                    out.problems.push(SiteProblem { id: run.id.clone(), why });
                }
                None => {
                    seen.insert(run.id.clone(), entry.sums);
                    out.runs.push(*run);
                }
            },
        }
    }
    out.problems.sort();
    out
}

/// What is known of a bundle, and whether it was read now.
fn entry(bundle: &RunRef, known: &HashMap<String, Entry>, names: &Names) -> (Entry, bool) {
    let path = bundle.path.to_string_lossy().into_owned();
    let (stamp, sums) = stamp(&bundle.path);
    if let Some(entry) = known.get(&path).filter(|entry| entry.stamp == stamp) {
        return (entry.clone(), false);
    }
    let known = match read(bundle, names) {
        Ok(run) => Known::Run(Box::new(run)),
        Err(why) => Known::Problem(SiteProblem { id: bundle.id.clone(), why }),
    };
    (Entry { path, stamp, sums, known }, true)
}

fn stamp(bundle: &Path) -> (String, String) {
    let sums = std::fs::read(bundle.join("SHA256SUMS")).unwrap_or_default();
    let mut files: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(bundle).into_iter().flatten().flatten() {
        if let Ok(m) = entry.metadata() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push(format!("{name} {} {}.{} {}", m.len(), m.mtime(), m.mtime_nsec(), m.ino()));
        }
    }
    files.sort_unstable();
    let sums = hex(&Sha256::digest(&sums))[..32].to_owned();
    (hex(&Sha256::digest(format!("{sums}\n{}", files.join("\n")).as_bytes()))[..32].to_owned(), sums)
}

/// Verifies a bundle and takes from it what the site shows; why not, without a path.
fn read(bundle: &RunRef, names: &Names) -> Result<SiteRun, String> {
    if !is_run_id(&bundle.id) {
        return Err("its name is not a run's id".to_owned());
    }
    let verified = bundle.verify().map_err(|e| words(&e))?;
    if !verified.is_clean() {
        return Err(format!("it is not what was written: {verified}"));
    }
    let run = bundle.load_summary().map_err(|e| words(&e))?;
    if run.id != bundle.id {
        return Err("it says another id than its name".to_owned());
    }
    Ok(of_run(&run, bundle.order(), names))
}

/// An error without the path, which names a directory of whoever makes the site.
fn words(error: &ArchiveError) -> String {
    match error {
        ArchiveError::Io { action, source, .. } => format!("could not {action} it: {source}"),
        ArchiveError::Corrupt { line, reason, .. } => {
            let line = line.map(|line| format!(" at line {line}")).unwrap_or_default();
            format!("damaged{line}: {reason}")
        }
        ArchiveError::TooLarge { size_bytes, .. } => format!("a file has {size_bytes} bytes, more than it may have"),
        ArchiveError::UnknownSchema { found, .. } => format!("of a newer version: {}", cut(found)),
        _ => "it cannot be read".to_owned(),
    }
}

/// Numbers nobody can foresee, so that nothing leads back from a name.
fn new_salt() -> Result<String, Failure> {
    let random =
        || sys::random_u64().map_err(|e| Failure::environment(format!("no random numbers from the kernel: {e}")));
    Ok(format!("{:016x}{:016x}", random()?, random()?))
}

/// How machines and units are called.
struct Names {
    salt: String,
    identify: bool,
}

impl Names {
    /// The name, or what stands for it: the same for the same, and nothing that leads back without the salt.
    fn of(&self, kind: &str, name: &str) -> String {
        if self.identify {
            return cut(name);
        }
        let digest = Sha256::digest(format!("{}\0{kind}\0{name}", self.salt).as_bytes());
        format!("{kind} {}", &hex(&digest)[..8])
    }
}

fn of_run(run: &Run, order: u64, names: &Names) -> SiteRun {
    let of_disks = |name: &str| -> Option<String> {
        let disks = run.target.stack.layers.iter().filter(|l| l.kind == LayerKind::Disk);
        let mut all: Vec<&str> = disks.filter_map(|l| l.text(name)).map(str::trim).filter(|t| !t.is_empty()).collect();
        all.sort_unstable();
        all.dedup();
        (!all.is_empty()).then(|| cut(&all.join(" + ")))
    };
    let conclusions = crate::of_run(run);
    let findings = conclusions.findings.iter().take(MOST_FINDINGS).map(|f| (f.id.clone(), cut(&f.title)));
    let fits = conclusions.judged.fit.iter().map(|f| (f.what.clone(), f.met));
    let started = run.sessions.first().map(|s| s.started.clone());
    let key = judge::history_key(run);
    let environment = &run.environment;
    SiteRun {
        id: run.id.clone(),
        order,
        at_s: started.as_ref().and_then(|t| t.parse::<Timestamp>().ok()).map(Timestamp::as_second),
        time: started.filter(|t| t.len() <= 40),
        machine: names.of("machine", environment.hostname.as_deref().unwrap_or("without a name")),
        // One may be called as the real one that it is modelled on, and is not ranked as it.
        device: of_disks(facts::MODEL).map(|model| match run.target.kind {
            TargetKind::Sim => format!("{model} (simulated)"),
            _ => model,
        }),
        unit: of_disks(facts::SERIAL).map_or_else(String::new, |serial| names.of("unit", &serial)),
        firmware: of_disks(facts::FIRMWARE_REVISION),
        board: environment.machine.as_deref().map(cut),
        kernel: environment.kernel.as_deref().map(cut),
        workload: cut(&key.workload),
        plan: key.plan,
        validity: run.validity(),
        metrics: judge::asked_metrics(run, &[]),
        findings: findings.collect(),
        fits: fits.collect(),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MOST_CHARS).collect()
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
