//! Producers of `narrows record` at its socket: acknowledgements, kills, shared memory.

use super::{content, exported, frame, text};
use crate::program::{Scratch, wait_until};
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A connection to a recorder that may not listen yet.
fn connected(socket: &Path) -> UnixStream {
    let mut stream = None;
    wait_until("somebody listens", || {
        stream = UnixStream::connect(socket).ok();
        stream.is_some()
    });
    stream.expect("a connection")
}

/// A producer at the socket, and what was acknowledged to it.
struct Producer {
    socket: UnixStream,
    sent: u64,
    durable: u64,
    lost: u64,
}

impl Producer {
    fn connect(socket: &Path, name: &str) -> Self {
        let mut socket = connected(socket);
        socket.write_all(b"NFS1").unwrap();
        socket.write_all(&(name.len() as u16).to_le_bytes()).unwrap();
        socket.write_all(name.as_bytes()).unwrap();
        socket.set_nonblocking(false).unwrap();
        Self { socket, sent: 0, durable: 0, lost: 0 }
    }

    /// Sends one more frame; whether somebody takes it.
    fn send(&mut self, length: usize) -> bool {
        let whole = self.socket.write_all(&frame(self.sent, length)).is_ok();
        self.sent += u64::from(whole);
        whole
    }

    /// Takes acknowledgements that are there, or comes within this time.
    fn acknowledged(&mut self, within: Duration) {
        self.socket.set_read_timeout(Some(within.max(Duration::from_millis(1)))).unwrap();
        let mut message = [0; 16];
        while self.socket.read_exact(&mut message).is_ok() {
            self.durable = u64::from_le_bytes(message[..8].try_into().unwrap());
            self.lost = u64::from_le_bytes(message[8..].try_into().unwrap());
        }
    }
}

fn started(scratch: &Scratch, target: &Path, socket: &Path, more: &[&str]) -> Child {
    let args = ["record", "-o", text(target), "--listen", text(socket), "--max-latency", "20ms", "--json"];
    scratch.command([&args[..], more].concat()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts")
}

/// Frames of a stream that are there, checked to be what was sent.
fn numbers(scratch: &Scratch, target: &Path, stream: &str, length: usize) -> u64 {
    let bytes = exported(scratch, text(target), stream, "raw");
    assert_eq!(bytes.len() % length, 0);
    for (number, frame) in bytes.chunks(length).enumerate() {
        assert!(frame == content(number as u64, length), "frame {number} of {stream} is another");
    }
    (bytes.len() / length) as u64
}

/// Ctrl-C while a frame comes loses nothing that was sent; and a file that was made is gone when nothing comes of it.
#[test]
fn an_end_that_was_asked_for_is_no_loss_and_a_mistake_leaves_no_file() {
    let scratch = Scratch::new();
    let (target, socket) = (scratch.path().join("x.nrec"), scratch.path().join("s"));
    let child = started(&scratch, &target, &socket, &["--size", "32MB"]);
    // One that comes again goes on with its stream, however soon.
    for _ in 0..30 {
        let mut producer = Producer::connect(&socket, "front");
        (0..5).for_each(|_| assert!(producer.send(9000)));
    }
    let mut again = Producer::connect(&socket, "front");
    assert!(again.send(9000) && again.socket.write_all(&frame(1, 9000)[..5000]).is_ok());
    wait_until("all is acknowledged", || {
        again.acknowledged(Duration::from_millis(5));
        again.durable == 151
    });
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &document["streams"][0]["durable"]), (Some(0), &151.into()), "{document}");
    assert_eq!(document["streams"].as_array().unwrap().len(), 1, "it went on with its stream");
    let new = scratch.path().join("new.nrec");
    let args = ["record", "-o", text(&new), "--size", "32MB", "--ring", "1KB", "--listen", text(&socket), "--json"];
    assert_eq!(scratch.json(args, 2)["kind"], "usage");
    assert!(!new.exists() && !socket.exists());
}

/// A recorder that is killed at any moment: what it had acknowledged to its producers is there.
#[test]
fn what_was_acknowledged_outlives_a_kill_at_any_moment() {
    let scratch = Scratch::new();
    let socket = scratch.path().join("s");
    for round in 0..12u64 {
        let target = scratch.path().join(format!("{round}.nrec"));
        let mut child = started(&scratch, &target, &socket, &["--size", "32MB"]);
        let mut producers = [Producer::connect(&socket, "a"), Producer::connect(&socket, "b")];
        let until = Instant::now() + Duration::from_millis(20 + round * 17);
        while Instant::now() < until {
            for producer in &mut producers {
                assert!(producer.send(9000));
                producer.acknowledged(Duration::from_millis(1));
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for (producer, name) in producers.iter_mut().zip(["a", "b"]) {
            producer.acknowledged(Duration::from_millis(5));
            assert_eq!(producer.lost, 0);
            let there = if producer.durable == 0 { 0 } else { numbers(&scratch, &target, name, 9000) };
            assert!(there >= producer.durable, "round {round}: {} acknowledged, {there} there", producer.durable);
            assert!(there <= producer.sent);
        }
        // A kill may come before there is a recording.
        if producers.iter().any(|producer| producer.durable > 0) {
            let checked = scratch.json(["record", "--recover", "-o", text(&target), "--json"], 0);
            assert_eq!(checked["checked"]["damage"], Value::Array(vec![]), "round {round}");
        }
    }
}

#[test]
fn producers_at_a_socket_have_their_acknowledgements_and_others_read_meanwhile() {
    let scratch = Scratch::new();
    let (target, socket, metrics) =
        (scratch.path().join("x.nrec"), scratch.path().join("s"), scratch.path().join("m.prom"));
    let child = started(&scratch, &target, &socket, &["--size", "64MB", "--metrics", text(&metrics)]);
    let mut producer = Producer::connect(&socket, "front");
    (0..50).for_each(|_| assert!(producer.send(20_000)));
    wait_until("all is acknowledged", || {
        producer.acknowledged(Duration::from_millis(20));
        producer.durable >= 50
    });
    assert_eq!((producer.durable, producer.lost), (50, 0));
    assert_eq!(numbers(&scratch, &target, "front", 20_000), 50);
    // Who else wants to record there is refused.
    let second = scratch.command(["record", "-o", text(&target), "--generate", "1x1KB@1", "--json"]).output().unwrap();
    assert_eq!(second.status.code(), Some(3), "{}", String::from_utf8_lossy(&second.stdout));
    let says = |line: &str| std::fs::read_to_string(&metrics).is_ok_and(|text| text.lines().any(|l| l == line));
    let durable = "narrows_record_frames_durable_total{stream=\"front\"} 50";
    wait_until("the metrics say it", || says(durable));
    assert!(says("narrows_record_frames_in_flight{stream=\"front\"} 0") && says("# EOF"));
    // Somebody who says no name, and one who goes in the middle of a frame.
    let _ = UnixStream::connect(&socket).unwrap().write_all(b"what?!");
    assert!(producer.socket.write_all(&frame(50, 20_000)[..777]).is_ok());
    drop(producer);
    let cut_off = "narrows_record_frames_dropped_total{stream=\"front\",reason=\"cut-off\"} 1";
    wait_until("the metrics say that one is cut off", || says(cut_off));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{document}");
    assert_eq!(
        (&document["streams"][0]["durable"], &document["streams"][0]["dropped"]["cut-off"]),
        (&50.into(), &1.into())
    );
    assert!(document["remarks"][0].as_str().unwrap().contains("name"), "{}", document["remarks"]);
    assert!(!socket.exists());
}

/// A producer that hands a ring of shared memory over: a file in memory that it fills, and that is read as it goes.
#[test]
fn frames_come_by_shared_memory() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    const LENGTH: u64 = 256 << 10;
    const DATA: u64 = 4096;
    let scratch = Scratch::new();
    let (target, socket) = (scratch.path().join("x.nrec"), scratch.path().join("s"));
    let child = started(&scratch, &target, &socket, &["--size", "64MB"]);
    let memory = std::fs::File::from(memfd_create("frames", MemfdFlags::ALLOW_SEALING).unwrap());
    memory.set_len(DATA + LENGTH).unwrap();
    let connect = |magic: &[u8; 4], name: &str| {
        let stream = connected(&socket);
        let hello = [magic, &(name.len() as u16).to_le_bytes()[..], name.as_bytes()].concat();
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files = [std::os::fd::AsFd::as_fd(&memory)];
        control.push(SendAncillaryMessage::ScmRights(&files));
        sendmsg(&stream, &[std::io::IoSlice::new(&hello)], &mut control, SendFlags::empty()).unwrap();
        stream
    };
    // Memory that could be taken away while it is read is not touched.
    let mut refused = connect(b"NFM1", "unsealed");
    assert_eq!(refused.read(&mut [0]).unwrap(), 0, "it is sent away");
    fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    let put = |at: u64, number: u64| memory.write_all_at(&number.to_le_bytes(), at).unwrap();
    let get = |at: u64| {
        let mut number = [0; 8];
        memory.read_exact_at(&mut number, at).unwrap();
        u64::from_le_bytes(number)
    };
    memory.write_all_at(b"NFRSHM01", 0).unwrap();
    put(8, LENGTH);
    let mut stream = connect(b"NFM1", "camera");
    let mut written = 0u64;
    for number in 0..120u64 {
        let mut record = frame(number, 20_000);
        record.resize(record.len().next_multiple_of(16), 0);
        wait_until("the ring has room", || written + record.len() as u64 - get(128) <= LENGTH);
        let at = written % LENGTH;
        let first = record.len().min((LENGTH - at) as usize);
        memory.write_all_at(&record[..first], DATA + at).unwrap();
        memory.write_all_at(&record[first..], DATA).unwrap();
        written += record.len() as u64;
        put(64, written);
    }
    let mut message = [0; 16];
    while u64::from_le_bytes(message[..8].try_into().unwrap()) < 120 {
        stream.read_exact(&mut message).unwrap();
    }
    drop(stream);
    assert_eq!(numbers(&scratch, &target, "camera", 20_000), 120);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &document["streams"][0]["durable"]), (Some(0), &120.into()), "{document}");
    assert!(document["remarks"][0].as_str().unwrap().contains("not sealed"), "{}", document["remarks"]);
}
