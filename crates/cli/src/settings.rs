//! `narrows settings`: settings of this machine. It lists them for a target, and restores what was left changed.

use crate::args::SettingsCommand;
use crate::experiment;
use crate::inspect_place;
use crate::output::Output;
use model::Failure;
use observe::{ProbeOptions, Root};
use report::document::{ListedSetting, ListedValue, SettingsListDocument};
use settings::{MOUNT_OPTIONS, MountOption, TUNABLES, Tree, TunableState};
use std::ffi::OsStr;
use std::process::ExitCode;

/// Executes the command.
pub fn command(command: &SettingsCommand, output: &Output) -> Result<ExitCode, Failure> {
    match command {
        SettingsCommand::List { target } => list(target, output),
        SettingsCommand::Restore => Ok(experiment::restore(output)),
    }
}

/// `narrows settings list TARGET`.
pub fn list(target: &OsStr, output: &Output) -> Result<ExitCode, Failure> {
    if inspect_place::is_no_place(target) {
        let message = format!("{} is not a machine: nothing of it can be set", target.to_string_lossy());
        return Err(Failure::usage(message));
    }
    let root = Root::new("/");
    let place = inspect_place::place(&root, target)?;
    let stack = observe::inventory_with(&root, &place, ProbeOptions::default()).stack;
    let tree = Tree::machine();
    let value = |t: TunableState| ListedValue {
        path: t.path.to_string(),
        now: t.now,
        candidates: t.candidates,
        fixed: t.fixed,
    };
    let all = TUNABLES.iter().map(|tunable| ListedSetting {
        name: tunable.name,
        about: tunable.about,
        values: tunable.on(&stack, &tree).into_iter().map(value).collect(),
    });
    let of_mount = |option: &'static MountOption| {
        let mount = stack.mount.as_ref()?;
        let (now, candidates) = option.on(mount)?;
        let fixed = option.changeable(mount).err().map(|why| why.to_string());
        let value = ListedValue { path: mount.mount_point.clone(), now, candidates, fixed };
        Some(ListedSetting { name: option.name, about: option.about, values: vec![value] })
    };
    let all = all.chain(MOUNT_OPTIONS.iter().filter_map(of_mount));
    let present: Vec<ListedSetting> = all.filter(|setting| !setting.values.is_empty()).collect();
    let name = target.to_string_lossy();
    output.answer(&SettingsListDocument::new(&name, &present), || report::settings_list(&name, &present));
    Ok(ExitCode::SUCCESS)
}
