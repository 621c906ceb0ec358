//! Looks at the machine again and again, cheaply.
//!
//! Files stay open and are read again from offset 0 (which makes procfs and sysfs produce them anew); buffers are
//! reused; numbers are parsed by hand. Nothing is derived here: rates come from two samples, in `model`.
//!
//! Not everything is looked at every time. Temperatures, throttling, large frequency tables and large interrupt tables
//! are read once a second, because sensors behind firmware or I2C take milliseconds. Sensors of disks are read once in
//! ten seconds, because the kernel asks the disk itself for them (k:drivers/hwmon/drivetemp.c,
//! drivers/nvme/host/hwmon.c): a command of ours in the middle of a measurement. In between these fields are empty:
//! an old value is never passed off as a new one.

pub(crate) mod files;
mod parse;

use crate::path_source::{PathFiles, PathSource};
use crate::root::Root;
pub(crate) use files::cpu_list;
use files::{OpenFile, Sensor, sensors};
use model::{DiskCounters, MemorySample, NS_PER_S, Ns, SystemSample, Temperature, ThrottleState};
use std::collections::BTreeSet;

/// How often slow sources are read.
const SLOW_PERIOD_NS: Ns = NS_PER_S;
/// Sources are due so much early: who looks once a second is never exactly on time.
const SLACK_NS: Ns = NS_PER_S / 20;
/// How often sensors of disks are read.
const DISK_SENSOR_PERIOD_NS: Ns = 10 * NS_PER_S;
/// Interrupt tables and frequency tables beyond these are slow sources.
const SMALL_INTERRUPT_TABLE_BYTES: usize = 32 << 10;
const FEW_FREQUENCIES: usize = 32;
/// More disks than these are read from one file.
const FEW_DISKS: usize = 64;

/// Frequency of the CPUs that share a clock.
struct FrequencyDomain {
    file: OpenFile,
    /// Positions in `SystemSample::cpu_khz`.
    cpus: Vec<usize>,
}

/// Where the counters of the disks come from.
enum Disks {
    /// Each disk's own file, which costs least for a few.
    Each(Vec<(String, OpenFile)>),
    /// /proc/diskstats, with the wanted names in order: for paths of very many disks, whose files a process may not be
    /// allowed to hold open all at once (1,024 by default).
    Together(OpenFile, BTreeSet<String>),
}

/// The observer during a run.
pub struct Sampler {
    buffer: Vec<u8>,
    disks: Disks,
    stat: Option<OpenFile>,
    meminfo: Option<OpenFile>,
    pressure_io: Option<OpenFile>,
    pressure_cpu: Option<OpenFile>,
    interrupts: Option<OpenFile>,
    interrupts_are_many: bool,
    path: Option<PathFiles>,
    clocks: Vec<FrequencyDomain>,
    cpu_count: usize,
    sensors: Vec<Sensor>,
    throttle_counts: Vec<OpenFile>,
    cooling: Vec<OpenFile>,
    raspberry_pi: Option<OpenFile>,
    raspberry_pi_alarm: Option<OpenFile>,
    slow_due_ns: Ns,
    disk_sensors_due_ns: Ns,
}

impl Sampler {
    /// Opens everything. `disks` are kernel names, for example of [`crate::counted_disks`]; names that are not there
    /// are left out of the samples.
    pub fn new(root: &Root, disks: &[String]) -> Self {
        let keep = |path: &str| OpenFile::open(root, path);
        let each = || {
            let file = |name: &String| keep(&format!("/sys/class/block/{}/stat", name.replace('/', "!")));
            Disks::Each(disks.iter().filter_map(|name| Some((name.clone(), file(name)?))).collect())
        };
        let together = || Some(Disks::Together(keep("/proc/diskstats")?, disks.iter().cloned().collect()));
        let disks = if disks.len() > FEW_DISKS { together().unwrap_or_else(each) } else { each() };
        let cpus = files::online_cpus(root);
        let mut sampler = Self {
            buffer: Vec::with_capacity(64 << 10),
            disks,
            stat: keep("/proc/stat"),
            meminfo: keep("/proc/meminfo"),
            pressure_io: keep("/proc/pressure/io"),
            pressure_cpu: keep("/proc/pressure/cpu"),
            interrupts: keep("/proc/interrupts"),
            interrupts_are_many: false,
            path: None,
            clocks: files::clocks(root, &cpus).into_iter().map(|(file, cpus)| FrequencyDomain { file, cpus }).collect(),
            cpu_count: cpus.len(),
            sensors: sensors(root),
            throttle_counts: files::throttle_counts(root, &cpus),
            cooling: files::cooling(root),
            raspberry_pi: keep("/sys/devices/platform/soc/soc:firmware/get_throttled"),
            raspberry_pi_alarm: files::raspberry_pi_alarm(root),
            slow_due_ns: 0,
            disk_sensors_due_ns: 0,
        };
        if let Some(file) = &sampler.interrupts {
            sampler.interrupts_are_many =
                file.all(&mut sampler.buffer).is_some_and(|t| t.len() > SMALL_INTERRUPT_TABLE_BYTES);
        }
        sampler
    }

    /// With the counters of what carries the path, where no block device does.
    #[must_use]
    pub fn with_path(mut self, root: &Root, source: Option<&PathSource>) -> Self {
        self.path = source.and_then(|source| PathFiles::open(root, source));
        self
    }

    /// Those of `disks` whose counters cannot be read, as where a sandbox hides /proc/diskstats.
    pub fn without_counters(&mut self, disks: &[String]) -> Vec<String> {
        let seen = self.disk_counters();
        disks.iter().filter(|name| seen.iter().all(|d| d.name != **name)).cloned().collect()
    }

    fn disk_counters(&mut self) -> Vec<DiskCounters> {
        let buffer = &mut self.buffer;
        match &self.disks {
            Disks::Each(disks) => {
                let mut seen = Vec::with_capacity(disks.len());
                for (name, file) in disks {
                    if let Some(counters) = file.once(buffer).and_then(parse::disk_counters) {
                        seen.push(DiskCounters { name: name.clone(), ..counters });
                    }
                }
                seen
            }
            Disks::Together(file, wanted) => {
                file.all(buffer).map(|text| parse::diskstats(text, wanted)).unwrap_or_default()
            }
        }
    }

    /// One look; `now_ns` is the time since the run's start and only decides which slow sources are due.
    pub fn sample(&mut self, now_ns: Ns) -> SystemSample {
        let mut sample = SystemSample { at_ns: now_ns, ..SystemSample::default() };
        // Disks first: theirs are the numbers that are compared with our own operations.
        sample.disks = self.disk_counters();
        let buffer = &mut self.buffer;
        if let Some(text) = self.stat.as_ref().and_then(|f| f.all(buffer)) {
            parse::stat(text, &mut sample);
        }
        if let Some(text) = self.meminfo.as_ref().and_then(|f| f.all(buffer)) {
            sample.memory = parse::memory(text);
        } else {
            sample.memory = MemorySample::default();
        }
        sample.pressure_io = self.pressure_io.as_ref().and_then(|f| parse::pressure(f.once(buffer)?));
        sample.pressure_cpu = self.pressure_cpu.as_ref().and_then(|f| parse::pressure(f.once(buffer)?));

        let slow = now_ns >= self.slow_due_ns;
        if let Some(path) = self.path.as_mut() {
            path.sample(slow, &mut self.buffer, &mut sample);
        }
        if slow || self.clocks.len() <= FEW_FREQUENCIES {
            self.frequencies(&mut sample);
        }
        if (slow || !self.interrupts_are_many)
            && let Some(text) = self.interrupts.as_ref().and_then(|f| f.all(&mut self.buffer))
        {
            sample.interrupts_by_cpu = parse::interrupts_by_cpu(text);
        }
        if slow {
            self.slow_due_ns = now_ns.saturating_add(SLOW_PERIOD_NS - SLACK_NS);
            self.temperatures(now_ns, &mut sample);
        }
        sample
    }

    fn frequencies(&mut self, sample: &mut SystemSample) {
        if self.clocks.is_empty() {
            return;
        }
        sample.cpu_khz = vec![None; self.cpu_count];
        for clock in &self.clocks {
            let khz = clock.file.number(&mut self.buffer);
            for &cpu in &clock.cpus {
                sample.cpu_khz[cpu] = khz;
            }
        }
    }

    fn temperatures(&mut self, now_ns: Ns, sample: &mut SystemSample) {
        let disk_sensors = now_ns >= self.disk_sensors_due_ns;
        if disk_sensors {
            self.disk_sensors_due_ns = now_ns.saturating_add(DISK_SENSOR_PERIOD_NS - SLACK_NS);
        }
        let buffer = &mut self.buffer;
        for sensor in self.sensors.iter().filter(|s| disk_sensors || !s.of_disk) {
            if let Some(millidegrees_c) = sensor.file.once(buffer).and_then(parse::signed) {
                sample.temperatures.push(Temperature { name: sensor.name.clone(), millidegrees_c });
            }
        }
        let mut sum = |files: &[OpenFile]| {
            let values = files.iter().filter_map(|f| f.number(buffer));
            values.fold(None, |sum: Option<u64>, v| Some(sum.unwrap_or(0).saturating_add(v)))
        };
        let x86_throttle_events = sum(&self.throttle_counts);
        let cooling_state = sum(&self.cooling);
        let bits = self.raspberry_pi.as_ref().and_then(|f| parse::hex(f.once(buffer)?));
        // Without the firmware's own file the hardware monitor tells of under-voltage since its last look: bit 16
        // (k:drivers/hwmon/raspberrypi-hwmon.c UNDERVOLTAGE_STICKY_BIT).
        let alarm = || self.raspberry_pi_alarm.as_ref().and_then(|f| f.number(buffer)).map(|a| u64::from(a != 0) << 16);
        let raspberry_pi_bits = bits.or_else(alarm).and_then(|b| u32::try_from(b).ok());
        sample.throttle = ThrottleState { raspberry_pi_bits, x86_throttle_events, cooling_state };
    }
}
