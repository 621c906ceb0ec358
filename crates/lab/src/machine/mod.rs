//! A machine as its TOML file describes it: emulator, kernel, modules, devices, images, limits, and what must be seen in it.
//!
//! The text is checked as a whole before anything is fetched or started, and each error names the file and the line.

mod beside;
mod check;
mod text;
mod values;

pub use beside::GuestBeside;
pub use check::{ByWidth, MachineCheck};

use crate::mistakes::did_you_mean;
use anyhow::{Context, bail};
use serde::{Deserialize, Deserializer, de};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Architectures of Debian that the lab can emulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    /// x86-64.
    Amd64,
    /// ARMv7 with hardware floating point.
    Armhf,
    /// ARMv8 in its 64-bit state.
    Arm64,
}

impl Arch {
    /// As Debian names it.
    pub fn debian(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Armhf => "armhf",
            Self::Arm64 => "arm64",
        }
    }

    /// The emulator of whole machines, and the package of Debian that it is in.
    pub fn emulator(self) -> (&'static str, &'static str) {
        match self {
            Self::Amd64 => ("qemu-system-x86_64", "qemu-system-x86"),
            Self::Armhf => ("qemu-system-arm", "qemu-system-arm"),
            Self::Arm64 => ("qemu-system-aarch64", "qemu-system-arm"),
        }
    }

    /// The target of rustc for a static program.
    pub fn rust_target(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-unknown-linux-musl",
            Self::Armhf => "armv7-unknown-linux-gnueabihf",
            Self::Arm64 => "aarch64-unknown-linux-musl",
        }
    }
}

/// From which of Debian's archives a package is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Archive {
    /// What the host itself has among its sources.
    #[default]
    Release,
    /// The backports of the host's release, which have newer kernels; see [`super::backports`].
    Backports,
}

/// What the guest's time is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The host's: what makes the host wait makes the guest late.
    #[default]
    Host,
    /// The instructions that it executes, 4 ns each; while it waits, time goes on to its next timer at once. A busy host changes
    /// nothing in it, but waiting for a device of the emulator takes as long as the next timer says.
    Instructions,
}

/// In which form the kernel is handed to the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boot {
    /// The ELF file inside vmlinuz, which starts in 2 s instead of 5 s on x86 (PVH entry).
    Vmlinux,
    /// The file as Debian packs it.
    Vmlinuz,
}

/// The way of results out of the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A virtio-serial port that is a file on the host; the runner adds the devices.
    VirtioSerial,
    /// Base64 on the console, for boards without a spare disk: slow, for little.
    Console,
    /// Written raw onto a spare disk: the image of this name, at this device of the guest.
    Disk {
        /// Name of the image.
        image: String,
        /// Where the guest sees it, for example `/dev/mmcblk0`.
        device: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiskTransport {
    image: String,
    device: String,
}

impl<'de> Deserialize<'de> for Transport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(name) if name == "virtio-serial" => Ok(Self::VirtioSerial),
            toml::Value::String(name) if name == "console" => Ok(Self::Console),
            table @ toml::Value::Table(_) => {
                let disk = DiskTransport::deserialize(table).map_err(|e| de::Error::custom(e.message()))?;
                Ok(Self::Disk { image: disk.image, device: disk.device })
            }
            other => Err(de::Error::custom(format!(
                "{other} is not a transport; there are \"virtio-serial\", \"console\" and {{ image = NAME, device = PATH }}"
            ))),
        }
    }
}

/// A file on the host that the guest sees as a disk, a card or a flash.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// The emulator's id of the drive; `{NAME}` in its arguments is the path.
    #[serde(deserialize_with = "values::image_name")]
    pub name: String,
    /// Size; the file is sparse.
    #[serde(rename = "size", deserialize_with = "values::bytes_of_image")]
    pub size_bytes: u64,
    /// The `if=` of `-drive`: `none` for a device of its own, `mtd` or `sd` for what a board has soldered on; `file` for no
    /// drive at all, where the arguments of the emulator use the path.
    #[serde(default = "values::no_interface", deserialize_with = "values::interface")]
    pub interface: String,
    /// More options of `-drive`, for example `cache=writethrough` or `throttling.iops-write=33`.
    #[serde(default)]
    pub options: Option<String>,
    /// Filled with incompressible data, so that reads do not come from a hole.
    #[serde(default)]
    pub filled: bool,
}

/// What goes on while the power is cut, and what must be so afterwards; see [`super::power_cut`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerCut {
    /// The image that loses its power.
    pub disk: String,
    /// The image with the log of dm-log-writes.
    pub log: String,
    /// A script of the guest's shell that writes through the log and marks what it was promised.
    pub command: String,
    /// A script that must succeed after each cut; ACKNOWLEDGED is how much was promised before it.
    pub after: String,
}

/// Which accesses of the guest are counted by width; see [`super::accesses`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accesses {
    /// First physical address.
    pub from: u64,
    /// Length of the range.
    #[serde(rename = "size", deserialize_with = "values::bytes_of_image")]
    pub size_bytes: u64,
    /// Where the range is memory to the emulator: the sum of the memories before it, by which its address is wrong.
    #[serde(default)]
    pub ram: u64,
    /// How long each access takes on top.
    #[serde(default, deserialize_with = "values::some_duration")]
    pub wait: Option<Duration>,
    /// Bytes of a transaction: a wider access takes as long as several; 0: each access is one.
    #[serde(rename = "bus", default)]
    pub bus_bytes: u64,
}

/// A machine of the lab.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Name of its file.
    pub name: String,
    /// One line about it.
    pub title: String,
    /// The emulator's machine type, with its options.
    pub machine: String,
    /// Its architecture.
    pub arch: Arch,
    /// Package of the kernel; a meta package means the newest of its series.
    pub kernel: String,
    /// Where that package is from, and those of its headers.
    pub kernel_from: Archive,
    /// Form of the kernel.
    pub boot: Boot,
    /// Device tree of the kernel's package.
    pub dtb: Option<String>,
    /// Memory of the guest.
    pub memory_bytes: u64,
    /// Processors of the guest.
    pub cpus: u32,
    /// What its time is made of.
    pub clock: Clock,
    /// The kernel's console, with its speed where it needs one.
    pub console: String,
    /// More of the kernel's command line.
    pub append: String,
    /// Modules that are loaded in this order, each after those that it depends on; `name key=value` gives parameters.
    pub modules: Vec<String>,
    /// More packages of Debian whose programs and libraries the guest has; what they depend on is named too.
    pub packages: Vec<String>,
    /// Programs of `lab/programs` that the guest has.
    pub programs: Vec<String>,
    /// Directories of this tree that the guest has below `/lab`.
    pub brings: Vec<String>,
    /// More arguments of the emulator; `{NAME}` is the path of an image, `{card}` the socket of the card server.
    pub qemu: Vec<String>,
    /// What the emulator logs (`-d`), for example `unimp`.
    pub log: Option<String>,
    /// The way of results out of it.
    pub transport: Transport,
    /// Device nodes that must be there before a command runs.
    pub wait_for: Vec<String>,
    /// Commands of the guest's shell before anything else.
    pub setup: String,
    /// A card of `lab/cards`, served to the machine.
    pub card: Option<String>,
    /// Whether the emulator ends when the guest powers off; boards only halt.
    pub powers_off: bool,
    /// How long it may take until the guest is ready.
    pub boot_limit: Duration,
    /// How long a command may take.
    pub run_limit: Duration,
    /// Targets whose inventory is kept as a snapshot when its tree is captured.
    pub capture: Vec<String>,
    /// The accesses that are counted.
    pub accesses: Option<Accesses>,
    /// Power cuts that it must survive.
    pub power_cut: Option<PowerCut>,
    /// Guests that run beside it, on a network with it.
    pub guests: Vec<GuestBeside>,
    pub images: Vec<Image>,
    /// What must be so.
    pub checks: Vec<MachineCheck>,
}

impl Machine {
    /// Reads the text of a machine's file.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        text::parse(name, text)
    }

    /// Reads a machine's file.
    ///
    /// # Errors
    /// There is none of this name (those that there are follow), or its text is wrong.
    pub fn load(directory: &Path, name: &str) -> anyhow::Result<Self> {
        let path = directory.join(format!("{name}.toml"));
        let known = names(directory)?;
        if !known.iter().any(|k| k == name) {
            let meant = did_you_mean(name, known.iter().map(String::as_str));
            bail!("there is no machine '{name}'{meant}; there are: {}", known.join(", "));
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(name, &text).with_context(|| format!("{} cannot be used", path.display()))
    }
}

/// Names of all machines, sorted.
fn names(directory: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            names.extend(path.file_stem().and_then(|s| s.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

/// All machines, by name.
///
/// # Errors
/// The directory, or one of the files, cannot be read or is wrong.
pub fn all(directory: &Path) -> anyhow::Result<Vec<Machine>> {
    names(directory)?.iter().map(|name| Machine::load(directory, name)).collect()
}
