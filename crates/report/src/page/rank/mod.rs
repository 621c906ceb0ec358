//! The page of a ranking: what goes with what matters, drawn; then every metric with a bar for each target, and all numbers.
//! Nothing needs scripts.

mod bars;
mod forest;
mod scatter;

use super::{elements, fold, framed, section, t};
use crate::presentation::Part;
use crate::rank::{Rank, answers, order, place, predictions, shown};
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
        @let answers = answers(rank);
        @if !ranking.reasons.is_empty() || !answers.is_empty() {
            section.verdict id="answer" {
                h2 { "What these targets show" }
                @for answer in &answers { p { (t(answer)) } }
                ul.evidence { @for r in &ranking.reasons { li { (t(&text::capital(&r.text()))) } } }
            }
        }
        @if let Some(predicted) = rank.predicted.filter(|_| !drawn.is_empty()) {
            (section("prediction", &format!("What goes with {}", t(predicted)), "Kendall's tau of each metric with it over targets, with its 95 % interval; beyond 0 on either side is a relation", html! {
                (forest::forest(&drawn))
                (all_predictions(rank, predicted))
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

/// The numbers of all predictors; the intervals are drawn above, and the heading is that of the section.
fn all_predictions(rank: &Rank<'_>, predicted: &str) -> Markup {
    let all = rank.ranking.prediction.iter();
    let groups =
        [("synthetic", all.clone().filter(|p| !p.work).collect()), ("other work", all.filter(|p| p.work).collect())];
    html! {
        @for part in predictions(predicted, &groups, usize::MAX) {
            @match part {
                Part::Heading(_) => {},
                Part::Table(table) => { (elements::table(&table.undrawn())) },
                other => { (elements::parts([&other])) },
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
                                td title=(t(&model::reason::joined(&metric.reasons))) {
                                    @match metric.value {
                                        Some(v) => { (quantity::quantity(v, metric.unit)) " " small { (place(metric, &column).place) } }
                                        None => { span.quiet { (t(metric.reasons.first().and_then(|r| r.code()).unwrap_or("-"))) } }
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
