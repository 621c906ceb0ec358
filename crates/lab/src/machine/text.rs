//! The text of a machine's file: read and checked as a whole, each error with its line and, for a name that is not known, the
//! name that may have been meant.

use super::values::{a_minute, duration, five_minutes, is_plain, memory, one, processors, yes};
use super::{Accesses, Arch, Archive, Boot, Clock, GuestBeside, Image, Machine, MachineCheck, PowerCut, Transport};
use crate::mistakes::{did_you_mean, explained};
use anyhow::bail;
use serde::Deserialize;
use std::ops::Range;
use std::time::Duration;
use toml::Spanned;

/// The file of a machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Text {
    title: String,
    machine: String,
    arch: Arch,
    kernel: Spanned<String>,
    #[serde(default)]
    kernel_from: Archive,
    #[serde(default)]
    boot: Option<Boot>,
    #[serde(default)]
    dtb: Option<Spanned<String>>,
    #[serde(deserialize_with = "memory")]
    memory: u64,
    #[serde(default = "one", deserialize_with = "processors")]
    cpus: u32,
    #[serde(default)]
    clock: Option<Spanned<Clock>>,
    console: String,
    #[serde(default)]
    append: String,
    #[serde(default)]
    modules: Vec<Spanned<String>>,
    #[serde(default)]
    packages: Vec<String>,
    #[serde(default)]
    programs: Vec<Spanned<String>>,
    #[serde(default)]
    brings: Vec<Spanned<String>>,
    #[serde(default)]
    qemu: Vec<Spanned<String>>,
    #[serde(default)]
    log: Option<String>,
    transport: Spanned<Transport>,
    #[serde(default)]
    wait_for: Vec<Spanned<String>>,
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
    accesses: Option<Accesses>,
    #[serde(default)]
    power_cut: Option<Spanned<PowerCut>>,
    #[serde(default, rename = "guest")]
    guests: Vec<Spanned<GuestBeside>>,
    #[serde(default, rename = "image")]
    images: Vec<Spanned<Image>>,
    #[serde(default, rename = "check")]
    checks: Vec<Spanned<MachineCheck>>,
}

/// More emulators than this at once tell more about the host than about what runs in them.
const MOST_GUESTS: usize = 8;

/// Line of a place in a text, from 1 on.
fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.as_bytes().iter().take(span.start).filter(|b| **b == b'\n').count() + 1
}

/// Names in braces that an argument uses.
fn placeholders(argument: &str) -> impl Iterator<Item = &str> {
    // Other braces belong to JSON.
    argument
        .split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}').map(|(name, _)| name))
        .filter(|name| is_plain(name))
}

/// Reads the text of a machine's file.
///
/// # Errors
/// What is wrong, with the line.
pub fn parse(name: &str, text: &str) -> anyhow::Result<Machine> {
    if !is_plain(name) {
        bail!("'{name}' is not the name of a machine: lower-case letters, digits and -");
    }
    let read: Text = toml::from_str(text).map_err(|e| anyhow::anyhow!(explained(&e)))?;
    if let Some((span, what)) = read.contradiction() {
        bail!("line {}: {what}", line_of(text, &span));
    }
    let boot = read.boot.unwrap_or(match read.arch {
        Arch::Amd64 => Boot::Vmlinux,
        Arch::Armhf | Arch::Arm64 => Boot::Vmlinuz,
    });
    Ok(Machine {
        name: name.to_owned(),
        title: read.title,
        machine: read.machine,
        arch: read.arch,
        kernel: read.kernel.into_inner(),
        kernel_from: read.kernel_from,
        boot,
        dtb: read.dtb.map(Spanned::into_inner),
        memory_bytes: read.memory,
        cpus: read.cpus,
        clock: read.clock.map(Spanned::into_inner).unwrap_or_default(),
        console: read.console,
        append: read.append,
        modules: read.modules.into_iter().map(Spanned::into_inner).collect(),
        packages: read.packages,
        programs: read.programs.into_iter().map(Spanned::into_inner).collect(),
        brings: read.brings.into_iter().map(Spanned::into_inner).collect(),
        qemu: read.qemu.into_iter().map(Spanned::into_inner).collect(),
        log: read.log,
        transport: read.transport.into_inner(),
        wait_for: read.wait_for.into_iter().map(Spanned::into_inner).collect(),
        setup: read.setup,
        card: read.card.map(Spanned::into_inner),
        powers_off: read.powers_off,
        boot_limit: read.boot_limit,
        run_limit: read.run_limit,
        capture: read.capture,
        accesses: read.accesses,
        power_cut: read.power_cut.map(Spanned::into_inner),
        guests: read.guests.into_iter().map(Spanned::into_inner).collect(),
        images: read.images.into_iter().map(Spanned::into_inner).collect(),
        checks: read.checks.into_iter().map(Spanned::into_inner).collect(),
    })
}

impl Text {
    /// The first thing that makes no sense, and where it stands.
    fn contradiction(&self) -> Option<(Range<usize>, String)> {
        let of_names = self.of_images().or_else(|| self.of_guests());
        of_names.or_else(|| self.of_words()).or_else(|| self.of_card()).or_else(|| self.of_checks())
    }

    fn image_names(&self) -> Vec<&str> {
        self.images.iter().map(|image| image.get_ref().name.as_str()).collect()
    }

    /// Names of images that are there twice, or that are used and not there.
    fn of_images(&self) -> Option<(Range<usize>, String)> {
        let names = self.image_names();
        for (i, image) in self.images.iter().enumerate() {
            let name = &image.get_ref().name;
            if names[..i].contains(&name.as_str()) {
                return Some((image.span(), format!("there are two images '{name}'")));
            }
        }
        let mut used: Vec<(Range<usize>, &str, &String)> = Vec::new();
        if let Transport::Disk { image, .. } = self.transport.get_ref() {
            used.push((self.transport.span(), "transport", image));
        }
        if let Some(cut) = &self.power_cut {
            used.extend([&cut.get_ref().disk, &cut.get_ref().log].map(|image| (cut.span(), "power cut", image)));
        }
        for (span, whose, name) in used {
            if !names.contains(&name.as_str()) {
                let meant = did_you_mean(name, names.iter().copied());
                return Some((span, format!("the {whose}'s image '{name}' is not among the images{meant}")));
            }
        }
        for argument in &self.qemu {
            for used in placeholders(argument.get_ref()) {
                let known = names.contains(&used) || (used == "card" && self.card.is_some());
                if !known {
                    let remedy = if used == "card" { "set card = NAME" } else { "add an [[image]] of that name" };
                    let meant = did_you_mean(used, names.iter().copied());
                    return Some((argument.span(), format!("{{{used}}} has no value{meant}; {remedy}")));
                }
            }
        }
        None
    }

    /// Guests beside the machine that cannot be told from each other, or that would have no network.
    fn of_guests(&self) -> Option<(Range<usize>, String)> {
        let names: Vec<&str> = self.guests.iter().map(|guest| guest.get_ref().name.as_str()).collect();
        for (i, guest) in self.guests.iter().enumerate() {
            if let Some(what) = guest.get_ref().contradiction(&names[..i]) {
                return Some((guest.span(), what));
            }
        }
        if let Some(guest) = self.guests.get(MOST_GUESTS) {
            return Some((guest.span(), format!("at most {MOST_GUESTS} guests are beside a machine")));
        }
        let has_network = self.modules.iter().any(|module| module.get_ref() == "virtio_net");
        let first = self.guests.first().filter(|_| !has_network)?;
        Some((first.span(), "guests reach each other by virtio_net, which is not among the modules".into()))
    }

    /// Words that cannot be what they should be.
    fn of_words(&self) -> Option<(Range<usize>, String)> {
        let kernel = self.kernel.get_ref();
        if !kernel.starts_with("linux-image-") {
            return Some((self.kernel.span(), format!("'{kernel}' is not a package of a kernel (linux-image-...)")));
        }
        if let Some(dtb) = self.dtb.as_ref().filter(|_| self.arch == Arch::Amd64) {
            return Some((dtb.span(), "a device tree is for boards; arch = \"amd64\" has none".into()));
        }
        let counted = self.clock.as_ref().filter(|clock| *clock.get_ref() == Clock::Instructions);
        if let Some(clock) = counted.filter(|_| self.cpus > 1 || !self.guests.is_empty()) {
            let what =
                "a clock of instructions is of one processor and of one guest: cpus = 1, and no guests beside it";
            return Some((clock.span(), what.into()));
        }
        if let Some(module) = self.modules.iter().find(|m| m.get_ref().trim().is_empty()) {
            return Some((module.span(), "a module has a name".into()));
        }
        if let Some(brought) = self.brings.iter().find(|b| !crate::workspace_root().join(b.get_ref()).is_dir()) {
            return Some((brought.span(), format!("'{}' is not a directory of this tree", brought.get_ref())));
        }
        let source = |name: &str| crate::workspace_root().join("lab/programs").join(format!("{name}.c"));
        if let Some(program) = self.programs.iter().find(|p| !source(p.get_ref()).is_file()) {
            return Some((program.span(), format!("'{}' is not a program of lab/programs", program.get_ref())));
        }
        if let Transport::Disk { device, .. } = self.transport.get_ref()
            && !device.starts_with("/dev/")
        {
            return Some((self.transport.span(), format!("'{device}' is not a device of the guest (/dev/...)")));
        }
        let device = self.wait_for.iter().find(|d| !d.get_ref().starts_with('/') || d.get_ref().contains(' '))?;
        Some((device.span(), format!("'{}' is not a path of the guest (/dev/...)", device.get_ref())))
    }

    /// A card that is not in `lab/cards`; a path stands for itself.
    fn of_card(&self) -> Option<(Range<usize>, String)> {
        let card = self.card.as_ref()?;
        let name = card.get_ref();
        if name.contains('/') || name.ends_with(".toml") {
            return None;
        }
        let known = crate::card::names().unwrap_or_default();
        let meant = did_you_mean(name, known.iter().map(String::as_str));
        (!known.contains(name)).then(|| (card.span(), format!("there is no card '{name}' in lab/cards{meant}")))
    }

    fn of_checks(&self) -> Option<(Range<usize>, String)> {
        let of = |check: &Spanned<MachineCheck>| {
            let check_itself = check.get_ref();
            let what = check_itself.contradiction(self.card.is_some(), self.log.is_some());
            let what = what.or_else(|| check_itself.counts_nothing(self.accesses.is_some()))?;
            Some((check.span(), what))
        };
        self.checks.iter().find_map(of)
    }
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
        let all = super::super::all(&crate::machines_directory()).expect("lab/machines");
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
        assert_eq!(small.kernel_from, Archive::Release);
        let newer = Machine::parse("small", &format!("{SMALL}kernel-from = \"backports\"\n")).expect("sound");
        assert_eq!(newer.kernel_from, Archive::Backports);
    }

    #[test]
    fn errors_name_the_line() {
        for (more, words) in [
            ("speed = 3\n", &["line 8", "speed"][..]),
            ("boot-limt = \"9s\"\n", &["line 8", "did you mean 'boot-limit'?"]),
            ("boot = \"vmlinus\"\n", &["line 8", "vmlinus", "did you mean 'vmlinux'?"]),
            ("kernel-from = \"backport\"\n", &["line 8", "did you mean 'backports'?"]),
            ("clock = \"instruction\"\n", &["line 8", "did you mean 'instructions'?"]),
            ("cpus = 2\nclock = \"instructions\"\n", &["line 9", "one processor"]),
            ("cpus = 0\n", &["line 8", "one processor"]),
            ("cpus = \"2\"\n", &["line 8", "invalid type"]),
            ("run-limit = \"0s\"\n", &["line 8", "limit of 0"]),
            ("dtb = \"x.dtb\"\n", &["line 8", "device tree"]),
            ("wait-for = [\"sda\"]\n", &["line 8", "'sda'", "/dev/"]),
            ("modules = [\"ahci\",\n\"\"]\n", &["line 9", "has a name"]),
            ("brings = [\"tests/rot\"]\n", &["line 8", "'tests/rot' is not a directory"]),
            ("programs = [\"width\"]\n", &["line 8", "'width' is not a program"]),
            ("[[check]]\nwhat = \"x\"\ncommand = \"true\"\nloads = { 4 = 1 }\n", &["line 8", "table accesses"]),
            ("[[check]]\nwhat = \"x\"\ncommand = \"true\"\nloads = { 3 = 1 }\n", &["line 11", "'3' is not a width"]),
            ("card = \"sandisk-utra\"\n", &["line 8", "did you mean 'sandisk-ultra'?"]),
            ("title = \"again\"\n", &["line 8", "duplicate"]),
            ("boot-limit = \"9s\n", &["line 8"]),
            ("[[image]]\nname = \"a\"\nsize = \"1MB\"\n", &["line 10", "multiple of 512"]),
            ("[[image]]\nname = \"a\"\nsize = \"1MiB\"\ninterface = \"mtdd\"\n", &["line 11", "did you mean 'mtd'?"]),
            ("[[image]]\nname = \"a\"\nsize = \"1MiB\"\nfiled = true\n", &["line 11", "did you mean 'filled'?"]),
            ("[[image]]\nname = \"a\"\n", &["line 8", "size"]),
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
            ("[[check]]\nwhat = \"x\"\ncomand = \"true\"\n", &["line 10", "did you mean 'command'?"]),
            // What would be asserted of nothing, or never.
            ("[[check]]\nwhat = \"x\"\ncommand = \"true\"\nno-findings = [\"no-ncq\"]\n", &["line 8", "there is none"]),
            ("[[check]]\nwhat = \"x\"\ntarget = \"a\"\ndriver = \"b\"\ncommand = \"true\"\n", &["line 8", "not both"]),
            ("[[check]]\nwhat = \"x\"\ntarget = \"a\"\nfacts = { quue_depth = 1 }\n", &["line 8", "'queue_depth'?"]),
            ("[[check]]\nwhat = \"x\"\ntarget = \"a\"\nno-findings = [\"no-nqc\"]\n", &["line 8", "'no-ncq'?"]),
            ("[[check]]\nwhat = \"x\"\ntarget = \"a\"\n", &["line 8", "nothing is asserted"]),
            (
                "log = \"unimp\"\n[[check]]\nwhat = \"x\"\nemulator-log = [\"P0\"]\nprints = [\"y\"]\n",
                &["line 9", "about a command"],
            ),
            ("[[guest]]\nname = \"Server\"\n", &["line 8", "'Server' is not the name"]),
            ("[[guest]]\nname = \"a\"\n[[guest]]\nname = \"a\"\n", &["line 10", "two guests 'a'"]),
            ("[[guest]]\nname = \"a\"\n", &["line 8", "virtio_net"]),
            ("[[guest]]\nname = \"a\"\nmemory = \"1MiB\"\n", &["line 10", "64MiB"]),
            ("[[guest]]\nname = \"a\"\nsetpu = \"\"\n", &["line 10", "did you mean 'setup'?"]),
            ("[power-cut]\ndisk = \"a\"\nlog = \"b\"\ncommand = \"\"\nafter = \"\"\n", &["line 8", "'a'"]),
        ] {
            let said = error(more);
            assert!(words.iter().all(|w| said.contains(w)), "{more}: {said}");
        }
    }

    #[test]
    fn a_guest_beside_a_machine_is_that_machine_but_for_what_differs() {
        let text = SMALL.replace(
            "\"virtio-serial\"",
            "\"virtio-serial\"\nmodules = [\"virtio_net\"]\ncpus = 2\nqemu = [\"-device\", \"x\"]",
        );
        let guest =
            "[[guest]]\nname = \"a\"\nmemory = \"128MiB\"\nsetup = \"true\"\n[[guest]]\nname = \"b\"\ncpus = 1\n";
        let machine = Machine::parse("small", &format!("{text}\n{guest}")).expect("sound");
        let [a, b] = [0, 1].map(|i| machine.guests[i].of(&machine));
        assert_eq!((a.name.as_str(), a.memory_bytes, a.cpus, a.setup.as_str()), ("a.small", 128 << 20, 2, "true"));
        assert_eq!((b.name.as_str(), b.memory_bytes, b.cpus, b.setup.as_str()), ("b.small", 512 << 20, 1, ""));
        assert!(a.qemu.is_empty() && a.modules == machine.modules && a.kernel == machine.kernel);
        let many: String = (0..9).map(|i| format!("[[guest]]\nname = \"g{i}\"\n")).collect();
        let said = Machine::parse("small", &format!("{text}\n{many}")).expect_err("too many").to_string();
        assert!(said.contains("at most 8 guests"), "{said}");
    }

    #[test]
    fn a_transport_must_lead_somewhere() {
        let text = |transport: &str| SMALL.replace("\"virtio-serial\"", transport);
        let wrong = Machine::parse("small", &text("\"pigeon\"")).expect_err("no transport").to_string();
        assert!(wrong.contains("line 7") && wrong.contains("pigeon"), "{wrong}");
        let lost = text("{ image = \"spare\", device = \"/dev/sdb\" }");
        let lost = Machine::parse("small", &lost).expect_err("no image").to_string();
        assert!(lost.contains("line 7") && lost.contains("spare"), "{lost}");
        let image = "[[image]]\nname = \"spare\"\nsize = \"1MiB\"\n";
        for (transport, words) in [
            ("{ image = \"spaer\", device = \"/dev/sdb\" }", "did you mean 'spare'?"),
            ("{ image = \"spare\", device = \"sdb\" }", "'sdb' is not a device"),
            ("{ imgae = \"spare\", device = \"/dev/sdb\" }", "imgae"),
            ("{ image = \"spare\" }", "device"),
            ("3", "3 is not a transport"),
        ] {
            let said =
                Machine::parse("small", &format!("{}{image}", text(transport))).expect_err(transport).to_string();
            assert!(said.contains("line 7") && said.contains(words), "{transport}: {said}");
        }
    }

    #[test]
    fn braces_of_json_stand_for_themselves() {
        let json = r#"{"driver": "blkdebug", "image": {"filename": "{disk}"}}"#;
        assert_eq!(placeholders(json).collect::<Vec<_>>(), ["disk"]);
    }

    #[test]
    fn the_documentation_has_an_example_that_is_sound_and_every_key() {
        let docs = std::fs::read_to_string(crate::workspace_root().join("docs/lab.md")).expect("docs/lab.md");
        let example = docs.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        let machine = Machine::parse("example", example).expect("sound");
        assert_eq!((machine.images.len(), machine.checks.len()), (1, 1));
        // What is read is what serde says that it expects.
        let said = error("speed = 3\n");
        let keys: Vec<&str> = said.split('`').skip(3).step_by(2).collect();
        assert!(keys.len() > 20, "{said}");
        let has = |key: &&&str| {
            docs.contains(&format!("`{key}`")) || example.contains(*key) || docs.contains(&format!("`[{key}]`"))
        };
        let missing: Vec<&&str> = keys.iter().filter(|key| !has(key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_machine_that_is_not_there_may_have_been_misspelt() {
        let error = Machine::load(&crate::machines_directory(), "q35-achi").expect_err("no such machine").to_string();
        assert!(error.contains("did you mean 'q35-ahci'?") && error.contains("microvm"), "{error}");
        let error = Machine::parse("../x", SMALL).expect_err("no name").to_string();
        assert!(error.contains("not the name of a machine"), "{error}");
    }

    #[test]
    fn memory_is_enough_for_a_kernel() {
        for size in ["1MiB", "0", "64.5MiB", "512"] {
            let said = Machine::parse("small", &SMALL.replace("512MiB", size)).expect_err(size).to_string();
            assert!(said.contains("line 5"), "{said}");
        }
    }

    #[test]
    fn no_kernel_but_debians() {
        let text = SMALL.replace("linux-image-amd64", "vmlinuz-custom");
        let said = Machine::parse("small", &text).expect_err("no package").to_string();
        assert!(said.starts_with("line 4"), "{said}");
    }
}
