//! Where this user's journals are: never in an archive, which may come from anybody.

use crate::error::{Result, SettingError};
use crate::private_directory::PrivateDirectory;
use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

/// Name of the directory that is ours.
const NAME: &str = "narrows";

/// How long a change lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Persistence {
    /// The next start of the machine undoes it as well.
    UntilReboot,
    /// Until it is undone.
    Always,
}

/// The directories of a user, the one that is used first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalDirectories {
    until_reboot: Vec<Journals>,
    always: Vec<Journals>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Journals {
    base: PathBuf,
    name: &'static str,
    /// Whether the base may be made: it belongs to the user, and programs make it as they need it.
    make_base: bool,
}

impl JournalDirectories {
    /// By the environment of a process of this user. `/run/narrows` for root and `$XDG_RUNTIME_DIR/narrows` for others hold
    /// what a reboot undoes, `$XDG_STATE_HOME/narrows` or `~/.local/state/narrows` the rest; root without a home that is its own
    /// has `/var/lib/narrows`. `$NARROWS_JOURNAL` names another directory for both.
    pub fn new(variable: &dyn Fn(&str) -> Option<OsString>, is_root: bool) -> Self {
        let set = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let place = |base: PathBuf, make_base: bool| Journals { base, name: NAME, make_base };
        if let Some(base) = set("NARROWS_JOURNAL") {
            let of = |name| Journals { base: base.clone(), name, make_base: true };
            return Self { until_reboot: vec![of("until-reboot")], always: vec![of("always")] };
        }
        let run = if is_root { Some("/run".into()) } else { set("XDG_RUNTIME_DIR") };
        let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
        let lib = is_root.then(|| "/var/lib".into());
        let always = state.map(|s| place(s, true)).into_iter().chain(lib.map(|l| place(l, false)));
        Self { until_reboot: run.map(|r| place(r, false)).into_iter().collect(), always: always.collect() }
    }

    /// Those of the user of this process.
    pub fn of_this_user() -> Self {
        let me = rustix::process::geteuid();
        // `sudo` may keep the home of who called it: what is there is not root's, and root makes nothing in it.
        let is_own = |home: &OsString| std::fs::metadata(home).is_ok_and(|m| m.uid() == me.as_raw());
        let variable = |name: &str| std::env::var_os(name).filter(|value| name != "HOME" || is_own(value));
        Self::new(&variable, me.is_root())
    }

    /// Candidates for a change: what a reboot undoes may stand with the rest where there is no place of its own.
    fn candidates(&self, lasting: Persistence) -> Vec<&Journals> {
        let first = if lasting == Persistence::UntilReboot { self.until_reboot.as_slice() } else { &[] };
        first.iter().chain(&self.always).collect()
    }

    /// The directory to write to; it is made.
    ///
    /// # Errors
    /// Why there is none.
    pub fn write_directory(&self, lasting: Persistence) -> Result<PrivateDirectory> {
        let mut refused = None;
        for place in self.candidates(lasting) {
            if place.make_base {
                // Where it cannot be made, opening says why.
                let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&place.base);
            }
            match PrivateDirectory::open(&place.base, place.name, true) {
                Ok(Some(directory)) => return Ok(directory),
                Ok(None) => {}
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        let nowhere = || {
            SettingError::journal(
                "the journal of this machine",
                "there is no place for it: HOME is not a directory of this user",
            )
        };
        Err(refused.unwrap_or_else(nowhere))
    }

    /// All directories that there are, and why others that there are cannot be trusted.
    pub fn read_directories(&self) -> (Vec<PrivateDirectory>, Vec<SettingError>) {
        let (mut there, mut refused) = (Vec::new(), Vec::new());
        for place in self.candidates(Persistence::UntilReboot) {
            match PrivateDirectory::open(&place.base, place.name, false) {
                Ok(directory) => there.extend(directory),
                // What is above it is only of interest where something is below.
                Err(error) if std::fs::symlink_metadata(place.base.join(place.name)).is_ok() => refused.push(error),
                Err(_) => {}
            }
        }
        (there, refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)], is_root: bool) -> JournalDirectories {
        let of = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        JournalDirectories::new(&of, is_root)
    }

    fn shown(places: &JournalDirectories, lasting: Persistence) -> Vec<String> {
        places.candidates(lasting).iter().map(|p| p.base.join(p.name).display().to_string()).collect()
    }

    #[test]
    fn what_a_reboot_undoes_lies_where_a_reboot_forgets() {
        let home = [("HOME", "/home/a"), ("XDG_RUNTIME_DIR", "/run/user/7")];
        let user = places(&home, false);
        assert_eq!(shown(&user, Persistence::UntilReboot), ["/run/user/7/narrows", "/home/a/.local/state/narrows"]);
        assert_eq!(shown(&user, Persistence::Always), ["/home/a/.local/state/narrows"]);
        let root = places(&home, true);
        assert_eq!(shown(&root, Persistence::UntilReboot)[0], "/run/narrows");
        assert_eq!(shown(&root, Persistence::Always), ["/home/a/.local/state/narrows", "/var/lib/narrows"]);
        let state = places(&[("HOME", "/home/a"), ("XDG_STATE_HOME", "/s")], false);
        assert_eq!(shown(&state, Persistence::UntilReboot), ["/s/narrows"]);
        let named = places(&[("NARROWS_JOURNAL", "/j"), ("HOME", "/home/a")], true);
        assert_eq!(shown(&named, Persistence::UntilReboot), ["/j/until-reboot", "/j/always"]);
        assert!(shown(&places(&[("XDG_STATE_HOME", "relative")], false), Persistence::Always).is_empty());
    }

    #[test]
    fn a_place_is_made_where_it_may_be() {
        let home = tempfile::tempdir().unwrap();
        let of = |name: &str| (name == "HOME").then(|| home.path().as_os_str().to_owned());
        let places = JournalDirectories::new(&of, false);
        assert!(places.read_directories().0.is_empty());
        places.write_directory(Persistence::UntilReboot).unwrap().create("x").unwrap();
        assert_eq!(places.read_directories().0.len(), 1);
        assert!(JournalDirectories::new(&|_| None, false).write_directory(Persistence::Always).is_err());
    }
}
