//! The seam to whatever carries operations out.

use model::Ns;

/// One completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The `buffer` index of the operation, which identifies it while it is in flight.
    pub buffer: u32,
    /// Bytes transferred, or the errno.
    pub result: Result<u32, i32>,
    /// When the completion was seen by this process (simulated: when it happened).
    pub at_ns: Ns,
}

/// A failure of the device interface itself, as opposed to a failed operation.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The submission or completion call failed.
    #[error("{call}: {source}")]
    Call {
        /// Which call.
        call: &'static str,
        /// Its error.
        source: std::io::Error,
    },
}

/// Carries operations out and owns the clock.
pub trait Device {
    /// The kind of operation.
    type Op;

    /// The device's clock, since the run's start.
    fn now(&self) -> Ns;

    /// The content of a buffer that is not in flight: filled before a write, looked at after a read.
    fn buffer(&mut self, index: u32) -> &mut [u8];

    /// Hands operations over. Each carries a distinct `buffer` index that is not in flight. May only queue them: they
    /// are certain to be on their way after the next [`Device::reap`].
    fn submit(&mut self, ops: &[Self::Op]) -> Result<(), DeviceError>;

    /// Waits until `min` operations have completed or the moment `until` has come, and appends all completions that
    /// are there to `out`, which never grows beyond its capacity. `min` 0 polls. May return early on a signal.
    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError>;
}
