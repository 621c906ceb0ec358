//! What a container is; twice, at its start and in its last block.

use super::fields::{RECORD_BYTES, seal, sealed};
use super::{ContainerError, FieldWriter, Geometry, Identity, NEWEST_VERSION, PINNED_VERSION, Pins, VERSION};

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
    /// Whether room that is not used is given back: its file may be shorter than the container.
    pub gives_back: bool,
}

impl Superblock {
    /// The bytes of the record.
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        let version = match self.gives_back {
            true => NEWEST_VERSION,
            false if self.pins.is_empty() => VERSION,
            false => PINNED_VERSION,
        };
        let put = FieldWriter::into(&mut record).bytes(MAGIC).u32(version);
        let put = self.identity.put(put).u64(self.generation).u64(self.created_ns);
        let put = self.geometry.put(put);
        if version >= PINNED_VERSION {
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
        if !(VERSION..=NEWEST_VERSION).contains(&version) {
            return Err(ContainerError::Version { found: version });
        }
        let identity = Identity::get(&mut fields);
        let (generation, created_ns) = (fields.u64(), fields.u64());
        let Some(geometry) = Geometry::get(&mut fields) else { return Ok(None) };
        let pins = if version >= PINNED_VERSION { Pins::get(&mut fields) } else { Some(Pins::default()) };
        let pins = pins.filter(|pins| pins.segments() <= geometry.segments);
        let gives_back = version == NEWEST_VERSION;
        Ok(pins.map(|pins| Self { identity, generation, geometry, created_ns, pins, gives_back }))
    }

    /// Where the second copy is in a file or device of this length: in the container's last block, of one that is shorter in its own.
    pub fn second_place(&self, length: u64) -> u64 {
        let block = self.geometry.block_bytes;
        let end = if self.gives_back { length / block * block } else { u64::MAX };
        end.min(self.geometry.container_bytes).saturating_sub(block)
    }
}
