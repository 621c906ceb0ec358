//! Two processes on one target, or on one execution of an experiment: the second is refused, and the first goes on.

use crate::experiment::{WORKLOAD, file};
use crate::program::{Ended, Scratch};
use std::process::{Child, Stdio};

fn text(scratch: &Scratch, name: &str, seconds: u32) -> String {
    let workload = WORKLOAD.replace("direct", "buffered").replace("1s", &format!("{seconds}s"));
    let text = format!(
        "[experiment]\nname = \"{name}\"\npairs = 1\nseed = 1\n{workload}\n[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n"
    );
    file(scratch, &format!("{name}.toml"), &text)
}

/// Starts it, and waits until its first run is being kept: the target is locked before that.
fn begun(scratch: &Scratch, args: &[&str]) -> Child {
    let child = scratch.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    crate::endings::wait_for_partial(scratch, 0);
    child
}

#[test]
fn the_second_on_one_file_is_refused_and_the_first_goes_on() {
    let scratch = Scratch::new();
    let data = scratch.path().join("data");
    std::fs::write(&data, vec![7; 16 << 20]).expect("a file to read");
    let link = scratch.path().join("other-name");
    std::fs::hard_link(&data, &link).expect("a second name of it");
    let (long, short) = (text(&scratch, "long", 5), text(&scratch, "short", 1));
    let first = begun(&scratch, &["run", &long, data.to_str().expect("a path"), "--json"]);
    for name in [&data, &link] {
        let second = scratch.run(["run", &short, name.to_str().expect("a path")]);
        assert_eq!(second.code, 3, "{}{}", second.stdout, second.stderr);
        let said: Vec<&str> = second.stderr.lines().filter(|l| l.contains("in use by another check")).collect();
        assert_eq!(said.len(), 1, "one clear refusal: {}", second.stderr);
        assert!(said[0].contains(name.to_str().expect("a path")), "{}", second.stderr);
    }
    let ended = Ended::of(first.wait_with_output().expect("it ends"));
    assert!(matches!(ended.code, 0 | 4), "{}", ended.stderr);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).expect("one document");
    assert_eq!(document["experiment"]["complete"], true, "{}", ended.stderr);
}

#[test]
fn an_execution_that_another_process_has_is_not_resumed() {
    let scratch = Scratch::new();
    let long = text(&scratch, "long", 60);
    let target = scratch.target();
    let mut first = begun(&scratch, &["run", &long, target.to_str().expect("a path")]);
    let second = scratch.run(["run", &long, "--resume"]);
    assert_eq!(second.code, 3, "{}", second.stderr);
    assert!(second.stderr.contains("is being executed by another process"), "{}", second.stderr);
    first.kill().expect("SIGKILL");
    first.wait().expect("it ends");
}
