//! Scenarios on this machine: the program itself on loop devices under limits that are set here, in memory, on nothing.
//!
//! Needs root and version 1 control groups for the limits. What cannot be made here is told as SKIPPED, with the reason.

use super::draw::Draw;
use super::matrix::{Answer, Score};
use anyhow::{Context as _, bail};
use model::{Confidence, LimitLayer, json_name};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The kinds, each with the layer that limits.
const KINDS: &[(&str, LimitLayer)] = &[
    ("real-loop-cap-operations", LimitLayer::Throttle),
    ("real-loop-cap-bytes", LimitLayer::Throttle),
    ("real-cpu-quota", LimitLayer::Cpu),
    ("real-memory", LimitLayer::Memory),
    ("real-nothing", LimitLayer::Generator),
];

/// Bytes behind the loop device.
const IMAGE_BYTES: usize = 256 << 20;

/// An answer with what led to it.
pub struct Answered {
    pub answer: Answer,
    pub text: String,
}

/// A control group of one controller that is removed again.
struct Group(PathBuf);

impl Group {
    fn new(controller: &str, name: &str) -> anyhow::Result<Self> {
        let base = Path::new("/sys/fs/cgroup").join(controller);
        if !base.join("cgroup.procs").exists() {
            bail!("there is no version 1 control group for {controller}");
        }
        let path = base.join(format!("narrows-truth-{name}-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Self(path))
    }

    fn set(&self, file: &str, value: &str) -> anyhow::Result<()> {
        fs::write(self.0.join(file), value).with_context(|| format!("{file} = {value}"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// A loop device over a file of random bytes, both removed again.
struct Loop {
    device: String,
    image: PathBuf,
}

impl Loop {
    fn new(draw: &mut Draw) -> anyhow::Result<Self> {
        // In memory, where no other user of a disk comes between.
        let shared = Path::new("/dev/shm");
        let place = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        let image = place.join(format!("narrows-truth-{}-{}", std::process::id(), draw.bits()));
        let bytes: Vec<u8> = (0..IMAGE_BYTES / 8).flat_map(|_| draw.bits().to_le_bytes()).collect();
        fs::write(&image, bytes).with_context(|| image.display().to_string())?;
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        match made {
            Ok(out) if out.status.success() => {
                Ok(Self { device: String::from_utf8_lossy(&out.stdout).trim().to_owned(), image })
            }
            Ok(out) => {
                let _ = fs::remove_file(&image);
                bail!("no loop device can be made: {}", String::from_utf8_lossy(&out.stderr).trim())
            }
            Err(error) => {
                let _ = fs::remove_file(&image);
                bail!("losetup: {error}")
            }
        }
    }

    /// Its number, as control groups want it: `7:0`.
    fn number(&self) -> anyhow::Result<String> {
        let name = self.device.trim_start_matches("/dev/");
        let text = fs::read_to_string(format!("/sys/class/block/{name}/dev"))?;
        Ok(text.trim().to_owned())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
        let _ = fs::remove_file(&self.image);
    }
}

/// The program beside this one.
fn program() -> anyhow::Result<PathBuf> {
    let beside = std::env::current_exe()?.with_file_name("narrows");
    if !beside.exists() {
        bail!("{} is not there: cargo build -p narrows, with the same profile", beside.display());
    }
    Ok(beside)
}

/// What the program says of a target, in a control group or in none.
fn check(target: &str, group: Option<&Group>) -> anyhow::Result<serde_json::Value> {
    let archive = std::env::temp_dir().join(format!("narrows-truth-archive-{}", std::process::id()));
    let enter = group.map_or(String::new(), |g| format!("echo $$ > {}/cgroup.procs; ", g.0.display()));
    let script = format!("{enter}exec \"$0\" \"$@\"");
    let out = Command::new("sh")
        .args(["-c", &script])
        .arg(program()?)
        .args(["check", target, "--json", "--budget", "10s", "--archive"])
        .arg(&archive)
        .output()?;
    let _ = fs::remove_dir_all(&archive);
    let document: serde_json::Value =
        serde_json::from_slice(&out.stdout).with_context(|| String::from_utf8_lossy(&out.stderr).trim().to_owned())?;
    if document["schema"] == "narrows/error/1" {
        bail!("{}", document["message"]);
    }
    Ok(document)
}

fn measured(kind: &str, draw: &mut Draw) -> anyhow::Result<serde_json::Value> {
    match kind {
        "real-loop-cap-operations" | "real-loop-cap-bytes" => {
            let device = Loop::new(draw)?;
            let group = Group::new("blkio", kind)?;
            let (file, limit) = if kind.ends_with("bytes") {
                ("blkio.throttle.read_bps_device", draw.between(5e6, 40e6))
            } else {
                ("blkio.throttle.read_iops_device", draw.between(200.0, 2_000.0))
            };
            group.set(file, &format!("{} {}", device.number()?, limit as u64))?;
            check(&device.device, Some(&group))
        }
        "real-cpu-quota" => {
            let device = Loop::new(draw)?;
            let group = Group::new("cpu", kind)?;
            group.set("cpu.cfs_period_us", "100000")?;
            group.set("cpu.cfs_quota_us", &format!("{}", draw.between(3_000.0, 12_000.0) as u64))?;
            check(&device.device, Some(&group))
        }
        "real-memory" => {
            let shared = Path::new("/dev/shm");
            if !shared.is_dir() {
                bail!("there is no /dev/shm");
            }
            check("/dev/shm", None)
        }
        _ => check("null:", None),
    }
}

/// All real kinds; what could not be made, with the reason.
pub fn all(only: &str, seed: u64, variations: u64) -> (Vec<Answered>, Vec<String>) {
    let (mut told, mut skipped) = (Vec::new(), Vec::new());
    for (kind, truth) in KINDS.iter().filter(|(kind, _)| kind.contains(only)) {
        for variation in 0..variations {
            let mut draw = Draw::of(seed, kind, variation);
            let document = match measured(kind, &mut draw) {
                Ok(document) => document,
                Err(error) => {
                    skipped.push(format!("SKIPPED: {kind} {variation}: {error:#}"));
                    continue;
                }
            };
            let limit = &document["limit"];
            let named: LimitLayer = serde_json::from_value(limit["layer"].clone()).unwrap_or(LimitLayer::Unknown);
            let confidence: Confidence = serde_json::from_value(limit["confidence"].clone()).unwrap_or(Confidence::Low);
            let worth = match named {
                named if named == *truth => Score::Right,
                LimitLayer::Unknown => Score::Unknown,
                _ => Score::Wrong,
            };
            let statements = document["causes"].as_array().map(|c| {
                c.iter()
                    .map(|c| format!("    {} {} {}", c["layer"], c["confidence"], c["statement"]))
                    .collect::<Vec<_>>()
            });
            told.push(Answered {
                text: format!(
                    "{kind} {variation}: is {}, said {} ({confidence:?}): {}\n{}",
                    json_name(truth),
                    json_name(&named),
                    limit["statement"],
                    statements.unwrap_or_default().join("\n")
                ),
                answer: Answer {
                    kind,
                    calibration: variation.is_multiple_of(2),
                    truth: *truth,
                    named,
                    confidence,
                    worth,
                },
            });
        }
    }
    (told, skipped)
}
