//! Watches the machine while a phase runs.

use super::series_reader::SeriesReader;
use crate::listener::{Event, Listener};
use engine::{Control, Rig};
use model::{Interval, Ns, SampleSeries, SystemSample};
use observe::Sampler;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between samples of the machine.
const SAMPLE_EVERY: Duration = Duration::from_millis(250);
/// Time between two tellings of the progress.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// More than these are not held until it is time to keep them.
const MOST_INTERVALS: usize = 8192;
const MOST_SAMPLES: usize = 1024;
/// Simulated time passes fast: it is looked this often at what it brings.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Takes the intervals and samples that are new; bytes that it wrote, or why it could not.
pub type Keep<'a> = dyn FnMut(&[Interval], &[SystemSample]) -> Result<u64, String> + Send + 'a;

/// Keeps what a phase brings while it runs.
pub struct Keeping<'a> {
    /// How often.
    pub every: Duration,
    pub keep: &'a mut Keep<'a>,
}

/// What was kept of a phase while it ran.
#[derive(Debug, Default)]
pub struct Kept {
    /// Bytes that were written for it.
    pub bytes: u64,
    /// How often.
    pub times: u32,
    /// Why no more were.
    pub error: Option<String>,
}

/// What was seen of the machine while something was done.
pub struct Observation {
    /// The first was taken before it, the last after it.
    pub samples: Vec<SystemSample>,
    /// Why there are none in between: the system gave no thread for them.
    pub no_thread: Option<std::io::Error>,
    /// What was kept meanwhile.
    pub kept: Kept,
}

/// What a phase brought and is not kept yet.
struct Brought<'a> {
    keeping: Option<Keeping<'a>>,
    next: Instant,
    reader: SeriesReader,
    intervals: Vec<Interval>,
    samples: Vec<SystemSample>,
    kept: Kept,
}

impl<'a> Brought<'a> {
    fn new(keeping: Option<Keeping<'a>>) -> Self {
        let next = Instant::now() + keeping.as_ref().map_or(Duration::ZERO, |k| k.every);
        let (reader, kept) = (SeriesReader::default(), Kept::default());
        Self { keeping, next, reader, intervals: Vec::new(), samples: Vec::new(), kept }
    }

    /// Takes the intervals that are there; whether there were any.
    fn look(&mut self, control: &Control) -> bool {
        self.keeping.is_some() && self.reader.look(&control.series)
    }

    fn sampled(&mut self, sample: &SystemSample) {
        if self.keeping.is_some() {
            self.samples.push(sample.clone());
        }
    }

    /// Keeps all of it, where it is time or there is no room for more.
    fn keep_if_due(&mut self) {
        let is_full = self.samples.len() >= MOST_SAMPLES || self.reader.waiting() >= MOST_INTERVALS;
        if self.keeping.is_some() && (is_full || Instant::now() >= self.next) {
            self.keep();
        }
    }

    fn keep(&mut self) {
        let Some(Keeping { every, keep }) = &mut self.keeping else { return };
        self.intervals.extend(self.reader.take());
        match keep(&self.intervals, &self.samples) {
            Ok(bytes) => {
                self.kept.bytes += bytes;
                self.kept.times += u32::from(bytes > 0);
            }
            // What comes is not held any longer: the archive gets the phase when it has ended.
            Err(error) => self.kept.error = Some(error),
        }
        self.intervals.clear();
        self.samples.clear();
        // From its end on: an archive that is slow is not asked all the time.
        self.next = Instant::now() + *every;
        if self.kept.error.is_some() {
            self.keeping = None;
        }
    }
}

/// Runs `work` on the calling thread while a second one samples the machine, tells how far it is and keeps what comes. The
/// samples begin with one taken before the work and end with one taken after it; without a second thread there are no others.
/// A rig in simulated time gives its own samples.
pub fn observed<T>(
    rig: &mut dyn Rig,
    sampler: Option<&mut Sampler>,
    control: &Control,
    listener: &dyn Listener,
    keeping: Option<Keeping<'_>>,
    work: impl FnOnce(&mut dyn Rig) -> T,
) -> (T, Observation) {
    let Some(sampler) = sampler else { return simulated(rig, control, listener, keeping, work) };
    let started: Ns = rig.now();
    let clock = Instant::now();
    let now = move || started + u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let first = sampler.sample(now());
    let done = AtomicBool::new(false);
    // Of the watcher, or of this thread where there is no watcher.
    let sampler = Mutex::new(sampler);
    let sample = || sampler.lock().unwrap_or_else(PoisonError::into_inner).sample(now());
    if keeping.is_some() {
        control.series.open(false);
    }
    let (result, watched) = std::thread::scope(|scope| {
        let watch = || {
            let mut next = clock + SAMPLE_EVERY;
            let mut taken = SampleSeries::default();
            let mut brought = Brought::new(keeping);
            brought.sampled(&first);
            taken.push(first.clone());
            while !done.load(Ordering::Acquire) {
                std::thread::park_timeout(TELL_EVERY);
                listener.on_event(Event::PhaseRuns(control));
                if Instant::now() >= next {
                    let sample = sample();
                    brought.sampled(&sample);
                    taken.push(sample);
                    next += SAMPLE_EVERY;
                }
                brought.look(control);
                brought.keep_if_due();
            }
            let last = sample();
            brought.sampled(&last);
            let mut taken = taken.into_samples();
            taken.push(last);
            brought.look(control);
            brought.keep();
            (taken, brought.kept)
        };
        let watcher = std::thread::Builder::new().name("observer".into()).spawn_scoped(scope, watch);
        let result = work(rig);
        // Its last sample belongs to the end of the work, so it must not sleep on.
        done.store(true, Ordering::Release);
        let watched = watcher.map(|watcher| {
            watcher.thread().unpark();
            // A watcher that panicked is a defect of ours: it goes on here.
            watcher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        (result, watched)
    });
    control.series.close();
    let observation = match watched {
        Ok((samples, kept)) => Observation { samples, no_thread: None, kept },
        Err(error) => Observation { samples: vec![first, sample()], no_thread: Some(error), kept: Kept::default() },
    };
    (result, observation)
}

/// The same of what has no machine to be sampled: simulated time passes faster, and a long budget still takes minutes. The
/// simulation waits for whoever keeps what it brings. Without a second thread it is done without being told or kept.
fn simulated<T>(
    rig: &mut dyn Rig,
    control: &Control,
    listener: &dyn Listener,
    keeping: Option<Keeping<'_>>,
    work: impl FnOnce(&mut dyn Rig) -> T,
) -> (T, Observation) {
    // What the rig noted while nothing was asked of it would stand behind the first sample, and out of order.
    drop(rig.take_simulated_samples());
    let first = rig.simulated_sample();
    let done = AtomicBool::new(false);
    let mut brought = Brought::new(keeping);
    first.iter().for_each(|sample| brought.sampled(sample));
    let brought = Mutex::new(brought);
    let result = std::thread::scope(|scope| {
        let feed = brought.lock().unwrap_or_else(PoisonError::into_inner).keeping.is_some().then(|| {
            control.series.open(true);
            control.samples.open()
        });
        let (done, held, is_fed) = (&done, &brought, feed.is_some());
        let watch = move || {
            let mut brought = held.lock().unwrap_or_else(PoisonError::into_inner);
            let mut tell = Instant::now();
            loop {
                let ended = done.load(Ordering::Acquire);
                let mut any = brought.look(control);
                for sample in feed.iter().flat_map(|feed| feed.try_iter()).take(MOST_SAMPLES) {
                    any = true;
                    brought.sampled(&sample);
                }
                brought.keep_if_due();
                if Instant::now() >= tell {
                    listener.on_event(Event::PhaseRuns(control));
                    tell = Instant::now() + TELL_EVERY;
                }
                match (ended, any) {
                    (true, false) => break,
                    (false, false) => std::thread::park_timeout(if is_fed { LOOK_EVERY } else { TELL_EVERY }),
                    _ => {}
                }
            }
        };
        let watcher = std::thread::Builder::new().spawn_scoped(scope, watch);
        if watcher.is_err() {
            control.series.close();
        }
        let result = work(rig);
        done.store(true, Ordering::Release);
        if let Ok(watcher) = watcher {
            watcher.thread().unpark();
        }
        result
    });
    control.series.close();
    let mut brought = brought.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut samples: Vec<SystemSample> = first.into_iter().collect();
    samples.extend(rig.take_simulated_samples());
    if let Some(last) = rig.simulated_sample() {
        brought.sampled(&last);
        samples.push(last);
    }
    brought.keep();
    (result, Observation { samples, no_thread: None, kept: brought.kept })
}

/// One sample now.
pub fn sample(rig: &mut dyn Rig, sampler: Option<&mut Sampler>) -> Option<SystemSample> {
    match sampler {
        Some(sampler) => Some(sampler.sample(rig.now())),
        None => rig.simulated_sample(),
    }
}
