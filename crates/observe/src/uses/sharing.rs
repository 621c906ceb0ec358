//! What shares bytes with a device or file: everything that stands on it, everything that it stands on, and what else
//! stands there, as far as it may hold the same bytes.

use super::loops::{Loop, loops};
use super::store::{Store, Stores};
use crate::block_devices::{device_directory, parse_device};
use crate::root::{Root, file_name, parent};
use crate::uses::identity::same_disk;
use model::DeviceId;
use std::collections::VecDeque;

/// Most devices that are looked at.
const PART_LIMIT: usize = 4_096;
/// Unit of sizes and starts in /sys, bytes (k:Documentation/ABI/stable/sysfs-block).
const SECTOR_BYTES: u64 = 512;

/// How a part is related to what was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It itself, or another path to the same disk.
    Itself,
    Partition,
    /// It stands on its bytes: a mapping, an array, a loop device.
    Above,
    /// The bytes of what was asked about lie on this one.
    Below,
    /// It stands on what its bytes lie on, and may hold the same.
    Beside,
}

/// A device or file that shares bytes with what was asked about.
#[derive(Clone, Debug)]
pub struct Part {
    pub store: Store,
    /// What messages call it: `loop1 on sda2`.
    pub label: String,
    /// How it is related.
    pub relation: Relation,
    /// Whether it was reached through the members of a mapping or an array. Their managers keep the members open for
    /// reading.
    pub is_member: bool,
    /// Whether it is the whole disk of a partition. The kernel lets nobody claim it while a partition is claimed.
    pub is_whole: bool,
    /// Kernel name of a device.
    pub name: String,
    /// Directory of a device under /sys.
    pub directory: String,
    /// Size of a device.
    pub size_bytes: Option<u64>,
    /// That it is there is a use of what was asked about, also where nobody uses it.
    pub holds: bool,
    /// The bytes of this part that are those asked about: first and the one after the last. `None` where that is not
    /// known: any.
    range: Option<(u64, u64)>,
}

/// All that shares bytes, the first of which was asked about; and what could not be found out.
pub(super) struct Sharing {
    pub parts: Vec<Part>,
    pub unknown: Vec<String>,
}

/// Follows all ways from `store`.
pub(super) fn sharing(root: &Root, stores: &Stores<'_>, store: Store, label: &str) -> Sharing {
    let mut search = Search {
        root,
        loops: loops(root, stores),
        found: Sharing { parts: Vec::new(), unknown: Vec::new() },
        todo: VecDeque::new(),
    };
    for asked in search.loops.iter().filter(|l| l.backing.is_none()) {
        let unknown = format!("the devices below {} are not known (its file was {})", asked.name, asked.file);
        search.found.unknown.push(unknown);
    }
    let mut first = search.part(store, label.to_owned(), Relation::Itself, None);
    first.range = first.size_bytes.map(|size| (0, size));
    search.add(first);
    while let Some(index) = search.todo.pop_front() {
        let part = search.found.parts[index].clone();
        search.aliases(&part);
        if matches!(part.relation, Relation::Itself | Relation::Below) {
            search.below(&part);
        }
        search.above(&part);
    }
    search.found
}

struct Search<'a> {
    root: &'a Root,
    loops: Vec<Loop>,
    found: Sharing,
    /// Indices of parts that were not yet gone on from.
    todo: VecDeque<usize>,
}

impl Search<'_> {
    fn part(&self, store: Store, label: String, relation: Relation, range: Option<(u64, u64)>) -> Part {
        let directory = match store {
            Store::Device(id) => device_directory(self.root, id).unwrap_or_default(),
            Store::File { .. } => String::new(),
        };
        let name = file_name(&directory).to_owned();
        let size_bytes = size_of(self.root, &directory);
        Part {
            store,
            label,
            relation,
            is_member: false,
            is_whole: false,
            name,
            directory,
            size_bytes,
            holds: false,
            range,
        }
    }

    fn add(&mut self, part: Part) {
        // What was reached by a shorter way stands for itself, and not beside itself.
        let nearer = |p: &Part| part.relation == Relation::Beside && p.relation != Relation::Beside;
        let known = |p: &Part| p.store == part.store && (nearer(p) || p.range.is_none() || p.range == part.range);
        let is_first = self.found.parts.first().is_some_and(|p| p.store == part.store);
        if is_first || self.found.parts.iter().any(known) {
            return;
        }
        if self.found.parts.len() >= PART_LIMIT {
            let unknown = format!("more than {PART_LIMIT} devices are stacked");
            if !self.found.unknown.contains(&unknown) {
                self.found.unknown.push(unknown);
            }
            return;
        }
        self.todo.push_back(self.found.parts.len());
        self.found.parts.push(part);
    }

    fn id(&self, directory: &str) -> Option<DeviceId> {
        self.root.text(&format!("{directory}/dev")).as_deref().and_then(parse_device)
    }

    /// Other paths to the same disk.
    fn aliases(&mut self, part: &Part) {
        if part.directory.is_empty() || !matches!(part.relation, Relation::Itself | Relation::Below) {
            return;
        }
        for (name, id) in same_disk(self.root, &part.directory) {
            let label = format!("{name}, another path to {}", part.name);
            let alias = self.part(Store::Device(id), label, part.relation, part.range);
            self.add(Part { is_member: part.is_member, is_whole: part.is_whole, ..alias });
        }
    }

    /// What the bytes of a part lie on.
    fn below(&mut self, part: &Part) {
        let Store::Device(id) = part.store else { return };
        let root = self.root;
        let directory = &part.directory;
        if let Some(start) = partition_start(root, directory)
            && let Some(disk) = self.id(parent(directory))
        {
            let range = part.range.map(|(from, to)| (from.saturating_add(start), to.saturating_add(start)));
            let label = file_name(parent(directory)).to_owned();
            let disk = self.part(Store::Device(disk), label, Relation::Below, range);
            self.add(Part { is_whole: true, ..disk });
        }
        let this = self.loops.iter().find(|l| l.id == id).cloned();
        if let Some(Loop { backing: Some(backing), offset, file, .. }) = this {
            let range = part.range.map(|(from, to)| (from.saturating_add(offset), to.saturating_add(offset)));
            let label = match backing {
                Store::Device(_) => self.name_of(backing),
                Store::File { .. } => file,
            };
            let below = self.part(backing, label, Relation::Below, range);
            self.add(below);
        }
        for slave in root.list(&format!("{directory}/slaves")) {
            if let Some(id) = self.id(&format!("{directory}/slaves/{slave}")) {
                let mut member = self.part(Store::Device(id), slave, Relation::Below, None);
                member.is_member = true;
                self.add(member);
            }
        }
    }

    /// What stands on a part, as far as it may hold bytes that were asked about.
    fn above(&mut self, part: &Part) {
        let root = self.root;
        let directory = part.directory.as_str();
        let relation = match part.relation {
            Relation::Itself | Relation::Partition | Relation::Above => Relation::Above,
            Relation::Below | Relation::Beside => Relation::Beside,
        };
        if !directory.is_empty() {
            for name in root.list(directory) {
                let place = format!("{directory}/{name}");
                let Some(start) = partition_start(root, &place) else { continue };
                let Some(id) = self.id(&place) else { continue };
                let extent = size_of(root, &place).map(|size| (start, start.saturating_add(size)));
                let Some(range) = overlap(part.range, extent) else { continue };
                let relation = if part.relation == Relation::Itself { Relation::Partition } else { relation };
                let partition = self.part(Store::Device(id), name, relation, range);
                self.add(partition);
            }
            for name in root.list(&format!("{directory}/holders")) {
                let place = format!("{directory}/holders/{name}");
                let Some(id) = self.id(&place) else { continue };
                if relation == Relation::Beside && self.disjoint_by_manager(&place, part) {
                    continue;
                }
                let label = format!("{name} on {}", part.label);
                let mut holder = self.part(Store::Device(id), label, relation, None);
                // Two mappings of one member may hold different bytes of it: what counts is whether they are used.
                holder.holds = !(relation == Relation::Beside && part.is_member);
                self.add(holder);
            }
        }
        let on_it: Vec<Loop> = self.loops.iter().filter(|l| l.backing == Some(part.store)).cloned().collect();
        for upper in on_it {
            let size = size_of(root, &format!("/sys/block/{}", upper.name));
            let extent = size.map(|size| (upper.offset, upper.offset.saturating_add(size)));
            let Some(range) = overlap(part.range, extent) else { continue };
            let label = format!("{} on {}", upper.name, part.label);
            let mut above = self.part(Store::Device(upper.id), label, relation, range);
            above.holds = true;
            self.add(above);
        }
    }

    /// Whether what holds `part` beside what was asked about is kept apart from it by who made both: volumes of one LVM
    /// group (their uuids begin with that of the group), and partitions of one mapping (kpartx).
    fn disjoint_by_manager(&self, holder: &str, part: &Part) -> bool {
        let uuid = |directory: &str| self.root.text(&format!("{directory}/dm/uuid"));
        let Some(theirs) = uuid(holder) else { return false };
        let on_part = |p: &&Part| self.root.exists(&format!("{}/slaves/{}", p.directory, part.name));
        let ours = self.found.parts.iter().filter(|p| !p.directory.is_empty()).filter(on_part);
        let ours: Vec<String> = ours.filter_map(|p| uuid(&p.directory)).collect();
        let on_volume = uuid(&part.directory).is_some_and(|u| u.starts_with("LVM-"));
        !ours.is_empty() && ours.iter().all(|ours| *ours != theirs && are_disjoint_volumes(ours, &theirs, on_volume))
    }

    fn name_of(&self, store: Store) -> String {
        let Store::Device(id) = store else { return String::new() };
        device_directory(self.root, id).map_or_else(|| id.to_string(), |d| file_name(&d).to_owned())
    }
}

/// `LVM-` and 32 characters of the group, then 32 of the volume (lvm2, dm uuid); `part1-` and the uuid of the whole. What of a
/// group lies on a disk has extents of its own; on a volume that is only true of whole volumes, and not of their parts
/// (`-cow`, `-tdata`).
fn are_disjoint_volumes(a: &str, b: &str, on_volume: bool) -> bool {
    const GROUP_END: usize = 4 + 32;
    let groups = |u: &str| u.starts_with("LVM-").then(|| u.get(..GROUP_END).map(str::to_owned)).flatten();
    let plain = |u: &str| u.len() == GROUP_END + 32;
    if let (Some(x), Some(y)) = (groups(a), groups(b)) {
        return x == y && (!on_volume || plain(a) && plain(b));
    }
    let whole = |u: &str| u.strip_prefix("part").and_then(|r| r.split_once('-')).map(|(_, whole)| whole.to_owned());
    matches!((whole(a), whole(b)), (Some(x), Some(y)) if x == y)
}

fn size_of(root: &Root, directory: &str) -> Option<u64> {
    root.number::<u64>(&format!("{directory}/size"))?.checked_mul(SECTOR_BYTES)
}

/// Where a partition begins on its disk, bytes; `None` where it is none.
fn partition_start(root: &Root, directory: &str) -> Option<u64> {
    if directory.is_empty() || !root.exists(&format!("{directory}/partition")) {
        return None;
    }
    Some(root.number::<u64>(&format!("{directory}/start")).and_then(|s| s.checked_mul(SECTOR_BYTES)).unwrap_or(0))
}

/// The bytes asked about within what covers `extent` of a part: `None` if there are none, `Some(None)` if any may be.
fn overlap(range: Option<(u64, u64)>, extent: Option<(u64, u64)>) -> Option<Option<(u64, u64)>> {
    let (Some((from, to)), Some((start, end))) = (range, extent) else { return Some(None) };
    let (first, last) = (from.max(start), to.min(end));
    (first < last).then(|| Some((first - start, last - start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_that_do_not_touch_are_left_out() {
        assert_eq!(overlap(Some((0, 100)), Some((100, 200))), None);
        assert_eq!(overlap(Some((50, 150)), Some((100, 200))), Some(Some((0, 50))));
        assert_eq!(overlap(None, Some((0, 1))), Some(None), "what is not known may touch");
    }

    #[test]
    fn volumes_of_one_group_are_kept_apart_and_others_are_not() {
        let (group, other) = ("a".repeat(32), "b".repeat(32));
        let volume = |group: &str, volume: char| format!("LVM-{group}{}", volume.to_string().repeat(32));
        let part = format!("{}-cow", volume(&group, '2'));
        for on_volume in [false, true] {
            assert!(are_disjoint_volumes(&volume(&group, '1'), &volume(&group, '2'), on_volume));
            assert!(!are_disjoint_volumes(&volume(&group, '1'), &volume(&other, '2'), on_volume));
            assert_eq!(are_disjoint_volumes(&volume(&group, '1'), &part, on_volume), !on_volume);
        }
        assert!(are_disjoint_volumes("part1-mpath-3600", "part2-mpath-3600", true));
        assert!(!are_disjoint_volumes("part1-mpath-3600", "mpath-3600", true));
        assert!(!are_disjoint_volumes("", "", false));
    }
}
