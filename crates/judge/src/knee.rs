//! Depth curves of a run: phases that differ only in the operations in flight, and where more of them stop to pay.

use model::{DepthCurve, Knee, Plan, Run};
use stats::KneeAt;

/// A doubling of the depth doubles at least the waiting once the device is busy; below a tenth more operations it pays
/// nobody. Well above what one phase's rate is uncertain by.
const MIN_GAIN: f64 = 0.10;

/// All depth curves of a run, in the order of its plan. Phases whose rate does not stand are left out of the search for
/// the knee, not out of the curve.
pub fn depth_curves(run: &Run) -> Vec<DepthCurve> {
    curves(&run.plan, |id| run.value(id))
}

fn curves(plan: &Plan, value: impl Fn(&str) -> Option<f64>) -> Vec<DepthCurve> {
    plan.depth_sweeps().into_iter().map(|places| curve(plan, &places, &value)).collect()
}

fn curve(plan: &Plan, places: &[usize], value: &impl Fn(&str) -> Option<f64>) -> DepthCurve {
    let phases: Vec<_> = places.iter().map(|i| &plan.phases[*i]).collect();
    let points: Vec<(u32, &str, f64)> = phases
        .iter()
        .filter_map(|p| Some((p.queue_depth(), p.name.as_str(), value(&format!("{}.iops", p.name))?)))
        .collect();
    let values: Vec<(f64, f64)> = points.iter().map(|(depth, _, rate)| (f64::from(*depth), *rate)).collect();
    let highest = values.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let paced = phases.iter().any(|p| p.streams.iter().any(|s| s.timing.pacing.is_some() || s.timing.think.is_some()));
    let knee = match stats::knee(&values, MIN_GAIN) {
        _ if paced => {
            Knee::Unknown { reason: "held-back: its streams are paced or pause, more depth cannot show".into() }
        }
        None => Knee::Unknown {
            reason: format!("too-few-points: {} of {} depths have a valid rate", values.len(), phases.len()),
        },
        Some(KneeAt::Beyond) => Knee::NotReached { depth: points.last().map_or(0, |p| p.0) },
        Some(KneeAt::Point(at)) => Knee::At {
            depth: points[at].0,
            phase: points[at].1.to_owned(),
            share_of_highest_percent: points[at].2 / highest * 100.0,
        },
    };
    DepthCurve {
        phases: phases.iter().map(|p| p.name.clone()).collect(),
        depths: phases.iter().map(|p| p.queue_depth()).collect(),
        knee,
        least_gain_percent: MIN_GAIN * 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BlockPlan, IoPath, Pacing, PhasePlan, Rate, StreamPlan};

    const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

    fn plan() -> Plan {
        let phase = |depth: u32| PhasePlan {
            name: format!("qd{depth}"),
            streams: vec![StreamPlan {
                kind: BlockPlan { region_bytes: 1 << 30, ..BlockPlan::default() }.into(),
                path: IoPath { queue_depth: depth, ..IoPath::default() },
                seed: depth.into(),
                ..StreamPlan::default()
            }],
            ..PhasePlan::default()
        };
        Plan { phases: DEPTHS.map(phase).to_vec(), ..Plan::default() }
    }

    /// 1,000 operations a second and unit of depth, up to 8,000.
    fn rate(id: &str) -> Option<f64> {
        let depth: f64 = id.strip_prefix("qd")?.strip_suffix(".iops")?.parse().ok()?;
        Some(1_000.0 * depth.min(8.0))
    }

    #[test]
    fn the_knee_is_where_the_rate_stops_to_grow() {
        let [curve] = &curves(&plan(), rate)[..] else { panic!("one curve") };
        assert_eq!(curve.depths, DEPTHS);
        assert_eq!(curve.knee, Knee::At { depth: 8, phase: "qd8".into(), share_of_highest_percent: 100.0 });
    }

    #[test]
    fn refused_phases_are_stepped_over() {
        let without = |id: &str| rate(id).filter(|_| id != "qd8.iops");
        let [curve] = &curves(&plan(), without)[..] else { panic!("one curve") };
        assert_eq!(curve.phases.len(), 6);
        assert!(matches!(&curve.knee, Knee::At { depth: 16, .. }), "{:?}", curve.knee);
        let few = |id: &str| rate(id).filter(|_| ["qd1.iops", "qd2.iops"].contains(&id));
        assert!(
            matches!(&curves(&plan(), few)[0].knee, Knee::Unknown { reason } if reason.starts_with("too-few-points"))
        );
    }

    #[test]
    fn a_rate_that_was_asked_for_says_nothing_about_depth() {
        let mut plan = plan();
        for phase in &mut plan.phases {
            phase.streams[0].timing.pacing = Some(Pacing { read: Some(Rate::OperationsPerS(10)), ..Pacing::default() });
        }
        assert!(matches!(&curves(&plan, rate)[0].knee, Knee::Unknown { reason } if reason.starts_with("held-back")));
    }
}
