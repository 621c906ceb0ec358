//! Rings and devices, against the kernel.

mod ring;
mod sole_device;
