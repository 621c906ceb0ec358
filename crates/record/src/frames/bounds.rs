//! What a study of frames may write, and how it is made to fit that.

use super::MOST_TRIES;
use crate::room_bytes;
use model::{Failure, FramesStudy, Ns};
use std::ffi::OsStr;
use std::path::Path;

/// What a file system has beside the frames.
pub(super) const OVERHEAD_BYTES: u64 = 256 << 20;
/// A measurement writes so many frames or more.
const LEAST_FRAMES: u64 = 8;
/// What a file system writes of its own (its journal, extents): a part of the bytes, and blocks of a file for each frame, where each
/// is one.
const METADATA_PART: u64 = 32;
const METADATA_PER_FRAME: u64 = 32 << 10;

/// How much reaches the device at most, and how long it takes at most.
pub fn at_most(study: &FramesStudy, ways: usize) -> (u64, Ns) {
    let measurements = measurements(study, ways);
    let bytes = measurements.saturating_mul(study.room_bytes.saturating_add(overhead_bytes(study, study.room_bytes)));
    (bytes, measurements * study.time_ns + 2 * ways as u64 * study.rest_ns)
}

fn measurements(study: &FramesStudy, ways: usize) -> u64 {
    ways as u64 * u64::from(study.rounds + MOST_TRIES + 1)
}

/// What a file system writes beside frames of so many bytes: a part of them, and for each frame the blocks of its file.
fn overhead_bytes(study: &FramesStudy, bytes: u64) -> u64 {
    bytes / METADATA_PART + bytes / study.frame_bytes.max(1) * METADATA_PER_FRAME
}

/// The study as it fits a target: its measurements end at the room there is, and all together at `most`, without which a device is
/// written once.
///
/// # Errors
/// There is no room for it, or it may write too little.
pub fn fitted(study: &FramesStudy, target: &OsStr, ways: usize, most: Option<u64>) -> Result<FramesStudy, Failure> {
    let failure = |what: &str| {
        let what = format!("{}: {what}", target.to_string_lossy());
        Failure::environment(what)
    };
    let room = room_bytes(target)?;
    let mut study = study.clone();
    study.room_bytes = study.room_bytes.min(room.saturating_sub(OVERHEAD_BYTES.min(room / 2)));
    if study.room_bytes < LEAST_FRAMES * study.frame_bytes {
        return Err(failure("there is no room for eight frames").remedy("--set size=SIZE, with smaller frames"));
    }
    let most = most.map_or_else(|| whole_bytes(target), Ok)?;
    let each = most / measurements(&study, ways).max(1);
    let share = each as f64 / (each + overhead_bytes(&study, each)).max(1) as f64;
    let frames = (each as f64 * share) as u64;
    // What a file system writes beside them does not grow in proportion: blocks of whole frames.
    let over = (frames + overhead_bytes(&study, frames)).saturating_sub(each);
    study.room_bytes = study.room_bytes.min(frames.saturating_sub(over));
    if study.room_bytes < LEAST_FRAMES * study.frame_bytes {
        let least = FramesStudy { room_bytes: LEAST_FRAMES * study.frame_bytes, ..study.clone() };
        let what = format!("{} are too few for eight frames in each measurement", model::bytes_text(most));
        let remedy = format!(
            "--max-write {} or more; --set size=SIZE, with smaller frames; --set ways=..., with fewer",
            model::bytes_text(at_most(&least, ways).0)
        );
        return Err(failure(&what).remedy(remedy));
    }
    Ok(study)
}

/// How large the file system or the device is.
fn whole_bytes(target: &OsStr) -> Result<u64, Failure> {
    let path = Path::new(target);
    if !path.is_dir() {
        return room_bytes(target);
    }
    let space = sys::open_directory(path).and_then(|held| sys::space_of(&held));
    space.map(|space| space.total_bytes).map_err(|e| conduct::file_failure::cannot(path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_measurements_together_write_no_more_than_they_may() {
        let place = tempfile::tempdir().unwrap();
        let study = spec::parse_frames("frames", "[frames]", &[]).unwrap();
        let fits = |most| fitted(&study, place.path().as_os_str(), 4, Some(most));
        let gib = 1 << 30;
        for most in [2 * gib, 5 * gib, 20 * gib] {
            let (bytes, _) = at_most(&fits(most).unwrap(), 4);
            assert!(bytes <= most && bytes > most / 2, "{bytes} of {most}");
        }
        let refused = fits(gib / 16).unwrap_err();
        assert!(refused.message.contains("eight frames") && refused.remedy.unwrap().contains("--max-write"));
        let once = fitted(&study, place.path().as_os_str(), 4, None).unwrap();
        assert!(at_most(&once, 4).0 <= whole_bytes(place.path().as_os_str()).unwrap());
    }
}
