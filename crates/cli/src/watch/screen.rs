//! The terminal as a full screen, given back as it was on every way out: the end, a signal, a panic, Ctrl-Z.

use model::Failure;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;

/// How the terminal was, while it is a full screen. A panic in any thread needs it, hence static.
static TAKEN: Mutex<Option<Before>> = Mutex::new(None);

struct Before {
    /// Settings of the terminal that keys come from; `None` if that is none.
    input: Option<Termios>,
}

/// Another buffer without scroll-back, no cursor (ECMA-48 and xterm's private modes 1049 and 25).
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// The full screen; dropping it gives the terminal back.
pub struct Screen(());

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// There is none, or it cannot be drawn on.
    pub fn take() -> Result<Self, Failure> {
        if !io::stdout().is_terminal() {
            let failure = Failure::refused("--live needs a terminal, and stdout is none");
            return Err(failure.remedy("leave out --live for a table, or take --csv or --json"));
        }
        if std::env::var("TERM").is_ok_and(|t| t == "dumb") {
            let failure = Failure::refused("--live needs a terminal that can be drawn on; TERM is dumb");
            return Err(failure.remedy("leave out --live for a table"));
        }
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // The message belongs on the terminal that stays.
            give_back();
            before(panic);
        }));
        let screen = Self(());
        screen.enter().map_err(|e| Failure::environment(format!("cannot use the terminal: {e}")))?;
        Ok(screen)
    }

    /// Makes the terminal a full screen.
    pub fn enter(&self) -> io::Result<()> {
        let input = tcgetattr(io::stdin()).ok();
        if let Some(settings) = &input {
            let mut keys = settings.clone();
            // Keys at once and unseen. Ctrl-C and Ctrl-Z stay signals, so that they work however busy we are.
            keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            tcsetattr(io::stdin(), OptionalActions::Now, &keys)?;
        }
        *taken() = Some(Before { input });
        write(ENTER)
    }

    /// Gives the terminal back for as long as the program is stopped.
    pub fn leave(&self) {
        give_back();
    }

    /// Columns and rows now.
    pub fn size(&self) -> (usize, usize) {
        let size = tcgetwinsize(io::stdout()).ok();
        let of = |n: Option<u16>, otherwise: usize| n.map(usize::from).filter(|n| *n > 0).unwrap_or(otherwise);
        (of(size.map(|s| s.ws_col), 80), of(size.map(|s| s.ws_row), 24))
    }

    /// Draws these lines from the top, all at once where the terminal can (synchronised output, mode 2026).
    pub fn draw(&self, lines: &[String]) -> io::Result<()> {
        let mut frame = String::from("\x1b[?2026h\x1b[H");
        for (i, line) in lines.iter().enumerate() {
            if i > 0 {
                frame.push_str("\r\n");
            }
            frame.push_str(line);
            frame.push_str("\x1b[K");
        }
        frame.push_str("\x1b[J\x1b[?2026l");
        write(&frame)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn taken() -> std::sync::MutexGuard<'static, Option<Before>> {
    // Whoever panicked while holding it left a whole value.
    TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The terminal as it was; nothing if it was not taken.
fn give_back() {
    if let Some(before) = taken().take() {
        // If the terminal is gone there is nothing to give back.
        let _ = write(LEAVE);
        if let Some(settings) = before.input {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &settings);
        }
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    #[ignore = "panics on purpose; the test below runs it on a terminal of its own"]
    fn takes_the_terminal_and_panics() {
        let screen = Screen::take().unwrap();
        screen.draw(&["drawn".to_owned()]).unwrap();
        std::thread::spawn(|| panic!("in another thread")).join().unwrap_err();
        panic!("in this one");
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_speaks() {
        let program = std::env::current_exe().unwrap();
        let test = "watch::screen::tests::takes_the_terminal_and_panics";
        // What terminal settings are left is asked on the same terminal.
        let shell = format!("{} --exact {test} --ignored --nocapture; stty -a", program.display());
        let mut script = Command::new("script");
        script.args(["-qec", &shell, "/dev/null"]).env("TERM", "xterm").stdin(Stdio::null());
        let Ok(output) = script.output() else {
            println!("SKIPPED: there is no script(1) of util-linux to make a terminal");
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let at = |what: &str| said.find(what).unwrap_or_else(|| panic!("no {what:?} in {said:?}"));
        assert!(at(ENTER) < at("drawn") && at("drawn") < at(LEAVE), "{said:?}");
        assert!(at(LEAVE) < at("in another thread") && at("in another thread") < at("in this one"), "{said:?}");
        assert_eq!(said.matches(LEAVE).count(), 1, "given back once: {said:?}");
        let settings = &said[at("in this one")..];
        assert!(settings.contains(" icanon") && settings.contains(" echo "), "{settings:?}");
    }
}
