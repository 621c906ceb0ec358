//! `diagnose` may not import `observe`, so the names of facts are the contract between them; here it is held.

use std::collections::BTreeSet;

fn observed() -> BTreeSet<&'static str> {
    observe::facts::ALL.iter().map(|fact| fact.name).collect()
}

#[test]
fn every_fact_that_the_diagnosis_reads_is_one_that_is_observed() {
    let observed = observed();
    let unknown: Vec<_> = diagnose::FACT_NAMES.iter().filter(|n| !observed.contains(*n)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn simulated_stacks_speak_of_the_same_facts() {
    let observed = observed();
    for model in spec::sim_models().expect("the named models are sound") {
        let stack = engine::SimRig::new(model, 100_000_000).model().stack();
        for layer in stack.layers.iter().filter(|l| l.kind != model::LayerKind::Sim) {
            let unknown: Vec<_> = layer.facts.keys().filter(|n| !observed.contains(n.as_str())).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", layer.name);
        }
    }
}
