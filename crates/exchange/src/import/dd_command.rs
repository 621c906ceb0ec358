//! The command that stands before dd's result: what was measured, and whether the page cache was.

use model::Reason;

/// What an operand begins with, as far as commands that measure have them.
const OPERANDS: [&str; 12] =
    ["if=", "of=", "bs=", "ibs=", "obs=", "count=", "skip=", "seek=", "conv=", "iflag=", "oflag=", "status="];

/// A command of dd.
pub(super) struct Command(String);

impl Command {
    /// The command in a line, from `dd` on: after a prompt, `time`, `sudo`.
    pub fn of(line: &str) -> Option<Self> {
        let at = line
            .match_indices("dd ")
            .map(|(at, _)| at)
            .find(|at| !line[..*at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))?;
        let command = line[at..].trim();
        (command.contains(" if=") || command.contains(" of=")).then(|| Self(command.to_owned()))
    }

    /// Takes the next line where the command goes on in it: behind a backslash, or because a mail or a page broke it.
    pub fn continues(&mut self, line: &str) -> bool {
        let rest = line.trim_matches(|c: char| c.is_whitespace() || c == '>');
        let continued = self.0.strip_suffix('\\').map(|own| own.trim_end().len());
        let goes_on = continued.is_some() && !rest.is_empty() || OPERANDS.iter().any(|name| rest.starts_with(name));
        if goes_on {
            self.0.truncate(continued.unwrap_or(self.0.len()));
            self.0.push(' ');
            self.0.push_str(rest);
        }
        goes_on
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    fn operand(&self, name: &str) -> Option<&str> {
        let own = self.0.split(['|', ';', '&']).next().unwrap_or_default();
        let value = own.split_whitespace().find_map(|word| word.strip_prefix(name))?;
        Some(value.trim_matches(['"', '\''])).filter(|value| !value.is_empty())
    }

    fn path(&self, name: &str) -> Option<&str> {
        self.operand(name).filter(|p| is_storage(p))
    }

    /// Whether a list of flags (`oflag=direct,sync`) has one of them.
    fn has_flag(&self, list: &str, flags: &[&str]) -> bool {
        self.operand(list).is_some_and(|f| f.split(',').any(|flag| flags.contains(&flag)))
    }

    /// What was measured: writing if the output is storage, else reading, else nothing.
    pub fn direction(&self) -> Option<&'static str> {
        match (self.path("if="), self.path("of=")) {
            (None, Some(_)) => Some("write"),
            (Some(_), None) => Some("read"),
            (Some(_), Some(_)) => Some("copy"),
            (None, None) => None,
        }
    }

    pub fn target(&self) -> Option<&str> {
        self.path("of=").or_else(|| self.path("if="))
    }
}

/// Whether a path is storage: not a source of zeros or the bin.
fn is_storage(path: &str) -> bool {
    !matches!(path, "/dev/zero" | "/dev/null" | "/dev/urandom" | "/dev/random" | "/dev/full" | "/dev/stdout" | "-")
}

/// What may lie in the page cache when a command begins.
#[derive(Default)]
pub(super) struct Cache {
    /// Files that were written or read since the cache was dropped.
    held: Vec<String>,
    dropped: bool,
}

impl Cache {
    /// A line of a shell: whether it empties the cache.
    pub fn note_cache_drop(&mut self, line: &str) {
        if line.contains("drop_caches") || line.contains("flushbufs") || line.contains("blockdev --flush") {
            (self.dropped, self.held) = (true, Vec::new());
        }
    }

    /// Why the rate of a command may be that of the page cache.
    pub fn doubt(&mut self, command: &Command) -> Option<Reason> {
        let doubt = match command.direction()? {
            "read" => self.of_reading(command),
            _ => of_writing(command),
        };
        for path in ["if=", "of="].iter().filter_map(|name| command.path(name)) {
            self.held.push(path.to_owned());
        }
        doubt
    }

    fn of_reading(&self, command: &Command) -> Option<Reason> {
        let path = command.path("if=")?;
        if command.has_flag("iflag=", &["direct"]) {
            None
        } else if self.held.iter().any(|held| held == path) {
            Some(Reason::of(
                "page-cache",
                format!(
                    "{path} was written or read just before, and nothing emptied the page cache: memory may have been measured"
                ),
            ))
        } else if self.dropped {
            None
        } else {
            Some(Reason::of("page-cache", "without iflag=direct this may be the rate of the page cache"))
        }
    }
}

fn of_writing(command: &Command) -> Option<Reason> {
    let synced =
        command.has_flag("oflag=", &["direct", "sync", "dsync"]) || command.has_flag("conv=", &["fsync", "fdatasync"]);
    let why = "nothing was synced (neither conv=fdatasync nor oflag=direct): the page cache may have been measured";
    (!synced).then(|| Reason::of("page-cache", why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        let command = Command::of("root@box:~# time dd if=/dev/zero bs=1M of=/mnt/x count=4").unwrap();
        assert_eq!((command.direction(), command.target()), (Some("write"), Some("/mnt/x")));
        let direction = |text| Command::of(text).and_then(|c| c.direction());
        assert_eq!(direction("dd if=/dev/zero bs=1M | md5sum"), None);
        assert_eq!(direction("dd if=x of=/dev/null"), Some("read"));
        assert!(Command::of("add if=1").is_none());
    }

    #[test]
    fn what_the_page_cache_may_have_done() {
        let mut cache = Cache::default();
        let mut doubt = |line: &'static str| {
            cache.note_cache_drop(line);
            Command::of(line).and_then(|c| cache.doubt(&c))
        };
        assert!(doubt("dd if=/dev/zero of=a bs=1M").is_some_and(|d| d.text().contains("nothing was synced")));
        assert_eq!(doubt("dd if=/dev/zero of=b bs=1M conv=fdatasync"), None);
        assert_eq!(doubt("dd if=/dev/zero of=b bs=1M conv=notrunc,fsync && sync"), None);
        assert!(doubt("dd if=/dev/zero of=b bs=1M && echo conv=fsync").is_some());
        assert!(doubt("dd if=b of=/dev/null").is_some_and(|d| d.text().contains("just before")));
        assert!(doubt("dd if=c of=/dev/null").is_some_and(|d| d.text().contains("iflag=direct")));
        assert_eq!(doubt("dd if=b of=/dev/null iflag=direct"), None);
        assert_eq!(doubt("echo 3 > /proc/sys/vm/drop_caches"), None);
        assert_eq!(doubt("dd if=b of=/dev/null"), None);
        assert!(doubt("dd if=b of=/dev/null").is_some());
    }
}
