//! What to do about what limits a run. Who needs to know what it is looks at the variant; the words are here and nowhere else.

use serde::{Serialize, Serializer};

/// Each with its words, and with what it rests on where nothing of the run says more.
macro_rules! steps {
    ($($name:ident: $text:literal, $basis:literal;)*) => {
        /// What to do about a cause, or to get to know it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Step {
            $(#[doc = $text] $name,)*
            /// The fix of a finding, as its page has it.
            Fix(String),
        }

        impl Step {
            /// In a few words.
            pub fn text(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Fix(text) => text,
                }
            }

            /// What it rests on, where nothing of the run says more.
            pub fn basis(&self) -> &'static str {
                match self {
                    $(Self::$name => $basis,)*
                    Self::Fix(_) => "",
                }
            }
        }
    };
}

steps! {
    SendFakeBack: "send it back: no setting makes a fake larger", "data beyond its real size are lost";
    StopOtherUsers: "stop the other users of the disk, then repeat", "the numbers are not the storage's alone";
    StopOtherWork: "stop what else runs, or give this program processors of its own (taskset, cpuset)", "the numbers are those of a busy machine";
    CompareWithGrant: "compare with what the provider or the cgroup's io.max grants", "the cap is set outside this machine's view";
    RaiseGroupLimit: "raise or remove the group's limit (io.max, blkio.throttle), or check from outside of it", "what the device can do is hidden by the limit";
    RaiseQuota: "raise the group's quota (cpu.max, cpu.cfs_quota_us), or measure from outside of it", "what the storage can do is hidden by the quota";
    RaiseMemoryLimit: "raise the group's limit (memory.max), or write with direct I/O", "direct over buffered write throughput of this run";
    ProvisionOperations: "provision more IOPS for the volume", "what the volume would give beyond its limit was not seen";
    ProvisionThroughput: "provision more throughput for the volume", "what the volume would give beyond its limit was not seen";
    LargerInstance: "a larger instance (its EBS limits are its own)", "what the volume would give beyond its limit was not seen";
    PlanWithPlateau: "plan with the plateau, or buy a volume or a machine whose baseline is what you need", "the rate before the fall lasts as long as the credit";
    PlanWithRateAfterCache: "plan with the rate after the fall for long writes, or keep bursts below the cache", "the rate before the fall is the cache's, not one that lasts";
    LeaveTimeToTidy: "leave the device time to tidy up (discard, free space), or take one without such gaps", "the rate between the gaps is what it gives without them";
    WriteDirectly: "write with direct I/O from aligned buffers", "direct over buffered write throughput of this run";
    ReadDirectly: "read with direct I/O into aligned buffers", "direct over buffered read throughput of this run";
    MoreReadAhead: "a larger read_ahead_kb, or direct reads with depth", "direct over buffered read throughput of this run";
    TryReadAhead: "try a larger read_ahead_kb, or read directly from aligned buffers", "direct over buffered read throughput of this run";
    MountWithoutSync: "mount without sync, and let programs sync what must be durable", "direct over buffered write throughput of this run";
    KernelFilesystem: "a file system of the kernel for the same data, where there is one", "what the device gives without it was not seen";
    MeasureStorage: "measure the storage: access = \"direct\", or cold = true and fsync-at-end", "rates of memory are not rates of the storage";
    LongerQueue: "a longer queue for this disk", "the sequential rate at this block size, or the deeper queue";
    UasBridge: "a bridge that speaks UAS", "no ceiling above it was measured";
    AhciMode: "AHCI mode in the firmware set-up", "no ceiling above it was measured";
    QueueingCardAndHost: "a card and a host that both queue commands", "no ceiling above it was measured";
    QueueingHost: "a host and kernel with command queueing for this card", "no ceiling above it was measured";
    CommandQueueing: "command queueing (NCQ) for this disk", "no ceiling above it was measured";
    NoMovingHeads: "a device without moving heads for random work", "no ceiling above it was measured";
    FindSerialisingLayer: "find the layer that serialises: compare in-flight counts layer by layer", "no ceiling above it was measured";
    QueueForEachProcessor: "give the disk a queue for each processor (on the host)", "no ceiling beyond it is known";
    LookAtMapping: "look at the mapping's table (dmsetup table): what it does to each request costs more than the disk", "the time of a request at the mapping over that at the disk";
    ReplaceSlowMember: "replace the slow member, or mark it write-mostly (mdadm --write-mostly), so that reads go to the other", "an array writes as fast as its slowest member";
    SpreadInterrupts: "spread the interrupts over the processors (irqbalance, smp_affinity), or use more queues", "no ceiling beyond the processor was measured";
    SpreadWork: "spread the work over more processors (queues, interrupts) or lower the cost per byte", "no ceiling beyond the processor was measured";
    LoopDirect: "direct I/O of the loop device on its file (losetup --direct-io=on), so that the disk is measured", "rates of memory are not rates of the storage";
    AvoidCopy: "avoid a copy (direct I/O, mapped files)", "memory copy rate over the rate of the phase";
    MoreWorkers: "repeat with more workers or larger blocks", "the storage was not reached";
    CopyByBusWidth: "have the driver copy by accesses of the bus's width (memcpy_fromio, readl)", "kernel-copies-narrowly";
    FewerSyncs: "put several writes before each sync, or use a device with power-loss protection", "latency with a flush over latency without";
    BatchOrCardForRandomWrites: "batch small writes, or use a device made for random writes (an SD card of class A1 or A2, an SSD)", "small writes into large erase blocks make the device copy what is around them";
    BatchSmallWrites: "batch small writes, or use a device made for random writes", "small writes into large erase units make the device copy what is around them";
    SeparateLinkAndDevice: "measure it once more at another port or with a faster link: what becomes faster was held by the link, what stays by the device", "a measurement that separates the two, no remedy";
    FasterModeOfLink: "bring the link to the speed that both ends can do", "a faster mode of this link is known";
    FasterLink: "use a faster link or spread the work over several", "no faster mode of this link is known";
    FixPowerAndCooling: "fix power supply and cooling, then repeat", "the trend that all reads have in common, from the event to their end";
    CoolProcessor: "better cooling of the processor, or less work for it (direct I/O, larger blocks)", "frequency before over frequency during the phase";
    SchedulerForReads: "a scheduler that lets reads go first: mq-deadline or bfq in queue/scheduler", "a read then no longer waits for all that was queued before it";
    ThrottleWriteback: "write-back throttling: -1 in queue/wbt_lat_usec", "a read then no longer waits for all that was queued before it";
    LessDirtyMemory: "less memory that may be dirty: sysctl vm.dirty_bytes=16777216 vm.dirty_background_bytes=8388608", "less is then written to the device at once";
    RaiseMaxSectors: "raise max_sectors_kb to what the hardware takes", "what the link carries over the present rate";
    FindPacketLoss: "find where packets are lost: cables, duplex, full queues of switches; then repeat", "TCP waits for what is lost, and sends slower afterwards";
    CacheAttributes: "mount without noac and actimeo=0 where no other client changes the files", "direct over buffered write throughput of this run";
    LargerTransfers: "mount without rsize and wsize, so that the client takes what the server offers", "what the server offers was not seen";
    MoreSlots: "more slots: options nfs max_session_slots=180 (4.1 and later), sysctl sunrpc.tcp_max_slot_table_entries (before); then nconnect=4", "the time of a call over that of its reply";
    MoreReadAheadOfMount: "a larger read_ahead_kb of the mount (/sys/class/bdi/MAJOR:MINOR, nfsrahead in /etc/nfs.conf)", "direct over buffered read throughput of this run";
    MoreServerThreads: "more threads of the server (rpc.nfsd 16; threads= in /etc/nfs.conf), or a disk that takes requests side by side", "no ceiling above it was measured";
    MeasureNetworkAndServer: "measure the network alone (iperf3) and the server's storage (narrows on the server)", "a measurement that separates the two, no remedy";
    FewerRoundTrips: "more calls in flight (depth, more files at once), larger operations, or a server that is nearer", "each call waits for its reply";
    BatchCommits: "put several writes before each sync, or have the server keep its log on storage that answers a flush at once", "each sync waits for the server's disk";
    FasterClient: "a faster processor of this machine, larger operations, or fewer of them", "no ceiling beyond the client was measured";
    FindReconnects: "find why the session is connected anew: the kernel's log, the server's, the network; then repeat", "the numbers are those of a connection that was lost";
    CacheOnShare: "mount with cache=strict (or cache=loose, where no other client changes the files) and without actimeo=0", "direct over buffered throughput of this run";
    LessSigning: "more connections, so that more processors work (multichannel,max_channels=4); without seal and signing where the network is trusted", "no ceiling beyond the processor was measured";
    MoreChannels: "mount with multichannel,max_channels=4", "what more connections bring was not measured";
    SmallFilesTogether: "more files at once (several copies side by side), or one archive in the place of many files", "each request waits for its reply";
    StandardSync: "zfs set sync=standard on the dataset, and let programs sync what must be durable", "what the writes take without commits was not measured";
    SmallerRecords: "zfs set recordsize=16K on the dataset (of files that are written from then on), or larger writes", "the record over the size of a write";
    CheckToItsEnd: "repeat the check and let it come to its end", "the limit is not known for want of measurements";
    LongerAndLargerCheck: "repeat the check with a longer --budget and a larger --max-write", "the limit is not known for want of measurements";
    LargerCheck: "repeat the check with a larger --max-write", "the limit is not known for want of measurements";
    LongerCheck: "repeat the check with a longer --budget", "the limit is not known for want of measurements";
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

/// What to do next, and what it may bring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NextStep {
    /// What to do.
    #[serde(rename = "text")]
    pub step: Step,
    /// At most this many times the current value; `None` where nothing can be predicted.
    pub predicted_ratio: Option<f64>,
    /// What the prediction rests on.
    pub basis: String,
}

impl From<Step> for NextStep {
    /// Without a prediction.
    fn from(step: Step) -> Self {
        Self { basis: step.basis().to_owned(), step, predicted_ratio: None }
    }
}
