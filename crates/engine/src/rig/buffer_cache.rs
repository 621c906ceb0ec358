//! Buffers between phases: a pool outlives the device that used it, and the next one finds its memory present.

use crate::DeviceError;
use crate::device::BUFFERS;
use std::sync::{Mutex, PoisonError};
use sys::{BufferPool, PoolOptions};

/// Buffer pools that no device uses at the moment.
#[derive(Debug, Default)]
pub(crate) struct BufferCache(Mutex<Vec<BufferPool>>);

impl BufferCache {
    /// A pool as asked for: one that waits here, else a new one. Before a new one is made, what waits is given back to the
    /// system, so that a run never holds more than its largest phase.
    ///
    /// # Errors
    /// If the memory cannot be had.
    pub fn take(&self, count: u32, bytes: usize, options: PoolOptions) -> Result<BufferPool, DeviceError> {
        let fits = |p: &BufferPool| p.count() == count && p.buffer_bytes() == bytes.max(1) && p.options() == options;
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = pools.iter().position(fits) {
            return Ok(pools.swap_remove(at));
        }
        pools.clear();
        BufferPool::with(count, bytes, options).map_err(DeviceError::of(BUFFERS))
    }

    /// Keeps a pool for later.
    pub fn put(&self, pool: Option<BufferPool>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(pool);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_used_again_and_else_given_back() {
        let buffer_cache = BufferCache::default();
        let mut pool = buffer_cache.take(2, 4096, PoolOptions::default()).unwrap();
        pool.buffer_mut(0).fill(9);
        buffer_cache.put(Some(pool));
        let again = buffer_cache.take(2, 4096, PoolOptions::default()).unwrap();
        assert!(again.buffer(0).iter().all(|b| *b == 9));
        buffer_cache.put(Some(again));
        let other = buffer_cache.take(2, 8192, PoolOptions::default()).unwrap();
        assert!(other.buffer(0).iter().all(|b| *b != 9));
        assert!(buffer_cache.0.lock().unwrap().is_empty());
    }
}
