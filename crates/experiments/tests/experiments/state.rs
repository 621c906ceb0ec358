//! The state of an experiment as version 0.1.0 wrote it on 22 November 2026, killed after three of ten runs: it reads, says
//! how far it is, and is written back byte for byte.

use archive::Archive;
use experiments::experiment::State;
use std::path::Path;

const ID: &str = "cards-20261122T113002Z-53b2";

fn old() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/states/cards/experiments/{ID}.json"));
    std::fs::read_to_string(file).unwrap()
}

fn holding(text: &str) -> (tempfile::TempDir, Archive) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("experiments")).unwrap();
    std::fs::write(directory.path().join(format!("experiments/{ID}.json")), text).unwrap();
    let archive = Archive::open(directory.path());
    (directory, archive)
}

#[test]
fn it_says_how_far_it_is() {
    let (_directory, archive) = holding(&old());
    let state = State::load(&archive, ID).unwrap().expect("the state");
    assert_eq!((state.runs_made(), state.steps.len(), state.is_complete()), (3, 10, false));
    assert_eq!(state.next_arm(), Some(state.steps[3].arm_name.as_str()));
    assert_eq!(state.id_of_last(), "20261122T113002Z-fc986301");
    assert_eq!(State::last_unfinished(&archive, "cards").unwrap().map(|s| s.id).as_deref(), Some(ID));
    assert_eq!(State::to_resume(&archive, Some("cards-2026"), None).unwrap().id, ID);
    assert!(State::to_resume(&archive, None, Some("other")).is_err());
}

#[test]
fn it_is_written_back_as_it_was() {
    let (directory, archive) = holding(&old());
    let state = State::load(&archive, ID).unwrap().expect("the state");
    state.save(&archive).unwrap();
    let written = std::fs::read_to_string(directory.path().join(format!("experiments/{ID}.json"))).unwrap();
    assert_eq!(written.trim_end(), old().trim_end());
}

#[test]
fn a_later_form_is_refused_by_its_version_and_a_cut_off_one_by_its_mistake() {
    let later = r#"{"schema": "narrows/experiment/2", "id": "cards-20261122T113002Z-53b2", "arms": []}"#;
    let (_directory, archive) = holding(later);
    let failure = State::load(&archive, ID).unwrap_err();
    assert!(failure.message.contains("narrows/experiment/2"), "{failure}");
    assert!(failure.remedy.is_some_and(|r| r.contains("newer version")));
    assert!(State::all(&archive).unwrap().is_empty(), "it hides no other");
    let text = old();
    let (_directory, archive) = holding(&text[..text.len() / 2]);
    let failure = State::load(&archive, ID).unwrap_err();
    assert!(failure.remedy.is_some_and(|r| r.contains("anew")), "{}", failure.message);
    // Whoever asks for it hears what is wrong with it, and not that there is none.
    for (id, name) in [(Some(ID), None), (Some("cards-2026"), None), (None, Some("cards")), (None, None)] {
        let failure = State::to_resume(&archive, id, name).unwrap_err();
        assert!(failure.message.contains(ID) && failure.message.contains("EOF"), "{failure}");
    }
    let (_directory, archive) = holding(&text.replace(ID, "cards-20261122T113002Z-0000"));
    assert!(State::load(&archive, ID).is_err(), "a state of another execution");
}
