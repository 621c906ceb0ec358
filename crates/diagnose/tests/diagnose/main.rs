//! Findings and causes over runs of known truth.

mod expect;
mod findings;
mod findings_of_adapters;
mod findings_of_cards;
mod findings_of_runs;
mod findings_of_settings;
mod headlines;
mod network;
mod pipes;
mod run_builder;
mod scenarios;
mod scenarios_of_caches;
mod scenarios_of_others;
mod scenarios_of_rows;
mod shares;
