//! Which files the sampler keeps open.

use crate::root::Root;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

/// Most bytes of one file; /proc/interrupts of a machine with hundreds of CPUs is the largest.
const LIMIT_BYTES: usize = 8 << 20;
/// A sysfs attribute is at most a page.
const ATTRIBUTE_BYTES: usize = 4_096;
/// Most files of one kind that stay open: a process may have 1,024 by default.
const OPEN_LIMIT: usize = 128;
const CPU_LIMIT: usize = 8_192;

/// A file that stays open.
pub(crate) struct OpenFile(File);

impl OpenFile {
    pub fn open(root: &Root, path: &str) -> Option<Self> {
        root.open(path).ok().map(Self)
    }

    /// A small file, with one read.
    pub fn once<'b>(&self, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        if buffer.len() < ATTRIBUTE_BYTES {
            buffer.resize(ATTRIBUTE_BYTES, 0);
        }
        let length = self.read_at(&mut buffer[..ATTRIBUTE_BYTES], 0)?;
        (length > 0).then(|| &buffer[..length])
    }

    /// A file of any length: procfs hands out a piece at a time, so it is read until nothing comes.
    pub fn all<'b>(&self, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        let mut length = 0;
        loop {
            if buffer.len() < length + ATTRIBUTE_BYTES {
                buffer.resize((2 * buffer.len()).max(4 * ATTRIBUTE_BYTES), 0);
            }
            match self.read_at(&mut buffer[length..], length as u64)? {
                0 => break,
                n => length += n,
            }
            if length >= LIMIT_BYTES {
                break;
            }
        }
        (length > 0).then(|| &buffer[..length])
    }

    pub fn number(&self, buffer: &mut Vec<u8>) -> Option<u64> {
        self.once(buffer).and_then(super::parse::unsigned)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Option<usize> {
        loop {
            match self.0.read_at(buffer, offset) {
                Ok(n) => return Some(n),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The device is gone, or the driver has nothing to say now.
                Err(_) => return None,
            }
        }
    }
}

/// A temperature.
pub(super) struct Sensor {
    pub name: String,
    pub file: OpenFile,
    /// Reading it sends a command to a disk.
    pub of_disk: bool,
}

/// Thermal zones and hardware monitors.
pub(super) fn sensors(root: &Root) -> Vec<Sensor> {
    let mut out = Vec::new();
    for zone in root.list("/sys/class/thermal").iter().filter(|z| z.starts_with("thermal_zone")) {
        let directory = format!("/sys/class/thermal/{zone}");
        let name = root.text(&format!("{directory}/type")).unwrap_or_else(|| zone.clone());
        if let Some(file) = OpenFile::open(root, &format!("{directory}/temp")) {
            out.push(Sensor { name, file, of_disk: false });
        }
    }
    for monitor in root.list("/sys/class/hwmon") {
        let directory = format!("/sys/class/hwmon/{monitor}");
        // The monitor that the kernel derives from a thermal zone says the same again (k:drivers/thermal/thermal_hwmon.c).
        if root.link_name(&format!("{directory}/device")).is_some_and(|d| d.starts_with("thermal_zone")) {
            continue;
        }
        let chip = root.text(&format!("{directory}/name")).unwrap_or_else(|| monitor.clone());
        let of_disk = chip == "drivetemp" || chip == "nvme";
        for file in root.list(&directory) {
            let Some(input) = file.strip_suffix("_input").filter(|f| f.starts_with("temp")) else { continue };
            let label = root.text(&format!("{directory}/{input}_label"));
            let name = format!("{chip} {}", label.as_deref().unwrap_or(input));
            if let Some(file) = OpenFile::open(root, &format!("{directory}/{file}")) {
                out.push(Sensor { name, file, of_disk });
            }
        }
    }
    out.truncate(OPEN_LIMIT);
    out
}

/// `0-3,8` as numbers, in order.
pub(crate) fn cpu_list(text: &str) -> Vec<u32> {
    let mut out = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) else { continue };
        out.extend((first..=last).take(CPU_LIMIT.saturating_sub(out.len())));
    }
    out
}

/// Numbers of the online CPUs.
pub(crate) fn online_cpus(root: &Root) -> Vec<u32> {
    root.text("/sys/devices/system/cpu/online").map(|t| cpu_list(&t)).unwrap_or_default()
}

/// Frequency files with the positions of the CPUs that share each.
pub(super) fn clocks(root: &Root, cpus: &[u32]) -> Vec<(OpenFile, Vec<usize>)> {
    let mut by_policy: Vec<(String, Vec<usize>)> = Vec::new();
    for (position, cpu) in cpus.iter().enumerate() {
        let Some(policy) = root.canonical(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq")) else { continue };
        match by_policy.iter_mut().find(|(p, _)| *p == policy) {
            Some((_, members)) => members.push(position),
            None => by_policy.push((policy, vec![position])),
        }
    }
    let open = |(policy, cpus): (String, Vec<usize>)| {
        Some((OpenFile::open(root, &format!("{policy}/scaling_cur_freq"))?, cpus))
    };
    by_policy.into_iter().take(OPEN_LIMIT).filter_map(open).collect()
}

/// x86 throttle counters: one per core, and one per package counted once.
pub(super) fn throttle_counts(root: &Root, cpus: &[u32]) -> Vec<OpenFile> {
    let mut packages = Vec::new();
    let mut cores = Vec::new();
    let mut out = Vec::new();
    for cpu in cpus {
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}");
        let topology =
            |file: &str| root.text(&format!("{directory}/topology/{file}")).unwrap_or_else(|| cpu.to_string());
        let package = topology("physical_package_id");
        // Threads of one core show the same counter.
        let core = (package.clone(), topology("core_id"));
        if !cores.contains(&core) {
            out.extend(OpenFile::open(root, &format!("{directory}/thermal_throttle/core_throttle_count")));
            cores.push(core);
        }
        if !packages.contains(&package) {
            out.extend(OpenFile::open(root, &format!("{directory}/thermal_throttle/package_throttle_count")));
            packages.push(package);
        }
        if out.is_empty() || out.len() >= OPEN_LIMIT {
            // Enough, or not x86, or without the counters: the other CPUs have none either.
            break;
        }
    }
    out
}

/// Cooling devices that hold something back; fans do not.
pub(super) fn cooling(root: &Root) -> Vec<OpenFile> {
    let devices = root.list("/sys/class/thermal");
    let devices = devices.iter().filter(|d| d.starts_with("cooling_device"));
    let throttles = devices.filter(|d| {
        let kind = root.text(&format!("/sys/class/thermal/{d}/type")).unwrap_or_default().to_ascii_lowercase();
        !kind.contains("fan")
    });
    let files = throttles.filter_map(|d| OpenFile::open(root, &format!("/sys/class/thermal/{d}/cur_state")));
    files.take(OPEN_LIMIT).collect()
}

/// Under-voltage alarm of the Raspberry Pi.
pub(super) fn raspberry_pi_alarm(root: &Root) -> Option<OpenFile> {
    let monitors = root.list("/sys/class/hwmon");
    let monitor =
        monitors.iter().find(|m| root.text(&format!("/sys/class/hwmon/{m}/name")).as_deref() == Some("rpi_volt"))?;
    OpenFile::open(root, &format!("/sys/class/hwmon/{monitor}/in0_lcrit_alarm"))
}

#[cfg(test)]
mod tests {
    use super::cpu_list;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpu_list("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(cpu_list(""), [0u32; 0]);
        assert_eq!(cpu_list("3-1,x,-,5"), [5]);
        assert_eq!(cpu_list("0-4294967295").len(), super::CPU_LIMIT);
    }
}
