//! What the program waits for when it was asked to end, and says so: a device that does not answer must not look like a
//! program that does not listen.

use engine::Control;
use model::{PhasePlan, StreamPlan};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use sys::SignalMaskGuard;

/// The signals that ask the program to end.
const SIGNALS: [i32; 3] = [SIGINT, SIGHUP, SIGTERM];
/// Whoever ends within this time needs no explanation.
const PATIENCE: Duration = Duration::from_millis(300);

/// What the program is at.
#[derive(Debug)]
pub struct Waiting {
    control: Arc<Control>,
    /// What a second signal does, as the end of a sentence.
    second: &'static str,
    /// Whether a thread is there that takes the signals.
    has_signal_thread: bool,
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    target: String,
    what: Option<What>,
}

#[derive(Debug)]
struct What {
    kind: Kind,
    /// Operations that had completed at the last look, and when that changed.
    operations: u64,
    changed: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Operations of a phase, by what each is called.
    Phase(&'static str),
    /// What was written is made durable.
    Durable,
    /// The target is opened, and maybe probed.
    Opening,
}

fn kind(phase: &PhasePlan) -> Kind {
    let all = |is: fn(&StreamPlan) -> bool| !phase.streams.is_empty() && phase.streams.iter().all(is);
    Kind::Phase(if all(|s| !s.changes_data()) {
        "read"
    } else if all(|s| s.changes_data() && !s.reads()) {
        "write"
    } else {
        "operation"
    })
}

impl Waiting {
    /// Listens for signals in a thread of its own, and says what is waited for after the first one. `ends`: whether the
    /// second one ends the program at once, else after settings were put back. Where the system gives no thread, signals
    /// are taken by whichever there is, and nothing is said.
    pub fn listen(control: &Arc<Control>, ends: bool) -> Arc<Self> {
        let second = if ends { "leaves at once" } else { "restores settings and ends" };
        let waiting = |has_signal_thread| {
            Arc::new(Self { control: Arc::clone(control), second, has_signal_thread, now: Mutex::default() })
        };
        let Ok(signals) = pipe() else { return waiting(false) };
        let waiting_with_thread = waiting(true);
        let listener = Arc::clone(&waiting_with_thread);
        let listen = move || listener.say(signals);
        match std::thread::Builder::new().name("signals".into()).spawn(listen) {
            Ok(_) => waiting_with_thread,
            Err(_) => waiting(false),
        }
    }

    fn say(&self, mut signals: UnixStream) {
        if signals.read_exact(&mut [0]).is_err() {
            return;
        }
        let text = loop {
            std::thread::sleep(PATIENCE);
            if let Some(text) = self.text() {
                break text;
            }
        };
        // Whoever closed it does not want to know.
        let _ = std::io::stderr().write_all(format!("\n{text}\n").as_bytes());
        // This thread takes the next signal too; it ends with the program.
        while signals.read_exact(&mut [0]).is_ok() {}
    }

    /// The signals that its thread takes.
    pub fn signals(&self) -> &'static [i32] {
        if self.has_signal_thread { &SIGNALS } else { &[] }
    }

    /// While it lives, signals do not come to the calling thread, which may wait for a device where nothing wakes it.
    pub fn mask_signals(&self) -> Option<SignalMaskGuard> {
        // Without it a signal comes late where a device hangs, as it would without this.
        self.has_signal_thread.then(|| SignalMaskGuard::new(&SIGNALS).ok()).flatten()
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is measured, by its name.
    pub fn target(&self, name: &str) {
        self.now().target = name.to_owned();
    }

    /// A target of this name is about to be opened, and maybe probed.
    pub fn opening(&self, name: &str) {
        self.target(name);
        self.begin(Kind::Opening);
    }

    /// A phase begins.
    pub fn phase(&self, plan: &PhasePlan) {
        self.begin(kind(plan));
    }

    /// What was written is about to be made durable.
    pub fn durable(&self) {
        self.begin(Kind::Durable);
    }

    fn begin(&self, kind: Kind) {
        self.now().what = Some(What { kind, operations: 0, changed: Instant::now() });
    }

    /// It has ended.
    pub fn over(&self) {
        self.now().what = None;
    }

    /// Looks how far the phase is; often, so that it is known since when it stands still.
    pub fn look(&self) {
        let operations = self.control.progress.operations.load(Ordering::Relaxed);
        if let Some(what) = &mut self.now().what
            && what.operations != operations
        {
            (what.operations, what.changed) = (operations, Instant::now());
        }
    }

    /// What is waited for; `None` if it is nothing.
    fn text(&self) -> Option<String> {
        let now = self.now();
        let What { kind, changed, .. } = now.what.as_ref()?;
        let (target, since) = (&now.target, changed.elapsed().as_secs());
        let what = match (kind, self.control.progress.in_flight()) {
            (Kind::Opening, _) => format!("{target} to be opened and probed"),
            (Kind::Durable, _) => format!("what was written to be durable on {target}"),
            // A call that has not come back is in flight, and not counted.
            (Kind::Phase(name), 0 | 1) => format!("1 {name} in flight on {target}"),
            (Kind::Phase(name), n) => format!("{n} {name}s in flight on {target}"),
        };
        Some(format!("waiting for {what} since {since} s; a second Ctrl-C {}", self.second))
    }
}

fn pipe() -> std::io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    for signal in SIGNALS {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::BlockPlan;
    use model::Operation;

    #[test]
    fn it_says_what_it_waits_for_and_how_to_leave() {
        let control = Arc::new(Control::default());
        let second = "leaves at once";
        let waiting = Waiting { control, second, has_signal_thread: false, now: Mutex::default() };
        waiting.target("/dev/sdx");
        assert_eq!(waiting.text(), None);
        let write = StreamPlan {
            kind: BlockPlan { operation: Operation::Write, ..BlockPlan::default() }.into(),
            ..StreamPlan::default()
        };
        let phase = |streams| PhasePlan { streams, ..PhasePlan::default() };
        waiting.phase(&phase(vec![write.clone()]));
        waiting.now().what.as_mut().unwrap().changed -= Duration::from_secs(12);
        let said = "waiting for 1 write in flight on /dev/sdx since 12 s; a second Ctrl-C leaves at once";
        assert_eq!(waiting.text().as_deref(), Some(said));
        waiting.control.progress.operations.store(7, Ordering::Relaxed);
        waiting.look();
        assert!(waiting.text().unwrap().contains("since 0 s"));
        waiting.phase(&phase(vec![StreamPlan::default()]));
        assert!(waiting.text().unwrap().contains("1 read in flight"));
        waiting.phase(&phase(vec![StreamPlan::default(), write]));
        assert!(waiting.text().unwrap().contains("1 operation in flight"));
        waiting.durable();
        assert!(
            waiting.text().unwrap().starts_with("waiting for what was written to be durable on /dev/sdx since 0 s")
        );
        waiting.opening("/dev/sdy");
        assert!(waiting.text().unwrap().starts_with("waiting for /dev/sdy to be opened and probed since 0 s"));
        waiting.over();
        assert_eq!(waiting.text(), None);
        assert!(waiting.mask_signals().is_none(), "nobody would take them");
    }
}
