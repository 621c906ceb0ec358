//! The emulator's command line for a machine: a pure function of what is in its file and where things are on the host.

use super::accesses;
use super::machine::{Arch, Clock, Machine, Transport};
use super::network::{self, Port};
use super::qemu::Console;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the things are that the command line names.
pub struct Places<'a> {
    pub kernel: &'a Path,
    /// The first root file system.
    pub initrd: &'a Path,
    /// The device tree, where the machine has one.
    pub device_tree: Option<&'a Path>,
    /// The images by name.
    pub images: &'a BTreeMap<String, PathBuf>,
    /// File that the virtio-serial port writes.
    pub results: &'a Path,
    /// File of the console, for a terminal; a pipe is kept by the session.
    pub console_log: &'a Path,
    /// File of what the emulator logs (`-d`).
    pub emulator_log: &'a Path,
    /// The plugin that counts accesses, and its log, where the machine has them counted.
    pub plugin: Option<(&'a Path, &'a Path)>,
    /// Socket of the card server, where the machine has a card.
    pub card: Option<&'a Path>,
    /// How it is connected to the other guests, where there are some.
    pub port: Option<&'a Port>,
    /// Frequency of the emulated time stamp counter.
    pub tsc_khz: u64,
}

/// Frequency that an emulated time stamp counter has here: the host's own, which the emulator passes on; on hosts without
/// one it counts nanoseconds (cpu_get_host_ticks of the emulator). Scaled processors make it a little wrong, and the
/// guest's seconds with it.
pub fn tsc_khz(cpuinfo: &str) -> u64 {
    let mhz =
        cpuinfo.lines().find_map(|l| l.strip_prefix("cpu MHz")?.trim_start_matches(['\t', ' ', ':']).parse().ok());
    mhz.filter(|mhz| *mhz > 0.0).map_or(1_000_000, |mhz: f64| (mhz * 1000.0) as u64)
}

/// A comma in a path is written twice (qemu(1)).
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

pub fn arguments(machine: &Machine, places: &Places<'_>, console: Console) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| all.extend(words.iter().map(OsString::from));
    add(&["-M", &machine.machine]);
    // Hardware acceleration is never needed, and not everywhere there; figures mean nothing either way.
    let (accelerator, tsc_khz) = match machine.clock {
        Clock::Host => ("tcg,thread=multi", places.tsc_khz),
        // Then the time stamp counter counts nanoseconds too (cpu_get_ticks of the emulator).
        Clock::Instructions => ("tcg,thread=single", 1_000_000),
    };
    add(&["-accel", accelerator, "-smp", &machine.cpus.to_string()]);
    if machine.clock == Clock::Instructions {
        add(&["-icount", "shift=2,sleep=off"]);
    }
    add(&["-m", &format!("{}M", machine.memory_bytes >> 20)]);
    add(&["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
    match console {
        Console::Piped => {
            add(&["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console", "-monitor", "none"]);
        }
        Console::Terminal => {
            let log = escaped(places.console_log);
            add(&["-chardev", &format!("stdio,id=console,mux=on,signal=off,logfile={log}")]);
            add(&["-serial", "chardev:console", "-mon", "chardev=console,mode=readline"]);
        }
    }
    add(&["-kernel", &places.kernel.to_string_lossy(), "-initrd", &places.initrd.to_string_lossy()]);
    if let Some(tree) = places.device_tree {
        add(&["-dtb", &tree.to_string_lossy()]);
    }
    let quiet = if console == Console::Piped { "quiet" } else { "" };
    let append = machine.append.replace("{tsc-khz}", &tsc_khz.to_string());
    // On a busy host the emulated timer comes too late for the kernel's test of it, and the kernel panics ("IO-APIC + timer
    // doesn't work"); hypervisors that the kernel knows switch the test off (k:arch/x86/kernel/apic/io_apic.c).
    let check = if machine.arch == Arch::Amd64 { "no_timer_check" } else { "" };
    // The kernel's tests of its ciphers have hung an emulated processor, and nothing here is about ciphers.
    let append = format!("console={} panic=-1 cryptomgr.notests {quiet} {append} {check}", machine.console);
    add(&["-append", append.split_whitespace().collect::<Vec<_>>().join(" ").as_str()]);
    for image in machine.images.iter().filter(|i| i.interface != "file") {
        let file = places.images.get(&image.name).map(|p| escaped(p)).unwrap_or_default();
        let mut drive = format!("if={},id={},format=raw,file={file}", image.interface, image.name);
        if let Some(options) = &image.options {
            drive.push(',');
            drive.push_str(options);
        }
        add(&["-drive", &drive]);
    }
    let is_microvm = machine.machine.starts_with("microvm");
    if let Some(port) = places.port {
        add(&network::arguments(port, is_microvm).iter().map(String::as_str).collect::<Vec<_>>());
    }
    if machine.transport == Transport::VirtioSerial {
        let bus = if is_microvm { "virtio-serial-device" } else { "virtio-serial-pci" };
        add(&["-device", bus, "-device", "virtserialport,chardev=results,name=narrows.lab"]);
        add(&["-chardev", &format!("file,id=results,path={}", escaped(places.results))]);
    }
    if let Some(log) = &machine.log {
        add(&["-d", log, "-D", &places.emulator_log.to_string_lossy()]);
    }
    if let (Some(accesses), Some((plugin, log))) = (&machine.accesses, places.plugin) {
        add(&["-plugin", &accesses::argument(accesses, plugin, log)]);
    }
    for argument in &machine.qemu {
        let mut argument = argument.clone();
        for (name, path) in places.images {
            argument = argument.replace(&format!("{{{name}}}"), &escaped(path));
        }
        if let Some(card) = places.card {
            argument = argument.replace("{card}", &escaped(card));
        }
        all.push(argument.into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, console: Console) -> String {
        let machine = Machine::parse("m", text).expect("sound");
        let images = BTreeMap::from([("disk".to_owned(), PathBuf::from("/w/a,b.img"))]);
        let places = Places {
            kernel: Path::new("/k"),
            initrd: Path::new("/i"),
            device_tree: None,
            images: &images,
            results: Path::new("/r"),
            console_log: Path::new("/c"),
            emulator_log: Path::new("/e"),
            plugin: Some((Path::new("/p,so"), Path::new("/a"))),
            card: Some(Path::new("/s")),
            port: Some(&Port::Hub(vec!["/n".into()])),
            tsc_khz: 2_596_146,
        };
        let all = arguments(&machine, &places, console);
        all.iter().map(|a| a.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    const TEXT: &str = r#"
title = "m"
machine = "q35"
arch = "amd64"
kernel = "linux-image-amd64"
memory = "512MiB"
console = "ttyS0"
append = "reboot=t tsc_early_khz={tsc-khz}"
transport = "virtio-serial"
card = "intenso-class4"
log = "unimp"
qemu = ["-device", "ide-hd,drive=disk", "-drive", "file={disk}", "-drive", "file.path={card}"]
[accesses]
from = 0xffbc0000
size = "4MiB"
ram = 0x30000000
wait = "2us"
bus = 4
[[image]]
name = "disk"
size = "1MiB"
options = "cache=writethrough"
"#;

    #[test]
    fn everything_of_the_file_is_on_the_command_line() {
        let line = line(TEXT, Console::Piped);
        for part in [
            "-M q35 ",
            "-m 512M ",
            "-append console=ttyS0 panic=-1 cryptomgr.notests quiet reboot=t tsc_early_khz=2596146 ",
            "-drive if=none,id=disk,format=raw,file=/w/a,,b.img,cache=writethrough ",
            "-device virtio-serial-pci ",
            "addr.path=/n -netdev hubport,id=port0,hubid=0,netdev=link0 -device virtio-net-pci,netdev=net,",
            "-d unimp -D /e ",
            "-plugin /p,,so,log=/a,from=0xffbc0000,size=4194304,ram=0x30000000,wait=2000,bus=4 ",
            "-drive file=/w/a,,b.img ",
            "-drive file.path=/s",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert!(!line.contains("kvm") && !line.contains("icount"), "{line}");
    }

    #[test]
    fn a_clock_of_instructions_has_a_counter_of_nanoseconds() {
        let text = TEXT.replace("console =", "clock = \"instructions\"\nconsole =");
        let line = line(&text, Console::Piped);
        for part in ["-accel tcg,thread=single -smp 1 -icount shift=2,sleep=off ", " tsc_early_khz=1000000 "] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }

    #[test]
    fn the_counter_is_the_hosts_where_it_has_one() {
        assert_eq!(tsc_khz("model name\t: x\ncpu MHz\t\t: 2596.146\ncpu MHz\t\t: 1.0\n"), 2_596_146);
        assert_eq!(tsc_khz("processor\t: 0\nBogoMIPS\t: 48.00\n"), 1_000_000);
        assert_eq!(tsc_khz("cpu MHz\t\t: 0.000\n"), 1_000_000);
    }

    #[test]
    fn a_terminal_has_the_monitor_and_the_kernels_messages() {
        let line = line(&TEXT.replace("\"q35\"", "\"microvm\""), Console::Terminal);
        assert!(line.contains("mux=on") && !line.contains("quiet"), "{line}");
        assert!(line.contains("-device virtio-serial-device "), "{line}");
        assert!(line.contains("-device virtio-net-device,"), "{line}");
    }
}
