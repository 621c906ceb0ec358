//! Text from elsewhere (arguments, bundles of strangers) acts on no terminal and in no spreadsheet.

use crate::program::Scratch;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// What must not come out: an escape sequence, an eight-bit one, an override of the direction, a separator of lines.
const ACTING: &str = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2028}\u{7f}";

fn acts(text: &str) -> Option<char> {
    text.chars().find(|c| *c != '\n' && *c != '\t' && (c.is_control() || ['\u{202e}', '\u{2028}'].contains(c)))
}

#[test]
fn an_argument_that_acts_on_a_terminal_does_not() {
    let scratch = Scratch::new();
    let bad = format!("x{ACTING}x");
    for arguments in [
        vec![bad.as_str()],
        vec!["--color", &bad],
        vec!["export", "latest", "--format", &bad],
        vec!["run", "depth", &format!("--{bad}")],
        vec!["watch", "--count", &bad],
        vec!["completions", &bad],
    ] {
        let ended = scratch.run(&arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert_eq!(acts(&ended.stderr), None, "{arguments:?}: {:?}", ended.stderr);
        // clap leaves whole escape sequences out; what acts without one is told as an escape.
        assert!(ended.stderr.contains("\\u{202e}"), "the argument is still told: {}", ended.stderr);
        let with_json = scratch.run(arguments.iter().copied().chain(["--json"]));
        assert_eq!(acts(&with_json.stdout), None, "{arguments:?}: {:?}", with_json.stdout);
    }
    let raw = std::ffi::OsStr::from_bytes(b"\xff\x9b31m");
    assert_eq!(acts(&scratch.run([raw]).stderr), None);
}

/// A bundle of a stranger: every text in run.json is hostile.
fn foreign(scratch: &Scratch, text: &str) -> String {
    // Two operations by two sizes at depth 1: iozone's table takes it as well.
    let jobs = [("w4", "write", "4k"), ("r4", "read", "4k"), ("w64", "write", "64k"), ("r64", "read", "64k")];
    let job = |(name, rw, bs): &(&str, &str, &str)| format!("[{name}]\nstonewall\nrw={rw}\nbs={bs}\n");
    let jobs: String = jobs.iter().map(job).collect();
    fs::write(scratch.path().join("grid.fio"), format!("[global]\nsize=64m\nruntime=1\ndirect=1\n{jobs}")).unwrap();
    let document = scratch.json(["run", "grid.fio", "sim:nvme", "--json"], 0);
    let id = document["run_id"].as_str().unwrap().to_owned();
    let bundle = scratch.path().join("foreign").join(&id);
    let _ = fs::remove_dir_all(&bundle);
    fs::create_dir_all(bundle.parent().unwrap()).unwrap();
    fs::rename(scratch.archive().join("runs").join(&id), &bundle).unwrap();
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(bundle.join("run.json")).unwrap()).unwrap();
    run["program_version"] = text.into();
    run["target"]["name"] = text.into();
    run["environment"]["hostname"] = text.into();
    run["remarks"] = serde_json::json!([text]);
    run["plan"]["name"] = text.into();
    for (i, phase) in run["phases"].as_array_mut().unwrap().iter_mut().enumerate() {
        phase["reasons"] = serde_json::json!([text]);
        if i == 1 {
            phase["status"] = "refused".into();
        }
        for metric in phase["metrics"].as_array_mut().unwrap() {
            metric["reasons"] = serde_json::json!([text]);
        }
    }
    fs::write(bundle.join("run.json"), run.to_string()).unwrap();
    bundle.to_str().unwrap().to_owned()
}

const FORMATS: [&str; 6] = ["csv", "hlog", "iozone", "bonnie-csv", "fio-json", "fio-json+"];

#[test]
fn an_export_of_a_foreign_bundle_acts_on_no_terminal() {
    let scratch = Scratch::with_its_archive_inside();
    let bundle = foreign(&scratch, &format!("a{ACTING}\r\nb"));
    let mut written = 0;
    for format in FORMATS {
        for more in [&[][..], &["--keep-refused"]] {
            let ended = scratch.run(["export", bundle.as_str(), "--format", format].iter().chain(more));
            assert_eq!(acts(&ended.stdout), None, "{format}: {:?}", ended.stdout);
            assert_eq!(acts(&ended.stderr), None, "{format}: {:?}", ended.stderr);
            written += usize::from(ended.code == 0);
        }
    }
    assert!(written >= 8, "bonnie++'s tests are not phases of it; the others are written: {written}");
    for arguments in [["report", "-o", "x.html"], ["runs", "show", "--markdown"], ["runs", "verify", "--json"]] {
        let ended = scratch.run(arguments.iter().copied().chain([bundle.as_str()]));
        assert_eq!(acts(&(ended.stdout + &ended.stderr)), None, "{arguments:?}");
    }
}

#[test]
fn no_cell_of_a_csv_is_a_formula() {
    let scratch = Scratch::with_its_archive_inside();
    for formula in
        ["=cmd|' /C calc'!A0", "+1", "-1+cmd|' /C calc'!A0", "@SUM(A1:A9)", "\t=1", "\r=1", " =1", "a;=1", "\n=1"]
    {
        let bundle = foreign(&scratch, formula);
        let ended = scratch.run(["export", &bundle, "--format", "csv"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        for line in ended.stdout.lines() {
            let (mut quoted, mut begins) = (false, true);
            for c in line.chars() {
                if begins && !quoted {
                    assert!(!['=', '+', '@', '\t', '\r'].contains(&c), "{formula:?}: {line}");
                }
                quoted ^= c == '"';
                begins = !quoted && [',', ';', '\t', '|'].contains(&c);
            }
        }
        // Beside numbers, which may be negative, a cell that begins with a minus is a text with its apostrophe.
        let header: Vec<&str> = ended.stdout.lines().next().unwrap().split(',').collect();
        assert_eq!(header.len(), 17);
        assert!(!ended.stdout.contains(",-") && !ended.stdout.contains("\"-"), "{}", ended.stdout);
    }
    let bundle = foreign(&scratch, "plain");
    let plain = scratch.run(["export", &bundle, "--format", "csv"]).stdout;
    assert!(plain.lines().skip(1).all(|l| l.split(',').nth(1) == Some("plain")), "{plain}");
}
