//! Targets admitted.

mod admission;
