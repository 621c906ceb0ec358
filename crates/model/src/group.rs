//! A run that was one of several, on one machine or many, which began each phase together.

use crate::{LimitLayer, Ns};
use serde::{Deserialize, Serialize};

/// Where a run stands in its group, and what the group did in each phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupPlace {
    /// The same in all runs of the group: the moment of its meeting in hexadecimal, drawn at random by rank 0.
    pub id: String,
    /// From 0 on.
    pub rank: u32,
    /// How many ranks there are.
    pub size: u32,
    /// What each rank calls its machine, by rank; in the run of rank 0 alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<String>,
    /// The phases that all did.
    pub phases: Vec<GroupPhase>,
    /// Why the group ended before its plan did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// A phase that all ranks did. Times are counted from the moment at which the first of them began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupPhase {
    /// The phase's name.
    pub name: String,
    /// How far apart the ranks began at most: the difference that was measured, and the error of the measurement.
    pub skew_ns: Ns,
    /// The error in it: half of the longest round trip by which a rank's clock was read.
    pub error_ns: Ns,
    /// When the first rank was done.
    pub first_done_ns: Ns,
    /// When the last one was.
    pub last_done_ns: Ns,
    /// How long all were active together, without what does not count at the beginning.
    pub together_ns: Ns,
    /// How much of the time from the first beginning to the last end all were active, percent.
    pub overlap_percent: f64,
    /// Who was active for the shortest time.
    pub least_active: u32,
    /// What this rank did in that time; in the run of rank 0 what each did, by rank.
    pub shares: Vec<RankShare>,
}

/// What one rank did while all were active.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankShare {
    pub rank: u32,
    /// When it began.
    pub started_ns: Ns,
    /// When it was done.
    pub ended_ns: Ns,
    /// How long it stood still meanwhile, because its process did (SIGSTOP, a machine that was paused).
    pub stopped_ns: Ns,
    /// Operations that completed while all were active.
    pub operations: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Codes of the reasons for which it refuses its own numbers; `None` where they stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What limited it, as its own `why` has it; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<RankLimit>,
}

/// What limited a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankLimit {
    pub layer: LimitLayer,
    /// In a sentence.
    pub statement: String,
    /// What its calls to a server took, where the client counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<ServerCalls>,
}

/// The calls to a server of which a phase made the most, by the client's counters: means of a call, milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerCalls {
    /// `READ`, `GETATTR`.
    pub operation: String,
    /// Until it was sent.
    pub queue_ms: f64,
    /// From then to the reply: network and server.
    pub server_ms: f64,
    /// As a whole.
    pub whole_ms: f64,
}

/// A call takes so much longer on the slowest rank than on the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlowerCalls {
    pub own_ms: f64,
    /// The median of the others.
    pub others_ms: f64,
}

/// What a command that is no run came to on each rank; all in the answer of rank 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupAnswer {
    pub id: String,
    pub rank: u32,
    pub size: u32,
    /// How far off the common beginning was at most: the error of the clock that this rank read.
    pub error_ns: Ns,
    /// How much of the time from the first beginning to the last end all worked, percent; `None` where the answer does not rest on
    /// that, and of another rank than 0.
    pub overlap_percent: Option<f64>,
    /// By rank; of another rank than 0 its own.
    pub ranks: Vec<RankOutcome>,
}

/// What it came to on one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankOutcome {
    pub rank: u32,
    /// What it calls its machine; filled by rank 0.
    #[serde(default)]
    pub machine: String,
    /// Its answer; `None` where it has none.
    pub met: Option<bool>,
    /// In a sentence.
    pub statement: String,
    pub bytes_written: u64,
    /// What it wrote in a second.
    pub bytes_per_s: Option<f64>,
    /// When it began and ended, by the clock of the group.
    pub started_ns: Ns,
    pub ended_ns: Ns,
}

impl GroupAnswer {
    /// Whether all worked at one time, where that matters.
    pub fn is_together(&self) -> bool {
        self.overlap_percent.is_none_or(|percent| percent >= GroupPhase::LEAST_OVERLAP_PERCENT)
    }

    /// Yes where all say so, no where one does; else it is not known.
    pub fn met(&self) -> Option<bool> {
        if !self.is_together() {
            return None;
        }
        let any = |met| self.ranks.iter().any(|r| r.met == met);
        match () {
            () if any(Some(false)) => Some(false),
            () if any(None) => None,
            () => Some(true),
        }
    }
}

/// When a rank was active in a phase, by the clock of the group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Active {
    pub started_ns: Ns,
    /// From here on it counts: its warm-up is over.
    pub counted_ns: Ns,
    pub ended_ns: Ns,
    /// When its process stood still.
    pub stopped: Vec<(Ns, Ns)>,
    /// How far off these times may be: half of the round trip by which its clock was read.
    pub error_ns: Ns,
}

/// When all were active.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// When the first began, by the clock of the group.
    pub began_ns: Ns,
    /// Beginning and end of each stretch that counts, in order.
    pub stretches: Vec<(Ns, Ns)>,
    pub skew_ns: Ns,
    pub error_ns: Ns,
    pub first_done_ns: Ns,
    pub last_done_ns: Ns,
    pub overlap_percent: f64,
    pub least_active: u32,
}

impl RankLimit {
    /// Whether it lies in the machine of the rank, on the way to the store, or in the store itself; `None` where it is not known.
    pub fn side(&self) -> Option<&'static str> {
        Some(match self.layer {
            // One client alone cannot separate network and server.
            LimitLayer::Link if self.calls.is_some() => "the network or the server",
            LimitLayer::Memory | LimitLayer::Cpu | LimitLayer::PageCache | LimitLayer::Generator => "the client",
            LimitLayer::ThermalPower | LimitLayer::Throttle => "the client",
            LimitLayer::Link => "the network or the link",
            LimitLayer::Filesystem | LimitLayer::BlockLayer | LimitLayer::Stacking | LimitLayer::Driver => "the store",
            LimitLayer::Controller | LimitLayer::Device => "the store",
            LimitLayer::Unknown => return None,
        })
    }
}

impl GroupPhase {
    /// Ranks that were active together for less than this share of the time have no common rate.
    pub const LEAST_OVERLAP_PERCENT: f64 = 90.0;

    /// Bytes per second and operations per second of all shares that are known here; `None` where they were never active together.
    pub fn sum(&self) -> Option<(f64, f64)> {
        let seconds = self.together_ns as f64 / 1e9;
        let sum = |of: fn(&RankShare) -> u64| self.shares.iter().map(|s| of(s) as f64).sum::<f64>() / seconds;
        (self.together_ns > 0).then(|| (sum(|s| s.bytes), sum(|s| s.operations)))
    }

    /// The rank that did the least, by bytes, or by operations where none moved bytes.
    pub fn slowest(&self) -> Option<&RankShare> {
        self.shares.iter().min_by_key(|s| (s.bytes, s.operations))
    }

    /// Where network and server take at least twice as long for a call of the slowest as for the same call of the others, what they take:
    /// one server answers all, so that the difference is on the way to it. Where they were not active together, it is of other times.
    pub fn slower_calls(&self) -> Option<SlowerCalls> {
        const SLOWER: f64 = 2.0;
        let calls = |s: &'_ RankShare| s.limit.as_ref().and_then(|l| l.calls.clone());
        let slowest = self.slowest().filter(|_| self.is_together())?;
        let own = calls(slowest)?;
        let others = self.shares.iter().filter(|s| s.rank != slowest.rank).filter_map(calls);
        let mut others: Vec<f64> = others.filter(|c| c.operation == own.operation).map(|c| c.server_ms).collect();
        others.sort_by(f64::total_cmp);
        let others_ms = *others.get(others.len() / 2)?;
        (own.server_ms >= SLOWER * others_ms).then_some(SlowerCalls { own_ms: own.server_ms, others_ms })
    }

    /// Whether what limits the slowest lies in its machine, on the way to the store, or in the store; `None` where it is not known.
    pub fn slowest_side(&self) -> Option<&'static str> {
        match self.slower_calls() {
            Some(_) => Some("the network or the link"),
            None => self.slowest()?.limit.as_ref()?.side(),
        }
    }

    /// What the slowest did of what the fastest did, percent.
    pub fn balance_percent(&self) -> Option<f64> {
        let bytes = self.shares.iter().any(|s| s.bytes > 0);
        let done = || self.shares.iter().map(|s| if bytes { s.bytes } else { s.operations });
        let (least, most) = (done().min()?, done().max()?);
        (most > 0).then(|| 100.0 * least as f64 / most as f64)
    }

    /// Whether they were active together for long enough.
    pub fn is_together(&self) -> bool {
        self.overlap_percent >= Self::LEAST_OVERLAP_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_the_time_in_which_all_were_active() {
        let share = |rank, bytes| RankShare { rank, bytes, operations: bytes / 4096, ..RankShare::default() };
        let phase = GroupPhase {
            together_ns: 2_000_000_000,
            shares: vec![share(0, 8192), share(1, 4096)],
            ..GroupPhase::default()
        };
        assert_eq!(phase.sum(), Some((6144.0, 1.5)));
        assert_eq!(phase.slowest().map(|s| s.rank), Some(1));
        assert_eq!(phase.balance_percent(), Some(50.0));
        assert_eq!(phase.slower_calls(), None, "no client counted calls");
        let never = GroupPhase::default();
        assert_eq!((never.sum(), never.balance_percent(), never.slowest()), (None, None, None));
    }

    #[test]
    fn calls_that_take_longer_on_the_slowest_alone_are_slow_on_its_way() {
        let share = |rank, bytes, server_ms, operation: &str| RankShare {
            rank,
            bytes,
            limit: Some(RankLimit {
                layer: LimitLayer::Link,
                statement: String::new(),
                calls: Some(ServerCalls {
                    operation: operation.to_owned(),
                    queue_ms: 0.1,
                    server_ms,
                    whole_ms: server_ms + 0.2,
                }),
            }),
            ..RankShare::default()
        };
        let phase = |slow, operation| GroupPhase {
            shares: vec![share(0, 900, 1.5, "READ"), share(1, 100, slow, operation), share(2, 800, 1.9, "READ")],
            overlap_percent: 100.0,
            ..GroupPhase::default()
        };
        let far = phase(21.5, "READ");
        assert_eq!(far.slower_calls(), Some(SlowerCalls { own_ms: 21.5, others_ms: 1.9 }));
        assert_eq!(far.slowest_side(), Some("the network or the link"));
        // As slow for all: network or server; other operations are not compared.
        for same in [phase(2.4, "READ"), phase(21.5, "WRITE")] {
            assert_eq!((same.slower_calls(), same.slowest_side()), (None, Some("the network or the server")));
        }
    }
}
