//! What could be set on the path to a target: which settings are tried with which values, the more promising ones first, and why
//! others are not.

use super::candidate::{Candidate, What, hexadecimal};
use judge::search::Change;
use model::{CompactSort as _, Failure, Mount, NotTried, SettingRisk, Stack, TuneSetting, TuneValue};
use observe::registers::{self, KnownRegister};
use settings::{
    Felt, MOUNT_OPTIONS, MountOption, TUNABLES, Tree, Tunable, TunableState, ValuePath, leader_of, side_effect,
};

/// Of more values so many are tried, spread over them.
const MOST_VALUES: usize = 3;

/// Which settings are tried.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// Only these; empty: all that the workload feels.
    pub only: &'a [String],
    /// Names and values that come first, where they are among those that are tried.
    pub tried_first: &'a [(String, String)],
    /// Whether what can lose data is among them.
    pub allow_unsafe: bool,
    /// Whether registers are; writing one can hang the machine.
    pub allow_registers: bool,
    /// Whether anything is read, and written, through the page cache.
    pub passes_page_cache: [bool; 2],
}

impl Choice<'_> {
    fn names(&self, name: &str) -> bool {
        self.only.iter().any(|only| only == name)
    }

    /// The place of a setting among those that come first.
    fn place(&self, candidate: &Candidate) -> usize {
        let is_it = |(name, _): &(String, String)| *name == candidate.name() && candidate.not_tried.is_none();
        self.tried_first.iter().position(is_it).unwrap_or(usize::MAX)
    }

    /// Some of many values of a setting: those that come first, and of the others as many as there is room for.
    fn apart(&self, name: &str, mut values: Vec<String>) -> Vec<String> {
        let place = |value: &String| {
            let is_it = |(of, known): &(String, String)| of == name && known == value;
            self.tried_first.iter().position(is_it).unwrap_or(usize::MAX)
        };
        let mut first: Vec<String> = values.extract_if(.., |value| place(value) < usize::MAX).collect();
        first.compact_sort_by_key(place);
        first.truncate(MOST_VALUES);
        let room = MOST_VALUES - first.len();
        first.extend(apart(values, room));
        first
    }

    fn against(&self, tunable: &Tunable, files: &[TunableState], values: &[String]) -> Option<NotTried> {
        let named = self.names(tunable.name);
        let [reads, writes] = self.passes_page_cache;
        if !self.only.is_empty() && !named {
            return Some(NotTried::NotNamed);
        }
        match tunable.felt {
            Felt::NextStart => return Some(NotTried::OnlyFromNextStart),
            Felt::Measurement => return Some(NotTried::NeededByMeasurement),
            Felt::BufferedReads if !reads => return Some(NotTried::OnlyBufferedReads),
            Felt::BufferedWrites if !writes => return Some(NotTried::OnlyBufferedWrites),
            Felt::MemoryPressure if !named => return Some(NotTried::OnlyUnderMemoryPressure),
            _ => {}
        }
        if let Some(leader) = leader_of(tunable.name).filter(|leader| !named || self.names(leader)) {
            return Some(NotTried::MovesWith(leader));
        }
        let allowed = self.allow_unsafe || tunable.risk != SettingRisk::LosesData;
        if !allowed {
            return Some(NotTried::Unsafe);
        }
        match files.iter().find_map(|file| file.fixed.clone()) {
            Some(why) => Some(NotTried::Fixed(why)),
            None => values.is_empty().then_some(NotTried::NoOtherValue),
        }
    }

    fn against_register(&self, known: &KnownRegister, values: &[String]) -> Option<NotTried> {
        let named = self.names(known.register.id);
        match known {
            _ if !self.only.is_empty() && !named => Some(NotTried::NotNamed),
            _ if !self.allow_registers => Some(NotTried::Register),
            KnownRegister { address: None, .. } => {
                Some(NotTried::Fixed(format!("/proc/iomem does not say where {} is", known.controller)))
            }
            KnownRegister { value: None, .. } => Some(NotTried::Fixed("it was not read: --read-registers".to_owned())),
            _ => values.is_empty().then_some(NotTried::NoOtherValue),
        }
    }

    fn against_mount(&self, option: &MountOption, mount: &Mount, values: &[String]) -> Option<NotTried> {
        match option.changeable(mount) {
            _ if !self.only.is_empty() && !self.names(option.name) => Some(NotTried::NotNamed),
            _ if option.risk == SettingRisk::LosesData && !self.allow_unsafe => Some(NotTried::Unsafe),
            Err(why) => Some(NotTried::Fixed(why.to_string())),
            Ok(()) => values.is_empty().then_some(NotTried::NoOtherValue),
        }
    }
}

/// All settings that the path has.
///
/// # Errors
/// A name that is none of a setting, or of one that this path does not have.
pub fn candidates(
    stack: &Stack,
    tree: &Tree,
    known: Vec<KnownRegister>,
    choice: &Choice<'_>,
) -> Result<Vec<Candidate>, Failure> {
    let is_other = |name: &&String| registers::named(name).is_none() && MountOption::named(name).is_none();
    for name in choice.only.iter().filter(is_other) {
        Tunable::named(name).map_err(|e| Failure::usage(format!("--only: {e}")))?;
    }
    let mut all: Vec<Candidate> =
        TUNABLES.iter().filter_map(|tunable| candidate(tunable, stack, tree, choice)).collect();
    all.extend(known.into_iter().map(|known| of_register(known, choice)));
    all.extend(
        stack
            .mount
            .iter()
            .flat_map(|mount| MOUNT_OPTIONS.iter().filter_map(move |option| of_mount(option, mount, choice))),
    );
    if let Some(missing) = choice.only.iter().find(|name| all.iter().all(|c| c.name() != **name)) {
        return Err(Failure::usage(format!("--only: this path has no setting {missing}"))
            .remedy("narrows settings list TARGET   shows those that it has"));
    }
    all.compact_sort_by_key(|candidate| (choice.place(candidate), candidate.rank()));
    Ok(all)
}

fn candidate(tunable: &'static Tunable, stack: &Stack, tree: &Tree, choice: &Choice<'_>) -> Option<Candidate> {
    let files = tunable.on(stack, tree);
    let mut values: Vec<String> = Vec::new();
    for value in files.iter().flat_map(|file| &file.candidates) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    let not_tried = choice.against(tunable, &files, &values);
    let values = if not_tried.is_some() { Vec::new() } else { choice.apart(tunable.name, values) };
    (!files.is_empty()).then_some(Candidate { what: What::Files(tunable, files), values, not_tried })
}

/// A register as a candidate, with what it can be set to by its source.
fn of_register(known: KnownRegister, choice: &Choice<'_>) -> Candidate {
    let now = known.value.map(|value| value & known.register.mask);
    let worth = known.register.worth.iter().filter(|value| Some(**value) != now);
    let values: Vec<String> = worth.map(|value| hexadecimal(*value)).collect();
    let not_tried = choice.against_register(&known, &values);
    Candidate { what: What::Register(known), values: if not_tried.is_some() { Vec::new() } else { values }, not_tried }
}

fn of_mount(option: &'static MountOption, mount: &Mount, choice: &Choice<'_>) -> Option<Candidate> {
    let (now, values) = option.on(mount)?;
    let not_tried = choice.against_mount(option, mount, &values);
    let values = if not_tried.is_some() { Vec::new() } else { choice.apart(option.name, values) };
    Some(Candidate { what: What::Mount(option, mount.mount_point.clone(), now), values, not_tried })
}

/// So many of many values.
fn apart(values: Vec<String>, most: usize) -> Vec<String> {
    if values.len() <= most {
        return values;
    }
    // The middle of each part: the ends of a list are what few need.
    (0..most).map(|part| values[(2 * part + 1) * values.len() / (2 * most)].clone()).collect()
}

fn setting_of((name, value): (&'static str, String)) -> spec::Setting {
    if MountOption::named(name).is_some() {
        return spec::Setting::MountOptions(value);
    }
    let of_register = || {
        registers::named(name)?;
        let value = u32::from_str_radix(value.trim_start_matches("0x"), 16).ok()?;
        Some(spec::Setting::Register { name: name.to_owned(), value })
    };
    of_register().unwrap_or_else(|| spec::Setting::Named { name: name.to_owned(), value: value.clone() })
}

/// Whether a combination can reach what passes the page cache in these ways (reads, writes): what acts there alone does not reach the rest.
pub fn reach(candidates: &[Candidate], cell: &[Change], passes: [bool; 2]) -> bool {
    cell.iter().filter_map(|c| candidates.get(c.candidate)).any(|candidate| candidate.reaches(passes))
}

/// Names and values of a combination.
pub fn named(candidates: &[Candidate], cell: &[Change]) -> Vec<(&'static str, String)> {
    cell.iter().filter_map(|c| Some(candidates.get(c.candidate)?.set(c.alternative))).flatten().collect()
}

/// The same, for the document.
pub fn values(candidates: &[Candidate], cell: &[Change]) -> Vec<TuneValue> {
    named(candidates, cell).into_iter().map(|(name, value)| TuneValue { name, value }).collect()
}

/// A combination as an arm of an experiment has it, with what is [`held`] beside it.
pub fn arm_settings(candidates: &[Candidate], cell: &[Change]) -> Vec<spec::Setting> {
    let set = named(candidates, cell).into_iter().map(setting_of);
    let held = held(candidates, cell).into_iter();
    set.chain(held.map(|s| spec::Setting::Value { path: s.path, value: s.to })).collect()
}

/// What the kernel would set anew beside a combination, at its present value: whoever measures or keeps the combination sets it as well.
pub fn held(candidates: &[Candidate], cell: &[Change]) -> Vec<TuneSetting> {
    let changed = changes(candidates, cell);
    let present = |path: ValuePath| {
        let of = |c: &Candidate| Some((c.name(), c.files().iter().find(|file| file.path == path)?.now.clone()));
        let (name, now) = candidates.iter().find_map(of)?;
        Some(TuneSetting { name, path: path.to_string(), from: now.clone(), to: now })
    };
    let mut held: Vec<TuneSetting> = changed
        .iter()
        .filter_map(|setting| side_effect(&ValuePath::new(&setting.path).ok()?))
        .filter(|path| changed.iter().all(|setting| setting.path != path.as_str()))
        .filter_map(present)
        .collect();
    held.dedup();
    held
}

/// The files of a combination, with what they hold and what they get.
pub fn changes(candidates: &[Candidate], cell: &[Change]) -> Vec<TuneSetting> {
    let of = |(name, to): (&'static str, String)| {
        let places = candidates.iter().find(|c| c.name() == name).map(Candidate::places).unwrap_or_default();
        places.into_iter().map(|(path, from)| TuneSetting { name, path, from, to: to.clone() }).collect::<Vec<_>>()
    };
    named(candidates, cell).into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FailureKind;
    use model::{DeviceId, Layer, LayerKind};
    use std::path::Path;

    fn stack() -> Stack {
        let disk = Layer {
            counted: true,
            device: Some(DeviceId { major: 8, minor: 0 }),
            ..Layer::new(LayerKind::Disk, "sda")
        };
        Stack { mount: None, layers: vec![disk].into() }
    }

    fn tree(directory: &Path) -> Tree {
        for (file, text) in [
            ("sys/block/sda/queue/scheduler", "none [mq-deadline] kyber bfq\n"),
            ("sys/block/sda/queue/read_ahead_kb", "4\n"),
            ("sys/block/sda/queue/iostats", "1\n"),
            ("sys/block/sda/queue/max_sectors_kb", "128\n"),
            ("sys/block/sda/queue/max_hw_sectors_kb", "512\n"),
            ("sys/class/scsi_disk/0:0:0:0/cache_type", "write back\n"),
            ("proc/sys/vm/swappiness", "60\n"),
            ("proc/sys/vm/dirty_ratio", "20\n"),
            ("proc/sys/vm/dirty_bytes", "0\n"),
            ("proc/sys/vm/dirty_background_bytes", "0\n"),
            ("proc/sys/vm/dirty_expire_centisecs", "3000\n"),
        ] {
            let file = directory.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Tree::below(directory).unwrap()
    }

    fn choice(only: &[String]) -> Choice<'_> {
        Choice { only, tried_first: &[], allow_unsafe: false, allow_registers: false, passes_page_cache: [true, false] }
    }

    #[test]
    fn options_of_a_mount_are_settings_of_who_may_remount() {
        let directory = tempfile::tempdir().unwrap();
        let mount = Mount {
            fstype: "ext4".to_owned(),
            mount_point: "/mnt/card".to_owned(),
            source: "/dev/sda1".to_owned(),
            options: ["rw", "sync", "relatime"].map(str::to_owned).into(),
            read_only: false,
        };
        let read_only = Mount { read_only: true, ..mount.clone() };
        let [mounted, read_only] = [mount, read_only].map(|mount| Stack { mount: Some(mount), ..stack() });
        let tree = tree(directory.path());
        let of = |stack: &Stack, allow_unsafe| {
            let choice = Choice { allow_unsafe, ..choice(&[]) };
            let all = candidates(stack, &tree, Vec::new(), &choice).unwrap();
            let found = |name: &str| all.iter().find(|c| c.name() == name).cloned().unwrap();
            ["mount-atime", "mount-sync"].map(found)
        };
        let [atime, sync] = of(&mounted, false);
        assert_eq!(sync.not_tried, Some(NotTried::Unsafe));
        match rustix::process::geteuid().is_root() {
            true => assert_eq!(atime.values, ["noatime", "strictatime"]),
            false => assert!(matches!(&atime.not_tried, Some(NotTried::Fixed(why)) if why.contains("only root"))),
        }
        assert!(matches!(&of(&read_only, true)[0].not_tried, Some(NotTried::Fixed(why)) if why.contains("read-only")));
        let set = spec::Setting::MountOptions("async".to_owned());
        assert_eq!(setting_of(("mount-sync", "async".to_owned())), set);
        assert_eq!((sync.described().now.as_str(), sync.described().risk), ("sync", SettingRisk::LosesData));
    }

    #[test]
    fn what_the_workload_feels_is_tried_first_and_the_rest_says_why_not() {
        let directory = tempfile::tempdir().unwrap();
        let tree = tree(directory.path());
        let all = candidates(&stack(), &tree, Vec::new(), &choice(&[])).unwrap();
        let tried: Vec<&str> = all.iter().filter(|c| c.not_tried.is_none()).map(|c| c.name()).collect();
        assert_eq!(tried, ["read-ahead", "scheduler", "request-size"]);
        let reached = |candidate, passes| reach(&all, &[Change { candidate, alternative: 0 }], passes);
        assert_eq!([reached(0, [true, false]), reached(0, [false, true]), reached(1, [false; 2])], [true, false, true]);
        assert_eq!(all[0].values, ["128", "1024", "8192"]);
        assert_eq!(all[1].values, ["none", "kyber", "bfq"]);
        let why = |name: &str| all.iter().find(|c| c.name() == name).unwrap().not_tried.clone().unwrap();
        assert_eq!(why("io-statistics"), NotTried::NeededByMeasurement);
        assert_eq!(why("swappiness"), NotTried::OnlyUnderMemoryPressure);
        assert_eq!(why("dirty-bytes"), NotTried::OnlyBufferedWrites);
        let change = [Change { candidate: 0, alternative: 1 }];
        assert_eq!(named(&all, &change), [("read-ahead", "1024".to_owned())]);
        let changed = changes(&all, &change);
        assert_eq!((changed[0].from.as_str(), changed[0].to.as_str()), ("4", "1024"));
    }

    #[test]
    fn what_others_proved_comes_first_and_adds_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let tree = tree(directory.path());
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        // What is not offered here, what is not tried for this workload, and what nobody knows.
        let known = [
            of("swappiness", "1"),
            of("request-size", "77"),
            of("read-ahead", "8192"),
            of("rm", "-rf"),
            of("scheduler", "bfq"),
        ];
        let choice = Choice { tried_first: &known, ..choice(&[]) };
        let all = candidates(&stack(), &tree, Vec::new(), &choice).unwrap();
        let tried: Vec<&str> = all.iter().filter(|c| c.not_tried.is_none()).map(|c| c.name()).collect();
        assert_eq!(tried, ["request-size", "read-ahead", "scheduler"]);
        let without = candidates(&stack(), &tree, Vec::new(), &Choice { tried_first: &[], ..choice }).unwrap();
        let request_size = without.iter().find(|c| c.name() == "request-size").unwrap();
        assert_eq!(all[0].values, request_size.values, "77 is no value of it here");
        assert_eq!(all[1].values, ["8192", "128", "1024"], "the known one, and two of the others");
        assert_eq!(all[2].values, ["bfq", "none", "kyber"]);
        assert_eq!(all.iter().filter(|c| c.name() == "swappiness" && c.not_tried.is_some()).count(), 1);
    }

    #[test]
    fn what_the_kernel_sets_anew_is_held() {
        let directory = tempfile::tempdir().unwrap();
        let tree = tree(directory.path());
        let all = candidates(&stack(), &tree, Vec::new(), &choice(&[])).unwrap();
        let of = |name: &str| all.iter().position(|c| c.name() == name).unwrap();
        let change = |name: &str| Change { candidate: of(name), alternative: 0 };
        let held = spec::Setting::Value { path: "/sys/block/sda/queue/read_ahead_kb".into(), value: "4".into() };
        let alone = arm_settings(&all, &[change("request-size")]);
        assert!(alone.len() == 2 && alone.contains(&held), "{alone:?}");
        assert!(!arm_settings(&all, &[change("request-size"), change("read-ahead")]).contains(&held));
        assert_eq!(arm_settings(&all, &[change("scheduler")]).len(), 1);
        let kept = super::held(&all, &[change("request-size")]);
        assert_eq!((kept[0].name, kept[0].to.as_str()), ("read-ahead", "4"), "else it is another one after a reboot");
    }

    #[test]
    fn what_can_lose_data_is_tried_only_where_it_is_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let tree = tree(directory.path());
        let writes = Choice { passes_page_cache: [false, true], ..choice(&[]) };
        let of = |choice: &Choice<'_>, name: &str| {
            let all = candidates(&stack(), &tree, Vec::new(), choice).unwrap();
            all.into_iter().find(|c| c.name() == name).unwrap()
        };
        assert_eq!(of(&writes, "dirty-expire").not_tried, Some(NotTried::Unsafe));
        assert_eq!(of(&Choice { allow_unsafe: true, ..writes }, "dirty-expire").not_tried, None);
        assert_eq!(of(&writes, "dirty-ratio").not_tried, Some(NotTried::MovesWith("dirty-bytes")));
        let dirty = of(&writes, "dirty-bytes");
        let change = [Change { candidate: 0, alternative: 0 }];
        let together = named(&[dirty], &change);
        assert_eq!(together[1], ("dirty-background-bytes", "8388608".to_owned()));
    }

    #[test]
    fn a_register_is_tried_only_where_that_is_allowed_and_it_was_read() {
        let directory = tempfile::tempdir().unwrap();
        let tree = tree(directory.path());
        let register = &registers::CATALOGUE[0];
        let of = |value, allow_registers| {
            let known =
                KnownRegister { register, controller: "1c18000.sata".into(), address: Some(0x01c1_8170), value };
            let choice = Choice { allow_registers, ..choice(&[]) };
            let all = candidates(&stack(), &tree, vec![known], &choice).unwrap();
            let at = all.iter().position(|c| c.name() == register.id).unwrap();
            (all, at)
        };
        let (all, at) = of(Some(0x0004_4400), true);
        assert_eq!(all[at].values, ["0x4433"]);
        let change = [Change { candidate: at, alternative: 0 }];
        let set = spec::Setting::Register { name: register.id.to_owned(), value: 0x4433 };
        assert_eq!(arm_settings(&all, &change), [set]);
        let changed = changes(&all, &change);
        assert_eq!((changed[0].from.as_str(), changed[0].to.as_str()), ("0x4400", "0x4433"));
        for (value, allowed, why) in [
            (Some(0x4400), false, NotTried::Register),
            (Some(0x4433), true, NotTried::NoOtherValue),
            (None, true, NotTried::Fixed("it was not read: --read-registers".to_owned())),
        ] {
            let (all, at) = of(value, allowed);
            assert_eq!((all[at].values.len(), all[at].not_tried.clone()), (0, Some(why)));
        }
    }

    #[test]
    fn names_choose_and_have_to_be_right() {
        let directory = tempfile::tempdir().unwrap();
        let tree = tree(directory.path());
        let only = ["scheduler".to_owned()];
        let all = candidates(&stack(), &tree, Vec::new(), &choice(&only)).unwrap();
        assert!(all.iter().all(|c| (c.name() == "scheduler") == c.not_tried.is_none()));
        for (wrong, why) in [("schedular", "did you mean scheduler?"), ("md-stripes", "has no setting md-stripes")] {
            let failure = candidates(&stack(), &tree, Vec::new(), &choice(&[wrong.to_owned()])).unwrap_err();
            assert!(failure.kind == FailureKind::Usage && failure.message.contains(why), "{failure}");
        }
    }
    #[test]
    fn a_named_setting_that_is_not_felt_is_said_with_what_feels_it() {
        let directory = tempfile::tempdir().unwrap();
        let tree = tree(directory.path());
        let refused = |name: &str| {
            let only = [name.to_owned()];
            let choice = Choice { passes_page_cache: [false; 2], ..choice(&only) };
            let all = candidates(&stack(), &tree, Vec::new(), &choice).unwrap();
            super::super::something_to_try(&all, &only, "/dev/sda").unwrap_err()
        };
        for (name, why, how) in [
            ("read-ahead", "only reads through the page cache feel read-ahead", "--for buffered-read"),
            ("dirty-bytes", "only writes through the page cache feel dirty-bytes", "--for buffered-write"),
        ] {
            let failure = refused(name);
            assert!(failure.message.starts_with(why), "{failure}");
            assert_eq!(failure.remedy.as_deref(), Some(how));
        }
    }
}
