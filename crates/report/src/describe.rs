//! A run with its conclusions as parts: what its card, its Markdown and its page say, in the order in which they say it.

use crate::answer::answer;
use crate::copy::routine;
use crate::evidence::RenderedEvidence;
use crate::headline::{self, Notes};
use crate::presentation::table::{doubt, notes};
use crate::presentation::{
    Bottleneck, End, Figure, Head, Kept, Part, Presentation, RenderedStep, SectionName, State, Table, Tone,
};
use crate::run::{Numbers, forms, remarks, table_of};
use crate::{Check, fill, quantity, ranks, scale, storage_line};
use model::{Answer, Run, RunValidity, Unit, Work};

/// The card of a check, or of any other run: that has tables by the shape of its phases, and the bottleneck only where it is known.
/// Every line but the last two (paths, which must stay whole) fits the width of the style.
pub fn card(check: &Check<'_>, style: &crate::Style) -> String {
    describe(check).text(style)
}

/// The same as Markdown, in 40 lines at most.
pub fn markdown(check: &Check<'_>) -> String {
    describe(check).markdown()
}

/// All parts.
pub fn describe(check: &Check<'_>) -> Presentation {
    let mut presentation = Presentation { head: head(check), end: end(check), ..Presentation::default() };
    let is_check = check.is_check();
    presentation.push(SectionName::Numbers, numbers(check));
    presentation.push(SectionName::Others, [scale::parts(check), ranks::parts(check.run)].concat());
    if !is_check {
        let remarks = remarks(check.run);
        presentation
            .push(SectionName::Events, if remarks.is_empty() { Vec::new() } else { vec![Part::Remarks(remarks)] });
    }
    if is_check || check.limit_is_known() {
        presentation.push(SectionName::Bottleneck, vec![Part::Bottleneck(bottleneck(check))]);
    }
    let rows = if is_check { headline::row_limits(check) } else { Vec::new() };
    if !rows.is_empty() {
        presentation.push(
            SectionName::Limits,
            vec![Part::Statements { title: "What limits each number", tone: Tone::Good, rows }],
        );
    }
    let mut findings = Vec::new();
    if !check.findings.is_empty() {
        findings.push(Part::Findings(check.findings.iter().map(|f| (f.id.clone(), f.title.clone())).collect()));
    }
    if shows_ratings(check) {
        let ratings = format!("{} (not a certificate)", headline::ratings_words(check.ratings));
        findings.push(Part::Named("Short-test ratings", ratings));
    }
    presentation.push(SectionName::Findings, findings);
    presentation
}

/// Who asks for one use measures what decides that, and no class.
pub(crate) fn shows_ratings(check: &Check<'_>) -> bool {
    !check.ratings.is_empty() && check.is_check() && check.asked_for.is_none()
}

fn head(check: &Check<'_>) -> Head {
    let run = check.run;
    let state = headline::state_words(run.state).map(|words| State { words, bad: false });
    let (is_check, validity) = (check.is_check(), run.validity());
    // What a soak finds wrong is its result.
    let looks_for_faults = run.command == "soak";
    Head {
        command: check.asked(),
        subject: crate::identity(run),
        when: check.started.to_owned(),
        about: vec![storage_line(run)],
        state: state.or_else(|| validity_state(run, validity).filter(|_| !is_check && !looks_for_faults)),
        notes: if is_check { Vec::new() } else { run.plan.notes.clone() },
        answer: answer(check),
    }
}

/// What the run is worth as a whole, where that is not everything.
fn validity_state(run: &Run, validity: RunValidity) -> Option<State> {
    let words = match validity {
        RunValidity::Valid => return None,
        // What the answer is drawn from is there.
        RunValidity::Partial if fill::is_done(run) => return None,
        RunValidity::Partial => "Partial: not all that was asked is there; what is there is valid.",
        RunValidity::Invalid => "Invalid as a whole: no number is valid, something failed, or data came back wrong.",
    };
    Some(State { words, bad: validity == RunValidity::Invalid })
}

fn numbers(check: &Check<'_>) -> Vec<Part> {
    let run = check.run;
    let mut texts = Notes::default();
    let (tables, doubt) = if check.is_check() {
        let table = headline::headline(run, &mut texts);
        let doubt = doubt(&table, &texts.0);
        (vec![table], doubt)
    } else {
        let mut numbers = Numbers::default();
        let forms = forms(run, check.depth_curves);
        let mut tables: Vec<Table> = forms.iter().map(|form| table_of(check, form, &mut numbers)).collect();
        if let Some(Answer::Filled { filled: Some(filled), .. }) = check.answer {
            tables.push(fill::table(filled));
        }
        texts = numbers.notes;
        (tables, None)
    };
    let notes = notes(texts.0, &tables.iter().collect::<Vec<&Table>>());
    let mut parts: Vec<Part> = tables.into_iter().filter(|t| !t.rows.is_empty()).map(Part::Table).collect();
    let figures = figures(check);
    if !figures.is_empty() {
        parts.push(Part::Figures(figures));
    }
    parts.extend(doubt.map(|text| Part::Sentence(Tone::Doubt, text)));
    if !notes.is_empty() {
        parts.push(Part::Notes(notes));
    }
    parts
}

/// What belongs to no table.
fn figures(check: &Check<'_>) -> Vec<Figure> {
    let run = check.run;
    let mut out = Vec::new();
    if let Some((ns, phase)) = headline::worst_stall(run) {
        let value = quantity::quantity(ns, Unit::Ns);
        out.push(Figure { name: "longest gap", value, half_width: None, detail: format!("in {phase}") });
    }
    if !check.is_check() {
        return out;
    }
    if let Some(copy) = run.metric_of_work(Work::MemoryCopy, "throughput_bytes_per_s").and_then(quantity::metric) {
        let detail = format!("({})", routine(run));
        out.push(Figure { name: "memory copy", value: copy.value(), half_width: copy.half_width, detail });
    }
    let unsteady: Vec<&str> =
        run.phases.iter().filter(|p| p.steady == Some(false)).map(|p| p.plan.name.as_str()).collect();
    if !unsteady.is_empty() {
        let detail = unsteady.join(", ");
        out.push(Figure { name: "not steady", value: String::new(), half_width: None, detail });
    }
    out
}

fn bottleneck(check: &Check<'_>) -> Bottleneck {
    let limit = check.limit;
    let next = check.next_step.map(|next| RenderedStep {
        text: next.step.text().to_owned(),
        prediction: next.predicted_ratio.map(|r| format!("predicted at most {} x", quantity::ratio(r))),
        basis: next.basis.clone(),
    });
    Bottleneck {
        title: check.bottleneck_words(),
        layer: limit.layer,
        confidence: limit.confidence,
        statement: limit.statement.trim_end_matches('.').to_owned(),
        evidence: limit.evidence.iter().map(|e| RenderedEvidence::of(check.run, e)).collect(),
        next,
    }
}

fn end(check: &Check<'_>) -> End {
    let run: &Run = check.run;
    let without = headline::without_io_uring(run)
        .map(|reason| format!("without io_uring, threads were used for depth ({reason})"));
    End {
        notes: without.into_iter().chain(run.remarks.iter().cloned()).collect(),
        kept: Some(Kept {
            run: run.id.clone(),
            version: run.program_version.clone(),
            cost: headline::written_words(run),
            own_cpu: headline::own_cpu_ns(run).map(quantity::duration),
        }),
        not_looked_at: crate::rate::capacity_not_measured(check.run).filter(|_| check.is_check()),
        answers: Vec::new(),
        repeats_answer: false,
        all_of_it: None,
        page: check.page.map(str::to_owned),
        fetch: check.fetch.map(str::to_owned),
    }
}
