//! Where a workload goes: TARGET of the command line, else what the workload itself names, else the current directory.

use model::Failure;
use spec::Workload;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The target, and what has to be said of its choice.
pub struct Destination {
    /// As on the command line.
    pub name: OsString,
    /// For the run.
    pub remark: Option<String>,
}

/// Chooses the target. fio makes a file that does not exist; here a temporary one in its directory stands for it.
pub fn destination(given: Option<&OsStr>, workload: &Workload) -> Result<Destination, Failure> {
    let plain = |name: &OsStr| Destination { name: name.to_owned(), remark: None };
    let own = match (given, workload.target.as_deref()) {
        (Some(given), _) => {
            let remark = workload
                .second_target
                .as_ref()
                .map(|what| format!("{what}; anywhere else all jobs use the target that was given"));
            return Ok(Destination { remark, ..plain(given) });
        }
        (None, Some(_)) if let Some(what) = &workload.second_target => {
            return Err(Failure::usage(what).remedy("narrows run WORKLOAD TARGET   uses one for all jobs"));
        }
        (None, None) => return Ok(plain(OsStr::new("."))),
        (None, Some(own)) => own,
    };
    let path = Path::new(own);
    if own.contains(':') || path.exists() || !path.is_absolute() {
        return Ok(plain(OsStr::new(own)));
    }
    // A device node that is missing must never become a file.
    let parent = path.parent().filter(|p| p.is_dir() && !path.starts_with("/dev"));
    match parent {
        Some(parent) => Ok(Destination {
            name: parent.as_os_str().to_owned(),
            remark: Some(format!(
                "{own} does not exist: a temporary file in {} is used in its place",
                parent.display()
            )),
        }),
        None => Err(Failure::environment(format!("{own}, which the workload names, does not exist"))
            .remedy("narrows run WORKLOAD TARGET   uses another target")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spec::{TextInputs, TextMachine};
    use std::collections::BTreeMap;

    fn workload(filename: &str) -> Workload {
        let (includes, variables) = (BTreeMap::new(), BTreeMap::new());
        spec::parse_fio(&TextInputs {
            file: "t.fio",
            text: &format!("[j]\nfilename={filename}\nsize=1m\n"),
            includes: &includes,
            set: &[],
            variables: &variables,
            machine: TextMachine { page_size_bytes: 4096, memory_bytes: 1 << 30, processors: 1 },
            lenient: false,
        })
        .unwrap()
    }

    fn name(given: Option<&str>, filename: &str) -> Result<(String, bool), String> {
        destination(given.map(OsStr::new), &workload(filename))
            .map(|d| (d.name.to_string_lossy().into_owned(), d.remark.is_some()))
            .map_err(|e| e.message)
    }

    #[test]
    fn two_targets_need_one_on_the_command_line() {
        let two = "/dev/null\nsize=1m\n[k]\nfilename=/dev/zero";
        assert!(name(None, two).unwrap_err().contains("'/dev/zero' is a second target beside '/dev/null'"));
        assert_eq!(name(Some("/mnt"), two), Ok(("/mnt".into(), true)));
    }

    #[test]
    fn the_command_line_goes_before_the_text() {
        assert_eq!(name(Some("/mnt"), "/dev/nothing-there"), Ok(("/mnt".into(), false)));
        assert_eq!(name(None, "relative"), Ok((".".into(), false)));
    }

    #[test]
    fn a_missing_file_becomes_a_temporary_one_and_a_missing_device_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("data");
        let missing = missing.to_str().unwrap();
        assert_eq!(name(None, missing), Ok((directory.path().to_str().unwrap().into(), true)));
        std::fs::write(missing, "x").unwrap();
        assert_eq!(name(None, missing), Ok((missing.into(), false)));
        assert!(name(None, "/dev/nothing-there").unwrap_err().contains("does not exist"));
        assert!(name(None, "/no/such/directory/file").is_err());
    }
}
