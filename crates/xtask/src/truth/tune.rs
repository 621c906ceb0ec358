//! `cargo xtask truth tune`: how often the search for settings finds and proves what was planted, and claims what was not.
//!
//! A machine of 20 settings with two other values each. Of these 15 in 100 do harm: half of them take a share of the rate, half cap
//! it. Each measurement has normal noise, and all of them a drift of up to 10 % in either direction over the search. What is
//! simulated is the machine alone; the search and its proof are those of the program ([`judge::search`]).
//!
//! And one of three minutes: 6 settings with three other values each, 25 % of noise of which one in ten values has three times as much, the
//! measurements and pairs that there is time for, with and without a finding that names the setting that is planted.

use super::draw::Draw;
use super::matrix::wilson;
use judge::search::{
    Change, GUARDED_PAIRS, LEAST_PAIRS, Search, Space, Value, gain, guard, guard_margin_percent, is_futile, is_shown,
    pairs_of_confirmation,
};
use model::Better;
use std::fmt::Write as _;

#[derive(clap::Args)]
pub struct Arguments {
    /// Seed of all searches
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Searches of each kind
    #[arg(long, default_value_t = 200)]
    searches: u32,
    /// Measurements of a search at most
    #[arg(long, default_value_t = 240)]
    cells: usize,
}

/// How large a machine is, and how much time there is.
#[derive(Clone, Copy, Debug)]
struct Scale {
    settings: usize,
    alternatives: usize,
    /// One in ten measurements has three times the noise.
    is_heavy: bool,
    /// Pairs that there is time for; `None`: as many as are asked for.
    pairs: Option<u32>,
}

const WHOLE: Scale = Scale { settings: 20, alternatives: 2, is_heavy: false, pairs: None };
const BRIEF: Scale = Scale { settings: 6, alternatives: 3, is_heavy: true, pairs: Some(BRIEF_PAIRS) };
/// What three minutes hold, of a row of the check.
const BRIEF_CELLS: usize = 45;
const BRIEF_PAIRS: u32 = 16;
const BRIEF_NOISE: f64 = 0.25;
/// Of the other values so many do harm.
const HARMFUL: f64 = 0.15;
/// The drift over a whole search, at most.
const DRIFT: f64 = 0.1;
/// The least gain that is worth a setting: the default of `--margin`.
const LEAST_PERCENT: f64 = 3.0;
const NOISES: [f64; 3] = [0.03, 0.05, 0.10];

/// What is planted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    One(f64),
    /// Two that only help together.
    Pair(f64),
    /// One that helps the metric and takes a fifth from another one.
    Harms(f64),
    Nothing,
}

/// A row of the table: its name, what is planted, and what is promised of it.
struct Kind {
    name: &'static str,
    planted: Planted,
    scale: Scale,
    /// Whether findings name what is planted.
    is_suggested: bool,
    /// Measurements at most, where these are not those that were asked for.
    cells: Option<usize>,
    /// At 5 % of noise, or where a row has one noise at that.
    at_least: Option<f64>,
    at_most: Option<f64>,
}

const fn kind(name: &'static str, planted: Planted) -> Kind {
    Kind { name, planted, scale: WHOLE, is_suggested: false, cells: None, at_least: None, at_most: None }
}

impl Kind {
    const fn at_least(self, share: f64) -> Self {
        Self { at_least: Some(share), ..self }
    }

    const fn at_most(self, share: f64) -> Self {
        Self { at_most: Some(share), ..self }
    }

    const fn brief(self, is_suggested: bool) -> Self {
        Self { scale: BRIEF, cells: Some(BRIEF_CELLS), is_suggested, ..self }
    }
}

static KINDS: [Kind; 5] = [
    kind("one setting, +20 %", Planted::One(0.2)).at_least(0.95),
    kind("one setting, +10 %", Planted::One(0.1)),
    kind("two that only help together, +30 %", Planted::Pair(0.3)).at_least(0.9),
    kind("one, +20 %, that harms a guard: kept", Planted::Harms(0.2)).at_most(0.05),
    kind("nothing helps: claimed", Planted::Nothing).at_most(0.05),
];

/// Those of three minutes.
static BRIEF_KINDS: [Kind; 5] = [
    kind("one setting, x 1.8, that a finding names", Planted::One(0.8)).brief(true).at_least(0.9),
    kind("one setting, x 1.8", Planted::One(0.8)).brief(false).at_least(0.8),
    kind("one setting, x 1.4, that a finding names", Planted::One(0.4)).brief(true),
    kind("one setting, x 1.4", Planted::One(0.4)).brief(false),
    kind("nothing helps: claimed", Planted::Nothing).brief(false).at_most(0.05),
];

/// What another value does, as a logarithm.
#[derive(Clone, Copy)]
enum Harm {
    Takes(f64),
    Caps(f64),
}

struct Machine {
    draw: Draw,
    noise: f64,
    drift: f64,
    made: f64,
    harms: Vec<(Change, Harm)>,
    helps: Vec<Change>,
    planted: Planted,
    scale: Scale,
}

impl Machine {
    fn new(planted: Planted, scale: Scale, noise: f64, mut draw: Draw) -> Self {
        let count = match planted {
            Planted::One(_) | Planted::Harms(_) => 1,
            Planted::Pair(_) => 2,
            Planted::Nothing => 0,
        };
        let mut helps: Vec<Change> = Vec::new();
        while helps.len() < count {
            let candidate = (draw.bits() % scale.settings as u64) as usize;
            if helps.iter().all(|c| c.candidate != candidate) {
                helps.push(Change { candidate, alternative: (draw.bits() % scale.alternatives as u64) as usize });
            }
        }
        helps.sort();
        let all = Space::of(&vec![scale.alternatives; scale.settings]).changes;
        let mut harms = Vec::new();
        for change in all.into_iter().filter(|change| !helps.contains(change)) {
            if draw.share() < HARMFUL {
                let size = 0.05 + 0.35 * draw.share();
                harms.push((change, if draw.share() < 0.5 { Harm::Takes(size) } else { Harm::Caps(size) }));
            }
        }
        let drift = DRIFT * (2.0 * draw.share() - 1.0);
        Self { draw, noise, drift, made: 0.0, harms, helps, planted, scale }
    }

    /// As a logarithm.
    fn noise(&mut self) -> f64 {
        let times = if self.scale.is_heavy && self.draw.share() < 0.1 { 3.0 } else { 1.0 };
        times * self.noise * self.draw.normal()
    }

    /// The metric of a measurement with these changes.
    fn measure(&mut self, cell: &[Change]) -> f64 {
        let has_all = !self.helps.is_empty() && self.helps.iter().all(|change| cell.contains(change));
        let mut value = match self.planted {
            Planted::One(gain) | Planted::Pair(gain) | Planted::Harms(gain) if has_all => (1.0 + gain).ln(),
            _ => 0.0,
        };
        let set = self.harms.iter().filter(|(change, _)| cell.contains(change));
        let mut cap = f64::INFINITY;
        for (_, harm) in set {
            match harm {
                Harm::Takes(size) => value -= size,
                Harm::Caps(size) => cap = cap.min(-size),
            }
        }
        self.made += 1.0;
        let drift = self.drift * self.made / 240.0;
        100.0 * (value.min(cap) + drift + self.noise()).exp()
    }

    /// Another metric, which only the planted setting may move.
    fn measure_guard(&mut self, cell: &[Change]) -> f64 {
        let harmed = matches!(self.planted, Planted::Harms(_)) && self.helps.iter().all(|c| cell.contains(c));
        100.0 * (if harmed { 0.8f64.ln() } else { 0.0 } + self.noise()).exp()
    }
}

/// What came of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Came {
    claimed: bool,
    /// What is claimed has all that was planted.
    right: bool,
    cells: usize,
}

/// A search, as the program makes it: `is_suggested`: whether findings name what is planted.
fn search(
    planted: Planted,
    scale: Scale,
    is_suggested: bool,
    noise: f64,
    cells: usize,
    mut draw: Draw,
) -> anyhow::Result<Came> {
    let seed = draw.bits();
    let mut machine = Machine::new(planted, scale, noise, draw);
    let mut space = Space::of(&vec![scale.alternatives; scale.settings]);
    if is_suggested {
        space.suggested = machine.helps.iter().map(|change| change.candidate).collect();
        space.changes.sort_by_key(|change| !space.suggested.contains(&change.candidate));
    }
    let search = Search::new(&space, Better::Higher, cells, seed);
    let mut search = search.ok_or_else(|| anyhow::anyhow!("{cells} measurements are too few"))?;
    while let Some(cell) = search.next_cell() {
        let value = machine.measure(&cell);
        search.take(Value::Measured(value));
    }
    let cells = search.cells();
    let mut left = scale.pairs.unwrap_or(u32::MAX);
    for finalist in &search.finalists() {
        if left < LEAST_PAIRS {
            break;
        }
        let seen = search.tried().into_iter().find(|t| t.cell == *finalist).and_then(|t| t.ratio).unwrap_or(1.0);
        let pairs = pairs_of_confirmation(search.noise().unwrap_or(noise), (seen - 1.0) * 100.0, LEAST_PERCENT);
        let guarded = if scale.pairs.is_some() { GUARDED_PAIRS } else { pairs };
        let (shown, made) = confirmed(&mut machine, finalist, [pairs.min(left), guarded]);
        if shown {
            let right = machine.helps.iter().all(|change| finalist.contains(change)) && !machine.helps.is_empty();
            return Ok(Came { claimed: true, right, cells });
        }
        left -= made;
    }
    Ok(Came { claimed: false, right: false, cells })
}

/// Whether pairs show a gain and no harm, and how many were made.
fn confirmed(machine: &mut Machine, finalist: &[Change], [pairs, guarded]: [u32; 2]) -> (bool, u32) {
    let (mut metric, mut other) = (Vec::new(), Vec::new());
    while metric.len() < pairs as usize && !is_futile(&metric, Better::Higher) {
        metric.push((machine.measure(&[]), machine.measure(finalist)));
        if other.len() < guarded as usize {
            other.push((machine.measure_guard(&[]), machine.measure_guard(finalist)));
        }
    }
    let shown = gain(&metric, Better::Higher).is_some_and(|g| is_shown(&g, LEAST_PERCENT));
    let present: Vec<f64> = other.iter().map(|(present, _)| *present).collect();
    let passes = guard(&other, Better::Higher, guard_margin_percent(&present), true).is_some_and(|g| g.passes);
    (shown && passes, metric.len() as u32)
}

/// A figure of the table: how many of how many, and the most measurements that one took.
struct Figure {
    hits: u32,
    of: u32,
    cells: usize,
}

fn figure(kind: &Kind, noise: f64, arguments: &Arguments) -> anyhow::Result<Figure> {
    let (mut hits, mut most) = (0, 0);
    for variation in 0..arguments.searches {
        let draw = Draw::of(arguments.seed ^ noise.to_bits(), kind.name, u64::from(variation));
        let came =
            search(kind.planted, kind.scale, kind.is_suggested, noise, kind.cells.unwrap_or(arguments.cells), draw)?;
        let is_hit = match kind.planted {
            Planted::One(_) | Planted::Pair(_) | Planted::Harms(_) => came.claimed && came.right,
            Planted::Nothing => came.claimed,
        };
        hits += u32::from(is_hit);
        most = most.max(came.cells);
    }
    Ok(Figure { hits, of: arguments.searches, cells: most })
}

/// A table by noise, and what is not as promised: at 5 % of noise, or at the only one.
fn table(
    kinds: &'static [Kind],
    noises: &'static [f64],
    arguments: &Arguments,
) -> anyhow::Result<(String, Vec<String>)> {
    let rows: Vec<anyhow::Result<Vec<Figure>>> = std::thread::scope(|scope| {
        let row = |kind: &'static Kind| noises.iter().map(|noise| figure(kind, *noise, arguments)).collect();
        let threads: Vec<_> = kinds.iter().map(|kind| scope.spawn(move || row(kind))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))).collect()
    });
    let head: Vec<String> = noises.iter().map(|noise| format!("{:.0} %", noise * 100.0)).collect();
    let mut out = format!(
        "| planted | {} | measurements at most |\n{}\n",
        head.join(" | "),
        "|---".repeat(noises.len() + 2) + "|"
    );
    let mut broken = Vec::new();
    for (kind, figures) in kinds.iter().zip(rows) {
        let figures = figures?;
        let _ = write!(out, "| {} |", kind.name);
        for (figure, noise) in figures.iter().zip(noises) {
            let share = 100.0 * f64::from(figure.hits) / f64::from(figure.of.max(1));
            let (low, high) = wilson(figure.hits as usize, figure.of as usize).unwrap_or((0.0, 100.0));
            let is_asked = kind.at_most.is_some() || *noise == 0.05 || noises.len() == 1;
            let holds = kind.at_least.is_none_or(|least| high >= least * 100.0)
                && kind.at_most.is_none_or(|most| low <= most * 100.0);
            let mark = if is_asked && !holds { " **!**" } else { "" };
            let _ = write!(out, " {share:.1} % ({low:.1} to {high:.1}){mark} |");
            if is_asked && !holds {
                broken.push(format!("{} at {:.0} %: {} of {}", kind.name, noise * 100.0, figure.hits, figure.of));
            }
        }
        let _ = writeln!(out, " {} |", figures.iter().map(|f| f.cells).max().unwrap_or(0));
    }
    Ok((out, broken))
}

/// Both tables.
fn tables(arguments: &Arguments) -> anyhow::Result<(String, Vec<String>)> {
    let (whole, mut broken) = table(&KINDS, &NOISES, arguments)?;
    let (brief, of_brief) = table(&BRIEF_KINDS, &[BRIEF_NOISE], arguments)?;
    broken.extend(of_brief);
    Ok((format!("{whole}\nIn three minutes:\n\n{brief}"), broken))
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    println!(
        "{} searches for each figure, seed {}; found and proven, by noise of a measurement; 95 % Wilson intervals\n",
        arguments.searches, arguments.seed
    );
    let (table, broken) = tables(arguments)?;
    print!("{table}");
    anyhow::ensure!(broken.is_empty(), "not as promised: {}", broken.join("; "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wide bounds on a quick subset: the full figures are in docs/tuning.md.
    #[test]
    fn what_is_planted_is_found_and_nothing_else() {
        let (table, broken) = tables(&Arguments { seed: 3, searches: 24, cells: 240 }).expect("enough measurements");
        assert!(broken.is_empty(), "{broken:?}\n{table}");
        let of =
            |planted| search(planted, WHOLE, false, 0.05, 240, Draw::of(1, "one", 1)).expect("enough measurements");
        let came = of(Planted::One(0.2));
        assert!(came.claimed && came.right && came.cells <= 240, "{came:?}");
        assert_eq!(came, of(Planted::One(0.2)), "the same seed, the same search");
    }
}
