//! What a guest's console says about where the guest is. The first process writes lines with a number that only this
//! session knows, so that nothing a command prints can be mistaken for them.

/// How far a guest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The kernel starts, devices appear.
    Booting,
    /// The command runs.
    Running,
    /// The command has ended; results are on their way.
    Leaving,
    Done,
}

/// What a line of the console means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The next stage.
    Stage(Stage),
    /// The command ended so.
    Exit(i32),
    /// The guest asks that this guest beside it is ended at once.
    EndOf(String),
    /// Something worth knowing.
    Note(String),
    /// The guest cannot do what is asked: why.
    Failed(String),
    /// The kernel gave up.
    Panic(String),
    /// A part of the results, when they come by the console.
    Results(String),
    /// What the command prints, or the kernel.
    Text(String),
}

/// Reads the lines of one guest.
pub struct Reader {
    mark: String,
    in_results: bool,
}

impl Reader {
    /// For a session's number.
    pub fn new(nonce: &str) -> Self {
        Self { mark: format!("@lab-{nonce} "), in_results: false }
    }

    /// What a line, without its end, means.
    pub fn line(&mut self, line: &str) -> Line {
        let line = line.trim_end_matches('\r');
        if let Some((_, said)) = line.split_once(&self.mark) {
            return self.parse_status(said);
        }
        if let Some(at) = line.find("Kernel panic - not syncing") {
            return Line::Panic(line[at..].to_owned());
        }
        if self.in_results {
            return Line::Results(line.to_owned());
        }
        Line::Text(line.to_owned())
    }

    fn parse_status(&mut self, said: &str) -> Line {
        let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
        match word {
            "ready" => Line::Stage(Stage::Running),
            "exit" => Line::Exit(rest.trim().parse().unwrap_or(-1)),
            "done" => Line::Stage(Stage::Done),
            "end" => Line::EndOf(rest.trim().to_owned()),
            "note" => Line::Note(rest.to_owned()),
            "missing" => Line::Failed(format!("{rest} did not appear")),
            "lost" => Line::Failed(format!("its {rest} did not fit into its memory: write less, or give it more")),
            "setup-failed" => Line::Failed("its setup failed".into()),
            "results" => {
                self.in_results = true;
                Line::Stage(Stage::Leaving)
            }
            "results-end" => {
                self.in_results = false;
                Line::Stage(Stage::Leaving)
            }
            _ => Line::Text(said.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sessions_own_number_counts() {
        let mut reader = Reader::new("17ab");
        assert_eq!(reader.line("[    1.2] @lab-17ab ready\r"), Line::Stage(Stage::Running));
        assert_eq!(reader.line("@lab-0000 done"), Line::Text("@lab-0000 done".into()));
        assert_eq!(reader.line("@lab-17ab exit 4"), Line::Exit(4));
        assert_eq!(reader.line("@lab-17ab end client1\r"), Line::EndOf("client1".into()));
        assert_eq!(reader.line("@lab-17ab missing /dev/sda"), Line::Failed("/dev/sda did not appear".into()));
        let lost = reader.line("@lab-17ab lost stdout");
        assert!(matches!(&lost, Line::Failed(why) if why.contains("stdout did not fit")), "{lost:?}");
        assert_eq!(reader.line("@lab-17ab done"), Line::Stage(Stage::Done));
    }

    #[test]
    fn a_panic_is_seen_behind_its_time_stamp() {
        let mut reader = Reader::new("1");
        let line = "[   13.05] Kernel panic - not syncing: Attempted to kill init!";
        assert_eq!(reader.line(line), Line::Panic("Kernel panic - not syncing: Attempted to kill init!".into()));
    }

    #[test]
    fn results_are_told_from_text() {
        let mut reader = Reader::new("1");
        assert_eq!(reader.line("H4sI"), Line::Text("H4sI".into()));
        reader.line("@lab-1 results");
        assert_eq!(reader.line("H4sI\r"), Line::Results("H4sI".into()));
        reader.line("@lab-1 results-end");
        assert_eq!(reader.line("H4sI"), Line::Text("H4sI".into()));
    }
}
