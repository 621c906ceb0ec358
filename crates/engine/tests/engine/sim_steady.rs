//! Preconditioning and steady state by rounds, in simulated time: the built-in workload comes to the truth of the device.

use crate::phases;
use engine::{Control, Rig, SimRig, SimTruth};
use model::StopCause;

#[test]
fn steady_ends_with_the_truth_of_a_slow_card_round_by_round() {
    let model = spec::parse_sim("class4-card").unwrap();
    let mut rig = SimRig::new(model.clone(), 100_000_000);
    let inputs = spec::RunInputs {
        kind: model::TargetKind::Sim,
        readiness: spec::Readiness::Writable,
        max_bytes: rig.max_bytes(),
        sector_bytes: 512,
        memory_bytes: None,
        seed: 7,
        probe: Default::default(),
        packages: None,
    };
    let plan = phases::workload(spec::workload_text("steady").unwrap(), &[("region", "32MiB")]).plan(&inputs).unwrap();
    let [precondition, steady] = &plan.phases[..] else { panic!("{:?}", plan.phases.len()) };
    let before = rig.run(precondition, &Control::default()).unwrap();
    // Twice over the region.
    assert_eq!((before.bytes, before.stop), (64 << 20, StopCause::RegionDone));
    let record = rig.run(steady, &Control::default()).unwrap();
    assert_eq!(record.stop, StopCause::Steady);
    let rounds = record.steady.expect("rounds");
    assert!(rounds.reached && (5..=25).contains(&rounds.rounds.len()), "{rounds:?}");
    let truth = SimTruth::of(&model, steady.streams[0].blocks().unwrap(), steady.access, 0).operations_per_s;
    for round in &rounds.rounds[rounds.rounds.len() - 5..] {
        assert_eq!(round.length_ns / 1_000_000_000, 60);
        let rate = round.operations as f64 / (round.length_ns as f64 / 1e9);
        assert!((rate / truth - 1.0).abs() < 0.05, "{rate} instead of {truth}");
    }
}
