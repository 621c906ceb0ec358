//! Which pages memory lies in: what the kernel has, what it gave, and why it gave no larger ones.

use std::ops::Range;

/// Pages that buffers are asked to lie in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// Those of the machine: what a program gets that does not care.
    Ordinary,
    /// Transparent huge pages where the kernel grants them (madvise(2), MADV_HUGEPAGE), else ordinary ones.
    #[default]
    Huge,
    /// Pages that the administrator reserved (mmap(2), MAP_HUGETLB); where too few are free, as [`Pages::Huge`].
    Reserved {
        /// Their size; `None`: the machine's default.
        bytes: Option<usize>,
    },
}

/// Size of a transparent huge page, bytes; `None` where the kernel has none.
pub(crate) fn transparent_huge_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").ok()?;
    text.trim().parse().ok().filter(|n: &usize| n.is_power_of_two())
}

/// Default size of a reserved huge page, bytes (proc_meminfo(5), Hugepagesize).
pub(crate) fn reserved_huge_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    text.lines().find_map(|line| kilobytes(line, "Hugepagesize:")).and_then(|n| usize::try_from(n).ok())
}

/// `name:  123 kB` as bytes.
fn kilobytes(line: &str, name: &str) -> Option<u64> {
    let number: u64 = line.strip_prefix(name)?.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// Bytes in huge pages of the mappings that the range has a part in (proc_pid_smaps(5)); 0 where the kernel does not tell.
pub(crate) fn huge_bytes_within(range: Range<usize>) -> u64 {
    std::fs::read_to_string("/proc/self/smaps").map_or(0, |text| huge_bytes(&text, &range))
}

fn huge_bytes(smaps: &str, range: &Range<usize>) -> u64 {
    let address = |text: &str| usize::from_str_radix(text, 16).ok();
    let mut within = false;
    let mut sum = 0;
    for line in smaps.lines() {
        let head = line.split(' ').next().and_then(|first| first.split_once('-'));
        if let Some((start, end)) = head.and_then(|(a, b)| address(a).zip(address(b))) {
            within = start < range.end && range.start < end;
        } else if within {
            sum += kilobytes(line, "AnonHugePages:").unwrap_or(0);
        }
    }
    sum
}

/// Why the kernel gave no huge pages for so many bytes, as far as it can be known.
pub(crate) fn why_not_huge(wanted: usize) -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let enabled = read("/sys/kernel/mm/transparent_hugepage/enabled");
    if enabled.is_empty() {
        return "the kernel has no transparent huge pages (CONFIG_TRANSPARENT_HUGEPAGE)".to_owned();
    }
    if enabled.contains("[never]") {
        return "/sys/kernel/mm/transparent_hugepage/enabled says never".to_owned();
    }
    // Since 5.0 (proc_pid_status(5)).
    if read("/proc/self/status").lines().any(|line| line.split_whitespace().eq(["THP_enabled:", "0"])) {
        return "they are forbidden to this process (prctl PR_SET_THP_DISABLE)".to_owned();
    }
    match transparent_huge_bytes() {
        Some(bytes) if bytes > wanted => format!("less than one huge page of {} KiB", bytes >> 10),
        Some(bytes) => format!("no free huge pages of {} KiB, or memory is too fragmented", bytes >> 10),
        None => "the kernel does not tell their size".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "55d0a000-55d0b000 r--p 00000000 fe:00 12 /bin/x\nSize:  4 kB\nAnonHugePages:  2048 kB\n\
        7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \nSize:  8192 kB\nAnonHugePages:      6144 kB\nVmFlags: rd wr hg\n\
        7f0000800000-7f0000801000 rw-p 00000000 00:00 0\nAnonHugePages:         0 kB\n";

    #[test]
    fn only_the_mapping_of_the_range_counts() {
        assert_eq!(huge_bytes(SMAPS, &(0x7f00_0020_0000..0x7f00_0040_0000)), 6144 << 10);
        assert_eq!(huge_bytes(SMAPS, &(0x7f00_0080_0000..0x7f00_0080_1000)), 0);
        assert_eq!(huge_bytes(SMAPS, &(0x1000..0x2000)), 0);
        assert_eq!(huge_bytes("", &(0..usize::MAX)), 0);
    }

    #[test]
    fn sizes_are_powers_of_two_or_unknown() {
        for size in [transparent_huge_bytes(), reserved_huge_bytes()].into_iter().flatten() {
            assert!(size.is_power_of_two() && size > crate::page_size() as usize, "{size}");
        }
    }
}
