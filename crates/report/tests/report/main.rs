//! What this room shows, over constructed runs.

mod card;
mod documents;
mod fixture;
mod page;
mod plan;
mod run;
mod watch;
