//! The accesses of each copy, as a bus sees them: width, alignment, number, order, nothing outside, each byte exactly once.

use iomem::{
    Access, AccessRules, Bus, Direction, Error, Mode, ReadEffect, Width, WordOrder, copy_from_io, copy_to_io, set_io,
};
use proptest::prelude::*;

/// What a bus has seen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Seen {
    Before(Direction),
    After(Direction),
    Read { offset: usize, bytes: usize },
    Write { offset: usize, bytes: usize },
}

/// A device that records.
struct Recording {
    address: usize,
    content: Vec<u8>,
    seen: Vec<Seen>,
    writable: bool,
}

impl Recording {
    fn new(address: usize, len: usize) -> Self {
        let content = (0..len).map(|i| (i * 7 + i / 251) as u8).collect();
        Self { address, content, seen: Vec::new(), writable: true }
    }

    /// Offset and bytes of each access.
    fn accesses(&self) -> Vec<(usize, usize)> {
        let access = |seen: &Seen| match *seen {
            Seen::Read { offset, bytes } | Seen::Write { offset, bytes } => Some((offset, bytes)),
            Seen::Before(_) | Seen::After(_) => None,
        };
        self.seen.iter().filter_map(access).collect()
    }
}

impl Bus for Recording {
    fn address(&self) -> usize {
        self.address
    }

    fn len(&self) -> usize {
        self.content.len()
    }

    fn is_writable(&self) -> bool {
        self.writable
    }

    fn read(&mut self, offset: usize, to: &mut [u8]) {
        self.seen.push(Seen::Read { offset, bytes: to.len() });
        to.copy_from_slice(&self.content[offset..offset + to.len()]);
    }

    fn write(&mut self, offset: usize, from: &[u8]) {
        self.seen.push(Seen::Write { offset, bytes: from.len() });
        self.content[offset..offset + from.len()].copy_from_slice(from);
    }

    fn before(&mut self, direction: Direction, _mode: Mode) {
        self.seen.push(Seen::Before(direction));
    }

    fn after(&mut self, direction: Direction, _mode: Mode) {
        self.seen.push(Seen::After(direction));
    }
}

/// The widths that each processor of this architecture has.
fn widths() -> impl Strategy<Value = Width> {
    (0..=Width::WIDEST_COMMON as usize).prop_map(|n| Width::ALL[n])
}

/// The fewest aligned accesses that cover these bytes exactly, counted another way than by going along them: by halving.
fn fewest(address: usize, bytes: usize, widest: usize) -> usize {
    fn of_node(start: usize, width: usize, from: usize, to: usize, widest: usize) -> usize {
        if to <= start || start + width <= from {
            0
        } else if from <= start && start + width <= to && width <= widest {
            1
        } else {
            of_node(start, width / 2, from, to, widest) + of_node(start + width / 2, width / 2, from, to, widest)
        }
    }
    if bytes == 0 {
        0
    } else {
        of_node(0, (address + bytes).next_power_of_two().max(64), address, address + bytes, widest)
    }
}

/// What holds of every copy that reads or writes exactly what it was asked for.
fn exact(bus: &Recording, direction: Direction, offset: usize, bytes: usize, widest: Width) {
    let accesses = bus.accesses();
    let mut at = offset;
    for (start, width) in &accesses {
        assert_eq!(*start, at, "ascending, each byte once");
        assert!(Width::of_bytes(*width).is_some_and(|w| w <= widest), "{width} bytes");
        assert_eq!((bus.address + start) % width, 0, "aligned");
        at += width;
    }
    assert_eq!(at, offset + bytes, "all of it and nothing else");
    assert_eq!(accesses.len(), fewest(bus.address + offset, bytes, widest.bytes()), "as few as can be");
    if bytes == 0 {
        assert!(bus.seen.is_empty(), "nothing to do is nothing done");
    } else {
        assert_eq!(bus.seen.first(), Some(&Seen::Before(direction)));
        assert_eq!(bus.seen.last(), Some(&Seen::After(direction)));
    }
}

proptest! {
    #[test]
    fn a_read_is_exact(address in 0usize..128, offset in 0usize..80, bytes in 0usize..400, widest in widths()) {
        let mut bus = Recording::new(address, offset + bytes + 5);
        let mut to = vec![0; bytes];
        copy_from_io(&mut bus, &AccessRules::up_to(widest), offset, &mut to).unwrap();
        prop_assert_eq!(&to[..], &bus.content[offset..offset + bytes]);
        exact(&bus, Direction::Read, offset, bytes, widest);
    }

    #[test]
    fn a_burst_makes_the_same_accesses(address in 0usize..128, offset in 0usize..80, bytes in 0usize..400) {
        let mut bus = Recording::new(address, offset + bytes);
        let mut to = vec![0; bytes];
        copy_from_io(&mut bus, &AccessRules::burst(), offset, &mut to).unwrap();
        prop_assert_eq!(&to[..], &bus.content[offset..]);
        exact(&bus, Direction::Read, offset, bytes, Mode::BURST_WIDTH);
    }

    #[test]
    fn a_write_is_exact(address in 0usize..128, offset in 0usize..80, bytes in 0usize..400, widest in widths()) {
        let mut bus = Recording::new(address, offset + bytes + 5);
        let before = bus.content.clone();
        let from: Vec<u8> = (0..bytes).map(|i| !(i as u8)).collect();
        copy_to_io(&mut bus, &AccessRules::up_to(widest), offset, &from).unwrap();
        prop_assert_eq!(&bus.content[..offset], &before[..offset]);
        prop_assert_eq!(&bus.content[offset..offset + bytes], &from[..]);
        prop_assert_eq!(&bus.content[offset + bytes..], &before[offset + bytes..]);
        exact(&bus, Direction::Write, offset, bytes, widest);
    }

    #[test]
    fn a_value_is_written_exactly(address in 0usize..128, offset in 0usize..80, bytes in 0usize..400, widest in widths()) {
        let mut bus = Recording::new(address, offset + bytes + 5);
        let before = bus.content.clone();
        set_io(&mut bus, &AccessRules::up_to(widest), offset, 0xa5, bytes).unwrap();
        prop_assert_eq!(&bus.content[..offset], &before[..offset]);
        prop_assert!(bus.content[offset..offset + bytes].iter().all(|b| *b == 0xa5));
        prop_assert_eq!(&bus.content[offset + bytes..], &before[offset + bytes..]);
        exact(&bus, Direction::Write, offset, bytes, widest);
    }

    #[test]
    fn what_may_be_read_twice_is_read_in_whole_words(
        address in 0usize..128, offset in 0usize..80, bytes in 1usize..400, after in 0usize..40, widest in widths(),
    ) {
        let mut bus = Recording::new(address, offset + bytes + after);
        let mut to = vec![0; bytes];
        copy_from_io(&mut bus, &AccessRules::up_to(widest).idempotent(), offset, &mut to).unwrap();
        prop_assert_eq!(&to[..], &bus.content[offset..offset + bytes]);
        let accesses = bus.accesses();
        let mut end = 0;
        for (start, width) in &accesses {
            prop_assert!(*width <= widest.bytes() && (address + start) % width == 0);
            prop_assert!(*start >= end, "ascending, and no byte twice within a copy");
            end = start + width;
            prop_assert!(end <= bus.content.len(), "within the region");
        }
        let exactly = fewest(address + offset, bytes, widest.bytes());
        prop_assert!(accesses.len() <= exactly, "{} accesses, {exactly} without", accesses.len());
        let words = (address + offset + bytes).div_ceil(widest.bytes()) - (address + offset) / widest.bytes();
        let (first, last) = ((address + offset) / widest.bytes(), (address + offset + bytes - 1) / widest.bytes());
        let inside = first * widest.bytes() >= address && (last + 1) * widest.bytes() <= address + bus.content.len();
        if inside {
            prop_assert_eq!(accesses.len(), words, "one access a word");
        }
    }

    #[test]
    fn a_device_of_words_is_never_asked_for_less(
        word in 0usize..3, offset in 0usize..64, bytes in 0usize..200, idempotent: bool,
    ) {
        let width = Width::ALL[word];
        let mut bus = Recording::new(64, 264 / width.bytes() * width.bytes());
        let rules = if idempotent { AccessRules::words(width).idempotent() } else { AccessRules::words(width) };
        let mut to = vec![0; bytes];
        let whole = offset % width.bytes() == 0 && bytes % width.bytes() == 0;
        match copy_from_io(&mut bus, &rules, offset, &mut to) {
            Ok(()) => {
                prop_assert!(whole || idempotent);
                prop_assert_eq!(&to[..], &bus.content[offset..offset + bytes]);
                prop_assert!(bus.accesses().iter().all(|(_, b)| *b == width.bytes()));
            }
            Err(error) => {
                prop_assert_eq!(error, Error::NotWhole(width));
                prop_assert!(!whole && !idempotent && bus.seen.is_empty());
            }
        }
        let written = copy_to_io(&mut bus, &rules, offset, &to);
        prop_assert_eq!(written.is_ok(), whole, "a part of a word cannot be written");
    }

    #[test]
    fn swapped_words_come_back_as_they_went(word in 1usize..4, words in 0usize..40, offset in 0usize..8) {
        let width = Width::ALL[word].min(Width::WIDEST_COMMON);
        let (offset, bytes) = (offset * width.bytes(), words * width.bytes());
        let mut bus = Recording::new(64, offset + bytes);
        let rules = AccessRules { widest: Width::WIDEST_COMMON, ..AccessRules::burst() }.swapped(width);
        let from: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
        copy_to_io(&mut bus, &rules, offset, &from).unwrap();
        let turned: Vec<u8> = from.chunks(width.bytes()).flat_map(|w| w.iter().rev().copied()).collect();
        prop_assert_eq!(&bus.content[offset..], &turned[..]);
        exact(&bus, Direction::Write, offset, bytes, Width::WIDEST_COMMON);
        let mut to = vec![0; bytes];
        copy_from_io(&mut bus, &rules, offset, &mut to).unwrap();
        prop_assert_eq!(to, from);
    }

    #[test]
    fn what_lies_outside_is_refused(offset: usize, bytes in 0usize..64, region in 0usize..64) {
        let mut bus = Recording::new(0, region);
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= region);
        let result = copy_from_io(&mut bus, &AccessRules::bytes(), offset, &mut vec![0; bytes]);
        prop_assert_eq!(result, if fits { Ok(()) } else { Err(Error::Outside { offset, bytes, region }) });
        prop_assert!(fits || bus.seen.is_empty());
    }
}

#[test]
fn a_size_of_2_to_the_63_is_refused() {
    let mut bus = Recording::new(0, 16);
    let bytes = 1_usize << (usize::BITS - 1);
    assert_eq!(
        set_io(&mut bus, &AccessRules::bytes(), 8, 0, bytes),
        Err(Error::Outside { offset: 8, bytes, region: 16 })
    );
    assert!(bus.seen.is_empty());
}

#[test]
fn rules_that_cannot_be_kept_are_refused() {
    let mut bus = Recording::new(0, 16);
    let narrow = AccessRules { narrowest: Width::B4, ..AccessRules::up_to(Width::B2) };
    assert_eq!(copy_from_io(&mut bus, &narrow, 0, &mut [0; 4]), Err(Error::Contradiction(Width::B2)));
    let swapped = AccessRules { words: WordOrder::Swapped(Width::B8), ..AccessRules::up_to(Width::B4) };
    assert_eq!(copy_to_io(&mut bus, &swapped, 0, &[0; 8]), Err(Error::Contradiction(Width::B4)));
    let swapped = AccessRules { reads: ReadEffect::Idempotent, ..AccessRules::up_to(Width::B4).swapped(Width::B4) };
    assert_eq!(copy_from_io(&mut bus, &swapped, 1, &mut [0; 4]), Err(Error::NotWhole(Width::B4)));
    bus.writable = false;
    assert_eq!(copy_to_io(&mut bus, &AccessRules::bytes(), 0, &[0]), Err(Error::ReadOnly));
    for width in Width::ALL.into_iter().filter(|w| !w.is_supported()) {
        assert_eq!(copy_from_io(&mut bus, &AccessRules::up_to(width), 0, &mut [0]), Err(Error::Unsupported(width)));
    }
    assert!(bus.seen.is_empty());
}

#[test]
fn a_run_is_told_its_width_and_mode() {
    struct Runs(Vec<(Access, usize, usize)>);
    impl Bus for Runs {
        fn address(&self) -> usize {
            0
        }
        fn len(&self) -> usize {
            1024
        }
        fn read(&mut self, offset: usize, to: &mut [u8]) {
            let width = Width::of_bytes(to.len()).unwrap();
            self.0.push((Access { width, mode: Mode::Plain }, offset, to.len()));
        }
        fn write(&mut self, _offset: usize, _from: &[u8]) {}
        fn read_run(&mut self, access: Access, offset: usize, to: &mut [u8]) {
            self.0.push((access, offset, to.len()));
        }
    }
    let mut bus = Runs(Vec::new());
    copy_from_io(&mut bus, &AccessRules::burst(), 1, &mut [0; 1000]).unwrap();
    let burst = Access { width: Mode::BURST_WIDTH, mode: Mode::Burst };
    let unit = Mode::BURST_WIDTH.bytes();
    let whole: Vec<_> = bus.0.iter().filter(|(access, ..)| *access == burst).collect();
    assert_eq!(whole, [&(burst, unit, 1000 - (unit - 1) - (1001 % unit))]);
    assert!(bus.0.iter().all(|(access, ..)| *access == burst || access.mode == Mode::Plain));
}
