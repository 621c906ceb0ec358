//! A guest's loads and stores counted by width, in a range of its physical memory, by a plugin of ours in the emulator
//! (`plugin/accesses.c`). It is compiled here with the host's compiler.
//!
//! A guest marks the begin and the end of what is counted by a program of a few instructions that the plugin knows; see
//! [`mark_program`]. So a count belongs to one command, and not to the boot before it.

use super::machine::{Accesses, Arch, ByWidth, MachineCheck};
use super::unavailable::Unavailable;
use super::{apt, child, lock};
use anyhow::Context;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("plugin/accesses.c");
const HEADER: &str = include_str!("plugin/qemu_plugin.h");

/// Where the guest has the program that marks.
pub const MARK: &str = "bin/lab-mark";

/// What was counted between two marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Loads by width in bytes.
    pub loads: ByWidth,
    /// Stores by width in bytes.
    pub stores: ByWidth,
}

/// The host's compiler of C.
///
/// # Errors
/// There is none.
pub fn compiler() -> Result<PathBuf, Unavailable> {
    child::on_path("cc").or_else(|| child::on_path("gcc")).ok_or_else(|| {
        Unavailable::because(
            "there is no compiler of C; as root: apt-get install -y --no-install-recommends gcc libc6-dev",
        )
    })
}

/// The plugin, compiled once and kept in `cache`.
///
/// # Errors
/// [`Unavailable`] without a compiler; else why it does not compile.
pub fn plugin(cache: &Path) -> anyhow::Result<PathBuf> {
    let sum = Sha256::new().chain_update(SOURCE).chain_update(HEADER).finalize();
    let name: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let _lock = lock::take(&cache.join("lock"), "the emulator's plugin is compiled")?;
    let made = cache.join(format!("accesses-{name}.so"));
    if made.exists() {
        return Ok(made);
    }
    let partial = cache.join("partial.so");
    for (name, text) in [("accesses.c", SOURCE), ("qemu_plugin.h", HEADER)] {
        fs::write(cache.join(name), text).with_context(|| format!("cannot write {name}"))?;
    }
    let mut command: Command = child::command(&compiler()?);
    command.args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]);
    command.args(["-fvisibility=hidden", "-o"]).arg(&partial).arg(cache.join("accesses.c"));
    apt::output_of(command, "cc accesses.c", || {})?;
    fs::rename(&partial, &made).with_context(|| format!("cannot keep {}", made.display()))?;
    Ok(made)
}

/// The value of the emulator's `-plugin`.
pub fn argument(accesses: &Accesses, plugin: &Path, log: &Path) -> String {
    // A comma in a path is written twice (qemu(1)).
    let path = |path: &Path| path.to_string_lossy().replace(',', ",,");
    let (from, size, ram) = (accesses.from, accesses.size_bytes, accesses.ram);
    let wait = accesses.wait.map_or(0, |wait| wait.as_nanos());
    let bus = accesses.bus_bytes;
    format!("{},log={},from={from:#x},size={size},ram={ram:#x},wait={wait},bus={bus}", path(plugin), path(log))
}

/// A static program of a few instructions, of which the plugin knows one, and which then ends with 0; as a whole ELF file
/// (System V ABI, chapters 4 and 5).
pub fn mark_program(arch: Arch) -> Vec<u8> {
    // nopl "LAB!"(%rax); push 60 (exit); pop %rax; xor %edi,%edi; syscall.
    const AMD64: &[u8] = b"\x0f\x1f\x80LAB!\x6a\x3c\x58\x31\xff\x0f\x05";
    // movt r12,#0x4221; mov r0,#0; mov r7,#1 (exit); svc 0.
    const ARMHF: &[u8] = b"\x21\xc2\x44\xe3\x00\x00\xa0\xe3\x01\x70\xa0\xe3\x00\x00\x00\xef";
    // movk x12,#0x4221; mov x0,#0; mov x8,#93 (exit); svc 0.
    const ARM64: &[u8] = b"\x2c\x44\x88\xf2\x00\x00\x80\xd2\xa8\x0b\x80\xd2\x01\x00\x00\xd4";
    let (wide, machine, flags, code): (bool, u16, u32, &[u8]) = match arch {
        Arch::Amd64 => (true, 62, 0, AMD64),
        Arch::Armhf => (false, 40, 0x0500_0200, ARMHF),
        Arch::Arm64 => (true, 183, 0, ARM64),
    };
    let (header, program_header): (u16, u16) = if wide { (64, 56) } else { (52, 32) };
    let base = 0x40_0000_u64;
    let offset = u64::from(header + program_header);
    let whole = offset + code.len() as u64;
    let mut elf = b"\x7fELF".to_vec();
    elf.extend([if wide { 2 } else { 1 }, 1, 1]);
    elf.resize(16, 0);
    let half = |elf: &mut Vec<u8>, value: u16| elf.extend(value.to_le_bytes());
    let word = |elf: &mut Vec<u8>, value: u32| elf.extend(value.to_le_bytes());
    let address = |elf: &mut Vec<u8>, value: u64| elf.extend(&value.to_le_bytes()[..if wide { 8 } else { 4 }]);
    half(&mut elf, 2);
    half(&mut elf, machine);
    word(&mut elf, 1);
    [base + offset, u64::from(header), 0].into_iter().for_each(|value| address(&mut elf, value));
    word(&mut elf, flags);
    [header, program_header, 1, 0, 0, 0].into_iter().for_each(|value| half(&mut elf, value));
    // One segment that is read and executed: the whole file.
    word(&mut elf, 1);
    if wide {
        word(&mut elf, 5);
    }
    [0, base, base, whole, whole].into_iter().for_each(|value| address(&mut elf, value));
    if !wide {
        word(&mut elf, 5);
    }
    address(&mut elf, 0x1000);
    elf.extend(code);
    elf
}

/// Which mark of a session ends the check of this number, the first being the one that counting begins at; `None` where
/// nothing is counted of it.
pub fn end_mark(checks: &[MachineCheck], number: usize) -> Option<usize> {
    let counted = |check: &&MachineCheck| check.counts_accesses();
    checks.get(number).filter(counted)?;
    Some(2 * checks[..=number].iter().filter(counted).count())
}

/// What the plugin wrote at a mark.
pub fn counted_at(log: &str, mark: usize) -> Option<Counted> {
    let wanted = format!("mark {mark} loads ");
    let (loads, stores) = log.lines().find_map(|line| line.strip_prefix(&wanted)?.split_once(" stores "))?;
    let read = |text: &str| -> Option<ByWidth> {
        let pair = |word: &str| word.split_once(':').and_then(|(w, n)| Some((w.parse().ok()?, n.parse().ok()?)));
        text.split_whitespace().map(pair).collect()
    };
    Some(Counted { loads: read(loads)?, stores: read(stores)? })
}

/// Counts in words, those that are not 0.
pub fn in_words(what: &str, counts: &ByWidth) -> Vec<String> {
    let said =
        |(width, count): (&u32, &u64)| format!("{count} {what} of {width} byte{}", if *width == 1 { "" } else { "s" });
    counts.iter().filter(|(_, count)| **count > 0).map(said).collect()
}

/// What differs from what is asserted: a width that is not named is not accessed.
pub fn differences(what: &str, asserted: &ByWidth, seen: &ByWidth) -> Vec<String> {
    let widths = asserted.keys().chain(seen.keys()).collect::<std::collections::BTreeSet<_>>();
    let of = |counts: &ByWidth, width: &u32| counts.get(width).copied().unwrap_or(0);
    let differ = widths.into_iter().filter(|width| of(asserted, width) != of(seen, width));
    differ.map(|w| format!("{} {what} of {w} bytes, not {}", of(seen, w), of(asserted, w))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> MachineCheck {
        toml::from_str(&format!("what = \"x\"\ncommand = \"true\"\n{text}")).expect("a check")
    }

    #[test]
    fn the_plugin_compiles() {
        let directory = tempfile::tempdir().expect("a directory");
        if let Err(lacks) = compiler() {
            println!("SKIPPED: {lacks}");
            return;
        }
        let made = plugin(directory.path()).expect("it compiles");
        assert!(fs::read(&made).expect("the plugin").starts_with(b"\x7fELF"));
        assert_eq!(plugin(directory.path()).expect("it is kept"), made);
    }

    #[test]
    fn the_program_that_marks_runs_here_where_it_can() {
        let directory = tempfile::tempdir().expect("a directory");
        for (arch, name) in [(Arch::Amd64, "x86_64"), (Arch::Armhf, "arm"), (Arch::Arm64, "aarch64")] {
            let path = directory.path().join(name);
            let program = mark_program(arch);
            assert_eq!(usize::from(program[4]), if arch == Arch::Armhf { 1 } else { 2 });
            fs::write(&path, program).expect("a program");
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
            let emulator = child::on_path(&format!("qemu-{name}-static"));
            let mut command = match &emulator {
                _ if std::env::consts::ARCH == name => Command::new(&path),
                Some(emulator) => Command::new(emulator),
                None => {
                    println!("SKIPPED: qemu-{name}-static is not installed (qemu-user-static)");
                    continue;
                }
            };
            if std::env::consts::ARCH != name {
                command.arg(&path);
            }
            assert_eq!(command.status().expect("it starts").code(), Some(0), "{name}");
        }
    }

    #[test]
    fn counts_belong_to_the_checks_that_ask_for_them() {
        let checks = [check(""), check("loads = { 4 = 2 }"), check("prints = [\"x\"]"), check("stores = { 1 = 1 }")];
        let marks: Vec<_> = (0..5).map(|i| end_mark(&checks, i)).collect();
        assert_eq!(marks, [None, Some(2), None, Some(4), None]);
        let log = "mark 1 loads 1:9 2:0 stores 1:0 2:0\nmark 2 loads 1:0 4:262144 stores 1:3 8:0\nmark 3 loads 1:x stores 1:0\n";
        let counted = counted_at(log, 2).expect("a line");
        assert_eq!(counted.loads, ByWidth::from([(1, 0), (4, 262_144)]));
        assert_eq!(in_words("stores", &counted.stores), ["3 stores of 1 byte"]);
        assert_eq!((counted_at(log, 3), counted_at(log, 4)), (None, None));
    }

    #[test]
    fn a_width_that_is_not_named_is_not_accessed() {
        let seen = ByWidth::from([(1, 61), (4, 262_144)]);
        assert_eq!(differences("loads", &ByWidth::from([(1, 61), (4, 262_144)]), &seen), [""; 0]);
        assert_eq!(differences("loads", &ByWidth::from([(4, 262_144)]), &seen), ["61 loads of 1 bytes, not 0"]);
        let both = differences("loads", &ByWidth::from([(1, 61), (4, 9), (8, 1)]), &seen);
        assert_eq!(both, ["262144 loads of 4 bytes, not 9", "0 loads of 8 bytes, not 1"]);
    }
}
