//! Devices whose drivers are programs (UIO; k:Documentation/driver-api/uio-howto.rst).

use crate::root::Root;

/// The bytes of the first map of the UIO device of this name; `None` where it has none.
pub fn uio_bytes(root: &Root, name: &str) -> Option<u64> {
    root.hex(&format!("/sys/class/uio/{name}/maps/map0/size"))
}
