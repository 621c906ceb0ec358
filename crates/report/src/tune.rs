//! A search for settings as parts: what helps, what it costs, how it is kept; and what a search will do.

mod verify;

pub use verify::tune_verification;
pub(crate) use verify::verify_answer;

use crate::grouped::grouped;
use crate::presentation::{Cell, Part, Presentation, Row, SectionName, Table, Tone, listed, statements, under};
use crate::quantity;
use model::{
    Better, KeepLine, MetricKey, NotKept, NotTried, SettingRisk, TuneCandidate, TuneGain, TuneGuard, TunePlan,
    TuneProof, TuneRejected, TuneSetting, TuneTried, TuneValue, Tuning,
};

/// So many of what was tried are listed.
const LISTED: usize = 8;

/// What settings can do for the metric, in a sentence.
pub(crate) fn answer(tuning: &Tuning) -> String {
    let others = tuning.tried.iter().filter(|t| t.measurements > 0).count();
    let what = subject(&tuning.metric);
    if let Some(winner) = &tuning.winner {
        return format!(
            "{} makes {what} {}, confirmed by {}; {} tried.",
            changes(&winner.settings, tuning),
            gain(&winner.gain, tuning.better),
            quantity::counted(winner.gain.pairs as u64, "pair"),
            were(others)
        );
    }
    match tuning.rejected.as_ref().map(|rejected| (rejected.why, &rejected.proof)) {
        Some((NotKept::NoGain, proof)) => format!(
            "Nothing helps: {} looked best for {what}, and {} do not show a gain of {} % or more ({}).",
            changes(&proof.settings, tuning),
            quantity::counted(proof.gain.pairs as u64, "pair"),
            number(tuning.margin_percent),
            gain(&proof.gain, tuning.better)
        ),
        Some((NotKept::Guard, proof)) => format!(
            "Nothing is recommended: {} makes {what} {}, but {} not shown to be as good as before.",
            changes(&proof.settings, tuning),
            gain(&proof.gain, tuning.better),
            harmed(proof)
        ),
        None => {
            format!("Nothing helps: nothing looked better for {what}; {} tried.", were(others))
        }
    }
}

/// Which guards are not shown to be as good: `seq-read is`.
fn harmed(proof: &TuneProof) -> String {
    let phases: Vec<&str> =
        proof.guards.iter().filter(|g| !g.passes).map(|g| MetricKey::of(&g.metric).phase()).collect();
    format!("{} {}", phases.join(", "), if phases.len() == 1 { "is" } else { "are" })
}

/// A finalist that is not recommended, and why.
fn not_kept(rejected: &TuneRejected, tuning: &Tuning) -> String {
    let proof = &rejected.proof;
    let why = match rejected.why {
        NotKept::NoGain => format!("a gain of {} % or more is not shown", number(tuning.margin_percent)),
        NotKept::Guard => format!("{} not shown to be as good as before", harmed(proof)),
    };
    let pairs = quantity::counted(proof.gain.pairs as u64, "pair");
    format!("{}: {}, by {pairs}: {why}", changes(&proof.settings, tuning), gain(&proof.gain, tuning.better))
}

/// `24 combinations were`
fn were(combinations: usize) -> String {
    let counted = quantity::counted(combinations as u64, "combination");
    format!("{counted} {}", if combinations == 1 { "was" } else { "were" })
}

/// The phase of a metric, and which number of it where that is not its rate.
pub(crate) fn subject(metric: &str) -> String {
    let key = MetricKey::of(metric);
    match key.quantity {
        "throughput_bytes_per_s" | "iops" | "files_per_s" => key.of.to_owned(),
        other => format!("{} {}", key.of, other.replace("_ns", "").replace('_', " ")),
    }
}

/// `3.1 times as fast (95 % interval 2.9 to 3.3)`; of latencies how much shorter.
fn gain(gain: &TuneGain, better: Option<Better>) -> String {
    let word = if better == Some(Better::Lower) { "short" } else { "fast" };
    let interval = match (gain.low, gain.high) {
        (Some(low), Some(high)) => {
            format!(" (95 % interval {} to {})", quantity::ratio(low), quantity::ratio(high))
        }
        _ => String::new(),
    };
    format!("{} times as {word}{interval}", quantity::ratio(gain.ratio))
}

/// At most three digits, without zeros at the end.
fn number(value: f64) -> String {
    let text = quantity::significant(value, 2);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// `read-ahead 4 -> 128 KiB and scheduler none -> bfq`: each setting once, however many files it has.
pub(crate) fn changes(settings: &[TuneSetting], tuning: &Tuning) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut out = Vec::new();
    for setting in settings.iter().filter(|s| !s.name.is_empty()) {
        if names.contains(&setting.name) {
            continue;
        }
        names.push(setting.name);
        let unit = unit(setting.name, &tuning.candidates);
        let from = if setting.from.is_empty() { "(empty)" } else { &setting.from };
        out.push(format!("{} {from} -> {}{unit}", setting.name, setting.to));
    }
    out.join(" and ")
}

/// The unit that a setting's description ends with.
fn unit(name: &str, candidates: &[TuneCandidate]) -> String {
    let about = candidates.iter().find(|c| c.name == name).map_or("", |c| c.about);
    let last = about.rsplit(", ").next().unwrap_or_default();
    let units = [("KiB", " KiB"), ("bytes", " bytes"), ("percent", " percent"), ("us", " us"), ("1/100 s", "/100 s")];
    units.iter().find(|(end, _)| *end == last).map_or_else(String::new, |(_, unit)| (*unit).to_owned())
}

fn risk(risk: SettingRisk) -> &'static str {
    match risk {
        SettingRisk::Harmless => "harmless",
        SettingRisk::CostsMemory => "costs memory",
        SettingRisk::CostsPower => "costs power",
        SettingRisk::LosesData => "loses data on a power cut",
        SettingRisk::CanHang => "can hang the machine",
    }
}

/// Why a setting is not tried, where that is not what was asked for.
fn why_not(why: &NotTried) -> Option<String> {
    Some(match why {
        NotTried::NotNamed => return None,
        NotTried::Fixed(_) => "cannot be changed here".to_owned(),
        NotTried::MovesWith(leader) => format!("is set together with {leader}"),
        NotTried::NoOtherValue => "no other value is known to be worth a try".to_owned(),
        NotTried::Unsafe => "can lose data: --allow-unsafe tries it".to_owned(),
        NotTried::Register => "a device register: --allow-registers tries it".to_owned(),
        NotTried::OnlyBufferedReads => "only of reads through the page cache".to_owned(),
        NotTried::OnlyBufferedWrites => "only of writes through the page cache".to_owned(),
        NotTried::OnlyUnderMemoryPressure => "only where memory is short: --only tries it".to_owned(),
        NotTried::OnlyFromNextStart => "acts from the next start of the device or its driver".to_owned(),
        NotTried::NeededByMeasurement => "the measurement needs it".to_owned(),
        NotTried::NoTime => "the time holds no more: a longer --budget".to_owned(),
    })
}

/// An answer that is said again at the end of what is long.
fn answered(tone: Tone, answer: String) -> Presentation {
    let mut presentation = Presentation::default().answered(tone, answer);
    presentation.end.repeats_answer = true;
    presentation
}

/// What was searched, first and last what came of it.
pub fn tuning(tuning: &Tuning) -> Presentation {
    let tone = if tuning.winner.is_some() { Tone::Good } else { Tone::Plain };
    let mut presentation = answered(tone, answer(tuning));
    let rejected = tuning.rejected.as_ref();
    let proof = tuning.winner.as_ref().map(|winner| (winner, true));
    let proof = proof.or(rejected.map(|rejected| (&rejected.proof, rejected.why != NotKept::NoGain)));
    let table = proof.map(|(proof, is_gain)| Part::Table(gains_and_costs(proof, is_gain, tuning)));
    presentation.push(SectionName::Numbers, table.into_iter().collect());
    presentation.push(SectionName::Others, tried(&tuning.tried));
    let shown = usize::from(tuning.winner.is_none());
    let rejected = tuning.rejected.iter().chain(&tuning.rejected_next).skip(shown);
    let rejected = listed(rejected.map(|rejected| not_kept(rejected, tuning)).collect());
    presentation.push(SectionName::Rejected, under("Not confirmed", rejected));
    presentation.push(SectionName::Rejected, not_tried(&tuning.candidates));
    for line in tuning.winner.iter().flat_map(|winner| &winner.keep) {
        presentation.push(SectionName::Keeping, kept(line));
    }
    let noise = tuning.noise_percent.map_or_else(String::new, |noise| format!(", noise of one {} %", number(noise)));
    let cost = format!(
        "{}{noise}; {} written; {}. All settings are as they were before.",
        quantity::counted(tuning.cells as u64, "measurement"),
        quantity::size(tuning.bytes_written),
        quantity::duration(tuning.duration_ns)
    );
    let compared = tuning.tags.first().zip(tuning.tags.get(2));
    let compared = compared.map(|(present, changed)| Part::Code(format!("narrows compare {present} {changed}")));
    presentation.push(SectionName::Events, std::iter::once(Part::Hint(cost)).chain(compared).collect());
    presentation
}

/// The gain, what must not become worse, and the risks of what is changed; `is_gain`: whether the pairs show one.
fn gains_and_costs(proof: &TuneProof, is_gain: bool, tuning: &Tuning) -> Table {
    let row = |metric: &str, ratio: f64, interval: String, shown: Option<(Tone, &str)>, of: String| {
        let (tone, word) = shown.unwrap_or((Tone::Doubt, "not shown"));
        let verdict = Cell::Answer(tone, format!("{word} ({of})"));
        Row::new(subject(metric), vec![Cell::Text(quantity::ratio(ratio)), Cell::Text(interval), verdict])
    };
    let interval = |low: Option<f64>, high: Option<f64>| match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", quantity::ratio(low), quantity::ratio(high)),
        (Some(low), None) => format!("at least {}", quantity::ratio(low)),
        _ => "no interval".to_owned(),
    };
    let gain = &proof.gain;
    let p = format!("p {}", quantity::significant(gain.p, 2));
    let gain =
        row(&tuning.metric, gain.ratio, interval(gain.low, gain.high), is_gain.then_some((Tone::Good, "better")), p);
    let guard = |g: &TuneGuard| {
        let margin = format!("margin {} %", number(g.margin_percent));
        let passes = if g.in_reach { "not worse" } else { "out of reach" };
        row(&g.metric, g.ratio, interval(g.low, None), g.passes.then_some((Tone::Plain, passes)), margin)
    };
    let is_changed = |c: &&TuneCandidate| proof.settings.iter().any(|setting| setting.name == c.name);
    let changed = tuning.candidates.iter().filter(is_changed);
    Table {
        caption: "What it gains and costs: how many times as good as before".to_owned(),
        corner: "metric",
        head: ["times", "interval", "verdict"].map(str::to_owned).into(),
        rows: std::iter::once(gain).chain(proof.guards.iter().map(guard)).collect(),
        footer: changed.map(|c| format!("{}: {}", c.name, risk(c.risk))).collect(),
        ..Table::default()
    }
}

/// `read-ahead 512, scheduler bfq`
pub(crate) fn set(settings: &[TuneValue]) -> String {
    settings.iter().map(|set| format!("{} {}", set.name, set.value)).collect::<Vec<_>>().join(", ")
}

/// ` (2.8 to 3.4)`
fn between(tried: &TuneTried) -> String {
    let ends = tried.low.zip(tried.high);
    ends.map_or_else(String::new, |(low, high)| format!(" ({} to {})", quantity::ratio(low), quantity::ratio(high)))
}

fn tried(tried: &[TuneTried]) -> Vec<Part> {
    let one = |t: &TuneTried| {
        let set = set(&t.settings);
        let looked = match t.ratio {
            Some(ratio) => format!("{} times as good{}", quantity::ratio(ratio), between(t)),
            None => "not set, or no valid number".to_owned(),
        };
        format!("{set}: {looked}, {}", quantity::counted(t.measurements as u64, "measurement"))
    };
    let rest = if tried.len() > LISTED { format!(", of {}", tried.len()) } else { String::new() };
    let heading = format!("What looked best in the search{rest} (it proves nothing)");
    under(&heading, listed(tried.iter().take(LISTED).map(one).collect()))
}

/// Settings that are not tried, by the reason.
fn not_tried(candidates: &[TuneCandidate]) -> Vec<Part> {
    let left = candidates.iter().filter_map(|c| Some((why_not(c.not_tried.as_ref()?)?, c.name)));
    let reasons = grouped(left).into_iter().map(|(why, names)| format!("{}: {why}", names.join(", ")));
    under("Not tried", listed(reasons.collect()))
}

/// The lines that keep a setting, as they are copied, and what takes them back.
fn kept(line: &KeepLine) -> Vec<Part> {
    let mut parts = vec![
        Part::Heading(format!("To keep it ({}), in {}:", line.mechanism, line.file)),
        Part::Code(line.text.clone()),
    ];
    parts.extend(line.note.clone().map(Part::Hint));
    parts.extend([Part::Heading("To take it back:".to_owned()), Part::Code(line.undo.clone())]);
    parts
}

/// What a search will do.
pub fn tune_plan(plan: &TunePlan) -> Presentation {
    let mut presentation = answered(Tone::Plain, plan_answer(plan));
    let tried = plan.candidates.iter().filter(|c| c.not_tried.is_none()).map(|c| {
        let files = if c.files > 1 { format!(" ({} files)", c.files) } else { String::new() };
        let now = if c.now.is_empty() { "(empty)" } else { &c.now };
        (c.name.to_owned(), format!("{now}{files} -> {}; {}", c.values.join(" | "), risk(c.risk)))
    });
    presentation.push(SectionName::Numbers, under("Tried, the first ones first", vec![statements(tried)]));
    presentation.push(SectionName::Others, not_tried(&plan.candidates));
    let guards = format!("Not to become worse: {}.", plan.guards.join(", "));
    presentation.push(SectionName::Limits, vec![Part::Sentence(Tone::Plain, guards)]);
    let provable = plan.provable.iter().map(|(noise, gain)| {
        let gain = gain.map_or_else(|| "nothing".to_owned(), |gain| format!("gains of {} %", number(gain)));
        format!("with noise of {} % of a measurement: {gain}", number(*noise))
    });
    presentation.push(SectionName::Limits, under("What it can prove, in 80 of 100 cases", listed(provable.collect())));
    presentation
}

/// What it does, in a sentence.
pub(crate) fn plan_answer(plan: &TunePlan) -> String {
    let screened = if plan.screened { " and their combinations" } else { "" };
    let written = match plan.bytes_at_most {
        Some(0) => "nothing is written".to_owned(),
        Some(bytes) => format!("at most {} are written", quantity::size(bytes)),
        None => "only its time bounds what is written".to_owned(),
    };
    format!(
        "Tries {}{screened} on {} for {}: at most {}, then {}, in {}; {written}.",
        quantity::counted(plan.changes as u64, "value"),
        plan.target,
        plan.asked,
        quantity::counted(plan.cells as u64, "measurement"),
        quantity::counted(u64::from(plan.pairs), "pair"),
        quantity::duration(plan.budget_ns)
    )
}
