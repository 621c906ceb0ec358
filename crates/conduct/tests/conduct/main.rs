//! Targets admitted, and states of experiments that older programs wrote.

mod admission;
mod state;
