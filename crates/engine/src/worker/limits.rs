//! How much a turn of the loop does at once, and how long it is patient.

/// How long an operation that is answered by "try again" is handed over again, before the answer counts as an error.
pub(super) const RETRY_LIMIT_NS: model::Ns = 5_000_000_000;
/// Failures one after the other, without a success between, after which a stream that goes on after errors gives up: what
/// it measures is how fast the device says no.
pub(super) const MAX_CONSECUTIVE_FAILURES: u32 = 1_000;

/// Completions and submissions between two readings of the clock at most, where the stamp of a completion also stands for
/// the submission that follows it. See [`super::run_stream`].
pub(super) const MAX_UNTIMED_OPERATIONS: usize = 4;

/// What becomes of an operation that failed.
pub(super) enum FailureAction {
    /// The failure is recorded.
    Counted,
    /// It failed for a moment only (EINTR, EAGAIN).
    Resubmit,
}

/// Operations that are handed over at once, of so many in flight, to a device that completes them later. All that there is
/// room for at once makes convoys: completions come in bunches, the device idles between (docs/history/performance.md, "How
/// operations are handed over").
pub(super) fn small_batch(places: usize) -> usize {
    (places / 8).clamp(4, 8)
}

/// How much longer than for an operation is waited for the syncs that close a stream: they write what is dirty.
pub(super) const CLOSING_DRAIN_FACTOR: u64 = 10;
