use super::*;
use model::{Before, PathNode, SimCurve, SimModel};

/// Paths: 0 the top, 1 a directory, 2 and 3 files in it, 4 a file that is there before.
fn trace(before: u64) -> FileTrace {
    let node = |parent, name| PathNode { parent, name };
    FileTrace {
        paths: vec![node(0, 0), node(0, 1), node(1, 2), node(1, 3), node(0, 4)],
        before: vec![Before { path: 4, bytes: Some(before) }],
        ..FileTrace::default()
    }
}

/// Each command takes 1 ms, a flush 2 ms.
fn machine() -> Machine {
    let mut model = SimModel::default();
    (model.media.capacity_bytes, model.media.flush_ns, model.media.units) = (4 << 30, 2_000_000, 1);
    (model.media.read, model.media.write) = (SimCurve::line(1_000_000, 1 << 40), SimCurve::line(1_000_000, 1 << 40));
    (model.host.queue_depth, model.host.cpus) = (1, 1);
    (model.link.line_bytes_per_s, model.link.efficiency) = (1 << 40, 1.0);
    Machine::new(model)
}

struct Calls {
    files: SimFiles,
    machine: Machine,
    trace: FileTrace,
    now: Ns,
}

impl Calls {
    fn new(before: u64) -> Self {
        let (mut files, mut machine, trace) = (SimFiles::new(4 << 30), machine(), trace(before));
        files.make_before(&mut machine, &trace);
        let now = machine.disk.end;
        Self { files, machine, trace, now }
    }

    /// How long it takes, in whole milliseconds, and what it moves.
    fn make(&mut self, kind: CallKind, path: u32, with: FileCall) -> Result<(u64, u32), i32> {
        let call = FileCall { kind, path, ..with };
        let (bytes, end) = self.files.call(&mut self.machine, &self.trace, &call, self.now)?;
        let took = end - self.now;
        self.now = end;
        Ok(((took + 500_000) / 1_000_000, bytes))
    }

    fn open(&mut self, path: u32, handle: u32, flags: u16) -> Result<(u64, u32), i32> {
        self.make(CallKind::Open, path, FileCall { handle, flags, ..FileCall::default() })
    }
}

const NEW: u16 = CallFlag::WRITE | CallFlag::CREATE | CallFlag::EXCLUSIVE;

#[test]
fn a_sync_costs_data_journal_and_flushes_and_a_second_one_only_a_flush() {
    let mut calls = Calls::new(0);
    calls.make(CallKind::Mkdir, 1, FileCall::default()).unwrap();
    assert_eq!(calls.open(2, 0, NEW), Ok((0, 0)), "names are in memory only");
    let data = FileCall { handle: 0, bytes: 300 << 10, ..FileCall::default() };
    assert_eq!(calls.make(CallKind::Write, 2, data), Ok((0, 300 << 10)));
    let sync = FileCall { handle: 0, ..FileCall::default() };
    // One command of data, one of the journal, its end; a flush before that and after it.
    assert_eq!(calls.make(CallKind::Fsync, 2, sync), Ok((1 + 1 + 2 + 1 + 2, 0)));
    assert_eq!(calls.make(CallKind::Fsync, 2, sync), Ok((2, 0)), "nothing has changed");
    let written = calls.files.blocks.written;
    assert!((300 << 10..400 << 10).contains(&written), "{written}");
    // What is written out beforehand is not written again, and its rename waits for nobody.
    calls.open(3, 1, NEW).unwrap();
    let data = FileCall { handle: 1, bytes: 4096, ..FileCall::default() };
    calls.make(CallKind::Write, 3, data).unwrap();
    let out = FileCall { handle: 1, flags: WRITE_OUT, ..FileCall::default() };
    assert_eq!(calls.make(CallKind::SyncRange, 3, out), Ok((0, 0)));
    let waits = FileCall { handle: 1, flags: 1, ..FileCall::default() };
    assert_eq!(calls.make(CallKind::SyncRange, 3, waits), Ok((1, 0)));
    assert_eq!(calls.make(CallKind::Fsync, 3, FileCall { handle: 1, ..FileCall::default() }), Ok((1 + 2 + 1 + 2, 0)));
    assert_eq!(calls.make(CallKind::Rename, 3, FileCall { second: 2, ..FileCall::default() }), Ok((0, 0)));
}

#[test]
fn what_is_not_there_or_not_empty_is_an_error_as_the_kernel_has_it() {
    let mut calls = Calls::new(0);
    assert_eq!(calls.open(2, 0, NEW), Err(ENOENT), "its directory is not there");
    calls.make(CallKind::Mkdir, 1, FileCall::default()).unwrap();
    assert_eq!(calls.make(CallKind::Mkdir, 1, FileCall::default()), Err(EEXIST));
    calls.open(2, 0, NEW).unwrap();
    assert_eq!(calls.open(2, 1, NEW), Err(EEXIST));
    assert_eq!(calls.make(CallKind::Rmdir, 1, FileCall::default()), Err(ENOTEMPTY));
    assert_eq!(calls.make(CallKind::Unlink, 1, FileCall::default()), Err(EISDIR));
    assert_eq!(calls.make(CallKind::Stat, 3, FileCall::default()), Err(ENOENT));
    calls.make(CallKind::Rename, 2, FileCall { second: 3, ..FileCall::default() }).unwrap();
    assert_eq!(calls.make(CallKind::Stat, 2, FileCall::default()), Err(ENOENT));
    assert_eq!(calls.make(CallKind::Unlink, 3, FileCall::default()), Ok((0, 0)));
    assert_eq!(
        calls.make(CallKind::Write, 3, FileCall { bytes: 9, ..FileCall::default() }),
        Ok((0, 9)),
        "it is still open"
    );
    assert_eq!(calls.make(CallKind::Close, 3, FileCall::default()), Ok((0, 0)));
    assert_eq!(calls.make(CallKind::Close, 3, FileCall::default()), Err(EBADF));
    assert_eq!(calls.make(CallKind::Rmdir, 1, FileCall::default()), Ok((0, 0)));
}

#[test]
fn what_was_there_before_is_read_from_the_device_once_and_ahead() {
    let mut calls = Calls::new(200 << 10);
    calls.open(4, 0, CallFlag::READ).unwrap();
    let read = |offset| FileCall { handle: 0, offset, bytes: 4096, ..FileCall::default() };
    assert_eq!(calls.make(CallKind::Read, 4, read(0)), Ok((1, 4096)));
    assert_eq!(calls.make(CallKind::Read, 4, read(64 << 10)), Ok((0, 4096)), "it was read ahead");
    assert_eq!(calls.make(CallKind::Read, 4, read(199 << 10)), Ok((1, 1024)), "up to its end");
    assert_eq!(calls.make(CallKind::Read, 4, read(0)), Ok((0, 4096)));
    calls.files.drop_caches();
    assert_eq!(calls.make(CallKind::Read, 4, read(0)), Ok((1, 4096)));
}

#[test]
fn the_flusher_writes_what_is_old_to_its_place() {
    let mut calls = Calls::new(0);
    calls.make(CallKind::Mkdir, 1, FileCall::default()).unwrap();
    let before = calls.machine.writes.operations;
    calls.now += 6_000_000_000;
    calls.make(CallKind::Stat, 1, FileCall::default()).unwrap();
    while calls.machine.next_event(calls.now).is_some() {}
    let committed = calls.machine.writes.operations;
    assert_eq!(committed - before, 2, "after five seconds the journal has it: what changed, and that it is whole");
    calls.now += 40_000_000_000;
    calls.make(CallKind::Stat, 1, FileCall::default()).unwrap();
    calls.now += 1_000_000_000;
    calls.make(CallKind::Stat, 1, FileCall::default()).unwrap();
    while calls.machine.next_event(calls.now).is_some() {}
    assert!(calls.machine.writes.operations > committed + 1, "and half a minute later its place");
}
