//! Kept settings after a reboot: the document against its contract, and what a person reads.

use crate::documents::holds;
use crate::tuning::Gain;
use model::{Better, KeptSetting, KeptTrial, SetBy, TuneGain, TuneVerification};
use report::Style;
use report::document::TuneVerifyDocument;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    answer: String,
    met: bool,
    settings: Vec<Setting>,
    trials: Vec<Trial>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    name: String,
    search: String,
    mechanism: String,
    kept_by: String,
    path: String,
    kept: String,
    now: Option<String>,
    why_not: Option<String>,
    in_effect: bool,
    set_by: Vec<By>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct By {
    by: String,
    value: Option<String>,
    is_certain: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trial {
    search: String,
    target: String,
    #[serde(rename = "for")]
    asked: String,
    metric: Option<String>,
    better: Option<String>,
    gain: Option<Gain>,
    is_gain: Option<bool>,
    why_not: Option<String>,
    tags: Vec<String>,
}

fn setting(now: Option<&str>, set_by: Vec<SetBy>) -> KeptSetting {
    KeptSetting {
        name: "read-ahead".into(),
        search: "tune-1".into(),
        mechanism: "udev",
        kept_by: "/etc/udev/rules.d/99-narrows-tune.rules:3".into(),
        path: "/sys/block/sda/queue/read_ahead_kb".into(),
        kept: "512".into(),
        now: now.map(str::to_owned),
        why_not: now.is_none().then(|| "there is no such file".to_owned()),
        in_effect: now == Some("512"),
        set_by,
    }
}

fn trial(ratio: Option<f64>, is_gain: Option<bool>) -> KeptTrial {
    let gain =
        ratio.map(|ratio| TuneGain { ratio, low: Some(ratio * 0.9), high: Some(ratio * 1.1), p: 0.03, pairs: 8 });
    KeptTrial {
        search: "tune-1".into(),
        target: "/dev/sda".into(),
        asked: "buffered-read".into(),
        metric: gain.map(|_| "buffered-read.throughput_bytes_per_s".into()),
        better: gain.map(|_| Better::Higher),
        gain,
        is_gain,
        why_not: gain.is_none().then(|| "not all of it is in effect".to_owned()),
        tags: gain.iter().flat_map(|_| ["verify-1-before", "verify-1-kept"]).map(str::to_owned).collect(),
    }
}

#[test]
fn what_is_in_effect_and_still_a_gain_is_met() {
    let verified =
        TuneVerification { settings: vec![setting(Some("512"), vec![])], trials: vec![trial(Some(3.1), Some(true))] };
    let document: Document = holds(&TuneVerifyDocument::new(&verified));
    assert!(document.met && document.schema == "narrows/tune-verify/1", "{document:?}");
    assert_eq!(
        document.answer,
        "The kept setting is in effect; buffered-read on /dev/sda is still 3.1 times as fast (95 % interval 2.8 to 3.4), by 8 pairs."
    );
    let text = report::tune_verification(&verified).text(&Style::default());
    assert!(text.contains("narrows compare verify-1-before verify-1-kept"), "{text}");
    let lost = TuneVerification { trials: vec![trial(Some(0.8), Some(false))], ..verified.clone() };
    let document: Document = holds(&TuneVerifyDocument::new(&lost));
    assert!(!document.met && document.answer.contains("is no gain any more: 0.80 times as fast"), "{document:?}");
    let unclear = TuneVerification { trials: vec![trial(Some(1.01), None)], ..verified };
    let document: Document = holds(&TuneVerifyDocument::new(&unclear));
    assert!(document.met && document.answer.contains("is not shown to be a gain now"), "{document:?}");
}

#[test]
fn what_is_overwritten_says_by_whom() {
    let by = |by: &str, value: Option<&str>, is_certain| SetBy {
        by: by.into(),
        value: value.map(str::to_owned),
        is_certain,
    };
    let file = by("/etc/udev/rules.d/99-zz.rules:2", Some("64"), true);
    let settings = vec![
        setting(Some("64"), vec![file.clone(), by("tuned", None, false)]),
        setting(Some("512"), vec![file]),
        setting(Some("4"), vec![]),
        setting(None, vec![]),
    ];
    let verified = TuneVerification { settings, trials: vec![trial(None, None)] };
    let document: Document = holds(&TuneVerifyDocument::new(&verified));
    assert!(!document.met && document.settings[0].set_by.len() == 2);
    let text = report::tune_verification(&verified).markdown().replace('\\', "");
    for part in [
        "3 of 4 kept settings are not in effect: read-ahead is 64, not 512 (/sys/block/sda/queue/read_ahead_kb); \
         /etc/udev/rules.d/99-zz.rules:2 sets 64, tuned runs and may have set it",
        "was not tried: not all of it is in effect",
        "read-ahead is 512 (/sys/block/sda/queue/read_ahead_kb); /etc/udev/rules.d/99-zz.rules:2 sets 64; kept by /etc",
        "read-ahead is 4, not 512 (/sys/block/sda/queue/read_ahead_kb); no file that sets it is known; kept by /etc",
        "read-ahead is not read: there is no such file",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
