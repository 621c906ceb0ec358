//! A process that is not allowed huge pages. A program of its own, since the prohibition concerns the whole process.

use rustix::thread::{disable_transparent_huge_pages, transparent_huge_pages_are_disabled};
use sys::{BufferPool, Pages, PoolOptions};

#[test]
fn buffers_lie_in_ordinary_pages_and_say_why() {
    if let Err(error) = disable_transparent_huge_pages(true) {
        println!("SKIPPED: prctl PR_SET_THP_DISABLE: {error}");
        return;
    }
    assert!(transparent_huge_pages_are_disabled().unwrap());
    for pages in [Pages::Huge, Pages::Reserved { bytes: Some(1 << 40) }] {
        let mut pool = BufferPool::with(4, 1 << 20, PoolOptions { pages, alignment_bytes: 0 }).unwrap();
        (0..4).for_each(|i| pool.buffer_mut(i).fill(1));
        assert_eq!(pool.huge_bytes(), 0);
        let why = pool.missing().unwrap();
        let known = ["forbidden to this process", "enabled says never", "the kernel has no transparent huge pages"];
        assert!(known.iter().any(|k| why.contains(k)), "{why}");
    }
}
