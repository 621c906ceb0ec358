//! One drawing for the curves of all pages: scales, axes with their ticks, lines in their colours, a legend. It is drawn wide, and
//! narrow for a phone, or small beside others.

use super::t;
use crate::{quantity, text};
use maud::{Markup, html};
use model::Unit;

/// Width of a letter beside an axis.
const LETTER: f64 = 6.7;
/// What a name beside the upright axis takes of the width at most.
const NAMES: f64 = 0.38;

/// What one direction of a drawing shows, from where to where.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    /// Whether equal factors are equally long.
    pub logarithmic: bool,
    /// Where something is written, and what.
    pub ticks: Vec<(f64, String)>,
    /// Whether a line goes through the drawing there.
    pub grid: bool,
    /// What it is of; may be empty.
    pub name: String,
}

impl Axis {
    /// From zero on, in even steps.
    pub fn from_zero(highest: f64, unit: Unit) -> Self {
        let ticks = even_ticks(if highest > 0.0 { highest } else { 1.0 });
        let high = ticks.iter().copied().fold(highest, f64::max);
        let ticks = ticks.into_iter().map(|v| (v, quantity::quantity(v, unit))).collect();
        Self { high, ticks, grid: true, ..Self::default() }
    }

    /// By whole powers of ten, each in its words; `None` where nothing is above zero.
    pub fn decades(values: impl Iterator<Item = f64>, words: impl Fn(i32) -> String) -> Option<Self> {
        let logs = values.filter(|v| *v > 0.0 && v.is_finite()).map(f64::log10);
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let first = low.is_finite().then(|| low.floor() as i32)?;
        let last = (high.ceil() as i32).max(first + 1);
        let ticks: Vec<_> = (first..=last).map(|decade| (10f64.powi(decade), words(decade))).collect();
        let (low, high) = (10f64.powi(first), 10f64.powi(last));
        Some(Self { low, high, logarithmic: true, ticks, grid: true, ..Self::default() })
    }

    /// The same of times in nanoseconds.
    pub fn times(values: impl Iterator<Item = f64>) -> Option<Self> {
        Self::decades(values.map(|ns| ns.max(1.0)), power)
    }

    /// The same of rates: what they are of stands above the drawing.
    pub fn rates(values: impl Iterator<Item = f64>, unit: Unit) -> Option<Self> {
        Self::decades(values, |decade| match (10f64.powi(decade), unit) {
            (value, Unit::OpsPerS) if value >= 1.0 => quantity::count(value as u64),
            (value, _) => quantity::quantity(value, unit),
        })
    }

    /// Of which only the ends are named.
    pub fn between(low: f64, high: f64, names: [String; 2]) -> Self {
        let ticks = [low, high].into_iter().zip(names).collect();
        Self { low, high, ticks, ..Self::default() }
    }

    /// With what it is of.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// 0 at its low end, 1 at the high one; the middle where both are the same.
    fn share(&self, v: f64) -> f64 {
        let of = |v: f64| if self.logarithmic { v.max(f64::MIN_POSITIVE).ln() } else { v };
        let share = (of(v) - of(self.low)) / (of(self.high) - of(self.low));
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 }
    }
}

/// A line with its look.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pub name: String,
    /// Colour and style.
    pub class: String,
    /// What is missing is a gap.
    pub points: Vec<(f64, Option<f64>)>,
}

impl Line {
    /// The look of one of several lines.
    pub fn look(place: usize) -> String {
        format!("curve c{}{}", place + 1, if place % 2 == 1 { " dash" } else { "" })
    }
}

/// Where the drawing is, between its axes.
pub struct Area<'a> {
    of: &'a Chart<'a>,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Area<'_> {
    pub fn x(&self, v: f64) -> f64 {
        self.left + self.of.x.share(v) * (self.right - self.left)
    }

    pub fn y(&self, v: f64) -> f64 {
        self.bottom - self.of.y.share(v) * (self.bottom - self.top)
    }

    fn line(&self, points: &[(f64, Option<f64>)]) -> String {
        let mut out = String::new();
        let mut open = false;
        for (x, y) in points {
            if let Some(y) = y {
                out.push_str(&format!("{}{} {} ", if open { "L" } else { "M" }, px(self.x(*x)), px(self.y(*y))));
            }
            open = y.is_some();
        }
        out
    }
}

/// What is drawn.
#[derive(Default)]
pub struct Chart<'a> {
    /// What it shows, for those who do not see it.
    pub label: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    /// What is drawn beside lines, over them.
    pub marks: Option<&'a dyn Fn(&Area<'_>) -> Markup>,
    pub height: f64,
    /// Letters for which there is room beside the upright axis at least: those of a drawing above or below.
    pub letters: usize,
}

impl Chart<'_> {
    /// Letters of the longest name beside the upright axis.
    pub fn longest(&self) -> usize {
        self.y.ticks.iter().map(|(_, name)| text::width(name)).max().unwrap_or(0)
    }

    /// As wide as the page, and once more for a phone.
    pub fn draw(&self) -> Markup {
        html! { (self.drawing("wide", 760.0)) (self.drawing("narrow", 350.0)) }
    }

    /// One of several beside each other.
    pub fn small(&self) -> Markup {
        self.of_width(340.0)
    }

    /// Once, as wide as where it stands; so many units of it are its width.
    pub fn of_width(&self, width: f64) -> Markup {
        self.drawing("small", width)
    }

    /// The names of the lines.
    pub fn legend(&self, more: usize) -> Markup {
        html! {
            ul.legend {
                @for line in &self.lines { li { (sample(&line.class)) (t(&line.name)) } }
                @if more > 0 { li { "and " (more) " more in all numbers" } }
            }
        }
    }

    fn drawing(&self, look: &str, width: f64) -> Markup {
        let room = (width * NAMES / LETTER) as usize;
        let names: Vec<(f64, String)> =
            self.y.ticks.iter().map(|(v, name)| (*v, text::shorten(name, room, false))).collect();
        let letters = self.longest().max(self.letters).min(room);
        let area = Area {
            of: self,
            left: letters as f64 * LETTER + 14.0,
            right: width - 16.0,
            top: if self.y.name.is_empty() { 12.0 } else { 26.0 },
            bottom: self.height - if self.x.name.is_empty() { 28.0 } else { 46.0 },
        };
        html! {
            svg.curves.(look) viewBox=(format!("0 0 {width} {}", self.height)) role="img" aria-label=(t(&self.label)) {
                @if !self.y.name.is_empty() { text.axis x=(px(area.left)) y="14" { (t(&self.y.name)) } }
                @for (v, name) in &names {
                    @if self.y.grid { line.grid x1=(px(area.left)) x2=(px(area.right)) y1=(px(area.y(*v))) y2=(px(area.y(*v))) {} }
                    text.tick x=(px(area.left - 8.0)) y=(px(area.y(*v))) dy="4" text-anchor="end" { (t(name)) }
                }
                @for (x, from, name) in self.below(&area, width) {
                    @if self.x.grid { line.grid x1=(px(x)) x2=(px(x)) y1=(px(area.top)) y2=(px(area.bottom)) {} }
                    text.tick x=(px(from)) y=(px(area.bottom + 18.0)) { (t(name)) }
                }
                @if !self.x.name.is_empty() {
                    text.axis x=(px(f64::midpoint(area.left, area.right))) y=(px(self.height - 8.0)) text-anchor="middle" { (t(&self.x.name)) }
                }
                @for line in self.lines.iter().rev() { path class=(line.class) d=(area.line(&line.points)) {} }
                @if let Some(marks) = self.marks { (marks(&area)) }
            }
        }
    }

    /// What is written below, with where it belongs and begins: below its place as far as the drawing is wide, and nothing over what
    /// stands before it.
    fn below<'a>(&'a self, area: &Area<'_>, width: f64) -> Vec<(f64, f64, &'a str)> {
        let mut out = Vec::new();
        let mut free = 0.0;
        for (v, name) in &self.x.ticks {
            let (x, long) = (area.x(*v), text::width(name) as f64 * LETTER);
            let from = (x - long / 2.0).min(width - long).max(0.0);
            if from >= free {
                out.push((x, from, name.as_str()));
                free = from + long + LETTER;
            }
        }
        out
    }
}

/// A coordinate.
pub fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// The look of a line.
pub fn sample(class: &str) -> Markup {
    html! { svg.sample viewBox="0 0 30 10" aria-hidden="true" { path class=(class) d="M1 5 H29" {} } }
}

/// Numbers below which nothing is, evenly spread up to the highest: 0, 20 000, 40 000.
fn even_ticks(highest: f64) -> Vec<f64> {
    let rough = highest / 4.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(rough);
    (0..=5).map(|i| f64::from(i) * step).take_while(|v| *v <= highest * 1.001 + step * 0.5).collect()
}

/// A power of ten in nanoseconds: `100 us`.
fn power(decade: i32) -> String {
    let unit = ["ns", "us", "ms"].get(decade.max(0) as usize / 3).unwrap_or(&"s");
    format!("{} {unit}", 10u64.pow((decade.max(0) - if *unit == "s" { 9 } else { decade.max(0) / 3 * 3 }) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_even_and_reach_the_top() {
        assert_eq!(even_ticks(108_000.0), [0.0, 50_000.0, 100_000.0]);
        for highest in [3.0, 17.0, 990.0, 5_000.0, 1e6, 123_456_789.0] {
            let ticks = even_ticks(highest);
            assert!((3..=6).contains(&ticks.len()), "{highest}: {ticks:?}");
            assert!(ticks.windows(2).all(|w| ((w[1] - w[0]) - (ticks[1] - ticks[0])).abs() < 1e-6 * highest));
            assert!(ticks.last().is_some_and(|l| *l >= highest * 0.7), "{highest}: {ticks:?}");
        }
        assert_eq!([0, 2, 4, 8, 9, 10].map(power), ["1 ns", "100 ns", "10 us", "100 ms", "1 s", "10 s"]);
    }

    #[test]
    fn a_missing_point_is_a_gap_and_names_keep_apart() {
        let ticks = [0.0, 0.1, 10.0].map(|v| (v, "a name".to_owned()));
        let x = Axis { high: 10.0, ticks: ticks.into(), ..Axis::default() };
        let points = vec![(0.0, Some(2.0)), (5.0, None), (10.0, Some(f64::NAN))];
        let line = Line { class: "curve c1".into(), points, ..Line::default() };
        let y = Axis::from_zero(0.0, Unit::Ratio);
        let drawn = Chart { x, y, lines: vec![line], height: 100.0, ..Chart::default() }.small().into_string();
        assert_eq!((drawn.matches("M").count(), drawn.matches(" L").count()), (2, 0), "{drawn}");
        assert_eq!(drawn.matches("a name").count(), 2, "{drawn}");
        assert!(!drawn.contains("NaN"), "{drawn}");
        assert!(Axis::times(std::iter::empty()).is_none());
    }
}
