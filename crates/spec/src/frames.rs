//! Frames in several ways, as text: `[frames]` and its keys. docs/recorder.md describes what is done with it.

use crate::keys::{self, Key, keys};
use crate::text_error::{Place, TextError, TextErrorKind};
use model::{FrameWay, Ns, parse_bytes, parse_duration_ns};

/// Rounds beyond this are a mistake.
const MOST_ROUNDS: u32 = 100;
/// Streams of a recording at most, of which each camera is one.
const MOST_CAMERAS: u32 = 32;
/// The largest frame that is recorded.
const LARGEST_FRAME: u64 = 64 << 20;
/// A measurement that is shorter says nothing.
const LEAST_NS: Ns = 200_000_000;

/// What is written, and in which ways.
#[derive(Clone, Debug, PartialEq)]
pub struct FramesStudy {
    /// Its name.
    pub name: String,
    /// Cameras, each a stream.
    pub cameras: u32,
    /// Bytes of a frame.
    pub frame_bytes: u64,
    /// By how much sizes and moments differ, as a share of them.
    pub jitter: f64,
    /// In the order in which a round begins.
    pub ways: Vec<FrameWay>,
    /// How often each way is measured at its full rate.
    pub rounds: u32,
    /// How long a measurement takes at most.
    pub time_ns: Ns,
    /// How much it writes at most.
    pub room_bytes: u64,
    /// Rest before and after the frames that are compared at one rate.
    pub rest_ns: Ns,
    /// Memory for frames that wait.
    pub ring_bytes: u64,
    /// How old a frame may be when it is durable, the flush apart.
    pub max_latency_ns: Ns,
}

impl Default for FramesStudy {
    fn default() -> Self {
        Self {
            name: "frames".into(),
            cameras: 1,
            frame_bytes: 2_000_000,
            jitter: 0.0,
            ways: FrameWay::ALL.to_vec(),
            rounds: 3,
            time_ns: 5_000_000_000,
            room_bytes: 4_000_000_000,
            rest_ns: 3_000_000_000,
            ring_bytes: 64 << 20,
            max_latency_ns: 1_000_000_000,
        }
    }
}

fn within<T: PartialOrd + std::str::FromStr + std::fmt::Display>(text: &str, least: T, most: T) -> Result<T, String> {
    let read = text.parse().ok().filter(|n| *n >= least && *n <= most);
    read.ok_or_else(|| format!("'{text}' is not from {least} to {most}"))
}

fn time(text: &str, least: Ns) -> Result<Ns, String> {
    let ns = parse_duration_ns(text).map_err(|e| e.to_string())?;
    if ns < least { Err(format!("'{text}' is too short")) } else { Ok(ns) }
}

fn size(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|e| e.to_string())?;
    if (least..=most).contains(&bytes) { Ok(bytes) } else { Err(format!("'{text}' is too small or too large")) }
}

fn ways(text: &str) -> Result<Vec<FrameWay>, String> {
    let mut ways = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let way = FrameWay::ALL.into_iter().find(|way| way.name() == name);
        let way = way.ok_or_else(|| format!("'{name}' is no way to write frames"))?;
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    if ways.is_empty() { Err("no way is left".to_owned()) } else { Ok(ways) }
}

keys! {
    /// The keys of `[frames]`.
    FRAMES_KEYS of FramesStudy:
    "cameras", "1 to 32", |to, text| to.cameras = within(text, 1, MOST_CAMERAS)?, "Cameras; each is a stream of frames.";
    "size", "1KB to 64MiB", |to, text| to.frame_bytes = size(text, 1000, LARGEST_FRAME)?, "Bytes of a frame.";
    "jitter", "0 to 90, percent", |to, text| to.jitter = within(text.trim_end_matches('%'), 0.0, 90.0)? / 100.0, "By how much sizes and moments differ.";
    "ways", "file-per-frame, growing-file, direct, device-buffered, container", |to, text| to.ways = ways(text)?, "The ways that are measured.";
    "rounds", "1 to 100", |to, text| to.rounds = within(text, 1, MOST_ROUNDS)?, "How often each way is measured as fast as it goes.";
    "time", "200ms or more", |to, text| to.time_ns = time(text, LEAST_NS)?, "How long a measurement takes at most.";
    "room", "64MB or more", |to, text| to.room_bytes = size(text, 64_000_000, u64::MAX)?, "How much a measurement writes at most.";
    "rest", "a duration", |to, text| to.rest_ns = time(text, 0)?, "Rest before and after the frames that are compared at one rate.";
    "ring", "4MiB or more", |to, text| to.ring_bytes = size(text, 4 << 20, u64::MAX)?, "Memory for frames that wait to be written.";
    "max-latency", "1ms or more", |to, text| to.max_latency_ns = time(text, 1_000_000)?, "How old a frame may be when it is durable, the flush apart.";
}

/// The keys of `[frames]`, what they may be and what they mean.
pub fn frames_keys() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    FRAMES_KEYS.iter().map(|key| (key.name, key.expects, key.meaning))
}

/// Whether a text in TOML asks for frames.
pub fn is_frames(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[frames]")
}

fn give(study: &mut FramesStudy, place: &Place, name: &str, value: &str) -> Result<(), TextError> {
    let Some(key): Option<&Key<FramesStudy>> = keys::find(FRAMES_KEYS, name) else {
        let nearest = keys::nearest(name, keys::names(FRAMES_KEYS));
        return Err(place.error(TextErrorKind::Unknown, name, "a key that is not known").with_nearest(nearest));
    };
    key.give(study, value).map_err(|what| place.error(TextErrorKind::Value, name, what))
}

/// Reads such a text, with other values for some keys.
///
/// # Errors
/// What is wrong with it, all of it.
pub fn parse_frames(file: &str, text: &str, set: &[(String, String)]) -> Result<FramesStudy, Vec<TextError>> {
    let place = Place { file: file.to_owned(), line: 0 };
    let wrong = |what: String| vec![place.error(TextErrorKind::Form, "", what)];
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| wrong(e.message().to_owned()))?;
    let mut study = FramesStudy::default();
    let mut errors = Vec::new();
    for (name, value) in &table {
        match (name.as_str(), value) {
            ("name", toml::Value::String(text)) => study.name.clone_from(text),
            ("title" | "answers", toml::Value::String(_)) => {}
            ("frames", toml::Value::Table(keys)) => {
                for (key, value) in keys {
                    let text = match value {
                        toml::Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    errors.extend(give(&mut study, &place, key, &text).err());
                }
            }
            _ => errors.push(place.error(TextErrorKind::Unknown, name, "a key that is not known")),
        }
    }
    for (name, value) in set {
        let key = name.strip_prefix("frames.").unwrap_or(name);
        errors.extend(give(&mut study, &Place::command_line(), key, value).err());
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
        assert_eq!(parse_frames("frames", text, &[]).unwrap(), FramesStudy::default());
    }

    #[test]
    fn values_are_read_and_mistakes_are_named_with_their_key() {
        let set = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let given = set(&[("frames.size", "1MB"), ("ways", "container,direct,direct"), ("jitter", "20%")]);
        let study = parse_frames("x", "[frames]\nrounds = 5\n", &given).unwrap();
        assert_eq!((study.frame_bytes, study.rounds, study.jitter), (1_000_000, 5, 0.2));
        assert_eq!(study.ways, [FrameWay::Container, FrameWay::Direct]);
        for wrong in
            [("sizes", "1MB"), ("size", "1B"), ("ways", "tape"), ("time", "1ms"), ("rounds", "0"), ("ring", "5MiB")]
        {
            let errors = parse_frames("x", "[frames]\n", &set(&[wrong])).unwrap_err();
            assert_eq!(errors.len(), 1, "{wrong:?}: {errors:?}");
        }
        assert_eq!(parse_frames("x", "[frames]\nsise = 1\n", &[]).unwrap_err()[0].nearest.as_deref(), Some("size"));
        assert!(parse_frames("x", "[frames\n", &[]).is_err() && parse_frames("x", "[phase]\n[frames]\n", &[]).is_err());
    }
}
