//! What a simulated device held goes with the program: a soak that is resumed writes it again.

use crate::{LapVersions, SoakContext, SoakState};
use conduct::Opened;
use model::Failure;

impl SoakState {
    /// The same soak before its first write: the same data in the same order.
    fn before_its_start(&self) -> Self {
        let Self { id, target, path, place, region_bytes, run_id, secret, seed, .. } = self.clone();
        let random = [run_id, secret[0], secret[1], seed];
        let mut new = Self::new(id, &target, path, place, region_bytes, random);
        new.started.clone_from(&self.started);
        new.laps = vec![LapVersions::default(); self.laps.len()];
        (new.lap_bytes, new.rate_bytes_per_s) = (self.lap_bytes, self.rate_bytes_per_s);
        (new.buffered, new.trims, new.mode) = (self.buffered, self.trims, self.mode);
        (new.enough, new.repeats) = (self.enough, true);
        new
    }
}

impl SoakContext<'_> {
    /// What a simulated device held went with the program: its passes are repeated as far as the state says, and say nothing. The state
    /// at that place; `None` where that was interrupted, and the one that is kept stays.
    pub(crate) fn repeat(&self, opened: &mut Opened, state: &SoakState) -> Result<Option<SoakState>, Failure> {
        let mut again = state.before_its_start();
        let Self { control, interrupts, archive, .. } = *self;
        let silent = SoakContext { control, interrupts, archive, witness: None, scrubs: false, tell: &|_| {} };
        let mut whole = silent.read_back(opened, &mut again)?;
        while whole && (again.passes, again.lap) < (state.passes, state.lap) {
            if self.interrupts.end() || self.control.stopped() {
                return Ok(None);
            }
            let writes = again.lap < again.laps.len();
            whole = if writes { silent.lap(opened, &mut again)? } else { silent.pass(opened, &mut again)? };
        }
        (again.running, again.repeats, again.sessions) = (false, false, state.sessions);
        Ok(whole.then_some(again))
    }
}
