//! Which quantities a phase, a job and a direction have: by the plan alone.

use model::{Better, Bound, Direction, MetricKey, PhaseKind, PhasePlan, Sync, Unit};

/// Operations that a percentile needs: ten beyond it, so that p99 asks for 1,000 and p99.9 for 10,000.
pub(crate) const QUANTILES: [(Quantity, f64, u64); 4] = [
    (Quantity::P50, 0.5, 20),
    (Quantity::P90, 0.9, 100),
    (Quantity::P99, 0.99, 1_000),
    (Quantity::P999, 0.999, 10_000),
];

/// A quantity of a phase, a job or a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Throughput,
    Iops,
    /// Operations of a phase whose operations are on files.
    Files,
    Mean,
    P50,
    P90,
    P99,
    P999,
    Max,
    Stall,
    /// How long all of it took, of what is done again.
    Time,
    /// Of that, what its calls took and not the pauses between them.
    InCalls,
    /// What the device did meanwhile.
    Device(DeviceCount),
    Cpu(CpuTime),
    WriteAmplification,
    /// The median rate within bursts, the pauses between them not counted.
    BurstRate,
    /// The rate within the last third of the bursts over that within the first.
    BurstChange,
}

/// What is said of the device below, which belongs to no direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceCount {
    Operations,
    Read,
    Written,
}

impl DeviceCount {
    const ALL: [Self; 3] = [Self::Operations, Self::Read, Self::Written];
}

/// What is said of the processor time of a worker, which belongs to no direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CpuTime {
    Share,
    User,
    System,
    PerOperation,
}

impl CpuTime {
    const ALL: [Self; 4] = [Self::Share, Self::User, Self::System, Self::PerOperation];
}

impl Quantity {
    /// The last part of the id, the unit, and which direction is the better one.
    pub fn row(self) -> (&'static str, Unit, Better) {
        match self {
            Self::Throughput => ("throughput_bytes_per_s", Unit::BytesPerS, Better::Higher),
            Self::Iops => ("iops", Unit::OpsPerS, Better::Higher),
            Self::Files => ("files_per_s", Unit::FilesPerS, Better::Higher),
            Self::Mean => ("latency_ns_mean", Unit::Ns, Better::Lower),
            Self::P50 => ("latency_ns_p50", Unit::Ns, Better::Lower),
            Self::P90 => ("latency_ns_p90", Unit::Ns, Better::Lower),
            Self::P99 => ("latency_ns_p99", Unit::Ns, Better::Lower),
            Self::P999 => ("latency_ns_p999", Unit::Ns, Better::Lower),
            Self::Max => ("latency_ns_max", Unit::Ns, Better::Lower),
            Self::Stall => ("stall_ns_max", Unit::Ns, Better::Lower),
            Self::Time => ("time_s", Unit::S, Better::Lower),
            Self::InCalls => ("in_calls_s", Unit::S, Better::Lower),
            Self::Device(DeviceCount::Operations) => ("device_ops_per_s", Unit::OpsPerS, Better::Higher),
            Self::Device(DeviceCount::Read) => ("device_read_bytes", Unit::Bytes, Better::Lower),
            Self::Device(DeviceCount::Written) => ("device_written_bytes", Unit::Bytes, Better::Lower),
            Self::Cpu(CpuTime::Share) => ("cpu_percent", Unit::Percent, Better::Lower),
            Self::Cpu(CpuTime::User) => ("cpu_user_percent", Unit::Percent, Better::Lower),
            Self::Cpu(CpuTime::System) => ("cpu_system_percent", Unit::Percent, Better::Lower),
            Self::Cpu(CpuTime::PerOperation) => ("cpu_ns_per_op", Unit::Ns, Better::Lower),
            Self::BurstRate => ("burst_bytes_per_s", Unit::BytesPerS, Better::Higher),
            Self::BurstChange => ("burst_rate_last_over_first", Unit::Ratio, Better::Higher),
            Self::WriteAmplification => ("write_amplification", Unit::Ratio, Better::Lower),
        }
    }
}

/// On which side of a number of this id the true one is, where the phase was disturbed by what can only slow it. Others' traffic is
/// in what the device counts, and a processor that was taken away in no count of processor time.
pub(crate) fn bound_of(id: &str) -> Option<Bound> {
    match MetricKey::of(id).quantity {
        "throughput_bytes_per_s" | "iops" | "files_per_s" | "burst_bytes_per_s" => Some(Bound::AtLeast),
        "time_s" | "in_calls_s" | "stall_ns_max" => Some(Bound::AtMost),
        latency if latency.starts_with("latency_ns_") => Some(Bound::AtMost),
        _ => None,
    }
}

/// Those of a phase as a whole.
pub(crate) fn of_phase(plan: &PhasePlan) -> Vec<Quantity> {
    use Quantity::*;
    if plan.copies_memory() {
        return vec![Throughput];
    }
    if plan.runs_dpkg() {
        let cpu = [CpuTime::Share, CpuTime::User, CpuTime::System].map(Cpu);
        return [Time].into_iter().chain(DeviceCount::ALL.map(Device)).chain(cpu).collect();
    }
    let mut list = if plan.moves_data() { vec![Throughput] } else { Vec::new() };
    if plan.is_replay() {
        list.insert(0, Time);
        list.extend(plan.pauses_ns().map(|_| InCalls));
        list.extend(DeviceCount::ALL.map(Device));
    }
    // Operations per second of a phase whose unit is the round would be neither writes nor rounds; nor can it stall but
    // between them, which the length of its rounds shows.
    let operations = plan.measures_target() && plan.streams.iter().all(|s| s.durability.sync != Sync::FsyncPerRound);
    if operations {
        list.push(if plan.operates_on_files() { Files } else { Iops });
    }
    if plan.measures_target() {
        list.extend([Mean, P50, P90, P99, P999]);
    }
    list.push(Max);
    if operations {
        list.push(Stall);
    }
    list.extend(CpuTime::ALL.map(Cpu));
    if plan.has_bursts() {
        list.extend([BurstRate, BurstChange]);
    }
    if plan.is_write() && plan.moves_data() {
        list.push(WriteAmplification);
    }
    list
}

/// What is not told apart by job.
fn is_of_phase(quantity: &Quantity) -> bool {
    use Quantity::*;
    matches!(quantity, Time | InCalls | Device(_) | WriteAmplification | BurstRate | BurstChange)
}

/// Those of each job of a phase with several: the device's bytes cannot be told apart by job.
pub(crate) fn of_job(plan: &PhasePlan) -> Vec<Quantity> {
    if plan.copies_memory() || plan.kind == PhaseKind::Layout || plan.runs_dpkg() {
        return Vec::new();
    }
    of_phase(plan).into_iter().filter(|q| !is_of_phase(q)).collect()
}

/// Those of each direction of a job. CPU and stalls are its worker's, whichever way an operation goes. A sync moves
/// nothing, so that it has latencies only.
pub(crate) fn of_direction(plan: &PhasePlan, direction: Direction) -> Vec<Quantity> {
    use Quantity::*;
    let has = |q: &Quantity| match q {
        Throughput => !matches!(direction, Direction::Sync | Direction::Names),
        Iops | Files => direction != Direction::Sync,
        Mean | P50 | P90 | P99 | P999 => true,
        Max => direction != Direction::Sync || plan.measures_target(),
        Stall | Time | InCalls | Device(_) | Cpu(_) | WriteAmplification | BurstRate | BurstChange => false,
    };
    of_job(plan).into_iter().filter(has).collect()
}
