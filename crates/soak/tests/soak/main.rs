//! Soaks over faults of simulated devices.

mod soak_matrix;
