//! What the layers below a target count of their reads: asked of whoever watches the machine.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Bytes that the lowest layers below the target which count have read so far, all users' together; `None` where none counts.
#[derive(Clone)]
pub struct DeviceReads(Arc<dyn Fn() -> Option<u64> + Send + Sync + UnwindSafe + RefUnwindSafe>);

impl DeviceReads {
    /// `bytes` is asked a few times a phase, never while operations are measured.
    pub fn new(bytes: impl Fn() -> Option<u64> + Send + Sync + UnwindSafe + RefUnwindSafe + 'static) -> Self {
        Self(Arc::new(bytes))
    }

    /// Bytes read so far; `None` where no layer counts.
    pub fn bytes(&self) -> Option<u64> {
        (self.0)()
    }
}

impl fmt::Debug for DeviceReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeviceReads")
    }
}
