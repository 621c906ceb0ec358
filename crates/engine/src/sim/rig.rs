//! A simulated target with all its ways in.

use super::{SimDevice, inventory};
use model::{Environment, SimModel, Stack};

/// A simulated target: executes phases in simulated time, and shows the machine as it simulates it.
#[derive(Debug)]
pub struct SimRig {
    device: SimDevice,
    readable: u64,
}

impl SimRig {
    /// A fresh machine with the model's device; nothing is written yet.
    pub fn new(model: SimModel) -> Self {
        Self { device: SimDevice::new(model), readable: 0 }
    }

    /// The model, as it is simulated.
    pub fn model(&self) -> &SimModel {
        self.device.model()
    }

    /// The storage path, as an inventory of the simulated machine would give it.
    pub fn stack(&self) -> Stack {
        inventory::stack(self.model())
    }

    /// The simulated machine.
    pub fn environment(&self) -> Environment {
        inventory::environment(self.model())
    }

    /// Size of the target.
    pub fn size_bytes(&self) -> u64 {
        self.model().media.capacity_bytes
    }
}
