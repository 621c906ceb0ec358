//! Sections and options of a job file, with includes and variables of the environment put in.

use crate::text_error::{Place, TextError, TextErrorKind, included_beside};
use crate::workload::TextInputs;

const INCLUDE_DEPTH: u32 = 16;
/// A job file beyond this is a mistake, or includes itself many times over.
const MOST_LINES: usize = 1 << 20;

/// An option as it stands.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name: String,
    /// Empty of a bare word; or why it is not known.
    pub value: Result<String, String>,
    pub place: Place,
}

/// A section as it stands.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub place: Place,
    pub entries: Vec<Entry>,
}

/// `${NAME}` by the environment.
fn variables(text: &str, inputs: &TextInputs<'_>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or_else(|| "'${' is not closed".to_owned())?;
        let value = inputs.variables.get(name).ok_or_else(|| format!("the environment has no variable '{name}'"))?;
        out.push_str(before);
        out.push_str(value);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

pub(super) fn read(inputs: &TextInputs<'_>) -> Result<Vec<Section>, Vec<TextError>> {
    let (mut sections, mut errors, mut lines) = (Vec::new(), Vec::new(), 0);
    file(inputs, inputs.file, inputs.text, 0, &mut sections, &mut errors, &mut lines);
    if errors.is_empty() { Ok(sections) } else { Err(errors) }
}

fn file(
    inputs: &TextInputs<'_>,
    name: &str,
    text: &str,
    depth: u32,
    sections: &mut Vec<Section>,
    errors: &mut Vec<TextError>,
    lines: &mut usize,
) {
    // Some editors put a byte order mark before the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, raw) in text.lines().enumerate() {
        let place = Place { file: name.to_owned(), line: index as u32 + 1 };
        let mut fail = |key: &str, what: String| {
            errors.push(place.error(TextErrorKind::Form, key, what).of_own());
        };
        *lines += 1;
        if *lines > MOST_LINES {
            return fail("", format!("more than {MOST_LINES} lines"));
        }
        let line = raw.split([';', '#']).next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            match rest.split_once(']') {
                Some((title, "")) if !title.trim().is_empty() => {
                    let title = title.trim().to_owned();
                    sections.push(Section { name: title, place, entries: Vec::new() });
                }
                _ => fail("", "begins with '[' and is no section: [NAME]".into()),
            }
            continue;
        }
        if let Some(include) = line.strip_prefix("include").filter(|r| r.starts_with([' ', '\t'])) {
            let include = included_beside(name, depth, include.trim());
            match inputs.includes.get(&include) {
                _ if depth >= INCLUDE_DEPTH => fail("include", "includes go too deep; do they go round?".into()),
                Some(text) => file(inputs, &include, text, depth + 1, sections, errors, lines),
                None => errors.push(place.error(TextErrorKind::NeedsInclude, &include, "an included text")),
            }
            if !errors.is_empty() {
                return;
            }
            continue;
        }
        let (key, value) = line.split_once('=').map_or((line, ""), |(k, v)| (k.trim(), v.trim()));
        if key.is_empty() {
            fail("", "has no option before '='".into());
            continue;
        }
        let Some(section) = sections.last_mut() else {
            fail(if depth == 0 { key } else { "" }, "stands before the first section; put it below [global]".into());
            continue;
        };
        section.entries.push(Entry { name: key.to_owned(), value: variables(value, inputs), place });
    }
}
