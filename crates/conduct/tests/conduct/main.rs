//! Targets admitted, soaks over faults, and states of experiments that older programs wrote.

mod admission;
mod soak_matrix;
mod state;
