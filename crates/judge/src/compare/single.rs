//! One run of a side: no interval exists, and nothing is better or worse. All that can be said is whether the two differ
//! by more than the noise that is usual.

use super::processor::a_share;
use super::sides::Values;
use super::verdict::{both_zero, some_zero};
use model::{Compared, MetricKey, Reason, Unit, Verdict};

/// Rates, means and medians of single runs differ by this much without anything being different, as a ratio above 1.
pub const USUAL_NOISE: f64 = 0.05;
/// Worst latencies of single runs differ by this factor.
pub const USUAL_WORST_FACTOR: f64 = 3.0;

/// Says what two single rows can carry.
pub(super) fn judge(compared: &mut Compared, values: &Values, noise_floor: Option<f64>) {
    compared.reasons.extend(values.no_value_reasons());
    if values.units_differ {
        compared.verdict = Verdict::Invalid;
        compared.reasons.push(Reason::of("units-differ", "the two sides give it in different units"));
        return;
    }
    let (Some(a), Some(b)) = (compared.a, compared.b) else {
        compared.verdict = Verdict::Invalid;
        return;
    };
    compared.ratio = (a != 0.0).then(|| b / a).filter(|r| r.is_finite());
    if a == 0.0 && b == 0.0 {
        compared.verdict = Verdict::Same;
        compared.reasons.push(both_zero());
        return;
    }
    if compared.unit == Unit::Percent {
        compared.reasons.push(a_share());
        return;
    }
    let Some(ratio) = compared.ratio.filter(|r| *r > 0.0) else {
        compared.reasons.push(some_zero());
        return;
    };
    let worst = is_worst(&compared.id);
    let factor = match noise_floor {
        Some(floor) => 1.0 + floor,
        None => usual_factor(&compared.id),
    };
    let beyond = ratio.ln().abs() > factor.ln();
    compared.beyond_noise = Some(beyond);
    let source = if noise_floor.is_some() { "the noise of this archive" } else { "usual noise" };
    let size = if worst && noise_floor.is_none() {
        format!("a factor of {factor}")
    } else {
        format!("{:.1} %", (factor - 1.0) * 100.0)
    };
    let side = |n: usize| if n == 1 { "one run".to_owned() } else { format!("{n} runs") };
    let runs = match (values.a.len(), values.b.len()) {
        (1, 1) => "one run each".to_owned(),
        (n, m) => format!("{} against {}", side(n), side(m)),
    };
    compared.reasons.push(if beyond {
        Reason::of("single", format!("{runs}; they differ by more than {source} ({size}), which is not proof"))
    } else {
        Reason::of("single", format!("{runs}: cannot separate this from noise below {size}"))
    });
}

/// What single runs differ by without a reason.
pub(crate) fn usual_factor(id: &str) -> f64 {
    if is_worst(id) { USUAL_WORST_FACTOR } else { 1.0 + USUAL_NOISE }
}

/// Whether it is a worst case: one operation decides it.
fn is_worst(id: &str) -> bool {
    let quantity = MetricKey::of(id).quantity;
    quantity.ends_with("_max") || quantity.contains("_p999")
}
