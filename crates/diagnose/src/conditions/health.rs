//! What a drive says of its own health.

use super::{Decision, Match, NoCase::DoesNotHold, any_disk, any_disk_of, exclude, require};
use crate::stack_view::{DiskPath, Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Fact};

/// Drives that keep such records: SATA and NVMe ones that no hypervisor invents.
fn keeps_records(path: &DiskPath<'_>) -> Result<bool, Missing> {
    let bus = matches!(path.disk.need_text(names::TRANSPORT)?, "sata" | "ide" | "nvme");
    Ok(bus && path.disk.bool(names::EMULATED) != Some(true))
}

/// A drive that warns, or that has sectors it cannot read.
pub fn predicts_failure(on: &Subject<'_>) -> Decision {
    any_disk(on, |path| {
        require(keeps_records(path)?)?;
        let disk = path.disk;
        let positive = |name: &str| disk.int(name).is_some_and(|n| n > 0);
        let warns = matches!(disk.fact(names::HEALTH_WARNINGS), Some(Fact::List(w)) if !w.is_empty());
        let bad = disk.bool(names::HEALTH_OK) == Some(false) || warns || positive(names::PENDING_SECTORS);
        // Errors that were once reported may be long mended.
        let marked = positive(names::MEDIA_ERRORS) || positive(names::REALLOCATED_SECTORS);
        if !bad && !marked {
            disk.need_bool(names::HEALTH_OK)?;
            return Err(DoesNotHold);
        }
        let evidence = [
            names::HEALTH_OK,
            names::HEALTH_WARNINGS,
            names::PENDING_SECTORS,
            names::REALLOCATED_SECTORS,
            names::MEDIA_ERRORS,
        ];
        let known = evidence.into_iter().filter(|n| disk.fact(n).is_some()).map(|n| disk.evidence(n));
        Ok(Match::observed(known).at_most(if bad { Confidence::High } else { Confidence::Low }))
    })
}

/// Transfers over the SATA cable that arrived damaged, in the life of the drive.
pub fn cable_errors(on: &Subject<'_>) -> Decision {
    /// One comes with a plug that was pulled once.
    const MORE_THAN_ACCIDENT: i64 = 10;
    any_disk(on, |path| {
        require(keeps_records(path)? && !path.is("nvme")?)?;
        exclude(path.disk.need_int(names::INTERFACE_CRC_ERRORS)? < MORE_THAN_ACCIDENT)?;
        // The count is for life: the cable may have been replaced since.
        Ok(Match::observed([path.disk.evidence(names::INTERFACE_CRC_ERRORS)]).at_most(Confidence::Low))
    })
}

/// A drive that has been so hot that it slowed down.
pub fn overheated(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "nvme", |path| {
        require(keeps_records(path)?)?;
        exclude(path.disk.need_int(names::THROTTLED_MINUTES)? == 0)?;
        let hot_now = matches!(path.disk.fact(names::HEALTH_WARNINGS),
            Some(Fact::List(w)) if w.iter().any(|w| w == "temperature"));
        let sure = if hot_now { Confidence::High } else { Confidence::Low };
        let evidence = [path.disk.evidence(names::THROTTLED_MINUTES), path.disk.evidence(names::TEMPERATURE_C)];
        Ok(Match::observed(evidence).at_most(sure))
    })
}
