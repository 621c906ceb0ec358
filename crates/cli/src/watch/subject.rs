//! What is watched, and one look after the other at it.

use crate::inspect_place;
use conduct::WallClock;
use model::{
    DiskCounters, DiskSummary, Fact, Failure, Layer, LayerKind, Ns, SystemSample, activity, activity_since_boot,
};
use observe::{Inventory, PathSource, Root, Sampler};
use report::{WatchTick, WatchedLayer};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::OsStr;

/// The layers of one target, or all disks; and the machine around them.
pub struct Subject {
    root: Root,
    /// All disks are watched: they may come and go.
    all: bool,
    /// The layers do not change any more, because the columns of a file have been written.
    fixed: bool,
    /// What is sampled.
    candidates: Vec<WatchedLayer>,
    /// What is shown, top to bottom.
    layers: Vec<WatchedLayer>,
    totals: Vec<String>,
    missing: Vec<String>,
    sampler: Sampler,
    /// What carries the target where no block device does.
    path: Option<PathSource>,
    /// The devices that could be used when the sampler was made.
    names: Vec<String>,
    /// Went away since the last look, which the next one says.
    leaving: Vec<WatchedLayer>,
    /// Were not there at the last look.
    absent: Vec<String>,
    before: Option<(SystemSample, Ns)>,
}

impl Subject {
    /// The layers below `target`, or without one all disks that were ever used.
    ///
    /// # Errors
    /// The target is none, or nothing below it counts its traffic.
    pub fn new(target: Option<&OsStr>) -> Result<Self, Failure> {
        let root = Root::new("/");
        let ((candidates, totals, missing), path) = match target {
            Some(target) => of_target(&root, target)?,
            None => {
                let (layers, totals) = of_all(&root);
                ((layers, totals, Vec::new()), None)
            }
        };
        let names: Vec<String> = candidates.iter().map(|l| l.name.clone()).collect();
        let sampler = Sampler::new(&root, &names).with_path(&root, path.as_ref());
        Ok(Self {
            all: target.is_none(),
            fixed: false,
            layers: candidates.clone(),
            candidates,
            totals,
            missing,
            sampler,
            path,
            names: usable(&root),
            root,
            leaving: Vec::new(),
            absent: Vec::new(),
            before: None,
        })
    }

    /// What is shown, top to bottom.
    pub fn layers(&self) -> &[WatchedLayer] {
        &self.layers
    }

    /// The disks that make up the totals: where each byte counts once.
    pub fn totals(&self) -> &[String] {
        &self.totals
    }

    /// What could not be seen of the path.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// From now on the layers stay as they are.
    pub fn fix(&mut self) {
        self.fixed = true;
    }

    /// One look: since boot the first time, then since the last one.
    pub fn look(&mut self) -> WatchTick {
        self.refresh();
        let (now, asleep) = clocks();
        let sample = self.sampler.sample(now);
        let (time, unix_ms) = WallClock::stamp();
        let (seen, suspended_ns) = match &self.before {
            None => (activity_since_boot(&sample, now), None),
            Some((before, asleep_before)) => (activity(before, &sample), Some(asleep.saturating_sub(*asleep_before))),
        };
        let tick = WatchTick { time, unix_ms, since_boot: self.before.is_none(), suspended_ns, activity: seen, sample };
        if self.all && !self.fixed {
            // A disk that was never used is not worth a line, as in iostat; once it was, it stays.
            let shown = |l: &&WatchedLayer| {
                self.layers.iter().any(|s| s.name == l.name) && self.before.is_some()
                    || tick.sample.disks.iter().any(|d| d.name == l.name && was_used(d))
            };
            let layers: Vec<WatchedLayer> = self.candidates.iter().filter(shown).cloned().collect();
            let leaving = self.leaving.drain(..).filter(|l| self.layers.contains(l));
            self.layers = layers.into_iter().chain(leaving).collect();
        }
        let is_there = |name: &String| tick.sample.disks.iter().any(|d| d.name == *name);
        self.absent = self.candidates.iter().map(|l| l.name.clone()).filter(|name| !is_there(name)).collect();
        self.before = Some((tick.sample.clone(), asleep));
        tick
    }

    /// Opens the counters anew where devices came or went.
    fn refresh(&mut self) {
        let names = if self.all && !self.fixed { usable(&self.root) } else { self.names.clone() };
        let changed = names != self.names;
        // The open file of a device that went away never gives anything again, even if another comes by its name.
        let came_back = |name: &String| self.root.exists(&format!("/sys/class/block/{name}/stat"));
        if !changed && !self.absent.iter().any(came_back) {
            return;
        }
        if changed {
            let (now_there, totals) = of_all(&self.root);
            let gone = |l: &WatchedLayer| now_there.iter().all(|n| n.name != l.name);
            self.leaving = self.candidates.drain(..).filter(gone).collect();
            self.candidates = now_there;
            self.totals = totals;
            self.names = names;
        }
        let wanted: Vec<String> = self.candidates.iter().map(|l| l.name.clone()).collect();
        self.sampler = Sampler::new(&self.root, &wanted).with_path(&self.root, self.path.as_ref());
    }
}

/// Names of all block devices of some size: loop devices are there before they are set up.
fn usable(root: &Root) -> Vec<String> {
    let mut names = root.list("/sys/block");
    names.retain(|name| root.number::<u64>(&format!("/sys/block/{name}/size")) != Some(0));
    names
}

fn was_used(disk: &DiskCounters) -> bool {
    disk.reads > 0 || disk.writes > 0 || disk.discards.unwrap_or(0) > 0 || disk.in_flight > 0
}

/// Time since boot in which the machine was awake, and in which it slept (clock_gettime(2)).
fn clocks() -> (Ns, Ns) {
    let ns = |id: ClockId| {
        let time = clock_gettime(id);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        seconds.saturating_mul(model::NS_PER_S).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
    };
    let awake = ns(ClockId::Monotonic);
    (awake, ns(ClockId::Boottime).saturating_sub(awake))
}

/// File systems of memory alone.
const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

type Watched = (Vec<WatchedLayer>, Vec<String>, Vec<String>);

fn of_target(root: &Root, target: &OsStr) -> Result<(Watched, Option<PathSource>), Failure> {
    if inspect_place::is_no_place(target) {
        let name = target.to_string_lossy();
        let message = format!("{name} has no counters of the kernel, so there is nothing to watch");
        return Err(Failure::refused(message).remedy(format!("narrows check {name}   measures it")));
    }
    let place = inspect_place::place(root, target)?;
    let Inventory { stack, missing } = observe::inventory(root, &place);
    let mut layers: Vec<WatchedLayer> = Vec::new();
    for layer in stack.layers.iter().filter(|l| l.counted) {
        if layers.iter().all(|l| l.name != layer.name) {
            layers.push(WatchedLayer { name: layer.name.clone(), kind: layer.kind, title: title(layer) });
        }
    }
    let path = PathSource::of(&stack);
    if layers.is_empty() && path.is_none() {
        let target = target.to_string_lossy();
        let on = stack.mount.as_ref().map(|m| format!(" ({})", m.fstype)).unwrap_or_default();
        if stack.mount.as_ref().is_some_and(|m| MEMORY.contains(&m.fstype.as_str())) {
            let what =
                format!("{target}{on} is memory: no device carries it, so no counter of the kernel shows its traffic");
            let remedy =
                format!("narrows watch   shows memory, swap and all disks; narrows check {target}   measures it");
            return Err(Failure::refused(what).remedy(remedy));
        }
        let failure = Failure::environment(format!("nothing below {target}{on} counts its traffic"));
        let remedy = match missing.first() {
            Some(missing) => missing.clone(),
            None => format!("narrows inspect {target}   shows the devices below it"),
        };
        return Err(failure.remedy(remedy));
    }
    let totals = stack.lowest_counted().iter().map(|l| l.name.clone()).collect();
    Ok(((layers, totals, missing), path))
}

/// What people call a layer.
fn title(layer: &Layer) -> Option<String> {
    let text = |name: &str| layer.text(name).map(str::to_owned);
    match layer.kind {
        LayerKind::Dm => text("dm_name"),
        LayerKind::Md => text("md_level"),
        LayerKind::Loop => text("backing_file").map(|f| f.rsplit('/').next().unwrap_or(&f).to_owned()),
        LayerKind::Disk => match layer.fact("model") {
            Some(Fact::Text(model)) => Some(model.trim().to_owned()),
            _ => None,
        },
        _ => None,
    }
    .filter(|t| !t.is_empty())
}

/// All block devices that can be used, and the names of those that stand on no other.
fn of_all(root: &Root) -> (Vec<WatchedLayer>, Vec<String>) {
    let disks: Vec<DiskSummary> = observe::disks(root).into_iter().filter(|d| d.device.is_some()).collect();
    let totals = disks.iter().filter(|d| d.layer == LayerKind::Disk).map(|d| d.name.clone()).collect();
    let layer = |d: DiskSummary| WatchedLayer { name: d.name, kind: d.layer, title: d.model };
    (disks.into_iter().map(layer).collect(), totals)
}
