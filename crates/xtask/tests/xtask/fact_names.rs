//! What is simulated has the names of what is observed.

use std::collections::BTreeSet;

#[test]
fn simulated_stacks_speak_of_the_same_facts() {
    let observed: BTreeSet<&str> = model::facts::ALL.iter().map(|fact| fact.name).collect();
    for model in spec::sim_models().expect("the named models are sound") {
        let stack = engine::SimRig::new(model, 100_000_000).stack();
        for layer in stack.layers.iter().filter(|l| l.kind != model::LayerKind::Sim) {
            let unknown: Vec<_> = layer.facts.keys().filter(|n| !observed.contains(n.as_str())).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", layer.name);
        }
    }
}
