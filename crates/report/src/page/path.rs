//! The storage path as a drawing: a pipe that narrows where a ceiling is known to be lower.

use super::t;
use crate::{fact, quantity, storage};
use maud::{Markup, html};
use model::{CompactSort as _, Layer, LayerKind, Layers, Run, json_name};

/// Facts shown at once; the rest folds away.
const FACTS_SHOWN: usize = 6;

/// Half the width of the pipe (of 50) for each layer: logarithmic, one decade is 14; unknown ceilings keep the width
/// of what stands on them.
fn half_widths(layers: &Layers) -> Vec<f64> {
    let lowest = layers.iter().filter_map(|l| l.ceiling_bytes_per_s).min().unwrap_or(1).max(1) as f64;
    let widest = 44.0;
    let mut widths: Vec<f64> = Vec::with_capacity(layers.len());
    for (at, layer) in layers.iter().enumerate() {
        // The machine, which lies beside the tree, ends the drawing.
        let above = layers.above(at).or(at.checked_sub(1)).map_or(widest, |above| widths[above]);
        let own = |c: u64| (14.0 + 14.0 * (c as f64 / lowest).max(1.0).log10()).min(widest);
        widths.push(layer.ceiling_bytes_per_s.map_or(above, own));
    }
    widths
}

/// The path, top to bottom.
pub(super) fn path(run: &Run) -> Markup {
    let stack = &run.target.stack;
    if stack.layers.is_empty() {
        return html! { p.hint { "Nothing lies below this target." } };
    }
    let widths = half_widths(&stack.layers);
    let lowest = stack.lowest_ceiling().map(std::ptr::from_ref);
    let pipe = |i: usize| {
        let here = widths[i];
        let above = if i == 0 { here } else { (widths[i - 1] + here) / 2.0 };
        let below = widths.get(i + 1).map_or(here, |next| (here + next) / 2.0);
        format!(
            "M{:.1} 0 L{:.1} 14 V86 L{:.1} 100 H{:.1} L{:.1} 86 V14 L{:.1} 0 Z",
            50.0 - above,
            50.0 - here,
            50.0 - below,
            50.0 + below,
            50.0 + here,
            50.0 + above
        )
    };
    html! {
        ol.path {
            @for (i, layer) in stack.layers.iter().enumerate() {
                @let narrowest = lowest.is_some_and(|l| std::ptr::eq(l, layer));
                li.narrowest[narrowest].unknown[layer.ceiling_bytes_per_s.is_none()] {
                    svg.pipe viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true" { path d=(pipe(i)) {} }
                    div.layer {
                        p.kind { (json_name(&layer.kind)) }
                        p.title {
                            b { (t(&if layer.kind == LayerKind::Link { storage::link_name(layer) } else { layer.name.clone() })) }
                            @if layer.kind == LayerKind::Link && storage::link_name(layer) != layer.name { " " span.driver { (t(&layer.name)) } }
                            @if let Some(d) = layer.driver.as_ref().filter(|d| **d != layer.name) { " " span.driver { (t(d)) } }
                            @if let Some(l) = stack.layers.branches_from(i) { " " span.driver { "below " (t(&l.name)) } }
                        }
                        @if let Some(c) = layer.ceiling_bytes_per_s {
                            p.ceiling {
                                b { (quantity::rate(c as f64)) }
                                @if narrowest { " " span.chip.low { "lowest known ceiling" } }
                                @if let Some(s) = &layer.ceiling_source { br; small { (t(s)) } }
                            }
                        }
                        (facts(layer))
                    }
                }
            }
        }
        @if let Some(m) = &stack.mount {
            p.hint { "Mounted at " code { (t(&m.mount_point)) } " with " code { (t(&m.options.join(","))) } }
        }
    }
}

fn facts(layer: &Layer) -> Markup {
    let told = || layer.facts.iter();
    let mut known: Vec<(usize, String, String)> = told()
        .filter_map(|(n, f)| Some((fact::rank(n).unwrap_or(usize::MAX), t(&fact::name(n)), t(&fact::value(n, f)?))))
        .collect();
    let missing: Vec<String> = told().filter(|(_, f)| f.is_null()).map(|(n, _)| t(&fact::name(n))).collect();
    let list = |facts: &[(usize, String, String)]| {
        html! { dl.facts { @for (_, n, v) in facts { div { dt { (n) } dd { (v) } } } } }
    };
    // What tells one device from another comes first.
    known.compact_sort_by_key(|(rank, ..)| *rank);
    let (first, rest) = known.split_at(known.len().min(FACTS_SHOWN));
    html! {
        @if !first.is_empty() { (list(first)) }
        @if !rest.is_empty() || !missing.is_empty() {
            details {
                summary { @if rest.is_empty() { "not known: " (missing.len()) } @else { (rest.len()) " more" } }
                @if !rest.is_empty() { (list(rest)) }
                @if !missing.is_empty() { p.hint { "Looked for and not found: " (missing.join(", ")) } }
            }
        }
    }
}
