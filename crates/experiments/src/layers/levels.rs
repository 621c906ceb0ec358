//! The levels of a path at which the same can be read, from the top down.

use super::place::{self, Below, LEAST_BYTES, Member};
use conduct::Opened;
use model::{Failure, Layer, LayerKind, Layers, LevelAccess, LevelLeftOut, TargetKind, facts};
use observe::Root;
use std::path::PathBuf;
use sys::OpenMode;

/// What a level is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LevelTarget {
    /// What the user named, or the file of ours in it.
    Top,
    /// A device below it, or the file behind a loop device.
    Path(PathBuf),
}

/// One level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// What is read.
    pub name: String,
    /// What it has and the level below it has not.
    pub layer: String,
    pub access: LevelAccess,
    pub target: LevelTarget,
    /// Where the region begins.
    pub start: u64,
    pub same_bytes: bool,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Levels {
    pub levels: Vec<Level>,
    pub left_out: Vec<LevelLeftOut>,
    /// Bytes from the start of each that are the same.
    pub bytes: u64,
}

/// File systems whose answer to FIEMAP is a place on the one device that they are mounted from. btrfs, bcachefs and ZFS have places of
/// their own.
const ON_ONE_DEVICE: [&str; 8] = ["ext2", "ext3", "ext4", "xfs", "vfat", "exfat", "f2fs", "ntfs3"];

/// The levels of an opened target, for a region of so many bytes from its start.
///
/// # Errors
/// It is too small, or is no storage.
pub(super) fn below(opened: &Opened, bytes: u64) -> Result<Levels, Failure> {
    let kind = opened.target.kind;
    let bytes = bytes.min(opened.max_bytes) >> 20 << 20;
    if !matches!(kind, TargetKind::Directory | TargetKind::File | TargetKind::BlockDevice | TargetKind::Sim) {
        return Err(Failure::usage(format!("{}: it has no layers", opened.target.name))
            .remedy("narrows run layers DIRECTORY, FILE or DEVICE"));
    }
    if bytes < LEAST_BYTES {
        let what = format!("{}: less than {} can be read", opened.target.name, model::bytes_text(LEAST_BYTES));
        return Err(Failure::refused(what).remedy("a larger file, or a directory with more room"));
    }
    let mut walk = Walk {
        root: Root::new("/"),
        layers: &opened.target.stack.layers,
        levels: Vec::new(),
        left_out: Vec::new(),
        bytes,
    };
    let filesystem = opened.target.stack.fstype().unwrap_or("the file system").to_owned();
    match kind {
        TargetKind::BlockDevice => walk.device(0, 0, true, true),
        TargetKind::Sim => walk.file_levels("the simulated device", "device"),
        _ => {
            walk.file_levels(&filesystem, "file");
            if kind == TargetKind::File {
                let path = PathBuf::from(opened.target.path.clone().unwrap_or_default());
                walk.below_file(0, &path, 0, true);
            }
        }
    }
    Ok(Levels { levels: walk.levels, left_out: walk.left_out, bytes: walk.bytes })
}

struct Walk<'a> {
    root: Root,
    layers: &'a Layers,
    levels: Vec<Level>,
    left_out: Vec<LevelLeftOut>,
    bytes: u64,
}

impl Walk<'_> {
    fn push(
        &mut self,
        name: &str,
        layer: &str,
        access: LevelAccess,
        target: LevelTarget,
        (start, same_bytes): (u64, bool),
    ) {
        let (name, layer) = (name.to_owned(), layer.to_owned());
        self.levels.push(Level { name, layer, access, target, start, same_bytes });
    }

    fn leave_out(&mut self, level: &str, reason: impl Into<String>) {
        self.left_out.push(LevelLeftOut { level: level.to_owned(), reason: reason.into() });
    }

    /// Both ways to the file that is measured.
    fn file_levels(&mut self, filesystem: &str, what: &str) {
        self.push(&format!("{what} buffered"), "the page cache", LevelAccess::Buffered, LevelTarget::Top, (0, true));
        self.push(&format!("{what} direct"), filesystem, LevelAccess::Direct, LevelTarget::Top, (0, true));
    }

    /// All levels so far go on with the part that lies together further down.
    fn narrow(&mut self, below: &Below) {
        self.bytes = self.bytes.min(below.bytes);
        self.levels.iter_mut().for_each(|level| level.start += below.skipped);
    }

    /// From a file on the file system at this place of the path downwards.
    fn below_file(&mut self, at: usize, path: &std::path::Path, start: u64, same_bytes: bool) {
        // An overlay hands the question on to the file that it shows.
        let mut at = at;
        while self.layers.get(at + 1).is_some_and(|next| next.kind == LayerKind::Filesystem)
            && self.is_below(at, at + 1)
        {
            at += 1;
        }
        let Some(filesystem) = self.layers.get(at) else { return };
        let device = self.first_below(at);
        let below = self.layers.below(at).first().map_or_else(|| filesystem.name.clone(), |layer| layer.name.clone());
        let (Some(device), true) = (device, ON_ONE_DEVICE.contains(&filesystem.name.as_str())) else {
            return self.leave_out(&format!("below {}", filesystem.name), not_below(filesystem));
        };
        let found = sys::open_existing(path, OpenMode::Read)
            .map_err(|e| e.to_string())
            .and_then(|file| place::of_file(&file, start, self.bytes));
        match found {
            Ok(found) => {
                self.narrow(&found);
                self.device(device, found.start, false, same_bytes);
            }
            Err(why) => self.leave_out(&below, why),
        }
    }

    /// From a block device at this place of the path downwards: the target itself, or what is below it.
    fn device(&mut self, at: usize, start: u64, is_top: bool, same_bytes: bool) {
        let Some(layer) = self.layers.get(at) else { return };
        if layer.kind == LayerKind::Partition {
            let offset = layer.int(facts::START_BYTES).and_then(|bytes| u64::try_from(bytes).ok());
            return match (self.first_below(at), offset) {
                (Some(disk), Some(offset)) => self.device(disk, start.saturating_add(offset), false, same_bytes),
                _ => self.leave_out(&layer.name, "where the partition begins is not told"),
            };
        }
        let target = match place::readable_node(layer) {
            _ if is_top => LevelTarget::Top,
            Ok(node) => LevelTarget::Path(node),
            // What lies below it can be read by nobody who may not read this.
            Err(why) => return self.leave_out(&layer.name, why),
        };
        let targets = if layer.kind == LayerKind::Dm { place::dm_targets(layer.device) } else { None };
        let words = words_of(layer, targets.as_deref().unwrap_or_default());
        self.push(&layer.name, &words, LevelAccess::Direct, target, (start, same_bytes));
        let found = match layer.kind {
            LayerKind::Dm => self.of_dm(at, layer, targets.as_deref(), start),
            LayerKind::Md => match layer.fact(facts::MEMBERS) {
                Some(model::Fact::List(members)) if !members.is_empty() => {
                    place::of_raid(&self.root, layer, &members[0], start, self.bytes)
                }
                _ => Err("its members are not told".to_owned()),
            },
            LayerKind::Loop => return self.of_loop(at, layer, start, same_bytes),
            _ => return,
        };
        match found {
            Ok(found) => {
                let Some(next) = self.member(at, found.member.as_ref()) else {
                    return self.leave_out(&format!("below {}", layer.name), "the device below it is not in /sys");
                };
                self.narrow(&found);
                self.device(next, found.start, false, same_bytes && found.same_bytes);
            }
            Err(why) => self.leave_out(&format!("below {}", layer.name), why),
        }
    }

    fn of_dm(&self, at: usize, layer: &Layer, targets: Option<&[sys::DmTarget]>, start: u64) -> Result<Below, String> {
        let size = |layer: &Layer| layer.int(facts::SIZE_BYTES).and_then(|bytes| u64::try_from(bytes).ok());
        let member = self.first_below(at).and_then(|member| size(&self.layers[member]));
        let targets = targets.ok_or("its table may not be read; run it as root")?;
        place::of_mapping(targets, start, self.bytes, size(layer).zip(member))
    }

    /// The file behind a loop device, and what that lies on.
    fn of_loop(&mut self, at: usize, layer: &Layer, start: u64, same_bytes: bool) {
        let name = format!("the file behind {}", layer.name);
        let offset = layer.int(facts::LOOP_OFFSET_BYTES).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        let start = start.saturating_add(offset);
        let path = layer.text(facts::BACKING_FILE).filter(|_| layer.bool(facts::BACKING_FILE_DELETED) != Some(true));
        let Some(path) = path.map(PathBuf::from) else { return self.leave_out(&name, "it has no name any more") };
        let Some(next) = self.first_below(at) else { return self.leave_out(&name, "what it lies on is not known") };
        if self.layers[next].kind != LayerKind::Filesystem {
            return self.device(next, start, false, same_bytes);
        }
        if let Err(e) = sys::open_existing(&path, OpenMode::Read) {
            return self.leave_out(
                &name,
                format!("it cannot be read ({}); {}", sys::error_name(&e), sys::permission_remedy()),
            );
        }
        let words = format!("{} below {}", self.layers[next].name, layer.name);
        self.push(&name, &words, LevelAccess::Direct, LevelTarget::Path(path.clone()), (start, same_bytes));
        self.below_file(next, &path, start, same_bytes);
    }

    fn is_below(&self, above: usize, at: usize) -> bool {
        self.layers.above(at) == Some(above)
    }

    /// The first block device or file system that a layer stands on.
    fn first_below(&self, at: usize) -> Option<usize> {
        self.member(at, None)
    }

    /// The member of a layer, by name or number; else the first.
    fn member(&self, at: usize, member: Option<&Member>) -> Option<usize> {
        let is_it = |layer: &Layer| match member {
            None => true,
            Some(Member::Named(name)) => layer.name == *name,
            Some(Member::Numbered(id)) => layer.device == Some(*id),
        };
        let below = at + 1..at + 1 + self.layers.below(at).len();
        below.into_iter().find(|next| {
            let layer = &self.layers[*next];
            layer.kind <= LayerKind::Disk && self.is_below(at, *next) && is_it(layer)
        })
    }
}

/// Why nothing below a file system is measured.
fn not_below(filesystem: &Layer) -> String {
    match filesystem.text(facts::BACKING) {
        Some("network") => "it lies on another machine; run narrows run layers there".to_owned(),
        Some("memory") => "it lies in memory".to_owned(),
        Some("host-directory") => "it lies on the host; run narrows run layers there".to_owned(),
        Some("fuse") => "a FUSE file system does not say what is below it".to_owned(),
        _ => format!("{} has places of its own for a file's bytes", filesystem.name),
    }
}

/// What a block device adds to the one below it, in words.
fn words_of(layer: &Layer, targets: &[sys::DmTarget]) -> String {
    let name = &layer.name;
    match layer.kind {
        LayerKind::Loop => format!("the loop device {name}"),
        LayerKind::Md => format!("md {} ({name})", layer.text(facts::MD_LEVEL).unwrap_or("RAID")),
        LayerKind::Dm => {
            let kind = targets.first().map(|target| target.kind.as_str());
            match (layer.text(facts::DM_TYPE), kind) {
                (Some("lvm"), Some("linear") | None) => format!("LVM ({name})"),
                (_, Some(kind)) => format!("dm-{kind} ({name})"),
                (Some(kind), None) if kind.starts_with("crypt") => format!("dm-crypt ({name})"),
                (kind, None) => format!("dm-{} ({name})", kind.unwrap_or("mapping")),
            }
        }
        _ => name.clone(),
    }
}
