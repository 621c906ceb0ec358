//! One scenario: a machine whose bottleneck is known, and how to ask about it.

use model::{Environment, LimitLayer, PhaseRecord, Stack, SystemSample};

/// What the scenario executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// `narrows check` with this budget.
    Check {
        /// Simulated seconds.
        budget_s: u64,
    },
    /// `narrows run` of a built-in workload.
    Workload(&'static str),
}

/// What a simulated machine shows of itself in place of its own inventory: parts that the simulation has no bus for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixture {
    /// Changes the storage path and the environment before anything runs.
    pub path: Option<fn(&mut Stack, &mut Environment)>,
    /// Changes each sample of the machine.
    pub observed: Option<fn(&mut SystemSample)>,
    /// Changes the record of each phase before it is judged.
    pub recorded: Option<fn(&mut PhaseRecord)>,
}

/// A simulated scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The layer that limits; what the answer is compared with.
    pub truth: LimitLayer,
    /// A word that the statement must hold: for truths that have no layer of their own.
    pub says: Option<&'static str>,
    /// The headline itself must hold that word, not only one of the causes.
    pub heads: bool,
    /// The simulated device, as `narrows check` takes it.
    pub device: String,
    /// What the scenario executes.
    pub plan: Plan,
    /// What the machine shows of itself.
    pub fixture: Fixture,
}

/// A device's text under construction.
#[derive(Clone, Debug)]
pub struct Device(String);

impl Device {
    /// A named model.
    pub fn named(name: &str) -> Self {
        Self(format!("sim:{name}"))
    }

    /// Sets a parameter.
    pub fn set(mut self, key: &str, value: impl std::fmt::Display) -> Self {
        self.0 += &format!(",{key}={value}");
        self
    }

    /// A rate in bytes per second.
    pub fn rate(self, key: &str, bytes_per_s: f64) -> Self {
        self.set(key, bytes_per_s.round() as u64)
    }

    /// A time in nanoseconds.
    pub fn time(self, key: &str, ns: f64) -> Self {
        self.set(key, format!("{}ns", ns.round() as u64))
    }

    /// A checked scenario of it, with a budget of 20 simulated seconds.
    pub fn limits(self, truth: LimitLayer) -> Scenario {
        Scenario {
            truth,
            says: None,
            heads: false,
            device: self.0,
            plan: Plan::Check { budget_s: 20 },
            fixture: Fixture::default(),
        }
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Scenario {
    /// The statement must hold this word.
    pub fn statement_holds(self, word: &'static str) -> Self {
        Self { says: Some(word), ..self }
    }

    /// The headline itself must hold this word.
    pub fn headline_holds(self, word: &'static str) -> Self {
        Self { says: Some(word), heads: true, ..self }
    }

    /// With this plan.
    pub fn with_plan(self, plan: Plan) -> Self {
        Self { plan, ..self }
    }

    /// With the storage path changed by this function.
    pub fn with_path(mut self, path: fn(&mut Stack, &mut Environment)) -> Self {
        self.fixture.path = Some(path);
        self
    }

    /// With the samples changed by this function.
    pub fn with_samples(mut self, observed: fn(&mut SystemSample)) -> Self {
        self.fixture.observed = Some(observed);
        self
    }

    /// With the records changed by this function.
    pub fn with_records(mut self, change: fn(&mut PhaseRecord)) -> Self {
        self.fixture.recorded = Some(change);
        self
    }
}
