//! A directory of one user alone. What is in it was written by that user's programs: neither it nor a directory above it can
//! be changed by another user, and no link leads into it or out of it.

use crate::error::{Result, SettingError};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, Stat, fstat, fsync, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

const OTHERS_WRITE: RawMode = 0o002;
const GROUP_WRITES: RawMode = 0o020;
const STICKY: RawMode = 0o1000;
const GROUP_AND_OTHERS: RawMode = 0o077;

/// An open directory of this user alone.
#[derive(Debug)]
pub struct PrivateDirectory {
    directory: OwnedFd,
    path: PathBuf,
}

impl PrivateDirectory {
    /// Opens `name` in `base`, with mode 0700 made if asked; `None` where there is none. `base` itself may be named by links,
    /// as /var/run is; from its real path on none is followed.
    ///
    /// # Errors
    /// [`SettingError::Journal`] where the directory is not this user's alone, where somebody else may write to one above it,
    /// and where it cannot be made.
    pub fn open(base: &Path, name: &str, make: bool) -> Result<Option<Self>> {
        let path = base.join(name);
        let cannot = |e: Errno| SettingError::journal(&path, std::io::Error::from(e));
        let real = match base.canonicalize() {
            Ok(real) => real,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(SettingError::journal(base, e)),
        };
        let above = walk(&real)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = match openat(&above, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if make => {
                match mkdirat(&above, name, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(e) => return Err(cannot(e)),
                }
                openat(&above, name, flags, Mode::empty()).map_err(cannot)?
            }
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(SettingError::journal(&path, "it is a link or a file, and no directory"));
            }
            other => other.map_err(cannot)?,
        };
        let stat = fstat(&directory).map_err(cannot)?;
        if stat.st_uid != me() || stat.st_mode & GROUP_AND_OTHERS != 0 {
            let why = format!(
                "it is not of this user alone (it is of user {}, mode {:04o}): what it says is not obeyed",
                stat.st_uid,
                stat.st_mode & 0o7777
            );
            return Err(SettingError::journal(&path, why));
        }
        Ok(Some(Self { directory, path }))
    }

    /// The same directory once more.
    ///
    /// # Errors
    /// That no descriptor is left.
    pub(crate) fn again(&self) -> Result<Self> {
        let directory = self.directory.try_clone().map_err(|e| SettingError::journal(&self.path, e))?;
        Ok(Self { directory, path: self.path.clone() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of its files, in order.
    ///
    /// # Errors
    /// That it cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        let cannot = |e: Errno| SettingError::journal(&self.path, std::io::Error::from(e));
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.directory).map_err(cannot)? {
            let name = entry.map_err(cannot)?.file_name().to_string_lossy().into_owned();
            if !matches!(name.as_str(), "." | "..") {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// A new file of mode 0600; `None` where there is one of this name.
    ///
    /// # Errors
    /// That it cannot be made.
    pub fn create(&self, name: &str) -> Result<Option<File>> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.directory, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Some(file.into())),
            Err(Errno::EXIST) => Ok(None),
            Err(e) => Err(SettingError::journal(self.path.join(name), std::io::Error::from(e))),
        }
    }

    /// Opens a file that was made by [`Self::create`]; `None` where there is none.
    ///
    /// # Errors
    /// That it cannot be opened, is no file of this user alone, or is longer than `most_bytes`.
    pub fn existing(&self, name: &str, most_bytes: u64) -> Result<Option<File>> {
        let path = self.path.join(name);
        let cannot = |e: Errno| SettingError::journal(&path, std::io::Error::from(e));
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.directory, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(SettingError::journal(&path, "it is a link")),
            Err(e) => return Err(cannot(e)),
        };
        let stat = fstat(&file).map_err(cannot)?;
        if !is_of_this_user_alone(&stat) {
            return Err(SettingError::journal(&path, "it is not a file of this user alone"));
        }
        if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > most_bytes {
            return Err(SettingError::journal(&path, "it is too long to be one of this program"));
        }
        Ok(Some(file.into()))
    }

    /// Removes a file, and makes that durable.
    ///
    /// # Errors
    /// That it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<()> {
        match unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => self.sync(),
            Err(e) => Err(SettingError::journal(self.path.join(name), std::io::Error::from(e))),
        }
    }

    /// Makes new and removed names durable.
    ///
    /// # Errors
    /// That the device does not.
    pub fn sync(&self) -> Result<()> {
        match fsync(&self.directory) {
            // Some file systems have no fsync for directories.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(e) => Err(SettingError::journal(&self.path, std::io::Error::from(e))),
        }
    }
}

fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_of_this_user_alone(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && stat.st_uid == me()
        && stat.st_mode & GROUP_AND_OTHERS == 0
        && stat.st_nlink == 1
}

/// Opens a real path component by component, each of which is of this user or of root, and none of which others may change.
fn walk(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut seen = PathBuf::from("/");
    let cannot = |seen: &Path, e: Errno| SettingError::journal(seen, std::io::Error::from(e));
    let mut at = openat(rustix::fs::CWD, "/", flags, Mode::empty()).map_err(|e| cannot(&seen, e))?;
    for component in path.components() {
        if let Component::Normal(name) = component {
            seen.push(name);
            at = openat(at.as_fd(), name, flags, Mode::empty()).map_err(|e| cannot(&seen, e))?;
        }
        let stat = fstat(&at).map_err(|e| cannot(&seen, e))?;
        // The group of a user's directories is often that user's own; root's are root's.
        let group_writes = stat.st_mode & GROUP_WRITES != 0 && stat.st_gid != 0 && me() == 0;
        let others_write = stat.st_mode & OTHERS_WRITE != 0 || group_writes;
        if others_write && stat.st_mode & STICKY == 0 {
            return Err(SettingError::journal(&seen, "others may change what is in it: nothing below it is obeyed"));
        }
        if stat.st_uid != 0 && stat.st_uid != me() {
            let why = format!("it is of user {}: nothing below it is obeyed", stat.st_uid);
            return Err(SettingError::journal(&seen, why));
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn refusal(base: &Path, name: &str) -> String {
        PrivateDirectory::open(base, name, true).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn it_is_made_for_this_user_alone_and_holds_files_that_are() {
        let base = tempfile::tempdir().unwrap();
        assert!(PrivateDirectory::open(base.path(), "ours", false).unwrap().is_none());
        assert!(PrivateDirectory::open(&base.path().join("none"), "ours", true).unwrap().is_none());
        let ours = PrivateDirectory::open(base.path(), "ours", true).unwrap().unwrap();
        assert_eq!(std::fs::metadata(ours.path()).unwrap().mode() & 0o7777, 0o700);
        ours.create("a").unwrap().unwrap();
        assert!(ours.create("a").unwrap().is_none());
        assert_eq!(std::fs::metadata(ours.path().join("a")).unwrap().mode() & 0o7777, 0o600);
        assert_eq!(ours.names().unwrap(), ["a"]);
        assert!(ours.existing("a", 0).unwrap().is_some() && ours.existing("b", 9).unwrap().is_none());
        ours.remove("a").unwrap();
        ours.remove("a").unwrap();
        assert!(ours.names().unwrap().is_empty());
    }

    #[test]
    fn one_that_others_may_change_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        for (name, mode) in [("world", 0o707), ("group", 0o770), ("readable", 0o704)] {
            std::fs::create_dir(at(name)).unwrap();
            set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
            assert!(refusal(base.path(), name).contains("not of this user alone"), "{name}");
        }
        std::fs::create_dir(at("real")).unwrap();
        set_permissions(at("real"), Permissions::from_mode(0o700)).unwrap();
        symlink(at("real"), at("link")).unwrap();
        std::fs::write(at("file"), "").unwrap();
        assert!(refusal(base.path(), "link").contains("it is a link"));
        assert!(refusal(base.path(), "file").contains("it is a link or a file"));
        // Nor one below a directory in which others may put another in its place.
        std::fs::create_dir(at("open")).unwrap();
        set_permissions(at("open"), Permissions::from_mode(0o777)).unwrap();
        assert!(refusal(&at("open"), "ours").contains("others may change"));
        set_permissions(at("open"), Permissions::from_mode(0o1777)).unwrap();
        assert!(PrivateDirectory::open(&at("open"), "ours", true).unwrap().is_some());
    }

    #[test]
    fn one_of_another_user_is_refused() {
        if me() != 0 {
            println!("SKIPPED: only root can give a directory to another user");
            return;
        }
        let base = tempfile::tempdir().unwrap();
        let (of_nobody, below) = (base.path().join("theirs"), base.path().join("theirs/ours"));
        std::fs::create_dir_all(&below).unwrap();
        set_permissions(&of_nobody, Permissions::from_mode(0o700)).unwrap();
        set_permissions(&below, Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::chown(&of_nobody, Some(65534), Some(65534)).unwrap();
        assert!(refusal(base.path(), "theirs").contains("of user 65534"));
        assert!(refusal(&of_nobody, "ours").contains("of user 65534"));
    }

    #[test]
    fn a_file_that_leads_elsewhere_or_is_too_long_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let ours = PrivateDirectory::open(base.path(), "ours", true).unwrap().unwrap();
        let at = |name: &str| ours.path().join(name);
        std::fs::write(at("long"), "12345").unwrap();
        set_permissions(at("long"), Permissions::from_mode(0o600)).unwrap();
        assert!(ours.existing("long", 5).unwrap().is_some());
        assert!(ours.existing("long", 4).unwrap_err().to_string().contains("too long"));
        set_permissions(at("long"), Permissions::from_mode(0o644)).unwrap();
        assert!(ours.existing("long", 5).unwrap_err().to_string().contains("alone"));
        symlink("long", at("link")).unwrap();
        assert!(ours.existing("link", 5).unwrap_err().to_string().contains("link"));
        set_permissions(at("long"), Permissions::from_mode(0o600)).unwrap();
        std::fs::hard_link(at("long"), at("second")).unwrap();
        assert!(ours.existing("long", 5).unwrap_err().to_string().contains("alone"));
    }
}
