//! Which mark of a table's numbers is the decimal one, and which groups digits: `1.000` is one or a thousand.

use super::localized::decimal;
use super::number::finite;

/// How the numbers of a table are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// Nothing told: a mark is a decimal one, but for a comma where commas separate fields.
    Untold {
        /// Whether commas separate fields.
        separating_comma: bool,
    },
    /// The point is the decimal mark: `1,234.5`.
    Point,
    /// The comma is the decimal mark: `1.234,5`.
    Comma,
}

impl Marks {
    /// From the cells of a table, which are looked at one by one.
    pub fn evidence(separator: char) -> Evidence {
        Evidence { point: false, comma: false, separator }
    }

    /// The number in a cell.
    pub fn number(self, text: &str) -> Option<f64> {
        match self {
            Self::Untold { separating_comma: true } => finite(text),
            Self::Untold { separating_comma: false } => decimal(text),
            Self::Point => grouped(text, ',', '.'),
            Self::Comma => grouped(text, '.', ','),
        }
    }
}

/// What the cells of a table have told so far: a number that can be read in one way only tells how the others are meant.
pub(super) struct Evidence {
    point: bool,
    comma: bool,
    separator: char,
}

impl Evidence {
    /// Looks at another cell.
    pub fn add_cell(&mut self, cell: &str) {
        match marks_of_cell(cell) {
            Some(Marks::Point) => self.point = true,
            Some(_) => self.comma = true,
            None => {}
        }
    }

    /// How the numbers are written.
    pub fn end(self) -> Marks {
        match (self.point, self.comma) {
            (true, false) => Marks::Point,
            (false, true) => Marks::Comma,
            // Both, or none.
            _ => Marks::Untold { separating_comma: self.separator == ',' },
        }
    }
}

/// The number, its groups of three digits taken together.
fn grouped(text: &str, group: char, mark: char) -> Option<f64> {
    let (whole, fraction) = text.split_once(mark).map_or((text, None), |(w, f)| (w, Some(f)));
    if fraction.is_some_and(|f| f.contains([group, mark])) {
        return None;
    }
    let mut parts = whole.split(group);
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let three = |p: &&str| p.len() == 3 && p.bytes().all(|b| b.is_ascii_digit());
    let digits = first.trim_start_matches(['+', '-']);
    let is_grouped = rest.iter().all(three) && (1..=3).contains(&digits.len());
    if !rest.is_empty() && !is_grouped {
        return None;
    }
    let fraction = fraction.map(|f| format!(".{f}")).unwrap_or_default();
    finite(&format!("{first}{}{fraction}", rest.concat()))
}

/// What a cell tells: `None` for what is no number, has no mark, or can be read in two ways.
fn marks_of_cell(text: &str) -> Option<Marks> {
    let digits = text.trim_start_matches(['+', '-']);
    if !digits.starts_with(|c: char| c.is_ascii_digit())
        || !digits.bytes().all(|b| b.is_ascii_digit() || b",.".contains(&b))
    {
        return None;
    }
    let reads = |marks: Marks| marks.number(text).is_some();
    let points = digits.matches('.').count();
    let commas = digits.matches(',').count();
    match (reads(Marks::Point), reads(Marks::Comma)) {
        (true, false) if points + commas > 0 => Some(Marks::Point),
        (false, true) if points + commas > 0 => Some(Marks::Comma),
        // `0.125` and `0,125` are no groups: a number does not begin with an empty thousand.
        (true, true) if digits.starts_with('0') && points == 1 => Some(Marks::Point),
        (true, true) if digits.starts_with('0') && commas == 1 => Some(Marks::Comma),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_tells_of_the_others() {
        let of = |cells: &[&str], separator| {
            let mut evidence = Marks::evidence(separator);
            cells.iter().for_each(|cell| evidence.add_cell(cell));
            evidence.end()
        };
        let untold = |separating_comma| Marks::Untold { separating_comma };
        assert_eq!(of(&["123,4", "1.000", "x"], ';'), Marks::Comma);
        assert_eq!(of(&["1,234.5"], ','), Marks::Point);
        assert_eq!(of(&["12,345,678"], ','), Marks::Point);
        assert_eq!(of(&["12.345.678"], ';'), Marks::Comma);
        assert_eq!(of(&["0.125"], ';'), Marks::Point);
        assert_eq!(of(&["0,125"], ';'), Marks::Comma);
        assert_eq!(of(&["1.000", "2.000"], ';'), untold(false));
        assert_eq!(of(&["1,000", "2,000"], ','), untold(true));
        assert_eq!(of(&["1.5", "1,5"], ';'), untold(false));
        assert_eq!(of(&["1.2.3", "2024-01-02", "5", "1,2,3"], ','), untold(true));
    }

    #[test]
    fn numbers() {
        assert_eq!(Marks::Comma.number("1.000"), Some(1000.0));
        assert_eq!(Marks::Comma.number("-1.234.567,25"), Some(-1_234_567.25));
        assert_eq!(Marks::Comma.number("1.5"), None);
        assert_eq!(Marks::Point.number("1,234.5"), Some(1234.5));
        assert_eq!(Marks::Point.number("1,23"), None);
        assert_eq!(Marks::Point.number("1,234,56"), None);
        assert_eq!(Marks::Point.number("1e3"), Some(1000.0));
        assert_eq!(Marks::Point.number("nan"), None);
        assert_eq!(Marks::Untold { separating_comma: true }.number("1,234"), None);
        assert_eq!(Marks::Untold { separating_comma: false }.number("1,234"), Some(1.234));
        assert_eq!(Marks::Untold { separating_comma: false }.number("1.5"), Some(1.5));
    }
}
