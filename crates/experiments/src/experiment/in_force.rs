//! Settings of an arm as settings of this machine: names of disks filled in, applied in an order in which none resets another,
//! and put back from wherever the experiment ends.

use conduct::Interrupts;
use model::{CompactSort as _, Failure, Stack};
use settings::{
    AppliedSettings, CommandLimits, CommandLine, JournalDirectories, Machine, RegisterBits, Setting, SettingError,
    Tree, Tunable, UndoReport, ValuePath,
};
use spec::Arm;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// What puts a setting back is quick, or not waited for any longer by who asked twice to end.
const QUICK: Duration = Duration::from_secs(2);

/// The settings in force, for the thread that executes and for the one that hears the second signal.
#[derive(Clone, Default)]
pub struct SettingsInForce {
    shared: Arc<Mutex<SettingsState>>,
}

#[derive(Default)]
struct SettingsState {
    in_force: Option<AppliedSettings>,
    /// What became of them where the second signal had them put back.
    undone: Option<Result<(), Failure>>,
}

/// Those that were applied last, for a panic after which nothing is dropped.
static APPLIED: Mutex<Option<SettingsInForce>> = Mutex::new(None);

/// Puts back what is in force, in a panic of a program that does not unwind (the profile `dist`, which is smaller by 15 of 100 for it). What is just
/// being applied or undone is left to its journal, as after SIGKILL.
pub fn restore_in_panic() {
    let applied = APPLIED.try_lock().ok().and_then(|mut applied| applied.take());
    if let Some(applied) = applied.filter(|applied| !matches!(applied.shared.try_lock(), Err(TryLockError::WouldBlock)))
    {
        let _ = applied.undo(&|| true);
    }
}

impl SettingsInForce {
    fn lock(&self) -> MutexGuard<'_, SettingsState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the settings of an arm. Where one cannot be, those before it are undone.
    pub fn apply(&self, arm: &Arm, experiment: &str, stack: &Stack, interrupts: &Interrupts) -> Result<(), Failure> {
        if arm.settings.is_empty() {
            return Ok(());
        }
        self.apply_with(JournalDirectories::of_this_user(), arm, experiment, stack, interrupts)
    }

    fn apply_with(
        &self,
        journals: JournalDirectories,
        arm: &Arm,
        experiment: &str,
        stack: &Stack,
        interrupts: &Interrupts,
    ) -> Result<(), Failure> {
        let refused = |e: SettingError| Failure::refused(e.to_string());
        let machine = Machine::of(Path::new("/"));
        let mut in_force = AppliedSettings::new(Tree::machine(), journals, machine, experiment, &arm.name)
            .map_err(|e| Failure::internal(e.to_string()))?;
        *APPLIED.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.clone());
        let mut shared = self.lock();
        shared.undone = None;
        let patience = CommandLimits { over: &|| interrupts.end(), at_least: Duration::ZERO };
        let applied = of_machine(arm, stack, &Tree::machine())
            .map_err(Failure::refused)
            .and_then(|all| all.iter().try_for_each(|s| in_force.apply(s, &patience)).map_err(refused))
            .and_then(|()| in_force.verify().map_err(refused));
        shared.in_force = Some(in_force);
        drop(shared);
        applied.map_err(|failure| {
            let failure = Failure { message: format!("arm '{}': {}", arm.name, failure.message), ..failure };
            match self.undo(&|| interrupts.asked_twice()) {
                Ok(()) => failure,
                Err(second) => Failure { message: format!("{}; {}", failure.message, second.message), ..second },
            }
        })
    }

    /// Puts everything back. `hurry`: whether commands have only a moment from now on.
    ///
    /// # Errors
    /// What is still changed.
    pub fn undo(&self, hurry: &dyn Fn() -> bool) -> Result<(), Failure> {
        let mut shared = self.lock();
        let Some(mut in_force) = shared.in_force.take() else { return shared.undone.clone().unwrap_or(Ok(())) };
        let UndoReport { failed, .. } = in_force.undo(&CommandLimits { over: hurry, at_least: QUICK });
        let result = if failed.is_empty() { Ok(()) } else { Err(still_changed(&failed, &in_force.journal_paths())) };
        shared.undone = Some(result.clone());
        result
    }
}

/// What could not be put back, where that is written down, and how to try again (exit 4: something was changed).
pub fn still_changed(failed: &[String], journals: &[std::path::PathBuf]) -> Failure {
    let message = format!("still changed: {}", failed.join("; "));
    let kept: Vec<String> = journals.iter().map(|p| p.display().to_string()).collect();
    let kept = if kept.is_empty() {
        String::new()
    } else {
        format!("; {} says what is left: delete it once that is undone by hand", kept.join(" and "))
    };
    Failure::invalid(message).remedy(format!("narrows experiment restore   tries again{kept}"))
}

/// Whether all settings of an arm could be applied, without applying any.
pub fn check(arm: &Arm, stack: &Stack) -> Result<(), String> {
    let tree = Tree::machine();
    of_machine(arm, stack, &tree)?.iter().try_for_each(|setting| setting.check(&tree).map_err(|e| e.to_string()))
}

/// The settings of an arm in the order in which they are applied: as the text has them, but of values of one group the one
/// first that would reset the others.
fn of_machine(arm: &Arm, stack: &Stack, tree: &Tree) -> Result<Vec<Setting>, String> {
    let mut out = Vec::new();
    let text = |e: SettingError| e.to_string();
    let values = |pattern: &str, value: &str| -> Result<Vec<Setting>, SettingError> {
        let paths = settings::paths(pattern, stack, tree)?;
        if paths.is_empty() {
            return Err(SettingError::Missing(pattern.to_owned()));
        }
        let of = |path: &String| Ok(Setting::Value { path: ValuePath::new(path)?, value: value.to_owned() });
        paths.iter().map(of).collect()
    };
    for setting in &arm.settings {
        match setting {
            spec::Setting::Value { path, value } => out.extend(values(path, value).map_err(text)?),
            spec::Setting::Named { name, value } => {
                out.extend(Tunable::named(name).and_then(|t| values(t.pattern, value)).map_err(text)?);
            }
            spec::Setting::Register { name, value } => {
                let known = observe::registers::on_path(&observe::Root::new("/"), stack);
                let found = known.into_iter().find(|known| known.register.id == *name);
                let (known, address) = found
                    .and_then(|known| known.address.map(|address| (known, address)))
                    .ok_or_else(|| format!("the path has no register {name}"))?;
                let register = RegisterBits {
                    address,
                    mask: known.register.mask,
                    controller: known.controller,
                    driver: known.register.driver.to_owned(),
                };
                out.push(Setting::Register { register, value: *value });
            }
            spec::Setting::Command { run, undo } => {
                let line = |a: &[String]| CommandLine::new(a.to_vec()).ok_or("a command without a program");
                out.push(Setting::Command { run: line(run)?, undo: line(undo)? });
            }
            spec::Setting::MountOptions(options) => out
                .push(Setting::MountOptions { mount_point: mount_point(stack)?.to_owned(), options: options.clone() }),
        }
    }
    out.compact_sort_by_key(|setting| match setting {
        Setting::MountOptions { .. } => 0,
        Setting::Value { path, .. } => 1 + settings::rank(path),
        Setting::Register { .. } => usize::MAX - 1,
        Setting::Command { .. } => usize::MAX,
    });
    Ok(out)
}

fn mount_point(stack: &Stack) -> Result<&str, String> {
    stack
        .mount
        .as_ref()
        .map(|m| m.mount_point.as_str())
        .ok_or_else(|| "mount-options: the target is on no file system".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Layer, LayerKind};

    fn stack() -> Stack {
        let layers = vec![
            Layer::new(LayerKind::Filesystem, "ext4"),
            Layer::new(LayerKind::Partition, "sda1"),
            Layer {
                counted: true,
                device: Some(model::DeviceId { major: 8, minor: 0 }),
                ..Layer::new(LayerKind::Disk, "sda")
            },
        ];
        Stack { mount: None, layers: layers.into() }
    }

    /// What the hook of a panic does where nothing is dropped.
    #[test]
    fn what_is_in_force_is_restored_in_a_panic() {
        let directory = tempfile::tempdir().unwrap();
        let marked = directory.path().join("changed");
        let line = |program: &str| vec![program.to_owned(), marked.display().to_string()];
        let settings = vec![spec::Setting::Command { run: line("touch"), undo: line("rm") }];
        let arm = Arm { name: "a".into(), settings, set: Vec::new(), target: None, when: None };
        let in_force = SettingsInForce::default();
        let journal = directory.path().join("journal").into_os_string();
        let journals = JournalDirectories::new(&|name| (name == "NARROWS_JOURNAL").then(|| journal.clone()), false);
        in_force.apply_with(journals, &arm, "test-of-a-panic", &stack(), &Interrupts::default()).unwrap();
        assert!(marked.exists());
        restore_in_panic();
        assert!(!marked.exists(), "the command's undoing was not run");
        // Whoever ends meanwhile undoes nothing twice, and a second panic finds nothing.
        assert_eq!(in_force.undo(&|| true), Ok(()));
        restore_in_panic();
    }

    #[test]
    fn what_resets_others_is_applied_first_and_commands_last() {
        let value = |path: &str| spec::Setting::Value { path: path.into(), value: "1".into() };
        let command = spec::Setting::Command { run: vec!["true".into()], undo: vec!["true".into()] };
        let settings = vec![
            command,
            value("/sys/block/{disk}/queue/iosched/read_expire"),
            value("/sys/block/{disk}/queue/nr_requests"),
            spec::Setting::Named { name: "request-size".into(), value: "64".into() },
            value("/sys/block/{disk}/queue/scheduler"),
        ];
        let arm = Arm { name: "a".into(), settings, set: Vec::new(), target: None, when: None };
        let tree = Tree::below(Path::new("/proc/self")).unwrap();
        let order: Vec<String> = of_machine(&arm, &stack(), &tree)
            .unwrap()
            .iter()
            .map(|s| match s {
                Setting::Value { path, .. } => path.name().to_owned(),
                _ => "command".to_owned(),
            })
            .collect();
        assert_eq!(order, ["scheduler", "nr_requests", "max_sectors_kb", "read_expire", "command"]);
    }
}
