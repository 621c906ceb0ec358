//! The NUMA nodes of a stream's processors and memory.

use crate::DeviceError;
use model::{Numa, NumaMemory, NumaNodes};
use sys::MemoryPolicy;

/// Those of the named nodes that the machine has, and what is to be said of the others.
fn existing_nodes(asked: &NumaNodes, all: &[u32], missing: &mut Vec<String>) -> Result<Vec<u32>, DeviceError> {
    let here: Vec<u32> = all.iter().copied().filter(|n| asked.0.is_empty() || asked.0.contains(n)).collect();
    let absent = asked.0.iter().filter(|n| !all.contains(n)).map(u32::to_string).collect::<Vec<_>>().join(", ");
    if here.is_empty() {
        let source = std::io::Error::other(format!("this machine has no NUMA node {absent}"));
        return Err(DeviceError::of("choice of NUMA nodes")(source));
    }
    if !absent.is_empty() {
        missing.push(format!("NUMA node {absent}: this machine has none of that number; the others serve"));
    }
    Ok(here)
}

/// Confines the calling thread, and the memory that it takes from now on; what could not be had as asked.
///
/// # Errors
/// Where the machine has none of the nodes, or the kernel refuses.
pub(super) fn confine(numa: &Numa) -> Result<Vec<String>, DeviceError> {
    let mut missing = Vec::new();
    if *numa == Numa::default() {
        return Ok(missing);
    }
    let all = sys::numa_nodes();
    if let Some(nodes) = &numa.cpu_nodes {
        let cpus =
            existing_nodes(nodes, &all, &mut missing)?.into_iter().flat_map(sys::numa_cpus).collect::<Vec<u32>>();
        sys::set_affinity(&cpus).map_err(DeviceError::of("sched_setaffinity (NUMA nodes of the stream)"))?;
    }
    let policy = match &numa.memory {
        None => return Ok(missing),
        Some(NumaMemory::Local) => (MemoryPolicy::Local, Vec::new()),
        Some(NumaMemory::Prefer(node)) => {
            (MemoryPolicy::Prefer, existing_nodes(&NumaNodes(vec![*node]), &all, &mut missing)?)
        }
        Some(NumaMemory::Bind(nodes)) => (MemoryPolicy::Bind, existing_nodes(nodes, &all, &mut missing)?),
        Some(NumaMemory::Interleave(nodes)) => (MemoryPolicy::Interleave, existing_nodes(nodes, &all, &mut missing)?),
    };
    match sys::set_memory_policy(policy.0, &policy.1) {
        // A kernel without NUMA has one node, where all memory is.
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
            missing.push(format!("NUMA memory policy: {error}"))
        }
        result => result.map_err(DeviceError::of("set_mempolicy (memory of the stream)"))?,
    }
    missing.dedup();
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_are_not_there_are_said_and_none_is_an_error() {
        let mut missing = Vec::new();
        let nodes = |list: &[u32]| NumaNodes(list.to_vec());
        assert_eq!(existing_nodes(&nodes(&[]), &[0, 1], &mut missing).unwrap(), [0, 1]);
        assert_eq!(existing_nodes(&nodes(&[1]), &[0, 1], &mut missing).unwrap(), [1]);
        assert!(missing.is_empty());
        assert_eq!(existing_nodes(&nodes(&[0, 7]), &[0, 1], &mut missing).unwrap(), [0]);
        assert!(missing[0].contains("NUMA node 7"), "{missing:?}");
        assert!(existing_nodes(&nodes(&[7]), &[0], &mut missing).unwrap_err().to_string().contains("no NUMA node 7"));
    }
}
