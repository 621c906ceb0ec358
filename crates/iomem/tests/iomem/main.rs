//! Copies by access width, on memory and on a recording of every access.

mod memory;
mod recording;
