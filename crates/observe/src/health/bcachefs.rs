//! What bcachefs counts of the errors of its members (k:fs/bcachefs/sysfs.c, io_errors; bch2_dev_io_errors_to_text of 6.7 to 6.17).

use crate::root::Root;

/// Errors since the file system was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BcachefsErrors {
    pub read: i64,
    pub write: i64,
    pub checksum: i64,
}

/// Of all members of the file system that the device of this name is a member of.
pub(crate) fn bcachefs_errors(root: &Root, device: &str) -> Option<BcachefsErrors> {
    let of = |uuid: &String| {
        let directory = format!("/sys/fs/bcachefs/{uuid}");
        let members: Vec<String> = root.list(&directory).into_iter().filter(|name| name.starts_with("dev-")).collect();
        let named = |member: &String| root.link_name(&format!("{directory}/{member}/block")).as_deref() == Some(device);
        members.iter().any(named).then(|| {
            let texts = members.iter().filter_map(|member| root.text(&format!("{directory}/{member}/io_errors")));
            texts.map(|text| errors(&text)).collect::<Option<Vec<_>>>()
        })?
    };
    let all = root.list("/sys/fs/bcachefs").iter().find_map(of).filter(|members| !members.is_empty())?;
    Some(all.iter().fold(BcachefsErrors::default(), |sum, one| BcachefsErrors {
        read: sum.read + one.read,
        write: sum.write + one.write,
        checksum: sum.checksum + one.checksum,
    }))
}

/// The first of two lists: the second counts from the last reset on.
fn errors(text: &str) -> Option<BcachefsErrors> {
    let count = |name: &str| {
        let line = text.lines().skip(1).find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().parse().ok()
    };
    Some(BcachefsErrors { read: count("read")?, write: count("write")?, checksum: count("checksum")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const TEXT: &str = "IO errors since filesystem creation\n  read:     3\n  write:    1\n  checksum: 12\n\
                        IO errors since 8 y ago\n  read:     0\n  write:    0\n  checksum: 0\n";

    #[test]
    fn the_members_of_the_file_system_of_a_device_are_counted_together() {
        let tree = tempfile::tempdir().unwrap();
        let member = |uuid: &str, number: u32, block: &str, text: &str| {
            let directory = tree.path().join(format!("sys/fs/bcachefs/{uuid}/dev-{number}"));
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("io_errors"), text).unwrap();
            symlink(format!("../../../../block/{block}"), directory.join("block")).unwrap();
        };
        member("a", 0, "sda1", TEXT);
        member("b", 0, "sdb1", TEXT);
        member("b", 1, "sdc1", &TEXT.replace(" 12", " 30"));
        let root = Root::new(tree.path());
        let of = |read, write, checksum| Some(BcachefsErrors { read, write, checksum });
        assert_eq!(bcachefs_errors(&root, "sda1"), of(3, 1, 12));
        assert_eq!(bcachefs_errors(&root, "sdc1"), of(6, 2, 42));
        assert_eq!(bcachefs_errors(&root, "sdd1"), None);
        assert_eq!(errors("IO errors since filesystem creation\n  read: x\n"), None);
    }
}
