//! The process in which inputs are tried, and how the one that started it learns how it ended.

use super::mutate::{Mutator, hash};
use super::{Arguments, DATA_LIMIT_BYTES, Fuzzer};
use anyhow::Context;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// CPU time that one input may take, seconds: a hundred times the slowest of a corpus.
const INPUT_LIMIT_S: f64 = 10.0;
/// Exit codes of a worker: something was found, and it took too long.
const FOUND: i32 = 101;
const TOO_LONG: i32 = 102;
/// Inputs of the pool, beside the corpus.
const MAX_IN_POOL: usize = 4000;

/// How a worker ended.
pub enum Ended {
    /// Nothing was found.
    Clean,
    /// What was found, as text.
    Finding(String),
}

/// What a worker did.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Report {
    pub inputs: u64,
    pub cpu_s: f64,
    pub pool: usize,
    pub slowest_s: f64,
}

impl Report {
    /// What the worker wrote last.
    pub fn read(scratch: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(scratch.join("report")).ok()?).ok()
    }

    fn write(&self, scratch: &Path) -> anyhow::Result<()> {
        Ok(fs::write(scratch.join("report"), serde_json::to_vec(self)?)?)
    }
}

/// Where the input lies that is being tried.
pub fn current(scratch: &Path) -> PathBuf {
    scratch.join("current")
}

fn message(scratch: &Path) -> PathBuf {
    scratch.join("message")
}

/// A directory of its own, in memory where there is such a file system.
pub fn scratch(name: &str) -> anyhow::Result<PathBuf> {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let directory = base.join(format!("narrows-fuzz-{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    Ok(directory)
}

/// Whether two findings are of one kind: what was said, whatever numbers stand in it.
pub fn alike(a: &str, b: &str) -> bool {
    let kind = |text: &str| -> String {
        let first = text.lines().next().unwrap_or_default();
        first.chars().filter(|c| !c.is_ascii_digit()).take(60).collect()
    };
    kind(a) == kind(b)
}

/// Waits for a worker.
pub fn wait(mut command: Command, scratch: &Path) -> anyhow::Result<Ended> {
    fs::remove_file(message(scratch)).ok();
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().context("cannot start a worker")?;
    if output.status.success() {
        return Ok(Ended::Clean);
    }
    let said = fs::read_to_string(message(scratch)).unwrap_or_default();
    Ok(Ended::Finding(finding(output.status, &said, &String::from_utf8_lossy(&output.stderr))))
}

fn finding(status: ExitStatus, said: &str, stderr: &str) -> String {
    match (status.code(), status.signal()) {
        (Some(FOUND), _) => said.to_owned(),
        (Some(TOO_LONG), _) => format!("more than {INPUT_LIMIT_S} s of CPU for one input"),
        (_, Some(signal)) => {
            let last = stderr.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
            format!("ended by signal {signal} (too much memory, or the stack): {last}")
        }
        (code, None) => format!("ended with {code:?}: {}", stderr.trim()),
    }
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Ends the process where an input takes too long.
struct Watch(Arc<AtomicU64>);

impl Watch {
    fn start() -> Self {
        let since_ms = Arc::new(AtomicU64::new(u64::MAX));
        let watched = Arc::clone(&since_ms);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(100));
                let since = watched.load(Ordering::Relaxed);
                if since != u64::MAX && cpu_s() - since as f64 / 1e3 > INPUT_LIMIT_S {
                    std::process::exit(TOO_LONG);
                }
            }
        });
        Self(since_ms)
    }

    fn begin(&self, cpu_s: f64) {
        self.0.store((cpu_s * 1e3) as u64, Ordering::Relaxed);
    }
}

/// Tries one input, or inputs for as long as was asked; ends the process where something was found.
pub fn run(mut fuzzer: Box<dyn Fuzzer>, scratch: &Path, arguments: &Arguments) -> anyhow::Result<()> {
    let limit = Rlimit { current: Some(DATA_LIMIT_BYTES), maximum: Some(DATA_LIMIT_BYTES) };
    setrlimit(Resource::Data, limit).context("cannot limit the memory")?;
    // A core of each finding would fill the disk.
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).context("cannot limit cores")?;
    let panicked = Arc::new(Mutex::new(String::new()));
    let said = Arc::clone(&panicked);
    std::panic::set_hook(Box::new(move |info| {
        if let Ok(mut said) = said.lock() {
            *said = format!("{info}").replace('\n', " ");
        }
    }));
    let watch = Watch::start();
    let mut attempt = |input: &[u8]| -> anyhow::Result<u64> {
        fs::write(current(scratch), input)?;
        watch.begin(cpu_s());
        let wrong = match catch_unwind(AssertUnwindSafe(|| fuzzer.attempt(input))) {
            Ok(Ok(outcome)) => return Ok(outcome),
            Ok(Err(wrong)) => wrong,
            Err(_) => panicked.lock().map(|said| said.clone()).unwrap_or_default(),
        };
        fs::write(message(scratch), wrong)?;
        std::process::exit(FOUND);
    };
    if let Some(path) = &arguments.input {
        attempt(&fs::read(path)?)?;
        return Ok(());
    }
    search(&mut attempt, scratch, arguments)
}

fn search(
    attempt: &mut dyn FnMut(&[u8]) -> anyhow::Result<u64>,
    scratch: &Path,
    arguments: &Arguments,
) -> anyhow::Result<()> {
    let name = arguments.name.as_deref().unwrap_or_default();
    let maker = (super::entry(name)?.make)(scratch)?;
    let mut pool = maker.corpus();
    let corpus = pool.len();
    let seed = arguments.seed.unwrap_or(0);
    let mut mutator = Mutator::new(seed ^ hash(name.as_bytes()), maker.words(), &pool);
    let begun = Instant::now();
    let mut outcomes = HashSet::new();
    let mut report = Report::default();
    for input in pool.clone() {
        outcomes.insert(attempt(&input)?);
        report.inputs += 1;
    }
    let mut told = Instant::now();
    let all = arguments.inputs.map(|changed| corpus as u64 + changed);
    while all.map_or(begun.elapsed().as_secs() < arguments.seconds, |all| report.inputs < all) {
        let input = mutator.next(&pool);
        let before = cpu_s();
        let outcome = attempt(&input)?;
        report.inputs += 1;
        report.slowest_s = report.slowest_s.max(cpu_s() - before);
        if outcomes.insert(outcome) && pool.len() < corpus + MAX_IN_POOL {
            pool.push(input);
        }
        if told.elapsed().as_millis() > 500 {
            told = Instant::now();
            (report.cpu_s, report.pool) = (cpu_s(), pool.len());
            report.write(scratch)?;
        }
    }
    (report.cpu_s, report.pool) = (cpu_s(), pool.len());
    report.write(scratch)
}
