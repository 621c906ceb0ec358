//! The colour of what parts mean.

use super::{Cell, Tone};
use crate::{Paint, Style};

impl Tone {
    pub(crate) fn paint(self) -> Option<Paint> {
        match self {
            Self::Good => Some(Paint::Accent),
            Self::Plain => None,
            Self::Doubt => Some(Paint::Warn),
            Self::Bad => Some(Paint::Bad),
        }
    }
}

/// The text of a cell in its colour.
pub(super) fn painted(cell: &Cell, text: &str, style: &Style) -> String {
    let paint = if matches!(cell, Cell::Bar { .. }) { Some(Paint::Dim) } else { cell.tone().paint() };
    paint.map_or_else(|| text.to_owned(), |paint| style.paint(paint, text))
}
