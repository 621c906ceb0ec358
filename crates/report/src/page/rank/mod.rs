//! The page of a ranking: what goes with what matters, drawn; then every metric with a bar for each target, and all numbers.
//! Nothing needs scripts.

mod bars;
mod forest;
mod scatter;

use super::{fold, framed, section, t};
use crate::rank::{Rank, cell, order, same_order_percent, shown};
use crate::{quantity, text};
use maud::{Markup, html};

const RANK_STYLE: &str = include_str!("rank.css");
/// Scatter plots that are drawn: the closest predictors.
const SCATTERS: usize = 9;

/// A ranking as one HTML document; `title` says what was ranked.
pub fn rank_page(title: &str, version: &str, rank: &Rank<'_>) -> String {
    let ranking = rank.ranking;
    let metrics = shown(rank);
    let order = order(ranking, metrics.first().copied());
    let drawn: Vec<&model::Prediction> = ranking.prediction.iter().filter(|p| p.tau.is_some()).collect();
    let main = html! {
        header {
            p.brand { span { "narrows rank" } span { (ranking.targets.len()) " targets" } }
            h1 { (t(title)) }
        }
        @if !ranking.reasons.is_empty() {
            section.verdict id="answer" {
                h2 { @if rank.predicted.is_some() { "What these targets show" } @else { "To be said first" } }
                ul.evidence { @for r in &ranking.reasons { li { (t(&capital(model::Reason::of(r).sentence))) } } }
            }
        }
        @if let Some(predicted) = rank.predicted.filter(|_| !drawn.is_empty()) {
            (section("prediction", &format!("What goes with {}", t(predicted)), "Kendall's tau of each metric with it over targets, with its 95 % interval; beyond 0 on either side is a relation", html! {
                figure { (forest::forest(&drawn, "wide", 760.0)) (forest::forest(&drawn, "narrow", 350.0)) }
                (predictions(rank))
            }))
            @let plots = scatter::plots(ranking, predicted, &drawn, SCATTERS);
            @if !plots.is_empty() {
                (fold("scatter", "Target by target", &format!("each point is a target; upwards is {}", t(predicted)), html! { div.scatters { @for p in &plots { (p) } } }))
            }
        }
        (section("targets", "Side by side", "Each metric with a bar for each target; the place behind it, = where it cannot be told from the best of it", bars::bars(ranking, &metrics, &order)))
        (fold("numbers", "All numbers", "the median over the runs of each target", numbers(rank, &order)))
        footer {
            p { "narrows " (t(version)) ". MB/s is 10⁶ bytes per second. Places are by verdict, not by digits." }
            p { "This page is one file and loads nothing." }
        }
    };
    framed(&format!("narrows rank {title}"), version, RANK_STYLE, &main)
}

fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

fn predictions(rank: &Rank<'_>) -> Markup {
    let number = |v: Option<f64>, digits: usize| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"));
    html! {
        div.scroll tabindex="0" {
            table.data {
                thead { tr { th { "Predictor" } th { "Kind" } th { "tau" } th { "95 %" } th { "Pairs in one order" } th { "p" } th { "p, all tried" } th { "One left out" } th { "Targets" } th { "Remark" } } }
                tbody {
                    @for p in &rank.ranking.prediction {
                        tr {
                            th scope="row" { (t(&p.predictor)) }
                            td { @if p.work { "other work" } @else { "synthetic" } }
                            td { (number(p.tau, 2)) }
                            td { @if p.low.is_some() { (number(p.low, 2)) " to " (number(p.high, 2)) } @else { "-" } }
                            td { @if let Some(share) = same_order_percent(p) { (format!("{share:.0} %")) } @else { "-" } }
                            td { (number(p.p, 4)) }
                            td { (number(p.p_adjusted, 4)) }
                            td { @if let Some((low, high)) = p.leave_one_out { (format!("{low:.2} to {high:.2}")) } @else { "-" } }
                            td { (p.n) }
                            td.why { @for r in &p.reasons { (t(model::Reason::of(r).sentence)) " " } }
                        }
                    }
                }
            }
        }
    }
}

fn numbers(rank: &Rank<'_>, order: &[usize]) -> Markup {
    let targets = &rank.ranking.targets;
    let ids = targets.first().map(|t| t.metrics.as_slice()).unwrap_or_default();
    html! {
        div.scroll tabindex="0" {
            table.data {
                thead { tr { th { "Metric" } @for i in order { th { (t(&text::shorten(&targets[*i].name, 30, false))) } } } }
                tbody {
                    @for (m, first) in ids.iter().enumerate() {
                        @let column: Vec<_> = targets.iter().map(|t| &t.metrics[m]).collect();
                        tr {
                            th scope="row" { (t(&first.id)) }
                            @for i in order {
                                @let metric = column[*i];
                                td title=(t(&metric.reasons.join("; "))) {
                                    @match metric.value {
                                        Some(v) => { (quantity::quantity(v, metric.unit)) " " small { (cell(metric, &column).place) } }
                                        None => { span.quiet { (t(metric.reasons.first().map_or("-", |r| r.split(':').next().unwrap_or("-")))) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
