//! Whether syncs flush the cache of the device. A file system that is mounted without barriers returns from fsync when the data are with the
//! device (k:block/blk-flush.c is not reached): faster than what is safe, and no answer to what a use needs of a sync.

use super::{RuleInput, Validity};
use model::{Reason, StreamKind, StreamPlan};

/// Calls that were recorded sync what they synced then.
fn syncs(stream: &StreamPlan) -> bool {
    let flush = stream.durability.flush;
    let durable = stream.waits_until_durable() || flush.fsync_every > 0 || flush.fdatasync_every > 0;
    matches!(stream.kind, StreamKind::Replay(_)) || durable && stream.changes_data()
}

/// On what waits for flushes that is a remark, with which it decides nothing; runs may be compared.
pub(super) fn reach_the_device(case: RuleInput<'_>, out: &mut Validity) {
    if case.context.stack.keeps_flushes() && case.plan.measures_target() && case.plan.streams.iter().any(syncs) {
        out.remarks.push(Reason::NoFlushes {});
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;
    use model::{Layer, LayerKind, facts};

    #[test]
    fn what_waits_for_flushes_decides_nothing_without_barriers() {
        for (mut fixture, barriers, want) in [
            (Fixture::sync_write(), Some(false), true),
            (Fixture::sync_write(), Some(true), false),
            (Fixture::sync_write(), None, false),
            (Fixture::sequential_write(), Some(false), false),
            (Fixture::random_read(), Some(false), false),
        ] {
            let mut fs = Layer::new(LayerKind::Filesystem, "ext4");
            barriers.into_iter().for_each(|on| fs.set(facts::BARRIERS, on));
            fixture.stack.layers = vec![fs].into();
            let judged = fixture.judge();
            let said = judged.reasons.iter().find(|r| r.is("no-flushes"));
            assert_eq!(said.is_some(), want, "{barriers:?}: {:?}", judged.reasons);
            assert!(said.is_none_or(model::Reason::may_be_too_good));
            assert!(judged.metrics[0].value.is_some());
        }
    }
}
