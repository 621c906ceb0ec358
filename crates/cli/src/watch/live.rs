//! `narrows watch --live`: the full screen, until q, Ctrl-C or the last interval.

use super::pause;
use super::screen::Screen;
use super::subject::Subject;
use model::Failure;
use report::{LiveTitle, Style, WatchTick, WatchedLayer, live_screen};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Intervals that are remembered; the widest sparkline.
const HISTORY: usize = 512;
const ESCAPE: u8 = 0x1b;

/// What the watching thread says.
struct Look {
    tick: WatchTick,
    layers: Vec<WatchedLayer>,
}

/// Draws until it is over. The looks are taken by another thread: a counter that does not answer, as of a disk that
/// hangs, must not keep the terminal.
pub fn watch(
    mut subject: Subject,
    target: &str,
    interval: Duration,
    count: Option<u64>,
    style: &Style,
) -> Result<(), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let suspend = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        register(signal, &stop)?;
    }
    register(SIGTSTP, &suspend)?;
    let path = report::watch_layers_line("", subject.layers(), &Style { width: 400, ..*style });
    let path = if subject.missing().is_empty() { path } else { format!("{path}; not all could be seen") };
    let every = format!("{} s", interval.as_secs_f64());
    let title = LiveTitle { target, interval: &every, path: &path };
    let screen = Screen::take()?;
    let (send, looks) = sync_channel(1);
    let look = move || {
        let mut next = Instant::now();
        loop {
            let tick = subject.look();
            if send.send(Look { tick, layers: subject.layers().to_vec() }).is_err() {
                return;
            }
            next = super::after(next, interval);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    };
    std::thread::Builder::new().name("observer".into()).spawn(look).map_err(|e| {
        Failure::environment(format!("no thread that looks at the machine: {e}")).remedy(
            "narrows watch without --live needs one thread only; or raise ulimit -u, or pids.max of the control group",
        )
    })?;
    let drawing = Drawing { screen, looks, title, style, count };
    drawing.until(&stop, &suspend)
}

fn register(signal: i32, flag: &Arc<AtomicBool>) -> Result<(), Failure> {
    signal_hook::flag::register(signal, Arc::clone(flag))
        .map(drop)
        .map_err(|e| Failure::environment(format!("cannot install a handler for signal {signal}: {e}")))
}

struct Drawing<'a> {
    screen: Screen,
    looks: Receiver<Look>,
    title: LiveTitle<'a>,
    style: &'a Style,
    count: Option<u64>,
}

impl Drawing<'_> {
    fn until(self, stop: &AtomicBool, suspend: &AtomicBool) -> Result<(), Failure> {
        let stdin = std::io::stdin();
        let keys = stdin.is_terminal().then(|| stdin.as_fd());
        let mut history: Vec<WatchTick> = Vec::new();
        let mut layers = Vec::new();
        let mut seen = 0;
        let mut size = (0, 0);
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if suspend.swap(false, Ordering::Relaxed) {
                self.screen.leave();
                // The handler took the place of the default, so the stop is made by hand.
                let _ = kill_process(getpid(), Signal::STOP);
                if self.screen.enter().is_err() {
                    return Ok(());
                }
                size = (0, 0);
            }
            let fresh = match self.looks.recv_timeout(Duration::ZERO) {
                Ok(look) => {
                    if history.len() == HISTORY {
                        history.remove(0);
                    }
                    history.push(look.tick);
                    layers = look.layers;
                    seen += 1;
                    true
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::internal("the watching thread ended"));
                }
            };
            let size_now = self.screen.size();
            if fresh || size_now != size {
                size = size_now;
                let style = Style { width: size.0, ..*self.style };
                let lines = live_screen(&self.title, &history, &layers, &style, size.1);
                if let Err(error) = self.screen.draw(&lines) {
                    let gone = pause::is_reader_gone(&error);
                    let failure = || Failure::environment(format!("cannot draw: {error}"));
                    return if gone { Ok(()) } else { Err(failure()) };
                }
            }
            if self.count.is_some_and(|count| seen >= count) {
                return Ok(());
            }
            let look_again = Instant::now() + Duration::from_millis(50);
            if matches!(pause::key(look_again, keys), Some(b'q' | b'Q' | ESCAPE)) {
                return Ok(());
            }
        }
    }
}
