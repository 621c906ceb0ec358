//! File systems that stand on no block device of this machine: what the kernel tells of them, from mounts as they are shown.

use crate::tree::Tree;
use observe::{PathSource, facts};

/// A tree whose only mount is this one, with more files.
fn at(mount: &str, files: &[(&str, &str)]) -> observe::Inventory {
    let tree = Tree::build(include_str!("../trees/virtio.tree"));
    std::fs::write(tree.host("/proc/self/mountinfo"), format!("40 27 0:40 / /srv rw - {mount}\n")).unwrap();
    for (path, text) in files {
        let path = tree.host(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    tree.at("/srv/x")
}

#[test]
fn an_smb_mount_says_how_it_caches_and_its_session_how_it_is_connected() {
    let debug = [("/proc/fs/cifs/DebugData", include_str!("../data/cifs-debugdata.txt"))];
    let seen = at("cifs //NAS.example/data rw,vers=3.1.1,cache=none,rsize=4194304,soft,actimeo=1", &debug);
    let fs = &seen.stack.layers[0];
    assert_eq!((fs.text(facts::SMB_VERSION), fs.text(facts::SMB_CACHE)), (Some("3.1.1"), Some("none")));
    assert_eq!((fs.bool(facts::SMB_SIGNED), fs.bool(facts::SMB_ENCRYPTED)), (Some(true), Some(false)));
    assert_eq!((fs.int(facts::SMB_CHANNELS), fs.int(facts::SMB_INTERFACES)), (Some(1), Some(2)));
    assert_eq!((fs.bool(facts::ATTRIBUTES_CACHED), fs.int(facts::SMB_READ_BYTES)), (Some(true), Some(4 << 20)));
    assert_eq!(PathSource::of(&seen.stack), Some(PathSource::Smb { source: "//NAS.example/data".into() }));
    let seen = at("cifs //NAS.example/data rw,sec=krb5i,seal,cache=strict", &[]);
    let fs = &seen.stack.layers[0];
    assert_eq!((fs.bool(facts::SMB_SIGNED), fs.bool(facts::SMB_ENCRYPTED)), (Some(true), Some(true)), "by the options");
    assert!(fs.facts[facts::SMB_CHANNELS].is_null(), "DebugData was not there");
}

#[test]
fn the_read_ahead_of_a_mount_is_found_by_its_number_or_its_type_where_there_is_one() {
    let kept = |bdi: &str| (format!("/sys/class/bdi/{bdi}/read_ahead_kb"), "4096\n");
    let (own, other, by_number) = (kept("cifs-3"), kept("cifs-4"), kept("0:40"));
    let found = |mount: &str, files: &[&(String, &str)]| {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let fs = at(mount, &files).stack.layers[0].clone();
        (fs.text(facts::BDI).map(str::to_owned), fs.int(facts::BDI_READ_AHEAD_KB))
    };
    let one = (Some("cifs-3".to_owned()), Some(4096));
    assert_eq!(found("cifs //nas/a rw", &[&own]), one);
    assert_eq!(found("cifs //nas/a rw", &[&own, &other]), (None, None), "which of two is not known");
    assert_eq!(found("cifs //nas/a rw\n41 27 0:41 / /b rw - cifs //nas/b rw", &[&own]), (None, None));
    assert_eq!(found("cifs //nas/a rw\n41 27 0:40 /s /b rw - cifs //nas/a rw", &[&own]), one, "mounted twice");
    assert_eq!(found("nfs4 nas:/a rw", &[&own, &by_number]), (Some("0:40".to_owned()), Some(4096)));
    assert_eq!(found("smb3 //nas/a rw", &[&own]), (None, None));
}

#[test]
fn zfs_says_how_large_its_cache_is() {
    let kstat = [("/proc/spl/kstat/zfs/arcstats", include_str!("../data/zfs-arcstats.kstat"))];
    let seen = at("zfs tank/data rw,xattr", &kstat);
    let fs = &seen.stack.layers[0];
    assert_eq!((fs.int(facts::ARC_SIZE_BYTES), fs.int(facts::ARC_LIMIT_BYTES)), (Some(4 << 30), Some(16_777_216_000)));
    assert!(seen.missing.iter().any(|m| m.contains("zpool status tank")), "{:?}", seen.missing);
    assert!(seen.missing.iter().any(|m| m.contains("zfs get recordsize,sync,primarycache,compression tank/data")));
}

#[test]
fn ceph_9p_virtiofs_and_fuse_say_what_their_options_say() {
    let seen = at("ceph 192.0.2.1:6789:/ rw,name=u", &[]);
    assert_eq!(seen.stack.layers[0].int(facts::CEPH_READ_AHEAD_BYTES), Some(8 << 20));
    let seen = at("9p share rw,trans=virtio,msize=512000,cache=mmap", &[]);
    let fs = &seen.stack.layers[0];
    assert_eq!((fs.int(facts::P9_MESSAGE_BYTES), fs.text(facts::P9_CACHE)), (Some(512_000), Some("mmap")));
    let seen = at("virtiofs share rw", &[]);
    assert_eq!(seen.stack.layers[0].text(facts::MOUNTED_WITH_DAX), Some("never"));
    let background = [("/sys/fs/fuse/connections/40/max_background", "12\n")];
    let seen = at("fuse.sshfs u@h: rw,max_read=65536", &background);
    let fs = &seen.stack.layers[0];
    assert_eq!((fs.int(facts::FUSE_MAX_READ_BYTES), fs.int(facts::FUSE_MAX_BACKGROUND)), (Some(65_536), Some(12)));
}

/// A PC's NVMe drive that says it is a volume of a cloud.
#[test]
fn a_cloud_volume_has_what_is_published_of_it_and_where_that_was_read() {
    let seen = |model: &str, dmi: &[(&str, &str)]| {
        let tree = Tree::build(include_str!("../trees/nvme-pc.tree"));
        let controller = "/sys/devices/pci0000:00/0000:00:01.2/0000:02:00.0/nvme/nvme0";
        std::fs::write(tree.host(&format!("{controller}/model")), format!("{model}          \n")).unwrap();
        for (file, text) in dmi {
            std::fs::write(tree.host(&format!("/sys/class/dmi/id/{file}")), text).unwrap();
        }
        let seen = tree.at("/home/x");
        seen.stack.first(model::LayerKind::Disk).unwrap().clone()
    };
    let ebs = seen("Amazon Elastic Block Store", &[("sys_vendor", "Amazon EC2\n"), ("product_name", "m5.large\n")]);
    assert_eq!((ebs.text(facts::CLOUD_VOLUME), ebs.text(facts::CLOUD_INSTANCE)), (Some("ebs"), Some("m5.large")));
    assert_eq!((ebs.int(facts::PUBLISHED_BYTES_PER_S), ebs.int(facts::PUBLISHED_IOPS)), (Some(81_250_000), Some(3600)));
    assert_eq!(ebs.int(facts::PUBLISHED_BURST_BYTES_PER_S), Some(593_750_000));
    let source = ebs.text(facts::PUBLISHED_SOURCE).unwrap();
    assert!(source.contains("https://github.com/awsdocs/") && source.contains("2026-11-28"), "{source}");
    // An instance that the table does not have, and a volume of which nothing is published by what a guest sees.
    let newer = seen("Amazon Elastic Block Store", &[("product_name", "m99.large\n")]);
    assert_eq!((newer.text(facts::CLOUD_INSTANCE), newer.int(facts::PUBLISHED_IOPS)), (Some("m99.large"), None));
    let google = seen("nvme_card-pd", &[]);
    assert_eq!(
        (google.text(facts::CLOUD_VOLUME), google.int(facts::PUBLISHED_IOPS)),
        (Some("google-persistent-disk"), None)
    );
    let azure = seen("MSFT NVMe Accelerator v1.0", &[]);
    assert!(azure.text(facts::PUBLISHED_OF).is_some_and(|of| of.starts_with("Azure Premium SSD")), "{azure:?}");
    assert_eq!(seen("Samsung SSD 990 EVO 1TB", &[("product_name", "m5.large\n")]).fact(facts::CLOUD_VOLUME), None);
}
