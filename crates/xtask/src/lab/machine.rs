//! A machine as its TOML file describes it: emulator, kernel, modules, devices, images, limits, and what must be seen in it.
//!
//! The text is checked as a whole before anything is fetched or started, and each error names the file and the line.

use anyhow::{Context, bail};
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;

/// Architectures of Debian that the lab can emulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    /// x86-64.
    Amd64,
    /// ARMv7 with hardware floating point.
    Armhf,
}

impl Arch {
    /// As Debian names it.
    pub fn debian(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Armhf => "armhf",
        }
    }

    /// The emulator of whole machines, and the package of Debian that it is in.
    pub fn emulator(self) -> (&'static str, &'static str) {
        match self {
            Self::Amd64 => ("qemu-system-x86_64", "qemu-system-x86"),
            Self::Armhf => ("qemu-system-arm", "qemu-system-arm"),
        }
    }

    /// The target of rustc for a static program.
    pub fn rust_target(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-unknown-linux-musl",
            Self::Armhf => "armv7-unknown-linux-gnueabihf",
        }
    }
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
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Text {
            Name(String),
            Disk(DiskTransport),
        }
        match Text::deserialize(deserializer)? {
            Text::Name(name) if name == "virtio-serial" => Ok(Self::VirtioSerial),
            Text::Name(name) if name == "console" => Ok(Self::Console),
            Text::Disk(disk) => Ok(Self::Disk { image: disk.image, device: disk.device }),
            Text::Name(name) => Err(de::Error::custom(format!(
                "'{name}' is no transport; there are \"virtio-serial\", \"console\" and {{ image = NAME, device = PATH }}"
            ))),
        }
    }
}

/// A file on the host that the guest sees as a disk, a card or a flash.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// The emulator's id of the drive; `{NAME}` in its arguments is the path.
    #[serde(deserialize_with = "image_name")]
    pub name: String,
    /// Size; the file is sparse.
    #[serde(rename = "size", deserialize_with = "bytes")]
    pub size_bytes: u64,
    /// The `if=` of `-drive`: `none` for a device of its own, `mtd` or `sd` for what a board has soldered on; `file` for no
    /// drive at all, where the arguments of the emulator use the path.
    #[serde(default = "no_interface")]
    pub interface: String,
    /// More options of `-drive`, for example `cache=writethrough` or `throttling.iops-write=33`.
    #[serde(default)]
    pub options: Option<String>,
    /// Filled with incompressible data, so that reads do not come from a hole.
    #[serde(default)]
    pub filled: bool,
}

/// One thing that must be so in the machine; `lab test` asserts it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Check {
    /// What is asserted, in words.
    pub what: String,
    /// A path or device that is inspected in the guest; `driver`, `facts` and `findings` are about it.
    #[serde(default)]
    pub target: Option<String>,
    /// The driver of one of its layers.
    #[serde(default)]
    pub driver: Option<String>,
    /// Facts of one of its layers, as `narrows inspect --json` shows them.
    #[serde(default)]
    pub facts: BTreeMap<String, toml::Value>,
    /// Findings that hold.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Findings that must not hold.
    #[serde(default)]
    pub no_findings: Vec<String>,
    /// A command of the guest's shell.
    #[serde(default)]
    pub command: Option<String>,
    /// How it ends; 0 unless said otherwise.
    #[serde(default)]
    pub exit: u8,
    /// Texts in what it prints.
    #[serde(default)]
    pub prints: Vec<String>,
    /// Texts that must not be in it.
    #[serde(default)]
    pub prints_not: Vec<String>,
    /// What the command prints is JSON whose findings are the damage that the card did, and nothing else. Only the last
    /// command that writes to the card can say so.
    #[serde(default)]
    pub finds_damage: bool,
    /// Texts in the emulator's log (see `log` of the machine).
    #[serde(default)]
    pub emulator_log: Vec<String>,
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

/// The file of a machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Text {
    title: String,
    machine: String,
    arch: Arch,
    kernel: Spanned<String>,
    #[serde(default)]
    boot: Option<Boot>,
    #[serde(default)]
    dtb: Option<String>,
    #[serde(deserialize_with = "bytes")]
    memory: u64,
    #[serde(default = "one")]
    cpus: u32,
    console: String,
    #[serde(default)]
    append: String,
    #[serde(default)]
    modules: Vec<String>,
    #[serde(default)]
    packages: Vec<String>,
    #[serde(default)]
    qemu: Vec<Spanned<String>>,
    #[serde(default)]
    log: Option<String>,
    transport: Spanned<Transport>,
    #[serde(default)]
    wait_for: Vec<String>,
    #[serde(default)]
    setup: String,
    #[serde(default)]
    card: Option<Spanned<String>>,
    #[serde(default = "yes")]
    powers_off: bool,
    #[serde(default = "a_minute", deserialize_with = "duration")]
    boot_limit: Duration,
    #[serde(default = "five_minutes", deserialize_with = "duration")]
    run_limit: Duration,
    #[serde(default)]
    capture: Vec<String>,
    #[serde(default)]
    power_cut: Option<Spanned<PowerCut>>,
    #[serde(default, rename = "image")]
    images: Vec<Spanned<Image>>,
    #[serde(default, rename = "check")]
    checks: Vec<Spanned<Check>>,
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
    /// Form of the kernel.
    pub boot: Boot,
    /// Device tree of the kernel's package.
    pub dtb: Option<String>,
    /// Memory of the guest.
    pub memory_bytes: u64,
    /// Processors of the guest.
    pub cpus: u32,
    /// The kernel's console, with its speed where it needs one.
    pub console: String,
    /// More of the kernel's command line.
    pub append: String,
    /// Modules that are loaded in this order, each after those that it depends on; `name key=value` gives parameters.
    pub modules: Vec<String>,
    /// More packages of Debian whose programs and libraries the guest has; what they depend on is named too.
    pub packages: Vec<String>,
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
    /// Power cuts that it must survive.
    pub power_cut: Option<PowerCut>,
    /// Its images.
    pub images: Vec<Image>,
    /// What must be so.
    pub checks: Vec<Check>,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn no_interface() -> String {
    "none".into()
}

fn a_minute() -> Duration {
    Duration::from_secs(60)
}

fn five_minutes() -> Duration {
    Duration::from_secs(300)
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    model::parse_bytes(&text).map_err(|e| de::Error::custom(e.to_string()))
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    model::parse_duration_ns(&text).map(Duration::from_nanos).map_err(|e| de::Error::custom(e.to_string()))
}

fn image_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    // An SD card's own drive is named sd0 by some boards, and a second one of that name aborts the emulator.
    if !fits || name == "sd0" || name == "card" {
        let message =
            format!("'{name}' is no name of an image: lower-case letters, digits and -, and neither sd0 nor card");
        return Err(de::Error::custom(message));
    }
    Ok(name)
}

/// Line of a place in a text, from 1 on.
fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.as_bytes().iter().take(span.start).filter(|b| **b == b'\n').count() + 1
}

/// Names in braces that an argument uses.
fn placeholders(argument: &str) -> impl Iterator<Item = &str> {
    // Other braces belong to JSON.
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    argument.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name)).filter(is_name)
}

impl Machine {
    /// Reads the text of a machine's file.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        let read: Text = toml::from_str(text).map_err(|e| anyhow::anyhow!("{}", e.to_string().trim_end()))?;
        let at = |span: &Range<usize>| format!("line {}", line_of(text, span));
        let mut names: Vec<&str> = Vec::new();
        for image in &read.images {
            if names.contains(&image.get_ref().name.as_str()) {
                bail!("{}: there are two images '{}'", at(&image.span()), image.get_ref().name);
            }
            names.push(&image.get_ref().name);
        }
        if let Transport::Disk { image, .. } = read.transport.get_ref()
            && !names.contains(&image.as_str())
        {
            bail!("{}: the transport's image '{image}' is not among the images", at(&read.transport.span()));
        }
        if let Some(cut) = &read.power_cut {
            for name in [&cut.get_ref().disk, &cut.get_ref().log] {
                if !names.contains(&name.as_str()) {
                    bail!("{}: the power cut's image '{name}' is not among the images", at(&cut.span()));
                }
            }
        }
        for argument in &read.qemu {
            for used in placeholders(argument.get_ref()) {
                let known = names.contains(&used) || (used == "card" && read.card.is_some());
                if !known {
                    let remedy = if used == "card" { "set card = NAME" } else { "add an [[image]] of that name" };
                    bail!("{}: {{{used}}} stands for nothing; {remedy}", at(&argument.span()));
                }
            }
        }
        if !read.kernel.get_ref().starts_with("linux-image-") {
            bail!(
                "{}: '{}' is no package of a kernel (linux-image-...)",
                at(&read.kernel.span()),
                read.kernel.get_ref()
            );
        }
        for check in &read.checks {
            let (check, line) = (check.get_ref(), at(&check.span()));
            let of_target = check.driver.is_some() || !check.facts.is_empty() || !check.findings.is_empty();
            if of_target && check.target.is_none() {
                bail!("{line}: driver, facts and findings are about a target, and there is none");
            }
            if check.target.is_some() && !of_target && check.no_findings.is_empty() {
                bail!("{line}: nothing is asserted of {}", check.target.as_deref().unwrap_or_default());
            }
            if check.target.is_none() && check.command.is_none() && check.emulator_log.is_empty() {
                bail!("{line}: a check needs a target, a command, or emulator-log");
            }
            if check.finds_damage && (read.card.is_none() || check.command.is_none()) {
                bail!("{line}: damage is found by a command, and done by a card: the check needs both");
            }
            if !check.emulator_log.is_empty() && read.log.is_none() {
                bail!("{line}: there is no log to look at; set log = \"unimp\" for the machine");
            }
        }
        let boot = read.boot.unwrap_or(match read.arch {
            Arch::Amd64 => Boot::Vmlinux,
            Arch::Armhf => Boot::Vmlinuz,
        });
        Ok(Self {
            name: name.to_owned(),
            title: read.title,
            machine: read.machine,
            arch: read.arch,
            kernel: read.kernel.into_inner(),
            boot,
            dtb: read.dtb,
            memory_bytes: read.memory,
            cpus: read.cpus,
            console: read.console,
            append: read.append,
            modules: read.modules,
            packages: read.packages,
            qemu: read.qemu.into_iter().map(Spanned::into_inner).collect(),
            log: read.log,
            transport: read.transport.into_inner(),
            wait_for: read.wait_for,
            setup: read.setup,
            card: read.card.map(Spanned::into_inner),
            powers_off: read.powers_off,
            boot_limit: read.boot_limit,
            run_limit: read.run_limit,
            capture: read.capture,
            power_cut: read.power_cut.map(Spanned::into_inner),
            images: read.images.into_iter().map(Spanned::into_inner).collect(),
            checks: read.checks.into_iter().map(Spanned::into_inner).collect(),
        })
    }

    /// Reads a machine's file.
    ///
    /// # Errors
    /// There is none of this name (those that there are follow), or its text is wrong.
    pub fn load(directory: &Path, name: &str) -> anyhow::Result<Self> {
        let path = directory.join(format!("{name}.toml"));
        if !path.exists() {
            bail!("there is no machine '{name}'; there are: {}", names(directory)?.join(", "));
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

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"title = "small"
machine = "pc"
arch = "amd64"
kernel = "linux-image-amd64"
memory = "512MiB"
console = "ttyS0"
transport = "virtio-serial"
"#;

    fn error(more: &str) -> String {
        let error = Machine::parse("small", &format!("{SMALL}{more}")).expect_err(more);
        format!("{error:#}")
    }

    #[test]
    fn every_machine_of_the_lab_can_be_read() {
        let all = all(&super::super::machines_directory()).expect("lab/machines");
        for name in ["microvm", "pc-piix", "q35-ahci"] {
            assert!(all.iter().any(|m| m.name == name), "{name} is missing");
        }
    }

    #[test]
    fn defaults_are_filled_in() {
        let small = Machine::parse("small", SMALL).expect("sound");
        assert_eq!((small.boot, small.cpus, small.memory_bytes), (Boot::Vmlinux, 1, 512 << 20));
        assert_eq!(small.boot_limit, Duration::from_secs(60));
        assert!(small.powers_off && small.images.is_empty() && small.checks.is_empty());
    }

    #[test]
    fn errors_name_the_line() {
        for (more, words) in [
            ("speed = 3\n", &["line 8", "speed"][..]),
            ("boot-limit = \"soon\"\n", &["line 8"]),
            ("qemu = [\n  \"-device\",\n  \"ide-hd,drive={disk}\",\n]\n", &["line 10", "{disk}"]),
            ("[[image]]\nname = \"Disk\"\nsize = \"1MiB\"\n", &["line 9", "Disk"]),
            ("[[image]]\nname = \"sd0\"\nsize = \"1MiB\"\n", &["sd0"]),
            (
                "[[image]]\nname = \"a\"\nsize = \"1MiB\"\n[[image]]\nname = \"a\"\nsize = \"1MiB\"\n",
                &["line 11", "two images"],
            ),
            ("[[check]]\nwhat = \"x\"\n", &["line 8", "needs a target"]),
            ("[[check]]\nwhat = \"x\"\ndriver = \"ahci\"\n", &["line 8", "there is none"]),
            ("[[check]]\nwhat = \"x\"\nemulator-log = [\"P0\"]\n", &["line 8", "no log"]),
        ] {
            let said = error(more);
            assert!(words.iter().all(|w| said.contains(w)), "{more}: {said}");
        }
    }

    #[test]
    fn a_transport_must_lead_somewhere() {
        let text = |transport: &str| SMALL.replace("\"virtio-serial\"", transport);
        let wrong = Machine::parse("small", &text("\"pigeon\"")).expect_err("no transport").to_string();
        assert!(wrong.contains("line 7") && wrong.contains("pigeon"), "{wrong}");
        let lost = text("{ image = \"spare\", device = \"/dev/sdb\" }");
        let lost = Machine::parse("small", &lost).expect_err("no image").to_string();
        assert!(lost.contains("line 7") && lost.contains("spare"), "{lost}");
    }

    #[test]
    fn braces_of_json_stand_for_themselves() {
        let json = r#"{"driver": "blkdebug", "image": {"filename": "{disk}"}}"#;
        assert_eq!(placeholders(json).collect::<Vec<_>>(), ["disk"]);
    }

    #[test]
    fn no_kernel_but_debians() {
        let text = SMALL.replace("linux-image-amd64", "vmlinuz-custom");
        let said = Machine::parse("small", &text).expect_err("no package").to_string();
        assert!(said.starts_with("line 4"), "{said}");
    }
}
