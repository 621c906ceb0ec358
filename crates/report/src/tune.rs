//! A search for settings as text: what helps, what it costs, how it is kept; and what a search will do.

use crate::lines::Lines;
use crate::quantity;
use crate::text::{pad, width};
use crate::{Paint, Style};
use model::{
    Better, MetricKey, NotKept, NotTried, SettingRisk, TuneCandidate, TuneGain, TuneGuard, TunePlan, TuneProof,
    TuneSetting, TuneTried, Tuning,
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
        Some((NotKept::Guard, proof)) => {
            let harmed: Vec<&str> =
                proof.guards.iter().filter(|g| !g.passes).map(|g| MetricKey::of(&g.metric).phase()).collect();
            format!(
                "Nothing is recommended: {} makes {what} {}, but {} {} not shown to be as good as before.",
                changes(&proof.settings, tuning),
                gain(&proof.gain, tuning.better),
                harmed.join(", "),
                if harmed.len() == 1 { "is" } else { "are" }
            )
        }
        None => {
            format!("Nothing helps: nothing looked better for {what}; {} tried.", were(others))
        }
    }
}

/// `24 combinations were`
fn were(combinations: usize) -> String {
    let counted = quantity::counted(combinations as u64, "combination");
    format!("{counted} {}", if combinations == 1 { "was" } else { "were" })
}

/// The phase of a metric, and which number of it where that is not its rate.
fn subject(metric: &str) -> String {
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
fn changes(settings: &[TuneSetting], tuning: &Tuning) -> String {
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
    }
}

fn why_not(why: &NotTried) -> String {
    match why {
        NotTried::Fixed(why) => format!("cannot be changed here: {why}"),
        NotTried::NoOtherValue => "no other value is known to be worth a try".to_owned(),
        NotTried::NotNamed => "not named by --only".to_owned(),
        NotTried::Unsafe => "can lose data: --allow-unsafe tries it".to_owned(),
        NotTried::OnlyBufferedReads => "only of reads through the page cache".to_owned(),
        NotTried::OnlyBufferedWrites => "only of writes through the page cache".to_owned(),
        NotTried::OnlyUnderMemoryPressure => "only where memory is short: --only tries it".to_owned(),
        NotTried::OnlyFromNextStart => "acts from the next start of the device or its driver".to_owned(),
        NotTried::NeededByMeasurement => "the measurement needs it".to_owned(),
        NotTried::MovesWith(leader) => format!("is set together with {leader}"),
        NotTried::NoTime => "the time holds no more: a longer --budget".to_owned(),
    }
}

/// A table of texts, its columns as wide as they have to be.
fn table(out: &mut Lines<'_>, rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> =
        (0..columns).map(|c| rows.iter().filter_map(|r| r.get(c)).map(|t| width(t)).max().unwrap_or(0)).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(text, columns)| pad(text, *columns));
        out.line(format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end());
    }
}

/// What was searched, first and last what came of it.
pub fn tuning_text(tuning: &Tuning, style: &Style) -> String {
    let mut out = Lines::new(style);
    let sentence = answer(tuning);
    let good = tuning.winner.is_some();
    out.wrapped("", &sentence, Some(if good { Paint::Accent } else { Paint::Title }));
    if let Some(proof) = tuning.winner.as_ref().or(tuning.rejected.as_ref().map(|rejected| &rejected.proof)) {
        gains_and_costs(&mut out, proof, tuning);
    }
    tried(&mut out, tuning);
    if let Some(winner) = &tuning.winner {
        kept(&mut out, winner);
    }
    out.line("");
    let noise = tuning.noise_percent.map_or_else(String::new, |noise| format!(", noise of one {} %", number(noise)));
    out.wrapped(
        "",
        &format!(
            "{}{noise}; {} written; {}.",
            quantity::counted(tuning.cells as u64, "measurement"),
            quantity::size(tuning.bytes_written),
            quantity::duration(tuning.duration_ns)
        ),
        Some(Paint::Dim),
    );
    if let (Some(present), Some(changed)) = (tuning.tags.first(), tuning.tags.get(2)) {
        out.line(&format!("narrows compare {present} {changed}"));
    }
    out.line("All settings are as they were before.");
    out.wrapped("", &sentence, None);
    out.out
}

fn gains_and_costs(out: &mut Lines<'_>, proof: &TuneProof, tuning: &Tuning) {
    out.line("");
    out.line("What it gains and costs");
    let interval = |low: Option<f64>, high: Option<f64>| match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", quantity::ratio(low), quantity::ratio(high)),
        (Some(low), None) => format!("at least {}", quantity::ratio(low)),
        _ => "no interval".to_owned(),
    };
    let times = |ratio: f64| format!("{} times as good", quantity::ratio(ratio));
    let gain = &proof.gain;
    let mut rows = vec![vec![
        out.plain(&subject(&tuning.metric)),
        times(gain.ratio),
        interval(gain.low, gain.high),
        format!("p {}", quantity::significant(gain.p, 2)),
    ]];
    let guard = |g: &TuneGuard| {
        let within = if g.passes { "not worse" } else { "not shown" };
        vec![
            subject(&g.metric),
            times(g.ratio),
            interval(g.low, None),
            format!("{within} (margin {} %)", number(g.margin_percent)),
        ]
    };
    rows.extend(proof.guards.iter().map(guard));
    table(out, &rows);
    let mut told: Vec<&str> = Vec::new();
    for setting in &proof.settings {
        if let Some(of) = tuning.candidates.iter().find(|c| c.name == setting.name).filter(|c| !told.contains(&c.name))
        {
            told.push(of.name);
            out.line(&format!("  {}: {}", of.name, risk(of.risk)));
        }
    }
}

fn tried(out: &mut Lines<'_>, tuning: &Tuning) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let row = |t: &TuneTried| {
        let set = t.settings.iter().map(|set| format!("{} {}", set.name, set.value)).collect::<Vec<_>>().join(", ");
        let looked = match t.ratio {
            Some(ratio) => format!("{} times as good", quantity::ratio(ratio)),
            None => "not set, or no valid number".to_owned(),
        };
        vec![set, looked, quantity::counted(t.measurements as u64, "measurement")]
    };
    rows.extend(tuning.tried.iter().take(LISTED).map(row).map(|r| r.iter().map(|t| out.plain(t)).collect()));
    out.line("");
    let more = tuning.tried.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(", of {}", tuning.tried.len()) } else { String::new() };
    out.line(&format!("What looked best in the search{rest} (it proves nothing)"));
    table(out, &rows);
    not_tried(out, &tuning.candidates);
}

/// Settings that are not tried, by the reason.
fn not_tried(out: &mut Lines<'_>, candidates: &[TuneCandidate]) {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    let left = candidates.iter().filter_map(|c| Some((c.name, c.not_tried.as_ref()?)));
    for (name, why) in left.filter(|(_, why)| **why != NotTried::NotNamed) {
        let why = match why {
            NotTried::Fixed(_) => "cannot be changed here".to_owned(),
            why => why_not(why),
        };
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    if !reasons.is_empty() {
        out.line("Not tried");
    }
    for (why, names) in reasons {
        out.wrapped("  ", &format!("{}: {why}", names.join(", ")), Some(Paint::Dim));
    }
}

/// The lines that keep the winner, as they are copied, and what takes them back.
fn kept(out: &mut Lines<'_>, winner: &TuneProof) {
    for line in &winner.keep {
        out.line("");
        let head = out.plain(&format!("To keep it ({}), in {}:", line.mechanism, line.file));
        out.line(&head);
        for text in line.text.lines() {
            let text = out.plain(text);
            out.line(&format!("  {text}"));
        }
        if let Some(note) = &line.note {
            out.wrapped("  ", note, Some(Paint::Dim));
        }
        out.line("To take it back:");
        for text in line.undo.lines() {
            let text = out.plain(text);
            out.line(&format!("  {text}"));
        }
    }
}

/// What a search will do.
pub fn tune_plan_text(plan: &TunePlan, style: &Style) -> String {
    let mut out = Lines::new(style);
    out.wrapped("", &plan_answer(plan), Some(Paint::Title));
    let tried: Vec<&TuneCandidate> = plan.candidates.iter().filter(|c| c.not_tried.is_none()).collect();
    let rows: Vec<Vec<String>> = tried
        .iter()
        .map(|c| {
            let files = if c.files > 1 { format!(" ({} files)", c.files) } else { String::new() };
            let now = if c.now.is_empty() { "(empty)" } else { &c.now };
            vec![
                c.name.to_owned(),
                out.plain(&format!("{now}{files}")),
                format!("-> {}", out.plain(&c.values.join(" | "))),
                risk(c.risk).to_owned(),
            ]
        })
        .collect();
    out.line("");
    out.line("Tried, the first ones first");
    table(&mut out, &rows);
    not_tried(&mut out, &plan.candidates);
    out.line("");
    out.wrapped("", &format!("Not to become worse: {}.", plan.guards.join(", ")), None);
    out.line("What it can prove, in 80 of 100 cases");
    for (noise, gain) in &plan.provable {
        let gain = gain.map_or_else(|| "nothing".to_owned(), |gain| format!("gains of {} %", number(gain)));
        out.line(&format!("  with noise of {} % of a measurement: {gain}", number(*noise)));
    }
    out.out
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
