//! Questions that take more than one run: experiments, whose runs are made in randomised order with settings applied and undone
//! around each ([`experiment`]); searches for better settings, with their proof ([`tune`]); and what each layer of a storage path costs
//! ([`layers`]).
//!
//! Every measurement is a plan that [`conduct::Execution`] executes on a target that [`conduct::open`] opened: what makes a number
//! invalid elsewhere does so here.
//!
//! Invariants:
//! - Settings are changed through the journal of `settings` alone, and restored on every way out, also after a crash.
//! - The state of an experiment ([`experiment::State`]) and of a search ([`tune::State`]) is a versioned value in the archive, read and
//!   written only here; both are resumed from it.
//! - What is concluded is decided by `judge`: here it is only measured.
//!
//! Deliberately absent: the statistics and the search as a state machine (`judge`), arguments, a terminal, wording, and reading of
//! texts from files.

pub mod experiment;
pub mod layers;
pub mod tune;
