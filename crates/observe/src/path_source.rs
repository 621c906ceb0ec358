//! What carries a path where no block device does, and counts it: the client of NFS or SMB, ZFS.

use crate::root::Root;
use crate::sampler::files::OpenFile;
use crate::{nfs, smb, zfs};
use model::{Layer, LayerKind, PathCounter, Stack, SystemSample, facts};

/// The statistics of all mounts together are read in every look up to this length.
const LONG_STATISTICS_BYTES: usize = 64 << 10;

/// Who counts, and by which name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathSource {
    /// The NFS mount on this mount point.
    Nfs { mount_point: String },
    /// The SMB share of this mount source, `//server/share`.
    Smb { source: String },
    /// The ZFS dataset of this name.
    Zfs { dataset: String },
}

impl PathSource {
    /// Of the uppermost file system of a path that has one.
    pub fn of(stack: &Stack) -> Option<Self> {
        stack.all(LayerKind::Filesystem).find_map(Self::of_layer)
    }

    fn of_layer(layer: &Layer) -> Option<Self> {
        let text = |name| layer.text(name).map(str::to_owned);
        match layer.text(facts::FSTYPE)? {
            fstype if nfs::is_nfs(fstype) => Some(Self::Nfs { mount_point: text(facts::MOUNT_POINT)? }),
            fstype if smb::is_smb(fstype) => Some(Self::Smb { source: text(facts::MOUNT_SOURCE)? }),
            "zfs" => Some(Self::Zfs { dataset: text(facts::MOUNT_SOURCE)? }),
            _ => None,
        }
    }
}

/// The files that are open during a run.
pub(crate) enum PathFiles {
    Nfs {
        mount_point: String,
        stats: OpenFile,
        snmp: Option<OpenFile>,
        netstat: Option<OpenFile>,
        /// The statistics of all mounts together are long: they are a slow source.
        is_long: bool,
    },
    Smb {
        source: String,
        stats: OpenFile,
    },
    Zfs {
        arc: Option<OpenFile>,
        dataset: Option<OpenFile>,
        /// Of all pools, where the dataset does not count its own.
        zil: Option<OpenFile>,
    },
}

impl PathFiles {
    /// `None` where the kernel shows nothing of it.
    pub fn open(root: &Root, source: &PathSource) -> Option<Self> {
        let open = |path: &str| OpenFile::open(root, path);
        Some(match source {
            PathSource::Nfs { mount_point } => Self::Nfs {
                mount_point: mount_point.clone(),
                stats: open("/proc/self/mountstats")?,
                snmp: open("/proc/net/snmp"),
                netstat: open("/proc/net/netstat"),
                is_long: false,
            },
            PathSource::Smb { source } => Self::Smb { source: source.clone(), stats: open("/proc/fs/cifs/Stats")? },
            PathSource::Zfs { dataset } => Self::Zfs {
                arc: open(&zfs::arc_file()),
                dataset: zfs::dataset_file(root, dataset).and_then(|path| open(&path)),
                zil: open(&zfs::zil_file()),
            },
        })
    }

    /// Puts what is counted now into a sample; `slow` where slow sources are due.
    pub fn sample(&mut self, slow: bool, buffer: &mut Vec<u8>, sample: &mut SystemSample) {
        match self {
            Self::Nfs { mount_point, stats, snmp, netstat, is_long } => {
                if *is_long && !slow {
                    return;
                }
                if let Some(text) = stats.all(buffer) {
                    *is_long = text.len() > LONG_STATISTICS_BYTES;
                    sample.nfs = nfs::operations(text, mount_point);
                }
                let segments = snmp.as_ref().and_then(|file| nfs::tcp_segments(file.once(buffer)?));
                (sample.tcp_segments_out, sample.tcp_segments_again) = segments.unzip();
                let netstat = netstat.as_ref().and_then(|file| file.all(buffer));
                sample.tcp_segments_late = netstat.and_then(nfs::tcp_segments_late);
            }
            Self::Smb { source, stats } => {
                sample.path = stats.all(buffer).map(|text| smb::share_counters(text, source)).unwrap_or_default();
            }
            Self::Zfs { arc, dataset, zil } => {
                let mut counted = |file: &Option<OpenFile>, parse: fn(&[u8]) -> Vec<PathCounter>| {
                    file.as_ref().and_then(|file| file.all(buffer)).map(parse).unwrap_or_default()
                };
                sample.path = counted(arc, zfs::arc_counters);
                sample.path.extend(counted(dataset, zfs::dataset_counters));
                let has_own = sample.path.iter().any(|c| c.name == model::path_counter::ZIL_COMMITS);
                if !has_own {
                    sample.path.extend(counted(zil, zfs::zil_counters));
                }
            }
        }
    }
}
