//! One measurement of one way.

use super::way::{Appending, Direct, FilePerFrame, Way, create};
use super::writer::{WrittenFrames, write};
use super::{FramesEvent, FramesMeasured, FramesWanted, OVERHEAD_BYTES, frames_in};
use crate::{Input, RecordEvent, Recorded, Recording, open_device, record};
use conduct::Interrupts;
use conduct::workspace::{CONTAINER, GROWING, RESERVED, Workspace};
use model::{Failure, FrameWay};
use recorder::input::{Generated, RingFull, generate};
use recorder::{FrameChannel, Ring, StreamCounters, WhenFull};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::{Epoch, EventFd, process_usage};

/// How often it is looked at whether it is to end.
const LOOK: Duration = Duration::from_millis(20);

/// Where all is measured.
pub(super) struct FramesSetup<'a> {
    pub wanted: &'a FramesWanted<'a>,
    /// In a directory.
    pub workspace: Option<&'a Workspace>,
    pub interrupts: &'a Interrupts,
    pub tell: &'a dyn Fn(FramesEvent<'_>),
}

/// Something of this program failed, or the user's target may not be written to.
fn environment(what: &str, e: &io::Error) -> Failure {
    Failure::environment(format!("{what}: {e}"))
}

impl FramesSetup<'_> {
    /// Writes frames in a way, at a rate or as fast as it goes. What the storage says ends it, and is in the result.
    ///
    /// # Errors
    /// The target may not be written to.
    pub fn measure(&self, way: FrameWay, frames_per_s: Option<f64>) -> Result<FramesMeasured, Failure> {
        let study = self.wanted.study;
        let cameras = Generated {
            streams: study.cameras,
            frame_bytes: study.frame_bytes,
            frames_per_s,
            jitter: study.jitter,
            burst: 1,
            frames: Some(frames_in(study, frames_per_s)),
            seed: self.wanted.seed,
        };
        let cpu = || {
            let usage = process_usage();
            usage.user_ns + usage.system_ns
        };
        let before = cpu();
        let measured = match way {
            FrameWay::Container => self.container(cameras)?,
            _ => self.plain(way, cameras)?,
        };
        if let Some(workspace) = self.workspace {
            workspace.clear();
        }
        Ok(FramesMeasured { cpu_ns: cpu().saturating_sub(before), ..measured })
    }

    fn container(&self, cameras: Generated) -> Result<FramesMeasured, Failure> {
        let study = self.wanted.study;
        let path = self.workspace.map(|workspace| workspace.path.join(CONTAINER));
        let recording = Recording {
            target: path.as_deref().map_or(self.wanted.target, |path| path.as_os_str()),
            consent: self.wanted.consent,
            anew: true,
            size: path.is_some().then_some(study.room_bytes + OVERHEAD_BYTES / 2),
            keep_size: false,
            segment: None,
            largest_frame: 2 * study.frame_bytes,
            when_full: Some(WhenFull::Stop),
            ring_bytes: Some(study.ring_bytes),
            max_latency_ns: study.max_latency_ns,
            time_ns: Some(study.time_ns),
            inputs: vec![Input::Cameras(cameras)],
            ring_full: RingFull::Wait,
            real_time: false,
            nice: None,
            cpus: None,
            limits: Vec::new(),
            defer: Vec::new(),
            defer_at_most_ns: 0,
            temporary: true,
            bounds: None,
        };
        let recorded = record(&recording, self.interrupts, &|event| {
            if let RecordEvent::WillBeLost(loss) = event {
                (self.tell)(FramesEvent::WillBeLost(loss));
            }
        })?;
        Ok(of_recorded(recorded))
    }

    fn plain(&self, way: FrameWay, cameras: Generated) -> Result<FramesMeasured, Failure> {
        let study = self.wanted.study;
        let largest = 2 * study.frame_bytes;
        let _device;
        let made: io::Result<Box<dyn Way + Send>> = match self.workspace {
            Some(workspace) => {
                let file = |name: &str| create(&workspace.path.join(name));
                match way {
                    FrameWay::FilePerFrame => FilePerFrame::new(&workspace.path).map(|w| Box::new(w) as _),
                    FrameWay::GrowingFile => file(GROWING).map(|file| Box::new(Appending(file)) as _),
                    _ => file(RESERVED)
                        .and_then(|file| Direct::new(file, Some(study.room_bytes), largest))
                        .map(|w| Box::new(w) as _),
                }
            }
            None => {
                let (device, own) = self.device()?;
                _device = own;
                match way {
                    FrameWay::Direct => Direct::new(device, None, largest).map(|w| Box::new(w) as _),
                    _ => Ok(Box::new(Appending(device)) as _),
                }
            }
        };
        match made {
            Ok(way) => self.write(way, cameras),
            Err(e) => Ok(FramesMeasured { failed: Some(e.to_string()), ..FramesMeasured::default() }),
        }
    }

    /// The device, admitted as for a recording, and what keeps others away.
    fn device(&self) -> Result<(File, impl Sized + use<>), Failure> {
        let target: &OsStr = self.wanted.target;
        open_device(target, self.wanted.consent, &|loss| (self.tell)(FramesEvent::WillBeLost(loss)))
    }

    fn write(&self, mut way: Box<dyn Way + Send>, cameras: Generated) -> Result<FramesMeasured, Failure> {
        let study = self.wanted.study;
        let ring = Ring::new(usize::try_from(study.ring_bytes).unwrap_or(usize::MAX))
            .map_err(|e| environment("memory of the ring", &e))?;
        let event_fd = Arc::new(EventFd::new().map_err(|e| environment("eventfd", &e))?);
        let (epoch, stop) = (Epoch::start(), Arc::new(AtomicBool::new(false)));
        let (channel, receiver) = FrameChannel::new(
            Arc::clone(&ring),
            2 * study.frame_bytes,
            epoch,
            Arc::clone(&event_fd),
            Arc::clone(&stop),
        );
        let accounts = Arc::clone(&channel.accounts);
        let ends = Instant::now() + Duration::from_nanos(study.time_ns);
        let written: WrittenFrames = std::thread::scope(|scope| {
            let (ears, interrupts, latency) = (Arc::clone(&event_fd), self.interrupts, study.max_latency_ns);
            let writer = scope.spawn(move || {
                let _elsewhere = interrupts.mask_signals();
                write(&mut *way, receiver, &ears, epoch, latency)
            });
            let producers = generate(cameras, &channel).map_err(|e| environment("no thread for a producer", &e));
            drop(channel);
            while !writer.is_finished() {
                if self.interrupts.end() || Instant::now() >= ends || producers.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    event_fd.signal();
                }
                std::thread::sleep(LOOK);
            }
            let written = writer.join().map_err(|_| Failure::internal("the writer's thread failed"));
            producers?.into_iter().for_each(|producer| drop(producer.join()));
            written
        })?;
        Ok(FramesMeasured {
            elapsed_ns: written.ended_ns,
            times: written.times,
            ages: written.ages,
            ring_most: ring.used().1 as u64,
            failed: written.failed.map(|e| e.to_string()),
            ..counted(&accounts.counters())
        })
    }
}

fn counted(streams: &[StreamCounters]) -> FramesMeasured {
    FramesMeasured {
        durable: streams.iter().map(|s| s.durable).sum(),
        durable_bytes: streams.iter().map(|s| s.durable_bytes).sum(),
        lost: streams.iter().map(StreamCounters::lost_total).sum(),
        ..FramesMeasured::default()
    }
}

fn of_recorded(recorded: Recorded) -> FramesMeasured {
    let (written, stream) = (recorded.ran.written, &recorded.ran.stream);
    let failed = written.errno.map(|errno| io::Error::from_raw_os_error(errno).to_string());
    FramesMeasured {
        elapsed_ns: stream.ended_ns.saturating_sub(stream.started_ns),
        times: written.times,
        ages: written.ages,
        ring_most: recorded.ring_most,
        failed: failed.or_else(|| recorded.complaints.first().cloned()),
        ..counted(&recorded.now.streams)
    }
}
