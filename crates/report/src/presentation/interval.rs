//! An interval in a line of text: `  |--o--  `.

use super::{Axis, Span};

/// A factor beyond which a bar of ratios ends in an arrow.
pub(super) const MOST: f64 = 2.0;

/// Columns of a bar.
pub(super) fn columns(axis: Axis) -> usize {
    match axis {
        Axis::Ratio => 9,
        Axis::Correlation => 19,
    }
}

/// What stands above the bars: the middle, and the ends where they are the same for all tables.
pub(super) fn head(axis: Axis, ascii: bool) -> String {
    match axis {
        Axis::Ratio => format!("{:^width$}", if ascii { "1" } else { "·" }, width = columns(axis)),
        Axis::Correlation => format!("-1{:^width$}1", 0, width = columns(axis) - 3),
    }
}

/// The bar; `scale` is half the width of an axis of ratios.
pub(super) fn bar(span: &Span, scale: f64, ascii: bool) -> String {
    let (middle, line, point) = if ascii { ('|', '-', 'o') } else { ('│', '─', '●') };
    let columns = columns(span.axis);
    let scale = if span.axis == Axis::Ratio { scale } else { 1.0 };
    let half = (columns / 2) as f64;
    let at = |v: f64| (half + (v / scale * half).round()).clamp(-1.0, columns as f64);
    let cell = |at: f64| (at.max(0.0) as usize).min(columns - 1);
    let mut cells = vec![' '; columns];
    cells[columns / 2] = middle;
    if let (Some(low), Some(high)) = (span.low.map(at), span.high.map(at)) {
        cells[cell(low)..=cell(high.max(low))].fill(line);
        if low < 0.0 {
            cells[0] = '<';
        }
        if high >= columns as f64 {
            cells[columns - 1] = '>';
        }
    }
    match span.point.map(at) {
        Some(at) if at < 0.0 => cells[0] = '<',
        Some(at) if at >= columns as f64 => cells[columns - 1] = '>',
        Some(at) => cells[cell(at)] = point,
        None => {}
    }
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_on_one_axis() {
        let bar = |axis, point, low, high| bar(&Span { axis, point: Some(point), low, high, margin: None }, 0.5, true);
        let tau = |point, low, high| bar(Axis::Correlation, point, low, high);
        assert_eq!(tau(-1.0, None, None), "o        |         ");
        assert_eq!(tau(0.5, Some(-0.25), Some(1.0)), "       -------o----");
        assert_eq!(tau(f64::NAN, Some(2.0), Some(-2.0)).chars().count(), columns(Axis::Correlation));
        assert_eq!(bar(Axis::Ratio, 0.25, Some(0.0), Some(0.9)), "    --o->");
        assert_eq!(bar(Axis::Ratio, -2.0, None, None), "<   |    ");
    }
}
