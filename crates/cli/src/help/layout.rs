//! How help is laid out: paragraphs filled to the width, examples with their commands whole.
//!
//! The texts are in the table of commands (`args`). A paragraph there may be broken anywhere. An example is two spaces, a command, and
//! what it does: in the column in which the others of its block have that, or below it. What a line has no room for continues as a shell
//! takes it, with a backslash before an option or a pipe.

use clap::Command;

/// Columns where nobody says how many, and at most: longer lines are hard to read.
const USUAL: usize = 80;
const MOST: usize = 100;
/// Where the explanations of examples begin at the latest.
const EXPLAINED_AT: usize = 46;
/// The fewest columns that are left to an explanation beside its command.
const LEAST: usize = 24;
/// How far what continues is set in.
const CONTINUED: usize = 4;

/// The command with help as wide as the reader's terminal.
pub fn fitted(command: Command) -> Command {
    laid_out(command, width())
}

/// What help is laid out for: a terminal's columns, those that the shell says, or the usual ones.
fn width() -> usize {
    let of = |fd: &dyn Fn() -> Option<u16>| fd().map(usize::from).filter(|columns| *columns > 0);
    let terminal = of(&|| rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col));
    let said = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    terminal.or_else(said).unwrap_or(USUAL).clamp(40, MOST)
}

/// A command whose help, and that of all below it, has this width.
pub(super) fn laid_out(command: Command, width: usize) -> Command {
    let texts = [command.get_after_help(), command.get_after_long_help()].map(|t| t.map(ToString::to_string));
    let [short, long] = texts.map(|text| text.map(|text| text_laid_out(&text, width)));
    let mut command = command.term_width(width);
    if let Some(text) = short {
        command = command.after_help(text);
    }
    if let Some(text) = long {
        command = command.after_long_help(text);
    }
    command.mut_subcommands(|below| laid_out(below, width))
}

/// One example.
#[derive(Debug, Default, PartialEq)]
struct Example {
    command: String,
    explanation: String,
}

fn text_laid_out(text: &str, width: usize) -> String {
    let mut out: Vec<String> = Vec::new();
    for paragraph in text.split("\n\n") {
        if !out.is_empty() {
            out.push(String::new());
        }
        let lines: Vec<&str> = paragraph.lines().collect();
        for part in lines.chunk_by(|a, b| a.starts_with("  ") == b.starts_with("  ")) {
            if part[0].starts_with("  ") {
                out.extend(shown(&examples(part), width));
            } else {
                out.extend(filled(&part.join(" "), width, 0));
            }
        }
    }
    out.join("\n")
}

/// The examples of a block, in their order.
fn examples(lines: &[&str]) -> Vec<Example> {
    // Where most explanations begin that are set apart by more than a space: one that is not begins there as well.
    let apart = |line: &str| {
        line.trim_end().rfind("  ").map(|at| at + 2).filter(|at| *at > 2 && !line[..*at].trim().is_empty())
    };
    let columns: Vec<usize> = lines.iter().filter_map(|line| apart(line)).collect();
    let common = columns.iter().copied().max_by_key(|at| columns.iter().filter(|other| *other == at).count());
    let mut found: Vec<Example> = Vec::new();
    let mut continues = false;
    for line in lines {
        let inner = line.trim();
        // Options are no explanation.
        let beside = common.filter(|at| line.get(*at..).is_some_and(|rest| !rest.is_empty() && !rest.contains('-')));
        let value = |before: &str| before.split_whitespace().next_back().is_some_and(|word| word.starts_with('-'));
        let beside = beside.filter(|at| line[..*at].ends_with(' ') && !value(&line[..*at]));
        let set_in = line.len() - line.trim_start().len();
        if let Some(last) = found.last_mut().filter(|_| continues || set_in > CONTINUED) {
            let whole = if continues { &mut last.command } else { &mut last.explanation };
            *whole = format!("{whole} {}", inner.trim_end_matches('\\')).trim().to_owned();
        } else {
            let at = apart(line).or(beside).unwrap_or(line.len());
            let explanation = line.get(at..).unwrap_or_default().trim().to_owned();
            found.push(Example { command: line[..at].trim().trim_end_matches('\\').trim().to_owned(), explanation });
        }
        continues = inner.ends_with('\\');
    }
    found
}

fn shown(examples: &[Example], width: usize) -> Vec<String> {
    let lengths = examples.iter().filter(|e| !e.explanation.is_empty()).map(|e| e.command.chars().count() + 4);
    let at = lengths.filter(|n| *n <= EXPLAINED_AT.min(width.saturating_sub(LEAST))).max().unwrap_or(2 * CONTINUED);
    let mut out = Vec::new();
    for Example { command, explanation } in examples {
        let mut lines = continued(command, width);
        let mut explained = filled(explanation, width, at).into_iter();
        let last = lines.last_mut().filter(|line| line.chars().count() + 2 <= at);
        if let Some((last, first)) = last.and_then(|last| Some((last, explained.next()?))) {
            *last = format!("{last:at$}{}", first.trim_start());
        }
        out.extend(lines);
        out.extend(explained);
    }
    out
}

/// A command on as many lines as it takes, broken before an option or a pipe, as a shell takes it.
fn continued(command: &str, width: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut quoted = false;
    for word in command.split(' ') {
        let begins = !quoted && (word.starts_with('-') || word == "|" || word == "&&");
        match parts.last_mut().filter(|_| !begins) {
            Some(part) => *part = format!("{part} {word}"),
            None => parts.push(word.to_owned()),
        }
        quoted ^= word.matches('\'').count() % 2 == 1;
    }
    let mut lines = vec![String::from("  ")];
    for (i, part) in parts.iter().enumerate() {
        let rest = if i + 1 < parts.len() { 2 } else { 0 };
        let line = lines.last().map_or(0, |l| l.chars().count());
        let last = lines.last_mut().filter(|_| i == 0 || line + 1 + part.chars().count() + rest <= width);
        match last {
            Some(last) if i == 0 => last.push_str(part),
            Some(last) => *last = format!("{last} {part}"),
            None => {
                lines.iter_mut().last().into_iter().for_each(|l| l.push_str(" \\"));
                lines.push(format!("{:CONTINUED$}{part}", ""));
            }
        }
    }
    lines
}

/// Words filled into lines of a width, all of them set in.
fn filled(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let fits = |line: &String| line.chars().count() + 1 + word.chars().count() <= width;
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(format!("{:indent$}{word}", "")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(command: Command) -> Vec<Command> {
        let below: Vec<Command> = command.get_subcommands().cloned().collect();
        std::iter::once(command).chain(below.into_iter().flat_map(all)).collect()
    }

    /// The commands of examples, without their continuations.
    fn commands(text: &str) -> Vec<String> {
        let blocks = text.split("\n\n").map(|p| p.lines().filter(|l| l.starts_with("  ")).collect::<Vec<_>>());
        blocks.flat_map(|block| examples(&block)).map(|e| e.command).collect()
    }

    #[test]
    fn help_of_all_commands_is_tidy_at_80_columns() {
        let mut with_examples = 0;
        for (mut command, raw) in all(laid_out(crate::command(), 80)).into_iter().zip(all(crate::command())) {
            let name = command.get_name().to_owned();
            for help in [command.render_long_help().to_string(), command.render_help().to_string()] {
                let lines: Vec<&str> = help.lines().collect();
                for line in &lines {
                    // One word, as a list of values, may be longer than a line.
                    assert!(line.chars().count() <= 80 || line.split_whitespace().count() < 2, "{name}: {line}");
                }
                let after = raw.get_after_help().map(ToString::to_string).unwrap_or_default();
                let whole = help.replace(" \\\n    ", " ");
                for example in commands(&after) {
                    assert!(whole.lines().any(|l| l.starts_with(&format!("  {example}"))), "{name}: {example}\n{help}");
                    with_examples += 1;
                }
                for (line, next) in lines.iter().zip(&lines[1..]) {
                    let set_in = |l: &str| l.len() - l.trim_start().len();
                    let first = next.split_whitespace().next().unwrap_or_default();
                    let prose = set_in(line) == 0 && set_in(next) == 0 && !first.is_empty() && !line.ends_with(':');
                    let fits = line.chars().count() + 1 + first.chars().count() <= 80;
                    assert!(!(prose && fits && !line.is_empty()), "{name}: a line ends early: {line:?}, then {next:?}");
                }
            }
        }
        assert!(with_examples >= 100, "{with_examples} examples");
    }

    #[test]
    fn examples_keep_their_commands_whole_and_hang_what_they_do() {
        let text = "Text that was broken\nsomewhere.\n\nExamples:\n  narrows a                 one thing\n  narrows b --of so --many options --that it --fills a --whole line of --eighty columns   and is \
                    explained by so many words that they take a line of their own and more\n  narrows ccccccccc dddddd  e\n  narrows ccccccccc ddddddd e\n  narrows f 'g  h' \\\n    --more\n                            said below";
        let expected = "Text that was broken somewhere.\n\nExamples:\n  narrows a                  one thing\n  narrows b --of so --many options --that it --fills a --whole line of \\\n    --eighty columns         and is explained by so many words that they take a\n                             line of their own and more\n";
        let out = text_laid_out(text, 80);
        assert!(out.starts_with(expected), "{out}");
        assert!(out.lines().all(|l| l.chars().count() <= 80), "{out}");
        // One space sets an explanation apart where others begin in that column, and the value of an option is none.
        let of = |line| examples(&["  narrows long    what", "  narrows other   what", line]).pop().unwrap();
        assert_eq!(of("  narrows aa bcde e f").explanation, "e f");
        assert_eq!(of("  narrows a b --cd ef").explanation, "");
        // What is continued is one command.
        let last = &examples(&["  narrows f 'g h' \\", "    --more", "                said below"])[0];
        let Example { command, explanation } = last;
        assert_eq!((command.as_str(), explanation.as_str()), ("narrows f 'g h' --more", "said below"));
    }
}
