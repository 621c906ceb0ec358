//! A soak: known data are written in passes, read back past the caches, and what is wrong with them is classified; it goes
//! on after a crash, and then looks first at what was promised before ([`SoakContext::run`]). The same data tell how large a device
//! really is ([`capacity()`]).
//!
//! A pass is made of laps, stretches of the target one after the other. Each lap is written, flushed, and read back; at the
//! end of a pass all of it is read once more. What the state promises is one version a lap and the lap in flight, so that
//! it has constant size: it is durable before a lap begins and after its flush.
//!
//! Invariants:
//! - What is written is planned and executed as every other phase is: a target is one that [`conduct`] opened.
//! - The state is a versioned value ([`SoakState`]), read and written only here; one that is damaged is refused, and nothing is guessed.
//! - No finding without data of its own: doubt about a device is never "genuine".
//!
//! Deliberately absent: the stamp in the data and what is wrong with it (`integrity`), arguments, a terminal, wording.

mod bundle;
mod capacity;
mod concurrent_reads;
mod context;
mod growth;
mod machine;
mod own_file;
mod plan;
mod repeat;
mod saved_state;
mod scrub;
mod state;

pub use bundle::run_of;
pub use capacity::{CapacityProbe, capacity, probe_bytes};
pub use context::{SaveState, SoakContext, SoakEnd, SoakEvent};
pub use growth::{PassTimes, Times};
pub use own_file::OwnFile;
pub use saved_state::DIRECTORY;
pub use state::{LapInProgress, LapVersions, Mode, SoakState, StopCriteria, TargetIdentity, WriteEnd};
