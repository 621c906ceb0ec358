//! Finding out what a container is: by its superblocks, else by its segments.

use crate::container::{
    BLOCK_BYTES, ContainerError, Identity, Pins, RECORD_BYTES, SEGMENT_UNIT, SegmentHeader, Superblock,
};
use crate::damage::Damage;
use crate::read_error::{ReadError, read};
use crate::store::Store;

/// How far segments are looked for where both superblocks are gone.
const SEARCH_BYTES: u64 = 4 << 30;

/// The superblock, and what is wrong with it.
pub(crate) fn superblock<S: Store>(store: &S) -> Result<(Superblock, Vec<Damage>), ReadError> {
    let length = store.length().map_err(|source| ReadError::Io { offset: 0, source })?;
    let decode = |offset| -> Result<Option<Superblock>, ReadError> {
        Ok(Superblock::decode(&read(store, offset, RECORD_BYTES)?)?)
    };
    let first = decode(0)?;
    let second_at = match &first {
        Some(first) => first.second_place(length),
        None => (length / BLOCK_BYTES).saturating_sub(1) * BLOCK_BYTES,
    };
    let mut second = decode(second_at)?;
    if first.is_none() && second.is_none() {
        // Larger blocks, or a device that has grown since.
        for block in [8192, 16384, 32768, 65536] {
            let at = (length / block).saturating_sub(1) * block;
            second = second.or(decode(at)?);
        }
    }
    let cut = |found: &Superblock| {
        let expected = found.geometry.container_bytes;
        if expected > length && !found.gives_back {
            Err(ContainerError::Cut { found: length, expected })
        } else {
            Ok(())
        }
    };
    let same = |a: &Superblock, b: &Superblock| a.identity.uuid == b.identity.uuid && a.geometry == b.geometry;
    let (superblock, damage) = match (first, second) {
        (Some(a), Some(b)) if same(&a, &b) => (if b.generation > a.generation { b } else { a }, Vec::new()),
        (Some(a), _) => {
            let offset = a.second_place(length);
            (a, vec![Damage::Superblock { offset }])
        }
        (None, Some(b)) => (b, vec![Damage::Superblock { offset: 0 }]),
        (None, None) => (from_segments(store, length)?, vec![Damage::BothSuperblocks]),
    };
    cut(&superblock)?;
    Ok((superblock, damage))
}

/// What the first segment that is found says of the container.
fn from_segments<S: Store>(store: &S, length: u64) -> Result<Superblock, ReadError> {
    let mut newest: Option<SegmentHeader> = None;
    let mut at = 0;
    while at < length.min(SEARCH_BYTES) {
        let header = SegmentHeader::decode(&read(store, at, RECORD_BYTES)?);
        let header = header.filter(|h| h.geometry.offset_of(h.segment) == at);
        at += header.as_ref().map_or(SEGMENT_UNIT, |h| h.geometry.segment_bytes);
        newest = newest.into_iter().chain(header).max_by_key(|h| (h.identity.epoch, h.segment));
    }
    let newest = newest.ok_or(ContainerError::None)?;
    let SegmentHeader { identity: Identity { uuid, epoch }, geometry, started_ns, .. } = newest;
    let pins = Pins::default();
    let gives_back = geometry.container_bytes > length;
    Ok(Superblock {
        identity: Identity { uuid, epoch },
        generation: 0,
        geometry,
        created_ns: started_ns,
        pins,
        gives_back,
    })
}
