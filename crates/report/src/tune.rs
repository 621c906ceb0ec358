//! What can be set on the path to a target, as text.

use crate::document::{TuneSetting, TuneValue};
use crate::text::{pad, plain, width, wrap};
use crate::{Paint, Style};

/// Columns of a value, where it is no longer.
const VALUE: usize = 12;

/// A setting: its name, what it holds and what it decides, then which other values are worth a try. Files with the same value and
/// candidates are one.
pub fn tune_text(target: &str, settings: &[TuneSetting], style: &Style) -> String {
    let mut out = String::new();
    if settings.is_empty() {
        return format!("Nothing that can be set is known on the path to {}.\n", plain(target, style.ascii));
    }
    let names = settings.iter().map(|s| width(s.name)).max().unwrap_or(0);
    let indent = " ".repeat(names + 2);
    let room = style.width.max(60) - indent.len();
    for setting in settings {
        let mut told: Vec<&TuneValue> = Vec::new();
        for value in &setting.values {
            if told.iter().any(|t| {
                (&t.now, &t.candidates, t.fixed.is_some()) == (&value.now, &value.candidates, value.fixed.is_some())
            }) {
                continue;
            }
            let name = if told.is_empty() { setting.name } else { "" };
            let now = if value.now.is_empty() { "(empty)" } else { &value.now };
            let several = setting.values.iter().filter(|v| v.now == value.now).count();
            let times = if several > 1 { format!(" ({several} files)") } else { String::new() };
            let head = style.paint(Paint::Title, &pad(name, names));
            let now = pad(&format!("{}{times}", plain(now, style.ascii)), VALUE);
            let beside = style.width.max(60).saturating_sub(names + 4 + width(&now));
            let fits = told.is_empty() && width(setting.about) <= beside;
            let about = if fits { setting.about } else { "" };
            out.push_str(format!("{head}  {now}  {}", style.paint(Paint::Dim, about)).trim_end());
            out.push('\n');
            let also = match (&value.fixed, value.candidates.as_slice()) {
                (Some(_), _) => "cannot be changed here".to_owned(),
                (None, []) => String::new(),
                (None, others) => format!("or {}", others.join(" | ")),
            };
            let also = [also, value.path.clone()].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join("; ");
            let mut lines = if fits || !told.is_empty() { Vec::new() } else { wrap(setting.about, room) };
            lines.extend(wrap(&plain(&also, style.ascii), room));
            for line in lines.iter().filter(|l| !l.is_empty()) {
                out.push_str(&format!("{indent}{}\n", style.paint(Paint::Dim, line)));
            }
            told.push(value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_value_are_told_once_and_lines_fit() {
        let value = |now: &str, fixed: Option<&str>| TuneValue {
            path: "/sys/x".into(),
            now: now.into(),
            candidates: vec!["performance".into(), "schedutil".into()],
            fixed: fixed.map(str::to_owned),
        };
        let settings = [
            TuneSetting {
                name: "governor",
                about: "how the frequency is chosen",
                values: vec![value("powersave", None), value("powersave", None)],
            },
            TuneSetting {
                name: "requests",
                about: "requests that may wait",
                values: vec![value("64", Some("denied"))],
            },
        ];
        let text = tune_text("sda", &settings, &Style::default());
        assert_eq!(
            text,
            "governor  powersave (2 files)  how the frequency is chosen\n          or performance | schedutil; /sys/x\n\
             requests  64            requests that may wait\n          cannot be changed here; /sys/x\n"
        );
        assert!(tune_text("sda", &[], &Style::default()).contains("path to sda"));
    }
}
