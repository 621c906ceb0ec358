//! The life of a guest beside a machine: it has an emulator and a thread of its own, which starts it, watches its console, and ends it when the
//! session asks for that, or with it.

use super::beside::{GuestsBeside, Shared};
use super::interrupts;
use super::machine::Machine;
use super::network;
use super::qemu::{Console, Emulator};
use super::session_options::SessionOptions;
use super::watch::Watch;
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// All that it takes to start one.
pub struct Boot {
    /// Its name in the machine's file.
    pub name: String,
    /// What it is: the machine, but for what differs.
    pub machine: Machine,
    pub emulator: PathBuf,
    pub arguments: Vec<OsString>,
    /// Number of its lines on the console.
    pub nonce: String,
    /// Where its console is kept.
    pub console_log: PathBuf,
    /// Where what the emulator itself says is kept.
    pub said: PathBuf,
    /// Where the hub listens for it, if it is on a network.
    pub socket: Option<PathBuf>,
}

/// Starts them all.
///
/// # Errors
/// The system gives no thread.
pub fn start(boots: Vec<Boot>) -> anyhow::Result<GuestsBeside> {
    let mut all = GuestsBeside::default();
    for boot in boots {
        let shared = Arc::<Shared>::default();
        let (name, own) = (boot.name.clone(), Arc::clone(&shared));
        let thread = std::thread::Builder::new().name(name.clone()).spawn(move || {
            if let Err(error) = conduct(&boot, &own) {
                own.fail(error);
            }
        });
        let thread = thread.with_context(|| format!("cannot start a thread for {name}"))?;
        all.add(name, shared, thread);
    }
    Ok(all)
}

/// The life of one guest.
fn conduct(boot: &Boot, shared: &Shared) -> anyhow::Result<()> {
    if let Some(socket) = &boot.socket {
        let is_over = || shared.is_to_end() || interrupts::is_interrupted();
        if !network::wait_for_hub(socket, is_over).with_context(|| boot.machine.name.clone())? {
            return Ok(());
        }
    }
    let said = File::create(&boot.said).with_context(|| format!("cannot create {}", boot.said.display()))?;
    let mut emulator = Emulator::start(&boot.emulator, &boot.arguments, Console::Piped, said)?;
    let options = SessionOptions::default();
    let watch = Watch::new(&boot.machine, &boot.nonce, &boot.console_log, &options, &mut emulator)?;
    watch.of_guest_beside(shared).until_done(&mut emulator, &boot.said)?;
    emulator.end();
    if shared.is_to_end() {
        return Ok(());
    }
    bail!(
        "{}: it ended before the machine that it is beside; the console is kept in {}",
        boot.machine.name,
        boot.console_log.display()
    )
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::path::Path;
    use std::time::{Duration, Instant};

    const MACHINE: &str = r#"title = "m"
machine = "pc"
arch = "amd64"
kernel = "linux-image-amd64"
memory = "512MiB"
console = "ttyS0"
transport = "virtio-serial"
boot-limit = "2s"
run-limit = "1ms"
"#;

    /// A guest that is a script of the host's shell.
    pub fn boot(directory: &Path, name: &str, script: &str) -> Boot {
        Boot {
            name: name.into(),
            machine: Machine::parse(name, MACHINE).expect("sound"),
            emulator: "/bin/sh".into(),
            arguments: ["-c", script].iter().map(OsString::from).collect(),
            nonce: "7".into(),
            console_log: directory.join(format!("{name}.console")),
            said: directory.join(format!("{name}.said")),
            socket: None,
        }
    }

    /// What is wrong with one of them, as soon as something is.
    fn failure(guests: &GuestsBeside) -> String {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            if let Err(error) = guests.check() {
                return error.to_string();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("nothing failed");
    }

    pub fn lives(id: &str) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
        state.contains(") S ") || state.contains(") R ")
    }

    #[test]
    fn guests_run_until_they_are_asked_to_end_or_are_dropped() {
        let directory = tempfile::tempdir().expect("a directory");
        let script = |name: &str| {
            let id = directory.path().join(format!("{name}.id")).display().to_string();
            boot(directory.path(), name, &format!("echo $$ > {id}; echo '@lab-7 ready'; while :; do sleep 0.05; done"))
        };
        let guests = start(vec![script("one"), script("two")]).expect("threads");
        while !guests.not_ready().is_empty() {
            guests.check().expect("both come up");
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = |name: &str| std::fs::read_to_string(directory.path().join(format!("{name}.id"))).expect("its id");
        let (one, two) = (id("one"), id("two"));
        assert!(lives(&one) && lives(&two));
        assert!(guests.end("three").expect_err("no such guest").to_string().contains("'three'"));
        guests.end("one").expect("there is one");
        while lives(&one) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // That it was asked to end is no failure, and the other goes on, for longer than a command may take.
        guests.check().expect("as asked");
        assert!(lives(&two));
        drop(guests);
        assert!(!lives(&two));
        let console = std::fs::read_to_string(directory.path().join("two.console")).expect("kept");
        assert_eq!(console, "@lab-7 ready\n");
    }

    #[test]
    fn a_guest_that_does_not_come_up_or_ends_is_named() {
        let directory = tempfile::tempdir().expect("a directory");
        for (script, words) in [
            ("sleep 600", "one: booting took longer than 2 s"),
            ("echo '@lab-7 setup-failed'; echo '@lab-7 done'", "one: its setup failed"),
            ("echo '@lab-7 ready'; echo 'Kernel panic - not syncing: x'", "one: Kernel panic - not syncing: x"),
            ("echo '@lab-7 ready'; echo '@lab-7 done'", "one: it ended before the machine"),
            ("echo 'no such device' >&2; exit 1", "no such device"),
        ] {
            let guests = start(vec![boot(directory.path(), "one", script)]).expect("a thread");
            let said = failure(&guests);
            assert!(said.contains(words) && said.starts_with("one: "), "{script}: {said}");
        }
    }

    #[test]
    fn a_panic_of_the_session_ends_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let id = directory.path().join("id");
        let script = format!("echo $$ > {}; echo '@lab-7 ready'; sleep 600", id.display());
        let guests = start(vec![boot(directory.path(), "one", &script)]).expect("a thread");
        while !guests.not_ready().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let session = std::thread::spawn(move || {
            let _guests = guests;
            panic!("as a session may");
        });
        assert!(session.join().is_err());
        assert!(!lives(&std::fs::read_to_string(id).expect("its id")));
    }
}
