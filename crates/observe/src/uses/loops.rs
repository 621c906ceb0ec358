//! Loop devices and what they stand on. The file is known by its inode: its name may be gone, moved, or another
//! namespace's.

use super::store::{Store, Stores};
use crate::block_devices::{device_number, parse_device};
use crate::read_error::ReadError;
use crate::root::Root;
use model::DeviceId;
use std::fs::File;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a device that is being taken from its file may have the file's name while it tells ENXIO already: from Lo_rundown
/// until its attributes go (k:drivers/block/loop.c, lo_open and __loop_clr_fd). 0.2 ms at most were seen.
const LEAVING_LIMIT: Duration = Duration::from_secs(1);
/// How often it is looked at until then.
const LEAVING_INTERVAL: Duration = Duration::from_millis(5);

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

/// Loop devices that have a backing file.
pub(super) fn loops(root: &Root, stores: &Stores<'_>) -> Vec<Loop> {
    let names = root.list("/sys/block").into_iter().filter(|n| n.starts_with("loop"));
    names.filter_map(|name| looked_at(root, stores, name)).collect()
}

/// One device; `None` where it has no file, or has lost it meanwhile.
fn looked_at(root: &Root, stores: &Stores<'_>, name: String) -> Option<Loop> {
    let attribute = |a: &str| root.text(&format!("/sys/block/{name}/loop/{a}"));
    let id = device_number(root, &name)?;
    attribute("backing_file")?;
    let since = Instant::now();
    let answer = root.answer(&format!("loop/{name}"), || {
        loop {
            match ask(&name, id).map_err(ReadError::from) {
                Err(ReadError::Refused) if since.elapsed() < LEAVING_LIMIT && attribute("backing_file").is_some() => {
                    sleep(LEAVING_INTERVAL);
                }
                answer => return Ok(answer?.into_bytes()),
            }
        }
    });
    let file = attribute("backing_file")?;
    let offset = attribute("offset").and_then(|o| o.parse().ok()).unwrap_or(0);
    let backing = answer.ok().and_then(|a| backing_from_device(&String::from_utf8(a).ok()?)).or_else(|| {
        // What a name says does for a captured tree; on this machine it may be a name of another namespace.
        stores.at(&file).filter(|_| !root.is_live())
    });
    Some(Loop { backing, id, file, offset, name })
}

/// What the device itself tells: `8:1 1234 0:0`, which are device and inode of the file, and the device that it stands for.
fn backing_from_device(answer: &str) -> Option<Store> {
    let mut fields = answer.split_ascii_whitespace();
    let file_system = parse_device(fields.next()?)?;
    let inode = fields.next()?.parse().ok()?;
    let device = parse_device(fields.next()?)?;
    let is_node = device != DeviceId { major: 0, minor: 0 };
    Some(if is_node { Store::Device(device) } else { Store::File { device: file_system, inode } })
}

/// Refused (ENXIO) by a device without a file.
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
