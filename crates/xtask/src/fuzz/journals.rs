//! Journals of settings that somebody else wrote or a crash left: found, told apart and listed. Nothing is undone: a journal
//! in a directory of this user alone is trusted, and its commands would run.

use super::imports::kind;
use super::{Fuzzer, mutate::hash};
use settings::{
    Change, CommandLine, Group, Journal, JournalDirectories, Machine, Mounted, Persistence, RegisterBits, Saved,
    ValuePath, find,
};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

const NAME: &str = "fuzzed.0.journal";

struct Journals {
    directory: PathBuf,
    places: JournalDirectories,
}

fn machine() -> Machine {
    let some = |text: &str| Some(text.to_owned());
    Machine { id: some("0123456789abcdef0123456789abcdef"), host: some("host"), boot: some("boot-of-today") }
}

fn places_at(base: &Path) -> JournalDirectories {
    JournalDirectories::new(&|name| (name == "NARROWS_JOURNAL").then(|| OsString::from(base)), false)
}

/// Makes it; journals are written below the directory.
pub fn make(directory: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    let base = directory.join("journal");
    let own = base.join("until-reboot");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&own)?;
    Ok(Box::new(Journals { directory: own, places: places_at(&base) }))
}

/// A change of each kind.
fn changes() -> anyhow::Result<Vec<Change>> {
    let path = ValuePath::new("/proc/sys/vm/dirty_ratio")?;
    let saved = vec![Saved { path: path.clone(), value: "20".to_owned() }];
    let line = |word: &str| CommandLine::new(vec![word.to_owned(), "4".to_owned()]);
    let mounted = Mounted {
        mount_point: "/mnt".to_owned(),
        source: "/dev/sda1".to_owned(),
        fstype: "ext4".to_owned(),
        options: vec!["rw".to_owned(), "relatime".to_owned()],
    };
    let mut all = vec![
        Change::Value { path, identity: Some(7), was: Group { saved } },
        Change::Mount { was: mounted, opposites: vec!["relatime".to_owned()] },
    ];
    let register = RegisterBits {
        address: 0x01c1_8170,
        mask: 0xffff,
        controller: "1c18000.sata".to_owned(),
        driver: "ahci-sunxi".to_owned(),
    };
    all.push(Change::Register { register, was: 0x4400 });
    all.extend(line("set").zip(line("unset")).map(|(run, undo)| Change::Command { run, undo }));
    Ok(all)
}

/// A journal as the program writes it.
fn written(base: &Path, changes: &[Change]) -> anyhow::Result<Vec<u8>> {
    let _ = fs::remove_dir_all(base);
    let mut journal = Journal::new(machine(), "fuzzed", "arm")?;
    for change in changes {
        journal.add(&places_at(base), change.clone())?;
    }
    let mut bytes = Vec::new();
    for path in journal.paths() {
        bytes.extend(fs::read(path)?);
    }
    fs::remove_dir_all(base)?;
    Ok(bytes)
}

impl Fuzzer for Journals {
    fn corpus(&self) -> Vec<Vec<u8>> {
        let base = self.directory.with_file_name("corpus");
        let changes = changes().unwrap_or_default();
        let each = changes.chunks(1).chain([changes.as_slice()]);
        each.filter_map(|some| written(&base, some).ok()).collect()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\n",
            "{\"undone\":{\"number\":1}}\n",
            "{\"ended\":{\"number\":1}}\n",
            "{\"started\":{\"number\":1,\"running\":{\"pid\":1,\"started\":1}}}\n",
            "narrows/journal/1",
            "/proc/sys/kernel/core_pattern",
            "/sys/../etc/passwd",
            "\"/etc/shadow\"",
            "4294967295",
            "null",
            "\u{1b}[2J",
            "boot-of-today",
            "\"number\":",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let file = self.directory.join(NAME);
        let cannot = |e: std::io::Error| format!("{}: {e}", file.display());
        fs::write(&file, input).map_err(cannot)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).map_err(cannot)?;
        let found = find(&self.places, &machine());
        let mut outcome = format!("{} {}", found.left.len(), found.of_other_machines.len());
        for change in found.left.iter().flat_map(Journal::changes) {
            if let Change::Value { path, .. } = change
                && ValuePath::new(path.as_str()).is_err()
            {
                return Err(format!("a value outside of /sys and /proc/sys is taken: {change}"));
            }
            outcome.push_str(if change.persistence() == Persistence::UntilReboot { " u" } else { " a" });
        }
        outcome.extend(found.refused.iter().map(|why| kind(why)));
        drop(found);
        let names = fs::read_dir(&self.directory).map_err(cannot)?.count();
        if names > 1 {
            return Err(format!("looking for journals left {names} files"));
        }
        Ok(hash(outcome.as_bytes()))
    }
}
