//! `narrows run --rw randread --bs 4k ...`: the options of fio's job files on the command line, from the one table of them.

use clap::builder::NonEmptyStringValueParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use model::CompactSort as _;

/// Those that stand in the help; it would drown in the others.
const SHOWN: [&str; 14] = [
    "rw",
    "bs",
    "iodepth",
    "runtime",
    "time_based",
    "size",
    "numjobs",
    "direct",
    "ioengine",
    "rwmixread",
    "fsync",
    "rate_iops",
    "verify",
    "filename",
];

/// What was given, in the order in which it was given: name and value.
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    /// None: the command names a workload.
    pub given: Vec<(String, String)>,
}

impl FromArgMatches for JobOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut options = Self::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let mut found: Vec<(usize, String, String)> = Vec::new();
        for (name, _) in spec::fio_names() {
            let from_user = matches.try_contains_id(name).unwrap_or(false)
                && matches.value_source(name) == Some(ValueSource::CommandLine);
            // Of names that the command has itself, its own meaning holds.
            let Some(values) = from_user.then(|| matches.try_get_many::<String>(name).ok().flatten()).flatten() else {
                continue;
            };
            let places = matches.indices_of(name).into_iter().flatten();
            found.extend(places.zip(values).map(|(at, value)| (at, name.to_owned(), value.clone())));
        }
        found.compact_sort_by_key(|(at, ..)| *at);
        self.given = found.into_iter().map(|(_, name, value)| (name, value)).collect();
        Ok(())
    }
}

impl Args for JobOptions {
    fn augment_args(command: Command) -> Command {
        let own: Vec<String> = command
            .get_arguments()
            .filter_map(|a| a.get_long())
            .chain(["help", "version"])
            .map(str::to_owned)
            .collect();
        let options = spec::fio_names().into_iter().filter(|(name, _)| !own.iter().any(|o| o == name));
        command.args(options.map(|(name, is_flag)| argument(name, is_flag)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument(name: &'static str, is_flag: bool) -> Arg {
    let argument = Arg::new(name)
        .long(name)
        .value_name("VALUE")
        .action(ArgAction::Append)
        .value_parser(NonEmptyStringValueParser::new())
        .allow_hyphen_values(true)
        .hide(!SHOWN.contains(&name))
        .help_heading("A job by its options, as fio has them (all that its job files may have)")
        .help(help(name));
    if is_flag { argument.num_args(0..=1).require_equals(true).default_missing_value("1") } else { argument }
}

/// What the key that says the same in our language is documented as.
fn help(name: &str) -> String {
    match name {
        "rw" => return "read, write, rw, randread, randwrite, randrw, trim ...; then the one name that follows is the TARGET".into(),
        "runtime" => return "Seconds at most; with --time_based, until then".into(),
        "time_based" => return "Goes on until --runtime is over".into(),
        _ => {}
    }
    let key = spec::our_key(name);
    let meaning = spec::job_keys().iter().find(|k| Some(k.name) == key.as_deref()).map(|k| k.meaning);
    meaning.map_or_else(
        || "As in fio's job files".to_owned(),
        |text| text.split(". ").next().unwrap_or(text).trim_end_matches('.').to_owned(),
    )
}
