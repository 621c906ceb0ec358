//! The engine against every device: the contract, real files and devices, and simulated ones of known truth.

mod benchmark;
mod built_ins;
mod contract;
mod errors;
mod files;
mod memory;
mod named_sims;
mod no_allocation;
mod own_devices;
mod phases;
mod plans;
mod priorities;
mod real_devices;
mod real_files;
mod real_plans;
mod sim_depth_search;
mod sim_device;
mod sim_percentiles;
mod sim_rig;
mod sim_steady;
mod verified_file;
mod verify;
mod verify_storm;
