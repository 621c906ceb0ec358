use super::*;
use proptest::prelude::*;

fn versions(units: u64, slots: u32) -> Versions {
    let mut table = Table::new(4096);
    table.cover(0, units).unwrap();
    Versions::new(vec![Arc::new(table)], slots, 4)
}

fn write(versions: &mut Versions, unit: u64) {
    versions.begin_write(0, 0, unit, 1);
    versions.end_op(0, 1);
}

#[test]
fn a_failed_flush_leaves_doubt_until_the_unit_is_written_again() {
    let mut versions = versions(2, 4);
    write(&mut versions, 0);
    versions.flush_begins();
    write(&mut versions, 1);
    versions.flush_ended(false);
    assert_eq!(versions.expected(0, 0).standing, FailureDoubt::FlushFailed);
    assert_eq!(versions.check_mode(0, 0), CheckMode::InDoubt);
    assert_eq!(versions.expected(0, 1).standing, FailureDoubt::Sound, "it was not covered");
    versions.flush_begins();
    versions.flush_ended(true);
    assert_eq!(versions.expected(0, 0).standing, FailureDoubt::FlushFailed, "a later flush promises nothing");
    write(&mut versions, 0);
    assert_eq!(versions.expected(0, 0), Expected::only(2));
}

/// The second covers what was written meanwhile, and it ends last.
#[test]
fn of_several_flushes_together_any_may_be_the_one_that_fails() {
    let mut versions = versions(3, 4);
    write(&mut versions, 0);
    versions.flush_begins();
    write(&mut versions, 1);
    versions.flush_begins();
    versions.flush_ended(true);
    versions.flush_ended(false);
    let standing = |unit| versions.expected(0, unit).standing;
    assert_eq!([standing(0), standing(1)], [FailureDoubt::FlushFailed; 2]);
    write(&mut versions, 2);
    versions.flush_begins();
    write(&mut versions, 0);
    versions.flush_ended(false);
    assert_eq!(versions.expected(0, 0), Expected::only(2), "one flush alone covers what was written before it");
}

#[test]
fn a_failed_write_is_cleared_only_by_one_issued_after_it() {
    let mut versions = versions(4, 4);
    versions.begin_write(0, 0, 0, 2);
    versions.begin_write(1, 0, 0, 1);
    versions.end_op(0, 1);
    assert!(!versions.expected(0, 1).must_hold() && versions.expected(0, 1).settled);
    versions.end_op(1, 0);
    assert_eq!(versions.check_mode(0, 0), CheckMode::WriteFailed);
    write(&mut versions, 0);
    assert_eq!(versions.expected(0, 0), Expected::only(3));
}

#[test]
fn a_read_that_meets_a_change_is_not_clean() {
    let mut versions = versions(8, 4);
    versions.begin_read(0, 0, 0, 2);
    versions.begin_read(1, 0, 4, 2);
    versions.begin_write(2, 0, 1, 2);
    versions.begin_read(3, 0, 2, 2);
    versions.end_op(2, 2);
    assert_eq!([0, 1, 3].map(|slot| versions.ended_read(slot)), [false, true, false]);
    versions.begin_read(0, 0, 0, 4);
    assert!(versions.ended_read(0));
}

#[test]
fn what_is_erased_owes_nothing_even_if_a_write_was_in_flight() {
    let mut versions = versions(8, 4);
    write(&mut versions, 3);
    versions.begin_write(0, 0, 3, 1);
    versions.begin_erase(1, 0, 0, 8);
    versions.begin_write(2, 0, 3, 1);
    [2, 1, 0].into_iter().for_each(|slot| versions.end_op(slot, 1));
    assert_eq!(versions.check_mode(0, 3), CheckMode::NotWritten);
    write(&mut versions, 3);
    assert_eq!(versions.expected(0, 3), Expected { trims: true, ..Expected::only(4) });
}

#[test]
fn what_was_reported_is_so_until_it_is_written_again() {
    let mut versions = versions(1, 1);
    write(&mut versions, 0);
    versions.reported(0, 0);
    assert_eq!(versions.check_mode(0, 0), CheckMode::FoundBefore);
    write(&mut versions, 0);
    assert_eq!(versions.check_mode(0, 0), CheckMode::Plainly(AllowedGenerations::only(2)));
}

#[test]
fn what_never_came_back_owes_nothing() {
    let mut table = Table::new(4096);
    table.cover(0, 1).unwrap();
    let table = Arc::new(table);
    let mut first = Versions::new(vec![Arc::clone(&table)], 1, 1);
    write(&mut first, 0);
    first.begin_write(0, 0, 0, 1);
    drop(first);
    assert_eq!(Versions::new(vec![table], 1, 1).check_mode(0, 0), CheckMode::WriteFailed);
}

/// First unit, which parts are applied, and of a read what it saw at its begin.
type InFlight = (u64, [bool; 3], Option<Vec<u32>>);

proptest! {
    /// A device that applies each part of a write at any moment between issue and acknowledgement never holds what
    /// the table does not allow, and a clean read never sees anything else.
    #[test]
    fn what_a_correct_device_does_is_allowed(choices in prop::collection::vec(any::<u32>(), 1..600)) {
        let mut versions = versions(6, 8);
        let mut device = [0u32; 6];
        let mut flying: [Option<InFlight>; 8] = Default::default();
        for choice in choices {
            let slot = (choice >> 8) as usize % 8;
            let first = u64::from(choice >> 12) % 4;
            let count = (choice >> 16) % 3 + 1;
            match (&mut flying[slot], choice % 8) {
                (None, 0..5) => {
                    versions.begin_write(slot, 0, first, count);
                    let applied = std::array::from_fn(|i| i >= count as usize);
                    flying[slot] = Some((first, applied, None));
                }
                (None, _) => {
                    versions.begin_read(slot, 0, first, count);
                    let seen = device[first as usize..][..count as usize].to_vec();
                    flying[slot] = Some((first, [true; 3], Some(seen)));
                }
                (Some((first, applied, None)), 0..4) => {
                    let i = (choice >> 20) as usize % 3;
                    if !applied[i] {
                        device[*first as usize + i] = versions.generation(slot, i);
                        applied[i] = true;
                    }
                }
                (Some((first, applied, None)), _) => {
                    for i in (0..3).filter(|i| !applied[*i]) {
                        device[*first as usize + i] = versions.generation(slot, i);
                    }
                    versions.end_op(slot, 3);
                    flying[slot] = None;
                }
                (Some((first, _, Some(seen))), _) => {
                    if versions.ended_read(slot) {
                        for (i, holds) in seen.iter().enumerate() {
                            let allowed = versions.expected(0, *first + i as u64).allowed;
                            prop_assert!(allowed.holds(*holds), "read {holds}, allowed {allowed:?}");
                        }
                    }
                    flying[slot] = None;
                }
            }
            for (unit, holds) in device.iter().enumerate() {
                let expected = versions.expected(0, unit as u64);
                prop_assert!(expected.allowed.holds(*holds), "unit {unit} holds {holds}, {expected:?}");
            }
        }
        // Once a write was alone, the table is exact again.
        for (slot, _) in flying.iter().enumerate().filter(|(_, f)| matches!(f, Some((_, _, None)))) {
            versions.end_op(slot, 3);
        }
        write(&mut versions, 0);
        prop_assert_eq!(versions.expected(0, 0).allowed.min, versions.generation(0, 0));
    }
}

#[test]
fn what_is_remembered_is_owed_as_the_cut_left_it() {
    let known = crate::KnownData {
        unit_bytes: 4096,
        stretches: vec![(0..8192, 3, 3), (8192..16384, 3, 4), (16384..20480, 0, 1)],
        ..crate::KnownData::default()
    };
    let versions = |cut| Versions::new(vec![Arc::new(known.table().unwrap())], 1, 1).after(cut);
    for (cut, whole, in_flight) in
        [(Interruption::None, false, false), (Interruption::Killed, false, true), (Interruption::Power, true, true)]
    {
        let v = versions(cut);
        let seen = |unit| (v.expected(0, unit).allowed, v.expected(0, unit).after_cut);
        assert_eq!(seen(1), (AllowedGenerations { min: 3, max: 3 }, whole), "{cut:?}");
        assert_eq!(seen(2), (AllowedGenerations { min: 3, max: 4 }, in_flight), "{cut:?}");
        assert_eq!(v.check_mode(0, 2), CheckMode::Plainly(AllowedGenerations { min: 3, max: 4 }));
        assert_eq!(v.check_mode(0, 4), CheckMode::NotWritten, "a first version owes nothing");
        assert_eq!(v.check_mode(0, 5), CheckMode::NotWritten, "beyond what is remembered");
    }
    let mut v = versions(Interruption::None);
    v.begin_write(0, 0, 2, 1);
    assert_eq!(v.generation(0, 0), 5, "newer than anything that may be there");
}
