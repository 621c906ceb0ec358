//! A series as a line of letters.

/// Levels from nothing to the most.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII_LEVELS: [char; 8] = ['_', '.', ':', '-', '=', '+', '#', '@'];

/// A letter for each value: what is not known is a space, `full` is the value of the highest level.
pub(crate) fn letters(values: &[Option<f64>], full: f64, ascii: bool) -> String {
    let levels = if ascii { &ASCII_LEVELS } else { &LEVELS };
    let draw = |v: &Option<f64>| match v {
        None => ' ',
        Some(v) if full > 0.0 && *v > 0.0 => {
            // Anything above nothing is seen.
            let level = (v / full * 7.0).ceil().clamp(1.0, 7.0);
            levels[level as usize]
        }
        Some(_) => levels[0],
    };
    values.iter().map(draw).collect()
}

/// A series in at most `columns` letters, each the mean of as many neighbours; from the least to the most of them, since a change of a
/// tenth would not be seen from zero.
pub(crate) fn whole(values: &[f64], columns: usize, ascii: bool) -> String {
    let group = values.len().div_ceil(columns.max(1)).max(1);
    let means: Vec<f64> = values.chunks(group).map(|g| g.iter().sum::<f64>() / g.len() as f64).collect();
    let (low, high) = means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    // What differs by a hundredth is level.
    let room = (high - low).max(high.abs() * 0.02);
    let above: Vec<Option<f64>> = means.iter().map(|v| Some(v - low + room / 8.0)).collect();
    letters(&above, room * 1.125, ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_series_shows_its_steps_in_the_room_there_is() {
        let mut series = vec![100.0; 60];
        series[40..].fill(90.0);
        assert_eq!(whole(&series, 12, true), "@@@@@@@@....");
        assert_eq!(whole(&[5.0, 5.0, 5.01], 12, true).chars().count(), 3);
        assert_eq!(whole(&[], 12, false), "");
        assert_eq!(letters(&[None, Some(0.0), Some(1e-9), Some(1.0)], 1.0, true), " _.@");
    }
}
