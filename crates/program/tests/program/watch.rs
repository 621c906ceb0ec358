//! `narrows watch` on this machine. What a rate is depends on the machine; what a row is made of does not.

use crate::program::{BINARY, Ended, Scratch, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Whether there is a disk whose counters can be read; where not, the reason is printed.
fn has_disks() -> bool {
    let counted = std::fs::read_to_string("/proc/diskstats").unwrap_or_default().lines().any(|l| {
        let fields: Vec<&str> = l.split_ascii_whitespace().collect();
        fields.get(3).is_some_and(|reads| *reads != "0")
    });
    if !counted {
        println!("SKIPPED: no disk of this machine was ever read, or /proc/diskstats is hidden");
    }
    counted
}

#[test]
fn a_document_a_line_since_boot_first() {
    if !has_disks() {
        return;
    }
    let scratch = Scratch::new();
    let ended = scratch.run(["watch", "--json", "--count", "3", "--interval", "100ms"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let ticks: Vec<Value> = ended.stdout.lines().map(|l| serde_json::from_str(l).expect("a document a line")).collect();
    assert_eq!(ticks.len(), 3);
    for (n, tick) in ticks.iter().enumerate() {
        assert_eq!(tick["schema"], "narrows/watch/1");
        assert_eq!(tick["since_boot"], n == 0, "{tick}");
        assert!(tick["target"].is_null());
        assert!(tick["interval_s"].as_f64().unwrap() > 0.05, "{tick}");
        assert!(tick["time"].as_str().unwrap().ends_with('Z'));
        let cpu = tick["cpu"].as_object().expect("shares of the processors");
        let sum: f64 = cpu.values().map(|v| v.as_f64().unwrap()).sum();
        assert!((sum - 100.0).abs() < 1e-6, "{sum}");
    }
    let layers = ticks[0]["layers"].as_array().unwrap();
    assert!(!layers.is_empty(), "{}", ticks[0]);
    for layer in layers {
        assert_eq!(layer["state"], "watched", "{layer}");
        assert!(layer["reads_per_s"].as_f64().is_some_and(|r| r >= 0.0), "{layer}");
        let util = &layer["util_percent"];
        assert!(util.is_null() || (0.0..=100.0).contains(&util.as_f64().unwrap()), "{layer}");
    }
}

#[test]
fn the_table_has_a_header_once_and_fits_eighty_columns() {
    if !has_disks() {
        return;
    }
    let scratch = Scratch::new();
    let ended = scratch.run(["watch", "-n", "4", "-i", "50ms"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout.matches("rKiB/s").count(), 1, "{}", ended.stdout);
    assert_eq!(ended.stdout.matches("since boot").count(), 1, "{}", ended.stdout);
    for line in ended.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn csv_in_three_dialects_with_columns_that_hold() {
    if !has_disks() {
        return;
    }
    let scratch = Scratch::new();
    for (option, lines_above, first) in
        [("--csv", 1, "time,since_boot,"), ("--csv=iostat", 1, "timestamp,%user,"), ("--csv=dstat", 7, "\"Dstat ")]
    {
        let ended = scratch.run(["watch", option, "-n", "3", "-i", "50ms"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{option}");
        assert!(ended.stdout.starts_with(first), "{option}: {}", ended.stdout);
        let lines: Vec<&str> = ended.stdout.lines().skip(lines_above - 1).collect();
        assert!(lines.len() >= 4, "{option}: {}", ended.stdout);
        let columns = lines[0].split(',').count();
        assert!(lines.iter().all(|l| l.split(',').count() == columns), "{option}: {}", ended.stdout);
    }
}

/// What the kernel counted between two rows is what the rows say: the sum over the intervals is the difference of the
/// counters, whoever else uses the disk.
#[test]
fn rows_add_up_to_the_counters() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let name = target.to_str().unwrap();
    let mut child = scratch
        .command(["watch", name, "--json", "--count", "4", "--interval", "200ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else {
        println!("SKIPPED: nothing below {name} counts its traffic");
        child.wait().unwrap();
        return;
    };
    let bytes: Vec<u8> = (0..4 << 20).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let mut file = std::fs::File::create(target.join("data")).unwrap();
    file.write_all(&bytes).unwrap();
    file.sync_all().unwrap();
    let rest: Vec<Value> = lines.map(|l| serde_json::from_str(&l.unwrap()).unwrap()).collect();
    assert!(child.wait().unwrap().success());
    let first: Value = serde_json::from_str(&first).unwrap();
    // The lowest layer is where it must arrive, unless the file system compresses or writes later than it says.
    let lowest = first["layers"].as_array().unwrap().len() - 1;
    let written: f64 = rest
        .iter()
        .map(|t| {
            t["layers"][lowest]["write_bytes_per_s"].as_f64().unwrap_or(0.0) * t["interval_s"].as_f64().unwrap_or(0.0)
        })
        .sum();
    assert_eq!(rest.len(), 3);
    assert!(written >= f64::from(4 << 20) * 0.99, "{written} of {} bytes", bytes.len());
}

#[test]
fn what_cannot_be_watched_is_refused_with_the_reason() {
    let scratch = Scratch::new();
    let document = |args: &[&str], code: i32| {
        let document = scratch.json([args, &["--json"]].concat(), code);
        assert_eq!(document["schema"], "narrows/error/1", "{document}");
        document["message"].as_str().unwrap().to_owned()
    };
    assert!(document(&["watch", "sim:nvme"], 3).contains("sim:nvme has no counters"));
    assert!(document(&["watch", "null:"], 3).contains("null: has no counters"));
    assert!(document(&["watch", "/no/such/place"], 2).contains("/no/such/place"));
    assert!(document(&["watch", "no-such-disk"], 2).contains("no-such-disk"));
    let shm = std::fs::read_to_string("/proc/mounts").is_ok_and(|m| m.lines().any(|l| l.contains(" /dev/shm tmpfs ")));
    if shm {
        let said = scratch.json(["watch", "/dev/shm", "--json"], 3);
        assert!(said["message"].as_str().is_some_and(|m| m.contains("(tmpfs) is memory")), "{said}");
        assert!(said["remedy"].as_str().is_some_and(|r| r.contains("narrows check /dev/shm")), "{said}");
    } else {
        println!("SKIPPED: /dev/shm is no tmpfs here");
    }
    assert!(document(&["watch", "/dev/null"], 2).contains("character device"));
    assert!(document(&["watch", "--count", "0"], 2).contains("--count 0"));
    for bad in ["0", "0s", "1us", "2d", "fast", "-1s"] {
        assert!(document(&["watch", &format!("--interval={bad}")], 2).contains("--interval"), "{bad}");
    }
    assert!(document(&["watch", "--csv"], 2).contains("exclude"));
    assert!(document(&["watch", "--live"], 2).contains("exclude"));
    assert_eq!(scratch.run(["watch", "--csv", "--live"]).code, 2);
    let live = scratch.run(["watch", "--live"]);
    if live.stderr.contains("nothing below") {
        println!("SKIPPED: no disks here");
        return;
    }
    assert_eq!(live.code, 3, "{}", live.stderr);
    assert!(live.stderr.contains("terminal") && live.stdout.is_empty(), "{}", live.stderr);
}

/// The exit code, or a panic if it does not come.
fn waited(child: &mut Child) -> i32 {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("it did not end");
}

#[test]
fn signals_and_readers_that_go_away_end_it_with_0() {
    if !has_disks() {
        return;
    }
    let scratch = Scratch::new();
    for signal in [Some(Signal::INT), Some(Signal::TERM), Some(Signal::HUP), None] {
        let mut child = scratch
            .command(["watch", "--interval", "1h", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(serde_json::from_str::<Value>(&line).is_ok(), "the first row comes at once: {line}");
        match signal {
            Some(signal) => kill_process(Pid::from_child(&child), signal).unwrap(),
            // Nobody reads any more: it must not wait an hour to find out.
            None => drop(stdout),
        }
        assert_eq!(waited(&mut child), 0, "{signal:?}");
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(stderr, "", "{signal:?}");
    }
}

/// The command on a terminal of its own, which script(1) makes; `None` where it cannot.
fn on_terminal(scratch: &Scratch, rows: u32, args: &str) -> Option<Command> {
    let script = Command::new("script").arg("--version").output().ok().filter(|o| o.status.success());
    if script.is_none() {
        println!("SKIPPED: there is no script(1) of util-linux to make a terminal");
        return None;
    }
    let shell = format!("stty rows {rows} cols 90 && exec {BINARY} watch {args}");
    let mut wrapped = scratch.around("script");
    wrapped.args(["-qec", &shell, "/dev/null"]).env_remove("NO_COLOR").env("TERM", "xterm");
    wrapped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(wrapped)
}

const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

#[test]
fn the_header_comes_again_before_it_scrolls_away() {
    if !has_disks() {
        return;
    }
    let scratch = Scratch::new();
    let Some(mut command) = on_terminal(&scratch, 12, "--count 12 --interval 20ms --color never") else { return };
    let ended = Ended::of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(ended.stdout.matches("rKiB/s").count() >= 2, "{}", ended.stdout);
}

#[test]
fn the_full_screen_gives_the_terminal_back() {
    if !has_disks() {
        return;
    }
    let scratch = Scratch::new();
    let Some(mut command) = on_terminal(&scratch, 24, "--live --count 3 --interval 50ms") else { return };
    let ended = Ended::of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    let (enter, leave) = (ended.stdout.find(ENTER).unwrap(), ended.stdout.rfind(LEAVE).unwrap());
    assert!(enter < leave && leave + LEAVE.len() == ended.stdout.trim_end().len(), "{:?}", ended.stdout);
    assert!(
        ended.stdout.contains("util") && ended.stdout.contains('█') | ended.stdout.contains('▁'),
        "{}",
        ended.stdout
    );
}

/// A full screen on a terminal of its own, until it is drawn.
struct FullScreen {
    script: Child,
    keys: ChildStdin,
    /// Of our program, below script(1): signals go to it alone.
    pid: String,
    /// What was written, as it comes.
    output: Receiver<String>,
    seen: String,
}

impl FullScreen {
    fn start(scratch: &Scratch) -> Option<Self> {
        let command = on_terminal(scratch, 24, "--live --interval 50ms")?;
        // The shell says which process it becomes.
        let shell = command.get_args().nth(1)?.to_str()?.replace("exec ", "echo PID $$ && exec ");
        let mut script = scratch.around("script");
        script.args(["-qec", &shell, "/dev/null"]).env("TERM", "xterm");
        let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = script.stdout.take().unwrap();
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = stdout.read(&mut buffer) {
                let _ = send.send(String::from_utf8_lossy(&buffer[..n]).into_owned());
            }
        });
        let keys = script.stdin.take().unwrap();
        let mut screen = Self { script, keys, pid: String::new(), output, seen: String::new() };
        screen.until("q quits");
        let pid = screen.seen.split("PID ").nth(1).and_then(|p| p.split_ascii_whitespace().next());
        screen.pid = pid.unwrap().to_owned();
        Some(screen)
    }

    /// Waits until this was written.
    fn until(&mut self, what: &str) {
        self.until_with(what, || {});
    }

    /// The same, doing something again and again meanwhile.
    fn until_with(&mut self, what: &str, meanwhile: impl Fn()) {
        let until = Instant::now() + Duration::from_secs(60);
        while !self.seen.contains(what) {
            meanwhile();
            match self.output.recv_timeout(Duration::from_millis(100)) {
                Ok(text) => self.seen.push_str(&text),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(_) => panic!("no {what:?} in {:?}", self.seen),
            }
        }
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args(["-s", name, &self.pid]).status().unwrap().success(), "{name}");
    }

    /// The exit code, and all that was written.
    fn end(mut self) -> (i32, String) {
        let code = waited(&mut self.script);
        while let Ok(text) = self.output.recv_timeout(Duration::from_secs(10)) {
            self.seen.push_str(&text);
        }
        (code, self.seen)
    }
}

/// State of a process: `T` is stopped (proc_pid_stat(5)).
fn state(pid: &str) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

#[test]
fn q_and_signals_end_the_full_screen() {
    if !has_disks() {
        return;
    }
    let scratch = Scratch::new();
    for end in ["q", "TERM", "HUP", "QUIT", "INT"] {
        let Some(mut screen) = FullScreen::start(&scratch) else { return };
        if end == "q" {
            screen.keys.write_all(b"q").unwrap();
            screen.keys.flush().unwrap();
        } else {
            screen.signal(end);
        }
        let (code, said) = screen.end();
        assert_eq!(code, 0, "{end}");
        assert!(said.trim_end().ends_with(LEAVE), "{end}: {said:?}");
    }
}

#[test]
fn ctrl_z_gives_the_terminal_back_until_it_goes_on() {
    if !has_disks() {
        return;
    }
    let scratch = Scratch::new();
    let Some(mut screen) = FullScreen::start(&scratch) else { return };
    screen.signal("TSTP");
    // script(1) stops itself where its child did, as a shell expects of a job, and has what was written then only when
    // it goes on.
    let script = screen.script.id().to_string();
    wait_until("one of them pauses", || [&screen.pid, &script].into_iter().any(|pid| state(pid) == Some('T')));
    let frames = screen.seen.len();
    // Again and again: script(1) may stop itself only after its child went on.
    let pid = screen.pid.clone();
    let go_on = || {
        for pid in [&script, &pid] {
            assert!(Command::new("kill").args(["-s", "CONT", pid]).status().unwrap().success());
        }
    };
    screen.until_with(LEAVE, go_on);
    screen.seen.drain(..frames);
    screen.until_with(ENTER, go_on);
    screen.until_with("q quits", go_on);
    let (left, entered) = (screen.seen.find(LEAVE), screen.seen.rfind(ENTER));
    assert!(left < entered, "{:?}", screen.seen);
    screen.keys.write_all(b"q").unwrap();
    screen.keys.flush().unwrap();
    let (code, said) = screen.end();
    assert_eq!(code, 0);
    assert!(said.trim_end().ends_with(LEAVE), "{said:?}");
}
