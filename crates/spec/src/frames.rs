//! Frames in several ways, as text: `[frames]` and its keys. docs/recorder.md describes what is done with it.

use crate::keys::{self, keys};
use crate::text_error::{TextError, TextErrorKind, TextPosition};
use crate::toml_values::{has_table, pairs_of};
use crate::values::{bytes, one_of, percent, time, whole};
use model::{FrameWay, FramesStudy, Ns};
use std::fmt::Display;

/// The largest frame that is recorded.
const LARGEST_FRAME: u64 = 64 << 20;

fn within<T: PartialOrd + Display>(value: T, least: T, most: T) -> Result<T, String> {
    if value >= least && value <= most { Ok(value) } else { Err(format!("{value} is not from {least} to {most}")) }
}

keys! {
    /// The keys of `[frames]`.
    FRAMES_KEYS of FramesStudy:
    "cameras", "1 to 32", |to, text| to.cameras = within(whole(text)?, 1, 32)?, "Cameras; each is a stream of frames.";
    "size", "1KB to 64MiB", |to, text| to.frame_bytes = within(bytes(text)?, 1000, LARGEST_FRAME)?, "Bytes of a frame.";
    "jitter", "0 to 90, percent", |to, text| to.jitter = f64::from(within(percent(text)?, 0, 90)?) / 100.0, "By how much sizes and moments differ.";
    "ways", "file-per-frame, growing-file, direct, device-buffered, container", |to, text| {
        let ways = FrameWay::ALL.map(|way| (way.name(), way));
        to.ways = text.split(',').map(|name| one_of(name.trim(), &ways)).collect::<Result<_, _>>()?;
    }, "The ways that are measured.";
    "rounds", "1 to 100", |to, text| to.rounds = within(whole(text)?, 1, 100)?, "How often each way is measured as fast as it goes.";
    "time", "200ms or more", |to, text| to.time_ns = within(time(text)?, 200_000_000, Ns::MAX)?, "How long a measurement takes at most.";
    "room", "64MB or more", |to, text| to.room_bytes = within(bytes(text)?, 64_000_000, u64::MAX)?, "How much a measurement writes at most.";
    "rest", "a duration", |to, text| to.rest_ns = time(text)?, "Rest before and after the frames that are compared at one rate.";
    "ring", "4MiB or more", |to, text| to.ring_bytes = within(bytes(text)?, 4 << 20, u64::MAX)?, "Memory for frames that wait to be written.";
    "max-latency", "1ms or more", |to, text| to.max_latency_ns = within(time(text)?, 1_000_000, Ns::MAX)?, "How old a frame may be when it is durable, the flush apart.";
}

/// Whether a text in TOML asks for frames.
pub fn is_frames(text: &str) -> bool {
    has_table(text, "[frames]")
}

/// What `[frames]` says of a text, beside which nothing but its title may stand.
fn parse_pairs(place: &TextPosition, text: &str) -> Result<Vec<(String, String)>, TextError> {
    let form = |key: &str, what: String| place.error(TextErrorKind::Form, key, what);
    let mut tables: toml::Table = toml::from_str(text).map_err(|e| form("", e.message().to_owned()))?;
    let frames = tables.remove("frames").and_then(|frames| frames.try_into().ok());
    match tables.keys().find(|key| !["name", "title", "answers"].contains(&key.as_str())) {
        Some(other) => Err(form(other, "is not part of a text of frames".to_owned())),
        None => Ok(pairs_of(&frames.ok_or_else(|| form("frames", "is a table".to_owned()))?)),
    }
}

/// Reads such a text, with other values for some keys; what it does not say is as in the text that is built in.
///
/// # Errors
/// What is wrong with it, all of it.
pub fn parse_frames(file: &str, text: &str, set: &[(String, String)]) -> Result<FramesStudy, Vec<TextError>> {
    let place = TextPosition { file: file.to_owned(), line: 0 };
    let command_line = TextPosition::command_line();
    let read = |text| parse_pairs(&place, text).map_err(|error| vec![error]);
    let usual = read(crate::workload_text("frames").unwrap_or_default())?;
    let mut study = FramesStudy::default();
    let mut errors = Vec::new();
    for (place, pairs) in [(&place, &usual), (&place, &read(text)?), (&command_line, &set.to_vec())] {
        for (name, value) in pairs {
            let name = name.strip_prefix("frames.").unwrap_or(name);
            let given = keys::find(FRAMES_KEYS, name).map(|key| key.set(&mut study, value));
            let nearest = || keys::nearest(name, keys::names(FRAMES_KEYS));
            errors.extend(match given {
                Some(given) => given.err().map(|what| place.error(TextErrorKind::Value, name, what)),
                None => Some(place.error(TextErrorKind::Unknown, name, "no such key").with_nearest(nearest())),
            });
        }
    }
    if study.frame_bytes.saturating_mul(4) > study.ring_bytes.min(study.room_bytes) {
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
