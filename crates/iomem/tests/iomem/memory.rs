//! Copies by the real accesses, on memory: every width and mode of this processor, every alignment of both sides.

use iomem::{AccessRules, Bus, Mmio, Mode, Width, copy_from_io, copy_to_io, set_io};
use std::cell::Cell;
use std::sync::atomic::AtomicU8;

/// 64-byte aligned, so that every width has its boundaries in it.
#[repr(align(64))]
struct Aligned([u8; 1024]);

fn counted() -> Aligned {
    Aligned(std::array::from_fn(|i| (i * 13 + i / 256) as u8))
}

/// All that this processor can do.
fn all_rules() -> Vec<AccessRules> {
    let mut all: Vec<AccessRules> =
        Width::ALL.into_iter().filter(|w| w.is_supported()).map(AccessRules::up_to).collect();
    let modes =
        [AccessRules::burst(), AccessRules::streaming(), AccessRules { mode: Mode::Repeat, ..AccessRules::bytes() }];
    all.extend(modes.into_iter().filter(|r| r.mode.is_supported()));
    all.extend(all.clone().into_iter().map(AccessRules::idempotent));
    all
}

/// Under an interpreter that looks at every access, fewer cases are enough.
fn step() -> usize {
    if cfg!(miri) { 35 } else { 1 }
}

#[test]
fn every_way_reads_what_is_there() {
    for rules in all_rules() {
        for offset in (0..70).step_by(step()) {
            for (to_offset, bytes) in [(0, 0), (0, 1), (1, 7), (3, 64), (0, 128), (16, 256), (5, 300), (0, 901)] {
                let mut device = counted();
                let expected = device.0[offset..offset + bytes].to_vec();
                let mut to = [0xee; 1024];
                let mut mmio = Mmio::of_mut(&mut device.0);
                copy_from_io(&mut mmio, &rules, offset, &mut to[to_offset..to_offset + bytes]).unwrap();
                assert_eq!(to[to_offset..to_offset + bytes], expected, "{rules:?} from {offset}");
                assert!(to[..to_offset].iter().chain(&to[to_offset + bytes..]).all(|b| *b == 0xee), "{rules:?}");
            }
        }
    }
}

#[test]
fn every_way_writes_what_was_given() {
    for rules in all_rules() {
        for offset in (0..70).step_by(step()) {
            for (from_offset, bytes) in [(0, 0), (0, 1), (1, 7), (3, 64), (0, 128), (16, 256), (5, 300), (0, 901)] {
                let from = counted();
                let from = &from.0[from_offset..from_offset + bytes];
                let mut device = Aligned([0xee; 1024]);
                copy_to_io(&mut Mmio::of_mut(&mut device.0), &rules, offset, from).unwrap();
                assert_eq!(device.0[offset..offset + bytes], *from, "{rules:?} to {offset}");
                assert!(device.0[..offset].iter().chain(&device.0[offset + bytes..]).all(|b| *b == 0xee), "{rules:?}");
                set_io(&mut Mmio::of_mut(&mut device.0), &rules, offset, 0x5a, bytes).unwrap();
                let is_set =
                    |(i, b): (usize, &u8)| *b == if (offset..offset + bytes).contains(&i) { 0x5a } else { 0xee };
                assert!(device.0.iter().enumerate().all(is_set), "{rules:?} to {offset}");
            }
        }
    }
}

#[test]
fn a_shared_region_is_read_and_never_written() {
    let memory: Vec<AtomicU8> = (0..32).map(AtomicU8::new).collect();
    let mut device = Mmio::of_shared(&memory);
    let mut to = [0; 20];
    copy_from_io(&mut device, &AccessRules::up_to(Width::B4), 3, &mut to).unwrap();
    assert_eq!(to.to_vec(), (3..23).collect::<Vec<u8>>());
    assert!(!device.is_writable());
    assert_eq!(copy_to_io(&mut device, &AccessRules::bytes(), 0, &[9]), Err(iomem::Error::ReadOnly));
}

#[test]
fn cells_are_written_through_a_shared_reference() {
    let memory: Vec<Cell<u8>> = (0..32).map(Cell::new).collect();
    copy_to_io(&mut Mmio::of_cells(&memory), &AccessRules::up_to(Width::B4), 5, &[7; 9]).unwrap();
    let now: Vec<u8> = memory.iter().map(Cell::get).collect();
    assert_eq!((now[4], &now[5..14], now[14]), (4, &[7; 9][..], 14));
}

#[test]
#[should_panic(expected = "outside the region")]
fn a_run_outside_the_region_is_a_defect_of_the_caller() {
    Mmio::of_mut(&mut [0; 8]).read(8, &mut [0; 1]);
}

#[test]
#[should_panic(expected = "can only be read")]
fn so_is_a_write_to_what_can_only_be_read() {
    Mmio::of_shared(&[AtomicU8::new(0)]).write(0, &[1]);
}
