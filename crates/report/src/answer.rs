//! The answer to what was asked, in a sentence: terminal, Markdown, page and JSON all have this one.

use crate::presentation::Tone;
use crate::run::{Form, forms, grid_answer, packages_are_known, packages_sentence, paused_sentence, replays_answer};
use crate::{Check, fill, measured, ranks, rate, record, responsive, scale, soak, verdict};
use model::{Answer, Run, RunState};

/// The answer of a run and whether it is good; `None` where nothing was asked that a sentence answers.
pub(crate) fn answer(check: &Check<'_>) -> Option<(Tone, String)> {
    let said = answer_to_question(check);
    // What was asked about the capacity says it itself, and of all else a fake makes none worth anything.
    let says_it =
        matches!(check.answer, Some(Answer::Filled { .. } | Answer::Classes(_))) || check.run.command == "soak";
    match check.run.fake().filter(|_| !says_it) {
        Some(fake) => {
            let rest = said.filter(|_| !check.is_check()).map_or_else(String::new, |(_, text)| format!(" {text}"));
            Some((Tone::Bad, rate::fake_sentence(&fake, None) + &rest))
        }
        None => said,
    }
}

fn answer_to_question(check: &Check<'_>) -> Option<(Tone, String)> {
    // Why a group ended is what there is to know, whatever was asked of it.
    let ended = check.run.group.as_ref().is_some_and(|group| group.ended.is_some());
    let scaled = || scale::answer(check).filter(|_| !ended);
    if let Some(together) =
        (ended || !check.is_check()).then(|| scaled().or_else(|| ranks::answer(check.run))).flatten()
    {
        return Some(together);
    }
    match check.answer {
        Some(Answer::Filled { filled, rested, rest_ns }) => {
            Some(fill::answer(check.run, filled.as_ref(), rested.as_ref(), *rest_ns))
        }
        Some(Answer::Classes(classes)) => rate::answer(check.run, classes),
        Some(Answer::Responsive(small)) => {
            let fit = verdict::verdict(check.fit, check.asked_for).filter(|_| check.is_check());
            let said: Vec<String> = [responsive::answer(small)].into_iter().chain(fit).collect();
            Some((Tone::Good, said.join(" ")))
        }
        None if check.run.state == RunState::Truncated && check.run.command == "record" => {
            let target = &check.run.target;
            let place = target.path.as_deref().unwrap_or(&target.name);
            Some((Tone::Doubt, format!("Cut off while it recorded: narrows record list '{place}' says what is there.")))
        }
        None if check.run.command == "soak" => {
            let soaked = soak::Soaked::of_run(check.run);
            let text = soak::answer(&soaked);
            match check.run.state == RunState::Truncated && soaked.clean {
                true => Some((Tone::Doubt, format!("Cut off; as it was kept last: {text}"))),
                false => Some((if soaked.clean { Tone::Good } else { Tone::Bad }, text)),
            }
        }
        None if check.run.command == "record" => {
            let taken = record::Taken::of_run(check.run);
            Some((if taken.missing == 0 { Tone::Good } else { Tone::Bad }, record::answer(&taken)))
        }
        None if check.is_check() => verdict::verdict(check.fit, check.asked_for).map(|text| (Tone::Good, text)),
        None => {
            let forms = forms(check.run, check.depth_curves);
            let of_forms = || forms.iter().find_map(|form| of_form(check, form)).map(|text| (Tone::Good, text));
            let asked = packages_sentence(check.run).or_else(|| paused_sentence(check.run)).or_else(of_forms);
            asked.or_else(|| measured::answer(check))
        }
    }
}

/// Whether the number that the answer is about counts: one that is refused, and no bound, answers nothing, whatever else was measured.
pub fn is_answered(run: &Run) -> bool {
    match run.command.as_str() {
        "fill" => fill::is_known(run),
        _ => packages_are_known(run).unwrap_or(true),
    }
}

impl Check<'_> {
    /// The answer in a sentence; `None` where nothing was asked that one answers.
    pub fn answer(&self) -> Option<String> {
        answer(self).map(|(_, text)| text)
    }
}

fn of_form(check: &Check<'_>, form: &Form<'_>) -> Option<String> {
    match form {
        Form::Grid(grid, _) => grid_answer(grid),
        Form::Replays(places) => replays_answer(check.run, places),
        _ => None,
    }
}
