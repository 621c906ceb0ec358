//! One small chart a metric: a bar for each target, from 0 to the largest value.

use super::t;
use crate::quantity;
use crate::rank::place;
use maud::{Markup, html};
use model::{Better, RankedMetric, Ranking};

pub(super) fn bars(ranking: &Ranking, metrics: &[usize], order: &[usize]) -> Markup {
    html! {
        div.bars {
            @for &m in metrics {
                @let column: Vec<&RankedMetric> = ranking.targets.iter().map(|t| &t.metrics[m]).collect();
                figure {
                    figcaption {
                        (t(&column[0].id)) " "
                        small { (match column[0].better { Some(Better::Higher) => "more is better", Some(Better::Lower) => "less is better", None => "no direction told" }) }
                    }
                    ol { @for &i in order { (row(&ranking.targets[i].name, column[i], &column)) } }
                }
            }
        }
    }
}

fn row(name: &str, metric: &RankedMetric, column: &[&RankedMetric]) -> Markup {
    let largest = column.iter().filter_map(|m| m.value).fold(0.0, f64::max);
    let share = metric.value.map_or(0.0, |v| v / largest).clamp(0.0, 1.0);
    let share = if share.is_finite() { share } else { 0.0 };
    let value = metric.value.map_or_else(|| "-".to_owned(), |v| quantity::quantity(v, metric.unit));
    html! {
        li.first[metric.place == Some(1)] {
            span.name title=(t(name)) { (t(name)) }
            svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
                rect.track x="0" y="0" width="100" height="10" {}
                rect.fill x="0" y="0" width=(format!("{:.2}", share * 100.0)) height="10" {}
            }
            span.amount { (value) " " small { (place(metric, column).place) } }
        }
    }
}
