//! An imported run as a run of the archive.

use super::found::own_unit;
use super::{ImportedMetric, ImportedRun};
use model::{
    Metric, MetricStatus, PhasePlan, PhaseRun, PhaseStatus, Plan, Reason, Run, Session, Target, TargetKind, Unit,
};

impl ImportedRun {
    /// The run with that id, made by that version of the program, out of that file. Each group is a phase; what was
    /// printed in other units stands in the metric's reasons (`printed: 4405 KiB/s`).
    pub fn to_run(&self, id: &str, program_version: &str, file: &str) -> Run {
        let phases: Vec<PhaseRun> = self
            .groups
            .iter()
            .map(|group| {
                let metrics: Vec<Metric> = group.metrics.iter().map(as_printed).collect();
                let stands = metrics.iter().any(|m| m.status == MetricStatus::Measured);
                PhaseRun {
                    plan: PhasePlan { name: group.name.clone(), ..PhasePlan::default() },
                    status: if stands { PhaseStatus::Measured } else { PhaseStatus::Refused },
                    reasons: metrics.iter().filter(|_| !stands).flat_map(|m| m.reasons.clone()).take(1).collect(),
                    steady: None,
                    changes: Vec::new(),
                    metrics,
                    record: None,
                }
            })
            .collect();
        let tool = self.source_version.as_deref().map_or(String::new(), |v| format!(" of {v}"));
        let origin = format!("imported from {file}, line {}: {}{tool}", self.first_line, self.source_format);
        let name = self.target.clone().unwrap_or_else(|| self.name.clone());
        let target = Target { writable: false, ..Target::named(name, TargetKind::Foreign) };
        Run {
            id: id.to_owned(),
            program_version: program_version.to_owned(),
            state: self.state,
            plan: Plan {
                name: self.source_format.to_owned(),
                phases: phases.iter().map(|p| p.plan.clone()).collect(),
                ..Plan::default()
            },
            sessions: self.started.iter().map(|started| session(started)).collect(),
            duration_ns: self.duration_ns.unwrap_or(0),
            remarks: std::iter::once(origin).chain(self.remarks.iter().cloned()).collect(),
            phases,
            ..Run::blank("import", target, self.environment.clone())
        }
    }
}

fn session(started: &str) -> Session {
    Session { started: started.to_owned(), ended: None, boot_id: None, clock_step_ns: None }
}

/// The metric with what was printed, where that is another unit.
fn as_printed(m: &ImportedMetric) -> Metric {
    let mut metric = m.metric.clone();
    let digits = |c: u8| c.is_ascii_digit() || c == b'.';
    let own = m.original.unit == own_unit(metric.unit)
        && (metric.unit != Unit::OpsPerS || m.original.value.bytes().all(digits));
    if !own {
        let printed = format!("{} {}", m.original.value, m.original.unit);
        metric.reasons.push(Reason::of("printed", printed.trim_end()));
    }
    metric
}

#[cfg(test)]
mod tests {
    use super::super::Original;
    use super::*;
    use model::Better;

    #[test]
    fn groups_become_phases_and_originals_stay() {
        let mut run = ImportedRun::new("fio-text", "a", 3);
        let metric = |id: &str, value, original| {
            ImportedMetric::new(id, Unit::BytesPerS, Some(Better::Higher), value, 1, original).unwrap()
        };
        let mut bad = metric("b.read.throughput_bytes_per_s", 1.0, Original::new("1", "B/s"));
        bad.metric.refuse(&[Reason::of("impossible", "x")]);
        run.push("a", vec![metric("a.read.throughput_bytes_per_s", 4096.0, Original::new("4", "KB/s"))]);
        run.push("b", vec![bad]);
        run.push("c", vec![]);
        let made = run.to_run("20261120T213000Z-7f3a9c21", "1", "f.txt");
        assert_eq!(made.phases.len(), 2);
        assert_eq!(made.value("a.read.throughput_bytes_per_s"), Some(4096.0));
        assert_eq!(made.phases[0].metrics[0].reasons, [Reason::of("printed", "4 KB/s")]);
        assert_eq!(
            (made.phases[1].status, &made.phases[1].reasons[..]),
            (PhaseStatus::Refused, &[Reason::of("impossible", "x")][..])
        );
        assert_eq!(made.remarks, ["imported from f.txt, line 3: fio-text"]);
    }

    #[test]
    fn what_cannot_be_a_measurement_is_none() {
        for value in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(ImportedMetric::new("a", Unit::Ns, None, value, 1, Original::new("", "")), None);
        }
    }
}
