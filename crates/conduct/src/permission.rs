//! What lets a target be written to, as the user has to say it.

use crate::admission::quoted;
use crate::opened::Opened;
use model::{DeviceId, Failure, TargetKind};
use observe::Root;
use std::path::Path;

/// Whether a target may be written to, where `what` is to be found out that shows only so: `its classes show`.
///
/// # Errors
/// Nothing may be written.
pub fn may_be_written(opened: &Opened, what: &str) -> Result<(), Failure> {
    let spec::Readiness::ReadOnly(why) = &opened.readiness else { return Ok(()) };
    let message = format!("{}: {what} only by writing, and nothing may be written: {why}", opened.target.name);
    Err(Failure::refused(message).remedy(remedy(opened)))
}

fn remedy(opened: &Opened) -> String {
    match opened.target.kind {
        TargetKind::BlockDevice => {
            let identity = identity(opened).map_or_else(|| "SERIAL".to_owned(), |text| quoted(&text));
            format!("if this is a device to be overwritten: --destroy {identity}")
        }
        TargetKind::File => "if its content may be lost: --overwrite".to_owned(),
        _ => "a device that may be overwritten: --destroy SERIAL; a file: --overwrite".to_owned(),
    }
}

/// What names the device beyond doubt: of a loop device, which has no serial number, its name.
fn identity(opened: &Opened) -> Option<String> {
    let path = opened.target.path.as_deref().unwrap_or(&opened.target.name);
    let Ok(sys::Node::Block((major, minor))) = sys::node_at(Path::new(path)) else { return None };
    observe::device_identity(&Root::new("/"), DeviceId { major, minor }).map(|identity| identity.text)
}
