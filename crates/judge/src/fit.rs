//! What storage is good for: the needs of a use against the numbers that stand.
//!
//! The uses are TOML files in `uses/`, each limit with its source. A number that was refused, or lies too near to the
//! limit for its interval, decides nothing: the answer is then not known, and never yes. One that is a bound says yes, and
//! never no.

use crate::checkpoint;
use crate::need::of_need;
use crate::rating::SPEED;
use model::{CAMERA_STREAMS, CameraStreams, CompactSort as _, Fit, NeedFit, Reason, Run, TargetKind, UseText};
use std::sync::OnceLock;

const TEXTS: &[&str] = &[
    include_str!("../uses/root-fs.toml"),
    include_str!("../uses/postgres.toml"),
    include_str!("../uses/etcd.toml"),
    include_str!("../uses/sqlite.toml"),
    include_str!("../uses/vm-images.toml"),
    include_str!("../uses/A1.toml"),
    include_str!("../uses/A2.toml"),
    include_str!("../uses/video.toml"),
    include_str!("../uses/record.toml"),
    include_str!("../uses/checkpoint.toml"),
    include_str!("../uses/responsive.toml"),
];

pub fn uses() -> &'static [UseText] {
    static USES: OnceLock<Vec<UseText>> = OnceLock::new();
    // The texts are part of the program and a test reads each of them, so this cannot fail at run time.
    USES.get_or_init(|| TEXTS.iter().map(|t| toml::from_str(t).unwrap_or_else(|e| panic!("uses: {e}"))).collect())
}

fn of_id(id: &str) -> Option<UseText> {
    uses().iter().find(|u| u.id == id).cloned()
}

/// Words for uses that people and the screens have, each with the name that it means.
const OTHER_WORDS: [(&str, &str); 24] = [
    ("os", "root-fs"),
    ("system", "root-fs"),
    ("operating-system", "root-fs"),
    ("an operating system", "root-fs"),
    ("rootfs", "root-fs"),
    ("root", "root-fs"),
    ("database", "postgres"),
    ("a database", "postgres"),
    ("databases", "postgres"),
    ("db", "postgres"),
    ("postgresql", "postgres"),
    ("vm", "vm-images"),
    ("vms", "vm-images"),
    ("virtual-machines", "vm-images"),
    ("images of virtual machines", "vm-images"),
    ("sqlite3", "sqlite"),
    ("work while something copies", "responsive"),
    ("a1", "A1"),
    ("a2", "A2"),
    ("application class a1", "A1"),
    ("application class a2", "A2"),
    ("desktop", "responsive"),
    ("interactive", "responsive"),
    // What a camera of 4K asks for.
    ("video", "video=V30"),
];

/// The use of a name as `check --for` takes it: an id, a speed class, `video=V30`, `record=4x16Mbit`,
/// `checkpoint=20GB/60s`, or a word of the screens.
///
/// # Errors
/// What is wrong with the name, and which there are.
pub fn use_named(name: &str) -> Result<UseText, String> {
    let lower = name.trim().to_ascii_lowercase();
    let own = uses().iter().map(|used| used.id.as_str()).find(|id| *id == lower && !matches!(*id, "video" | "record"));
    let other = OTHER_WORDS.iter().find(|(word, _)| *word == lower).map(|(_, name)| *name);
    let name = own.or(other).unwrap_or(name);
    let class = name.strip_prefix("video=").unwrap_or(name);
    if let Some((class, mb)) = SPEED.iter().find(|(c, _)| *c == class) {
        let mut video = of_id("video").ok_or("there is no use video")?;
        name.clone_into(&mut video.id);
        video.title = format!("video {class} ({mb} MB/s)");
        for need in &mut video.needs {
            need.least = Some(f64::from(*mb) * 1e6);
            (*class).clone_into(&mut need.by);
        }
        return Ok(video);
    }
    if let Some(streams) = name.strip_prefix("record=") {
        let rate = CameraStreams::parse(streams).map(|of| f64::from(of.count) * of.bytes_per_s);
        let bytes_per_s = rate.ok_or_else(|| {
            format!("'{name}': record=4x16Mbit is four streams of 16 Mbit/s each; streams are {CAMERA_STREAMS}")
        })?;
        let mut record = of_id("record").ok_or("there is no use record")?;
        name.clone_into(&mut record.id);
        record.title = format!("recording {streams}");
        record.needs.iter_mut().for_each(|need| need.least = Some(bytes_per_s));
        return Ok(record);
    }
    if let Some(amount) = name.strip_prefix("checkpoint=") {
        return checkpoint::asked(of_id("checkpoint").ok_or("there is no use checkpoint")?, name, amount);
    }
    let plain = |u: &&UseText| !matches!(u.id.as_str(), "video" | "record" | "checkpoint");
    uses().iter().filter(plain).find(|u| u.id == name).cloned().ok_or_else(|| {
        let words =
            |u: &UseText| if u.title.contains(&u.id) { u.id.clone() } else { format!("{} ({})", u.id, u.title) };
        let ids: Vec<String> = uses().iter().filter(plain).map(words).collect();
        format!(
            "'{name}' is not a use that is known; there are {}, video=V30, record=4x16Mbit, {}",
            ids.join(", "),
            checkpoint::EXAMPLE
        )
    })
}

/// Names of the phases of the check that decide a use.
pub fn deciding_phases(of: &UseText) -> Vec<&str> {
    let mut names: Vec<&str> = of.needs.iter().map(|n| n.phase.as_str()).collect();
    names.dedup();
    names
}

/// How a run stands to a use: the need that is missed by most, else one that is not known, else the tightest.
pub fn fit(run: &Run, of: &UseText) -> Fit {
    let of_one = |need| match of.checkpoint_bytes {
        Some(bytes) => checkpoint::fit(run, of, need, bytes),
        None => of_need(run, of, need),
    };
    let fit = deciding_need(of.needs.iter().map(of_one).collect());
    if run.fake().is_some() { fake_fit(fit) } else { fit }
}

/// What less is there of than it says is good for nothing, whatever it measures.
pub(crate) fn fake_fit(fit: Fit) -> Fit {
    let reasons = vec![fake_reason()];
    Fit {
        met: Some(false),
        value: None,
        bound: None,
        margin_ratio: None,
        ring_bytes: None,
        reasons,
        needs: Vec::new(),
        ..fit
    }
}

pub(crate) fn fake_reason() -> Reason {
    Reason::of("fake", "less is there than the target says")
}

/// Of the needs of a use the one that is missed by most, else one that is not known, else the tightest.
pub(crate) fn deciding_need(mut each: Vec<Fit>) -> Fit {
    let rank = |f: &Fit| match f.met {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    };
    let margin = |f: &Fit| f.margin_ratio.unwrap_or(f64::INFINITY);
    let needs = if each.len() > 1 { each.iter().map(NeedFit::from).collect() } else { Vec::new() };
    each.compact_sort_by(|a, b| rank(a).cmp(&rank(b)).then(margin(a).total_cmp(&margin(b))));
    Fit { needs, ..each.swap_remove(0) }
}

/// How a check stands to the uses that everybody asks about, and to video by the highest class it takes.
pub fn summary(run: &Run) -> Vec<Fit> {
    if matches!(run.target.kind, TargetKind::Null | TargetKind::Foreign) || !run.is_overview() {
        return Vec::new();
    }
    let mut all: Vec<Fit> = uses().iter().filter(|u| u.summary).map(|u| fit(run, u)).collect();
    let video = ["V90", "V60", "V30", "V10", "V6"].iter().filter_map(|class| use_named(class).ok());
    let video: Vec<Fit> = video.map(|u| fit(run, &u)).collect();
    all.extend(video.iter().find(|f| f.met == Some(true)).or(video.last()).cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Work;

    #[test]
    fn every_text_is_complete_and_every_file_is_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/uses");
        let files = std::fs::read_dir(folder).expect("the folder of uses").count();
        assert_eq!(files, TEXTS.len());
        for u in uses() {
            assert!(!u.title.is_empty() && !u.meaning.is_empty() && !u.sources.is_empty(), "{}", u.id);
            for need in &u.needs {
                assert!(Work::ALL.iter().any(|w| w.name() == need.phase), "{}: {}", u.id, need.phase);
                // Limits that contradict each other would be met by nothing, or by everything.
                assert!(need.least.is_some() != need.most.is_some(), "{}: one limit for {}", u.id, need.quantity);
                assert!(need.threshold() > 0.0, "{}", u.id);
            }
        }
    }

    #[test]
    fn uses_have_names_with_a_rate() {
        assert_eq!(use_named("record=4x16Mbit").unwrap().needs[0].least, Some(8e6));
        assert_eq!(use_named("record=800kbit/s").unwrap().needs[0].least, Some(1e5));
        assert_eq!(use_named("record=4x2MB@30").unwrap().needs[0].least, Some(240e6));
        assert_eq!(use_named("record=4x1080p30").unwrap().needs[0].least, Some(4e6));
        assert_eq!(use_named("video=V60").unwrap().needs[0].least, Some(60e6));
        assert_eq!(use_named("U3").unwrap().needs[0].by, "U3");
        for used in uses().iter().filter(|u| !matches!(u.id.as_str(), "video" | "record" | "checkpoint")) {
            assert_eq!(use_named(&used.title).unwrap_or_else(|e| panic!("{e}")).id, used.id, "as screens call it");
        }
        for (word, id) in OTHER_WORDS {
            assert_eq!(use_named(word).unwrap().id, id, "{word}");
        }
        assert_eq!(use_named("OS").unwrap().id, "root-fs");
        for wrong in ["record=0x16Mbit", "record=4x", "record", "video=V7", "nonsense", ""] {
            let said = use_named(wrong).unwrap_err();
            assert!(said.contains("record=4x16Mbit"), "{wrong}: {said}");
        }
    }
}
