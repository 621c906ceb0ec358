//! Over directories with files as control groups have them: a file that is written keeps what was written.

use super::*;
use model::Layer;

fn stack(scheduler: &str) -> Stack {
    let layer = |kind, name: &str, minor: Option<u32>, scheduler: Option<&str>| {
        let mut layer = Layer::new(kind, name);
        layer.device = minor.map(|minor| DeviceId { major: 8, minor });
        layer.counted = minor.is_some();
        layer.set(facts::SCHEDULER, scheduler.map(str::to_owned));
        layer
    };
    Stack {
        mount: None,
        layers: vec![
            layer(LayerKind::Filesystem, "ext4", None, None),
            layer(LayerKind::Partition, "sda1", Some(1), None),
            layer(LayerKind::Disk, "sda", Some(0), Some(scheduler)),
        ]
        .into(),
    }
}

fn group(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    files.iter().for_each(|(file, text)| std::fs::write(directory.path().join(file), text).unwrap());
    directory
}

fn found(group: &tempfile::TempDir, limits: &[Limit], scheduler: &str) -> Limits {
    let wish = |limit: &Limit| GroupLimit { group: group.path().to_owned(), limit: *limit };
    let mut limits = Limits::of(&limits.iter().map(wish).collect::<Vec<_>>()).unwrap();
    limits.find(&stack(scheduler));
    limits
}

fn text(group: &tempfile::TempDir, file: &str) -> String {
    std::fs::read_to_string(group.path().join(file)).unwrap()
}

const NEW: (&str, &str) = ("cgroup.controllers", "io\n");
const OLD: [(&str, &str); 2] = [("cgroup.procs", ""), ("blkio.reset_stats", "")];

#[test]
fn a_rate_of_version_2_is_set_read_back_and_put_back() {
    let directory =
        group(&[NEW, ("io.max", "8:16 rbps=7 wbps=8 riops=max wiops=max\n8:0 rbps=max wbps=5000 riops=max wiops=9\n")]);
    let mut limits = found(&directory, &[Limit::Most(Rate::Write, 70)], "none");
    let path = directory.path().canonicalize().unwrap().join("io.max");
    assert_eq!(limits.restores(), [Restore::Write(path, "8:0 wbps=5000".into())]);
    assert!(text(&directory, "io.max").starts_with("8:16"), "nothing is changed yet");
    limits.begin();
    assert_eq!(text(&directory, "io.max"), "8:0 wbps=70\n");
    let [limited] = limits.end().try_into().unwrap();
    assert_eq!(text(&directory, "io.max"), "8:0 wbps=5000\n");
    assert_eq!(limited.disk, Some(("sda".into(), DeviceId { major: 8, minor: 0 })));
    assert_eq!((limited.file, limited.without_effect, limited.put_back), (Some("io.max"), None, Some(true)));
}

#[test]
fn rates_of_version_1_have_files_of_their_own_and_0_is_none() {
    let files = ["read_bps", "write_bps", "read_iops", "write_iops"].map(|f| format!("blkio.throttle.{f}_device"));
    let mut all = OLD.to_vec();
    all.extend(files.iter().map(|file| (file.as_str(), "")));
    let directory = group(&all);
    let rates = [Rate::Read, Rate::Write, Rate::ReadOperations, Rate::WriteOperations];
    let limits = rates.map(|rate| Limit::Most(rate, 9));
    let mut limits = found(&directory, &limits, "none");
    limits.begin();
    files.iter().for_each(|file| assert_eq!(text(&directory, file), "8:0 9\n"));
    assert_eq!(limits.restores().len(), 4);
    drop(limits);
    files.iter().for_each(|file| assert_eq!(text(&directory, file), "8:0 0\n", "{file}: also where all ends early"));
}

#[test]
fn a_latency_is_in_microseconds_and_only_of_version_2() {
    let directory = group(&[NEW, ("io.latency", "")]);
    let mut limits = found(&directory, &[Limit::Latency(10_000_001)], "none");
    limits.begin();
    assert_eq!(text(&directory, "io.latency"), "8:0 target=10001\n");
    assert_eq!(limits.end()[0].without_effect, None);
    assert_eq!(text(&directory, "io.latency"), "8:0 target=0\n");
    let old = found(&group(&OLD), &[Limit::Latency(1)], "none").end();
    assert!(old[0].without_effect.as_ref().unwrap().contains("version 1"), "{old:?}");
}

#[test]
fn a_weight_counts_where_something_orders_by_it() {
    let weigh = |files: &[(&str, &str)], scheduler: &str| {
        let directory = group(files);
        let mut limits = found(&directory, &[Limit::Weight(10)], scheduler);
        limits.begin();
        let written = files.iter().map(|(file, _)| text(&directory, file)).find(|text| text.contains("10"));
        (written, limits.end().remove(0))
    };
    let (written, limited) =
        weigh(&[NEW, ("io.weight", "default 100\n"), ("io.cost.qos", "8:0 enable=1 ctrl=auto\n")], "none");
    assert_eq!((written.as_deref(), limited.without_effect), (Some("8:0 10\n"), None));
    let (written, limited) = weigh(&[NEW, ("io.weight", "default 100\n"), ("io.cost.qos", "8:16 enable=1\n")], "none");
    assert!(written.is_some() && limited.without_effect.unwrap().contains("io.cost is off for sda"));
    let (_, limited) = weigh(&[NEW, ("io.weight", "default 100\n"), ("io.bfq.weight", "default 100\n")], "bfq");
    assert_eq!((limited.file, limited.without_effect), (Some("io.bfq.weight"), None));
    let with = |files: &[(&'static str, &'static str)]| [&OLD[..], files].concat();
    let (written, limited) = weigh(&with(&[("blkio.bfq.weight", "500\n")]), "bfq");
    assert_eq!((written.as_deref(), limited.disk, limited.without_effect), (Some("10\n"), None, None));
    let (written, limited) = weigh(&with(&[("blkio.bfq.weight", "500\n")]), "mq-deadline");
    assert_eq!((written, limited.put_back), (None, None));
    assert!(limited.without_effect.unwrap().contains("the scheduler of sda is mq-deadline"));
}

#[test]
fn what_is_missing_or_did_not_take_is_said() {
    let limited = found(&group(&[NEW]), &[Limit::Most(Rate::Read, 1)], "none").end().remove(0);
    assert!(limited.without_effect.unwrap().contains("there is no io.max in the group"));
    // A file that takes what is written and has another value: here one that forgets.
    let directory = group(&[NEW]);
    std::os::unix::fs::symlink("/dev/null", directory.path().join("io.max")).unwrap();
    let limited = found(&directory, &[Limit::Most(Rate::Read, 1)], "none").end().remove(0);
    assert!(limited.without_effect.is_some(), "it is not a file");
    let directory = group(&[NEW, ("io.max", "")]);
    let mut limits = found(&directory, &[Limit::Most(Rate::Read, 50)], "none");
    limits.begin();
    std::fs::write(directory.path().join("io.max"), "8:0 rbps=60\n").unwrap();
    let limited = limits.end().remove(0);
    assert_eq!(limited.put_back, Some(false));
    assert_eq!(text(&directory, "io.max"), "8:0 rbps=60\n", "what others have set stays");
    let mut limits = found(&directory, &[Limit::Most(Rate::Read, 50)], "none");
    limits.begin();
    drop(directory);
    assert_eq!(limits.end()[0].put_back, Some(true), "a group that is gone has no values");
    let mut limits = Limits::of(&[GroupLimit { group: group(&[NEW]).keep(), limit: Limit::Weight(1) }]).unwrap();
    limits.find(&Stack::default());
    assert!(limits.end()[0].without_effect.as_ref().unwrap().contains("no disk"));
}

#[test]
fn what_is_no_group_is_refused_and_so_is_a_limit_that_is_named_twice() {
    let refused = |group: &Path, limits: &[Limit]| {
        let wish = |limit: &Limit| GroupLimit { group: group.to_owned(), limit: *limit };
        Limits::of(&limits.iter().map(wish).collect::<Vec<_>>()).unwrap_err().to_string()
    };
    let weight = [Limit::Weight(1)];
    assert!(refused(Path::new("/no/such"), &weight).contains("No such file"));
    assert!(refused(group(&[]).path(), &weight).contains("no control group"));
    assert!(refused(group(&[("cgroup.procs", "")]).path(), &weight).contains("blkio"));
    assert!(refused(group(&[NEW]).path(), &[Limit::Weight(1), Limit::Weight(2)]).contains("twice"));
}
