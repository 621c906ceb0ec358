//! Limits of control groups while a recording goes on: what others may do with the disks below the target, and how their requests
//! are ordered there.
//!
//! Version 2 of control groups: `io.max`, `io.latency`, `io.weight` (io.cost) and `io.bfq.weight`
//! (k:Documentation/admin-guide/cgroup-v2.rst, "IO"; k:block/bfq-cgroup.c). Version 1: `blkio.throttle.*_device`,
//! `blkio.bfq.weight_device`, `blkio.bfq.weight`, `blkio.weight` (k:Documentation/admin-guide/cgroup-v1/blkio-controller.rst).
//! All but the last two name whole devices by their numbers, never partitions.
//!
//! What is set is read back, and counts as in effect only if it is there and something acts on it. What was there before is put
//! back at the end; a value that others have written meanwhile stays.
//!
//! Deliberately absent: `settings`, whose values are one a file below /sys and /proc/sys, and never of control groups.

mod file;

use crate::watcher::Restore;
use file::LimitFile;
use model::{DeviceId, Failure, LayerKind, Ns, Stack};
use observe::facts;
use std::path::{Path, PathBuf};
use sys::GroupVersion;

/// Something that is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Share of the disk beside other groups: 1 to 10,000, usually 100.
    Weight(u64),
    /// Others are held back where requests of this group take longer.
    Latency(Ns),
    /// So many a second at most.
    Most(Rate, u64),
}

/// What is counted by the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Bytes that are read.
    Read,
    /// Bytes that are written.
    Write,
    ReadOperations,
    WriteOperations,
}

impl Limit {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Weight(_) => "weight",
            Self::Latency(_) => "latency",
            Self::Most(Rate::Read, _) => "read",
            Self::Most(Rate::Write, _) => "write",
            Self::Most(Rate::ReadOperations, _) => "read-iops",
            Self::Most(Rate::WriteOperations, _) => "write-iops",
        }
    }

    /// Its value, in its unit: none, nanoseconds, bytes a second, operations a second.
    pub fn value(&self) -> u64 {
        match *self {
            Self::Weight(value) | Self::Latency(value) | Self::Most(_, value) => value,
        }
    }
}

/// A limit that is wished for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLimit {
    /// Directory of the control group.
    pub group: PathBuf,
    /// What is limited.
    pub limit: Limit,
}

/// What came of a limit on one disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limited {
    /// What was wished for.
    pub wished: GroupLimit,
    /// Name and number of the disk; `None` for a value that counts for all disks, or where no disk is known.
    pub disk: Option<(String, DeviceId)>,
    /// The file of the group, where there is one for it.
    pub file: Option<&'static str>,
    /// Why it was not in effect; `None` where it was set, read back, and something acts on it.
    pub without_effect: Option<String>,
    /// What was there before, and whether that is there again; `None` where nothing was written.
    pub put_back: Option<bool>,
    pub not_put_back: Option<String>,
}

/// A disk below the target.
#[derive(Clone, Debug)]
struct Disk {
    name: String,
    device: DeviceId,
    scheduler: Option<String>,
}

/// One value of one file, with what it was.
#[derive(Debug)]
struct Set {
    place: LimitFile,
    was: String,
    value: String,
    written: bool,
}

/// Limits, before and while they hold.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    wished: Vec<(GroupLimit, GroupVersion)>,
    sets: Vec<(Option<Set>, Limited)>,
}

fn refused(group: &Path, why: &str) -> Failure {
    Failure::refused(format!("--limit {}: {why}", group.display()))
}

impl Limits {
    /// Those that were wished for; nothing is changed yet.
    ///
    /// # Errors
    /// There is no such group, or a limit is named twice.
    pub fn of(wished: &[GroupLimit]) -> Result<Self, Failure> {
        let known = |wish: &GroupLimit| -> Result<_, Failure> {
            let group = wish.group.canonicalize().map_err(|e| refused(&wish.group, &e.to_string()))?;
            let version = match sys::group_version(&group) {
                Some(GroupVersion::One) if !group.join("blkio.reset_stats").is_file() => {
                    return Err(refused(
                        &wish.group,
                        "a control group of version 1, and not one of the controller blkio",
                    )
                    .remedy("the group's directory below the one where blkio is mounted"));
                }
                Some(version) => version,
                None => {
                    return Err(refused(&wish.group, "no control group")
                        .remedy("a directory below /sys/fs/cgroup, and not the root of it"));
                }
            };
            Ok((GroupLimit { group, ..wish.clone() }, version))
        };
        let wished: Vec<(GroupLimit, GroupVersion)> = wished.iter().map(known).collect::<Result<_, _>>()?;
        let same = |a: &GroupLimit, b: &GroupLimit| a.group == b.group && a.limit.name() == b.limit.name();
        for (n, (wish, _)) in wished.iter().enumerate() {
            if wished[..n].iter().any(|(earlier, _)| same(earlier, wish)) {
                return Err(refused(&wish.group, &format!("{} is named twice", wish.limit.name())));
            }
        }
        Ok(Self { wished, sets: Vec::new() })
    }

    /// Finds the values on the disks below a target, and what they are now; still nothing is changed.
    pub fn find(&mut self, stack: &Stack) {
        let disks = disks(stack);
        for (wish, version) in &self.wished {
            if disks.is_empty() {
                let why = "no disk is known below the target".to_owned();
                self.sets.push((None, limited(wish, None, None, Some(why))));
            }
            for disk in &disks {
                self.sets.push(find(wish, *version, disk));
            }
        }
        // A value of all disks is written once.
        let mut seen: Vec<PathBuf> = Vec::new();
        self.sets.retain_mut(|(set, limited)| {
            let Some(set) = set.as_ref().filter(|set| set.place.value.device.is_none()) else { return true };
            limited.disk = None;
            let again = seen.contains(&set.place.value.path);
            seen.push(set.place.value.path.clone());
            !again
        });
    }

    /// What puts all of it back.
    pub fn restores(&self) -> Vec<Restore> {
        let sets = self.sets.iter().filter_map(|(set, _)| set.as_ref());
        sets.map(|set| Restore::Write(set.place.value.path.clone(), set.place.value.line(&set.was))).collect()
    }

    /// Sets them, and looks whether that took.
    pub fn begin(&mut self) {
        for (set, limited) in &mut self.sets {
            let Some(set) = set else { continue };
            let refusal = set.place.value.write(&set.value).err().map(|e| format!("not taken: {e}"));
            set.written = true;
            let found = set.place.value.read();
            let differs = match found {
                Ok(found) if found == set.value => None,
                Ok(found) => Some(format!("it was set to {}, and is {found}", set.value)),
                Err(e) => Some(format!("it cannot be read back: {e}")),
            };
            let why = refusal.or(differs).or_else(|| set.place.why_ineffective());
            limited.without_effect = limited.without_effect.take().or(why);
        }
    }

    /// Puts back what was there, and says what came of it all.
    pub fn end(&mut self) -> Vec<Limited> {
        for (set, limited) in &mut self.sets {
            let Some(set) = set.take().filter(|set| set.written) else { continue };
            let now = set.place.value.read();
            let ours = now.as_ref().is_ok_and(|now| *now == set.value);
            let as_it_was = now.as_ref().is_ok_and(|now| *now == set.was);
            limited.not_put_back = match &now {
                // The group has gone, and its values with it.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
                Err(e) => Some(e.to_string()),
                Ok(_) if as_it_was => None,
                Ok(now) if !ours => Some(format!("others have set it to {now} meanwhile")),
                Ok(_) => match set.place.value.write(&set.was).and_then(|()| set.place.value.read()) {
                    Ok(found) if found == set.was => None,
                    Ok(found) => Some(format!("it is {found}, and was {}", set.was)),
                    Err(e) => Some(e.to_string()),
                },
            };
            limited.put_back = Some(limited.not_put_back.is_none());
        }
        self.sets.drain(..).map(|(_, limited)| limited).collect()
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        self.end();
    }
}

fn limited(wish: &GroupLimit, disk: Option<&Disk>, file: Option<&'static str>, why: Option<String>) -> Limited {
    Limited {
        wished: wish.clone(),
        disk: disk.map(|disk| (disk.name.clone(), disk.device)),
        file,
        without_effect: why,
        put_back: None,
        not_put_back: None,
    }
}

/// Whole disks, and what stands on them with a queue of its own: others may come by either.
fn disks(stack: &Stack) -> Vec<Disk> {
    let lowest = stack.lowest_counted();
    let counts = |layer: &&model::Layer| {
        layer.kind == LayerKind::Loop
            || layer.kind == LayerKind::Disk
            || lowest.iter().any(|l| l.device == layer.device && l.kind != LayerKind::Partition)
    };
    let mut disks: Vec<Disk> = Vec::new();
    for layer in stack.layers.iter().filter(counts) {
        let Some(device) = layer.device else { continue };
        if disks.iter().all(|known| known.device != device) {
            let scheduler = layer.text(facts::SCHEDULER).map(str::to_owned);
            disks.push(Disk { name: layer.name.clone(), device, scheduler });
        }
    }
    disks
}

/// The value of a group that is a limit's on a disk, and what it is now.
fn find(wish: &GroupLimit, version: GroupVersion, disk: &Disk) -> (Option<Set>, Limited) {
    let place = match LimitFile::of(&wish.group, wish.limit, version, disk) {
        Ok(place) => place,
        Err(why) => return (None, limited(wish, Some(disk), None, Some(why))),
    };
    let said = |why| limited(wish, Some(disk), Some(place.file), why);
    match place.value.read() {
        Ok(was) => {
            let set = Set { was, value: LimitFile::text_of(wish.limit), written: false, place: place.clone() };
            (Some(set), said(None))
        }
        Err(e) => (None, said(Some(format!("it cannot be read: {e}")))),
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
