//! `cargo xtask truth history`: how often noise is taken for a change of a series of runs, and how soon a change is seen.
//!
//! Series of 60 values without a change, of six kinds of noise, and the same with a fall of 10 % before the last 4 and the last 10.

use super::draw::Draw;
use stats::{mean_changes, null_limit};

#[derive(clap::Args)]
pub struct Arguments {
    /// Seed of all series
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Series of each kind
    #[arg(long, default_value_t = 1_000)]
    series: u32,
    /// Draw the limits of t anew instead, of so many series of each length
    #[arg(long, value_name = "N")]
    limits: Option<usize>,
}

/// Values of a series.
const LENGTH: usize = 60;
/// Levels that differ by less are the same: the margin of `narrows history`.
const LEAST_RATIO: f64 = 1.05;

/// What noise there is: what people see in their archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Independent and normal, 3 %.
    White,
    /// 3 %, with a correlation of .5 from one to the next.
    Half,
    /// The same, .8.
    Strong,
    /// Student's t of 3 degrees, 3 %.
    HeavyTails,
    /// Two levels 10 % apart, either by chance, 1 % each.
    TwoStates,
    /// 3 %, and 2 in 100 values are halved.
    Spikes,
}

pub const ALL: [(Noise, &str, f64); 6] = [
    (Noise::White, "white, 3 %", 0.01),
    (Noise::Half, "AR(1) .5", 0.01),
    (Noise::Strong, "AR(1) .8", 0.07),
    (Noise::HeavyTails, "heavy tails", 0.01),
    (Noise::TwoStates, "two states", 0.01),
    (Noise::Spikes, "2 % of spikes", 0.01),
];

impl Noise {
    fn series(self, draw: &mut Draw, length: usize) -> Vec<f64> {
        let phi: f64 = match self {
            Self::Half => 0.5,
            Self::Strong => 0.8,
            _ => 0.0,
        };
        let mut state = draw.normal();
        let one = |_| {
            let normal = state;
            state = phi * state + (1.0 - phi * phi).sqrt() * draw.normal();
            100.0
                * match self {
                    Self::White | Self::Half | Self::Strong => 1.0 + 0.03 * normal,
                    Self::HeavyTails => {
                        let squares: f64 = (0..3).map(|_| draw.normal().powi(2)).sum();
                        // Of variance 3.
                        (1.0 + 0.03 * normal / squares.sqrt()).max(0.05)
                    }
                    Self::TwoStates => (1.0 + 0.01 * normal) * if draw.share() < 0.5 { 1.0 } else { 0.9 },
                    Self::Spikes => (1.0 + 0.03 * normal) * if draw.share() < 0.02 { 0.5 } else { 1.0 },
                }
        };
        (0..length).map(one).collect()
    }
}

/// Of how many series a change was seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Without one.
    pub falsely: usize,
    /// With a fall of 10 % before the last 4 values.
    pub after_4: usize,
    /// Before the last 10.
    pub after_10: usize,
}

/// What is seen in so many series of a noise.
pub fn measure(noise: Noise, series: u32, seed: u64) -> Seen {
    let mut seen = Seen::default();
    for i in 0..series {
        let mut draw = Draw::of(seed, &format!("{noise:?}"), u64::from(i));
        let values = noise.series(&mut draw, LENGTH);
        seen.falsely += usize::from(!mean_changes(&values, LEAST_RATIO).is_empty());
        let fallen = |last: usize| {
            let mut values = values.clone();
            values[LENGTH - last..].iter_mut().for_each(|v| *v *= 0.9);
            let changes = mean_changes(&values, LEAST_RATIO);
            usize::from(changes.iter().any(|c| (c.within.0..=c.within.1).contains(&(LENGTH - last)) && c.ratio < 1.0))
        };
        seen.after_4 += fallen(4);
        seen.after_10 += fallen(10);
    }
    seen
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(series) = arguments.limits {
        // Of the longest ones fewer: they take as long.
        let mut draw = Draw::of(arguments.seed, "limits", 0);
        for n in [8, 10, 12, 16, 20, 30, 40, 60, 120, 250, 1_000, 10_000] {
            let limit = null_limit(n, 0.001, series.min(600_000_000 / n), || draw.normal());
            println!("({n}, {:.3})", limit.unwrap_or(f64::NAN));
        }
        return Ok(());
    }
    println!("{} series of {LENGTH} each, seed {}", arguments.series, arguments.seed);
    println!("| noise | falsely | at most | a fall of 10 %, after 4 | after 10 |\n|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for (noise, name, most) in ALL {
        let seen = measure(noise, arguments.series, arguments.seed);
        let of = |hits: usize| hits as f64 / f64::from(arguments.series);
        println!("| {name} | {:.3} | {most} | {:.2} | {:.2} |", of(seen.falsely), of(seen.after_4), of(seen.after_10));
        if of(seen.falsely) > most || noise == Noise::White && of(seen.after_4) < 0.95 {
            wrong.push(name);
        }
    }
    anyhow::ensure!(wrong.is_empty(), "more false changes than promised, or a fall not seen: {}", wrong.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_seldom_a_change_and_a_fall_of_a_tenth_is_one() {
        for (noise, name, most) in ALL {
            let seen = measure(noise, 300, 5);
            // What 300 series can tell of it: three standard deviations.
            let allowed = 300.0 * most + 3.0 * (300.0 * most * (1.0 - most)).sqrt();
            assert!(seen.falsely as f64 <= allowed, "{name}: {seen:?}");
            assert!(noise != Noise::White || seen.after_4 >= 282, "{name}: {seen:?}");
        }
    }
}
