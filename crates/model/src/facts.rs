//! The names of all facts: the contract between the observer, simulated stacks, the diagnosis and the report.
//!
//! One table, [`ALL`]: each row is also a constant. A fact is set on the layer named in the row's group. Where a layer
//! could have a fact and the machine does not tell, the fact is there with [`crate::Fact::Null`].
//!
//! Conventions: units come last (`_kb` is KiB as in the kernel's file of that name; `_bytes`, `_us`, `_ms`, `_hz`,
//! `_mbit_s`, `_gt_s`, `_bytes_per_s`); yes or no is `Bool`; what the kernel prints as text stays text. Facts marked
//! *live* are counters or states of the moment of the inventory.

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactName {
    /// The key in `Layer::facts`.
    pub name: &'static str,
    /// Which layers carry it.
    pub layers: &'static str,
    /// Type and unit: `bool`, `int, KiB`, `text`, `list`.
    pub unit: &'static str,
    /// Kernel file or specification that it comes from.
    pub source: &'static str,
    /// What it says.
    pub meaning: &'static str,
}

macro_rules! fact_names {
    ($( [$layers:literal] $( $constant:ident = $name:literal, $unit:literal, $source:literal, $meaning:literal; )+ )+) => {
        $($(
            #[doc = concat!($meaning, " Layers: ", $layers, ". Unit: ", $unit, ". Source: `", $source, "`.")]
            pub const $constant: &str = $name;
        )+)+

        /// Every fact that the observer can set.
        pub const ALL: &[FactName] = &[
            $($( FactName { name: $name, layers: $layers, unit: $unit, source: $source, meaning: $meaning }, )+)+
        ];
    };
}

fact_names! {
    ["every layer but host"]
    BRANCH_DEPTH = "branch_depth", "int", "position in the tree", "In JSON alone: how deep in the tree of layers, 0 at the top; a layer's parent is the nearest earlier layer with a smaller depth.";

    ["every layer with a ceiling"]
    REALISTIC_BYTES_PER_S = "realistic_bytes_per_s", "int, bytes/s", "published measurements", "What such a link carries in practice; the ceiling is the line rate.";

    ["every layer, where something sets it"]
    SET_BY = "set_by", "list", "udev rules, sysctl.d, tuned, modprobe.d, the kernel's command line", "Who sets what on this layer, where it can be told: `scheduler=bfq: /etc/udev/rules.d/60-io.rules:3`.";

    ["filesystem"]
    FSTYPE = "fstype", "text", "/proc/self/mountinfo", "File system type.";
    MOUNT_POINT = "mount_point", "text", "/proc/self/mountinfo", "Where it is mounted.";
    MOUNT_SOURCE = "mount_source", "text", "/proc/self/mountinfo", "What is mounted.";
    MOUNT_ROOT = "mount_root", "text", "/proc/self/mountinfo", "Which directory of the file system is mounted; not `/` for bind mounts and subvolumes.";
    MOUNT_OPTIONS = "mount_options", "list", "/proc/self/mountinfo", "Options per mount and per superblock, without repeats.";
    READ_ONLY = "read_only", "bool", "/proc/self/mountinfo; /sys/block/*/ro", "Writes are refused (file system, or block device).";
    BACKING = "backing", "text", "file system type", "What carries the file system: `block`, `memory`, `network`, `fuse`, `overlay`, `zfs-pool`, `mtd`, `host-directory`, `unknown`.";
    BLOCK_SIZE_BYTES = "block_size_bytes", "int, bytes", "stat st_blksize, given by the caller", "Preferred I/O size of the file system.";
    CHECKSUMS = "checksums", "bool", "file system type and options (btrfs nodatasum, nodatacow)", "Data are checksummed: O_DIRECT may fall back to the page cache.";
    COPY_ON_WRITE = "copy_on_write", "bool", "file system type and options", "Overwrites go to new places.";
    COMPRESSION = "compression", "text", "mount options (compress=, compress-force=, compress_algorithm=)", "Transparent compression algorithm, `none` where it is off.";
    SYNC_MOUNT = "sync_mount", "bool", "mount options (sync)", "Every write is synchronous.";
    BARRIERS = "barriers", "bool", "mount options (nobarrier, barrier=0)", "Flushes are sent to the device.";
    JOURNAL_MODE = "journal_mode", "text", "mount options (data=)", "ext4 journal mode: `ordered` unless the options say otherwise; ext4 and ext3 only.";
    COMMIT_INTERVAL_S = "commit_interval_s", "int, s", "mount options (commit=)", "Seconds between forced commits, where the options name it.";
    ONLINE_DISCARD = "online_discard", "bool", "mount options (discard)", "Freed blocks are discarded at once.";
    LAZY_INIT_RUNNING = "lazy_init_running", "bool", "/proc/*/comm = ext4lazyinit", "The kernel is still initialising inode tables of a fresh ext4 (live).";
    BDI = "bdi", "text", "/proc/self/mountinfo; /sys/class/bdi", "Backing device info of a file system that has no block device: `0:40`, `cifs-1`.";
    BDI_READ_AHEAD_KB = "bdi_read_ahead_kb", "int, KiB", "/sys/class/bdi/*/read_ahead_kb", "Read-ahead window of a file system that has no block device (NFS, SMB, FUSE, ceph, 9p, ZFS).";
    NFS_VERSION = "nfs_version", "text", "mount options (vers=)", "Version of the protocol.";
    NFS_TRANSPORT = "nfs_transport", "text", "mount options (proto=)", "`tcp`, `rdma`, `udp`, with 6 for IPv6.";
    NFS_CONNECTIONS = "nfs_connections", "int", "mount options (nconnect=)", "Connections to the server; 1 where the options name none.";
    NFS_READ_BYTES = "nfs_read_bytes", "int, bytes", "mount options (rsize=)", "Most that one READ asks for: what was asked for, or what the server offers where that is less.";
    NFS_WRITE_BYTES = "nfs_write_bytes", "int, bytes", "mount options (wsize=)", "Most that one WRITE carries.";
    NFS_SLOTS = "nfs_slots", "int", "/sys/module/nfs/parameters/max_session_slots (4.1 and later), /proc/sys/sunrpc/tcp_max_slot_table_entries", "Calls in flight that the client allows itself; the server may grant fewer.";
    ATTRIBUTES_CACHED = "attributes_cached", "bool", "mount options (noac, actimeo=0, acregmax=0)", "Attributes of files are kept for a while instead of being asked for each time (NFS, SMB).";
    SOFT_MOUNT = "soft_mount", "bool", "mount options (soft, softerr)", "Calls that are not answered end with EIO or ETIMEDOUT instead of waiting: a write may be lost.";
    SMB_VERSION = "smb_version", "text", "mount options (vers=)", "Version of the protocol (SMB).";
    SMB_CACHE = "smb_cache", "text", "mount options (cache=)", "How the client caches file data: `strict` as leases allow, `loose` beyond that, `none`.";
    SMB_READ_BYTES = "smb_read_bytes", "int, bytes", "mount options (rsize=)", "Most that one READ of SMB asks for.";
    SMB_WRITE_BYTES = "smb_write_bytes", "int, bytes", "mount options (wsize=)", "Most that one WRITE of SMB carries.";
    SMB_SIGNED = "smb_signed", "bool", "/proc/fs/cifs/DebugData; mount options (sign, sec=...i)", "Each message of the session is signed.";
    SMB_ENCRYPTED = "smb_encrypted", "bool", "/proc/fs/cifs/DebugData; mount options (seal)", "Each message of the session is encrypted.";
    SMB_CHANNELS = "smb_channels", "int", "/proc/fs/cifs/DebugData (Extra Channels)", "Connections of the session.";
    SMB_INTERFACES = "smb_interfaces", "int", "/proc/fs/cifs/DebugData (Server interfaces)", "Interfaces that the server offers.";
    SMB_INTERFACE_SCALES = "smb_interface_scales", "bool", "/proc/fs/cifs/DebugData (Capabilities: rss)", "An interface of the server can be used by several connections.";
    ARC_SIZE_BYTES = "arc_size_bytes", "int, bytes", "/proc/spl/kstat/zfs/arcstats size", "What the cache of ZFS holds, of all pools (live).";
    ARC_LIMIT_BYTES = "arc_limit_bytes", "int, bytes", "/proc/spl/kstat/zfs/arcstats c_max", "What it may hold.";
    CEPH_READ_AHEAD_BYTES = "ceph_read_ahead_bytes", "int, bytes", "mount options (rasize=)", "Most that the ceph client reads ahead; 8 MiB where the options name none.";
    P9_MESSAGE_BYTES = "p9_message_bytes", "int, bytes", "mount options (msize=)", "Largest message of 9p: each read and write is cut into such.";
    P9_CACHE = "p9_cache", "text", "mount options (cache=)", "How 9p caches file data; `none` where the options name none.";
    P9_TRANSPORT = "p9_transport", "text", "mount options (trans=)", "What carries 9p: `virtio`, `tcp`, `fd`, ...";
    FUSE_MAX_READ_BYTES = "fuse_max_read_bytes", "int, bytes", "mount options (max_read=)", "Largest read that is passed to the process of a FUSE file system.";
    FUSE_MAX_BACKGROUND = "fuse_max_background", "int", "/sys/fs/fuse/connections/*/max_background", "Requests that FUSE passes to the process without waiting, read-ahead among them.";
    MOUNTED_WITH_DAX = "mounted_with_dax", "text", "mount options (dax)", "File data are mapped from the host or the memory without the page cache: `always`, `inode`, `never`.";
    LOWER_DIRECTORIES = "lower_directories", "list", "mount options (lowerdir=)", "Lower directories of an overlay; reads of unmodified files go there.";
    UPPER_DIRECTORY = "upper_directory", "text", "mount options (upperdir=)", "Upper directory of an overlay; writes go there.";
    FILESYSTEM_ERRORS = "filesystem_errors", "int", "/sys/fs/ext4/*/errors_count", "Errors that the file system has recorded (live); only where health is asked for.";
    WRITE_ERRORS = "write_errors", "int", "/sys/fs/btrfs/*/devinfo/*/error_stats, /sys/fs/bcachefs/*/dev-*/io_errors", "Writes of its devices that failed, as `btrfs device stats` has them (live); only where health is asked for.";
    READ_ERRORS = "read_errors", "int", "/sys/fs/btrfs/*/devinfo/*/error_stats, /sys/fs/bcachefs/*/dev-*/io_errors", "Reads of its devices that failed.";
    FLUSH_ERRORS = "flush_errors", "int", "/sys/fs/btrfs/*/devinfo/*/error_stats", "Flushes of its devices that failed.";
    CORRUPTION_ERRORS = "corruption_errors", "int", "/sys/fs/btrfs/*/devinfo/*/error_stats, /sys/fs/bcachefs/*/dev-*/io_errors", "Blocks whose checksum was wrong.";
    GENERATION_ERRORS = "generation_errors", "int", "/sys/fs/btrfs/*/devinfo/*/error_stats", "Blocks of metadata that were older than they must be.";
    FILESYSTEM_DEVICES = "filesystem_devices", "list", "/sys/fs/btrfs/*/devices", "All devices of a file system that spans several.";

    ["loop"]
    BACKING_FILE = "backing_file", "text", "/sys/block/loop*/loop/backing_file", "The file behind the loop device.";
    BACKING_FILE_DELETED = "backing_file_deleted", "bool", "/sys/block/loop*/loop/backing_file", "The backing file was unlinked, so the path below it is not known.";
    DIO = "dio", "bool", "/sys/block/loop*/loop/dio", "The loop device reads and writes its file with direct I/O; if not, data are cached twice.";
    LOOP_OFFSET_BYTES = "loop_offset_bytes", "int, bytes", "/sys/block/loop*/loop/offset", "Where in the file the device begins.";
    LOOP_SIZE_LIMIT_BYTES = "loop_size_limit_bytes", "int, bytes", "/sys/block/loop*/loop/sizelimit", "How much of the file the device shows; 0 all.";

    ["dm"]
    DM_NAME = "dm_name", "text", "/sys/block/dm-*/dm/name", "Name of the mapping.";
    DM_TYPE = "dm_type", "text", "/sys/block/dm-*/dm/uuid (prefix)", "`lvm`, `crypt-luks1`, `crypt-luks2`, `crypt-plain`, `multipath`, `raid`, `partition`, `verity`, `integrity`, or `unknown`.";
    DM_UUID = "dm_uuid", "text", "/sys/block/dm-*/dm/uuid", "UUID of the mapping as its owner set it.";
    MEMBERS = "members", "list", "/sys/block/*/slaves", "Kernel names of the devices below (dm, md).";
    INTEGRITY_MISMATCHES = "integrity_mismatches", "int", "DM_TABLE_STATUS of dm-integrity, first number", "Sectors whose tag did not fit, since the mapping was made.";
    DM_SUSPENDED = "dm_suspended", "bool", "/sys/block/dm-*/dm/suspended", "I/O is held back (live).";

    ["md"]
    MD_LEVEL = "md_level", "text", "/sys/block/md*/md/level", "`raid0`, `raid1`, `raid5`, ...";
    RAID_DISKS = "raid_disks", "int", "/sys/block/md*/md/raid_disks", "Members when complete.";
    DEGRADED = "degraded", "int", "/sys/block/md*/md/degraded", "Members missing.";
    CHUNK_SIZE_BYTES = "chunk_size_bytes", "int, bytes", "/sys/block/md*/md/chunk_size", "Stripe unit.";
    MD_STATE = "md_state", "text", "/sys/block/md*/md/array_state", "State of the array.";
    SYNC_ACTION = "sync_action", "text", "/sys/block/md*/md/sync_action", "`idle`, `resync`, `recover`, `check`, ... (live).";
    STRIPE_CACHE_SIZE = "stripe_cache_size", "int, pages per member", "/sys/block/md*/md/stripe_cache_size", "RAID 4/5/6 stripe cache.";
    MD_CONSISTENCY_POLICY = "md_consistency_policy", "text", "/sys/block/md*/md/consistency_policy", "`resync`, `bitmap`, `journal`, `ppl`, `none`.";
    MD_BITMAP = "md_bitmap", "text", "/sys/block/md*/md/bitmap/location", "Where the write-intent bitmap is: `none`, `+8`, `file`.";
    MD_LAYOUT = "md_layout", "int", "/sys/block/md*/md/layout", "Layout number of RAID 5, 6 and 10.";
    MD_GROUP_THREADS = "md_group_threads", "int", "/sys/block/md*/md/group_thread_cnt", "Threads that work on stripes besides one; 0 none.";
    MD_SYNC_COMPLETED = "md_sync_completed", "text", "/sys/block/md*/md/sync_completed", "Sectors done of all, while a resync runs (live).";
    MD_MISMATCHES = "md_mismatches", "int, sectors", "/sys/block/md*/md/mismatch_cnt", "Sectors that differed in the last check.";

    ["zram"]
    COMP_ALGORITHM = "comp_algorithm", "text", "/sys/block/zram*/comp_algorithm (bracketed)", "Compression in use.";
    ORIGINAL_DATA_BYTES = "original_data_bytes", "int, bytes", "/sys/block/zram*/mm_stat field 1", "Uncompressed size of what is stored (live).";
    COMPRESSED_DATA_BYTES = "compressed_data_bytes", "int, bytes", "/sys/block/zram*/mm_stat field 2", "Compressed size (live).";
    MEMORY_USED_BYTES = "memory_used_bytes", "int, bytes", "/sys/block/zram*/mm_stat field 3", "Memory in use (live).";
    MEMORY_LIMIT_BYTES = "memory_limit_bytes", "int, bytes", "/sys/block/zram*/mm_stat field 4", "Most memory that it may use; 0 no limit.";
    ZRAM_BACKING_DEVICE = "zram_backing_device", "text", "/sys/block/zram*/backing_dev", "Where pages are written back to; `none`.";

    ["partition"]
    START_BYTES = "start_bytes", "int, bytes", "/sys/class/block/*/start x 512", "Where the partition begins.";
    PARTITION_NUMBER = "partition_number", "int", "/sys/class/block/*/partition", "Its number.";
    ALIGNMENT_OFFSET_BYTES = "alignment_offset_bytes", "int, bytes", "/sys/class/block/*/alignment_offset", "Bytes from the start to the next natural boundary of the device; not 0 means misaligned; -1 unknown to the kernel.";
    ALIGNED = "aligned", "bool", "start, queue/physical_block_size of the disk", "The start is a multiple of 4 KiB and of the physical block; whether it is one of the flash allocation unit as well, `start_bytes` tells.";

    ["disk, and every layer with a request queue"]
    SIZE_BYTES = "size_bytes", "int, bytes", "/sys/class/block/*/size x 512", "Size of the device (partitions as well).";
    CGROUP_READ_BYTES_PER_S = "cgroup_read_bytes_per_s", "int, bytes/s", "io.max rbps; blkio.throttle.read_bps_device", "Most that this process's control groups let it read; absent without limit.";
    CGROUP_WRITE_BYTES_PER_S = "cgroup_write_bytes_per_s", "int, bytes/s", "io.max wbps; blkio.throttle.write_bps_device", "Most that they let it write; absent without limit.";
    CGROUP_READ_IOPS = "cgroup_read_iops", "int, operations/s", "io.max riops; blkio.throttle.read_iops_device", "Most read requests that they let pass; absent without limit.";
    CGROUP_WRITE_IOPS = "cgroup_write_iops", "int, operations/s", "io.max wiops; blkio.throttle.write_iops_device", "Most write requests that they let pass; absent without limit.";
    CLOUD_VOLUME = "cloud_volume", "text", "model of the disk; DMI", "What it is in its cloud: `ebs`, `ec2-instance-store`, `google-persistent-disk`, `google-local-ssd`, `azure-disk`, `azure-local-disk`.";
    CLOUD_INSTANCE = "cloud_instance", "text", "/sys/class/dmi/id/product_name", "Type of the EC2 instance, of disks that are EBS volumes.";
    PUBLISHED_OF = "published_of", "text", "tables of what clouds publish", "What the published limits are of; they hold only if it is that.";
    PUBLISHED_BYTES_PER_S = "published_bytes_per_s", "int, bytes/s", "tables of what clouds publish", "Rate that lasts.";
    PUBLISHED_IOPS = "published_iops", "int, operations/s", "tables of what clouds publish", "Operations that last, of 16 KiB or less.";
    PUBLISHED_BURST_BYTES_PER_S = "published_burst_bytes_per_s", "int, bytes/s", "tables of what clouds publish", "Rate of a burst, which ends; that which lasts where there is none.";
    PUBLISHED_BURST_IOPS = "published_burst_iops", "int, operations/s", "tables of what clouds publish", "Operations of a burst, which ends.";
    PUBLISHED_SOURCE = "published_source", "text", "tables of what clouds publish", "Where the limits were read, and when.";
    SCHEDULER = "scheduler", "text", "queue/scheduler (bracketed)", "I/O scheduler in use: `none`, `mq-deadline`, `bfq`, `kyber`, or older ones.";
    SCHEDULERS_AVAILABLE = "schedulers_available", "list", "queue/scheduler", "Schedulers that could be chosen.";
    NR_REQUESTS = "nr_requests", "int", "queue/nr_requests", "Requests that the queue holds.";
    READ_AHEAD_KB = "read_ahead_kb", "int, KiB", "queue/read_ahead_kb", "Read-ahead window.";
    MAX_SECTORS_KB = "max_sectors_kb", "int, KiB", "queue/max_sectors_kb", "Largest request sent, as set.";
    MAX_HW_SECTORS_KB = "max_hw_sectors_kb", "int, KiB", "queue/max_hw_sectors_kb", "Largest request that the hardware takes.";
    MAX_SEGMENTS = "max_segments", "int", "queue/max_segments", "Scatter-gather entries per request.";
    MAX_SEGMENT_SIZE_BYTES = "max_segment_size_bytes", "int, bytes", "queue/max_segment_size", "Largest scatter-gather entry.";
    VIRT_BOUNDARY_MASK = "virt_boundary_mask", "int", "queue/virt_boundary_mask", "Boundary that segments must keep (NVMe PRP).";
    NOMERGES = "nomerges", "int", "queue/nomerges", "0 merges, 1 simple merges only, 2 none.";
    RQ_AFFINITY = "rq_affinity", "int", "queue/rq_affinity", "Where completions run: 0 anywhere, 1 same group, 2 same CPU.";
    IO_POLL = "io_poll", "bool", "queue/io_poll", "Polled completions are possible.";
    WBT_LAT_USEC = "wbt_lat_usec", "int, us", "queue/wbt_lat_usec", "Target latency of writeback throttling; 0 is off.";
    WRITE_CACHE = "write_cache", "text", "queue/write_cache", "`write back` or `write through`, in the kernel's view.";
    FUA = "fua", "bool", "queue/fua", "Forced unit access is used.";
    LOGICAL_BLOCK_SIZE_BYTES = "logical_block_size_bytes", "int, bytes", "queue/logical_block_size", "Smallest addressable unit.";
    PHYSICAL_BLOCK_SIZE_BYTES = "physical_block_size_bytes", "int, bytes", "queue/physical_block_size", "Unit written without read-modify-write.";
    MINIMUM_IO_SIZE_BYTES = "minimum_io_size_bytes", "int, bytes", "queue/minimum_io_size", "Preferred minimum (stripe unit).";
    OPTIMAL_IO_SIZE_BYTES = "optimal_io_size_bytes", "int, bytes", "queue/optimal_io_size", "Preferred size (full stripe); 0 not told.";
    DISCARD_GRANULARITY_BYTES = "discard_granularity_bytes", "int, bytes", "queue/discard_granularity", "Unit of discard; 0 without discard.";
    DMA_ALIGNMENT_BYTES = "dma_alignment_bytes", "int, bytes", "queue/dma_alignment + 1", "Alignment of buffers for direct I/O.";
    CHUNK_SECTORS = "chunk_sectors", "int, 512 bytes", "queue/chunk_sectors", "Boundary that requests are split at (RAID stripe, zone); 0 none.";
    MAX_DISCARD_BYTES = "max_discard_bytes", "int, bytes", "queue/discard_max_bytes", "Largest discard, as set; 0 without discard.";
    MAX_HW_DISCARD_BYTES = "max_hw_discard_bytes", "int, bytes", "queue/discard_max_hw_bytes", "Largest discard that the device takes.";
    WRITE_ZEROES_MAX_BYTES = "write_zeroes_max_bytes", "int, bytes", "queue/write_zeroes_max_bytes", "Largest write of zeros without data; 0 without.";
    MAX_DISCARD_SEGMENTS = "max_discard_segments", "int", "queue/max_discard_segments", "Ranges per discard.";
    ATOMIC_WRITE_MAX_BYTES = "atomic_write_max_bytes", "int, bytes", "queue/atomic_write_max_bytes", "Largest write that is never torn; 0 not told.";
    STABLE_WRITES = "stable_writes", "bool", "queue/stable_writes", "Pages may not change while they are written: writers wait.";
    DAX = "dax", "bool", "queue/dax", "Direct access by the processor.";
    IO_STATISTICS = "io_statistics", "bool", "queue/iostats", "Traffic is counted.";
    IO_TIMEOUT_MS = "io_timeout_ms", "int, ms", "queue/io_timeout", "After this the kernel gives a request up.";
    QUEUE_ALIGNMENT_OFFSET_BYTES = "queue_alignment_offset_bytes", "int, bytes", "/sys/block/*/alignment_offset", "Where the first physical block begins; not 0 shifts every partition.";
    SCHEDULER_SETTINGS = "scheduler_settings", "list", "queue/iosched/*", "Settings of the scheduler in use: `read_expire=500`.";
    ROTATIONAL = "rotational", "bool", "queue/rotational", "Kernel holds it to be a spinning disk.";
    ZONED = "zoned", "text", "queue/zoned", "`none`, `host-aware`, `host-managed`.";
    HARDWARE_QUEUES = "hardware_queues", "int", "/sys/block/*/mq (entries)", "Hardware queues of blk-mq.";
    QUEUE_CPUS = "queue_cpus", "list", "/sys/block/*/mq/*/cpu_list", "CPUs of each hardware queue, in queue order.";
    QUEUE_TAGS = "queue_tags", "int", "/sys/block/*/mq/0/nr_tags", "Tags of the first hardware queue: the most that it holds in flight.";
    IN_FLIGHT_READS = "in_flight_reads", "int", "/sys/block/*/inflight", "Reads in flight (live).";
    IN_FLIGHT_WRITES = "in_flight_writes", "int", "/sys/block/*/inflight", "Writes in flight (live).";

    ["disk"]
    TRANSPORT = "transport", "text", "place in /sys/devices", "`sata`, `ide`, `nvme`, `mmc`, `usb`, `virtio`, `scsi`, `mtd`, `xen`, `network`, `virtual`, `unknown`.";
    EMULATED = "emulated", "bool", "model, PCI vendor, driver", "A hypervisor invents the device: its link has no ceiling, its queue attributes describe the fiction.";
    MODEL = "model", "text", "device/model; mmc device/name", "Model name.";
    VENDOR = "vendor", "text", "device/vendor", "SCSI vendor; `ATA` for SATA.";
    FIRMWARE_REVISION = "firmware_revision", "text", "device/rev, firmware_rev, fwrev", "Firmware revision.";
    SERIAL = "serial", "text", "device/serial, /sys/block/*/serial, device/vpd_pg80, device/wwid", "Serial number.";
    REMOVABLE = "removable", "bool", "/sys/block/*/removable", "Removable medium.";
    QUEUE_DEPTH = "queue_depth", "int", "device/queue_depth; 1 for usb-storage; mq tags for others", "Commands that the device is given at once.";

    ["disk (sata, ide)"]
    NCQ = "ncq", "bool", "device/queue_depth, ahci_host_caps bit 30", "Native command queueing in use (queue depth above 1).";
    NCQ_HOST = "ncq_host", "bool", "scsi_host/*/ahci_host_caps bit 30", "Host can queue (also on controller).";
    ATA_DMA_MODE = "ata_dma_mode", "text", "ata_device/*/dma_mode; xfer_mode where the device has none", "`XFER_UDMA_6`, ...; `XFER_PIO_4` and the like of a device in PIO.";
    ATA_SPEED_DOWNSHIFTS = "ata_speed_downshifts", "int", "ata_device/*/spdn_cnt", "How often libata lowered the speed.";
    ATA_TRIM = "ata_trim", "text", "ata_device/*/trim", "`queued`, `unqueued`, `unsupported`, `forced_unqueued`.";
    ATA_ERRORS = "ata_errors", "list", "ata_device/*/ering", "Recorded errors of the device; entries of `Unknown` alone are left out, they count probes.";
    ATA_NCQ_DEPTH = "ata_ncq_depth", "int", "IDENTIFY DEVICE words 75, 76 (ata_device/*/id)", "Commands that the disk queues; 1 without NCQ.";
    ATA_ROTATION_RPM = "ata_rotation_rpm", "int, 1/min", "IDENTIFY DEVICE word 217", "Revolutions per minute; 0 is not a rotating medium.";
    ATA_SATA_GENERATION = "ata_sata_generation", "int", "IDENTIFY DEVICE word 76", "Fastest SATA generation of the disk: 1, 2, 3.";
    ATA_WRITE_CACHE_ENABLED = "ata_write_cache_enabled", "bool", "IDENTIFY DEVICE word 85 bit 5", "The disk's own write cache is on.";
    ATA_READ_LOOK_AHEAD = "ata_read_look_ahead", "bool", "IDENTIFY DEVICE word 85 bit 6", "The disk reads ahead by itself.";
    ATA_APM_LEVEL = "ata_apm_level", "int", "IDENTIFY DEVICE word 91", "Advanced power management level, 1 to 254; null where it is off.";
    ATA_FORM_FACTOR = "ata_form_factor", "text", "IDENTIFY DEVICE word 168", "`3.5 inch`, `2.5 inch`, `M.2`, ...";

    ["disk (sata, ide, nvme): health"]
    HEALTH_OK = "health_ok", "bool", "SMART RETURN STATUS; NVMe critical warning", "The disk holds itself to be well.";
    HEALTH_WARNINGS = "health_warnings", "list", "NVMe SMART log byte 0", "What it warns of: `spare`, `temperature`, `reliability`, `read-only`, `backup`, `memory-region`.";
    TEMPERATURE_C = "temperature_c", "int, C", "SMART attribute 194 or 190; NVMe SMART log bytes 2:1", "Temperature (live).";
    POWER_ON_HOURS = "power_on_hours", "int, h", "SMART attribute 9; NVMe SMART log", "Hours of operation.";
    WEAR_PERCENT = "wear_percent", "int, %", "NVMe percentage used; SMART 231, 177, 233, 202 (100 less the normalised value)", "Part of its life that is used; can pass 100.";
    SPARE_PERCENT = "spare_percent", "int, %", "NVMe SMART log byte 3", "Spare blocks left.";
    WRITTEN_BYTES = "written_bytes", "int, bytes", "NVMe data units written x 512,000; SMART 241 (LBAs) x 512", "Written by hosts in its life.";
    FLASH_WRITTEN_BYTES = "flash_written_bytes", "int, bytes", "OCP SMART / health log (C0h), bytes 0 to 15", "Written to its flash in its life, its own housekeeping included.";
    MEDIA_ERRORS = "media_errors", "int", "NVMe SMART log; SMART 187", "Errors that the disk could not correct.";
    REALLOCATED_SECTORS = "reallocated_sectors", "int", "SMART attribute 5", "Sectors that were replaced.";
    PENDING_SECTORS = "pending_sectors", "int", "SMART attribute 197", "Sectors that wait to be replaced.";
    INTERFACE_CRC_ERRORS = "interface_crc_errors", "int", "SMART attribute 199", "Transfers that arrived damaged: cable or connector.";
    THROTTLED_MINUTES = "throttled_minutes", "int, min", "NVMe SMART log, warning and critical temperature time", "Time at or above the temperature where it slows down.";

    ["link (sata)"]
    SATA_SPEED = "sata_speed", "text", "ata_link/*/sata_spd", "Negotiated speed as printed: `6.0 Gbps`.";
    SATA_SPEED_GBIT_S = "sata_speed_gbit_s", "float, Gbit/s", "ata_link/*/sata_spd", "Negotiated line rate.";
    SATA_SPEED_LIMIT = "sata_speed_limit", "text", "ata_link/*/sata_spd_limit", "Limit that libata imposed as printed, or `none`.";
    SATA_SPEED_LIMIT_GBIT_S = "sata_speed_limit_gbit_s", "float, Gbit/s", "ata_link/*/sata_spd_limit", "The same as a number; null without limit.";
    SATA_SPEED_MAX_GBIT_S = "sata_speed_max_gbit_s", "float, Gbit/s", "ata_link/*/hw_sata_spd_limit, scsi_host/*/ahci_host_caps bits 23:20", "The most that the port does.";
    PORT_MULTIPLIER = "port_multiplier", "bool", "ata_link name (linkN.M)", "The disk is behind a port multiplier.";
    LINK_POWER_POLICY = "link_power_policy", "text", "scsi_host/*/link_power_management_policy", "SATA link power management.";

    ["controller (ahci)"]
    AHCI_64BIT_DMA = "ahci_64bit_dma", "bool", "scsi_host/*/ahci_host_caps bit 31", "DMA above 4 GiB.";
    AHCI_PORT_MULTIPLIER = "ahci_port_multiplier", "bool", "scsi_host/*/ahci_host_caps bit 17", "Port multipliers are supported.";
    AHCI_FBS = "ahci_fbs", "bool", "scsi_host/*/ahci_host_caps bit 16", "FIS-based switching: disks behind a multiplier do not serialise.";
    AHCI_ALPM = "ahci_alpm", "bool", "scsi_host/*/ahci_host_caps bit 26", "Aggressive link power management is supported.";
    AHCI_STAGGERED_SPINUP = "ahci_staggered_spinup", "bool", "scsi_host/*/ahci_host_caps bit 27", "Staggered spin-up is supported.";
    AHCI_PORT_ALPE = "ahci_port_alpe", "bool", "scsi_host/*/ahci_port_cmd bit 26", "Aggressive link power management is on for the port.";
    AHCI_PORT_ASP = "ahci_port_asp", "bool", "scsi_host/*/ahci_port_cmd bit 27", "It goes to slumber at once, not to partial.";
    AHCI_PORTS = "ahci_ports", "int", "scsi_host/*/ahci_host_caps bits 4:0 + 1", "Ports of the host.";
    AHCI_COMMAND_SLOTS = "ahci_command_slots", "int", "scsi_host/*/ahci_host_caps bits 12:8 + 1", "Command slots of a port.";
    AHCI_GENERATION = "ahci_generation", "int", "scsi_host/*/ahci_host_caps bits 23:20", "Fastest SATA generation of the host: 1, 2, 3.";
    AHCI_VERSION = "ahci_version", "text", "scsi_host/*/ahci_host_version", "AHCI version: `1.3`, `1.3.1`.";
    SUNXI_AHCI_P0DMACR = "sunxi_ahci_p0dmacr", "int, bits", "register AHCI base + 0x170, only with --read-registers", "Allwinner A10, A20, R40: DMA control of port 0; bits 7:0 are 0x33 where the kernel set the transaction sizes. Null unless read.";
    REMAPPED_NVME = "remapped_nvme", "int", "PCI device remapped_nvme", "NVMe devices hidden behind the firmware's RAID mode.";

    ["controller"]
    CONTROLLER_BUS = "controller_bus", "text", "subsystem link", "`pci`, `platform`, `amba`, `virtio`, ...";
    PCI_ADDRESS = "pci_address", "text", "/sys/devices", "Domain:bus:device.function.";
    PCI_VENDOR_ID = "pci_vendor_id", "text, hex", "PCI device vendor", "`0x8086`.";
    PCI_DEVICE_ID = "pci_device_id", "text, hex", "PCI device device", "`0x2922`.";
    PCI_SUBSYSTEM_ID = "pci_subsystem_id", "text, hex", "PCI subsystem_vendor, subsystem_device", "`0x1af4:0x1100`.";
    PCI_CLASS = "pci_class", "text, hex", "PCI device class", "`0x010601`: 0101 IDE, 0106 AHCI, 0108 NVMe, 0104 RAID, 0c03 USB, 0805 SD host.";
    PCI_NAME = "pci_name", "text", "pci.ids by vendor and device", "Vendor and name of the controller.";
    PCI_CLASS_NAME = "pci_class_name", "text", "pci.ids by class", "What kind of controller it is.";
    NUMA_NODE = "numa_node", "int", "PCI device numa_node", "Memory node that it hangs on; null where there is only one.";
    IRQS = "irqs", "list", "/proc/interrupts, /proc/irq/*/effective_affinity_list", "Its interrupts: `62 nvme0q1: CPU 3`.";
    IRQ_CPUS = "irq_cpus", "int", "/proc/irq/*/effective_affinity_list", "On how many processors its interrupts arrive.";
    POWER_CONTROL = "power_control", "text", "power/control", "Run-time power management: `auto` may suspend, `on` may not.";
    AER_CORRECTABLE = "aer_correctable", "int", "aer_dev_correctable TOTAL_ERR_COR", "PCI Express errors that were corrected by sending again.";
    AER_UNCORRECTABLE = "aer_uncorrectable", "int", "aer_dev_nonfatal, aer_dev_fatal", "PCI Express errors that were not.";
    DEVICETREE_COMPATIBLE = "devicetree_compatible", "list", "of_node/compatible", "Compatible strings of a platform controller.";

    ["link (pcie), controller"]
    PCIE_SPEED_GT_S = "pcie_speed_gt_s", "float, GT/s", "current_link_speed, minimum over parent bridges", "Transfer rate per lane of the narrowest link up to the root.";
    PCIE_WIDTH = "pcie_width", "int, lanes", "current_link_width, of the same link", "Lanes of the narrowest link.";
    PCIE_MAX_SPEED_GT_S = "pcie_max_speed_gt_s", "float, GT/s", "max_link_speed of the endpoint", "What the device could do.";
    PCIE_MAX_WIDTH = "pcie_max_width", "int, lanes", "max_link_width of the endpoint", "What the device could do.";
    PCIE_PORT_MAX_SPEED_GT_S = "pcie_port_max_speed_gt_s", "float, GT/s", "max_link_speed of the port above", "What the slot could do.";
    PCIE_PORT_MAX_WIDTH = "pcie_port_max_width", "int, lanes", "max_link_width of the port above", "What the slot could do.";
    PCIE_NARROWEST = "pcie_narrowest", "text", "PCI address", "Which device of the path has the narrowest link.";
    PCIE_NARROWEST_MAX_SPEED_GT_S = "pcie_narrowest_max_speed_gt_s", "float, GT/s", "max_link_speed of both ends of the narrowest link", "What both ends of the narrowest link could do.";
    PCIE_NARROWEST_MAX_WIDTH = "pcie_narrowest_max_width", "int, lanes", "max_link_width of both ends of the narrowest link", "What both ends of the narrowest link could do.";
    PCIE_ASPM_POLICY = "pcie_aspm_policy", "text", "/sys/module/pcie_aspm/parameters/policy (bracketed)", "Active state power management.";
    PCIE_ASPM_L0S = "pcie_aspm_l0s", "bool", "link/l0s_aspm", "The endpoint's link may go to L0s.";
    PCIE_ASPM_L1 = "pcie_aspm_l1", "bool", "link/l1_aspm", "The endpoint's link may go to L1.";
    PCIE_ASPM_L1_SUBSTATES = "pcie_aspm_l1_substates", "bool", "link/l1_1_aspm, l1_2_aspm", "It may go to the substates of L1.";
    PCIE_BRIDGES = "pcie_bridges", "int", "bridges between device and root", "More than one: a switch is in between.";

    ["disk (nvme), controller (nvme)"]
    NVME_CONTROLLER = "nvme_controller", "text", "/sys/class/nvme", "`nvme0`.";
    NVME_TRANSPORT = "nvme_transport", "text", "/sys/class/nvme/*/transport", "`pcie`, `tcp`, `rdma`, `fc`, `loop`.";
    NVME_QUEUE_COUNT = "nvme_queue_count", "int", "/sys/class/nvme/*/queue_count", "Queues, admin queue included.";
    NVME_QUEUE_SIZE = "nvme_queue_size", "int", "/sys/class/nvme/*/sqsize", "Submission queue size, zero based as the specification has it.";
    NVME_HMB = "nvme_hmb", "bool", "/sys/class/nvme/*/hmb", "Host memory buffer in use; null where the device does not ask for one.";
    NVME_CMBSZ = "nvme_cmbsz", "text", "/sys/class/nvme/*/cmb", "Controller memory buffer register.";
    NVME_PS_MAX_LATENCY_US = "nvme_ps_max_latency_us", "int, us", "/sys/module/nvme_core/parameters/default_ps_max_latency_us", "Longest exit latency of a power state that is used.";
    NVME_MAX_HOST_MEM_SIZE_MB = "nvme_max_host_mem_size_mb", "int, MiB", "/sys/module/nvme/parameters/max_host_mem_size_mb", "Limit of the host memory buffer.";
    NVME_POLL_QUEUES = "nvme_poll_queues", "int", "/sys/module/nvme/parameters/poll_queues", "Polled queues.";
    NVME_IO_QUEUE_DEPTH = "nvme_io_queue_depth", "int", "/sys/module/nvme/parameters/io_queue_depth", "Depth asked for.";
    NVME_NAMESPACES = "nvme_namespaces", "list", "/sys/class/nvme/*", "Namespaces of the controller.";
    NVME_NAMESPACE_ID = "nvme_namespace_id", "int", "/sys/block/nvme*/nsid", "Number of this namespace.";
    NVME_STATE = "nvme_state", "text", "/sys/class/nvme/*/state", "`live`, `resetting`, `connecting`, ...";
    NVME_MULTIPATH = "nvme_multipath", "bool", "/sys/module/nvme_core/parameters/multipath", "Paths to one namespace are joined.";
    NVME_POWER_STATES = "nvme_power_states", "int", "IDENTIFY CONTROLLER byte 263 + 1", "Power states of the controller.";
    NVME_APST = "nvme_apst", "bool", "IDENTIFY CONTROLLER byte 265", "It changes power states by itself, if the host lets it.";
    NVME_DEEPEST_EXIT_US = "nvme_deepest_exit_us", "int, us", "IDENTIFY CONTROLLER power state descriptors", "Longest exit latency among the idle states that the latency limit allows; 0 where it allows none.";
    NVME_HMB_PREFERRED_BYTES = "nvme_hmb_preferred_bytes", "int, bytes", "IDENTIFY CONTROLLER bytes 275:272 x 4 KiB", "Host memory that it would like; 0 none.";
    NVME_MAX_TRANSFER_BYTES = "nvme_max_transfer_bytes", "int, bytes", "IDENTIFY CONTROLLER byte 77 x 4 KiB", "Largest command; null without limit.";
    NVME_WRITE_CACHE_PRESENT = "nvme_write_cache_present", "bool", "IDENTIFY CONTROLLER byte 525 bit 0", "It has a volatile write cache.";
    NVME_VERSION = "nvme_version", "text", "IDENTIFY CONTROLLER bytes 83:80", "Specification that it follows.";
    EBS_VOLUME_IOPS_EXCEEDED_US = "ebs_volume_iops_exceeded_us", "int, us", "log page 0xD0 of an EBS volume, bytes 63:56", "Time since it was attached in which more operations were asked for than the volume limit lets pass (live).";
    EBS_VOLUME_IOPS_EXCEEDED_RUN_US = "ebs_volume_iops_exceeded_run_us", "int, us", "the same, at the end of a run less at its begin", "How much of that fell into the run.";
    EBS_VOLUME_BYTES_EXCEEDED_US = "ebs_volume_bytes_exceeded_us", "int, us", "log page 0xD0 of an EBS volume, bytes 71:64", "Time since it was attached in which more bytes were asked for than the volume limit lets pass (live).";
    EBS_VOLUME_BYTES_EXCEEDED_RUN_US = "ebs_volume_bytes_exceeded_run_us", "int, us", "the same, at the end of a run less at its begin", "How much of that fell into the run.";
    EBS_INSTANCE_IOPS_EXCEEDED_US = "ebs_instance_iops_exceeded_us", "int, us", "log page 0xD0 of an EBS volume, bytes 79:72", "Time since it was attached in which more operations were asked for than the machine's own (EC2 instance) limit lets pass (live).";
    EBS_INSTANCE_IOPS_EXCEEDED_RUN_US = "ebs_instance_iops_exceeded_run_us", "int, us", "the same, at the end of a run less at its begin", "How much of that fell into the run.";
    EBS_INSTANCE_BYTES_EXCEEDED_US = "ebs_instance_bytes_exceeded_us", "int, us", "log page 0xD0 of an EBS volume, bytes 87:80", "Time since it was attached in which more bytes were asked for than the machine's own (EC2 instance) limit lets pass (live).";
    EBS_INSTANCE_BYTES_EXCEEDED_RUN_US = "ebs_instance_bytes_exceeded_run_us", "int, us", "the same, at the end of a run less at its begin", "How much of that fell into the run.";

    ["disk (mmc)"]
    MMC_TYPE = "mmc_type", "text", "device/type", "`SD`, `MMC` (eMMC), `SDIO`.";
    MANFID = "manfid", "text, hex", "device/manfid", "Manufacturer.";
    OEMID = "oemid", "text, hex", "device/oemid", "OEM.";
    MANUFACTURED = "manufactured", "text, YYYY-MM", "device/date, else cid", "Month of manufacture.";
    PRODUCT_REVISION = "product_revision", "text", "cid", "Product revision `n.m`.";
    CID = "cid", "text, hex", "device/cid", "Card identification register.";
    CSD = "csd", "text, hex", "device/csd", "Card specific data register.";
    CSD_TRANSFER_MHZ = "csd_transfer_mhz", "float, MHz", "csd TRAN_SPEED", "Highest clock outside the fast modes.";
    CSD_COMMAND_CLASSES = "csd_command_classes", "list", "csd CCC", "Command classes, by number; 10 is switch, 11 extension.";
    CSD_CAPACITY_BYTES = "csd_capacity_bytes", "int, bytes", "csd C_SIZE (SD)", "Capacity that the register tells.";
    CSD_WRITE_PROTECTED = "csd_write_protected", "bool", "csd PERM_WRITE_PROTECT, TMP_WRITE_PROTECT", "The card refuses writes.";
    CSD_COPIED = "csd_copied", "bool", "csd COPY", "The card says that its content is a copy.";
    SPEED_CLASS = "speed_class", "int", "ssr 447:440", "Speed class 0, 2, 4, 6, 10.";
    UHS_GRADE = "uhs_grade", "int", "ssr 399:396", "UHS speed grade 0, 1, 3.";
    VIDEO_CLASS = "video_class", "int", "ssr 391:384", "Video speed class 0, 6, 10, 30, 60, 90.";
    APP_PERFORMANCE_CLASS = "app_performance_class", "int", "ssr 339:336", "Application performance class 0, 1 (A1), 2 (A2).";
    ALLOCATION_UNIT_BYTES = "allocation_unit_bytes", "int, bytes", "ssr 431:428", "Allocation unit.";
    UHS_ALLOCATION_UNIT_BYTES = "uhs_allocation_unit_bytes", "int, bytes", "ssr 395:392", "Allocation unit in UHS modes.";
    ERASE_SIZE_AU = "erase_size_au", "int", "ssr 423:408", "Allocation units erased at once.";
    ERASE_TIMEOUT_S = "erase_timeout_s", "int, s", "ssr 407:402", "Erase timeout for `erase_size_au` units.";
    ERASE_OFFSET_S = "erase_offset_s", "int, s", "ssr 401:400", "Constant part of the erase timeout.";
    SD_CARD_QUEUE_DEPTH = "sd_card_queue_depth", "int", "ssr 335:331 + 1", "Command queue depth that the card offers; 0 without.";
    SD_CARD_CACHE = "sd_card_cache", "bool", "ssr 330", "Card offers a cache.";
    SD_CARD_MAINTENANCE = "sd_card_maintenance", "bool", "ssr 328", "Card-initiated maintenance.";
    SD_HOST_MAINTENANCE = "sd_host_maintenance", "bool", "ssr 329", "Host-initiated maintenance.";
    SD_DISCARD = "sd_discard", "bool", "ssr 313", "Discard is supported.";
    SD_FULE = "sd_fule", "bool", "ssr 312", "Full user area logical erase is supported.";
    SD_SPEC = "sd_spec", "text", "scr", "Physical layer specification: `1.0`, `1.10`, `2.00`, `3.0X`, `4.XX`, `5.XX`, ...";
    SD_BUS_WIDTHS = "sd_bus_widths", "list", "scr 51:48", "Bus widths of the card: `1`, `4`.";
    SD_CMD23 = "sd_cmd23", "bool", "scr 33", "CMD23 (set block count) is supported.";
    SD_CMD48 = "sd_cmd48", "bool", "scr 34", "Extension registers (cache, command queue) can be read and written.";
    SD_ERASED_BIT = "sd_erased_bit", "int", "scr 55", "What erased data read as.";
    SD_SECURE_MODE = "sd_secure_mode", "bool", "ssr 509", "The card is in secured mode.";
    ERASE_SIZE_BYTES = "erase_size_bytes", "int, bytes", "device/erase_size", "Smallest erase.";
    PREFERRED_ERASE_SIZE_BYTES = "preferred_erase_size_bytes", "int, bytes", "device/preferred_erase_size", "Erase size that the kernel prefers.";
    CMDQ_EN = "cmdq_en", "bool", "device/cmdq_en", "eMMC command queue in use; SD cards have no such file (null).";
    MMC_REVISION = "mmc_revision", "int", "device/rev", "EXT_CSD revision: 5 = 4.41, 6 = 4.5, 7 = 5.0, 8 = 5.1.";
    LIFE_TIME = "life_time", "text", "device/life_time", "Wear of type A and B memory in tenths: `0x01 0x02`.";
    PRE_EOL = "pre_eol", "text", "device/pre_eol_info", "`0x01` normal, `0x02` 80 % of spare blocks used, `0x03` 90 %.";
    EMMC_MODES = "emmc_modes", "list", "EXT_CSD 196 DEVICE_TYPE", "Bus modes of the card, named as `bus_mode`.";
    EMMC_TIMING = "emmc_timing", "text", "EXT_CSD 185 HS_TIMING", "Mode that the card is in: `legacy`, `mmc-hs`, `hs200`, `hs400`.";
    EMMC_QUEUE_SUPPORTED = "emmc_queue_supported", "bool", "EXT_CSD 308 CMDQ_SUPPORT", "The card has a command queue.";
    EMMC_QUEUE_DEPTH = "emmc_queue_depth", "int", "EXT_CSD 307 CMDQ_DEPTH + 1", "Commands that it queues.";
    EMMC_QUEUE_ON = "emmc_queue_on", "bool", "EXT_CSD 15 CMDQ_MODE_EN", "The queue is on in the card.";
    EMMC_CACHE_BYTES = "emmc_cache_bytes", "int, bytes", "EXT_CSD 252:249 CACHE_SIZE x 128", "Cache of the card; 0 none.";
    EMMC_CACHE_ON = "emmc_cache_on", "bool", "EXT_CSD 33 CACHE_CTRL", "The cache is on.";
    EMMC_BACKGROUND_OPERATIONS = "emmc_background_operations", "text", "EXT_CSD 163 BKOPS_EN", "`off`, `manual`, `auto`.";
    EMMC_RELIABLE_WRITE = "emmc_reliable_write", "bool", "EXT_CSD 166, 167", "Writes of the user area are reliable: slower.";
    EMMC_ENHANCED_BYTES = "emmc_enhanced_bytes", "int, bytes", "device/enhanced_area_size", "Part of the user area in enhanced (SLC) mode.";
    EMMC_BARRIER = "emmc_barrier", "bool", "EXT_CSD 486 BARRIER_SUPPORT", "Flushes can be ordered without waiting.";
    EMMC_SECTORS = "emmc_sectors", "int, 512 bytes", "EXT_CSD 215:212 SEC_COUNT", "Capacity that the register tells.";
    MMC_CARD_QUIRKS = "mmc_card_quirks", "text, hex", "debugfs mmcN/mmcN:XXXX/quirks", "Quirks that the kernel applies to the card (k:include/linux/mmc/card.h MMC_QUIRK_*).";

    ["link (mmc)"]
    BUS_MODE = "bus_mode", "text", "debugfs mmcN/ios timing spec", "`legacy`, `mmc-hs`, `sd-hs`, `sdr12`, `sdr25`, `sdr50`, `sdr104`, `ddr50`, `ddr52`, `hs200`, `hs400`.";
    CLOCK_HZ = "clock_hz", "int, Hz", "debugfs mmcN/ios actual clock, else clock", "Clock of the bus.";
    CLOCK_REQUESTED_HZ = "clock_requested_hz", "int, Hz", "debugfs mmcN/ios clock", "Clock that was asked for.";
    BUS_WIDTH = "bus_width", "int, lines", "debugfs mmcN/ios bus width", "Data lines.";
    SIGNAL_VOLTAGE = "signal_voltage", "text", "debugfs mmcN/ios signal voltage", "`3.30 V`, `1.80 V`, `1.20 V`.";
    MMC_ENHANCED_STROBE = "mmc_enhanced_strobe", "bool", "debugfs mmcN/ios timing spec", "HS400 with enhanced strobe.";

    ["controller (mmc)"]
    MMC_HOST = "mmc_host", "text", "place in /sys/devices", "`mmc0`.";
    MMC_HOST_MODES = "mmc_host_modes", "list", "debugfs mmcN/caps, caps2", "Bus modes that the host offers, named as `bus_mode`.";
    MMC_HOST_CMD23 = "mmc_host_cmd23", "bool", "debugfs mmcN/caps bit 30", "Host uses CMD23.";
    MMC_HOST_CQE = "mmc_host_cqe", "bool", "debugfs mmcN/caps2 bit 23", "Host has a command queue engine.";
    MMC_HOST_DCMD = "mmc_host_dcmd", "bool", "debugfs mmcN/caps2 bit 24", "Direct commands pass the command queue.";
    MMC_HOST_MAX_HZ = "mmc_host_max_hz", "int, Hz", "of_node/max-frequency", "Highest clock that the device tree allows.";
    MMC_HOST_PROPERTIES = "mmc_host_properties", "list", "of_node (mmc-controller binding)", "What the device tree says of the slot: `bus-width=4`, `sd-uhs-sdr104`, `no-1-8-v`, `supports-cqe`, ...";
    MMC_ERROR_KINDS = "mmc_error_kinds", "list", "debugfs mmcN/err_stats", "Errors that occurred, with their count (live).";
    MMC_ERRORS = "mmc_errors", "int", "debugfs mmcN/err_stats", "Sum of all counted errors of the host (live).";

    ["link (usb)"]
    USB_SPEED_MBIT_S = "usb_speed_mbit_s", "int, Mbit/s", "USB device speed", "Negotiated speed.";
    USB_VERSION = "usb_version", "text", "USB device version", "USB version that the device claims: `3.20`.";
    USB_ID = "usb_id", "text, hex", "idVendor:idProduct", "`152d:0578`.";
    USB_PRODUCT = "usb_product", "text", "manufacturer, product", "Name of the bridge.";
    USB_DRIVER = "usb_driver", "text", "interface driver", "`uas` or `usb-storage` (bulk only, one command at a time).";
    USB_UAS_CAPABLE = "usb_uas_capable", "bool", "interface alternate settings (bInterfaceProtocol 62)", "The device offers UAS.";
    USB_PATH = "usb_path", "text", "place in /sys/devices", "Bus and ports: `2-1.4`.";
    USB_HUBS = "usb_hubs", "list", "hubs in /sys/devices", "Hubs on the way, root hub last: `2-1 at 5000 Mbit/s`.";
    USB_ROOT_SPEED_MBIT_S = "usb_root_speed_mbit_s", "int, Mbit/s", "speed of the root hub", "The most that this bus does.";
    USB_QUIRKS = "usb_quirks", "text, hex", "USB device quirks", "Quirks of the USB core for the device.";
    USB_STORAGE_QUIRKS = "usb_storage_quirks", "text", "/sys/module/usb_storage/parameters/quirks", "Quirks that somebody set, or `none`; `u` after an id forbids UAS to it.";
    USB_MAX_POWER = "usb_max_power", "text", "USB device bMaxPower", "Current that the device asks for.";
    USB_AUTOSUSPEND = "usb_autosuspend", "text", "USB device power/control", "`auto` may be suspended, `on` may not.";

    ["disk (virtio)"]
    CACHE_TYPE = "cache_type", "text", "/sys/block/*/cache_type", "`write back` or `write through`.";
    VIRTIO_FEATURES = "virtio_features", "list", "/sys/bus/virtio/devices/*/features", "Features that host and driver agreed on: `mq`, `flush`, `discard`, `packed-ring`, ...";

    ["disk (mtd)"]
    MTD_TYPE = "mtd_type", "text", "/sys/class/mtd/*/type", "`nor`, `nand`, `mlc-nand`, ...";
    MTD_WRITE_SIZE_BYTES = "mtd_write_size_bytes", "int, bytes", "/sys/class/mtd/*/writesize", "Smallest write.";
    MTD_ERASE_SIZE_BYTES = "mtd_erase_size_bytes", "int, bytes", "/sys/class/mtd/*/erasesize", "Erase block.";
    MTD_CORRECTED_BITS = "mtd_corrected_bits", "int", "/sys/class/mtd/*/corrected_bits", "Bits that ECC corrected.";
    MTD_ECC_FAILURES = "mtd_ecc_failures", "int", "/sys/class/mtd/*/ecc_failures", "Failures of ECC.";
    MTD_OOB_SIZE_BYTES = "mtd_oob_size_bytes", "int, bytes", "/sys/class/mtd/*/oobsize", "Spare bytes of a page; 0 on NOR.";
    MTD_SUBPAGE_SIZE_BYTES = "mtd_subpage_size_bytes", "int, bytes", "/sys/class/mtd/*/subpagesize", "Smallest part of a page that can be written.";
    MTD_BAD_BLOCKS = "mtd_bad_blocks", "int", "/sys/class/mtd/*/bad_blocks", "Blocks that are out of use.";
    MTD_BITFLIP_THRESHOLD = "mtd_bitflip_threshold", "int", "/sys/class/mtd/*/bitflip_threshold", "Bit flips of a step from which on a block is to be rewritten.";
    MTD_ECC_STRENGTH = "mtd_ecc_strength", "int", "/sys/class/mtd/*/ecc_strength", "Bits of a step that ECC corrects.";
    MTD_MASTER = "mtd_master", "text", "place in /sys/devices", "The device that this is a partition of.";
    MTD_FLASH_DRIVER = "mtd_flash_driver", "text", "driver of the chip", "`physmap-flash`, `spi-nor`, `spi-nand`, ...";
    MTD_JEDEC_ID = "mtd_jedec_id", "text, hex", "spi-nor/jedec_id", "Id of a serial flash.";
    MTD_PART_NAME = "mtd_part_name", "text", "spi-nor/partname", "Its name.";
    MTD_BANK_WIDTH_BYTES = "mtd_bank_width_bytes", "int, bytes", "of_node/bank-width", "Width of the bus of a parallel flash.";
    SPI_MAX_HZ = "spi_max_hz", "int, Hz", "of_node/spi-max-frequency", "Highest clock of a serial flash.";
    SPI_READ_LINES = "spi_read_lines", "int, lines", "of_node/spi-rx-bus-width", "Data lines for reading; 1 unless told.";
    SPI_FAST_READ = "spi_fast_read", "bool", "of_node/m25p,fast-read", "The device tree asks for fast reads; kernels before 4.18 do not use them without.";

    ["host"]
    CGROUP_CPU_PROCESSORS = "cgroup_cpu_processors", "float, processors", "cpu.max; cpu.cfs_quota_us over cpu.cfs_period_us", "Processor time that this process's control groups grant it; absent without quota.";
    CGROUP_MEMORY_BYTES = "cgroup_memory_bytes", "int, bytes", "memory.max; memory.limit_in_bytes", "Memory that this process's control groups let it use, page cache included; absent without limit.";
    CPU_GOVERNORS = "cpu_governors", "list", "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "Frequency governors, without repeats.";
    CPU_MAX_KHZ = "cpu_max_khz", "int, kHz", "cpufreq/cpuinfo_max_freq", "Highest frequency of any CPU.";
    CPU_LIMIT_KHZ = "cpu_limit_khz", "int, kHz", "cpufreq/scaling_max_freq", "Highest frequency that policy allows, of any CPU.";
    CPU_MIN_KHZ = "cpu_min_khz", "int, kHz", "cpufreq/scaling_min_freq", "Lowest frequency that policy allows, of any CPU.";
    CPU_FREQUENCY_DRIVER = "cpu_frequency_driver", "text", "cpufreq/scaling_driver", "Who sets the frequency.";
    CPU_MODELS = "cpu_models", "list", "/proc/cpuinfo", "Processors: `4 x Cortex-A72`.";
    CPU_TURBO = "cpu_turbo", "bool", "intel_pstate/no_turbo; cpufreq/boost", "Frequencies above the nominal one are allowed.";
    CPU_IDLE_GOVERNOR = "cpu_idle_governor", "text", "/sys/devices/system/cpu/cpuidle/current_governor", "Who chooses the idle states.";
    THROTTLE_EVENTS = "throttle_events", "int", "cpu*/thermal_throttle/{core,package}_throttle_count", "How often a processor slowed down for heat since boot; x86 only (live).";
    COOLING_ACTIVE = "cooling_active", "list", "/sys/class/thermal/cooling_device*/cur_state", "Cooling devices above their rest, fans left out: `cpufreq-cpu0 2 of 5` (live).";
    NUMA_NODES = "numa_nodes", "int", "/sys/devices/system/node/online", "Memory nodes.";
    KERNEL_RELEASE = "kernel_release", "text", "/proc/sys/kernel/osrelease", "Kernel.";
    ARCHITECTURE = "architecture", "text", "/proc/sys/kernel/arch", "Instruction set of the kernel; the file came with 6.1.";
    KERNEL_COMMAND_LINE = "kernel_command_line", "text", "/proc/cmdline", "What the kernel was booted with.";
    KERNEL_LOG_STORAGE = "kernel_log_storage", "list", "/dev/kmsg", "Kernel messages that say something about storage, those of the catalogue only. Null unless read.";
    VIRTUALIZATION = "virtualization", "text", "DMI, device tree, clock source, cgroup", "Container, hypervisor, or both.";
    IO_IS_BUSY = "io_is_busy", "bool", "cpufreq/ondemand/io_is_busy", "The ondemand governor counts I/O wait as load.";
    CPUS_ONLINE = "cpus_online", "int", "/sys/devices/system/cpu/online", "Online processors.";
    MEMORY_BYTES = "memory_bytes", "int, bytes", "/proc/meminfo MemTotal", "Usable memory.";
    RASPBERRY_PI_THROTTLED = "raspberry_pi_throttled", "int, bits", "/sys/devices/platform/soc/soc:firmware/get_throttled", "b0 undervolt, b1 frequency cap, b2 throttled, b3 soft limit; since boot b16-19 (live).";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_unique_lower_snake_case_and_described() {
        for (i, fact) in ALL.iter().enumerate() {
            assert!(
                fact.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{} is not lower_snake_case",
                fact.name
            );
            assert!(ALL[..i].iter().all(|f| f.name != fact.name), "{} is listed twice", fact.name);
            assert!(fact.meaning.ends_with('.') && !fact.source.is_empty() && !fact.unit.is_empty(), "{}", fact.name);
        }
    }
}
