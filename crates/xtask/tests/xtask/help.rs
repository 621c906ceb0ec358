//! How much help says: `-h` of each command fits a screen.

const LINES: usize = 40;
const COLUMNS: usize = 80;
const OPTIONS: usize = 10;
const EXAMPLES: usize = 3;

/// The command and all below it that are shown, with the words that lead there.
fn all(command: &clap::Command, path: &str, found: &mut Vec<(String, clap::Command)>) {
    found.push((path.to_owned(), command.clone()));
    for inner in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        all(inner, &format!("{path} {}", inner.get_name()), found);
    }
}

fn commands() -> Vec<(String, clap::Command)> {
    let mut root = cli::command().term_width(COLUMNS);
    root.build();
    let mut found = Vec::new();
    all(&root, "narrows", &mut found);
    found
}

#[test]
fn short_help_fits_a_screen_and_has_ten_options_and_three_examples() {
    let commands = commands();
    assert!(commands.len() > 30, "{}", commands.len());
    let mut wrong = Vec::new();
    for (path, mut command) in commands {
        let text = command.render_help().to_string();
        let lines = text.lines().count();
        let widest = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
        if lines > LINES || widest > COLUMNS {
            wrong.push(format!("{path} -h: {lines} lines, {widest} columns\n{text}"));
        }
        let is_shown = |a: &&clap::Arg| !a.is_positional() && !a.is_hide_set() && !a.is_hide_short_help_set();
        let usual = ["help", "version"];
        let options =
            command.get_arguments().filter(is_shown).filter(|a| !usual.contains(&a.get_id().as_str())).count();
        if options > OPTIONS {
            wrong.push(format!("{path} -h: {options} options"));
        }
        let examples = text.split_once("Examples:").map_or("", |(_, e)| e);
        let examples = examples.lines().filter(|l| l.trim_start().starts_with("narrows ")).count();
        if examples > EXAMPLES {
            wrong.push(format!("{path} -h: {examples} examples"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn long_help_has_every_option_that_is_not_an_alias() {
    for (path, mut command) in commands() {
        let text = command.render_long_help().to_string();
        for argument in command.get_arguments().filter(|a| !a.is_hide_set()) {
            if let Some(long) = argument.get_long() {
                assert!(text.contains(&format!("--{long}")), "{path} --help lacks --{long}");
            }
        }
        assert!(text.lines().count() >= command.render_help().to_string().lines().count(), "{path}");
    }
}
