//! How text output looks: width, character set, colour.

/// How to draw text output. Decided by the caller from the locale, the terminal and the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Only ASCII: `+/-` for ±, `?` sequences `\u{..}` for letters outside ASCII (LANG=C, a dumb terminal).
    pub ascii: bool,
    /// ANSI colours.
    pub colour: bool,
    /// Columns to stay within; the card needs 40 and uses at most 80.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { ascii: false, colour: false, width: 80 }
    }
}

/// What a piece of text means; the colour follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The heading.
    Title,
    /// What matters most.
    Accent,
    /// Refused, failed.
    Bad,
    /// Skipped, doubtful.
    Warn,
    /// Secondary.
    Dim,
}

impl Style {
    /// Columns that are used: the asked width within what the card is laid out for.
    pub fn columns(&self) -> usize {
        self.width.clamp(40, 80)
    }

    /// The text in the colour of its meaning, or as it is.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        // The sixteen basic colours only: they follow the user's own theme, dark or light.
        let code = match paint {
            Paint::Title => "1",
            Paint::Accent => "1;36",
            Paint::Bad => "31",
            Paint::Warn => "33",
            Paint::Dim => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// A text without what [`Self::paint`] put into it.
    pub fn unpainted(text: &str) -> String {
        let mut pieces = text.split('\x1b');
        let first = pieces.next().unwrap_or_default();
        let behind_code = |piece: &'_ str| piece.split_once('m').map_or_else(String::new, |(_, rest)| rest.to_owned());
        std::iter::once(first.to_owned()).chain(pieces.map(behind_code)).collect()
    }

    /// The sign between a value and the half-width of its interval.
    pub fn plus_minus(&self) -> &'static str {
        if self.ascii { "+/-" } else { "±" }
    }
}
