//! What this room shows, over constructed runs.

mod card;
mod contract;
mod documents;
mod fixture;
mod inspect;
mod page;
mod plan;
mod rate;
mod run;
mod tune_verify;
mod tuning;
mod watch;
