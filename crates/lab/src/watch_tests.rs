//! Guests that are shell scripts: what the session makes of what they say and how they end.

use super::super::guest_life::tests::{boot, lives};
use super::super::qemu::Console;
use super::*;
use std::ffi::OsString;

#[test]
fn a_failure_shows_the_end_of_the_console() {
    let failure = GuestFailure {
        machine: "m".into(),
        what: "Kernel panic".into(),
        console: "/x/m.console".into(),
        tail: vec!["x".repeat(100_000), "two \u{1b}[2J".into()],
    };
    let text = failure.to_string();
    assert!(text.starts_with("m: Kernel panic; ") && text.ends_with("x\n    two \u{fffd}[2J"), "{text}");
    assert!(text.len() < 1000, "{text}");
}

#[test]
fn a_console_that_is_kept_by_another_is_read_to_its_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("console");
    let mut writer = File::create(&path).expect("a file");
    let ended = Arc::<AtomicBool>::default();
    let lines = lines_of(Growing { file: File::open(&path).expect("the file"), ended: Arc::clone(&ended) });
    write!(writer, "one\ntw").expect("written");
    assert_eq!(lines.recv().expect("a line"), "one");
    write!(writer, "o\nthree").expect("written");
    assert_eq!(lines.recv().expect("a line"), "two");
    ended.store(true, Ordering::Release);
    assert_eq!(lines.recv().expect("a line"), "three");
    assert!(lines.recv().is_err());
}

#[test]
fn bytes_that_are_no_text_are_lines_all_the_same() {
    let lines = lines_of(&b"\xff\xfe\0a\nnext\n"[..]);
    assert_eq!(lines.recv().expect("a line"), "\u{fffd}\u{fffd}\0a");
    assert_eq!(lines.recv().expect("a line"), "next");
}
const MACHINE: &str = r#"title = "m"
machine = "pc"
arch = "amd64"
kernel = "linux-image-amd64"
memory = "512MiB"
console = "ttyS0"
transport = "virtio-serial"
"#;

/// What becomes of a guest whose emulator is this script; `more` is said of the machine.
fn watched(more: &str, script: &str) -> anyhow::Result<ConsoleResult> {
    watched_beside(&GuestsBeside::default(), more, script)
}

/// The same with guests beside it.
fn watched_beside(guests: &GuestsBeside, more: &str, script: &str) -> anyhow::Result<ConsoleResult> {
    let machine = Machine::parse("m", &format!("{MACHINE}{more}")).expect("a machine");
    let directory = tempfile::tempdir().expect("a directory");
    let (log, said) = (directory.path().join("log"), directory.path().join("said"));
    let complaints = File::create(&said).expect("a file");
    let arguments: Vec<OsString> = ["-c", script].iter().map(OsString::from).collect();
    let mut emulator = Emulator::start(Path::new("/bin/sh"), &arguments, Console::Piped, complaints).expect("sh");
    let watch = Watch::new(&machine, "7", &log, &SessionOptions::default(), &mut emulator).expect("a log");
    let watched = watch.with_guests_beside(guests).until_done(&mut emulator, &said);
    emulator.end();
    assert!(emulator.ended().expect("its state").is_some());
    watched
}

fn failure(more: &str, script: &str) -> String {
    let error = watched(more, script).err().expect("a failure");
    assert!(error.is::<GuestFailure>(), "{error:#}");
    error.to_string()
}

#[test]
fn a_guest_that_is_done_has_its_exit_code_and_its_notes() {
    let script = "echo booting; echo '@lab-7 note a module is old'; echo '@lab-7 ready'; echo text; echo '@lab-7 exit 4'; \
                  echo '@lab-7 results'; echo H4sI; echo '@lab-7 results-end'; echo '@lab-7 done'";
    let watched = watched("", script).expect("done");
    assert_eq!(
        (watched.exit, watched.notes, watched.results),
        (4, vec!["a module is old".into()], vec!["H4sI".into()])
    );
}

#[test]
fn a_board_that_only_halts_is_not_waited_for() {
    let watched = watched("powers-off = false\n", "echo '@lab-7 ready'; echo '@lab-7 done'; sleep 600").expect("done");
    assert_eq!(watched.exit, 0);
}

#[test]
fn a_panic_is_told_when_the_emulator_ends_with_it() {
    let panic = "echo '@lab-7 ready'; echo '[ 1.0] Kernel panic - not syncing: sysrq'; echo '[ 1.1] trace'";
    let said = failure("", panic);
    assert!(said.starts_with("m: Kernel panic - not syncing: sysrq; ") && said.ends_with("trace"), "{said}");
}

#[test]
fn a_command_may_print_the_words_of_a_panic() {
    let script = "echo '@lab-7 ready'; echo 'Kernel panic - not syncing: from a log'; echo '@lab-7 exit 0'; \
                  echo '@lab-7 done'";
    assert_eq!(watched("", script).expect("done").exit, 0);
}

#[test]
fn a_guest_that_hangs_is_ended_at_its_limit() {
    let silent = failure("boot-limit = \"300ms\"\n", "sleep 600");
    assert!(silent.contains("booting took longer") && silent.contains("without a word"), "{silent}");
    let busy = "echo '@lab-7 ready'; while :; do echo busy; sleep 0.02; done";
    let said = failure("run-limit = \"300ms\"\n", busy);
    assert!(said.contains("running took longer") && said.ends_with("busy"), "{said}");
}

#[test]
fn an_emulator_that_ends_too_early_has_the_word() {
    let said = failure("", "echo 'qemu: no such device' >&2; exit 1");
    assert!(said.contains("exit status: 1") && said.contains("no such device"), "{said}");
    let killed = failure("", "echo '@lab-7 ready'; kill -9 $$");
    assert!(killed.contains("signal: 9") && killed.contains("it printed nothing"), "{killed}");
}

#[test]
fn a_device_that_does_not_come_and_output_that_does_not_fit_are_failures() {
    let missing = failure("", "echo '@lab-7 missing /dev/sdb'; echo '@lab-7 done'");
    assert!(missing.contains("/dev/sdb did not appear"), "{missing}");
    let lost = failure("", "echo '@lab-7 ready'; echo '@lab-7 lost stdout'; echo '@lab-7 exit 0'; echo '@lab-7 done'");
    assert!(lost.contains("stdout did not fit"), "{lost}");
}

#[test]
fn a_guest_beside_it_that_fails_is_its_failure_with_that_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let broken = boot(directory.path(), "server", "echo '@lab-7 setup-failed'; echo '@lab-7 done'");
    let guests = super::super::guest_life::start(vec![broken]).expect("a thread");
    let error = watched_beside(&guests, "", "echo '@lab-7 ready'; sleep 600").err().expect("a failure");
    assert!(error.is::<GuestFailure>() && error.to_string().starts_with("server: its setup failed"), "{error:#}");
    let silent =
        super::super::guest_life::start(vec![boot(directory.path(), "client", "sleep 600")]).expect("a thread");
    let error = watched_beside(&silent, "boot-limit = \"300ms\"\n", "echo waits; sleep 600").err().expect("a limit");
    assert!(error.to_string().contains("it hangs (not ready: client)"), "{error:#}");
}

#[test]
fn a_guest_beside_it_is_ended_when_it_asks_for_that() {
    let directory = tempfile::tempdir().expect("a directory");
    let id = directory.path().join("id");
    let served = format!("echo $$ > {}; echo '@lab-7 ready'; sleep 600", id.display());
    let guests = super::super::guest_life::start(vec![boot(directory.path(), "one", &served)]).expect("a thread");
    // As the machine does, whose emulator sees by the network that the other is gone.
    let gone = format!("until [ -s {0} ]; do sleep 0.02; done; one=$(cat {0})", id.display());
    let script = format!(
        "{gone}; echo '@lab-7 ready'; echo '@lab-7 end one'; while kill -0 $one; do sleep 0.02; done; echo '@lab-7 exit 5'; echo '@lab-7 done'"
    );
    assert_eq!(watched_beside(&guests, "", &script).expect("done").exit, 5);
    assert!(!lives(&fs::read_to_string(&id).expect("its id")));
    let unknown = watched_beside(&guests, "", "echo '@lab-7 ready'; echo '@lab-7 end two'; sleep 600").err();
    assert!(unknown.expect("no such guest").to_string().contains("there is no guest 'two'"));
}
