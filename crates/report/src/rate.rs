//! How a card stands to the published classes, as text.

use crate::grouped::grouped;
use crate::presentation::{Cell, Part, Presentation, Row, SectionName, Table, Tone};
use crate::quantity;
use crate::text::capital;
use crate::{identity, storage_line};
use model::{Capacity, CapacityKind, ClassNeed, LayerKind, RatedClass, Run, TargetKind, Unit, facts};

/// What the device says of its size.
pub(crate) fn claimed_bytes(run: &Run) -> Option<u64> {
    run.target.stack.device_bytes().or(run.target.size_bytes)
}

/// A sentence first: which classes the numbers reach and which not; then every threshold beside what was measured, what the card
/// claims, and which conditions of the classes were not met.
pub fn rate(run: &Run, classes: &[RatedClass], capacity: Option<&Capacity>) -> Presentation {
    let mut presentation = Presentation::of("rate", identity(run));
    presentation.head.about = vec![storage_line(run)];
    presentation.end.answers = answers(run, classes);
    presentation.end.all_of_it = Some(format!("narrows rate {} --details", run.id)).filter(|_| !run.id.is_empty());
    let plain = |text: String| Part::Sentence(Tone::Plain, text);
    let mut said: Vec<Part> =
        capacity.map(capacity_words).map(|(text, tone)| Part::Sentence(tone, text)).into_iter().collect();
    let Some(reached) = sentence(classes) else {
        let nothing = "Nothing to rate: there is no storage behind this target.".to_owned();
        said.push(Part::Sentence(Tone::Doubt, nothing));
        presentation.push(SectionName::Answer, said);
        return presentation;
    };
    let fake = capacity.is_some_and(|c| c.kind.is_fake());
    said.push(if fake { plain(only_where_real(&reached)) } else { Part::Sentence(Tone::Good, reached) });
    said.extend(capacity_not_measured(run).filter(|_| capacity.is_none()).map(plain));
    let claimed = || classes.iter().filter(|c| c.claimed == Some(true));
    let names: Vec<&str> = claimed().map(|c| c.rating.class.as_str()).collect();
    said.push(plain(match (names.as_slice(), classes.iter().any(|c| c.claimed.is_some())) {
        ([], true) if classes.len() == 1 => "Its registers do not claim it.".to_owned(),
        ([], true) => "Its registers claim none of these classes.".to_owned(),
        ([], false) => "What it claims itself cannot be read here.".to_owned(),
        (names, _) => format!("Its registers claim {}.", names.join(", ")),
    }));
    let below = claimed().filter(|c| c.rating.indication.as_deref() == Some("below"));
    said.extend(
        below.map(|c| Part::Sentence(Tone::Doubt, format!("It is below {}, which it claims.", c.rating.class))),
    );
    presentation.push(SectionName::Answer, said);
    presentation.push(SectionName::Numbers, vec![Part::Table(table(classes))]);
    let mut rest = vec![plain("An approximation, and no certificate:".to_owned()), Part::List(distinct(classes))];
    rest.extend(run.remarks.iter().filter(|r| !r.starts_with(CAPACITY)).cloned().map(Part::Hint));
    rest.push(Part::Named("Run", run.id.clone()));
    presentation.push(SectionName::Limits, rest);
    presentation
}

/// Every threshold beside what was measured; the first of a class has its name.
fn table(classes: &[RatedClass]) -> Table {
    let row = |(name, need): (&str, &ClassNeed)| {
        let amount = match need.unit {
            Unit::OpsPerS => quantity::count(need.threshold as u64),
            unit => quantity::quantity(need.threshold, unit),
        };
        let (word, tone) = match need.holds {
            Some(true) => ("above", Tone::Plain),
            Some(false) => ("below", Tone::Doubt),
            None => ("not known", Tone::Plain),
        };
        let asks = Cell::Text(format!("{amount} {}", need.what));
        Row::new(name, vec![asks, value(need), Cell::Answer(tone, word.to_owned())])
    };
    let named = |class| std::iter::once(class).chain(std::iter::repeat(""));
    let needs = classes.iter().flat_map(|class| named(class.rating.class.as_str()).zip(&class.needs));
    let head = ["asks for at least", "measured", ""].map(str::to_owned).to_vec();
    Table { corner: "class", head, rows: needs.map(row).collect(), ..Table::default() }
}

/// What stood before it in the remarks of a run, of versions that kept it as a text.
const CAPACITY: &str = "capacity: ";

/// Whether it is as large as it says, and which classes it reaches, in one text.
pub(crate) fn answer(run: &Run, classes: &[RatedClass]) -> Option<(Tone, String)> {
    let said = answers(run, classes);
    let tone = if said.iter().any(|text| text.starts_with("A fake")) { Tone::Bad } else { Tone::Good };
    (!said.is_empty()).then(|| (tone, said.join(" ")))
}

/// The same, sentence by sentence.
fn answers(run: &Run, classes: &[RatedClass]) -> Vec<String> {
    let of_remark = || run.remarks.iter().find_map(|r| r.strip_prefix(CAPACITY)).map(str::to_owned);
    let capacity = run.capacity.as_ref().map(|c| capacity_words(c).0).or_else(of_remark);
    let fake = capacity.as_ref().is_some_and(|c| c.starts_with("A fake"));
    let reached = sentence(classes).map(|text| if fake { only_where_real(&text) } else { text });
    // Who asks for one class is told of that.
    let not_measured = capacity_not_measured(run).filter(|_| capacity.is_none() && classes.len() > 1);
    capacity.into_iter().chain(reached).chain(not_measured).collect()
}

/// That the size is only what the device says, and what measures it; nothing where it was measured, or where none could be a fake: of a
/// file, of memory, of a loop device, of a disk that a hypervisor makes.
pub(crate) fn capacity_not_measured(run: &Run) -> Option<String> {
    if run.capacity.is_some() || run.capacity_found().is_some() {
        return None;
    }
    let is_invented = run.target.stack.layers.iter().any(|layer| {
        let virtual_disk = matches!(layer.text(facts::TRANSPORT), Some("virtio" | "virtual" | "xen" | "network"))
            || layer.bool(facts::EMULATED) == Some(true);
        layer.kind == LayerKind::Loop || layer.kind == LayerKind::Disk && virtual_disk
    });
    let name = run.target.path.as_deref().unwrap_or(&run.target.name);
    let command = match run.target.kind {
        TargetKind::Sim => format!("narrows rate {} --capacity quick", run.target.name),
        TargetKind::BlockDevice if !is_invented => format!("narrows rate {name} --destroy SERIAL --capacity quick"),
        TargetKind::Directory if !is_invented => format!("narrows fill {name} --verify"),
        _ => return None,
    };
    let size = quantity::size(claimed_bytes(run)?);
    Some(format!("Capacity {size}, as it says itself; whether it is a fake was not checked: {command}"))
}

/// What a fake is good for, of several targets with the name of the one that is meant.
pub(crate) fn fake_sentence(fake: &Capacity, name: Option<&str>) -> String {
    let size = quantity::size;
    let real = fake.real_bytes.map(size).unwrap_or_default();
    let name = name.unwrap_or("it");
    format!("Not for anything: {name} is a fake, at most {real} of {} are real.", size(fake.claimed_bytes))
}

/// What the classes of a fake are worth.
fn only_where_real(classes: &str) -> String {
    format!(
        "No class is worth anything on it; where it keeps data its rates are: {}",
        classes.replacen("Above", "above", 1)
    )
}

/// Whether it is as large as it says.
fn capacity_words(capacity: &Capacity) -> (String, Tone) {
    let size = quantity::size;
    let claimed = size(capacity.claimed_bytes);
    let looked = match capacity.quick {
        true => format!("{} at random places all over it were written and read back", size(capacity.verified_bytes)),
        false => format!("{} were written and read back", size(capacity.verified_bytes)),
    };
    let real = capacity.real_bytes.map(size).unwrap_or_default();
    let most = if capacity.quick { " at most" } else { "" };
    match capacity.kind {
        CapacityKind::Genuine => (format!("It is as large as it says, {claimed}: {looked}."), Tone::Good),
        CapacityKind::WrapAround => {
            (format!("A fake: it says {claimed}, and writes beyond {real}{most} go over what lies before."), Tone::Bad)
        }
        CapacityKind::Limbo => {
            (format!("A fake: it says {claimed}, and keeps nothing beyond {real}{most}."), Tone::Bad)
        }
        CapacityKind::Unknown => (
            format!("Whether it is as large as it says, {claimed}, is not known: {}.", capacity.reasons.join("; ")),
            Tone::Doubt,
        ),
    }
}

/// Which classes the numbers reach, which not, and of which that is not known. Of each kind the highest that is reached and the
/// lowest that is not say the rest.
fn sentence(classes: &[RatedClass]) -> Option<String> {
    let side = |of: Option<&str>| -> Vec<&str> {
        let found = classes.iter().filter(|c| c.rating.indication.as_deref() == of);
        found.map(|c| c.rating.class.as_str()).collect()
    };
    let said = [("Above", side(Some("above"))), ("below", side(Some("below"))), ("not known", side(None))];
    let parts: Vec<String> =
        said.iter().filter(|s| !s.1.is_empty()).map(|(word, names)| format!("{word} {}", names.join(", "))).collect();
    let mut text = parts.join("; ");
    // Of nothing that is known the commonest reason says what to do.
    let lacks = |c: &'_ RatedClass| {
        c.rating.reasons.iter().filter(|r| r.is("missing")).map(|r| (r.text(), ())).collect::<Vec<_>>()
    };
    let why = grouped(classes.iter().flat_map(lacks)).into_iter().max_by_key(|(_, all)| all.len());
    if let Some((why, _)) = why.filter(|_| classes.iter().all(|c| c.rating.indication.is_none())) {
        text.push_str(&format!(": {why}"));
    }
    text.push('.');
    (!classes.is_empty()).then(|| capital(&text))
}

/// Every reason of a class once, in its order, with the classes that it is said of where these are not all.
fn distinct<'a>(classes: &'a [RatedClass]) -> Vec<String> {
    let said = |c: &'a RatedClass| c.rating.reasons.iter().map(move |reason| (reason.text(), c.rating.class.as_str()));
    let all = grouped(classes.iter().flat_map(said));
    let speed = classes.iter().filter(|c| !c.rating.class.starts_with('A')).count();
    let words = |(sentence, names): (String, Vec<&str>)| match names.len() {
        n if n == classes.len() => sentence,
        n if n == speed && names.iter().all(|name| !name.starts_with('A')) => format!("speed classes: {sentence}"),
        _ => format!("{}: {sentence}", names.join(", ")),
    };
    all.into_iter().map(words).collect()
}

fn value(need: &ClassNeed) -> Cell {
    match (need.value, need.low.zip(need.high)) {
        (None, _) => Cell::Text("no number is valid".to_owned()),
        (Some(value), interval @ Some(_)) => {
            Cell::Value { shown: quantity::shown(value, need.unit, interval), p99: None, unsteady: false }
        }
        (Some(value), None) => {
            let more = if need.low.is_some() { " or more" } else { "" };
            Cell::Text(format!("{}{more}", quantity::quantity(value, need.unit)))
        }
    }
}
