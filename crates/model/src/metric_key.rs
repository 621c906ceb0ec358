//! The id of a metric, `<phase>[.<job>][.<direction>].<quantity>`: put together and taken apart here alone.

use crate::{Direction, Metric, PhaseRun};
use std::fmt;

/// An id, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricKey<'a> {
    /// What it is of: all before the quantity.
    pub of: &'a str,
    /// For example `latency_ns_p99`.
    pub quantity: &'a str,
    /// The end of the phase's name in `of`.
    phase_bytes: usize,
}

impl<'a> MetricKey<'a> {
    /// Of an id whose phase has no dot in its name.
    pub fn of(id: &'a str) -> Self {
        let (of, quantity) = id.rsplit_once('.').unwrap_or(("", id));
        Self { of, quantity, phase_bytes: of.find('.').unwrap_or(of.len()) }
    }

    /// Of an id in a phase, whatever its name; `None` where it is of another.
    pub fn in_phase(phase: &str, id: &'a str) -> Option<Self> {
        let rest = id.strip_prefix(phase)?.strip_prefix('.')?;
        let quantity = rest.rsplit_once('.').map_or(rest, |(_, quantity)| quantity);
        Some(Self { of: &id[..id.len() - quantity.len() - 1], quantity, phase_bytes: phase.len() })
    }

    /// Name of the phase, the first part of the id.
    pub fn phase(self) -> &'a str {
        &self.of[..self.phase_bytes]
    }

    /// The part of the phase that it is of, a job and a direction; empty where it is of all.
    pub fn part(self) -> &'a str {
        self.of.get(self.phase_bytes + 1..).unwrap_or_default()
    }

    /// The job and the direction, of a phase that has several jobs or one: a single part names a job where there are several.
    pub fn job_and_direction(self, several_jobs: bool) -> (&'a str, &'a str) {
        match self.part().split_once('.') {
            Some(parts) => parts,
            None if several_jobs => (self.part(), ""),
            None => ("", self.part()),
        }
    }

    /// The direction, where it is of one.
    pub fn direction(self) -> Option<Direction> {
        let last = self.part().rsplit('.').next()?;
        Direction::ALL.into_iter().find(|d| d.name() == last)
    }

    /// What the phase has: part and quantity.
    pub fn within(self) -> String {
        if self.part().is_empty() { self.quantity.to_owned() } else { metric_id(self.part(), self.quantity) }
    }
}

impl fmt::Display for MetricKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            "" => f.write_str(self.quantity),
            of => write!(f, "{of}.{}", self.quantity),
        }
    }
}

/// The id of a quantity of something: a phase, a job of it, a direction.
pub fn metric_id(of: &str, quantity: &str) -> String {
    format!("{of}.{quantity}")
}

impl Metric {
    /// The parts of the metric's id.
    pub fn key(&self) -> MetricKey<'_> {
        MetricKey::of(&self.id)
    }

    /// The same of a metric of this phase.
    pub fn key_in(&self, phase: &PhaseRun) -> Option<MetricKey<'_>> {
        MetricKey::in_phase(&phase.plan.name, &self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_apart_is_put_together_again() {
        for (id, phase, part, direction, quantity) in [
            ("seq-write.throughput_bytes_per_s", "seq-write", "", None, "throughput_bytes_per_s"),
            ("mix.read.iops", "mix", "read", Some(Direction::Read), "iops"),
            ("mix.db.write.latency_ns_p99", "mix", "db.write", Some(Direction::Write), "latency_ns_p99"),
            ("p.db.iops", "p", "db", None, "iops"),
            ("install", "", "", None, "install"),
        ] {
            let key = MetricKey::of(id);
            assert_eq!((key.phase(), key.part(), key.direction(), key.quantity), (phase, part, direction, quantity));
            assert_eq!(key.to_string(), id);
            if !phase.is_empty() {
                assert_eq!(MetricKey::in_phase(phase, id), Some(key));
            }
        }
        let dotted = MetricKey::in_phase("a.b", "a.b.sda.read.iops").unwrap();
        assert_eq!(
            (dotted.phase(), dotted.part(), dotted.to_string().as_str()),
            ("a.b", "sda.read", "a.b.sda.read.iops")
        );
        assert_eq!(dotted.within(), "sda.read.iops");
        assert_eq!(MetricKey::in_phase("mix", "mixed.iops"), None);
        assert_eq!(MetricKey::of("mix.db.read.iops").job_and_direction(true), ("db", "read"));
        assert_eq!(MetricKey::of("mix.db.iops").job_and_direction(true), ("db", ""));
        assert_eq!(MetricKey::of("mix.read.iops").job_and_direction(false), ("", "read"));
    }
}
