//! Texts of workloads, jobs of fio and recordings, and the plans that they become.

mod built_in;
mod check;
mod documented;
mod files;
mod fio_files;
mod fio_options;
mod fio_regions;
mod fio_wild;
mod legal_sizes;
mod traces;
mod user_text;
