//! Whether what `tune --keep` kept is in effect: the lines of our files against what the settings hold, and what else sets them.

use super::keep::{MODPROBE, SYSCTL, TMPFILES, TUNED, UDEV, UNIT, udev_property};
use super::kept::{below, existing};
use model::{CompactSort as _, Failure, KeptSetting, Stack};
use observe::Root;
use serde_json::Value;
use settings::{Tree, Tunable, ValuePath, same_value};
use std::path::Path;

/// Where lines may be, by their mechanism: in files of ours, and where a person was told to write them.
const FILES: [(&str, &str); 6] = [
    ("udev", UDEV),
    ("sysctl", SYSCTL),
    ("tmpfiles", TMPFILES),
    ("modprobe", MODPROBE),
    ("tuned", TUNED),
    ("systemd", UNIT),
];

/// A search of which something is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSearch {
    pub id: String,
    /// An absolute path, as it was when the search was made.
    pub target: String,
    /// What was to become better, as it was asked for.
    pub asked: String,
    /// What its settings held before.
    pub(super) before: Vec<(ValuePath, String)>,
    /// Whether all of it is in effect.
    pub in_effect: bool,
}

/// All that is kept.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub settings: Vec<KeptSetting>,
    pub searches: Vec<KeptSearch>,
}

/// Looks at what is kept on the machine below `root`; changes nothing.
///
/// # Errors
/// Nothing is kept.
pub fn kept(root: &Path, tree: &Tree) -> Result<Kept, Failure> {
    let mut all = Kept::default();
    for (mechanism, file) in FILES {
        let text = match mechanism {
            // Files of an administrator's, with lines that he was told.
            "tuned" | "systemd" => Root::new(root).text(file).unwrap_or_default(),
            _ => existing(&below(root, file)).ok().flatten().unwrap_or_default(),
        };
        let mut origin = Value::Null;
        for (number, line) in text.lines().enumerate() {
            if let Some(comment) = line.strip_prefix("# ") {
                origin = serde_json::from_slice(comment.as_bytes()).unwrap_or(origin);
            } else if let Some((paths, value)) = set_by_line(mechanism, line, root, tree) {
                all.take(mechanism, &format!("{file}:{}", number + 1), paths, value, &origin, tree);
            }
        }
    }
    if all.settings.is_empty() {
        return Err(Failure::environment("narrows tune kept no setting on this machine")
            .remedy("narrows tune TARGET --keep   keeps what it proves"));
    }
    let paths: Vec<&str> = all.settings.iter().map(|kept| kept.path.as_str()).collect();
    let others = observe::set_by(&Root::new(root), &paths);
    for (kept, others) in all.settings.iter_mut().zip(others) {
        kept.set_by = others.into_iter().filter(|set| FILES.iter().all(|(_, file)| !set.by.contains(file))).collect();
        // One that sets what is in effect explains it.
        kept.set_by.compact_sort_by_key(|set| (set.value != kept.now, set.value.is_none()));
    }
    for search in &mut all.searches {
        search.in_effect = all.settings.iter().filter(|kept| kept.search == search.id).all(|kept| kept.in_effect);
    }
    Ok(all)
}

impl Kept {
    fn take(&mut self, mechanism: &'static str, by: &str, paths: Vec<String>, to: &str, origin: &Value, tree: &Tree) {
        let text = |key: &str| origin[key].as_str().unwrap_or_default().to_owned();
        let search = text("search");
        for path in if paths.is_empty() { vec![String::new()] } else { paths } {
            let at = ValuePath::new(&path);
            let read = at.as_ref().map_err(|_| "what the line names is not here".to_owned());
            let now = read.and_then(|at| tree.read(at).map_err(|e| e.to_string()));
            let was = at.as_ref().ok().and_then(|at| held_before(origin, at, to));
            let file = path.rsplit('/').next().unwrap_or_default();
            let name = was.as_ref().map(|(name, _)| name.clone());
            self.settings.push(KeptSetting {
                name: name.or_else(|| Some(Tunable::of_file(file)?.name.to_owned())).unwrap_or_default(),
                search: search.clone(),
                mechanism,
                kept_by: by.to_owned(),
                path,
                kept: to.to_owned(),
                in_effect: now.as_ref().is_ok_and(|now| same_value(now, to)),
                why_not: now.as_ref().err().cloned(),
                now: now.ok(),
                set_by: Vec::new(),
            });
            let Some((at, (_, from))) = at.ok().zip(was) else { continue };
            match self.searches.iter_mut().find(|known| known.id == search) {
                Some(known) => known.before.push((at, from)),
                None => self.searches.push(KeptSearch {
                    id: search.clone(),
                    target: text("target"),
                    asked: text("for"),
                    before: vec![(at, from)],
                    in_effect: false,
                }),
            }
        }
    }
}

/// Name and former value of a setting that a search changed to this value. The device may have another name since.
fn held_before(origin: &Value, at: &ValuePath, to: &str) -> Option<(String, String)> {
    let changed = origin["settings"].as_array()?.iter().filter(|set| set["to"] == to);
    let is_file = |set: &&Value| set["path"].as_str().is_some_and(|path| path.rsplit('/').next() == Some(at.name()));
    let found = changed.clone().find(|set| set["path"] == at.as_str()).or_else(|| changed.clone().find(is_file))?;
    Some((found["name"].as_str()?.to_owned(), found["from"].as_str()?.to_owned()))
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.split_once(start)?.1.split_once(end).map(|(found, _)| found)
}

/// The files whose value a line of ours sets, none of them where the device is not here, and the value.
fn set_by_line<'a>(mechanism: &str, line: &'a str, root: &Path, tree: &Tree) -> Option<(Vec<String>, &'a str)> {
    let of_pattern = |pattern: &str| settings::paths(pattern, &Stack::default(), tree).unwrap_or_default();
    Some(match mechanism {
        "udev" => {
            let (attribute, value) = (between(line, "ATTR{", "}")?, between(line, "}=\"", "\"")?);
            let directory = match between(line, "SUBSYSTEM==\"", "\"")? {
                "block" => "/sys/block".to_owned(),
                class => format!("/sys/class/{class}"),
            };
            let devices = match between(line, "KERNEL==\"", "\"") {
                Some(name) => vec![name.to_owned()],
                None => disks(between(line, "ENV{ID_", "}")?, line, root, tree),
            };
            (devices.iter().map(|device| format!("{directory}/{device}/{attribute}")).collect(), value)
        }
        "sysctl" => {
            let (key, value) = line.split_once('=')?;
            (vec![format!("/proc/sys/{}", key.trim().replace('.', "/"))], value.trim())
        }
        "tmpfiles" => {
            let (pattern, value) = line.strip_prefix("w ")?.split_once(" - - - - ")?;
            (of_pattern(pattern), value)
        }
        "modprobe" => {
            let (module, set) = line.strip_prefix("options ")?.split_once(' ')?;
            let (parameter, value) = set.split_once('=')?;
            (vec![format!("/sys/module/{module}/parameters/{parameter}")], value)
        }
        "tuned" => {
            let (pattern, value) = line.split_once('=').filter(|(pattern, _)| pattern.starts_with('/'))?;
            (of_pattern(pattern), value)
        }
        _ => {
            let (value, path) = between(line, "'echo ", "'")?.split_once(" > ")?;
            (vec![path.to_owned()], value)
        }
    })
}

/// The disks whose property of udev is that of a rule.
fn disks(key: &str, rule: &str, root: &Path, tree: &Tree) -> Vec<String> {
    let key = format!("ID_{key}");
    let wanted = between(rule, &format!("ENV{{{key}}}==\""), "\"");
    let property = |disk: &String| {
        let number = ValuePath::new(&format!("/sys/block/{disk}/dev")).ok()?;
        udev_property(root, &tree.read(&number).ok()?, &key)
    };
    let is_it = |disk: &String| property(disk).is_some_and(|property| wanted == Some(&property));
    tree.names("/sys/block").into_iter().filter(is_it).collect()
}

#[cfg(test)]
mod tests {
    use super::super::keep::{Machine, keep};
    use super::super::kept::{origin, undo, write};
    use super::*;
    use model::{DeviceId, Layer, LayerKind, TuneSetting};

    fn setting(name: &'static str, path: &str, from: &str, to: &str) -> TuneSetting {
        TuneSetting { name, path: path.into(), from: from.into(), to: to.into() }
    }

    fn put(root: &Path, file: &str, text: &str) {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// A machine whose disk has another name than when the search was made.
    fn machine() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("run/udev/data/b8:16", "E:ID_WWN=0x5000c500\n"),
            ("sys/block/sda/dev", "8:0\n"),
            ("sys/block/sdb/dev", "8:16\n"),
            ("sys/block/sdb/queue/scheduler", "none [mq-deadline] bfq\n"),
            ("sys/block/sdb/queue/read_ahead_kb", "512\n"),
            ("proc/sys/vm/dirty_bytes", "16777216\n"),
            ("proc/sys/vm/dirty_ratio", "20\n"),
            ("sys/module/nvme/parameters/poll_queues", "2\n"),
            ("sys/module/nvme/initstate", "live\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n"),
        ] {
            put(directory.path(), file, text);
        }
        directory
    }

    /// Keeps one of each kind as `tune --keep` does it.
    fn keep_all(root: &Path, tree: &Tree) {
        let disk = Layer {
            counted: true,
            device: Some(DeviceId { major: 8, minor: 16 }),
            ..Layer::new(LayerKind::Disk, "sda")
        };
        let stack = Stack { mount: None, layers: vec![disk].into() };
        let governor = |policy| format!("/sys/devices/system/cpu/cpufreq/policy{policy}/scaling_governor");
        let settings = [
            setting("scheduler", "/sys/block/sda/queue/scheduler", "none", "mq-deadline"),
            setting("read-ahead", "/sys/block/sda/queue/read_ahead_kb", "4", "512"),
            setting("dirty-bytes", "/proc/sys/vm/dirty_bytes", "0", "16777216"),
            setting("io-polling", "/sys/module/nvme/parameters/poll_queues", "0", "2"),
            setting("governor", &governor(0), "powersave", "performance"),
            setting("governor", &governor(1), "powersave", "performance"),
        ];
        let lines = keep(&settings, &Machine { tree, stack: &stack, root });
        write(&lines, "tune-1", Some(&origin("tune-1", "/dev/sda", "buffered-read", &settings)), root).unwrap();
    }

    #[test]
    fn each_kind_of_line_is_held_against_what_is_in_effect() {
        let directory = machine();
        let (root, tree) = (directory.path(), Tree::below(directory.path()).unwrap());
        let nothing = kept(root, &tree).unwrap_err();
        assert!(nothing.message.contains("kept no setting"), "{nothing}");
        keep_all(root, &tree);
        put(
            root,
            "etc/systemd/system/narrows-tune.service",
            "ExecStart=/bin/sh -c 'echo 1 > /proc/irq/24/smp_affinity_list'\n",
        );
        let all = kept(root, &tree).unwrap();
        let said: Vec<(&str, &str, bool)> =
            all.settings.iter().map(|kept| (kept.name.as_str(), kept.path.as_str(), kept.in_effect)).collect();
        assert_eq!(
            said,
            [
                ("scheduler", "/sys/block/sdb/queue/scheduler", true),
                ("read-ahead", "/sys/block/sdb/queue/read_ahead_kb", true),
                ("dirty-bytes", "/proc/sys/vm/dirty_bytes", true),
                ("governor", "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", true),
                ("governor", "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", false),
                ("io-polling", "/sys/module/nvme/parameters/poll_queues", true),
                ("interrupt-cpu", "/proc/irq/24/smp_affinity_list", false),
            ]
        );
        let search = &all.searches[0];
        assert_eq!(
            (search.target.as_str(), search.asked.as_str(), search.in_effect),
            ("/dev/sda", "buffered-read", false)
        );
        assert_eq!(search.before[1].0.as_str(), "/sys/block/sdb/queue/read_ahead_kb");
        assert_eq!(search.before[1].1, "4");
        assert!(all.settings[6].why_not.as_ref().is_some_and(|why| why.contains("no such file")), "{all:?}");
        assert!(all.settings[0].kept_by.ends_with("99-narrows-tune.rules:3"), "{all:?}");
        assert_eq!(undo(root).unwrap().len(), 4);
    }

    #[test]
    fn what_overwrote_a_value_is_named_by_its_file() {
        let directory = machine();
        let (root, tree) = (directory.path(), Tree::below(directory.path()).unwrap());
        keep_all(root, &tree);
        put(root, "sys/block/sdb/queue/read_ahead_kb", "64\n");
        put(root, "etc/udev/rules.d/60-first.rules", "KERNEL==\"sd*\", ATTR{queue/read_ahead_kb}=\"32\"\n");
        put(root, "etc/udev/rules.d/99-zz.rules", "\nKERNEL==\"sd*\", ATTR{queue/read_ahead_kb}=\"64\"\n");
        let all = kept(root, &tree).unwrap();
        let read_ahead = &all.settings[1];
        assert_eq!((read_ahead.in_effect, read_ahead.now.as_deref()), (false, Some("64")));
        let by: Vec<&str> = read_ahead.set_by.iter().map(|set| set.by.as_str()).collect();
        assert_eq!(
            by,
            ["/etc/udev/rules.d/99-zz.rules:2", "/etc/udev/rules.d/60-first.rules:1"],
            "ours is none of them"
        );
        assert!(all.settings[0].in_effect && all.settings[0].set_by.is_empty(), "{all:?}");
        // A disk that is not there, and a comment of somebody's.
        std::fs::remove_file(root.join("run/udev/data/b8:16")).unwrap();
        let gone = kept(root, &tree).unwrap();
        assert!(!gone.settings[0].in_effect && gone.settings[0].path.is_empty(), "{gone:?}");
        assert!(gone.settings[0].why_not.as_ref().is_some_and(|why| why.contains("not here")), "{gone:?}");
    }
}
