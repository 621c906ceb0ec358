//! Which files of modules a machine needs, in the order in which they can be loaded: those it names and all that they
//! depend on, as each module itself says in its `.modinfo` section (include/linux/module.h).

use super::mistakes::did_you_mean;
use anyhow::{Context, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Name with underscores, as lsmod shows it.
    pub name: String,
    /// `key=value` for it.
    pub parameters: String,
    /// Its content, not compressed.
    pub content: Vec<u8>,
}

/// The modules of one kernel.
pub struct Modules {
    files: BTreeMap<String, PathBuf>,
    builtin: BTreeSet<String>,
}

/// Modules are named with dashes or underscores, and mean the same.
fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

/// Name of the module in a file, if it is one.
fn module_name(file: &str) -> Option<String> {
    let (name, packed) = file.split_once(".ko")?;
    matches!(packed, "" | ".xz").then(|| canonical(name))
}

impl Modules {
    /// Looks at `lib/modules/RELEASE`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(directory: &Path) -> anyhow::Result<Self> {
        let mut files = BTreeMap::new();
        let mut open = vec![directory.join("kernel")];
        while let Some(directory) = open.pop() {
            let entries =
                fs::read_dir(&directory).with_context(|| format!("there are no modules in {}", directory.display()))?;
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() {
                    open.push(path);
                } else if let Some(name) = path.file_name().and_then(|n| module_name(n.to_str()?)) {
                    files.insert(name, path);
                }
            }
        }
        let builtin = fs::read_to_string(directory.join("modules.builtin")).unwrap_or_default();
        let builtin = builtin.lines().filter_map(|l| module_name(l.rsplit('/').next()?)).collect();
        Ok(Self { files, builtin })
    }

    /// With more files of modules.
    #[must_use]
    pub fn with(mut self, more: &[PathBuf]) -> Self {
        let named = |path: &PathBuf| Some((module_name(path.file_name()?.to_str()?)?, path.clone()));
        self.files.extend(more.iter().filter_map(named));
        self
    }

    /// The modules asked for (`name key=value ...`) and what they depend on, each after those that it needs.
    ///
    /// # Errors
    /// The kernel has no such module, or a file cannot be read.
    pub fn closure(&self, asked: &[String]) -> anyhow::Result<Vec<Module>> {
        let mut found = Vec::new();
        let mut begun = BTreeSet::new();
        for line in asked {
            let (name, parameters) = line.split_once(' ').unwrap_or((line, ""));
            self.add(&canonical(name), parameters, &mut begun, &mut found)?;
        }
        Ok(found)
    }

    fn add(
        &self,
        name: &str,
        parameters: &str,
        begun: &mut BTreeSet<String>,
        found: &mut Vec<Module>,
    ) -> anyhow::Result<()> {
        if !begun.insert(name.to_owned()) {
            if let Some(module) = found.iter_mut().find(|m| m.name == name && m.parameters.is_empty()) {
                module.parameters = parameters.to_owned();
            }
            return Ok(());
        }
        let Some(path) = self.files.get(name) else {
            if self.builtin.contains(name) {
                return Ok(());
            }
            bail!("the kernel has no module {name}{}", did_you_mean(name, self.files.keys().map(String::as_str)))
        };
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let content = match path.extension().and_then(|e| e.to_str()) {
            Some("xz") => {
                super::kernel::unpack_xz(&bytes).with_context(|| format!("{} cannot be unpacked", path.display()))?
            }
            _ => bytes,
        };
        let info = modinfo(&content).with_context(|| format!("{} is not a module", path.display()))?;
        for (key, value) in &info {
            match key.as_str() {
                "depends" => {
                    for other in value.split(',').filter(|o| !o.is_empty()) {
                        self.add(&canonical(other), "", begun, found)
                            .with_context(|| format!("{name} depends on it"))?;
                    }
                }
                // A wish, and often the alias of an algorithm rather than a module: those that are there are taken.
                "softdep" => {
                    let wishes = value.split_whitespace().skip_while(|w| *w != "pre:").skip(1);
                    for other in wishes.take_while(|w| *w != "post:").map(canonical) {
                        if self.files.contains_key(&other) {
                            self.add(&other, "", begun, found)?;
                        }
                    }
                }
                _ => {}
            }
        }
        found.push(Module { name: name.to_owned(), parameters: parameters.to_owned(), content });
        Ok(())
    }
}

/// Little-endian number of up to 8 bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let part = bytes.get(at..at.checked_add(size)?)?;
    usize::try_from(part.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))).ok()
}

/// The `key=value` pairs of a module's `.modinfo` section; `None` if it is no little-endian ELF file with one.
fn modinfo(elf: &[u8]) -> Option<Vec<(String, String)>> {
    if elf.get(..4)? != b"\x7fELF" || *elf.get(5)? != 1 {
        return None;
    }
    // Offsets in the 64-bit and in the 32-bit layout (System V ABI, chapter 4).
    let wide = *elf.get(4)? == 2;
    let word = if wide { 8 } else { 4 };
    let headers = number(elf, if wide { 40 } else { 32 }, word)?;
    let header_size = number(elf, if wide { 58 } else { 46 }, 2)?;
    let count = number(elf, if wide { 60 } else { 48 }, 2)?;
    let names = number(elf, if wide { 62 } else { 50 }, 2)?;
    let (offset_at, size_at) = if wide { (24, 32) } else { (16, 20) };
    let section = |i: usize| {
        let header = headers.checked_add(i.checked_mul(header_size)?)?;
        Some((number(elf, header, 4)?, number(elf, header + offset_at, word)?, number(elf, header + size_at, word)?))
    };
    let (_, names, _) = section(names)?;
    for i in 0..count {
        let (name, offset, size) = section(i)?;
        if elf.get(names.checked_add(name)?..)?.starts_with(b".modinfo\0") {
            let text = elf.get(offset..offset.checked_add(size)?)?;
            let pairs = text.split(|b| *b == 0).filter_map(|pair| std::str::from_utf8(pair).ok()?.split_once('='));
            return Some(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with a `.modinfo` section and nothing else, in either width.
    fn module(wide: bool, info: &str) -> Vec<u8> {
        let word = if wide { 8 } else { 4 };
        let header = if wide { 64 } else { 52 };
        let names = b"\0.modinfo\0";
        let (section, offset_at, size_at) = if wide { (64, 24, 32) } else { (40, 16, 20) };
        let mut elf = vec![0; header];
        elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1]);
        let put = |elf: &mut Vec<u8>, at: usize, size: usize, value: usize| {
            elf[at..at + size].copy_from_slice(&(value as u64).to_le_bytes()[..size]);
        };
        let info_at = elf.len();
        elf.extend_from_slice(info.as_bytes());
        let names_at = elf.len();
        elf.extend_from_slice(names);
        let headers_at = elf.len();
        elf.resize(headers_at + 2 * section, 0);
        put(&mut elf, if wide { 40 } else { 32 }, word, headers_at);
        put(&mut elf, if wide { 58 } else { 46 }, 2, section);
        put(&mut elf, if wide { 60 } else { 48 }, 2, 2);
        put(&mut elf, if wide { 62 } else { 50 }, 2, 1);
        put(&mut elf, headers_at, 4, 1);
        put(&mut elf, headers_at + offset_at, word, info_at);
        put(&mut elf, headers_at + size_at, word, info.len());
        put(&mut elf, headers_at + section + offset_at, word, names_at);
        put(&mut elf, headers_at + section + size_at, word, names.len());
        elf
    }

    fn tree(modules: &[(&str, &str)]) -> (tempfile::TempDir, Modules) {
        let directory = tempfile::tempdir().expect("a directory");
        let drivers = directory.path().join("kernel/drivers");
        fs::create_dir_all(&drivers).expect("directories");
        for (i, (name, info)) in modules.iter().enumerate() {
            fs::write(drivers.join(format!("{name}.ko")), module(i % 2 == 0, info)).expect("a module");
        }
        fs::write(directory.path().join("modules.builtin"), "kernel/drivers/ext-core.ko\n").expect("modules.builtin");
        let modules = Modules::of(directory.path()).expect("modules");
        (directory, modules)
    }

    fn order(modules: &Modules, asked: &[&str]) -> Vec<String> {
        let asked: Vec<String> = asked.iter().map(|a| (*a).to_owned()).collect();
        modules.closure(&asked).expect("a closure").into_iter().map(|m| m.name).collect()
    }

    #[test]
    fn each_comes_after_what_it_needs_and_once() {
        let (_kept, modules) = tree(&[
            ("ahci", "license=GPL\0depends=libahci,libata\0"),
            ("libahci", "depends=libata\0"),
            ("libata", "depends=scsi-mod\0softdep=pre: crc32c fast-hash post: late\0"),
            ("scsi_mod", "depends=\0"),
            ("fast-hash", "depends=ext_core\0"),
            ("late", "depends=\0"),
        ]);
        assert_eq!(order(&modules, &["ahci", "libata"]), ["scsi_mod", "fast_hash", "libata", "libahci", "ahci"]);
        assert_eq!(order(&modules, &["ext-core"]), [""; 0]);
    }

    #[test]
    fn parameters_reach_a_module_that_another_has_pulled_in() {
        let (_kept, modules) = tree(&[("ahci", "depends=libata\0"), ("libata", "depends=\0")]);
        let found = modules.closure(&["ahci".into(), "libata force=noncq".into()]).expect("a closure");
        assert_eq!(found[0].parameters, "force=noncq");
        assert_eq!(found[1].parameters, "");
    }

    #[test]
    fn a_module_that_is_not_there_is_named_with_who_wants_it() {
        let (_kept, modules) = tree(&[("ahci", "depends=libata\0")]);
        let error = format!("{:#}", modules.closure(&["ahci".into()]).expect_err("no libata"));
        assert!(error.contains("ahci depends") && error.contains("no module libata"), "{error}");
        let error = modules.closure(&["achi".into()]).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("did you mean 'ahci'?"), "{error}");
    }

    #[test]
    fn garbage_has_no_modinfo() {
        let whole = module(true, "depends=\0");
        assert!(modinfo(&whole).is_some());
        for end in 0..whole.len() - 1 {
            let _ = modinfo(&whole[..end]);
        }
        assert_eq!(modinfo(b"\x7fELF\x02\x01"), None);
        assert_eq!(modinfo(b"no module"), None);
    }
}
