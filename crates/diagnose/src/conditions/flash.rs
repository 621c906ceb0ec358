//! Flash without a block layer of its own: MTD.

use super::{Decision, Match, any_disk_of, exclude, require};
use crate::machine;
use crate::stack_view::{Facts, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Confidence, Evidence, Operation, PhaseStatus};

/// Parallel NOR flash that a processor copies: all of the reading thread's time is system time. The MTD map driver copies
/// by `memcpy_fromio` (k:include/linux/mtd/map.h), whose width decides how often each bus word is fetched.
pub fn nor_read_by_processor(on: &Subject<'_>) -> Decision {
    /// The study saw 7.27 s of system time in 7.27 s; a device that is waited for leaves most of it idle.
    const ALL_SYSTEM: f64 = 0.9;
    const READ: Missing = Missing("a direct read phase of an MTD device");
    any_disk_of(on, "mtd", |path| {
        require(path.disk.need_text(names::MTD_TYPE)? == "nor")?;
        let reads = on.executed().filter(|(p, r)| {
            let all_read =
                p.plan.streams.iter().all(|s| s.blocks().is_some_and(|s| s.block.operation == Operation::Read));
            all_read && r.duration_ns() > 0 && p.status == PhaseStatus::Measured
        });
        let busiest = reads
            .filter_map(|(p, r)| Some((&p.plan.name, machine::own_system_for_certain(on.run?, p, r)?, r)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let (phase, system, record) = busiest.ok_or(READ)?;
        exclude(system < ALL_SYSTEM)?;
        let rate = record.bytes as f64 / record.duration_ns() as f64 * 1e9;
        let kernel = on.environment.kernel.as_deref();
        Ok(Match::observed([
            path.disk.evidence(names::MTD_TYPE),
            Evidence::measured("own system CPU share", system, format!("{phase} getrusage")),
            Evidence::measured("read rate, bytes per second", rate, format!("{phase} series")),
            match kernel {
                Some(release) => Evidence::fact("kernel", release, "environment"),
                None => Evidence::absence("kernel", "environment"),
            },
        ])
        .at_most(Confidence::Probable))
    })
}

/// Serial NOR flash on one line without fast reads: the plain read command has no dummy cycles, for which makers allow
/// it a fraction of the clock only.
pub fn spi_nor_slow_read(on: &Subject<'_>) -> Decision {
    any_disk_of(on, "mtd", |path| {
        let serial =
            path.disk.text(names::MTD_FLASH_DRIVER) == Some("spi-nor") || path.disk.fact(names::MTD_JEDEC_ID).is_some();
        require(serial)?;
        let bus = path.need(names::SPI_FAST_READ)?;
        exclude(bus.need_bool(names::SPI_FAST_READ)?)?;
        // Reads on two or four lines are fast reads by themselves.
        exclude(bus.int(names::SPI_READ_LINES).is_some_and(|lines| lines > 1))?;
        let evidence = [names::SPI_FAST_READ, names::SPI_READ_LINES, names::SPI_MAX_HZ].map(|n| bus.evidence(n));
        Ok(Match::observed(evidence).at_most(Confidence::Probable))
    })
}
