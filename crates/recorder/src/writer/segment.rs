//! The segment that is written to: what it holds, and which streams it knows.

use crate::container::{SegmentStream, StreamName, line};
use crate::frame_channel::Arrival;
use crate::item::{BatchContent, BatchContext};

/// The segment that is written to.
#[derive(Debug)]
pub(super) struct Open {
    pub segment: u64,
    pub first_batch: u64,
    pub batches: u64,
    pub end: u64,
    pub sums: u32,
    pub held: Vec<SegmentStream>,
    /// The streams that it knows.
    pub known: Vec<bool>,
}

/// The streams of a batch that its segment does not know yet.
pub(super) fn unknown(open: &Open, content: &BatchContent) -> Vec<StreamName> {
    let mut new: Vec<StreamName> = Vec::new();
    for name in content.streams() {
        let known = open.known.get(usize::from(name.stream)).copied().unwrap_or(false);
        if !known && !new.contains(name) {
            new.push(name.clone());
        }
    }
    new
}

impl Open {
    /// Takes up what a batch brings.
    pub fn count(&mut self, content: &BatchContent, about: &BatchContext, new: &[StreamName]) {
        for arrival in &content.arrivals {
            match arrival {
                Arrival::Frame(frame) => {
                    let arrival_ns = about.clock_start_ns.saturating_add(frame.arrived);
                    line(&mut self.held, frame.account.name.stream).add(frame.bytes(), arrival_ns);
                }
                Arrival::Lost { account, count, .. } => line(&mut self.held, account.name.stream).lose(*count),
            }
        }
        for name in new {
            *line(&mut self.known, name.stream) = true;
        }
    }
}
