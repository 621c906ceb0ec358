//! Safe wrappers over what needs `unsafe`, and over the system calls that a measurement rests on.
//!
//! Invariants:
//! - Every `unsafe` block of the program is here or in `iomem`, each with its `SAFETY` line.
//! - Absent kernel features are told apart from failures: a typed answer, never a guess.
//! - No assumption about the width of `usize`, `off_t` or `time_t`: 32-bit ARM is a first-class target.
//!
//! Deliberately absent: policy. What to open, whether to write and what a fact means is decided by the callers.

mod area;
mod auxv;
mod bcachefs;
mod block;
mod block_requests;
mod btrfs;
mod bus_fault;
mod cachestat;
mod child;
mod clock;
mod control_group;
mod discard;
mod dm_status;
mod entry;
pub mod errno;
mod event_fd;
mod fiemap;
mod file;
mod flagged_io;
mod handle;
mod inode;
mod io;
mod kmsg;
mod lock;
mod loop_status;
mod mapping;
mod node;
mod numa;
mod nvme_admin;
mod pages;
mod pausable;
mod pool;
mod ptrace;
mod random;
mod registers;
mod replay;
mod ring;
mod ring_error;
mod ring_gather;
mod ring_op;
mod ring_options;
mod ring_parts;
mod ring_queues;
mod ring_setup;
mod shared_memory;
mod signal_mask;
mod smart;
mod sole_opening;
mod space;
mod statx;
mod temporary;
mod thread;
mod timex;
mod video;

pub use area::{MemoryArea, MemoryPiece};
pub use auxv::is_auxv_readable;
pub use bcachefs::{BcachefsScrub, BcachefsScrubbed, bcachefs_devices};
pub use block::{
    device_read_only, device_size, flush_device_cache, logical_block_size, max_request_bytes, physical_block_size,
};
pub use block_requests::{BlockRequests, SectorRange, TracedRequest, traced_request};
pub use btrfs::{BtrfsScrub, btrfs_data_redundant, btrfs_last_device, btrfs_scrub, btrfs_scrub_cancel};
pub use bus_fault::ignore_file_size_signal;
pub use cachestat::{CachedPages, page_size, resident_pages};
pub use child::{effective_ids, end_with_parent, kill_group};
pub use clock::{Epoch, monotonic_ns};
pub use control_group::{GroupValue, GroupVersion, group_members, group_version, io_cost_is_on};
pub use discard::{discard, write_zeroes};
pub use dm_status::{DmTarget, dm_table, dm_table_status};
pub use entry::{
    create_file, create_own_file, each_entry, free_inodes, link_entry, list_names, make_directory, open_entry,
    open_own_directory, open_own_file, read_entry, remove_directory, remove_file, rename_entry, stat_entry,
    symlink_entry, sync_file_system, sync_names, write_entry,
};
pub use errno::{errno_name, error_name, permission_remedy};
pub use event_fd::EventFd;
pub use fiemap::{Extent, WrittenRange, extents, written};
pub use file::{
    OpenMode, allocate, drop_cached, expect_random, is_direct, is_writable, next_data, next_hole, open_directory,
    open_existing, reopen, reserve, reserve_behind, reserve_durably, set_direct, set_length, set_noatime,
};
pub use flagged_io::{CallFlags, Durable, read_at_with, reopen_durable, write_at_with};
pub use handle::{
    DescriptorName, SymlinkPolicy, device_number, name_of, open_directory_of, open_handle, open_named, open_through,
    sync_through_reconnect,
};
pub use inode::{InodeFlags, inode_flags};
pub use io::{read_at, sync_all, sync_data, write_at};
pub use kmsg::{KernelLog, KernelLogError, KernelMessage};
pub use lock::{Locked, RecordLock, lock_exclusively, lock_shared};
pub use loop_status::{LoopStatus, loop_status};
pub use mapping::Mapping;
pub use node::{Node, node_at};
pub use numa::{MemoryPolicy, numa_cpus, numa_nodes, set_memory_policy};
pub use nvme_admin::{
    NVME_EBS_BYTES, NVME_IDENTIFY_BYTES, NVME_SMART_BYTES, NVME_SUPPORTED_LOGS_BYTES, nvme_ebs_log,
    nvme_identify_controller, nvme_ocp_log, nvme_smart_log, nvme_supported_logs,
};
pub use pages::Pages;
pub use pausable::{Pausable, ancestors};
pub use pool::{BufferPool, PoolOptions};
pub use ptrace::{CALLS_SUPPORTED, TraceEvent, Tracer, call_name, traced_memory};
pub use random::random_u64;
pub use registers::{read_physical_u32, write_physical_u32};
pub use replay::{OpenAs, open_as, set_mode, set_owner, set_times, sync_range};
pub use ring::Ring;
pub use ring_error::{PushError, RingError};
pub use ring_gather::WritePart;
pub use ring_op::{RingCompletion, RingOp};
pub use ring_options::RingOptions;
pub use shared_memory::SharedMemory;
pub use signal_mask::SignalMaskGuard;
pub use smart::{ATA_BLOCK_BYTES, ata_identify, ata_sleeps, ata_smart_data, ata_smart_healthy};
pub use sole_opening::{LockHolder, SoleOpening, record_lock, sole_device_opening, sole_opening};
pub use space::{Space, file_size_limit, space_of};
pub use statx::{DirectAlignment, FileFacts, file_facts};
pub use temporary::{KeptName, TemporaryKind, create_temporary};
pub use thread::{
    MinTimerSlack, ThreadUsage, affinity, children_usage, io_priority, nice, process_usage, raise_memlock,
    set_affinity, set_io_priority, set_nice, thread_usage,
};
pub use timex::clock_synchronised;
pub use video::{JPEG_FORMATS, VideoCamera, VideoFormat, VideoPicture, VideoSettings};
