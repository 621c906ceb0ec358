//! Watches the machine while a phase runs.

use crate::progress::Progress;
use engine::{Control, Rig};
use model::{Ns, SystemSample};
use observe::Sampler;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between samples of the machine.
const SAMPLE_EVERY: Duration = Duration::from_millis(250);
/// Time between looks at the progress.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs `work` on the calling thread while a second one samples the machine and shows progress. The samples begin with
/// one taken before the work and end with one taken after it. A rig in simulated time gives its own samples.
pub fn observed<T>(
    rig: &mut dyn Rig,
    sampler: Option<&mut Sampler>,
    control: &Control,
    progress: &Progress,
    work: impl FnOnce(&mut dyn Rig) -> T,
) -> (T, Vec<SystemSample>) {
    let Some(sampler) = sampler else {
        // What the rig noted while nothing was asked of it would stand behind the first sample, and out of order.
        drop(rig.take_simulated_samples());
        let mut samples: Vec<SystemSample> = rig.simulated_sample().into_iter().collect();
        let result = work(rig);
        samples.extend(rig.take_simulated_samples());
        samples.extend(rig.simulated_sample());
        return (result, samples);
    };
    let started: Ns = rig.now();
    let clock = Instant::now();
    let now = move || started + u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut samples = vec![sampler.sample(now())];
        let watcher = scope.spawn(|| {
            let mut next = clock + SAMPLE_EVERY;
            let mut taken = Vec::with_capacity(256);
            while !done.load(Ordering::Acquire) {
                std::thread::park_timeout(LOOK_EVERY);
                progress.show(control);
                if Instant::now() >= next {
                    taken.push(sampler.sample(now()));
                    next += SAMPLE_EVERY;
                }
            }
            taken.push(sampler.sample(now()));
            taken
        });
        let result = work(rig);
        // Its last sample belongs to the end of the work, so it must not sleep on.
        done.store(true, Ordering::Release);
        watcher.thread().unpark();
        samples.extend(watcher.join().unwrap_or_default());
        (result, samples)
    })
}

/// One sample now.
pub fn sample(rig: &mut dyn Rig, sampler: Option<&mut Sampler>) -> Option<SystemSample> {
    match sampler {
        Some(sampler) => Some(sampler.sample(rig.now())),
        None => rig.simulated_sample(),
    }
}
