//! What is read of /proc and /sys, over trees of constructed and of captured machines.

mod capture;
mod captured;
mod decoders;
mod elsewhere;
mod hostile;
mod machines;
mod memory;
mod paths;
mod places;
mod sampling;
mod tree;
mod uses;
