//! Whether O_DIRECT was granted: direct asked is not direct granted.
//!
//! Decided from what the kernel says (`STATX_DIOALIGN`, inode flags) and from what the sources of each file system
//! say, never from cache residency: a silent fallback may leave no cached page behind.

use model::{DirectProof, TargetKind};
use sys::{DirectAlignment, InodeFlags, WrittenRange};

/// All that the decision rests on.
#[derive(Clone, Debug)]
pub(crate) struct DirectFacts<'a> {
    pub kind: TargetKind,
    /// The phase writes.
    pub write: bool,
    /// The phase writes beyond what the file holds (layout).
    pub extends: bool,
    /// Type of the file system; `None` if unknown.
    pub filesystem: Option<&'a str>,
    pub mount_options: &'a [String],
    /// Kernel version, major and minor.
    pub kernel: Option<(u32, u32)>,
    /// What statx says.
    pub alignment: DirectAlignment,
    /// The file lies in directly mapped memory (statx).
    pub dax: bool,
    /// Inode flags, where the file system has them.
    pub inode: Option<InodeFlags>,
    /// Extents of the region, where known.
    pub written: Option<WrittenRange>,
    /// btrfs: data are kept in several copies or with parity.
    pub btrfs_redundant: Option<bool>,
    /// Files behind loop devices below.
    pub loops_below: bool,
}

/// The decision for a file that was opened with O_DIRECT and whose first operation succeeded.
pub(crate) fn proof(f: &DirectFacts<'_>) -> DirectProof {
    use DirectProof::{Fallback, NoDevice, Proven, Unproven};
    let below = if f.loops_below { "; the loop device below may cache its backing file" } else { "" };
    if f.kind == TargetKind::BlockDevice {
        return Proven(format!("block device: O_DIRECT goes past its page cache (k:block/fops.c){below}"));
    }
    if f.dax {
        return Proven("statx STATX_ATTR_DAX: directly mapped memory, no page cache".into());
    }
    let filesystem = f.filesystem.unwrap_or("unknown file system");
    match filesystem {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => {
            return NoDevice(format!("{filesystem} has no device; O_DIRECT is only accepted (k:mm/shmem.c)"));
        }
        "btrfs" => return btrfs(f),
        "zfs" => {
            return Unproven(
                "zfs: before 2.3 O_DIRECT goes through the ARC; later it depends on the `direct` property".into(),
            );
        }
        _ => {}
    }
    if let Some(reason) = fallback_by_inode(f, filesystem) {
        return Fallback(reason);
    }
    let remote = filesystem.starts_with("fuse")
        || filesystem.starts_with("nfs")
        || matches!(filesystem, "cifs" | "smb3" | "9p" | "virtiofs" | "ceph" | "lustre" | "afs" | "vboxsf");
    if remote {
        return Unproven(format!("{filesystem}: past this kernel's page cache; what the server caches is not known"));
    }
    match f.alignment {
        DirectAlignment::Supported { memory_bytes, offset_bytes } => Proven(format!(
            "statx STATX_DIOALIGN on {filesystem}: memory {memory_bytes}, offset {offset_bytes} bytes{below}"
        )),
        DirectAlignment::Unsupported => {
            Fallback(format!("statx STATX_DIOALIGN: {filesystem} has no direct I/O for this file"))
        }
        DirectAlignment::NotTold => by_source(f, filesystem, below),
    }
}

fn option(f: &DirectFacts<'_>, name: &str) -> bool {
    f.mount_options.iter().any(|o| o == name)
}

/// Conditions under which a file system accepts O_DIRECT and then uses the page cache (k:fs/ext4/file.c,
/// ext4_should_use_dio; k:fs/crypto, k:fs/verity).
fn fallback_by_inode(f: &DirectFacts<'_>, filesystem: &str) -> Option<String> {
    let flags = f.inode.unwrap_or_default();
    if filesystem.starts_with("ext") && (flags.journalled_data || option(f, "data=journal")) {
        return Some(format!("{filesystem} journals this file's data: all I/O goes through the page cache"));
    }
    if flags.verity && !f.write {
        return Some("fs-verity: reads go through the page cache, where they are verified".into());
    }
    if flags.inline_data || f.written.is_some_and(|w| w.inline_bytes > 0) {
        return Some("the data lie within the inode: there is nothing to transfer directly".into());
    }
    if flags.encrypted && f.alignment == DirectAlignment::NotTold {
        return Some("encrypted by the file system: direct I/O only with inline encryption hardware".into());
    }
    None
}

/// btrfs tells nothing by statx (seen on Linux 6.18); its source decides (k:fs/btrfs/direct-io.c).
///
/// Direct writes to inodes with data checksums fall back to buffered ones since Linux 6.15 (the documentation of
/// btrfs-progs says 6.14, and stable kernels took the change too); Linux 7.3 writes them directly from a bounce
/// buffer. Since Linux 7.0 NOCOW inodes fall back as well where data are redundant. Reads were direct throughout,
/// unless an extent is compressed or inline.
fn btrfs(f: &DirectFacts<'_>) -> DirectProof {
    use DirectProof::{Fallback, Proven, Unproven};
    let nocow = f.inode.map(|i| i.no_copy_on_write);
    let checksums = !(nocow == Some(true) || option(f, "nodatasum") || option(f, "nodatacow"));
    if !f.write {
        return match f.written {
            Some(w) if w.extents.is_some() && w.encoded_bytes == 0 && w.inline_bytes == 0 => Proven(
                "btrfs reads uncompressed extents directly (k:fs/btrfs/direct-io.c); FIEMAP shows no other".into(),
            ),
            Some(w) if w.encoded_bytes > 0 || w.inline_bytes > 0 => {
                Fallback("btrfs reads compressed and inline extents through the page cache; FIEMAP shows some".into())
            }
            _ => Unproven("btrfs: extents are not known, compressed ones are read through the page cache".into()),
        };
    }
    let version = f.kernel.map_or_else(|| "unknown".into(), |(major, minor)| format!("{major}.{minor}"));
    match (checksums, f.kernel) {
        (true, Some(v)) if v >= (7, 3) => {
            Unproven(format!("btrfs with checksums, Linux {version}: direct from a copy of the buffer since 7.3"))
        }
        (true, Some(v)) if v >= (6, 15) => Fallback(format!(
            "btrfs with data checksums on Linux {version}: since 6.15 direct writes silently go through the page cache \
             (k:fs/btrfs/direct-io.c); chattr +C on an empty directory switches both off for new files"
        )),
        (true, Some(v)) if v < (6, 1) => {
            Proven(format!("btrfs on Linux {version} writes directly (k:fs/btrfs/direct-io.c)"))
        }
        (true, _) => Unproven(format!(
            "btrfs with data checksums on Linux {version}: direct writes silently go through the page cache since 6.15, \
             and in stable kernels that took the change"
        )),
        (false, _) if nocow.is_none() => Unproven("btrfs: inode flags are not readable".into()),
        (false, _) => match f.btrfs_redundant {
            Some(false) => Proven("btrfs without data checksums (NOCOW), one copy of the data: direct".into()),
            _ => Unproven("btrfs without data checksums: redundant profiles fall back since Linux 7.0".into()),
        },
    }
}

/// Kernels before 6.1, and file systems that do not answer: what their sources say.
fn by_source(f: &DirectFacts<'_>, filesystem: &str, below: &str) -> DirectProof {
    use DirectProof::{Fallback, Proven, Unproven};
    let fat = if filesystem == "exfat" { "exfat" } else { "fat" };
    match filesystem {
        "xfs" => Proven(format!("xfs never falls back for aligned I/O (k:fs/xfs/xfs_file.c){below}")),
        "ext4" | "ext3" | "ext2" => Proven(format!(
            "{filesystem} without data journalling, encryption and inline data is direct (k:fs/ext4/file.c){below}"
        )),
        // Both need the new end of the file to be filled first: k:fs/fat/inode.c, fat_direct_IO; k:fs/exfat/inode.c.
        "vfat" | "msdos" | "exfat" if f.write && f.extends => {
            Fallback(format!("{filesystem} extends files through the page cache (k:fs/{fat}/inode.c)"))
        }
        "vfat" | "msdos" | "exfat" => {
            Proven(format!("{filesystem} within the file's size is direct (k:fs/{fat}/inode.c){below}"))
        }
        other => Unproven(format!("{other} accepted O_DIRECT; neither statx nor known sources say what it does")),
    }
}

/// `6.12.24-v8+` -> (6, 12).
pub(crate) fn kernel_version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DirectProof::{Fallback, Proven, Unproven};

    fn facts(filesystem: &str) -> DirectFacts<'_> {
        DirectFacts {
            kind: TargetKind::Directory,
            write: true,
            extends: false,
            filesystem: Some(filesystem),
            mount_options: &[],
            kernel: Some((6, 12)),
            alignment: DirectAlignment::NotTold,
            dax: false,
            inode: Some(InodeFlags::default()),
            written: Some(WrittenRange { written_bytes: 1 << 20, extents: Some(1), ..WrittenRange::default() }),
            btrfs_redundant: Some(false),
            loops_below: false,
        }
    }

    #[test]
    fn btrfs_depends_on_checksums_kernel_and_direction() {
        let b = facts("btrfs");
        assert!(matches!(proof(&DirectFacts { kernel: Some((6, 18)), ..b.clone() }), Fallback(_)));
        assert!(matches!(proof(&DirectFacts { kernel: Some((6, 12)), ..b.clone() }), Unproven(_)));
        assert!(matches!(proof(&DirectFacts { kernel: Some((5, 10)), ..b.clone() }), Proven(_)));
        assert!(matches!(proof(&DirectFacts { kernel: Some((7, 3)), ..b.clone() }), Unproven(_)));
        assert!(matches!(proof(&DirectFacts { kernel: None, ..b.clone() }), Unproven(_)));
        let nocow = InodeFlags { no_copy_on_write: true, ..InodeFlags::default() };
        let b18 = DirectFacts { kernel: Some((6, 18)), inode: Some(nocow), ..b.clone() };
        assert!(matches!(proof(&b18), Proven(_)));
        assert!(matches!(proof(&DirectFacts { btrfs_redundant: Some(true), ..b18 }), Unproven(_)));
        let read = DirectFacts { write: false, kernel: Some((6, 18)), ..b };
        assert!(matches!(proof(&read), Proven(_)));
        let compressed = WrittenRange { encoded_bytes: 1, ..read.written.unwrap() };
        assert!(matches!(proof(&DirectFacts { written: Some(compressed), ..read }), Fallback(_)));
    }

    #[test]
    fn what_statx_says_decides_elsewhere() {
        let told = DirectAlignment::Supported { memory_bytes: 512, offset_bytes: 512 };
        assert!(matches!(proof(&DirectFacts { alignment: told, ..facts("ext4") }), Proven(_)));
        let none = DirectAlignment::Unsupported;
        assert!(matches!(proof(&DirectFacts { alignment: none, ..facts("f2fs") }), Fallback(_)));
        assert!(matches!(proof(&DirectFacts { alignment: told, ..facts("fuse.sshfs") }), Unproven(_)));
        assert!(matches!(proof(&facts("f2fs")), Unproven(_)));
        assert!(matches!(proof(&facts("tmpfs")), DirectProof::NoDevice(_)));
    }

    #[test]
    fn old_kernels_are_judged_by_source() {
        assert!(matches!(proof(&facts("ext4")), Proven(_)));
        assert!(matches!(
            proof(&DirectFacts { mount_options: &["data=journal".into()], ..facts("ext4") }),
            Fallback(_)
        ));
        assert!(matches!(proof(&facts("vfat")), Proven(_)));
        assert!(matches!(proof(&DirectFacts { extends: true, ..facts("exfat") }), Fallback(_)));
        assert!(matches!(proof(&DirectFacts { kind: TargetKind::BlockDevice, ..facts("") }), Proven(_)));
    }

    #[test]
    fn versions_are_read_as_vendors_write_them() {
        assert_eq!(kernel_version("6.12.24-v8+"), Some((6, 12)));
        assert_eq!(kernel_version("5.10-rc1"), Some((5, 10)));
        assert_eq!(kernel_version("weird"), None);
    }
}
