//! What can be set on the path to a target.

use crate::document::ListedSetting;
use crate::grouped::grouped;
use crate::presentation::{Part, Presentation, SectionName, Tone, statements};

/// Settings: of each what it holds and what it decides, then which other values are worth a try. Files with the same value and candidates
/// are one.
pub fn settings_list(target: &str, settings: &[ListedSetting]) -> Presentation {
    let mut presentation = Presentation { wide: true, ..Presentation::default() };
    let rows: Vec<(String, String)> = settings.iter().flat_map(of_setting).collect();
    let nothing = || Part::Sentence(Tone::Plain, format!("Nothing that can be set is known on the path to {target}."));
    presentation.push(SectionName::Numbers, vec![if rows.is_empty() { nothing() } else { statements(rows) }]);
    presentation
}

fn of_setting(setting: &ListedSetting) -> Vec<(String, String)> {
    let values = grouped(setting.values.iter().map(|v| ((&v.now, &v.candidates, v.fixed.is_some()), v.path.as_str())));
    let mut rows = Vec::new();
    for ((now, candidates, fixed), files) in values {
        let (name, about) =
            if rows.is_empty() { (setting.name, format!(", {}", setting.about)) } else { ("", String::new()) };
        let now = if now.is_empty() { "(empty)" } else { now };
        let times = if files.len() > 1 { format!(" ({} files)", files.len()) } else { String::new() };
        let others = match (fixed, candidates.is_empty()) {
            (true, _) => "; cannot be changed here".to_owned(),
            (false, true) => String::new(),
            (false, false) => format!("; or {}", candidates.join(" | ")),
        };
        rows.push((name.to_owned(), format!("{now}{times}{about}{others}; {}", files[0])));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::document::ListedValue;

    #[test]
    fn files_of_one_value_are_told_once_and_lines_fit() {
        let value = |now: &str, fixed: Option<&str>| ListedValue {
            path: "/sys/x".into(),
            now: now.into(),
            candidates: vec!["performance".into(), "schedutil".into()],
            fixed: fixed.map(str::to_owned),
        };
        let settings = [
            ListedSetting {
                name: "governor",
                about: "how the frequency is chosen",
                values: vec![value("powersave", None), value("powersave", None)],
            },
            ListedSetting {
                name: "requests",
                about: "requests that may wait",
                values: vec![value("64", Some("denied"))],
            },
        ];
        let text = settings_list("sda", &settings).text(&Style::default());
        assert_eq!(
            text,
            "  governor  powersave (2 files), how the frequency is chosen; or performance |\n            schedutil; /sys/x\n\
             \x20 requests  64, requests that may wait; cannot be changed here; /sys/x\n"
        );
        assert!(settings_list("sda", &[]).text(&Style::default()).contains("path to sda"));
    }
}
