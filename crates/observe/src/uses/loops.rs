//! Loop devices and what they stand on. The file is known by its inode: its name may be gone, moved, or another
//! namespace's.

use super::store::{Store, Stores};
use crate::block_devices::{device_number, parse_device};
use crate::root::Root;
use model::DeviceId;
use std::fs::File;
use std::io;

/// A loop device in use.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub name: String,
    pub id: DeviceId,
    /// The file or device below; `None` where it could not be asked.
    pub backing: Option<Store>,
    /// Name of the file, for people.
    pub file: String,
    /// Where it begins in the file, bytes.
    pub offset: u64,
}

/// All that have a file.
pub(super) fn loops(root: &Root, stores: &Stores<'_>) -> Vec<Loop> {
    let mut out = Vec::new();
    for name in root.list("/sys/block").into_iter().filter(|n| n.starts_with("loop")) {
        let attribute = |a: &str| root.text(&format!("/sys/block/{name}/loop/{a}"));
        let Some(id) = device_number(root, &name) else { continue };
        let Some(file) = attribute("backing_file") else { continue };
        let offset = attribute("offset").and_then(|o| o.parse().ok()).unwrap_or(0);
        let backing = told(root, &name, id).or_else(|| {
            // What a name says does for a captured tree; on this machine it may be a name of another namespace.
            stores.at(&file).filter(|_| !root.is_live())
        });
        out.push(Loop { backing, id, file, offset, name });
    }
    out
}

/// What the device itself tells: `8:1 1234 0:0`, which are device and inode of the file, and the device that it stands for.
fn told(root: &Root, name: &str, id: DeviceId) -> Option<Store> {
    let answer = root.answer(&format!("loop/{name}"), || Ok(ask(name, id)?.into_bytes())).ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let mut fields = answer.split_ascii_whitespace();
    let file_system = parse_device(fields.next()?)?;
    let inode = fields.next()?.parse().ok()?;
    let device = parse_device(fields.next()?)?;
    let is_node = device != DeviceId { major: 0, minor: 0 };
    Some(if is_node { Store::Device(device) } else { Store::File { device: file_system, inode } })
}

fn ask(name: &str, id: DeviceId) -> io::Result<String> {
    let node = format!("/dev/{name}");
    let is_it = || sys::node_at(node.as_ref()).is_ok_and(|n| n == sys::Node::Block((id.major, id.minor)));
    if !is_it() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let device: File = sys::open_existing(node.as_ref(), sys::OpenMode::Read)?;
    let status = sys::loop_status(&device)?;
    let (major, minor) = status.file_system;
    let (device_major, device_minor) = status.device;
    Ok(format!("{major}:{minor} {} {device_major}:{device_minor}\n", status.inode))
}
