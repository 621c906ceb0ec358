//! From the name of a region to one that is open: memory, a simulated bus, a device's memory, a character device, a file.
//!
//! Even a read of a device's register can change it or hang the machine. Without more ado only that is touched which says of itself that
//! it is memory: prefetchable BARs (PCI Local Bus Specification 3.0, 6.2.5.1: reads have no side effects), BARs of memory
//! controllers, ordinary files, and what drivers hand out by calls. The rest needs `--read-registers`.

use crate::opened::Opened;
use engine::{Region, RegionRig};
use model::{Failure, Reason, SimMemoryBus, TargetKind, parse_bytes};
use observe::{Locator, PciBar, ProbeOptions, Root, Sampler, last_level_cache, pci_bar};
use rustix::fs::OFlags;
use spec::Readiness;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use sys::Mapping;

/// What may be done to a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionRights {
    /// Write to it what it holds.
    pub writes: bool,
    /// Read what may be registers.
    pub registers: bool,
}

/// How a region is reached, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// Ordinary memory.
    Memory,
    SimulatedBus,
    /// By a mapping of it.
    Mapped,
    /// By calls alone.
    Calls,
}

/// A region of a device that does not say how long it is.
const UNKNOWN_BYTES: u64 = 1 << 20;
/// Longer ones are measured by their beginning: a mapping of all takes page tables for it.
const MOST_MAPPED_BYTES: u64 = 1 << 30;
/// The misc device `mem` (k:Documentation/admin-guide/devices.txt).
const MEM: (u32, u32) = (1, 1);

/// A name and the part of it that is meant: `PATH@OFFSET+LENGTH`.
struct RegionSpec {
    path: PathBuf,
    offset: u64,
    bytes: Option<u64>,
}

fn number(text: &str) -> Result<u64, Failure> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map_err(|e| e.to_string()),
        None => parse_bytes(text).map_err(|e| e.to_string()),
    };
    parsed.map_err(|what| {
        Failure::usage(format!("'{text}' is not an offset or length: {what}"))
            .remedy("PATH@OFFSET+LENGTH, for example /dev/mem@0xfed00000+4096")
    })
}

fn part(name: &Path) -> Result<RegionSpec, Failure> {
    let text = name.to_string_lossy();
    match text.rsplit_once('@').filter(|_| !name.exists()) {
        None => Ok(RegionSpec { path: name.to_owned(), offset: 0, bytes: None }),
        Some((path, place)) => {
            let (offset, bytes) = place.split_once('+').map_or((place, None), |(offset, bytes)| (offset, Some(bytes)));
            Ok(RegionSpec { path: path.into(), offset: number(offset)?, bytes: bytes.map(number).transpose()? })
        }
    }
}

/// How the region of a name is reached.
///
/// # Errors
/// Where there is no such file, or it is nothing that is copied.
pub fn kind_of(name: &Path) -> Result<RegionKind, Failure> {
    match name.to_str() {
        Some("memory:") => return Ok(RegionKind::Memory),
        Some(text) if text.starts_with("sim:") => return Ok(RegionKind::SimulatedBus),
        _ => {}
    }
    let part = part(name)?;
    let metadata = std::fs::metadata(&part.path).map_err(|e| cannot_open(&part.path, &e))?;
    let kind = metadata.file_type();
    if kind.is_file() || (kind.is_char_device() && (is_mem(metadata.rdev()) || uio(&part.path).is_some())) {
        Ok(RegionKind::Mapped)
    } else if kind.is_char_device() {
        Ok(RegionKind::Calls)
    } else {
        let what = format!("{}: neither a file nor a character device", part.path.display());
        Err(Failure::usage(what).remedy(
            "memory:, /dev/mtdN, /sys/bus/pci/devices/*/resourceN, /dev/uioN, /dev/mem@OFFSET+LENGTH or sim:bus",
        ))
    }
}

fn is_mem(device: u64) -> bool {
    (rustix::fs::major(device), rustix::fs::minor(device)) == MEM
}

/// The name of a UIO device.
fn uio(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let is_one = name.strip_prefix("uio").is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    is_one.then_some(name)
}

/// Opens a region.
///
/// # Errors
/// Where it does not exist, may not be touched, or cannot be had; what is in the way.
pub fn open_region(name: &Path, rights: RegionRights, interval_ns: u64) -> Result<Opened, Failure> {
    match kind_of(name)? {
        RegionKind::Memory => Ok(memory(interval_ns)),
        RegionKind::SimulatedBus => simulated(name, interval_ns),
        RegionKind::Mapped | RegionKind::Calls => device(name, rights, interval_ns),
    }
}

fn opened(name: &str, region: Region, bytes: u64, interval_ns: u64) -> Opened {
    let simulated = matches!(region, Region::Bus(_));
    let rig = Box::new(RegionRig::new(region, interval_ns));
    let mut opened = Opened::unlocated(name, TargetKind::Region, rig, bytes);
    opened.target.writable = false;
    if !simulated {
        let root = Root::new("/");
        opened.environment = observe::environment(&root);
        opened.sampler = Some(Sampler::new(&root, &[]));
    }
    opened
}

fn memory(interval_ns: u64) -> Opened {
    let root = Root::new("/");
    let bytes = copy_buffer_bytes(observe::memory_available(&root), last_level_cache(&root));
    opened("memory:", Region::Memory(bytes), bytes, interval_ns)
}

const LEAST: u64 = 4 << 20;
const MOST: u64 = 64 << 20;
const MOST_FOR_LARGE_CACHES: u64 = 512 << 20;

/// The size of each of the two buffers of a memory copy: 64 MiB, or four times the last-level cache where that is more (up to 512 MiB), but
/// together at most a quarter of the memory that is available, so that a small board is not driven into swapping.
pub(crate) fn copy_buffer_bytes(available_bytes: Option<u64>, last_level_cache_bytes: Option<u64>) -> u64 {
    let wanted = last_level_cache_bytes.map_or(MOST, |c| c.saturating_mul(4)).clamp(MOST, MOST_FOR_LARGE_CACHES);
    let bearable = available_bytes.map_or(MOST, |a| a / 8);
    let bytes = wanted.min(bearable).max(LEAST);
    bytes - bytes % LEAST
}

fn simulated(name: &Path, interval_ns: u64) -> Result<Opened, Failure> {
    let text = name.to_string_lossy();
    let wrong = |what: String| {
        Failure::usage(what).remedy("for example sim:bus,width=32,wait=100ns,kernel=8; sim:help   lists all parameters")
    };
    let bus: SimMemoryBus = match spec::parse_sim_bus(&text) {
        None => return Err(wrong(format!("{text}: of simulated devices only sim:bus is a region"))),
        Some(parsed) => parsed.map_err(|e| wrong(e.to_string()))?,
    };
    let bytes = bus.bytes;
    let mut opened = opened(&text, Region::Bus(bus), bytes, interval_ns);
    opened.remarks.push("simulated bus in simulated time".into());
    Ok(opened)
}

/// A device or a file that is open.
struct OpenRegion {
    path: PathBuf,
    file: File,
    start: u64,
    bytes: u64,
    mapping: Option<Mapping>,
    /// Whether calls read it, too.
    calls: bool,
    /// Whether it may be registers.
    registers: bool,
}

/// The BAR that a file is, if it is one.
///
/// # Errors
/// It is one of ports, or its device is off.
fn bar_of(path: &Path) -> Result<Option<PciBar>, Failure> {
    let bar = pci_bar(&Root::new("/"), path);
    bar.map(|bar| may_be_mapped(bar, path)).transpose()
}

fn may_be_mapped(bar: PciBar, path: &Path) -> Result<PciBar, Failure> {
    let refuse = |what: &str, remedy: &str| {
        let what = format!("{}: {what}", path.display());
        Err(Failure::refused(what).remedy(remedy.to_owned()))
    };
    match bar {
        PciBar { is_memory: false, .. } => {
            refuse("this BAR is not memory", "the file resource beside it says which are: flags with 0x200")
        }
        PciBar { enabled: false, .. } => refuse(
            "the device is disabled, and its memory does not answer",
            "bind its driver, or: echo 1 > enable   in its directory",
        ),
        _ => Ok(bar),
    }
}

fn reach(name: &Path, rights: RegionRights) -> Result<OpenRegion, Failure> {
    let part = part(name)?;
    let path = std::fs::canonicalize(&part.path).map_err(|e| cannot_open(&part.path, &e))?;
    let metadata = std::fs::metadata(&path).map_err(|e| cannot_open(&path, &e))?;
    let (is_file, mem) = (metadata.is_file(), metadata.file_type().is_char_device() && is_mem(metadata.rdev()));
    let bar = bar_of(&path)?;
    let uio = uio(&path).filter(|_| !is_file);
    let registers = mem || uio.is_some() || bar.is_some_and(|bar| !bar.is_plain_memory);
    if registers && !rights.registers {
        return Err(Failure::refused(format!(
            "{}: these may be registers, and reading one can change a device or hang the machine",
            path.display()
        ))
        .remedy("--read-registers, where you know what lies there; prefetchable BARs need it not"));
    }
    if let Some(name) = uio.as_ref().filter(|name| observe::uio_bytes(&Root::new("/"), name).is_none()) {
        let what =
            format!("{}: this UIO device has no memory to map: no map0 in /sys/class/uio/{name}/maps", path.display());
        return Err(Failure::environment(what).remedy("its BARs: /sys/class/uio/uioN/device/resourceN"));
    }
    let maps = mem || uio.is_some() || bar.is_some() || is_file;
    if rights.writes && (!maps || (is_file && bar.is_none())) {
        let what = format!("{}: --allow-writes is for device memory that is mapped", path.display());
        return Err(Failure::usage(what).remedy("leave it out"));
    }
    // Of /dev/mem, O_SYNC asks for an uncached mapping (k:drivers/char/mem.c, uncached_access).
    let flags = if mem { OFlags::SYNC | OFlags::CLOEXEC } else { OFlags::CLOEXEC };
    let mut options = OpenOptions::new();
    options.read(true).write(rights.writes).custom_flags(flags.bits() as i32);
    let mut file = options.open(&path).map_err(|e| cannot_open(&path, &e))?;
    let whole = match (is_file, metadata.len()) {
        (true, 0) => Some(0),
        (_, bytes) => length(&mut file, bytes, uio.as_deref(), mem),
    };
    let bytes = extent(&part, whole)?;
    let bytes = if maps { bytes.min(MOST_MAPPED_BYTES) } else { bytes };
    let page = sys::page_size();
    if maps && !part.offset.is_multiple_of(page) {
        let what =
            format!("{}: a mapping begins on a page, and {} is not a multiple of {page}", path.display(), part.offset);
        return Err(Failure::usage(what).remedy(format!("@{:#x}", part.offset / page * page)));
    }
    let mapping = maps.then(|| Mapping::of_part(&file, part.offset, bytes, rights.writes)).transpose();
    let mapping = mapping.map_err(|e| cannot_open(&path, &e))?;
    // The memory of BARs and of UIO is had by mapping alone.
    let calls = bar.is_none() && uio.is_none();
    Ok(OpenRegion { path, file, start: part.offset, bytes, mapping, calls, registers })
}

/// The bytes of a part of something that is `whole` bytes long, where that is known.
fn extent(part: &RegionSpec, whole: Option<u64>) -> Result<u64, Failure> {
    let bytes = match (part.bytes, whole) {
        (Some(bytes), _) => bytes,
        (None, Some(whole)) => whole.saturating_sub(part.offset),
        (None, None) => UNKNOWN_BYTES,
    };
    let end = part.offset.checked_add(bytes).filter(|end| *end <= i64::MAX as u64);
    if bytes > 0 && end.is_some_and(|end| whole.is_none_or(|whole| end <= whole)) {
        return Ok(bytes);
    }
    let there = whole.map_or_else(|| "the address space".to_owned(), |whole| format!("its {whole} bytes"));
    let what = format!("{}: {bytes} bytes at {} do not lie within {there}", part.path.display(), part.offset);
    Err(Failure::usage(what).remedy("PATH@OFFSET+LENGTH"))
}

fn device(name: &Path, rights: RegionRights, interval_ns: u64) -> Result<Opened, Failure> {
    let OpenRegion { path, file, start, bytes, mapping, calls, registers } = reach(name, rights)?;
    let region = Region::Device { file, start, bytes, mapping, calls };
    let mut opened = opened(&name.to_string_lossy(), region, bytes, interval_ns);
    describe(&mut opened, &path, registers, rights);
    Ok(opened)
}

/// Opens a device that is read by calls, and the same memory in another region, which is mapped: there it is measured what an access
/// costs by which the kernel could copy the device.
///
/// # Errors
/// As for each of them, and where they cannot be reached so.
pub fn open_with_mapping(
    name: &Path,
    mapped: &Path,
    rights: RegionRights,
    interval_ns: u64,
) -> Result<Opened, Failure> {
    let usage = |what: String, remedy: &str| Err(Failure::usage(what).remedy(remedy.to_owned()));
    if kind_of(name)? != RegionKind::Calls {
        return usage(format!("{}: --mapped is for a device that calls read", name.display()), "leave --mapped out");
    }
    if kind_of(mapped)? != RegionKind::Mapped {
        let what = format!("{}: it cannot be mapped", mapped.display());
        return usage(
            what,
            "the device's place in the address space: --mapped /dev/mem@OFFSET+LENGTH, from /proc/iomem",
        );
    }
    if rights.writes {
        return usage("--mapped is for reads: what is written to flash is commands".into(), "leave --allow-writes out");
    }
    let (called, there) = (reach(name, rights)?, reach(mapped, rights)?);
    let bytes = called.bytes.min(there.bytes);
    let region =
        Region::Device { file: called.file, start: called.start, bytes, mapping: there.mapping, calls: called.calls };
    let mut opened = opened(&name.to_string_lossy(), region, bytes, interval_ns);
    opened.remarks.push(format!("accesses are those to {}; calls read {}", mapped.display(), called.path.display()));
    describe(&mut opened, &called.path, there.registers, rights);
    Ok(opened)
}

/// What the user should know, and the stack below where the device has one.
fn describe(opened: &mut Opened, path: &Path, registers: bool, rights: RegionRights) {
    opened.target.path = Some(path.display().to_string());
    opened.target.writable = rights.writes;
    if !rights.writes {
        opened.readiness =
            Readiness::ReadOnly(Reason::uncoded("the region is only read; --allow-writes writes to it what it holds"));
    } else {
        opened.remarks.push("the region is written to, with what it held when the phase began".into());
    }
    if registers {
        opened.remarks.push(
            "reading registers can have side effects; the widths of these accesses were not asked of the device".into(),
        );
    }
    let root = Root::new("/");
    if let Ok(place @ Locator::DeviceName(_)) = observe::locate(&root, &path.to_string_lossy()) {
        opened.target.stack = observe::inventory_with(&root, &place, ProbeOptions::default()).stack;
    }
}

/// How long the region is, where that can be told.
fn length(file: &mut File, file_bytes: u64, uio: Option<&str>, mem: bool) -> Option<u64> {
    if file_bytes > 0 {
        return Some(file_bytes);
    }
    if let Some(name) = uio {
        return observe::uio_bytes(&Root::new("/"), name);
    }
    if mem {
        return None;
    }
    let end = file.seek(SeekFrom::End(0)).ok().filter(|end| *end > 0);
    // A device without an end is read from its beginning.
    let _ = file.seek(SeekFrom::Start(0));
    end
}

/// What is in the way: the capability, the kernel's option, the lockdown.
fn cannot_open(path: &Path, error: &std::io::Error) -> Failure {
    let denied = matches!(error.raw_os_error(), Some(1 | 13));
    let message = format!("{}: {}", path.display(), sys::errno_name(error.raw_os_error().unwrap_or(0)));
    let failure = |why: &str, remedy: &str| Failure::environment(format!("{message}: {why}")).remedy(remedy.to_owned());
    if !denied {
        return match error.kind() {
            std::io::ErrorKind::NotFound => Failure::usage(format!("{}: there is no such file", path.display()),
            )
            .remedy(
                "memory:, /dev/mtdN, /sys/bus/pci/devices/*/resourceN, /dev/uioN, /dev/mem@OFFSET+LENGTH or sim:bus",
            ),
            _ => failure("it cannot be opened or mapped", "is the device there, and its driver bound?"),
        };
    }
    let lockdown = Root::new("/").text("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[integrity]") || lockdown.contains("[confidentiality]") {
        return failure(
            "the kernel is locked down (kernel_lockdown(7))",
            "boot without Secure Boot, or without lockdown= on the kernel's command line",
        );
    }
    if !rustix::process::geteuid().is_root() {
        return failure(
            "this user may not; /dev/mem takes CAP_SYS_RAWIO, BARs and most devices root",
            "run it as root",
        );
    }
    if path == Path::new("/dev/mem") {
        return failure(
            "this range is System RAM or in use by a driver (CONFIG_STRICT_DEVMEM, CONFIG_IO_STRICT_DEVMEM), or the process lacks CAP_SYS_RAWIO",
            "a range of /proc/iomem that is not System RAM; iomem=relaxed on the kernel's command line for ranges of drivers",
        );
    }
    failure("the process lacks CAP_SYS_RAWIO or CAP_SYS_ADMIN, as in a container", "run it outside the container")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FailureKind;

    #[test]
    fn parts_are_read() {
        let of = |text: &str| part(Path::new(text)).map(|p| (p.path, p.offset, p.bytes)).map_err(|f| f.kind);
        assert_eq!(of("/dev/mem@0x1000+4096"), Ok(("/dev/mem".into(), 4096, Some(4096))));
        assert_eq!(of("/dev/mtd0@64KiB"), Ok(("/dev/mtd0".into(), 65_536, None)));
        assert_eq!(of("/dev/mtd0"), Ok(("/dev/mtd0".into(), 0, None)));
        assert_eq!(of("/dev/mtd0@0x+1"), Err(FailureKind::Usage));
        assert_eq!(of("/dev/mtd0@here"), Err(FailureKind::Usage));
    }

    #[test]
    fn ports_and_devices_that_are_off_are_refused() {
        let bar = PciBar { is_memory: true, is_plain_memory: false, enabled: true };
        let of = |bar| may_be_mapped(bar, Path::new("x"));
        assert_eq!(of(bar), Ok(bar));
        for (bar, says) in
            [(PciBar { is_memory: false, ..bar }, "not memory"), (PciBar { enabled: false, ..bar }, "disabled")]
        {
            let failure = of(bar).unwrap_err();
            assert!(failure.kind == FailureKind::Refused && failure.message.contains(says), "{failure:?}");
        }
    }

    #[test]
    fn the_buffers_are_larger_than_caches_and_bearable() {
        assert_eq!(copy_buffer_bytes(None, None), 64 << 20);
        assert_eq!(copy_buffer_bytes(Some(16 << 30), Some(8 << 20)), 64 << 20);
        assert_eq!(copy_buffer_bytes(Some(64 << 30), Some(96 << 20)), 384 << 20);
        assert_eq!(copy_buffer_bytes(Some(128 << 20), None), 16 << 20);
        assert_eq!(copy_buffer_bytes(Some(1 << 20), None), 4 << 20);
    }
}
