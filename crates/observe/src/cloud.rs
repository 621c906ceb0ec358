//! What a cloud publishes of a disk's limits, where the machine says which instance and which kind of volume it has: DMI, models of NVMe
//! controllers. The tables are in `clouds/`, each with its source and the date of reading.
//!
//! A guest does not see which volume type, or how much was provisioned: an instance's limits hold for all its volumes together, and a
//! Premium SSD's for one of this size. What Google publishes is by the type of the disk, which its guests do not see: `diagnose` tries each.

use crate::facts;
use crate::root::Root;
use model::{Layer, LayerKind};

const EBS: &str = include_str!("../clouds/aws-ebs.csv");
const PREMIUM_SSD: &str = include_str!("../clouds/azure-premium-ssd.csv");

/// Of a disk's model, or of its vendor and model: which kind of volume it is.
const VOLUMES: [(&str, &str); 7] = [
    ("Amazon Elastic Block Store", "ebs"),
    ("Amazon EC2 NVMe Instance Storage", "ec2-instance-store"),
    ("nvme_card-pd", "google-persistent-disk"),
    ("PersistentDisk", "google-persistent-disk"),
    ("nvme_card", "google-local-ssd"),
    ("MSFT NVMe Accelerator v1.0", "azure-disk"),
    ("Microsoft NVMe Direct Disk", "azure-local-disk"),
];
/// Tag of the chassis of each machine in Azure (other Hyper-V guests have none, or another).
const AZURE_TAG: &str = "7783-7084-3265-9085-8269-3286-77";

/// Limits that are published, decimal MB.
#[derive(Clone, Debug, PartialEq)]
struct Published<'a> {
    of: &'a str,
    mb_per_s: f64,
    iops: u64,
    most_mb_per_s: f64,
    most_iops: u64,
}

/// The rows of a table, words by commas; comments begin with #, and the first row names the columns.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}

fn published<'a>(of: &'a str, numbers: &[&str]) -> Option<Published<'a>> {
    let [mb, iops, most_mb, most_iops] = numbers else { return None };
    Some(Published {
        of,
        mb_per_s: mb.parse().ok()?,
        iops: iops.parse().ok()?,
        most_mb_per_s: most_mb.parse().ok()?,
        most_iops: most_iops.parse().ok()?,
    })
}

/// Of an EC2 instance to its EBS volumes.
fn of_instance(instance: &str) -> Option<Published<'static>> {
    rows(EBS).find(|row| row[0] == instance).and_then(|row| published(row[0], &row[1..]))
}

/// Of a Premium SSD of this size: the tier is the smallest that holds it.
fn of_premium_ssd(bytes: u64) -> Option<Published<'static>> {
    let holds = |row: &Vec<&str>| row[1].parse::<u64>().is_ok_and(|gib| bytes <= gib << 30);
    rows(PREMIUM_SSD).find(holds).and_then(|row| published(row[0], &row[2..]))
}

/// The line of a table's comment that names where it was read.
fn source(table: &'static str) -> String {
    let words = |line: &'static str| line.trim_start_matches('#').trim();
    let comments = table.lines().filter(|line| line.starts_with('#')).map(words);
    comments
        .filter(|line| line.contains("https://"))
        .map(|line| format!("{line}, read on 2026-11-28"))
        .next()
        .unwrap_or_default()
}

fn dmi(root: &Root, file: &str) -> Option<String> {
    root.text(&format!("/sys/class/dmi/id/{file}"))
}

/// The kind of volume of a disk, by its model.
fn volume(model: &str) -> Option<&'static str> {
    let model = model.trim();
    VOLUMES.iter().find(|(name, _)| model == *name).map(|(_, volume)| *volume)
}

/// What the disk is in its cloud, and what is published of that.
pub(crate) fn set_facts(root: &Root, disk: &mut Layer) {
    if disk.kind != LayerKind::Disk {
        return;
    }
    let model = disk.text(facts::MODEL).unwrap_or_default().to_owned();
    let azure = || dmi(root, "chassis_asset_tag").is_some_and(|tag| tag.trim() == AZURE_TAG);
    let volume = volume(&model).or_else(|| (model.trim() == "Virtual Disk" && azure()).then_some("azure-disk"));
    let Some(volume) = volume else { return };
    disk.set(facts::CLOUD_VOLUME, volume);
    let (limits, words, table) = match volume {
        "ebs" => {
            // Nitro instances have their type as the product's name; older ones are Xen guests without NVMe.
            let instance = dmi(root, "product_name").map(|name| name.trim().to_owned());
            disk.set(facts::CLOUD_INSTANCE, instance.clone());
            let limits = instance.and_then(|instance| of_instance(&instance));
            (limits, "EC2 instance, all its EBS volumes together:", EBS)
        }
        "azure-disk" => {
            let size = disk.int(facts::SIZE_BYTES).and_then(|bytes| u64::try_from(bytes).ok());
            (size.and_then(of_premium_ssd), "Azure Premium SSD of this size, if it is one:", PREMIUM_SSD)
        }
        _ => return,
    };
    let Some(limits) = limits else { return };
    let bytes = |mb: f64| (mb * 1e6) as u64;
    disk.set(facts::PUBLISHED_OF, format!("{words} {}", limits.of));
    disk.set(facts::PUBLISHED_BYTES_PER_S, bytes(limits.mb_per_s));
    disk.set(facts::PUBLISHED_IOPS, limits.iops);
    disk.set(facts::PUBLISHED_BURST_BYTES_PER_S, bytes(limits.most_mb_per_s));
    disk.set(facts::PUBLISHED_BURST_IOPS, limits.most_iops);
    disk.set(facts::PUBLISHED_SOURCE, source(table));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_whole_and_no_burst_is_less_than_what_lasts() {
        let instances: Vec<Vec<&str>> = rows(EBS).collect();
        assert!(instances.len() > 300, "{}", instances.len());
        let tiers: Vec<Vec<&str>> = rows(PREMIUM_SSD).collect();
        assert_eq!(tiers.len(), 14);
        let all = instances.iter().map(|row| published(row[0], &row[1..]));
        for limits in all.chain(tiers.iter().map(|row| published(row[0], &row[2..]))) {
            let l = limits.expect("numbers");
            assert!(l.mb_per_s > 0.0 && l.mb_per_s <= l.most_mb_per_s && l.iops <= l.most_iops, "{l:?}");
        }
        let m5 = Published { of: "m5.large", mb_per_s: 81.25, iops: 3600, most_mb_per_s: 593.75, most_iops: 18_750 };
        assert_eq!(of_instance("m5.large"), Some(m5));
        assert_eq!(of_instance("m5"), None);
        assert_eq!(of_premium_ssd(1 << 40).map(|l| l.of), Some("P30"));
        assert_eq!(of_premium_ssd((1 << 40) + 1).map(|l| l.of), Some("P40"));
        assert!(source(EBS).contains("awsdocs/amazon-ec2-user-guide") && source(PREMIUM_SSD).contains("MicrosoftDocs"));
    }

    #[test]
    fn kinds_of_volumes_by_their_models() {
        assert_eq!(volume("nvme_card-pd"), Some("google-persistent-disk"));
        assert_eq!(volume("Amazon Elastic Block Store              "), Some("ebs"));
        assert_eq!((volume("nvme_card1"), volume("Samsung SSD 980")), (None, None));
    }
}
