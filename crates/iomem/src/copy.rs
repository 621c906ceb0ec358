//! The copies: which accesses, in which order.

use crate::{Access, AccessRules, Bus, Direction, Error, Mode, ReadEffect, Width, WordOrder};

/// The bytes of the widest access.
const WIDEST: usize = Width::B64.bytes();

/// Copies from a device to memory: `to.len()` bytes from `offset` of the region.
///
/// # Errors
/// Where the bytes do not lie within the region, or the rules do not allow it; nothing was accessed then.
pub fn copy_from_io<B: Bus>(bus: &mut B, rules: &AccessRules, offset: usize, to: &mut [u8]) -> Result<(), Error> {
    check(bus, rules, offset, to.len(), Direction::Read)?;
    if to.is_empty() {
        return Ok(());
    }
    bus.before(Direction::Read, rules.mode);
    let mut done = 0;
    while done < to.len() {
        let at = offset + done;
        let left = to.len() - done;
        done += match whole_word(bus, rules, at, left) {
            Some((start, width)) => {
                let mut word = [0; WIDEST];
                bus.read(start, &mut word[..width]);
                let bytes = left.min(start + width - at);
                to[done..done + bytes].copy_from_slice(&word[at - start..at - start + bytes]);
                bytes
            }
            None => {
                let (access, bytes) = run(bus, rules, at, left);
                bus.read_run(access, at, &mut to[done..done + bytes]);
                bytes
            }
        };
    }
    bus.after(Direction::Read, rules.mode);
    if let WordOrder::Swapped(word) = rules.words {
        to.chunks_exact_mut(word.bytes()).for_each(<[u8]>::reverse);
    }
    Ok(())
}

/// Copies from memory to a device: all of `from` to `offset` of the region.
///
/// # Errors
/// Where the bytes do not lie within the region, or the rules do not allow it; nothing was accessed then.
pub fn copy_to_io<B: Bus>(bus: &mut B, rules: &AccessRules, offset: usize, from: &[u8]) -> Result<(), Error> {
    check(bus, rules, offset, from.len(), Direction::Write)?;
    if from.is_empty() {
        return Ok(());
    }
    bus.before(Direction::Write, rules.mode);
    let mut done = 0;
    while done < from.len() {
        let (access, mut bytes) = run(bus, rules, offset + done, from.len() - done);
        if let WordOrder::Swapped(word) = rules.words {
            let mut turned = [0; WIDEST];
            bytes = access.width.bytes();
            let turned = &mut turned[..bytes];
            turned.copy_from_slice(&from[done..done + bytes]);
            turned.chunks_exact_mut(word.bytes()).for_each(<[u8]>::reverse);
            bus.write(offset + done, turned);
        } else {
            bus.write_run(access, offset + done, &from[done..done + bytes]);
        }
        done += bytes;
    }
    bus.after(Direction::Write, rules.mode);
    Ok(())
}

/// Writes one value to `bytes` bytes of a device, from `offset` of the region.
///
/// # Errors
/// Where the bytes do not lie within the region, or the rules do not allow it; nothing was accessed then.
pub fn set_io<B: Bus>(bus: &mut B, rules: &AccessRules, offset: usize, value: u8, bytes: usize) -> Result<(), Error> {
    check(bus, rules, offset, bytes, Direction::Write)?;
    if bytes == 0 {
        return Ok(());
    }
    bus.before(Direction::Write, rules.mode);
    let mut done = 0;
    while done < bytes {
        let (access, part) = run(bus, rules, offset + done, bytes - done);
        bus.fill_run(access, offset + done, value, part);
        done += part;
    }
    bus.after(Direction::Write, rules.mode);
    Ok(())
}

/// Whether the copy can be made, by the rules, without an access outside the region.
fn check(bus: &impl Bus, rules: &AccessRules, offset: usize, bytes: usize, direction: Direction) -> Result<(), Error> {
    rules.check()?;
    let region = bus.len();
    if offset.checked_add(bytes).is_none_or(|end| end > region) {
        return Err(Error::Outside { offset, bytes, region });
    }
    if direction == Direction::Write && !bus.is_writable() {
        return Err(Error::ReadOnly);
    }
    let unit = rules.unit();
    let whole = |address: usize, bytes: usize| (address | bytes).is_multiple_of(unit.bytes());
    if whole(bus.address().wrapping_add(offset), bytes) {
        return Ok(());
    }
    let partial =
        direction == Direction::Read && rules.reads == ReadEffect::Idempotent && rules.words == WordOrder::AsAddressed;
    // The words that head and tail lie in must be the region's own.
    if partial && whole(bus.address(), region) { Ok(()) } else { Err(Error::NotWhole(unit)) }
}

/// The longest run of accesses of one width that starts here: the widest that alignment and length allow. Taking the widest at each
/// place makes the fewest accesses, as each is aligned to its width.
fn run(bus: &impl Bus, rules: &AccessRules, at: usize, left: usize) -> (Access, usize) {
    let width = rules.widest.that_fits(bus.address().wrapping_add(at), left);
    let bytes = if width == rules.widest { left - left % width.bytes() } else { width.bytes() };
    // What is shorter than the widest access is no burst.
    let mode = if width == rules.widest { rules.mode } else { Mode::Plain };
    (Access { width, mode }, bytes)
}

/// Of a device that may be read twice: the word that a head or a tail lies in as a whole, and its width in bytes, where one access
/// of it does for several.
fn whole_word(bus: &impl Bus, rules: &AccessRules, at: usize, left: usize) -> Option<(usize, usize)> {
    if rules.reads != ReadEffect::Idempotent {
        return None;
    }
    let address = bus.address().wrapping_add(at);
    let widest = rules.widest.bytes();
    let within = address % widest;
    let bytes = left.min(widest - within);
    let covering = Width::ALL.into_iter().filter(|w| *w >= rules.narrowest && *w <= rules.widest);
    let width = covering.map(Width::bytes).find(|w| within / w == (within + bytes - 1) / w)?;
    if within.is_multiple_of(width) && bytes == width {
        // It is whole as it is, and may begin a run.
        return None;
    }
    let start = at.checked_sub(address % width)?;
    (start + width <= bus.len()).then_some((start, width))
}
