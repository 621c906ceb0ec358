//! How a card stands to the published classes, as text.

use crate::lines::Lines;
use crate::presentation::Tone;
use crate::quantity;
use crate::text::{capital, pad, plain};
use crate::{Paint, Style, identity, storage_line};
use model::{Capacity, CapacityKind, ClassNeed, RatedClass, Run, Unit};

const CLASS: usize = 6;
const ASKS: usize = 43;
const MEASURED: usize = 20;

/// What the device says of its size.
pub(crate) fn claimed_bytes(run: &Run) -> Option<u64> {
    run.target.stack.device_bytes().or(run.target.size_bytes)
}

/// A sentence first: which classes the numbers reach and which not; then every threshold beside what was measured, what the card
/// claims, and which conditions of the classes were not met.
pub fn rate_text(run: &Run, classes: &[RatedClass], capacity: Option<&Capacity>, style: &Style) -> String {
    let mut out = Lines::new(style);
    out.title(&format!("narrows rate {}", identity(run)), "");
    out.wrapped("", &storage_line(run), None);
    out.line("");
    if let Some(capacity) = capacity {
        let (text, paint) = capacity_words(capacity);
        out.wrapped("  ", &text, Some(paint));
    }
    if classes.is_empty() {
        out.wrapped("  ", "Nothing to rate: there is no storage behind this target.", Some(Paint::Warn));
        return out.out;
    }
    out.wrapped("  ", &sentence(classes).unwrap_or_default(), Some(Paint::Accent));
    let claims: Vec<&str> =
        classes.iter().filter(|c| c.claimed == Some(true)).map(|c| c.rating.class.as_str()).collect();
    match (claims.as_slice(), classes.iter().any(|c| c.claimed.is_some())) {
        ([], true) if classes.len() == 1 => out.wrapped("  ", "Its registers do not claim it.", None),
        ([], true) => out.wrapped("  ", "Its registers claim none of these classes.", None),
        ([], false) => out.wrapped("  ", "What it claims itself cannot be read here.", None),
        (claims, _) => out.wrapped("  ", &format!("Its registers claim {}.", claims.join(", ")), None),
    }
    for class in classes.iter().filter(|c| c.claimed == Some(true) && c.rating.indication.as_deref() == Some("below")) {
        let words = format!("It is below {}, which it claims.", class.rating.class);
        out.wrapped("  ", &words, Some(Paint::Warn));
    }
    out.line("");
    out.table(classes);
    out.line("");
    if let Some(bytes) = claimed_bytes(run).filter(|_| capacity.is_none()) {
        let size = quantity::size(bytes);
        out.wrapped(
            "  ",
            &format!("Capacity {size}, as it says itself; whether that is there was not measured (--capacity quick)."),
            None,
        );
    }
    out.line("");
    out.line("  An approximation, and no certificate:");
    for reason in distinct(classes) {
        out.wrapped("  - ", &reason, None);
    }
    for remark in run.remarks.iter().filter(|r| !r.starts_with(CAPACITY)) {
        out.wrapped("  ", remark, Some(Paint::Dim));
    }
    out.line(&format!("  Run {}", plain(&run.id, style.ascii)));
    out.out
}

/// What stands before it in the remarks of a run.
const CAPACITY: &str = "capacity: ";

/// How large it really is, as a remark of the run whose classes are measured after that.
pub fn capacity_remark(capacity: &Capacity) -> String {
    format!("{CAPACITY}{}", capacity_words(capacity).0)
}

/// Whether it is as large as it says, and which classes it reaches, in one text.
pub(crate) fn answer(run: &Run, classes: &[RatedClass]) -> Option<(Tone, String)> {
    let capacity = run.remarks.iter().find_map(|r| r.strip_prefix(CAPACITY));
    let tone = if capacity.is_some_and(|c| c.starts_with("A fake")) { Tone::Bad } else { Tone::Good };
    let parts: Vec<String> = capacity.map(str::to_owned).into_iter().chain(sentence(classes)).collect();
    (!parts.is_empty()).then(|| (tone, parts.join(" ")))
}

/// Whether it is as large as it says.
fn capacity_words(capacity: &Capacity) -> (String, Paint) {
    let size = quantity::size;
    let claimed = size(capacity.claimed_bytes);
    let looked = match capacity.quick {
        true => format!("{} at random places all over it were written and read back", size(capacity.verified_bytes)),
        false => format!("{} were written and read back", size(capacity.verified_bytes)),
    };
    let real = capacity.real_bytes.map(size).unwrap_or_default();
    let most = if capacity.quick { " at most" } else { "" };
    match capacity.kind {
        CapacityKind::Genuine => (format!("It is as large as it says, {claimed}: {looked}."), Paint::Accent),
        CapacityKind::WrapAround => {
            (format!("A fake: it says {claimed}, and writes beyond {real}{most} go over what lies before."), Paint::Bad)
        }
        CapacityKind::Limbo => {
            (format!("A fake: it says {claimed}, and keeps nothing beyond {real}{most}."), Paint::Bad)
        }
        CapacityKind::Unknown => (
            format!("Whether it is as large as it says, {claimed}, is not known: {}.", capacity.reasons.join("; ")),
            Paint::Warn,
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
    let text = parts.join("; ") + ".";
    (!classes.is_empty()).then(|| capital(&text))
}

/// Every reason of a class once, in its order, with the classes that it is said of where these are not all.
fn distinct(classes: &[RatedClass]) -> Vec<String> {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for class in classes {
        for reason in &class.rating.reasons {
            let sentence = reason.text();
            match all.iter_mut().find(|(said, _)| *said == sentence) {
                Some((_, names)) => names.push(&class.rating.class),
                None => all.push((sentence, vec![&class.rating.class])),
            }
        }
    }
    let speed = classes.iter().filter(|c| !c.rating.class.starts_with('A')).count();
    let words = |(sentence, names): (String, Vec<&str>)| match names.len() {
        n if n == classes.len() => sentence,
        n if n == speed && names.iter().all(|name| !name.starts_with('A')) => format!("speed classes: {sentence}"),
        _ => format!("{}: {sentence}", names.join(", ")),
    };
    all.into_iter().map(words).collect()
}

fn value(need: &ClassNeed) -> String {
    let Some(value) = need.value else { return "no number stands".to_owned() };
    match need.low.zip(need.high) {
        Some(interval) => quantity::shown(value, need.unit, Some(interval)).with_interval("±"),
        None if need.low.is_some() => format!("{} or more", quantity::quantity(value, need.unit)),
        None => quantity::quantity(value, need.unit),
    }
}

impl Lines<'_> {
    fn table(&mut self, classes: &[RatedClass]) {
        let row = |class: &str, asks: &str, measured: &str| {
            format!("  {}{}{}", pad(class, CLASS), pad(asks, ASKS), pad(measured, MEASURED))
        };
        let head = row("class", "asks for at least", "measured");
        self.line(&self.style.paint(Paint::Dim, head.trim_end()));
        for class in classes {
            for (i, need) in class.needs.iter().enumerate() {
                let name = if i == 0 { class.rating.class.as_str() } else { "" };
                let amount = match need.unit {
                    Unit::OpsPerS => quantity::count(need.threshold as u64),
                    unit => quantity::quantity(need.threshold, unit),
                };
                let (word, paint) = match need.holds {
                    Some(true) => ("above", None),
                    Some(false) => ("below", Some(Paint::Warn)),
                    None => ("not known", Some(Paint::Dim)),
                };
                let measured = plain(&value(need), self.style.ascii);
                let word = paint.map_or_else(|| word.to_owned(), |p| self.style.paint(p, word));
                self.line(&format!("{}{word}", row(name, &format!("{amount} {}", need.what), &measured)));
            }
        }
    }
}
