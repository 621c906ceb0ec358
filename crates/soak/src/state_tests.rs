use super::*;
use model::DataFault;

fn state() -> SoakState {
    SoakState::new("x-1".into(), "/t", "/t".into(), TargetIdentity::default(), 40 << 20, [1, 2, 3, 4])
}

fn known(state: &SoakState) -> Vec<(u32, u32)> {
    state.known().stretches.iter().map(|(_, low, high)| (*low, *high)).collect()
}

#[test]
fn a_file_is_known_by_its_inode_and_its_birth() {
    let file = |device, inode, born_ns| TargetIdentity {
        kind: "file".into(),
        bytes: Some(9),
        file: Some((device, inode)),
        born_ns,
        device: None,
    };
    let was = file(8, 12, Some(77));
    assert!(was.is_still(&file(9, 12, Some(77)), false), "its disk was plugged in again");
    for other in [file(8, 13, Some(77)), file(8, 12, Some(78)), file(8, 12, None)] {
        assert!(!was.is_still(&other, false) && !was.is_still(&other, true), "{other:?}");
    }
    assert!(!was.is_still(&TargetIdentity { bytes: Some(8), ..was.clone() }, true));
    let unborn = file(8, 12, None);
    assert!(unborn.is_still(&unborn.clone(), false) && !unborn.is_still(&file(9, 12, None), false));
    assert!(unborn.is_still(&file(9, 12, None), true) && !unborn.is_still(&file(9, 13, None), true));
}

#[test]
fn what_is_promised_is_what_was_written_and_flushed_without_an_error() {
    let mut s = state();
    assert_eq!(s.laps.len(), 3);
    s.begin_session(Some("a".into()));
    s.begin_lap();
    assert_eq!(known(&s), [(0, 1), (0, 0), (0, 0)], "of a first version anything may be there");
    s.end_lap(true);
    s.begin_lap();
    s.end_lap(false);
    s.begin_lap();
    s.end_lap(true);
    s.end_pass();
    assert_eq!(known(&s), [(1, 1), (0, 1), (1, 1)], "a write that failed promises nothing");
    s.begin_lap();
    assert_eq!(known(&s)[0], (1, 2));
    s.mark_contents_unknown(0);
    assert_eq!(known(&s)[0], (0, 2));
    // It goes on with a version that nothing there can have.
    s.begin_session(Some("a".into()));
    s.mark_read_back();
    s.begin_lap();
    assert_eq!(s.flight.map(|f| f.newest), Some(3));
    s.end_lap(true);
    assert_eq!(known(&s)[0], (3, 3));
}

#[test]
fn of_places_that_are_overwritten_again_and_again_one_of_the_last_two_versions_is_there() {
    let mut s = state();
    s.pass = 4;
    s.begin_session(Some("a".into()));
    (s.laps[0], s.laps[1]) = (LapVersions { version: 5, oldest: 5 }, LapVersions { version: 5, oldest: 5 });
    s.begin_lap();
    assert_eq!(known(&s)[0], (5, 8), "any of them while it runs");
    s.end_lap(true);
    assert_eq!(known(&s)[0], (7, 8));
    s.trims = true;
    s.begin_lap();
    assert_eq!(known(&s)[1], (0, 8), "what is trimmed owes nothing until it is written");
    s.end_lap(false);
    assert_eq!(known(&s)[1], (0, 8));
}

#[test]
fn a_cut_stays_one_until_all_has_been_looked_at() {
    let mut s = state();
    let boot = |name: &str| Some(name.to_owned());
    s.begin_session(boot("a"));
    assert_eq!(s.unseen, WriteEnd::Well);
    s.begin_session(boot("a"));
    assert_eq!(s.unseen, WriteEnd::Killed);
    // The machine goes down while it is being looked at, and the next look is interrupted.
    s.begin_session(boot("b"));
    assert_eq!(s.unseen, WriteEnd::Power);
    s.running = false;
    s.begin_session(boot("b"));
    assert_eq!((s.unseen, s.known().cut), (WriteEnd::Power, Interruption::Power));
    s.mark_read_back();
    s.running = false;
    s.begin_session(boot("c"));
    assert_eq!(s.unseen, WriteEnd::Well, "a reboot between two sessions cuts nothing");
    let mut unknown = state();
    unknown.begin_session(None);
    unknown.begin_session(None);
    assert_eq!(unknown.unseen, WriteEnd::Power, "whether it is the same boot is not known");
}

#[test]
fn a_finding_is_told_once_and_no_foreign_file_is_its_own() {
    let mut s = state();
    let finding = |lba| DataFinding {
        class: DataFault::BitRot,
        lba,
        sectors: 1,
        expected_generation: Some(1),
        found_generation: Some(1),
        evidence: Vec::new(),
        bytes: None,
    };
    s.keep(finding(7));
    assert!(!s.is_new(&finding(7)) && s.is_new(&finding(8)));
    s.keep(finding(8));
    // A session after a kill calls the same loss by another class.
    let lost = |class| DataFinding { class, found_generation: None, ..finding(8) };
    assert!(s.is_new(&lost(DataFault::LostWrite)), "that bits were wrong there is another finding");
    let mut after = state();
    after.keep(lost(DataFault::LostWrite));
    assert!(!after.is_new(&lost(DataFault::LostOnPowerCut)) && after.is_new(&lost(DataFault::TornWrite)));
    assert_eq!((s.found(), s.is_clean()), (2, false));
    let mut own = state();
    own.own_file = true;
    assert!(!own.is_sound(), "/t is none");
    own.path = PathBuf::from("/d").join(SoakState::own_file_name("x-1"));
    assert!(own.is_sound());
    own.tester_fault = true;
    assert!(!own.is_clean());
}

#[test]
fn passes_take_turns_as_they_were_asked_to() {
    let mut s = state();
    let mut kinds = |mode| {
        s.mode = mode;
        (1..=6)
            .map(|pass| {
                s.pass = pass;
                s.kind()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(Mode::All), [1, 2, 3, 0, 1, 2]);
    assert_eq!(kinds(Mode::Sweep), [1, 2, 3, 1, 2, 3]);
    assert_eq!(kinds(Mode::Churn), [0; 6]);
}
