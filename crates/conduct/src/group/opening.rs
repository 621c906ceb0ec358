//! A target is opened by all ranks of a group, each its own or all the same, and all make one plan.

use super::meeting::ranks_text;
use super::{Group, TargetFacts, token};
use crate::listener::Listener;
use crate::{Opened, Wanted, WriteAllowance};
use engine::{Control, SharingStep};
use model::{Failure, Plan, StopRule, TargetKind};
use observe::Root;
use spec::Workload;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Files are a whole number of these.
const MIB: u64 = 1 << 20;

/// Opens a target for a group. Of the ranks of one machine that work in one directory the first holds the lock for all, so that
/// others than the group are kept from it. Facts of which plans are made are those that hold for all ranks.
///
/// # Errors
/// As [`crate::open`]; the group ends with that. Another rank could not open its target.
pub fn open(
    wanted: &Wanted<'_>,
    control: &Control,
    listener: &dyn Listener,
    group: &Group,
    seed: u64,
) -> Result<(Opened, u64), Failure> {
    let (locks, ranks_here) = group.object(object(wanted, group))?;
    // Before anything is opened: what is written changes the times of a file.
    let one_file = group.same_file(file(wanted))?;
    if !one_file.is_empty() && (wanted.consent.overwrite || wanted.consent.destroy.is_some()) {
        let what = format!("{} would overwrite one file or device, each all of it", who(&one_file));
        group.leave(&what);
        return Err(Failure::refused(what).remedy(
            "a directory, where each has a file of its own, or with --shared-file a region of one file; or a target of its own for each",
        ));
    }
    if !locks {
        group.wait()?;
    }
    let wanted = Wanted { locked_by_group: !locks, ..wanted.clone() };
    let opened = crate::open(&wanted, control, listener).inspect_err(|failure| group.leave(&failure.message));
    let mut opened = opened?;
    if locks {
        group.wait()?;
    }
    let agreed = group.facts(TargetFacts {
        max_bytes: opened.max_bytes,
        sector_bytes: opened.sector_bytes,
        memory_bytes: opened.memory_bytes,
        probe_bytes_per_s: opened.probe_bytes_per_s,
        probe_round_bytes_per_s: opened.probe_round_bytes_per_s,
        used_ns: opened.rig.now(),
        written_bytes: opened.rig.bytes_written(),
        seed,
    })?;
    let (rank, size) = group.place();
    // All may share what is free; files and devices are each rank's own.
    let parts = if opened.target.kind == TargetKind::Directory { u64::from(size) } else { 1 };
    opened.max_bytes = (agreed.max_bytes / parts).next_multiple_of(MIB).saturating_sub(MIB).max(MIB);
    opened.sector_bytes = agreed.sector_bytes;
    opened.memory_bytes = agreed.memory_bytes;
    opened.probe_bytes_per_s = agreed.probe_bytes_per_s;
    opened.probe_round_bytes_per_s = agreed.probe_round_bytes_per_s;
    opened.agreed = Some(agreed);
    opened.remarks.push(format!("rank {rank} of a group of {size}"));
    if !one_file.is_empty() {
        let text = "read one file or device: what one has read, a cache on the way may answer to the others";
        opened.remarks.push(format!("{} {text}", who(&one_file)));
    }
    if wanted.shared_in_group {
        share(&mut opened, group, ranks_here == size)?;
    }
    Ok((opened, agreed.seed))
}

/// Makes the file and the directory that all ranks share, and makes sure that all have the same.
fn share(opened: &mut Opened, group: &Group, all_here: bool) -> Result<(), Failure> {
    let sharing = group.sharing();
    for step in [SharingStep::Make, SharingStep::Find, SharingStep::Begin { all_here }] {
        opened.rig.share(&sharing, step).inspect_err(|failure| group.leave(&failure.message))?;
        group.wait()?;
    }
    opened.shared_in_group = true;
    opened.remarks.push("all ranks of the group work in one file".into());
    Ok(())
}

/// What is the same number for ranks that work on the same object of the same machine, and for no others.
fn object(wanted: &Wanted<'_>, group: &Group) -> u64 {
    let alone = u64::from(group.place().0);
    let Ok(metadata) = std::fs::metadata(wanted.name) else { return alone };
    let boot = observe::environment(&Root::new("/")).boot_id.unwrap_or_default();
    let text = format!("{boot} {} {} {}", metadata.dev(), metadata.ino(), metadata.rdev());
    u64::from_str_radix(&token::digest(text.as_bytes())[..16], 16).unwrap_or(alone)
}

/// File systems on which several machines have the same files, by their magic numbers: NFS, SMB, Ceph, AFS, 9p, GFS2, OCFS2
/// (k:include/uapi/linux/magic.h and the file systems' own), Lustre, BeeGFS, GPFS.
const SHARED_BY_MACHINES: [u32; 12] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x00c3_6400,
    0x5346_414f,
    0x0102_1997,
    0x0116_1970,
    0x7461_636f,
    0x0bd0_0bd0,
    0x1983_0326,
    0x4750_4653,
];

/// What is the same number for ranks that have one file or device, on one machine or on several, and for no others; `None` of a
/// directory. Two machines have no number of a file system in common: number, size and times of a file tell one from all others there,
/// as long as nobody writes to it.
fn file(wanted: &Wanted<'_>) -> Option<u64> {
    let metadata = std::fs::metadata(wanted.name).ok().filter(|m| !m.is_dir())?;
    let magic = rustix::fs::statfs(Path::new(wanted.name)).map_or(0, |s| s.f_type as u32);
    let text = if metadata.is_file() && SHARED_BY_MACHINES.contains(&magic) {
        format!(
            "{magic} {} {} {} {} {} {}",
            metadata.ino(),
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec()
        )
    } else {
        let boot = observe::environment(&Root::new("/")).boot_id.unwrap_or_default();
        let own = if metadata.rdev() == 0 { format!("{} {}", metadata.dev(), metadata.ino()) } else { String::new() };
        format!("{boot} {own} {}", metadata.rdev())
    };
    u64::from_str_radix(&token::digest(text.as_bytes())[..16], 16).ok()
}

/// Ranks that have one file, as one of them or rank 0 says it.
fn who(ranks: &[u32]) -> String {
    match ranks {
        [first] => format!("this rank and {}", ranks_text(&[*first])),
        all => ranks_text(all),
    }
}

/// The plan of all ranks, with data and places of its own for each.
///
/// # Errors
/// As [`crate::plan::plan_within`]; the group ends with that. The plan of another rank is another.
pub fn plan(
    workload: &Workload,
    opened: &Opened,
    seed: u64,
    allowance: Option<WriteAllowance>,
    group: &Group,
) -> Result<Plan, Failure> {
    let made = |seed| -> Result<Plan, Failure> {
        let mut plan = crate::plan::plan_within(workload, opened, seed, allowance)
            .inspect_err(|failure| group.leave(&failure.message))?;
        if group.scale {
            plan.by_numbers_of_ranks(group.size);
        }
        // One that knows its rate sooner than the others would end before them.
        for phase in &mut plan.phases {
            if matches!(phase.stop, StopRule::EarlyWhenSteady { .. } | StopRule::LeastOperations { .. }) {
                phase.stop = StopRule::Time;
            }
        }
        Ok(plan)
    };
    group.same_plan(&made(seed)?)?;
    let (rank, size) = group.place();
    // Two ranks never write the same data: a store that joins what is the same would be faster than it is.
    let mut plan = made(seed.wrapping_add(u64::from(rank).wrapping_mul(0x9e37_79b9_7f4a_7c15)))?;
    if opened.shared_in_group {
        plan.in_rank_region(rank, size).map_err(|what| {
            group.leave(&what);
            Failure::usage(what).remedy("leave out --shared-file")
        })?;
    }
    Ok(plan)
}
