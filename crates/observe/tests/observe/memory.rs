//! What of the memory this program may take, in captured trees.

use crate::tree::Tree;
use observe::memory_available;

const MIB: u64 = 1 << 20;

#[test]
fn the_machine_without_groups() {
    let tree = Tree::build("@ /proc\nmeminfo = MemTotal: 8 kB\\nMemAvailable:    1024 kB");
    assert_eq!(memory_available(&tree.root()), Some(MIB));
    assert_eq!(memory_available(&Tree::build("@ /proc\nversion = x").root()), None);
}

#[test]
fn version_2_counts_what_the_cache_would_give_back() {
    let tree = Tree::build(
        "@ /proc\nmeminfo = MemAvailable: 67108864 kB\nself/cgroup = 0::/a/b\n@ /sys/fs/cgroup/a\nmemory.max = 268435456\n\
         memory.current = 104857600\nmemory.stat = anon 1\\ninactive_file 31457280\\nactive_file 20971520\n\
         b/memory.max = max\nb/memory.current = 104857600",
    );
    assert_eq!(memory_available(&tree.root()), Some(206 * MIB));
}

#[test]
fn version_1_has_a_hierarchy_of_its_own() {
    let tree = Tree::build(
        "@ /proc\nmeminfo = MemAvailable: 67108864 kB\nself/cgroup = 5:cpu:/\\n4:rdma,memory:/box\n\
         @ /sys/fs/cgroup/memory\nmemory.limit_in_bytes = 9223372036854771712\nmemory.usage_in_bytes = 1048576\n\
         box/memory.limit_in_bytes = 67108864\nbox/memory.usage_in_bytes = 1048576",
    );
    assert_eq!(memory_available(&tree.root()), Some(63 * MIB));
}

#[test]
fn a_container_that_sees_the_path_of_its_host() {
    let tree = Tree::build(
        "@ /proc\nmeminfo = MemAvailable: 67108864 kB\nself/cgroup = 0::/docker/0123\n@ /sys/fs/cgroup\n\
         memory.max = 67108864\nmemory.current = 4194304",
    );
    assert_eq!(memory_available(&tree.root()), Some(60 * MIB));
}

#[test]
fn the_limits_of_the_process_count_too() {
    let limits = |space: &str, data: &str| {
        let tree = Tree::build(&format!(
            "@ /proc\nmeminfo = MemAvailable: 67108864 kB\nself/limits = Limit Soft Limit Hard Limit Units\\n\
             Max data size             {data}            unlimited            bytes\\n\
             Max address space         {space}            unlimited            bytes\n\
             self/status = VmPeak: 9 kB\\nVmSize:\t   10240 kB\\nVmData:\t    2048 kB"
        ));
        memory_available(&tree.root())
    };
    assert_eq!(limits("unlimited", "unlimited"), Some(65_536 * MIB));
    assert_eq!(limits("536870912", "unlimited"), Some(502 * MIB));
    assert_eq!(limits("536870912", "104857600"), Some(98 * MIB));
    assert_eq!(limits("1048576", "unlimited"), Some(0), "already beyond it");
}
