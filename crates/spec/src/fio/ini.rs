//! Sections and options of a job file, with includes and variables of the environment put in.

use crate::text_error::{TextError, TextErrorKind, TextPosition};
use crate::text_inputs::TextInputs;

/// A job file beyond this is a mistake, or includes itself many times over.
const MAX_LINES: usize = 1 << 20;

/// An option as it stands.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name: String,
    /// Empty of a bare word; or why it is not known.
    pub value: Result<String, (TextErrorKind, String)>,
    pub place: TextPosition,
}

/// A section as it stands.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub place: TextPosition,
    pub entries: Vec<Entry>,
}

/// `${NAME}` by the environment.
fn variables(text: &str, inputs: &TextInputs<'_>) -> Result<String, (TextErrorKind, String)> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let bad = |what: &str| (TextErrorKind::Value, what.to_owned());
        let (name, behind) = after.split_once('}').ok_or_else(|| bad("'${' is not closed"))?;
        let is_name =
            name.len() <= 64 && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let missing = || match is_name {
            true => (TextErrorKind::Variable, format!("the environment has no variable '{name}'")),
            false => bad("'${..}' names no variable"),
        };
        let value = inputs.variables.get(name).ok_or_else(missing)?;
        out.push_str(before);
        out.push_str(value);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

pub(super) fn read(inputs: &TextInputs<'_>) -> Result<Vec<Section>, Vec<TextError>> {
    let mut reader = Reader { inputs, sections: Vec::new(), errors: Vec::new(), lines: 0 };
    reader.file(inputs.file, inputs.text, 0);
    if reader.errors.is_empty() { Ok(reader.sections) } else { Err(reader.errors) }
}

struct Reader<'a> {
    inputs: &'a TextInputs<'a>,
    sections: Vec<Section>,
    errors: Vec<TextError>,
    /// Of all texts so far.
    lines: usize,
}

impl Reader<'_> {
    fn file(&mut self, name: &str, text: &str, depth: u32) {
        // Some editors put a byte order mark before the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let had = self.errors.len();
        for (index, raw) in text.lines().enumerate() {
            let place = TextPosition { file: name.to_owned(), line: index as u32 + 1 };
            self.lines += 1;
            if self.lines > MAX_LINES {
                return self.fail(&place, "", &format!("more than {MAX_LINES} lines"));
            }
            let line = raw.split([';', '#']).next().unwrap_or_default().trim();
            if let Some(include) = line.strip_prefix("include").filter(|r| r.starts_with([' ', '\t'])) {
                match self.inputs.included(&place, depth, include.trim()) {
                    Ok((name, text)) => self.file(&name, text, depth + 1),
                    Err(error) => self.errors.push(error),
                }
                if self.errors.len() > had {
                    return;
                }
            } else if !line.is_empty() {
                self.line(place, line, depth);
            }
        }
    }

    fn fail(&mut self, place: &TextPosition, key: &str, what: &str) {
        self.errors.push(place.error(TextErrorKind::Form, key, what).of_own());
    }

    /// A line that is neither empty nor includes another text.
    fn line(&mut self, place: TextPosition, line: &str, depth: u32) {
        if let Some(rest) = line.strip_prefix('[') {
            let Some((title, "")) = rest.split_once(']').filter(|(title, _)| !title.trim().is_empty()) else {
                return self.fail(&place, "", "begins with '[' and is not a section: [NAME]");
            };
            return self.sections.push(Section { name: title.trim().to_owned(), place, entries: Vec::new() });
        }
        let (key, value) = line.split_once('=').map_or((line, ""), |(k, v)| (k.trim(), v.trim()));
        match self.sections.last_mut() {
            _ if key.is_empty() => self.fail(&place, "", "has no option before '='"),
            Some(section) => {
                let value = variables(value, self.inputs);
                section.entries.push(Entry { name: key.to_owned(), value, place });
            }
            None => {
                let key = if depth == 0 { key } else { "" };
                self.fail(&place, key, "comes before the first section; put it below [global]");
            }
        }
    }
}
