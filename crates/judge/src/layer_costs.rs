//! What a layer costs, from the rounds in which the level above it and the level below it were measured.

use model::{Estimate, LayerCost, LevelFigures, LevelRound};

/// Level of the intervals.
const LEVEL: f64 = 0.95;
/// A layer that takes less than this of a read's time and of the rate costs nothing worth naming: it is what single runs on an idle
/// machine differ by.
const LEAST: f64 = 0.02;

type Quantity = fn(&LevelRound) -> Option<f64>;

const QUANTITIES: LevelFigures<(Quantity, Change)> = LevelFigures {
    read_ns: Some((|r| r.read_ns, Change::Added)),
    read_rate: Some((|r| r.read_bytes_per_s, Change::Factor)),
    read_cpu_s_per_gb: Some((|r| r.read_cpu_s_per_gb, Change::Added)),
    write_ns: Some((|r| r.write_ns, Change::Added)),
    write_rate: Some((|r| r.write_bytes_per_s, Change::Factor)),
    write_cpu_s_per_gb: Some((|r| r.write_cpu_s_per_gb, Change::Added)),
};

/// How two levels are compared.
#[derive(Clone, Copy)]
enum Change {
    /// The level above minus the level below.
    Added,
    /// The level above as a share of the level below.
    Factor,
}

/// One estimate a quantity.
fn figures(of: impl Fn(Quantity, Change) -> Option<Estimate>) -> LevelFigures<Estimate> {
    let q = QUANTITIES;
    let of = |quantity: Option<(Quantity, Change)>| quantity.and_then(|(quantity, change)| of(quantity, change));
    LevelFigures {
        read_ns: of(q.read_ns),
        read_rate: of(q.read_rate),
        read_cpu_s_per_gb: of(q.read_cpu_s_per_gb),
        write_ns: of(q.write_ns),
        write_rate: of(q.write_rate),
        write_cpu_s_per_gb: of(q.write_cpu_s_per_gb),
    }
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    let value = stats::mean(values)?;
    let interval = stats::mean_interval(values, LEVEL);
    Some(Estimate { value, low: interval.map(|i| i.low), high: interval.map(|i| i.high) })
}

/// The numbers of a level: means over its rounds.
pub fn level_figures(rounds: &[LevelRound]) -> LevelFigures<Estimate> {
    figures(|quantity, _| estimate(&rounds.iter().filter_map(quantity).collect::<Vec<_>>()))
}

/// What lies between two neighbouring levels, by pairs of the same round. Factors are geometric means.
pub fn layer_cost(layer: &str, above: (&str, &[LevelRound]), below: (&str, &[LevelRound])) -> LayerCost {
    let cost = figures(|quantity, change| {
        let pairs = above.1.iter().zip(below.1).filter_map(|(a, b)| Some((quantity(a)?, quantity(b)?)));
        match change {
            Change::Added => estimate(&pairs.map(|(a, b)| a - b).collect::<Vec<_>>()),
            Change::Factor => {
                let logs: Vec<f64> = pairs.map(|(a, b)| (a / b).ln()).filter(|l| l.is_finite()).collect();
                let logs = estimate(&logs)?;
                Some(Estimate { value: logs.value.exp(), low: logs.low.map(f64::exp), high: logs.high.map(f64::exp) })
            }
        }
    });
    let base = level_figures(below.1).read_ns.map(|base| base.value).filter(|ns| *ns > 0.0);
    let of_time = cost.read_ns.filter(|added| added.is_above(0.0)).zip(base).map(|(added, base)| added.value / base);
    let of_rate = cost.read_rate.filter(|factor| factor.is_below(1.0)).map(|factor| 1.0 / factor.value - 1.0);
    let weight = [of_time, of_rate].into_iter().flatten().filter(|w| *w >= LEAST).reduce(f64::max);
    LayerCost { layer: layer.to_owned(), above: above.0.to_owned(), below: below.0.to_owned(), cost, weight }
}

/// The layer that costs most, where one costs more than the rounds differ.
pub fn dearest(costs: &[LayerCost]) -> Option<&LayerCost> {
    costs
        .iter()
        .filter(|c| c.weight.is_some())
        .max_by(|a, b| a.weight.unwrap_or(0.0).total_cmp(&b.weight.unwrap_or(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(read_ns: &[f64], rate: &[f64]) -> Vec<LevelRound> {
        let round = |(ns, rate): (&f64, &f64)| LevelRound {
            read_ns: Some(*ns),
            read_bytes_per_s: Some(*rate),
            read_cpu_s_per_gb: Some(1.0),
            ..LevelRound::default()
        };
        read_ns.iter().zip(rate).map(round).collect()
    }

    #[test]
    fn a_difference_is_taken_round_by_round_and_a_rate_as_a_factor() {
        // The disk drifts by a third from round to round; what lies above it adds the same each time.
        let disk = rounds(&[100e3, 133e3, 90e3], &[400e6, 300e6, 500e6]);
        let crypt = rounds(&[138e3, 171.5e3, 127.5e3], &[276e6, 207e6, 345e6]);
        let cost = layer_cost("dm-crypt (dm-0)", ("dm-0", &crypt), ("vda", &disk));
        let added = cost.cost.read_ns.unwrap();
        assert!((added.value - 38e3).abs() < 0.5e3 && added.is_above(36e3) && !added.is_above(39e3), "{added:?}");
        let factor = cost.cost.read_rate.unwrap();
        assert!((factor.value - 0.69).abs() < 1e-9 && factor.is_below(0.7), "{factor:?}");
        assert_eq!(cost.cost.write_ns, None);
        // 45 % of the rate below is more than 38 of 108 us.
        assert!((cost.weight.unwrap() - (1.0 / 0.69 - 1.0)).abs() < 1e-9);
    }

    #[test]
    fn what_the_rounds_differ_by_is_no_cost() {
        let below = rounds(&[100e3, 130e3, 90e3], &[400e6, 300e6, 500e6]);
        let above = rounds(&[110e3, 100e3, 120e3], &[390e6, 410e6, 480e6]);
        let cost = layer_cost("LVM (dm-1)", ("dm-1", &above), ("vda", &below));
        assert_eq!(cost.weight, None);
        assert_eq!(dearest(&[cost]), None);
    }

    #[test]
    fn the_dearest_is_the_one_with_the_largest_share_and_what_is_missing_is_none() {
        let disk = rounds(&[100e3, 101e3], &[400e6, 401e6]);
        let linear = rounds(&[105e3, 106e3], &[398e6, 399e6]);
        let crypt = rounds(&[300e3, 301e3], &[100e6, 101e6]);
        let costs = [
            layer_cost("LVM", ("dm-0", &linear), ("vda", &disk)),
            layer_cost("dm-crypt", ("dm-1", &crypt), ("dm-0", &linear)),
            layer_cost("ext4", ("file", &[LevelRound::default()]), ("dm-1", &crypt)),
        ];
        assert_eq!(dearest(&costs).unwrap().layer, "dm-crypt");
        assert_eq!((costs[2].cost.read_ns, costs[2].cost.read_rate, costs[2].weight), (None, None, None));
        // One round has no interval, and says what it has.
        let one = layer_cost("dm-delay", ("dm-0", &crypt[..1]), ("vda", &disk[..1]));
        assert_eq!(one.cost.read_ns, Some(Estimate { value: 200e3, low: None, high: None }));
        assert!((one.weight.unwrap() - 3.0).abs() < 1e-9);
    }
}
