//! Watches the machine while a phase runs.

use crate::listener::{Event, Listener};
use engine::{Control, Rig, SeriesReader};
use model::{Interval, Ns, SampleSeries, SystemSample};
use observe::Sampler;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between samples of the machine.
const SAMPLE_EVERY: Duration = Duration::from_millis(250);
/// Time between two tellings of the progress.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// Takes the intervals that are new, and all samples of the phase; bytes that it wrote, or why it could not.
pub type Keep<'a> = dyn FnMut(&[Interval], &[SystemSample]) -> Result<u64, String> + Send + 'a;

/// Keeps what a phase brings while it runs.
pub struct Keeping<'a> {
    /// How often.
    pub every: Duration,
    /// To where.
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

/// Runs `work` on the calling thread while a second one samples the machine and tells how far it is. The samples begin with
/// one taken before the work and end with one taken after it; without a second thread there are no others. A rig in
/// simulated time gives its own samples.
pub fn observed<T>(
    rig: &mut dyn Rig,
    sampler: Option<&mut Sampler>,
    control: &Control,
    listener: &dyn Listener,
    mut keeping: Option<Keeping<'_>>,
    work: impl FnOnce(&mut dyn Rig) -> T,
) -> (T, Observation) {
    let Some(sampler) = sampler else {
        // What the rig noted while nothing was asked of it would stand behind the first sample, and out of order.
        drop(rig.take_simulated_samples());
        let mut samples: Vec<SystemSample> = rig.simulated_sample().into_iter().collect();
        let result = told(control, listener, || work(rig));
        samples.extend(rig.take_simulated_samples());
        samples.extend(rig.simulated_sample());
        return (result, Observation { samples, no_thread: None, kept: Kept::default() });
    };
    let started: Ns = rig.now();
    let clock = Instant::now();
    let now = move || started + u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let first = sampler.sample(now());
    let done = AtomicBool::new(false);
    // Of the watcher, or of this thread where there is no watcher.
    let sampler = Mutex::new(sampler);
    let sample = || sampler.lock().unwrap_or_else(PoisonError::into_inner).sample(now());
    let (result, watched) = std::thread::scope(|scope| {
        let watch = || {
            let mut next = clock + SAMPLE_EVERY;
            let mut taken = SampleSeries::default();
            taken.push(first.clone());
            let mut series = SeriesReader::default();
            let mut kept = Kept::default();
            let mut keep_next = clock;
            while !done.load(Ordering::Acquire) {
                std::thread::park_timeout(TELL_EVERY);
                listener.hear(Event::PhaseRuns(control));
                if Instant::now() >= next {
                    taken.push(sample());
                    next += SAMPLE_EVERY.saturating_mul(taken.times_as_long().min(1 << 20) as u32);
                }
                let Some(Keeping { every, keep }) = &mut keeping else { continue };
                series.look(&control.series);
                if keep_next == clock {
                    keep_next += *every;
                }
                if Instant::now() >= keep_next && kept.error.is_none() {
                    match keep(&series.take(), taken.samples()) {
                        Ok(bytes) => {
                            kept.bytes += bytes;
                            kept.times += 1;
                        }
                        Err(error) => kept.error = Some(error),
                    }
                    // From its end on: an archive that is slow is not asked all the time.
                    keep_next = Instant::now() + *every;
                }
            }
            let mut taken = taken.into_samples();
            taken.push(sample());
            (taken, kept)
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
    let observation = match watched {
        Ok((samples, kept)) => Observation { samples, no_thread: None, kept },
        Err(error) => Observation { samples: vec![first, sample()], no_thread: Some(error), kept: Kept::default() },
    };
    (result, observation)
}

/// Tells how far it is beside what has no machine to be sampled: simulated time passes faster, and a long budget still takes
/// minutes. Without a second thread it is done without being told.
fn told<T>(control: &Control, listener: &dyn Listener, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = std::thread::Builder::new().spawn_scoped(scope, || {
            while !done.load(Ordering::Acquire) {
                std::thread::park_timeout(TELL_EVERY);
                listener.hear(Event::PhaseRuns(control));
            }
        });
        let result = work();
        done.store(true, Ordering::Release);
        if let Ok(watcher) = watcher {
            watcher.thread().unpark();
        }
        result
    })
}

/// One sample now.
pub fn sample(rig: &mut dyn Rig, sampler: Option<&mut Sampler>) -> Option<SystemSample> {
    match sampler {
        Some(sampler) => Some(sampler.sample(rig.now())),
        None => rig.simulated_sample(),
    }
}
