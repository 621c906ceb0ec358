//! What disturbs the runs of a session: one factor for each run, in the order of time.

use crate::truth::draw::Draw;
use anyhow::Context as _;

/// Series of real runs of the same plan, one after the other; see the files' first lines.
const REAL: [(&str, &str); 2] = [
    ("real runs, tmpfs", include_str!("series/tmpfs.csv")),
    ("real runs, busy disk", include_str!("series/busy-disk.csv")),
];

pub enum Disturbance {
    /// Normal, 2 %, nothing in common between runs.
    Independent,
    /// 2 % and a rate that falls by 5 % over the session.
    Drift,
    /// First-order correlated between runs, phi 0.8, 3 %.
    Correlated,
    /// Student's t with 3 degrees of freedom, scaled to a standard deviation of 3 %, and every twentieth run 30 % slower.
    HeavyTails,
    /// Two states, one half as fast, 30 % of the runs in the slow one, 1 % around each.
    TwoStates,
    /// Logarithms of the values of consecutive runs.
    Replayed { name: &'static str, logarithms: Vec<f64> },
}

impl Disturbance {
    pub fn all() -> anyhow::Result<Vec<Self>> {
        let mut out = vec![Self::Independent, Self::Drift, Self::Correlated, Self::HeavyTails, Self::TwoStates];
        for (name, text) in REAL {
            let rows = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).skip(1);
            let logarithms: Vec<f64> = rows
                .map(|l| l.split(',').nth(1).and_then(|v| v.parse::<f64>().ok()).filter(|v| *v > 0.0).map(f64::ln))
                .collect::<Option<_>>()
                .with_context(|| format!("a value of {name} is not a number"))?;
            anyhow::ensure!(logarithms.len() >= 80, "{name} is too short");
            out.push(Self::Replayed { name, logarithms });
        }
        Ok(out)
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Independent => "independent, 2 %",
            Self::Drift => "drift of 5 %, 2 %",
            Self::Correlated => "AR(1) 0.8, 3 %",
            Self::HeavyTails => "heavy tails, 3 %",
            Self::TwoStates => "two states",
            Self::Replayed { name, .. } => name,
        }
    }

    /// Whether the noise is the one for which power is promised.
    pub fn promises_power(&self) -> bool {
        matches!(self, Self::Independent | Self::Drift)
    }

    /// Factors of so many runs in the order of time.
    pub fn factors(&self, runs: usize, draw: &mut Draw) -> Vec<f64> {
        let mut state = draw.normal();
        let start = match self {
            Self::Replayed { logarithms, .. } => (draw.bits() % logarithms.len() as u64) as usize,
            _ => 0,
        };
        (0..runs)
            .map(|i| {
                let ln: f64 = match self {
                    Self::Independent => 0.02 * draw.normal(),
                    Self::Drift => 0.02 * draw.normal() - 0.05 * i as f64 / (runs.max(2) - 1) as f64,
                    Self::Correlated => {
                        let now = 0.03 * state;
                        state = 0.8 * state + 0.6 * draw.normal();
                        now
                    }
                    Self::HeavyTails => {
                        let chi: f64 = (0..3).map(|_| draw.normal().powi(2)).sum::<f64>() / 3.0;
                        // The variance of t with 3 degrees of freedom is 3.
                        let t = 0.03 / 3f64.sqrt() * draw.normal() / chi.sqrt();
                        if draw.share() < 0.05 { t + 0.7f64.ln() } else { t }
                    }
                    Self::TwoStates => {
                        let slow = draw.share() < 0.3;
                        0.01 * draw.normal() + if slow { 0.5f64.ln() } else { 0.0 }
                    }
                    // In the order in which they were made, so that whatever ties neighbours together stays.
                    Self::Replayed { logarithms, .. } => logarithms[(start + i) % logarithms.len()],
                };
                ln.exp()
            })
            .collect()
    }
}
