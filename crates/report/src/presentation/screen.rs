//! A result on a terminal that has no room for all of it: what is needed least is left out, and the answer comes at the end, where
//! somebody who waited for it looks.

use super::{Part, Presentation, Section, SectionName};
use crate::lines::closing;
use crate::text::width;
use crate::{Paint, Style};

/// What has no more lines is read at a glance, in its order.
const A_FEW_LINES: usize = 6;
/// Fewer lines of a section say nothing.
const LEAST_LINES: usize = 4;
/// The sections that a screen has room for last, the least needed first.
const LEAST_NEEDED: [SectionName; 11] = [
    SectionName::Rejected,
    SectionName::Keeping,
    SectionName::Others,
    SectionName::Findings,
    SectionName::Limits,
    SectionName::Path,
    SectionName::Events,
    SectionName::Answer,
    SectionName::Differences,
    SectionName::Numbers,
    SectionName::Bottleneck,
];

impl Presentation {
    /// For a terminal of so many rows, the prompt's aside: the head, as much as there is room for, where the rest is, and `last`, the
    /// sentences that answer.
    pub fn on_screen(&self, style: &Style, rows: usize, last: &[String]) -> String {
        let whole = self.text(style);
        let columns = style.columns();
        let said = self.answers();
        if last.is_empty() || whole.lines().count() <= A_FEW_LINES {
            return whole;
        }
        let rest = self.without(&said);
        let closing = closing(last, style);
        let all = rest.text(style) + &closing;
        if rows_of(&all, columns) <= rows {
            return all;
        }
        let head = Self { head: super::Head { notes: Vec::new(), ..rest.head.clone() }, ..Self::default() };
        let end = Self { end: rest.end.clone(), ..Self::default() };
        let (head, end) = (trimmed(&head.text(style)), trimmed(&end.text(style)));
        let all = self.end.all_of_it.as_deref().unwrap_or(if self.end.kept.is_some() { KEPT } else { DETAILS });
        let hint = style.paint(Paint::Dim, &format!("  All of it: {all}"));
        let fixed: usize = [&head, &end, &closing, &hint].into_iter().map(|t| rows_of(t, columns)).sum();
        let shown = rest.sections_within(rows.saturating_sub(fixed), style);
        let parts: Vec<String> = std::iter::once(head).chain(shown).filter(|p| !p.is_empty()).collect();
        let end = if end.is_empty() { String::new() } else { end + "\n" };
        format!("{}\n{hint}\n{end}{closing}", parts.join("\n\n"))
    }

    /// The same without the sentences that answer.
    fn without(&self, said: &[&str]) -> Self {
        let is_answer = |part: &Part| matches!(part, Part::Sentence(_, text) if said.contains(&text.as_str()));
        let mut rest = self.clone();
        rest.head.answer = None;
        rest.end.repeats_answer = false;
        rest.sections.iter_mut().for_each(|section| section.parts.retain(|part| !is_answer(part)));
        rest.sections.retain(|section| !section.parts.is_empty());
        rest
    }

    /// The sections that fit, in their order, a blank line above each; of the last one that does its first lines.
    fn sections_within(&self, rows: usize, style: &Style) -> Vec<String> {
        let columns = style.columns();
        let need = |s: &Section| LEAST_NEEDED.iter().position(|n| *n == s.name).unwrap_or(LEAST_NEEDED.len());
        let mut order: Vec<usize> = (0..self.sections.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(need(&self.sections[*i])));
        let mut left = rows;
        let mut shown: Vec<(usize, String)> = Vec::new();
        for i in order {
            let one = Self { sections: vec![self.sections[i].clone()], wide: self.wide, ..Self::default() };
            let text = trimmed(&one.text(style));
            let needed = rows_of(&text, columns) + 1;
            if needed <= left {
                left -= needed;
                shown.push((i, text));
            } else if left > LEAST_LINES {
                let first = first_rows(&text, left - 1, columns);
                left = 0;
                shown.push((i, first));
            }
        }
        shown.sort_by_key(|(i, _)| *i);
        shown.into_iter().map(|(_, text)| text).collect()
    }
}

/// Where the rest is, of what is kept as a run.
const KEPT: &str = "narrows runs show latest";
/// Where the rest is, of what is not.
const DETAILS: &str = "the same command with --details";

fn trimmed(text: &str) -> String {
    text.trim_end_matches('\n').trim_start_matches('\n').to_owned()
}

/// Rows that a text takes; what must stay whole, such as a path, may take more than one.
fn rows_of(text: &str, columns: usize) -> usize {
    let rows = |line: &str| if line.contains('\x1b') { 1 } else { width(line.trim_end()).div_ceil(columns).max(1) };
    text.lines().map(rows).sum()
}

/// As many lines as there is room for, and how many more there are.
fn first_rows(text: &str, rows: usize, columns: usize) -> String {
    let mut left = rows - 1;
    let fits = |line: &&str| {
        let needed = rows_of(line, columns).max(1);
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        fits
    };
    let shown: Vec<&str> = text.lines().take_while(fits).collect();
    let more = text.lines().count() - shown.len();
    format!("{}\n  ... {more} more lines", shown.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::{End, Head, Tone};
    use super::*;

    fn long(lines: usize) -> Presentation {
        let list = |name: &str| Part::List((0..lines).map(|i| format!("{name} {i}")).collect());
        let head = Head { command: "rank".into(), subject: "4 targets".into(), ..Head::default() };
        let end = End { answers: vec!["Which to buy: a.".into()], ..End::default() };
        let mut all = Presentation { head, end, ..Presentation::default() };
        all.push(SectionName::Answer, vec![Part::Sentence(Tone::Plain, "Which to buy: a.".into())]);
        all.push(SectionName::Numbers, vec![list("number")]);
        all.push(SectionName::Others, vec![list("other")]);
        all
    }

    #[test]
    fn a_screen_ends_with_the_answer_and_has_what_is_needed_most() {
        let style = Style::default();
        let last = ["Which to buy: a.".to_owned()];
        for (lines, numbers, others, is_all) in [(3, 3, 3, true), (10, 10, 3, false), (40, 14, 0, false)] {
            let text = long(lines).on_screen(&style, 22, &last);
            assert!(rows_of(&text, 80) <= 22, "{text}");
            let count = |name: &str| text.lines().filter(|l| l.contains(&format!("- {name} "))).count();
            assert!(count("number") >= numbers && count("other") >= others, "{lines}: {text}");
            assert!(
                text.starts_with("narrows rank 4 targets") && text.trim_end().ends_with("Which to buy: a."),
                "{text}"
            );
            assert_eq!(text.matches("Which to buy").count(), 1, "said once: {text}");
            assert_eq!(text.contains("--details"), !is_all, "{text}");
        }
        assert_eq!(long(40).on_screen(&style, 22, &[]), long(40).text(&style), "what has no answer is whole");
    }
}
