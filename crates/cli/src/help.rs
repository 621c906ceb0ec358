//! How much help says: `-h` fits a screen, with the options that people need and three examples; `--help` has all options, those first
//! and the rest in groups, in a line or two each; `narrows help COMMAND` and the man pages have all that is to be said of each.
//!
//! The texts are with the options; here is only which of them are shown where. `-h` takes the first paragraph of an option's text, and the first
//! three of a command's examples.

mod layout;

pub use layout::fitted;

use clap::{Arg, ArgAction, Command};

/// Options that `-h` shows of a command with many; those of other commands are all but [`SELDOM`].
const FIRST: &[(&str, &[&str])] = &[
    ("check", &["for", "budget", "max-write", "read-only", "plan", "overwrite", "destroy", "tag", "json"]),
    ("run", &["set", "plan", "max-write", "repeat", "resume", "destroy", "rw", "bs", "iodepth"]),
    ("experiment run", &["set", "plan", "resume", "calibrate", "allow-commands", "destroy", "tag", "json"]),
    ("compare", &["repeat", "with", "set", "margin", "primary", "fail-on", "markdown", "output", "json"]),
    ("rank", &["for", "predict", "metric", "better", "markdown", "output", "json"]),
    ("rate", &["class", "capacity", "budget", "max-write", "overwrite", "destroy", "tag", "json"]),
    ("fill", &["size", "passes", "random", "verify", "plan", "overwrite", "destroy", "tag", "json"]),
    ("soak", &["for", "passes", "size", "rate", "resume", "witness", "hook", "overwrite", "destroy", "json"]),
    ("record", &["output", "camera", "size", "when-full", "generate", "for", "ring", "destroy", "json"]),
    ("record plan", &["streams", "for", "max-write", "overwrite", "destroy", "json"]),
    ("tune", &["for", "budget", "only", "allow-unsafe", "plan", "keep", "verify", "undo-kept", "destroy", "json"]),
    ("copy", &["allow-writes", "mapped", "time", "tag", "json"]),
];

/// Options that few need, where a command has no row of its own.
const SELDOM: &[&str] =
    &["markdown", "archive", "color", "identify", "keep-every", "wait-quiet", "seed", "read-registers", "keep-serials"];

/// The headings of `--help`, for the options of these names in these commands (`*`: of all).
const GROUPS: &[(&str, &str, &[&str])] = &[
    (
        "*",
        "What may be written or lost",
        &[
            "overwrite",
            "destroy",
            "max-write",
            "read-only",
            "exhaust",
            "allow-commands",
            "allow-writes",
            "allow-unsafe",
            "read-registers",
            "new",
        ],
    ),
    ("*", "Together with others", &["group", "rank", "meet", "token", "meet-timeout", "shared-file", "scale"]),
    ("*", "The run that is kept", &["seed", "tag", "wait-quiet", "keep-every"]),
    ("*", "Output", &["json", "archive", "color", "report", "details", "identify", "markdown", "format", "csv"]),
    ("compare", "Making the runs", &["repeat", "with", "until-sure", "set", "plan"]),
    ("compare", "Deciding", &["margin", "alpha", "primary", "strict", "fail-on", "anyway", "bisect"]),
    ("compare", "Output", &["output"]),
    ("rank", "Output", &["output"]),
    ("soak", "What is written", &["size", "rate", "buffered", "mode", "busy", "no-trim"]),
    ("soak", "When something is wrong", &["on-finding", "hook", "no-scrub", "witness"]),
    ("record", "Where frames come from", &["camera", "listen", "generate", "jitter", "burst", "frames"]),
    ("record", "The recording", &["output", "for", "size", "keep-size", "when-full", "max-frame", "segment"]),
    (
        "record",
        "Memory and priority",
        &["ring", "ring-full", "max-latency", "priority", "nice", "cpus", "defer", "defer-at-most", "limit"],
    ),
];

/// Examples of `-h`.
const EXAMPLES: usize = 3;
/// What comes before them.
const HEADING: &str = "Examples:\n";

/// The command and all below it, with both helps.
pub fn shaped(command: Command) -> Command {
    shape(command, "")
}

fn shape(command: Command, path: &str) -> Command {
    let first = FIRST.iter().find(|(name, _)| *name == path).map(|(_, options)| *options);
    let command = command.mut_args(|argument| {
        let Some(name) = argument.get_long().map(str::to_owned) else { return argument };
        let is_seldom = match first {
            Some(first) => !first.contains(&name.as_str()),
            None => SELDOM.contains(&name.as_str()),
        };
        let argument = if is_seldom { argument.hide_short_help(true) } else { argument };
        match heading(path, &name) {
            // What `-h` shows is one list, and in `--help` the first one.
            Some(heading) if is_seldom && argument.get_help_heading().is_none() => argument.help_heading(heading),
            _ => argument,
        }
    });
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) if text.contains(HEADING) => command.after_help(brief(&text)).after_long_help(text),
        _ => command,
    };
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        shape(inner, path.trim_start())
    })
}

/// Options that `--help` counts instead of showing them, of commands that have more than two screens of them.
const COUNTED: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "ioengine",
            "fsync",
            "filename",
            "rate_iops",
            "time_based",
            "verify",
            "rwmixread",
            "meet",
            "token",
            "meet-timeout",
            "rank",
            "on-error",
            "read-registers",
            "color",
            "identify",
            "keep-every",
            "wait-quiet",
            "lenient",
            "scale",
            "shared-file",
            "seed",
        ],
    ),
    (
        "record",
        &[
            "ring-full",
            "max-latency",
            "priority",
            "nice",
            "cpus",
            "defer",
            "defer-at-most",
            "limit",
            "jitter",
            "burst",
            "frames",
            "segment",
            "seed",
            "color",
        ],
    ),
    ("compare", &["alpha", "seed", "color", "identify"]),
    ("soak", &["busy", "no-trim", "no-scrub", "color"]),
    ("check", &["color", "identify", "keep-every", "read-registers"]),
];

/// With a `--help` that has every option in a line or two.
pub fn compact(command: Command) -> Command {
    compacted(command, "")
}

fn compacted(command: Command, path: &str) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help("Print help");
    let counted = COUNTED.iter().find(|(name, _)| *name == path.trim_start()).map_or(&[][..], |(_, options)| *options);
    let is_counted = |argument: &Arg| argument.get_long().is_some_and(|name| counted.contains(&name));
    let left = command.get_arguments().filter(|argument| is_counted(argument)).count();
    let command = command.mut_args(|argument| {
        let hide = is_counted(&argument);
        argument.hide_short_help(hide)
    });
    let command = command.disable_help_flag(true).arg(help);
    let left = if left > 0 { format!("{left} more options, ") } else { String::new() };
    let more = format!("narrows help{path} has {left}more on each option, and all examples.");
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(format!("{text}\n\n{more}")),
        None => command.after_help(more),
    };
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        compacted(inner, &path)
    })
}

fn heading(path: &str, option: &str) -> Option<&'static str> {
    let of = |wanted: &str| {
        GROUPS.iter().find(|(command, _, options)| *command == wanted && options.contains(&option)).map(|group| group.1)
    };
    of(path).or_else(|| of("*"))
}

/// The first examples of a text: a line each, with the lines below that are further in.
fn brief(text: &str) -> String {
    let Some((_, examples)) = text.split_once(HEADING) else { return String::new() };
    let mut left = EXAMPLES + 1;
    let shown = examples.lines().take_while(|line| {
        left -= usize::from(line.starts_with("  ") && !line.starts_with("   "));
        left > 0 && !line.is_empty()
    });
    format!("{HEADING}{}", shown.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_examples_with_all_their_lines_are_brief() {
        let text = "Prose.\n\nExamples:\n  a   one\n  b \\\n    more   two\n  c\n  d\n\nEnd.";
        assert_eq!(brief(text), "Examples:\n  a   one\n  b \\\n    more   two\n  c");
        assert_eq!(brief("Examples:\n  a\n\nEnd."), "Examples:\n  a");
    }

    #[test]
    fn every_row_names_options_that_there_are() {
        let mut root = crate::command();
        root.build();
        let counted = COUNTED.iter().copied();
        for (path, options) in
            FIRST.iter().copied().chain(counted).chain(GROUPS.iter().map(|(path, _, options)| (*path, *options)))
        {
            let mut command = &root;
            for word in path.split(' ').filter(|w| *w != "*") {
                command = command.find_subcommand(word).unwrap_or_else(|| panic!("{path}"));
            }
            let has = |option: &str| match path {
                "*" => root.get_subcommands().any(|c| c.get_arguments().any(|a| a.get_long() == Some(option))),
                _ => command.get_arguments().any(|a| a.get_long() == Some(option)),
            };
            options.iter().for_each(|option| assert!(has(option), "{path}: --{option}"));
        }
    }

    #[test]
    fn the_long_help_of_each_command_is_70_lines_at_most_and_loses_no_command_line() {
        fn all(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
            found.push((path.to_owned(), command.clone()));
            let shown = command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help");
            shown.for_each(|inner| all(inner, &format!("{path} {}", inner.get_name()), found));
        }
        let mut root = layout::laid_out(compact(crate::command()), 80);
        root.build();
        let mut found = Vec::new();
        all(&root, "narrows", &mut found);
        assert!(found.len() > 30);
        for (path, mut command) in found {
            let text = command.render_help().to_string();
            let lines = text.lines().count();
            assert!(lines <= 70, "{path} --help: {lines} lines\n{text}");
            let shown = |a: &&Arg| !a.is_hide_set() && !a.is_hide_short_help_set();
            for option in command.get_arguments().filter(shown).filter_map(Arg::get_long) {
                assert!(text.contains(&format!("--{option}")), "{path}: --{option}\n{text}");
            }
            assert!(text.contains("narrows help"), "{path} does not say where all of it is\n{text}");
        }
    }
}
