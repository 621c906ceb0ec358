use super::*;
use model::{CallFlag, CallKind, FileCall, FileTrace, NO_NUMBER};

fn parsed(text: &str, set: &[(&str, &str)]) -> Result<Recording, Vec<RecordingMistake>> {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    read_recording(text, &set)
}

fn replay_of(text: &str, set: &[(&str, &str)]) -> ReplayPlan {
    parsed(text, set).unwrap_or_else(|errors| panic!("{errors:?}")).replay
}

/// Lines of one process in a directory, a millisecond apart, each call of a tenth of that.
fn text_of(calls: &[&str]) -> String {
    let line = |(i, call): (usize, &&str)| format!("10 1764144000.{:03}000 {call} <0.000100>\n", i + 1);
    let calls: String = calls.iter().enumerate().map(line).collect();
    format!("{HEADER}\n# root: /w\n# directory: /w\n{calls}")
}

fn path_of(trace: &FileTrace, mut path: u32) -> Vec<u32> {
    let mut names = Vec::new();
    while path != 0 {
        let node = trace.paths[path as usize];
        names.insert(0, node.name);
        path = node.parent;
    }
    names
}

#[test]
fn descriptors_positions_and_renames_are_followed() {
    use CallKind::{Close, Fsync, Open, Read, Rename, Write};
    let replay = replay_of(
        &text_of(&[
            r#"openat(AT_FDCWD, "new", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 3"#,
            r#"write(3, "ab"..., 5000) = 5000"#,
            r#"dup2(3, 1) = 1"#,
            r#"close(3) = 0"#,
            r#"write(1, "c", 100) = 100"#,
            r#"fsync(1) = 0"#,
            r#"close(1) = 0"#,
            r#"rename("new", "old") = 0"#,
            r#"open("old", O_RDONLY) = 4"#,
            r#"lseek(4, 1000, SEEK_SET) = 1000"#,
            r#"read(4, "x"..., 8192) = 4100"#,
            r#"read(4, "", 8192) = 0"#,
            r#"write(2, "to nobody", 9) = 9"#,
        ]),
        &[],
    );
    let trace = &replay.trace.0;
    let kinds: Vec<CallKind> = trace.calls.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [Open, Write, Write, Fsync, Close, Rename, Open, Read]);
    let calls: Vec<FileCall> = trace.calls.iter().collect();
    let [first, second] = [calls[1], calls[2]];
    assert_eq!((first.offset, first.bytes, second.offset, second.bytes), (0, 5000, 5000, 100));
    let read = calls[7];
    assert_eq!((read.offset, read.bytes, read.handle), (1000, 4100, 1));
    let renamed = calls[5];
    assert_eq!((path_of(trace, renamed.path).len(), renamed.handle), (1, NO_NUMBER));
    assert_eq!(calls[6].path, renamed.second);
    assert_eq!((first.at_ns, first.pause_ns), (1_000_000, 900_000));
    assert!(trace.before.is_empty(), "all that is read was written: {:?}", trace.before);
    assert_eq!((replay.replay_bytes, replay.replay_most), ([4100, 5100], [1, 8192]));
    assert_eq!((replay.replay_span_ns, replay.replay_threads, trace.handles), (10_000_000, 1, 2));
}

#[test]
fn what_was_there_before_is_known_by_how_it_is_used() {
    let replay = replay_of(
        &text_of(&[
            r#"stat("d/gone", 0x7ff) = -1 ENOENT (No such file or directory)"#,
            r#"openat(AT_FDCWD, "d", O_RDONLY|O_DIRECTORY) = 3"#,
            r#"getdents64(3, 0x55 /* 5 entries */, 32768) = 144"#,
            r#"getdents64(3, 0x55 /* 0 entries */, 32768) = 0"#,
            r#"openat(3, "data", O_RDWR|O_CREAT, 0644) = 5"#,
            r#"pread64(5, "x"..., 4096, 12288) = 4096"#,
            r#"rename("d", "e") = 0"#,
            r#"openat(AT_FDCWD, "e/other", O_RDONLY) = 6"#,
            r#"read(6, "x"..., 100) = 100"#,
            r#"unlink("e/data") = 0"#,
            r#"openat(AT_FDCWD, "e/fresh", O_WRONLY|O_CREAT|O_EXCL, 0600) = 7"#,
            r#"openat(AT_FDCWD, "plain", O_RDONLY) = 8"#,
            r#"getdents64(8, 0x55 /* 2 entries */, 32768) = 48"#,
        ]),
        &[],
    );
    let trace = &replay.trace.0;
    let before: Vec<(usize, Option<u64>)> =
        trace.before.iter().map(|b| (path_of(trace, b.path).len(), b.bytes)).collect();
    // The directory, the file in it, another one that is reached after it was renamed, and a directory opened as if it were a file.
    assert_eq!(before, [(1, None), (2, Some(16_384)), (2, Some(100)), (1, None)]);
    let names = |at: usize| path_of(trace, trace.before[at].path);
    assert_eq!(names(2)[..1], names(0)[..], "under its first name");
    let count = |kind: CallKind| trace.calls.iter().filter(|c| c.kind == kind).count();
    assert_eq!((count(CallKind::List), count(CallKind::Stat), count(CallKind::Unlink)), (2, 1, 1));
    let looked = trace.calls.iter().find(|c| c.kind == CallKind::Stat).unwrap();
    assert_eq!(looked.flags, CallFlag::MAY_FAIL);
}

#[test]
fn processes_share_what_fork_and_exec_leave_them() {
    let text = format!(
        "{HEADER}\n# root: /w\n# directory: /w\n{}",
        [
            r#"10 1764144000.001 openat(AT_FDCWD, "log", O_WRONLY|O_CREAT|O_APPEND, 0644) = 3 <0.0001>"#,
            r#"10 1764144000.002 openat(AT_FDCWD, "kept", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0644) = 4 <0.0001>"#,
            r#"10 1764144000.003 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 11 <0.0001>"#,
            r#"11 1764144000.004 chdir("sub") = 0 <0.0001>"#,
            r#"11 1764144000.005 execve("/bin/x", ["x"], 0x7ff /* 9 vars */) = 0 <0.0001>"#,
            r#"11 1764144000.006 write(3, "a", 10) = 10 <0.0001>"#,
            r#"11 1764144000.007 write(4, "a", 10) = -1 EBADF (Bad file descriptor) <0.0001>"#,
            r#"11 1764144000.008 mkdir("made", 0777) = 0 <0.0001>"#,
            r#"11 1764144000.009 +++ exited with 0 +++"#,
            r#"10 1764144000.010 write(3, "b", 5) = 5 <0.0001>"#,
            r#"10 1764144000.011 fsync(4 <unfinished ...>"#,
            r#"10 1764144000.012 <... fsync resumed>) = 0 <0.0010>"#,
            r#"10 1764144000.013 +++ exited with 0 +++"#,
            "",
        ]
        .join("\n")
    );
    let replay = replay_of(&text, &[]);
    let trace = &replay.trace.0;
    let writes: Vec<(u64, u16)> =
        trace.calls.iter().filter(|c| c.kind == CallKind::Write).map(|c| (c.offset, c.thread)).collect();
    assert_eq!(writes, [(0, 1), (10, 0)], "one position, at the end");
    let made = trace.calls.iter().find(|c| c.kind == CallKind::Mkdir).unwrap();
    assert_eq!(path_of(trace, made.path).len(), 2, "below its own directory");
    let closed = trace.calls.iter().filter(|c| c.kind == CallKind::Close).count();
    assert_eq!((closed, replay.replay_threads), (2, 2), "each once, when the last that had it is gone");
}

#[test]
fn nothing_outside_is_done_unless_it_is_asked_for() {
    let text = text_of(&[
        r#"symlink("/etc", "away") = 0"#,
        r#"openat(AT_FDCWD, "away/passwd", O_RDONLY) = 3"#,
        r#"openat(AT_FDCWD, "../up", O_RDONLY) = 4"#,
        r#"read(3, "x", 700) = 700"#,
        r#"openat(AT_FDCWD, "in", O_RDONLY) = 5"#,
    ]);
    let errors = parsed(&text, &[("outside", "refuse")]).unwrap_err();
    assert!(errors[0].what.contains("2 paths outside of /w, the first /etc/passwd"), "{}", errors[0].what);
    for set in [&[][..], &[("outside", "skip")]] {
        let skipped = parsed(&text, set).unwrap();
        let note = "2 paths outside of /w, the first /etc/passwd: left out; --set outside=map makes them below the target, too";
        assert_eq!((replay_of(&text, set).calls(), &skipped.notes[..]), (2, &[note.to_owned()][..]));
    }
    let mapped = replay_of(&text, &[("outside", "map")]);
    let trace = &mapped.trace.0;
    let depths: Vec<usize> = trace.calls.iter().map(|c| path_of(trace, c.path).len()).collect();
    assert_eq!((mapped.calls(), depths), (5, vec![2, 2, 1, 2, 2]));

    // A recording that does not say where its root is.
    let bare = "10 1764144000.5 openat(AT_FDCWD, \"/srv/x\", O_RDONLY) = 3 <0.1>\n";
    let errors = parsed(bare, &[]).unwrap_err();
    assert!(errors[0].what.contains("--set root=DIRECTORY"), "{}", errors[0].what);
    assert_eq!(replay_of(bare, &[("root", "/srv")]).calls(), 1);
    let errors = parsed(bare, &[("root", "/home")]).unwrap_err();
    assert!(errors[0].what.contains("outside of /home"), "{}", errors[0].what);
}

#[test]
fn what_is_wrong_is_said_by_its_line() {
    let two = "10 1764144000.5 openat(AT_FDCWD, \"/w/x\", O_RDONLY) = 3 <0.1>\n10 what is this\n";
    let errors = parsed(two, &[("root", "/w")]).unwrap_err();
    assert_eq!((errors[0].line, errors.len()), (Some(2), 1));
    let cut = "10 1764144000.5 openat(AT_FDCWD, \"/w/x\", O_RDONLY) = 3 <0.1>\n10 1764144000.6 unlink(\"/w/x";
    let workload = parsed(cut, &[("root", "/w")]).unwrap();
    assert_eq!(workload.notes, ["the last line is cut off, and left out"]);
    let deep = format!("10 1764144000.5 mkdir(\"/w/{}\", 0777) = 0 <0.1>\n", "d/".repeat(40));
    let errors = parsed(&deep, &[("root", "/w")]).unwrap_err();
    assert!(errors[0].what.contains("more than 30 directories deep"), "{}", errors[0].what);
    for (key, value) in [("speed", "0"), ("pace", "x"), ("root", "w"), ("depth", "0"), ("sped", "1")] {
        assert!(parsed(two, &[(key, value)]).is_err(), "{key}={value}");
    }
}
