//! What became of kept settings: in effect or not, what else sets them, and whether they are still a gain.

use super::{gain, subject};
use crate::presentation::{Part, Presentation, SectionName, Tone, listed, under};
use crate::quantity;
use model::{KeptSetting, KeptTrial, SetBy, TuneVerification};

/// Whether all is in effect and still a gain, in a sentence.
pub(crate) fn verify_answer(verified: &TuneVerification) -> String {
    let all = verified.settings.len();
    let missing: Vec<&KeptSetting> = verified.settings.iter().filter(|kept| !kept.in_effect).collect();
    let counted = quantity::counted(all as u64, "kept setting");
    let mut answer = match missing.as_slice() {
        [] if all == 1 => "The kept setting is in effect".to_owned(),
        [] => format!("All {counted} are in effect"),
        [first, ..] => {
            let are = if missing.len() == 1 { "is" } else { "are" };
            format!("{} of {counted} {are} not in effect: {}", missing.len(), state(first))
        }
    };
    for trial in &verified.trials {
        answer.push_str(&format!("; {}", tried(trial)));
    }
    answer + "."
}

/// `read-ahead is 64, not 512 (/sys/block/sda/queue/read_ahead_kb); /etc/udev/rules.d/99-z.rules:1 sets 64`
fn state(kept: &KeptSetting) -> String {
    let name = if kept.name.is_empty() { &kept.path } else { &kept.name };
    let place = if kept.path.is_empty() { &kept.kept_by } else { &kept.path };
    let held = match (&kept.now, &kept.why_not) {
        (Some(_), _) if kept.in_effect => format!("{name} is {}", kept.kept),
        (Some(now), _) => format!("{name} is {now}, not {}", kept.kept),
        (None, why) => format!("{name} is not read: {}", why.as_deref().unwrap_or("unknown")),
    };
    let others: Vec<String> =
        kept.set_by.iter().filter(|set| !kept.in_effect || set.value.is_some()).map(other).collect();
    let others = match (others.as_slice(), kept.in_effect || kept.now.is_none()) {
        ([], true) => String::new(),
        ([], false) => "; no file that sets it is known".to_owned(),
        (some, _) => format!("; {}", some.join(", ")),
    };
    format!("{held} ({place}){others}")
}

fn other(set: &SetBy) -> String {
    match &set.value {
        Some(value) if set.is_certain => format!("{} sets {value}", set.by),
        Some(value) => format!("{} sets {value} if its other conditions hold", set.by),
        None => format!("{} runs and may have set it", set.by),
    }
}

fn tried(trial: &KeptTrial) -> String {
    let (what, target) = (trial.metric.as_deref().map_or(trial.asked.clone(), subject), &trial.target);
    match (&trial.gain, &trial.why_not) {
        (Some(found), _) => {
            let (verb, pairs) = (
                match trial.is_gain {
                    Some(true) => "is still",
                    Some(false) => "is no gain any more:",
                    None => "is not shown to be a gain now:",
                },
                quantity::counted(found.pairs as u64, "pair"),
            );
            format!("{what} on {target} {verb} {}, by {pairs}", gain(found, trial.better))
        }
        (None, why) => format!(
            "whether it still is a gain for {what} on {target} was not tried: {}",
            why.as_deref().unwrap_or("unknown")
        ),
    }
}

/// The answer, then each setting with the file that keeps it.
pub fn tune_verification(verified: &TuneVerification) -> Presentation {
    let tone = if verified.is_as_kept() { Tone::Good } else { Tone::Bad };
    let mut presentation = super::answered(tone, verify_answer(verified));
    let lines = |in_effect: bool| -> Vec<String> {
        let those = verified.settings.iter().filter(|kept| kept.in_effect == in_effect);
        those.map(|kept| format!("{}; kept by {}", state(kept), kept.kept_by)).collect()
    };
    presentation.push(SectionName::Numbers, under("Not in effect", listed(lines(false))));
    presentation.push(SectionName::Numbers, under("In effect", listed(lines(true))));
    let compared = verified.trials.iter().filter_map(|trial| trial.tags.first().zip(trial.tags.get(1)));
    let compared = compared.map(|(before, kept)| Part::Code(format!("narrows compare {before} {kept}"))).collect();
    presentation.push(SectionName::Events, compared);
    presentation
}
