//! What the user wants done when something is found.

use model::DataFinding;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer it is not waited for: the soak goes on beside it.
const MOST: Duration = Duration::from_secs(60);

/// Runs the command with the finding on its standard input, and waits for it: what it looks at is as it was found.
pub fn call(command: &str, finding: &DataFinding, say: &dyn Fn(&str)) {
    let said = |what: String| say(&format!("--hook: {what}"));
    let started = Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(e) => return said(e.to_string()),
    };
    if let (Some(mut input), Ok(json)) = (child.stdin.take(), serde_json::to_vec(finding)) {
        // One that does not read it has ended, or need not; a pipe holds this much.
        let _ = input.write_all(&json);
    }
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return,
            Ok(Some(status)) => return said(format!("ended with {status}")),
            Ok(None) if began.elapsed() < MOST => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => return said("runs for more than a minute; the soak goes on".to_owned()),
            Err(e) => return said(e.to_string()),
        }
    }
}
