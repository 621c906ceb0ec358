//! A witness on another machine: what is promised is durable there, too, before it counts. ssh and a POSIX shell are all that is
//! needed there.

use conduct::Interrupts;
use model::Failure;
use soak::SoakState;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Takes a checksum and a state, a line each, and says when they are durable. A reader sees the old or the new ones.
const KEEPS: &str = r#"umask 077; mkdir -p -- "$1/soaks" && cd -- "$1/soaks" || exit 1
echo ready
while IFS= read -r sum && IFS= read -r state; do
    { printf "%s\n%s\n" "$sum" "$state" > "$2.new"; } && { sync "$2.new" 2> /dev/null || sync; } && mv -- "$2.new" "$2" &&
        { sync . 2> /dev/null || sync; } && echo kept || exit 1
done"#;
/// Gives all states, each below a line with its name.
const GIVES: &str = r##"cd -- "$1/soaks" || exit 1
for file in *.json; do if [ -f "$file" ]; then echo "# $file"; cat -- "$file"; fi; done"##;
/// Between two attempts to reach it.
const PAUSE: Duration = Duration::from_secs(5);
/// States on a witness are read up to this size together.
const MOST_BYTES: u64 = 64 << 20;

/// A directory on another machine.
pub struct Witness<'a> {
    host: String,
    directory: String,
    id: String,
    line: RefCell<Option<Line>>,
    interrupts: &'a Interrupts,
    say: &'a dyn Fn(&str),
}

/// A connection.
struct Line {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

/// The host and the directory of `HOST:` or `HOST:DIR`, as scp has it: a colon before any slash. `None`: a path of this machine.
pub fn remote(text: &str) -> Option<(String, String)> {
    let (host, directory) = text.split_once(':').filter(|(host, _)| !host.is_empty() && !host.contains('/'))?;
    // What begins with a dash would be an option of ssh.
    let host = host.trim_start_matches('-').to_owned();
    Some((host, if directory.is_empty() { ".local/share/narrows".to_owned() } else { directory.to_owned() }))
}

/// For a shell, whatever it is.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn ssh(host: &str, script: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("ssh");
    // Nobody answers questions for weeks; a line that is cut is noticed within two minutes.
    let options = ["BatchMode=yes", "ConnectTimeout=20", "ServerAliveInterval=30", "ServerAliveCountMax=4"];
    for option in options {
        command.args(["-o", option]);
    }
    let arguments: Vec<String> = [script, "narrows"].iter().chain(arguments).map(|text| quoted(text)).collect();
    command.args(["-T", "--", host]).arg(format!("sh -c {}", arguments.join(" ")));
    // Ctrl-C is for the soak, which has a last word to keep.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command
}

/// Why a connection ended, as ssh or the shell there says.
fn reason(mut child: Child) -> String {
    let _ = child.kill();
    let mut said = String::new();
    if let Some(errors) = child.stderr.take() {
        let _ = errors.take(4096).read_to_string(&mut said);
    }
    let ended = child.wait().map_or_else(|e| e.to_string(), |status| format!("it ended with {status}"));
    said.lines().rev().find(|line| !line.trim().is_empty()).map_or(ended, str::to_owned)
}

impl Line {
    fn open(host: &str, directory: &str, file: &str) -> Result<Self, String> {
        let mut child = ssh(host, KEEPS, &[directory, file]).spawn().map_err(|e| format!("ssh: {e}"))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else { return Err(reason(child)) };
        let mut line = Self { child, to, from: BufReader::new(from) };
        match line.hears("ready") {
            true => Ok(line),
            false => Err(line.ended()),
        }
    }

    fn hears(&mut self, word: &str) -> bool {
        let mut said = String::new();
        // What a login shell may say comes before.
        while self.from.by_ref().take(4096).read_line(&mut said).is_ok_and(|n| n > 0) {
            if said.trim_end() == word {
                return true;
            }
            said.clear();
        }
        false
    }

    fn ended(self) -> String {
        drop(self.to);
        reason(self.child)
    }
}

impl<'a> Witness<'a> {
    /// Reaches it, for the soak of this id.
    ///
    /// # Errors
    /// It cannot be reached, or nothing can be kept there.
    pub fn open(
        (host, directory): (String, String),
        id: &str,
        interrupts: &'a Interrupts,
        say: &'a dyn Fn(&str),
    ) -> Result<Self, Failure> {
        let witness = Self { host, directory, id: id.to_owned(), line: RefCell::default(), interrupts, say };
        *witness.line.borrow_mut() = Some(witness.connect().map_err(|why| unreachable(&witness.host, &why))?);
        Ok(witness)
    }

    fn connect(&self) -> Result<Line, String> {
        Line::open(&self.host, &self.directory, &format!("{}.json", self.id))
    }

    /// Keeps a state there; durable when this returns. A line that is cut is made again, for as long as that takes: without a
    /// witness nothing can be promised.
    ///
    /// # Errors
    /// The end was asked for while it could not be reached.
    pub fn keep(&self, state: &SoakState) -> Result<(), Failure> {
        let text = state.two_lines()?;
        let mut unreachable_said = false;
        loop {
            let why = match self.attempt(&text) {
                Ok(()) => {
                    if unreachable_said {
                        (self.say)(&format!("the witness {} is there again", self.host));
                    }
                    return Ok(());
                }
                Err(why) => why,
            };
            if !unreachable_said {
                (self.say)(&format!("the witness {} cannot be reached ({why}): the soak waits for it", self.host));
                unreachable_said = true;
            }
            let pause = Instant::now();
            while pause.elapsed() < PAUSE {
                if self.interrupts.end() {
                    return Err(unreachable(&self.host, &why));
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }

    fn attempt(&self, text: &str) -> Result<(), String> {
        let mut place = self.line.borrow_mut();
        let mut line = match place.take() {
            Some(line) => line,
            None => self.connect()?,
        };
        let sent = line.to.write_all(text.as_bytes()).and_then(|()| line.to.flush());
        if sent.is_err() || !line.hears("kept") {
            return Err(line.ended());
        }
        *place = Some(line);
        Ok(())
    }
}

fn unreachable(host: &str, why: &str) -> Failure {
    Failure::environment(format!("--witness {host}: {why}"))
        .remedy("ssh must get there without a question: a key, and a host that is known (ssh-copy-id)")
}

/// The state of this id on a witness; without one, of the last soak that is not finished.
///
/// # Errors
/// It cannot be reached, or has no such state.
pub fn load((host, directory): &(String, String), id: &str) -> Result<SoakState, Failure> {
    let mut child = ssh(host, GIVES, &[directory]).spawn().map_err(|e| unreachable(host, &e.to_string()))?;
    drop(child.stdin.take());
    let mut text = String::new();
    if let Some(from) = child.stdout.take() {
        let read = from.take(MOST_BYTES).read_to_string(&mut text);
        read.map_err(|e| unreachable(host, &e.to_string()))?;
    }
    if text.is_empty() {
        return Err(unreachable(host, &format!("no state in {directory}/soaks ({})", reason(child))));
    }
    drop(reason(child));
    let states = text.split("# ").filter_map(|part| part.split_once(".json\n"));
    let mut states: Vec<(&str, &str)> = states.filter(|(name, _)| id.is_empty() || *name == id).collect();
    states.sort_unstable();
    let mut last = None;
    for (name, text) in states.into_iter().rev() {
        match SoakState::parse(name, text, &format!("{host}:{directory}/soaks/{name}.json")) {
            Ok(state) if !id.is_empty() || !state.finished => return Ok(state),
            Ok(_) => {}
            Err(why) => last = last.or(Some(why)),
        }
    }
    Err(last.unwrap_or_else(|| Failure::usage(format!("there is no soak on {host} that could be resumed"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_before_any_slash_is_another_machine() {
        let is = |text| remote(text).map(|(host, directory)| format!("{host} {directory}"));
        assert_eq!(is("me@nas:soaks").as_deref(), Some("me@nas soaks"));
        assert_eq!(is("nas:/var/witness").as_deref(), Some("nas /var/witness"));
        assert_eq!(is("nas:").as_deref(), Some("nas .local/share/narrows"));
        assert_eq!(is("/mnt/a:b"), None);
        assert_eq!(is("./a:b"), None);
        assert_eq!(is(":x"), None);
        assert_eq!(is("-oProxyCommand=x:").as_deref(), Some("oProxyCommand=x .local/share/narrows"));
        assert_eq!(quoted("a'b"), r"'a'\''b'");
    }
}
