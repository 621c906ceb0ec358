//! One boot of one machine: everything is prepared, the emulator started, the guest watched until it has done its job or
//! a limit is reached, and what it left is brought home. However it ends, the emulator ends with it.

use super::arguments::{Places, arguments, tsc_khz};
use super::card::{ServedCard, Slot, Summary};
use super::guest_life::{self, Boot};
use super::initrd::{Base, GuestJob, Of, compiled, initrd, programs_in, programs_of};
use super::kernel::Kernel;
use super::machine::{Archive, Image, Machine};
use super::modules::Modules;
use super::network::{self, Port};
use super::own_modules::ModuleBuilder;
use super::packages::Store;
use super::programs::Programs;
use super::qemu::{Console, Emulator};
use super::scratch::{Scratch, sweep_left_behind, sweep_older};
use super::session_options::SessionOptions;
use super::transport::{ResultPaths, unpack};
use super::watch::Watch;
use super::{accesses, own_modules, own_programs, progress, qemu, space};
use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long consoles are kept.
const KEEP_LOGS_FOR: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a kernel of Debian takes for itself while it starts.
const KERNEL_BYTES: u64 = 96 << 20;

/// Random bytes of images are repeated after this much: enough that no reader takes them for a constant.
const PATTERN_BYTES: usize = 1 << 20;

/// What all sessions of one command share.
pub struct Lab {
    /// Where all of the lab is kept: `target/lab`.
    pub directory: PathBuf,
    /// Packages that were fetched.
    pub store: Store,
    /// The programs for the guests.
    pub programs: Programs,
}

/// A machine with all that it takes to start it.
pub struct Prepared {
    machine: Machine,
    emulator: PathBuf,
    kernel_image: PathBuf,
    device_tree: Option<PathBuf>,
    /// What counts accesses in the emulator, where they are counted.
    plugin: Option<PathBuf>,
    base: Base,
    /// Kernel release, for reports.
    pub release: String,
    /// Package and version of the kernel.
    pub package: String,
    /// What was noted on the way.
    pub notes: Vec<String>,
}

impl Prepared {
    /// Which emulator it is, in its own words.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn emulator_version(&self) -> anyhow::Result<String> {
        let output = std::process::Command::new(&self.emulator).arg("--version").output();
        let output = output.with_context(|| format!("cannot run {}", self.emulator.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("an unknown version").to_owned())
    }
}

/// What a guest left.
pub struct GuestResult {
    /// How the command ended.
    pub exit: i32,
    /// What it left in `/lab/out`; gone when this is dropped.
    pub out: Scratch,
    /// The console, whole.
    pub console: PathBuf,
    /// What the emulator logged, if the machine asks for it.
    pub emulator_log: Option<PathBuf>,
    /// What was counted of its accesses, if the machine asks for it.
    pub accesses_log: Option<PathBuf>,
    /// Time until the guest was ready.
    pub boot: Duration,
    /// Time of the session.
    pub took: Duration,
    /// Whoever sat before it ended the emulator, so that nothing came back.
    pub was_ended: bool,
    /// What the guest noted.
    pub notes: Vec<String>,
    /// What its card did, if it had one.
    pub card: Option<Summary>,
}

impl GuestResult {
    /// A file that the guest left, as text; empty if it did not.
    pub fn text(&self, name: &str) -> String {
        fs::read(self.out.path().join(name)).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
    }
}

/// Makes an image: sparse, or filled with what cannot be compressed.
pub fn make_image(path: &Path, image: &Image) -> anyhow::Result<()> {
    let made = || -> std::io::Result<()> {
        let mut file = File::create(path)?;
        if image.filled {
            let mut pattern = vec![0; PATTERN_BYTES];
            File::open("/dev/urandom")?.read_exact(&mut pattern)?;
            let mut left = image.size_bytes;
            while left > 0 {
                let part = usize::try_from(left).unwrap_or(PATTERN_BYTES).min(PATTERN_BYTES);
                file.write_all(&pattern[..part])?;
                left -= part as u64;
            }
        }
        file.set_len(image.size_bytes)
    };
    made().with_context(|| format!("cannot make the image {}", path.display()))
}

impl Lab {
    /// The lab in a directory below cargo's.
    pub fn new(programs: Option<PathBuf>) -> anyhow::Result<Self> {
        let root = crate::workspace_root();
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |d| root.join(d));
        let directory = target.join("lab");
        sweep_left_behind(&directory.join("work"));
        sweep_older(&directory.join("logs"), KEEP_LOGS_FOR);
        Ok(Self { store: Store::new(&directory), programs: Programs::new(programs), directory })
    }

    /// Fetches, unpacks and builds what a machine needs.
    ///
    /// # Errors
    /// [`super::unavailable::Unavailable`] when the emulator, a package or a compiler is missing and cannot be had; else what
    /// is wrong.
    pub fn prepare(&self, machine: &Machine) -> anyhow::Result<Prepared> {
        let emulator = qemu::find(machine.arch)?;
        let package = self.store.get((machine.arch, machine.kernel_from), &machine.kernel)?;
        let busybox = self.store.get((machine.arch, Archive::Release), "busybox-static")?;
        let kernel = Kernel::of(&package.directory)?;
        let (kernel_image, note) = kernel.image(machine.boot, &self.directory.join("kernels"))?;
        let device_tree = machine.dtb.as_deref().map(|name| kernel.device_tree(name)).transpose()?;
        let modules = Modules::of(&kernel.modules())?;
        let modules = modules.with(&self.own_modules(machine, &kernel.release)?).closure(&machine.modules)?;
        let busybox = ["bin/busybox", "usr/bin/busybox"].map(|p| busybox.directory.join(p));
        let busybox = busybox.iter().find(|p| p.is_file()).context("busybox-static has no busybox")?;
        let busybox = fs::read(busybox).with_context(|| format!("cannot read {}", busybox.display()))?;
        let mut programs = Vec::new();
        for name in &machine.packages {
            let package = self.store.first_of((machine.arch, Archive::Release), name)?;
            programs.extend(programs_of(&package.directory).with_context(|| format!("the files of {name}"))?);
        }
        for name in &machine.programs {
            let source = crate::workspace_root().join("lab/programs").join(format!("{name}.c"));
            let content = own_programs::program(&source, machine.arch, &self.directory.join("programs"))?;
            programs.push(compiled(name, content));
        }
        for name in &machine.brings {
            programs.extend(programs_in(&crate::workspace_root(), name)?);
        }
        let plugin = machine.accesses.as_ref().map(|_| accesses::plugin(&self.directory.join("plugin"))).transpose()?;
        let narrows = self.programs.get(machine.arch)?;
        Ok(Prepared {
            machine: machine.clone(),
            emulator,
            kernel_image,
            device_tree,
            plugin,
            base: Base { busybox, narrows, modules, programs },
            release: kernel.release,
            package: format!("{} {}", package.name, package.version),
            notes: package.notes.into_iter().chain(note).collect(),
        })
    }

    /// Modules of ours that a machine names, compiled for its kernel.
    fn own_modules(&self, machine: &Machine, release: &str) -> anyhow::Result<Vec<PathBuf>> {
        let sources = crate::workspace_root().join("lab/modules");
        let cache = self.directory.join("modules");
        let (store, lists) = (&self.store, (machine.arch, machine.kernel_from));
        let workshop = ModuleBuilder { store, sources: &sources, cache: &cache, lists, release };
        let names = own_modules::names(&sources)?;
        let named = |name: &&String| machine.modules.iter().any(|m| m.split(' ').next() == Some(name.as_str()));
        names.iter().filter(named).map(|name| workshop.module(name)).collect()
    }

    /// Boots a machine, has it do a job, and brings home what it left.
    ///
    /// # Errors
    /// [`super::watch::GuestFailure`] when the guest fails, [`super::interrupts::Interrupted`], or what is wrong with the host.
    pub fn run(&self, prepared: &Prepared, job: &GuestJob, options: &SessionOptions) -> anyhow::Result<GuestResult> {
        let machine = &prepared.machine;
        let begun = Instant::now();
        let work = Scratch::new(&self.directory.join("work"), &machine.name)?;
        let logs = self.directory.join("logs");
        fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
        let label = work.path().file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let console_log = logs.join(format!("{label}.console"));
        let emulator_log = logs.join(format!("{label}.emulator"));
        let accesses_log = logs.join(format!("{label}.accesses"));
        let room: u64 = machine.images.iter().filter(|i| i.filled).map(|i| i.size_bytes).sum();
        space::require(&self.directory, room + (256 << 20), &machine.name)?;

        let mut images = BTreeMap::new();
        for image in &machine.images {
            let path = options.images.get(&image.name).cloned();
            let path = path.unwrap_or_else(|| work.path().join(format!("{}.img", image.name)));
            if !path.exists() {
                make_image(&path, image)?;
            }
            images.insert(image.name.clone(), path);
        }
        let nonce = format!("{:08x}", nonce()?);
        let initrd_path = work.path().join("initrd");
        let of = Of { nonce: &nonce, live: options.live, beside: None };
        let initrd = initrd(machine, &prepared.base, job, of);
        fits(machine, initrd.len() as u64)?;
        fs::write(&initrd_path, initrd).with_context(|| format!("cannot write {}", initrd_path.display()))?;
        let results = work.path().join("results");
        let card = insert_card(machine, options, work.path())?;
        let hub = network::hub(machine, work.path())?;
        let boots = prepared.guests_beside(hub.as_ref(), work.path(), &logs.join(&label))?;
        let places = Places {
            kernel: &prepared.kernel_image,
            initrd: &initrd_path,
            device_tree: prepared.device_tree.as_deref(),
            images: &images,
            results: &results,
            console_log: &console_log,
            emulator_log: &emulator_log,
            plugin: prepared.plugin.as_deref().map(|plugin| (plugin, accesses_log.as_path())),
            card: card.as_ref().map(ServedCard::socket),
            port: hub.as_ref(),
            tsc_khz: host_tsc_khz(),
        };
        let mode = if job.script.is_some() { Console::Piped } else { Console::Terminal };
        let arguments = arguments(machine, &places, mode);
        let said_path = work.path().join("emulator-said");
        let said = File::create(&said_path).with_context(|| format!("cannot create {}", said_path.display()))?;
        let mut emulator = Emulator::start(&prepared.emulator, &arguments, mode, said)?;
        let consoles: Vec<String> = boots.iter().map(|boot| boot.console_log.display().to_string()).collect();
        let guests = guest_life::start(boots)?;
        let watch = Watch::new(machine, &nonce, &console_log, options, &mut emulator)?;
        let watched = watch.with_guests_beside(&guests).until_done(&mut emulator, &said_path).inspect_err(|_| {
            if !consoles.is_empty() {
                let names = consoles.join(", ");
                progress::print_status(&format!("{}: consoles of the guests beside it: {names}", machine.name));
            }
        })?;
        drop(guests);
        emulator.end();
        let card = card.map(ServedCard::stop);
        let out = Scratch::new(&self.directory.join("work"), &format!("{}-out", machine.name))?;
        let arrived = ResultPaths { port: &results, console: &watched.results, images: &images };
        if !watched.was_ended {
            unpack(&machine.transport, &arrived, out.path())
                .with_context(|| format!("{}; the console is kept in {}", machine.name, console_log.display()))?;
        }
        Ok(GuestResult {
            exit: watched.exit,
            out,
            console: console_log,
            emulator_log: machine.log.as_ref().map(|_| emulator_log),
            accesses_log: machine.accesses.as_ref().map(|_| accesses_log),
            boot: watched.boot,
            took: begun.elapsed(),
            was_ended: watched.was_ended,
            notes: watched.notes,
            card,
        })
    }
}

impl Prepared {
    /// What it takes to start the guests beside it: the names of their files begin with `log`.
    fn guests_beside(&self, hub: Option<&Port>, work: &Path, log: &Path) -> anyhow::Result<Vec<Boot>> {
        let Some(Port::Hub(sockets)) = hub else { return Ok(Vec::new()) };
        let mut boots = Vec::new();
        for (number, (guest, socket)) in self.machine.guests.iter().zip(sockets).enumerate() {
            let machine = guest.of(&self.machine);
            let nonce = format!("{:08x}", nonce()?);
            let of = Of { nonce: &nonce, live: false, beside: Some(number) };
            let initrd = initrd(&self.machine, &self.base, &GuestJob::script(""), of);
            fits(&machine, initrd.len() as u64)?;
            let at = |what: &str| work.join(format!("{}.{what}", guest.name));
            fs::write(at("initrd"), initrd).with_context(|| format!("cannot write {}", at("initrd").display()))?;
            let file = |what: &str| PathBuf::from(format!("{}.{}.{what}", log.display(), guest.name));
            let port = Port::Guest { number, socket: socket.clone() };
            let places = Places {
                kernel: &self.kernel_image,
                initrd: &at("initrd"),
                device_tree: self.device_tree.as_deref(),
                images: &BTreeMap::new(),
                results: &at("results"),
                console_log: &file("console"),
                emulator_log: &file("emulator"),
                plugin: None,
                card: None,
                port: Some(&port),
                tsc_khz: host_tsc_khz(),
            };
            boots.push(Boot {
                name: guest.name.clone(),
                arguments: arguments(&machine, &places, Console::Piped),
                emulator: self.emulator.clone(),
                machine,
                nonce,
                console_log: file("console"),
                said: at("said"),
                socket: Some(socket.clone()),
            });
        }
        Ok(boots)
    }
}

/// Frequency of the emulated time stamp counter on this host.
fn host_tsc_khz() -> u64 {
    tsc_khz(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// The card that a machine is to have, if it has a slot for one.
fn insert_card(machine: &Machine, options: &SessionOptions, directory: &Path) -> anyhow::Result<Option<ServedCard>> {
    let Some(name) = &machine.card else { return Ok(None) };
    let slot = match &options.card {
        Some(slot) => slot.clone(),
        None => Slot::of(name)?,
    };
    slot.serve(directory).map(Some)
}

/// # Errors
/// A guest that is given more than fits into its memory would not boot, and not say why.
fn fits(machine: &Machine, initrd_bytes: u64) -> anyhow::Result<()> {
    // It is there twice while the kernel unpacks it.
    let needed = KERNEL_BYTES + 2 * initrd_bytes;
    ensure!(
        needed <= machine.memory_bytes,
        "{}: what it is given has {} MiB, for which a memory of {} MiB is too small: {} MiB are enough",
        machine.name,
        initrd_bytes >> 20,
        machine.memory_bytes >> 20,
        needed.div_ceil(1 << 20)
    );
    Ok(())
}

/// A number that nobody can foresee.
fn nonce() -> anyhow::Result<u32> {
    let mut bytes = [0; 4];
    File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes)).context("cannot read /dev/urandom")?;
    Ok(u32::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guest_is_given_must_fit_into_its_memory() {
        let machine = Machine::load(&crate::machines_directory(), "microvm").expect("the machine");
        fits(&machine, 20 << 20).expect("20 MiB fit into 512");
        let error = fits(&machine, 300 << 20).expect_err("300 MiB do not").to_string();
        assert!(error.contains("microvm") && error.contains("300 MiB") && error.contains("696 MiB"), "{error}");
    }

    #[test]
    fn images_are_sparse_or_full() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut image = Image {
            name: "d".into(),
            size_bytes: (3 << 20) + 512,
            interface: "none".into(),
            options: None,
            filled: true,
        };
        let path = directory.path().join("full");
        make_image(&path, &image).expect("an image");
        let full = fs::read(&path).expect("the image");
        assert_eq!(full.len() as u64, image.size_bytes);
        assert!(full.chunks(4096).all(|c| c.iter().any(|b| *b != c[0])));
        image.filled = false;
        let path = directory.path().join("sparse");
        make_image(&path, &image).expect("an image");
        assert!(fs::read(&path).expect("the image").iter().all(|b| *b == 0));
    }
}
