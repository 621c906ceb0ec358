//! Names that only this program knows, for the completion of arguments.

use crate::archive_directory;
use archive::Archive;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use std::ffi::{OsStr, OsString};

/// The words of the command line that is completed.
pub fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1)
}

/// What an argument may name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Names {
    Tags,
    Runs,
    Devices,
    Simulated,
    Workloads,
    Uses,
    Classes,
    Pages,
    Settings,
    Keys,
    Programs,
    Paths,
}

/// What completes an argument that takes these.
pub fn offer(kinds: &'static [Names]) -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let typed = current.as_encoded_bytes();
        let names = kinds.iter().flat_map(|kind| kind.all());
        let fits = |name: &String| name.as_bytes().starts_with(typed) && !name.is_empty() && !name.contains(is_special);
        let mut found: Vec<_> = names.filter(fits).map(CompletionCandidate::new).collect();
        if kinds.contains(&Names::Paths) {
            found.extend(PathCompleter::any().complete(current));
        }
        found
    })
}

/// What a shell would take apart; no name with it is offered.
pub fn is_special(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "'\"$`\\*?[]#!;&|<>(){}".contains(c)
}

impl Names {
    /// All that there are now. What cannot be found out is no name: nobody reads a message here.
    fn all(self) -> Vec<String> {
        let before_value = |name: &str| format!("{name}=");
        match self {
            Self::Tags => archive().and_then(|it| it.tags().ok()).unwrap_or_default().into_keys().collect(),
            Self::Runs => {
                let ids = archive().and_then(|it| it.ids().ok()).unwrap_or_default();
                let latest = ids.last().map(|_| "latest".to_owned());
                Self::Tags.all().into_iter().chain(latest).chain(ids).collect()
            }
            Self::Devices => {
                observe::disks(&observe::Root::new("/")).iter().map(|disk| format!("/dev/{}", disk.name)).collect()
            }
            Self::Simulated => {
                spec::sim_models().unwrap_or_default().iter().map(|sim| format!("sim:{}", sim.name)).collect()
            }
            Self::Workloads => spec::workloads()
                .into_iter()
                .map(|w| w.name)
                .chain(spec::studies().map(|[name, ..]| name.to_owned()))
                .collect(),
            // Of those with a number in their name an example each.
            Self::Uses => {
                let example = |id: &str| {
                    id.replace("video", "video=V30")
                        .replace("record", "record=4x16Mbit")
                        .replace("checkpoint", "checkpoint=20GB/60s")
                };
                judge::uses().iter().map(|used| example(&used.id)).collect()
            }
            Self::Classes => judge::class_names().map(str::to_owned).collect(),
            Self::Pages => {
                let findings = diagnose::catalogue().iter().map(|page| page.id.clone());
                findings.chain(judge::uses().iter().map(|used| format!("for-{}", used.id))).collect()
            }
            Self::Settings => {
                let of_mounts = settings::MOUNT_OPTIONS.iter().map(|option| option.name);
                settings::TUNABLES.iter().map(|setting| setting.name).chain(of_mounts).map(before_value).collect()
            }
            Self::Keys => spec::job_keys().iter().map(|key| before_value(key.name)).collect(),
            Self::Programs => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let files = std::env::split_paths(&path).filter_map(|directory| directory.read_dir().ok()).flatten();
                files.filter_map(|file| file.ok()?.file_name().into_string().ok()).collect()
            }
            Self::Paths => Vec::new(),
        }
    }
}

/// The archive that the words name, else that of the environment.
fn archive() -> Option<Archive> {
    let mut words = words();
    let option = words.find_map(|word| Some(word.to_str()?.strip_prefix("--archive")?.to_owned()));
    let named = option.and_then(|rest| match rest.strip_prefix('=') {
        Some(directory) => Some(directory.into()),
        None => words.find(|word| word != "=").map(Into::into),
    });
    Some(Archive::open(std::path::absolute(named.or_else(archive_directory::usual)?).ok()?))
}
