//! What holds bytes, by what the kernel knows it by: a number, never a name.

use crate::block_devices::{device_of_node, parse_device};
use crate::root::Root;
use model::DeviceId;
use std::collections::BTreeMap;

/// What holds bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Store {
    /// A block device.
    Device(DeviceId),
    /// A regular file: `st_dev` and `st_ino`. All its hard links are the same.
    File {
        /// The file system's.
        device: DeviceId,
        /// The inode's number.
        inode: u64,
    },
}

/// In a captured tree: what paths lead to, one a line: `/proc/77/fd/3 b 8:0`, `/swapfile f 8:1 1234`.
const NODES: &str = "/narrows/nodes";

/// Tells what paths lead to.
pub(super) struct Stores<'a> {
    root: &'a Root,
    captured: BTreeMap<String, Store>,
}

impl<'a> Stores<'a> {
    pub(super) fn of(root: &'a Root) -> Self {
        let list = if root.is_live() { Vec::new() } else { root.read(NODES).unwrap_or_default() };
        let captured = String::from_utf8_lossy(&list).lines().filter_map(parse_line).collect();
        Self { root, captured }
    }

    /// What a path leads to, links followed, those of /proc to open files included; `None` for everything else that may
    /// lie there, and for nothing.
    pub(super) fn at(&self, path: &str) -> Option<Store> {
        if self.root.is_live() {
            return match sys::node_at(path.as_ref()).ok()? {
                sys::Node::Block((major, minor)) => Some(Store::Device(DeviceId { major, minor })),
                sys::Node::File { device: (major, minor), inode } => {
                    Some(Store::File { device: DeviceId { major, minor }, inode })
                }
                sys::Node::Other => None,
            };
        }
        let link = self.root.link(path);
        let named = || link.as_deref().filter(|l| l.starts_with('/')).unwrap_or(path);
        let captured = self.captured.get(path).or_else(|| self.captured.get(named())).copied();
        captured
            .or_else(|| device_of_node(self.root, named()).filter(|_| named().starts_with("/dev/")).map(Store::Device))
    }
}

fn parse_line(line: &str) -> Option<(String, Store)> {
    let mut fields = line.split(' ');
    let path = fields.next()?.to_owned();
    let store = match (fields.next()?, parse_device(fields.next()?)?) {
        ("b", device) => Store::Device(device),
        ("f", device) => Store::File { device, inode: fields.next()?.parse().ok()? },
        _ => return None,
    };
    Some((path, store))
}
