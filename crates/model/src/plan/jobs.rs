//! The jobs of a phase: streams that are reported together, under one name that is safe in metric ids.

use super::{BlockStream, Operation, PhasePlan, StreamPlan};
use crate::Direction;

/// What a job without a name is called in metric ids.
const NAMELESS: &str = "job";

/// Streams of a phase that are reported as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// Its part of metric ids, `<phase>.<id>.<quantity>`: unique in the phase, without `.`, `/`, blanks and control
    /// characters, never empty.
    pub id: String,
    /// Its name in the plan, that of its first stream; may be empty.
    pub name: String,
    /// Its streams, as places in [`PhasePlan::streams`].
    pub streams: Vec<usize>,
    /// What its operations count as, each once, in the order of [`Direction`].
    pub directions: Vec<Direction>,
}

impl PlannedJob {
    /// Its directions that move data: all but [`Direction::Sync`].
    pub fn data_directions(&self) -> impl Iterator<Item = Direction> + '_ {
        self.directions.iter().copied().filter(|d| *d != Direction::Sync)
    }

    /// Whether its numbers are told apart by direction, because it has several that move data.
    pub fn is_per_direction(&self) -> bool {
        self.data_directions().count() > 1
    }
}

impl StreamPlan {
    /// What its operations count as, each once, in the order of [`Direction`]. An fdatasync that belongs to a write, or
    /// that closes a round, is none of its own.
    pub fn directions(&self) -> Vec<Direction> {
        if let Some(replay) = self.replay() {
            return replay.directions();
        }
        if self.files().is_some() {
            // Those that change something count as writes, look-ups as reads.
            let data = if self.changes_data() { Direction::Write } else { Direction::Read };
            let sync = self.durability.flush.fsync_at_end.then_some(Direction::Sync);
            return [Some(data), sync].into_iter().flatten().collect();
        }
        let Some(BlockStream { block, .. }) = self.blocks() else { return Vec::new() };
        let changes = block.changes_data().then_some(match block.operation {
            Operation::Read => Direction::Read,
            Operation::Write => Direction::Write,
            Operation::Trim => Direction::Trim,
            Operation::WriteZeroes => Direction::WriteZeroes,
        });
        let read = (block.reads() || block.verify_backlog > 0).then_some(Direction::Read);
        let trim = block.trim_before_write.then_some(Direction::Trim);
        let flush = self.durability.flush;
        let syncs = flush.fsync_every > 0 || flush.fdatasync_every > 0 || flush.fsync_at_end;
        let mut all: Vec<Direction> =
            [read, changes, trim, syncs.then_some(Direction::Sync)].into_iter().flatten().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl PhasePlan {
    /// Its jobs, in the order of their first streams. Streams with the same [`StreamPlan::group`] are one job; of those
    /// without a group (0), the ones with the same name. A phase with one job has no job part in its metric ids.
    pub fn jobs(&self) -> Vec<PlannedJob> {
        let key = |s: &StreamPlan| (s.group, if s.group == 0 { s.name.clone() } else { String::new() });
        let mut jobs: Vec<((u32, String), PlannedJob)> = Vec::new();
        for (place, stream) in self.streams.iter().enumerate() {
            let of = key(stream);
            match jobs.iter_mut().find(|(k, _)| *k == of) {
                Some((_, job)) => {
                    job.streams.push(place);
                    job.directions.extend(stream.directions());
                }
                None => {
                    let taken = |id: &str| jobs.iter().any(|(_, j)| j.id == id);
                    let plain = id_of(&stream.name);
                    let mut id = plain.clone();
                    let mut number = 2;
                    while taken(&id) {
                        id = format!("{plain}-{number}");
                        number += 1;
                    }
                    let streams = vec![place];
                    let directions = stream.directions();
                    jobs.push((of, PlannedJob { id, name: stream.name.clone(), streams, directions }));
                }
            }
        }
        let mut jobs: Vec<PlannedJob> = jobs.into_iter().map(|(_, job)| job).collect();
        for job in &mut jobs {
            job.directions.sort_unstable();
            job.directions.dedup();
        }
        jobs
    }
}

/// A name as it may stand between two dots of a metric id.
fn id_of(name: &str) -> String {
    let safe = |c: char| if c == '.' || c == '/' || c.is_whitespace() || c.is_control() { '-' } else { c };
    let id: String = name.chars().map(safe).collect();
    if id.is_empty() { NAMELESS.to_owned() } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockPlan, Durability, Flush, Mix};

    fn stream(name: &str, group: u32) -> StreamPlan {
        StreamPlan { name: name.into(), group, ..StreamPlan::default() }
    }

    fn jobs(streams: Vec<StreamPlan>) -> Vec<(String, Vec<usize>)> {
        let phase = PhasePlan { streams, ..PhasePlan::default() };
        phase.jobs().into_iter().map(|j| (j.id, j.streams)).collect()
    }

    #[test]
    fn streams_of_one_group_are_one_job_and_so_are_nameless_clones() {
        assert_eq!(jobs(vec![stream("", 0), stream("", 0)]), [("job".into(), vec![0, 1])]);
        assert_eq!(
            jobs(vec![stream("a", 0), stream("b", 0), stream("a", 0)]),
            [("a".into(), vec![0, 2]), ("b".into(), vec![1])]
        );
        assert_eq!(
            jobs(vec![stream("a", 3), stream("b", 3), stream("c", 4)]),
            [("a".into(), vec![0, 1]), ("c".into(), vec![2])]
        );
        assert_eq!(jobs(Vec::new()), []);
    }

    #[test]
    fn ids_are_safe_and_unique() {
        let ids: Vec<String> =
            jobs(vec![stream("a b", 1), stream("a.b", 2), stream("a/b", 3), stream("a-b-2", 4), stream("\n", 5)])
                .into_iter()
                .map(|(id, _)| id)
                .collect();
        assert_eq!(ids, ["a-b", "a-b-2", "a-b-3", "a-b-2-2", "-"]);
    }

    #[test]
    fn directions_are_those_that_are_told_apart() {
        use Direction::*;
        let plain = StreamPlan::default();
        let write = StreamPlan {
            kind: BlockPlan { operation: Operation::Write, ..plain.blocks().unwrap().block.clone() }.into(),
            ..plain.clone()
        };
        let mix = |read_percent| StreamPlan {
            kind: BlockPlan { mix: Some(Mix { read_percent }), ..write.blocks().unwrap().block.clone() }.into(),
            ..write.clone()
        };
        let flush = Flush { fsync_every: 8, ..Flush::default() };
        assert_eq!(plain.directions(), [Read]);
        assert_eq!(write.directions(), [Write]);
        assert_eq!(
            (mix(50).directions(), mix(0).directions(), mix(100).directions()),
            (vec![Read, Write], vec![Write], vec![Read])
        );
        assert_eq!(
            StreamPlan {
                kind: BlockPlan { trim_before_write: true, ..write.blocks().unwrap().block.clone() }.into(),
                durability: Durability { flush, ..write.durability },
                ..write.clone()
            }
            .directions(),
            [Write, Trim, Sync]
        );
        assert_eq!(
            StreamPlan {
                kind: BlockPlan { operation: Operation::WriteZeroes, ..plain.blocks().unwrap().block.clone() }.into(),
                ..plain
            }
            .directions(),
            [WriteZeroes]
        );
        let phase = PhasePlan {
            streams: vec![StreamPlan { durability: Durability { flush, ..write.durability }, ..write.clone() }],
            ..PhasePlan::default()
        };
        assert!(!phase.jobs()[0].is_per_direction());
        let phase = PhasePlan { streams: vec![mix(30)], ..PhasePlan::default() };
        assert!(phase.jobs()[0].is_per_direction());
    }
}
