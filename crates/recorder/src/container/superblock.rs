//! What a container is; twice, at its start and in its last block.

use super::fields::{RECORD_BYTES, seal, sealed};
use super::{ContainerError, Geometry, Identity, PINNED_VERSION, Pins, Put, VERSION};

const MAGIC: &[u8; 8] = b"NARRWREC";
const VERSION_AT: usize = 8;

/// What a container is, and how often it was opened for recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Which container, and which opening.
    pub identity: Identity,
    /// The newer of two copies has the higher one.
    pub generation: u64,
    /// Where everything lies.
    pub geometry: Geometry,
    /// When it was made, nanoseconds since 1970.
    pub created_ns: u64,
    /// What is not overwritten.
    pub pins: Pins,
}

impl Superblock {
    /// As it is written.
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        let version = if self.pins.is_empty() { VERSION } else { PINNED_VERSION };
        let put = Put::into(&mut record).bytes(MAGIC).u32(version);
        let put = self.identity.put(put).u64(self.generation).u64(self.created_ns);
        let put = self.geometry.put(put);
        if version == PINNED_VERSION {
            self.pins.put(put);
        }
        seal(&mut record);
        record
    }

    /// What a block says; `None` where it is no superblock, or a damaged one.
    ///
    /// # Errors
    /// [`ContainerError::Version`] of a later version.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, ContainerError> {
        let Some(mut fields) = sealed(bytes, MAGIC) else { return Ok(None) };
        let version = fields.at(VERSION_AT).u32();
        if ![VERSION, PINNED_VERSION].contains(&version) {
            return Err(ContainerError::Version { found: version });
        }
        let identity = Identity::get(&mut fields);
        let (generation, created_ns) = (fields.u64(), fields.u64());
        let Some(geometry) = Geometry::get(&mut fields) else { return Ok(None) };
        let pins = if version == PINNED_VERSION { Pins::get(&mut fields) } else { Some(Pins::default()) };
        let pins = pins.filter(|pins| pins.segments() <= geometry.segments);
        Ok(pins.map(|pins| Self { identity, generation, geometry, created_ns, pins }))
    }
}
