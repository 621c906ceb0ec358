//! What an NFS mount's calls did between two looks.

use crate::{NS_PER_S, NfsCounters, SystemSample};
use serde::Serialize;

/// One operation of an NFS mount between two samples, as nfsiostat has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NfsActivity {
    /// `READ`, `COMMIT`.
    pub operation: String,
    pub per_s: f64,
    /// Requests beyond one a call.
    pub sent_again_per_s: f64,
    pub bytes_sent_per_s: f64,
    pub bytes_received_per_s: f64,
    /// Mean milliseconds of a call: until it was sent, from then to the reply, and as a whole.
    pub queue_ms: f64,
    pub rtt_ms: f64,
    pub execute_ms: f64,
}

/// The operations of which calls ended, in the order of the later sample; none where the earlier one knows of no mount.
pub(super) fn nfs_activity(before: &SystemSample, after: &SystemSample) -> Vec<NfsActivity> {
    let elapsed_s = after.at_ns.saturating_sub(before.at_ns) as f64 / NS_PER_S as f64;
    if before.nfs.is_empty() || elapsed_s <= 0.0 {
        return Vec::new();
    }
    let of = |now: &NfsCounters| {
        let then = before.nfs.iter().find(|o| o.name == now.name).cloned().unwrap_or_default();
        let done = now.since(&then).filter(|o| o.operations > 0)?;
        let (per_s, each) = (|n: u64| n as f64 / elapsed_s, |n: u64| n as f64 / done.operations as f64);
        Some(NfsActivity {
            operation: done.name.clone(),
            per_s: per_s(done.operations),
            sent_again_per_s: per_s(done.transmissions.saturating_sub(done.operations)),
            bytes_sent_per_s: per_s(done.bytes_sent),
            bytes_received_per_s: per_s(done.bytes_received),
            queue_ms: each(done.queue_ms),
            rtt_ms: each(done.rtt_ms),
            execute_ms: each(done.execute_ms),
        })
    };
    after.nfs.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_what_ended_between_two_looks() {
        let counted = |name: &str, operations, rtt_ms| NfsCounters {
            name: name.to_owned(),
            operations,
            transmissions: operations + operations / 10,
            rtt_ms,
            execute_ms: 2 * rtt_ms,
            bytes_received: 4096 * operations,
            ..NfsCounters::default()
        };
        let at = |seconds: u64, nfs| SystemSample { at_ns: seconds * NS_PER_S, nfs, ..SystemSample::default() };
        let before = at(1, vec![counted("READ", 100, 200), counted("WRITE", 5, 5)]);
        let after = at(3, vec![counted("READ", 140, 320), counted("WRITE", 5, 5), counted("COMMIT", 2, 8)]);
        let seen = nfs_activity(&before, &after);
        let of: Vec<_> = seen.iter().map(|o| (o.operation.as_str(), o.per_s, o.rtt_ms, o.execute_ms)).collect();
        assert_eq!(of, [("READ", 20.0, 3.0, 6.0), ("COMMIT", 1.0, 4.0, 8.0)]);
        assert_eq!((seen[0].sent_again_per_s, seen[0].bytes_received_per_s), (2.0, 81_920.0));
        assert!(nfs_activity(&at(1, Vec::new()), &after).is_empty(), "nothing is known of the time before");
        // Mounted anew in between: what fell says nothing.
        assert!(nfs_activity(&after, &at(4, vec![counted("READ", 3, 1)])).is_empty());
    }
}
