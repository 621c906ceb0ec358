//! `narrows run frames`: real files, in each way.

use crate::program::Scratch;
use serde_json::Value;

const SMALL: [&str; 10] =
    ["--set", "time=300ms", "--set", "rest=50ms", "--set", "room=64MB", "--set", "size=200KB", "--set", "rounds=2"];

fn names(scratch: &Scratch) -> Vec<String> {
    let names = std::fs::read_dir(scratch.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("narrows-frames")).collect()
}

#[test]
fn each_way_is_measured_and_nothing_is_left() {
    let scratch = Scratch::new();
    let here = scratch.path().to_str().unwrap().to_owned();
    // What a killed one left: ours goes, others' stays.
    let left = scratch.path().join("narrows-frames-0000beef");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("frame-00000000.jpg"), b"x").unwrap();
    let page = scratch.path().join("page.html");
    let args = ["run", "frames", &here, "--report", page.to_str().unwrap(), "--seed", "7", "--json"];
    let document = scratch.json([&args[..], &SMALL].concat(), 0);
    assert_eq!((&document["schema"], &document["seed"]), (&"narrows/frames/1".into(), &7.into()));
    let ways = document["ways"].as_array().unwrap();
    assert_eq!(ways.len(), 4);
    for way in ways {
        assert_eq!(way["failed"], Value::Null, "{way}");
        assert!(way["full_bytes_per_s"].as_array().unwrap().iter().all(|rate| rate.as_f64().unwrap() > 1e5), "{way}");
        let tried = way["tried"].as_array().unwrap();
        let carried = tried.iter().filter(|t| t["carried"] == true).map(|t| t["frames_per_s"].as_f64().unwrap());
        let highest = carried.fold(0.0, f64::max);
        assert_eq!(way["sustained_frames_per_s"].as_f64().unwrap_or(0.0), highest, "what is said was tried: {way}");
        if let Some(compared) = way["compared"].as_object() {
            let frames = compared["frames_ms"].as_array().unwrap();
            assert_eq!(frames.len() as u64, compared["frames"].as_u64().unwrap());
            // On a machine that stands still meanwhile none may have been written.
            let slowest = frames.iter().map(|f| f[1].as_f64().unwrap()).reduce(f64::max);
            let said = compared["write_ns_max"].as_f64().map(|ns| ns / 1e6);
            assert!((slowest.unwrap_or(0.0) - said.unwrap_or(0.0)).abs() < 0.01, "{way}");
            assert_eq!(slowest.is_some(), said.is_some(), "{way}");
        }
    }
    assert!(ways.iter().any(|way| way["compared"]["frames"].as_u64() > Some(0)), "{ways:?}");
    assert_eq!(document["left_out"][0]["way"], "device-buffered");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("Every frame") && html.contains("default-src 'none'"));
    assert_eq!(names(&scratch), Vec::<String>::new());
}

#[test]
fn what_cannot_be_asked_is_told_before_anything_is_written() {
    let scratch = Scratch::new();
    let here = scratch.path().to_str().unwrap().to_owned();
    let refused = |more: &[&str], code: i32| {
        scratch.json([&["run", "frames", "--json"][..], more].concat(), code)["message"].as_str().unwrap().to_owned()
    };
    assert!(refused(&[&here, "--set", "sise=1MB"], 2).contains("nearest supported: size"));
    assert!(refused(&[&here, "--set", "ways=tape"], 2).contains("is none of them"));
    assert!(refused(&[&here, "--repeat", "3"], 2).contains("--repeat"));
    assert!(refused(&["sim:class4-card"], 2).contains("simulated"));
    assert!(refused(&[], 2).contains("where"));
    let plan = scratch.json(["run", "frames", &here, "--plan", "--json"], 0);
    assert_eq!((&plan["schema"], plan["ways"].as_array().unwrap().len()), (&"narrows/frames-plan/1".into(), 4));
    let bounded = scratch.json(["run", "frames", &here, "--plan", "--json", "--max-write", "2GiB"], 0);
    assert!(bounded["bytes_at_most"].as_u64().is_some_and(|bytes| bytes <= 2 << 30), "{bounded}");
    assert!(refused(&[&here, "--max-write", "50MB"], 3).contains("too few for eight frames"));
    let text = scratch.command(["workloads"]).output().unwrap();
    assert!(String::from_utf8_lossy(&text.stdout).contains("frames"));
    assert_eq!(names(&scratch), Vec::<String>::new());
}
