//! Frames in several ways, as text: `[frames]` and its keys. docs/recorder.md describes what is done with it.

use crate::keys::keys;
use crate::study::{read_study, within};
use crate::text_error::{TextError, TextErrorKind, TextPosition};
use crate::toml_values::has_table;
use crate::values::{bytes, one_of, percent, time, whole};
use model::{FrameWay, FramesStudy, Ns};

/// The largest frame that is recorded.
const LARGEST_FRAME: u64 = 64 << 20;

keys! {
    /// The keys of `[frames]`.
    FRAMES_KEYS of FramesStudy:
    "cameras", "1 to 32", |to, text| to.cameras = within(text, whole(text)?, 1, 32)?, "Cameras; each is a stream of frames.";
    "size", "1KB to 64MiB", |to, text| to.frame_bytes = within(text, bytes(text)?, 1000, LARGEST_FRAME)?, "Bytes of a frame.";
    "jitter", "0 to 90, percent", |to, text| to.jitter = f64::from(within(text, percent(text)?, 0, 90)?) / 100.0, "By how much sizes and moments differ.";
    "ways", "file-per-frame, growing-file, direct, device-buffered, container", |to, text| {
        to.ways = text.split(',').map(|name| one_of(name.trim(), &FrameWay::NAMES)).collect::<Result<_, _>>()?;
    }, "The ways that are measured.";
    "rounds", "1 to 100", |to, text| to.rounds = within(text, whole(text)?, 1, 100)?, "How often each way is measured as fast as it goes.";
    "time", "200ms or more", |to, text| to.time_ns = within(text, time(text)?, 200_000_000, Ns::MAX)?, "How long a measurement takes at most.";
    "room", "64MB or more", |to, text| to.room_bytes = within(text, bytes(text)?, 64_000_000, u64::MAX)?, "How much a measurement writes at most.";
    "rest", "a duration", |to, text| to.rest_ns = time(text)?, "Rest before and after the frames that are compared at one rate.";
    "ring", "4MiB or more", |to, text| to.ring_bytes = within(text, bytes(text)?, 4 << 20, u64::MAX)?, "Memory for frames that wait to be written.";
    "max-latency", "1ms or more", |to, text| to.max_latency_ns = within(text, time(text)?, 1_000_000, Ns::MAX)?, "How old a frame may be when it is durable, the flush apart.";
}

/// Whether a text in TOML asks for frames.
pub fn is_frames(text: &str) -> bool {
    has_table(text, "[frames]")
}

/// Reads such a text, with other values for some keys; what it does not say is as in the text that is built in.
///
/// # Errors
/// What is wrong with it, all of it.
pub fn parse_frames(file: &str, text: &str, set: &[(String, String)]) -> Result<FramesStudy, Vec<TextError>> {
    let (study, mut errors): (FramesStudy, _) = read_study("frames", FRAMES_KEYS, file, text, set)?;
    if study.frame_bytes.saturating_mul(4) > study.ring_bytes.min(study.room_bytes) {
        let place = TextPosition { file: file.to_owned(), line: 0 };
        errors.push(place.error(TextErrorKind::Value, "size", "the ring and the room have to hold four frames"));
    }
    if errors.is_empty() { Ok(study) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_that_is_built_in_says_what_is_usual() {
        let text = crate::workload_text("frames").unwrap();
        assert!(is_frames(text));
        let study = parse_frames("frames", "[frames]", &[]).unwrap();
        assert_eq!(parse_frames("frames", text, &[]).unwrap(), study);
        assert_eq!((study.frame_bytes, study.ways.len(), study.rounds), (2_000_000, 5, 3));
    }

    #[test]
    fn values_are_read_and_mistakes_are_named_with_their_key() {
        let set = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let given = set(&[("frames.size", "1MB"), ("ways", "container, direct"), ("jitter", "20%")]);
        let study = parse_frames("x", "[frames]\nrounds = 5\n", &given).unwrap();
        assert_eq!((study.frame_bytes, study.rounds, study.jitter), (1_000_000, 5, 0.2));
        assert_eq!(study.ways, [FrameWay::Container, FrameWay::Direct]);
        for wrong in
            [("sizes", "1MB"), ("size", "1B"), ("ways", "tape"), ("time", "1ms"), ("rounds", "0"), ("ring", "1MiB")]
        {
            let errors = parse_frames("x", "[frames]\n", &set(&[wrong])).unwrap_err();
            assert_eq!(errors.len(), 1, "{wrong:?}: {errors:?}");
        }
        assert_eq!(parse_frames("x", "[frames]\nsise = 1\n", &[]).unwrap_err()[0].nearest.as_deref(), Some("size"));
        assert!(parse_frames("x", "[frames\n", &[]).is_err() && parse_frames("x", "[phase]\n[frames]\n", &[]).is_err());
    }
}
