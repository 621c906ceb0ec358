//! What the pages of a site have in common: names of files, links, tables, spreads.

use super::super::chart::px;
use super::super::t;
use maud::{Markup, html};

/// Letters of a name in the name of its file.
const MOST_LETTERS: usize = 40;
/// Dots of a spread.
const MOST_DOTS: usize = 200;
/// More columns are stacked where there is little room.
const NARROW_COLUMNS: usize = 3;

/// The name of a file for a name from outside: letters, digits and `-`, and what tells it from others that look alike.
pub fn slug(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars().take(MOST_LETTERS) {
        if c.is_ascii_alphanumeric() {
            plain.push(c.to_ascii_lowercase());
        } else if !plain.ends_with('-') {
            plain.push('-');
        }
    }
    // FNV-1a.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    format!("{}-{:08x}", plain.trim_matches('-'), hash >> 32).trim_start_matches('-').to_owned()
}

/// A link to the page of a device or a machine; `up` is the way to the directory of the site.
pub fn link(kind: &str, name: &str, up: &str) -> Markup {
    html! { a href=(format!("{up}{kind}/{}.html", slug(name))) { (t(name)) } }
}

/// A table; `nothing` is said where it has no row.
pub fn table(head: &[&str], rows: Vec<Vec<Markup>>, nothing: &str) -> Markup {
    html! {
        @if rows.is_empty() { p.hint { (nothing) } } @else {
            div.scroll tabindex="0" role="region" aria-label=(t(head.first().copied().unwrap_or_default())) {
                table.data.form.stacked[head.len() > NARROW_COLUMNS] {
                    thead { tr { @for h in head { th.left scope="col" { (t(h)) } } } }
                    tbody { @for row in &rows { tr {
                        @for (i, cell) in row.iter().enumerate() {
                            @if i == 0 { th scope="row" { (cell) } } @else { td.left data-label=(t(head.get(i).copied().unwrap_or_default())) { (cell) } }
                        }
                    } } }
                }
            }
        }
    }
}

/// Values as dots between the ends of all that they are held against.
pub fn spread(values: &[f64], low: f64, high: f64) -> Markup {
    let x = |v: f64| if high > low { 6.0 + (v - low) / (high - low) * 188.0 } else { 100.0 };
    let every = values.len().div_ceil(MOST_DOTS).max(1);
    html! {
        div.spread { svg viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true" {
            line x1="6" x2="194" y1="8" y2="8" {}
            @for v in values.iter().step_by(every) { circle cx=(px(x(*v).clamp(6.0, 194.0))) cy="8" r="3" {} }
        } }
    }
}

/// A value with its interval on an axis of logarithms.
pub fn whisker(value: f64, interval: Option<(f64, f64)>, low: f64, high: f64) -> Markup {
    let (from, to) = (low.ln(), high.ln());
    let x = |v: f64| (6.0 + (v.ln() - from) / (to - from).max(1e-9) * 124.0).clamp(6.0, 130.0);
    html! {
        svg width="136" height="16" viewBox="0 0 136 16" aria-hidden="true" {
            @if let Some((low, high)) = interval { path.whisker d=(format!("M{} 8 H{}", px(x(low)), px(x(high)))) {} }
            circle cx=(px(x(value))) cy="8" r="4" fill="currentColor" {}
        }
    }
}
