//! On which processors a controller's interrupts arrive.
//!
//! A PCI device names its numbers (`msi_irqs/`, `irq`); one of the platform is found by its name in /proc/interrupts, or by
//! its driver's where one line alone has that. An IDE interface in compatibility mode has 14 and 15. The kernel says where
//! each arrives in `effective_affinity_list` (4.15 and later; before, `smp_affinity_list` is what was
//! asked for).

use crate::facts;
use crate::root::{Root, file_name};
use crate::sampler::cpu_list;
use model::Layer;
use std::collections::BTreeSet;

/// Vectors of one controller; an NVMe controller has one for each CPU.
const VECTOR_LIMIT: usize = 256;

/// `table` is /proc/interrupts.
pub(super) fn set(root: &Root, table: &str, controller: &mut Layer, directory: &str) {
    let mut numbers: Vec<u32> =
        root.list(&format!("{directory}/msi_irqs")).iter().filter_map(|n| n.parse().ok()).take(VECTOR_LIMIT).collect();
    if numbers.is_empty() {
        numbers.extend(root.number::<u32>(&format!("{directory}/irq")).filter(|n| *n > 0));
    }
    if numbers.is_empty() {
        numbers = by_name(table, &names(root, table, controller, directory));
    }
    let class = root.hex(&format!("{directory}/class"));
    if let Some(driver) = controller.driver.as_deref().filter(|_| numbers.is_empty()) {
        let named = by_name(table, &[driver.to_owned()]);
        numbers = match class {
            Some(class) => named.into_iter().filter(|n| compatibility(class).contains(n)).collect(),
            // Several lines may be those of several devices.
            None => Some(named).filter(|n| n.len() == 1).unwrap_or_default(),
        };
    }
    let mut cpus = BTreeSet::new();
    let mut lines = Vec::new();
    for number in numbers {
        // Vectors that nobody asked for are in no table.
        let Some(action) = action(table, number) else { continue };
        let place = |file: &str| root.text(&format!("/proc/irq/{number}/{file}"));
        let list = place("effective_affinity_list").or_else(|| place("smp_affinity_list"));
        if let Some(list) = &list {
            cpus.extend(cpu_list(list));
        }
        let at = list.map_or_else(|| "CPU unknown".to_owned(), |l| format!("CPU {l}"));
        lines.push(format!("{number} {action}: {at}"));
    }
    controller.set(facts::IRQ_CPUS, Some(cpus.len() as u64).filter(|n| *n > 0));
    controller.set(facts::IRQS, (!lines.is_empty()).then_some(lines));
}

/// Interrupts of an IDE interface that is not in native mode: bits 0 and 2 of its class tell for each channel (PCI IDE
/// Controller Specification 1.0, 2.1).
fn compatibility(class: u64) -> Vec<u32> {
    let channels = [(1, 14), (4, 15)].into_iter().filter(|(native, _)| class >> 8 == 0x0101 && class & native == 0);
    channels.map(|(_, number)| number).collect()
}

/// What a platform device's interrupts are called: its name, or that of the host or virtio device below it.
fn names(root: &Root, table: &str, controller: &Layer, directory: &str) -> Vec<String> {
    let mut names = vec![controller.name.clone()];
    names.extend(root.list(&format!("{directory}/mmc_host")));
    // `virtio1` or `virtio1-req.0`, of the devices that have interrupts; a listing would put all that is there into captures.
    let words = table.split_whitespace().filter(|word| word.starts_with("virtio"));
    let virtio: BTreeSet<&str> = words.map(|word| word.split('-').next().unwrap_or(word)).collect();
    names.extend(virtio.into_iter().filter(|n| root.exists(&format!("{directory}/{n}"))).map(str::to_owned));
    // `1c18000.sata` is `ahci-sunxi[1c18000.sata]` or its bare name; virtio has `virtio1-req.0`.
    names.retain(|n| n.len() >= 4);
    names
}

/// ` 62:  1  2  GICv2 59 Level  mmc1, mmc2`: the words after the counts.
fn words(line: &str) -> Option<(u32, &str)> {
    let (number, rest) = line.trim_start().split_once(':')?;
    Some((number.parse().ok()?, rest))
}

fn by_name(table: &str, names: &[String]) -> Vec<u32> {
    let ours = |rest: &str| {
        rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '@')).any(|word| {
            names.iter().any(|n| {
                word == n || word.strip_prefix(n.as_str()).is_some_and(|r| r.starts_with('-') || r.starts_with(':'))
            })
        })
    };
    let lines = table.lines().filter_map(words).filter(|(_, rest)| ours(rest));
    lines.map(|(number, _)| number).take(VECTOR_LIMIT).collect()
}

/// Who handles an interrupt: the last words of its line, after the controller's own.
fn action(table: &str, number: u32) -> Option<String> {
    let (_, rest) = table.lines().filter_map(words).find(|(n, _)| *n == number)?;
    let name = rest.trim_end().rsplit("  ").next().unwrap_or(rest);
    Some(file_name(name).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "           CPU0       CPU1\n 11:       100         10     GICv2  59 Level     mmc1\n \
                         24:         5          0   PCI-MSI-0000:00:02.0   1-edge      virtio1-req.0\n \
                         30:         7          0     GICv2  88 Level     ahci-sunxi[1c18000.sata]\nERR: 0\n";

    #[test]
    fn a_line_is_found_by_the_name_of_the_device() {
        let find = |name: &str| by_name(TABLE, &[name.to_owned()]);
        assert_eq!(find("mmc1"), [11]);
        assert_eq!(find("virtio1"), [24]);
        assert_eq!(find("1c18000.sata"), [30]);
        assert!(find("mmc").is_empty() && find("virtio10").is_empty());
        assert_eq!(find("ahci-sunxi"), [30]);
        assert_eq!(action(TABLE, 24).as_deref(), Some("virtio1-req.0"));
        assert_eq!(action(TABLE, 99), None);
    }

    #[test]
    fn an_ide_interface_has_the_old_interrupts_unless_it_is_in_native_mode() {
        assert_eq!(compatibility(0x01_0180), [14, 15]);
        assert_eq!(compatibility(0x01_0181), [15]);
        assert!(compatibility(0x01_0185).is_empty() && compatibility(0x01_0601).is_empty());
    }
}
