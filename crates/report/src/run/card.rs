//! The numbers of a run as text, between the header of the card and its closing lines.

use super::{Form, Numbers, Table, Weight};
use crate::card::Writer;
use crate::{Check, Paint, headline, quantity};
use model::{RunValidity, Unit};

/// The table of a form, with intervals where they fit into so many columns.
pub(crate) fn table_of(check: &Check<'_>, form: &Form<'_>, columns: usize, n: &mut Numbers) -> Table {
    let run = check.run;
    let filled = |n: &mut Numbers| match form {
        Form::Depth(curve, places) => super::depth_table(run, curve, places, n),
        Form::Grid(grid, _) => super::grid_table(run, grid, n),
        Form::Pairs(pairs) => super::pairs_table(run, pairs, n),
        Form::Waits(places) => super::waits_table(run, places, n),
        Form::Replays(places) => super::replays_table(run, places, n),
        Form::Bursts(place) => super::bursts_table(&run.phases[*place]),
        Form::Rows(places) => super::rows_table(run, places, n),
    };
    // What is least missed goes first.
    for (intervals, bars) in [(true, true), (false, true), (false, false)] {
        (n.intervals, n.bars) = (intervals, bars);
        let table = filled(n);
        if super::fits(&table, columns) {
            return table;
        }
    }
    filled(n)
}

/// What the run is worth as a whole, where that is not everything.
pub(crate) fn validity_words(validity: RunValidity) -> Option<&'static str> {
    match validity {
        RunValidity::Valid => None,
        RunValidity::Partial => Some("Partial: not all that was asked is there; what is there stands."),
        RunValidity::Invalid => Some("Invalid as a whole: nothing stands, something failed, or data came back wrong."),
    }
}

impl Writer<'_> {
    /// All forms, notes and remarks of a run.
    pub(crate) fn run_numbers(&mut self, check: &Check<'_>) {
        let run = check.run;
        let words = validity_words(run.validity()).filter(|_| headline::state_words(run.state).is_none());
        if let Some(words) = words {
            self.block("", words, Some(Paint::Warn));
        }
        for note in &run.plan.notes {
            let note = self.plain(note);
            self.block("  Note: ", &note, Some(Paint::Dim));
        }
        let mut n = Numbers::new(self.style);
        for form in super::forms(run, check.depth_curves) {
            let table = table_of(check, &form, self.columns - 2, &mut n);
            self.line("");
            if !table.caption.is_empty() {
                let caption = self.plain(&table.caption);
                self.block("  ", &caption, Some(Paint::Dim));
            }
            let table = self.safe(table);
            for line in super::render(&table, self.columns - 2, self.style) {
                self.line(&format!("  {line}"));
            }
            for line in &table.footer {
                self.block("  ", line, Some(Paint::Dim));
            }
        }
        self.line("");
        if let Some((ns, phase)) = headline::worst_stall(run) {
            let text = format!("{} in {}", quantity::quantity(ns, Unit::Ns), self.plain(phase));
            self.block("  Longest gap: ", &text, None);
        }
        for remark in super::remarks(run) {
            let (lead, text) = (format!("  {}: ", self.plain(&remark.phase)), self.plain(&remark.text));
            let paint = match remark.weight {
                Weight::Plain => None,
                Weight::Doubt => Some(Paint::Warn),
                Weight::Bad => Some(Paint::Bad),
            };
            // Long names are no margin.
            let whole = format!("{}{text}", lead.trim_start());
            self.hanging(&whole, paint);
        }
        for (i, note) in n.notes.iter().enumerate() {
            let note = self.plain(note);
            self.block(&format!("  [{}] ", i + 1), &note, Some(Paint::Dim));
        }
    }

    /// Names come from outside.
    fn safe(&self, mut table: Table) -> Table {
        for row in &mut table.rows {
            row.label = self.plain(&row.label);
        }
        table.footer.iter_mut().for_each(|line| *line = self.plain(line));
        table
    }

    /// Text that starts two columns in, and goes on four.
    fn hanging(&mut self, text: &str, paint: Option<Paint>) {
        for (i, l) in crate::text::wrap_quantities(text, self.columns - 4).iter().enumerate() {
            let l = paint.map_or_else(|| l.clone(), |p| self.style.paint(p, l));
            self.line(&format!("{}{l}", if i == 0 { "  " } else { "    " }));
        }
    }
}
