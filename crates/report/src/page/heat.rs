//! A grid as a heat map: a table whose cells are coloured by their rate, relative to the best of the whole grid or, by a switch
//! that needs no script, of the row. The number stands in each cell, so that colours are not needed to read it.

use super::t;
use crate::presentation::{Cell, Table};
use crate::run::Grid;
use maud::{Markup, html};

/// Steps of the scale; the style sheet has a class for each.
const LEVELS: usize = 10;

/// The step of a value: the best is the last one.
fn level(value: f64, best: f64) -> usize {
    if best <= 0.0 {
        return 0;
    }
    ((value / best * LEVELS as f64).floor() as usize).min(LEVELS - 1)
}

/// The grid with the cells of its table.
pub(super) fn map(grid: &Grid, table: &Table) -> Markup {
    let best = |cells: &[Option<f64>]| cells.iter().flatten().copied().fold(0.0, f64::max);
    let values: Vec<Vec<Option<f64>>> =
        grid.rows.iter().map(|(_, cells)| cells.iter().map(|c| c.as_ref().and_then(|c| c.value)).collect()).collect();
    let of_all = values.iter().map(|row| best(row)).fold(0.0, f64::max);
    // The step in the whole grid and in the row, as classes.
    let look = |v: Option<f64>, row: &[Option<f64>]| {
        v.map_or_else(|| "none".to_owned(), |v| format!("h{} r{}", level(v, of_all), level(v, best(row))))
    };
    html! {
        div.mapped {
        h3.form { (t(&table.caption)) }
        div.scroll tabindex="0" role="region" aria-label=(t(&table.caption)) {
            table.heat {
                thead { tr { td {} @for h in &table.head { th scope="col" { (t(h)) } } } }
                tbody {
                    @for (row, values) in table.rows.iter().zip(&values) {
                        tr {
                            th scope="row" { (t(&row.label)) }
                            @for (cell, value) in row.cells.iter().zip(values) {
                                td.(look(*value, values)) {
                                    @match cell {
                                        Cell::Best(text) => { b { (t(text)) } },
                                        Cell::Without { note, bad, .. } => {
                                            @if *bad { span.status.refused { "refused" } } @else { span.absent { "–" } }
                                            @if let Some(n) = note { sup { (n) } }
                                        },
                                        other => { (t(&other.text(false))) },
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        p.hint.sideways { "The table is wider than this screen: move it sideways." }
        p.hint {
            span.scale aria-hidden="true" { @for step in 0..LEVELS { span.(format!("h{step}")) {} } }
            " from nothing to the best of the whole grid; the best of each row is bold"
            label.switch { input type="checkbox"; " colour each row by its own best" }
        }
        }
        @for line in &table.footer { p.hint { (t(line)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_the_last_step_and_nothing_the_first() {
        assert_eq!([0.0, 0.05, 0.55, 0.999, 1.0].map(|v| level(v, 1.0)), [0, 0, 5, 9, 9]);
        assert_eq!(level(0.0, 0.0), 0);
    }
}
