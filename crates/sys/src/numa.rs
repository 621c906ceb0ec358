//! NUMA nodes: what there are, and where a thread takes its memory.
#![allow(unsafe_code)]

use std::io;

/// Where memory is taken (set_mempolicy(2)); the values are those of `include/uapi/linux/mempolicy.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// On one node where it has room.
    Prefer = 1,
    /// On the nodes named, only.
    Bind = 2,
    /// On the nodes named, in turn.
    Interleave = 3,
    /// Where the processor is.
    Local = 4,
}

/// `0-1,3` as sysfs has it.
fn list(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<u32>().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// The nodes that are online; 0 alone on a kernel without NUMA (k:Documentation/ABI/stable/sysfs-devices-node).
pub fn numa_nodes() -> Vec<u32> {
    std::fs::read_to_string("/sys/devices/system/node/online").map_or(vec![0], |text| list(&text))
}

/// The processors of a node; without NUMA, those of the calling thread.
pub fn numa_cpus(node: u32) -> Vec<u32> {
    let file = format!("/sys/devices/system/node/node{node}/cpulist");
    std::fs::read_to_string(file).map_or_else(|_| crate::affinity().unwrap_or_default(), |text| list(&text))
}

/// The calling thread takes memory by this policy from now on. `nodes` is empty for [`MemoryPolicy::Local`].
///
/// # Errors
/// `EINVAL` where none of the nodes is online, `ENOSYS` of kernels without NUMA.
pub fn set_memory_policy(policy: MemoryPolicy, nodes: &[u32]) -> io::Result<()> {
    const WORD: usize = libc::c_ulong::BITS as usize;
    /// As many as any kernel has (MAX_NUMNODES is 1 << 10 at most).
    const WORDS: usize = 1024 / WORD;
    let mut mask: [libc::c_ulong; WORDS] = [0; WORDS];
    for node in nodes {
        let word = mask.get_mut(*node as usize / WORD).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (*node as usize % WORD);
    }
    // One bit less is looked at than is said (set_mempolicy(2), "BUGS").
    let (bits, mask) = if nodes.is_empty() { (0, std::ptr::null()) } else { (mask.len() * WORD + 1, mask.as_ptr()) };
    // SAFETY: the mask has as many bits as the kernel is told, less the one that it leaves out, or is none at all; it is
    // only read, during the call.
    let r = unsafe { libc::syscall(libc::SYS_set_mempolicy, policy as libc::c_int, mask, bits as libc::c_ulong) };
    if r == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_nodes_with_processors_and_takes_a_policy() {
        assert_eq!(list("0-2,5\n"), [0, 1, 2, 5]);
        let nodes = numa_nodes();
        assert!(!nodes.is_empty() && !numa_cpus(nodes[0]).is_empty());
        let policies = [MemoryPolicy::Bind, MemoryPolicy::Interleave, MemoryPolicy::Prefer, MemoryPolicy::Local];
        std::thread::spawn(move || {
            for policy in policies {
                let named: &[u32] = if policy == MemoryPolicy::Local { &[] } else { &nodes[..1] };
                match set_memory_policy(policy, named) {
                    Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {}
                    result => result.unwrap_or_else(|e| panic!("{policy:?}: {e}")),
                }
            }
            assert!(set_memory_policy(MemoryPolicy::Bind, &[1023]).is_err());
        })
        .join()
        .unwrap();
    }
}
